# SPDX-License-Identifier: Apache-2.0
"""The trailer of authenticated datagrams and the window against replays (SPEC section 10)."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vxmon.errors import WireError
from vxmon.wire.authentication import HOST, TARGET, TRAILER_BYTES, WINDOW, ReplayWindow, Seal, boot_nonce
from vxmon.wire.datagram import MAX_DATAGRAM, decode_datagram, encode_datagram, seal_datagram, split_message
from vxmon.wire.types import Channel, Flag, Header

KEY = bytes(range(32))
U32 = st.integers(0, 2**32 - 1)
PAYLOADS = st.binary(max_size=MAX_DATAGRAM - 32 - TRAILER_BYTES)
SEALED = [Channel.COMMAND, Channel.REPLY, Channel.HEARTBEAT, Channel.ACK, Channel.END]
PLAIN = [Channel.BLOCK, Channel.TABLE]


def seal(label: bytes = HOST, session: int = 1, nonce: int = 7) -> Seal:
    return Seal(KEY, label, nonce, session)


# Expected values: a set of all numbers that were taken, and the definition in SPEC section 10.
@given(st.lists(st.one_of(st.integers(0, 200), st.sampled_from([2**32 - 1, 2**31, 1000])), max_size=200))
def test_the_window_takes_each_number_once_and_none_that_is_64_behind(numbers: list[int]) -> None:
    window, taken = ReplayWindow(), set[int]()
    for number in numbers:
        expected = number not in taken and number > max(taken, default=-1) - WINDOW
        assert window.is_new(number) == expected
        if expected:
            window.take(number)
            taken.add(number)


@given(st.sampled_from(SEALED), PAYLOADS, U32, U32)
def test_a_sealed_datagram_is_read_back_with_and_without_the_key(
    channel: Channel, payload: bytes, session: int, number: int
) -> None:
    maker = seal(session=session)
    data = seal_datagram(Header(channel, 9, 5), payload, maker, number)
    datagram = decode_datagram(data)
    assert datagram.payload == payload
    assert datagram.trailer is not None
    assert (datagram.trailer.session, datagram.trailer.number) == (session, number)
    assert maker.verifies(data)


@given(PAYLOADS, st.data())
def test_any_changed_bit_is_noticed(payload: bytes, draw: st.DataObject) -> None:
    maker = seal()
    data = bytearray(seal_datagram(Header(Channel.COMMAND, 9, 5), payload, maker, 3))
    at = draw.draw(st.integers(0, 8 * len(data) - 1))
    data[at // 8] ^= 1 << at % 8
    assert not maker.verifies(bytes(data))


@pytest.mark.parametrize("other", [seal(TARGET), seal(session=2), seal(nonce=8), Seal(bytes(32), HOST, 7, 1)])
def test_another_direction_session_boot_or_key_does_not_verify(other: Seal) -> None:
    """The session is in the datagram too: its maker's HMAC covers what stands there, so only that one counts."""
    data = seal_datagram(Header(Channel.ACK, 9, 5), b"payload", other, 3)
    changed = data if other.session == 1 else data[:-24] + (1).to_bytes(4, "big") + data[-20:]
    assert not seal().verifies(changed)


@given(st.binary(max_size=100))
def test_no_bytes_behind_a_header_do_harm(rest: bytes) -> None:
    head = encode_datagram(Header(Channel.COMMAND, 9, 5, Flag.AUTHENTICATED), b"abc")
    try:
        datagram = decode_datagram(head + rest)
    except WireError as error:
        assert error.kind == "length"
        assert len(rest) != TRAILER_BYTES
    else:
        assert len(rest) == TRAILER_BYTES
        assert datagram.payload == b"abc"


@pytest.mark.parametrize("channel", PLAIN)
def test_blocks_and_tables_carry_no_trailer(channel: Channel) -> None:
    with pytest.raises(WireError, match="authenticated") as caught:
        encode_datagram(Header(channel, 9, 5, Flag.AUTHENTICATED), b"x")
    assert caught.value.kind == "header"


def test_a_payload_that_leaves_no_room_for_the_trailer_is_refused() -> None:
    room = MAX_DATAGRAM - 32 - TRAILER_BYTES
    assert len(seal_datagram(Header(Channel.REPLY, 9, 5), bytes(room), seal(), 0)) == MAX_DATAGRAM
    with pytest.raises(WireError):
        seal_datagram(Header(Channel.REPLY, 9, 5), bytes(room + 1), seal(), 0)


def test_fragments_leave_room_for_their_trailers() -> None:
    pieces = split_message(Header(Channel.REPLY, 9, 5, Flag.AUTHENTICATED), bytes(1000), 512)
    assert max(map(len, pieces)) + TRAILER_BYTES == 512


def test_nonces_of_two_boots_differ() -> None:
    assert len({boot_nonce(KEY, 1), boot_nonce(KEY, 2), boot_nonce(bytes(32), 1)}) == 3
