# SPDX-License-Identifier: Apache-2.0
"""Reassembly: any order, interleaved, duplicates, contradictions, bounds and time-outs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vxmon.errors import WireError
from vxmon.wire.datagram import decode_datagram, split_message
from vxmon.wire.reassembly import MAX_MESSAGES, TIMEOUT_NS, Reassembler
from vxmon.wire.types import Channel, Datagram, Header

MS = 1_000_000


def fragments(message: int, size: int, boot: int = 1) -> tuple[bytes, list[Datagram]]:
    payload = random.Random(message).randbytes(size)
    header = Header(Channel.TABLE, boot, 0, message=message)
    return payload, [decode_datagram(d) for d in split_message(header, payload, 512)]


@given(st.randoms(use_true_random=False), st.lists(st.integers(1, 5000), min_size=1, max_size=MAX_MESSAGES))
def test_any_order_interleaved_and_duplicated(rng: random.Random, sizes: list[int]) -> None:
    made = [fragments(number, size) for number, size in enumerate(sizes)]
    # Messages of one fragment are passed on as they come, twice if they come twice.
    pieces = [d for _, datagrams in made for d in datagrams * (2 if len(datagrams) > 1 else 1)]
    rng.shuffle(pieces)
    reassembler = Reassembler()
    done = [payload for d in pieces if (payload := reassembler.add(d, 0)) is not None]
    assert sorted(done) == sorted(payload for payload, _ in made)
    assert reassembler.close() == []
    assert reassembler.duplicates == sum(len(datagrams) for _, datagrams in made if len(datagrams) > 1)


def test_time_out_names_what_is_missing() -> None:
    _, pieces = fragments(7, 2000)
    reassembler = Reassembler()
    for piece in (pieces[0], pieces[3]):
        assert reassembler.add(piece, 0) is None
    assert reassembler.expire(TIMEOUT_NS) == []
    (incomplete,) = reassembler.expire(TIMEOUT_NS + 1)
    assert (incomplete.boot, incomplete.channel, incomplete.message) == (1, Channel.TABLE, 7)
    assert incomplete.missing == (1, 2, 4)
    assert reassembler.expire(TIMEOUT_NS * 9) == []


def test_ninth_message_drops_the_oldest() -> None:
    reassembler = Reassembler()
    for number in range(MAX_MESSAGES + 1):
        assert reassembler.add(fragments(number, 1000)[1][0], number) is None
    assert [entry.message for entry in reassembler.expire(MAX_MESSAGES)] == [0]
    assert len(reassembler.close()) == MAX_MESSAGES


def test_same_number_of_another_boot_is_another_message() -> None:
    reassembler = Reassembler()
    payload, pieces = fragments(1, 900)
    _, others = fragments(1, 900, boot=2)
    assert reassembler.add(others[1], 0) is None
    assert reassembler.add(pieces[0], 0) is None
    assert reassembler.add(pieces[1], 0) == payload


def test_contradictions_are_refused_and_change_nothing() -> None:
    reassembler = Reassembler()
    payload, pieces = fragments(1, 900)
    _, longer = fragments(1, 1900)
    reassembler.add(pieces[0], 0)
    changed = Datagram(pieces[0].header, b"x" * len(pieces[0].payload))
    for bad in (longer[1], changed, Datagram(pieces[1].header, b"")):
        with pytest.raises(WireError) as caught:
            reassembler.add(bad, 0)
        assert caught.value.kind == "fragment"
    assert reassembler.add(pieces[1], 0) == payload


def test_a_message_is_bounded() -> None:
    reassembler = Reassembler()
    header = Header(Channel.TABLE, 1, 0, fragments=64)
    with pytest.raises(WireError):
        for i in range(64):
            reassembler.add(Datagram(Header(header.channel, 1, i, fragment=i, fragments=64), bytes(1440)), 0)


def test_late_duplicate_does_not_begin_a_message() -> None:
    reassembler = Reassembler()
    _, pieces = fragments(1, 900)
    for piece in pieces:
        reassembler.add(piece, 0)
    assert reassembler.add(pieces[0], 5) is None
    assert reassembler.close() == []
    assert reassembler.duplicates == 1


def test_numbers_are_used_again_after_a_while() -> None:
    reassembler = Reassembler()
    payload, pieces = fragments(1, 900)
    for now in (0, TIMEOUT_NS + 1):
        assert [reassembler.add(piece, now) for piece in pieces] == [None, payload]


def test_missing_fragments_are_asked_for_after_a_silence_then_less_and_less_often() -> None:
    """SPEC section 7: 40 ms after the last fragment, then after 80, 160, 320 and 640 ms, for 2 s in all."""
    _, pieces = fragments(7, 2000)
    reassembler = Reassembler()
    reassembler.add(pieces[0], 0)
    reassembler.add(pieces[3], 10 * MS)
    asked = [(ms, lack.missing) for ms in range(2001) for lack in reassembler.lacking(ms * MS)]
    assert asked == [(at, (1, 2, 4)) for at in (50, 130, 290, 610, 1250)]
    assert reassembler.due(3 * MS) > TIMEOUT_NS


def test_a_fragment_that_comes_puts_the_next_request_off() -> None:
    payload, pieces = fragments(7, 2000)
    reassembler = Reassembler()
    reassembler.add(pieces[0], 0)
    assert [lack.missing for lack in reassembler.lacking(40 * MS)] == [(1, 2, 3, 4)]
    reassembler.add(pieces[1], 60 * MS)
    assert reassembler.due(60 * MS) == 100 * MS
    assert reassembler.lacking(99 * MS) == []
    assert [lack.text for lack in reassembler.lacking(100 * MS)] == ["3 of 5 fragments (2, 3, 4)"]
    for piece in pieces[2:]:
        done = reassembler.add(piece, 110 * MS)
    assert done == payload
    assert reassembler.lacking(TIMEOUT_NS) == []


def test_hostile_fragment_counts_take_no_memory_and_no_requests_without_end() -> None:
    """Beginnings of 10,000 messages of 64 fragments: eight are kept, each asked for five times at most."""
    reassembler = Reassembler()
    for number in range(10_000):
        header = Header(Channel.TABLE, 1, number, fragment=number % 64, fragments=64, message=number)
        reassembler.add(Datagram(header, bytes(1440)), 0)
    asked = sum(len(reassembler.lacking(ms * MS)) for ms in range(0, 2000, 10))
    assert asked == 5 * MAX_MESSAGES
    assert len(reassembler.close()) == 10_000
