# SPDX-License-Identifier: Apache-2.0
"""Blocks: the checksum against its definition, the round trip, and each way of being corrupt."""

from __future__ import annotations

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vxmon.errors import WireError
from vxmon.wire.block import decode_block, encode_block, fletcher64, make_block, record_starts
from vxmon.wire.datagram import decode_datagram, encode_datagram
from vxmon.wire.events import TABLES, EventId
from vxmon.wire.slots import encode_record
from vxmon.wire.types import Block, Channel, Context, Datagram, Header, Losses

EVENTS = {event.id: event for event in TABLES["2.4"].events}


def fletcher_by_definition(words: list[int]) -> int:
    """SPEC section 3, sum by sum."""
    modulus = 2**32 - 1
    first = sum(words) % modulus
    second = sum((len(words) - i) * word for i, word in enumerate(words)) % modulus
    return second << 32 | first


@given(st.lists(st.integers(0, 2**32 - 1), max_size=400), st.booleans())
def test_fletcher_is_that_of_the_definition(words: list[int], big_endian: bool) -> None:
    slots = b"".join(word.to_bytes(4, "big" if big_endian else "little") for word in words)
    assert fletcher64(slots, big_endian) == fletcher_by_definition(words)


def test_fletcher_of_more_than_a_chunk() -> None:
    words = [0xFFFFFFFE - i for i in range(10_000)]
    assert fletcher64(b"".join(word.to_bytes(4, "big") for word in words), True) == fletcher_by_definition(words)


def test_fletcher_by_hand() -> None:
    # Words 1, 2, 3: s1 = 6; s2 = 3*1 + 2*2 + 1*3 = 10.
    assert fletcher64(bytes.fromhex("000000010000000200000003"), True) == 10 << 32 | 6


def records(count: int, big_endian: bool = True) -> list[bytes]:
    kinds = [
        lambda i: encode_record(EVENTS[EventId.WINDOW], i, 100 + i, {}, big_endian),
        lambda i: encode_record(EVENTS[EventId.COMPLETE], i, 100 + i, {"activation": i}, big_endian),
        lambda i: encode_record(EVENTS[EventId.MARK], i, 100 + i, {"text": "x" * (i % 60)}, big_endian),
    ]
    return [kinds[i % 3](i) for i in range(count)]


def a_block(big_endian: bool = True) -> Block:
    return make_block(
        records(20, big_endian),
        100,
        119,
        boot=0xB007,
        run=3,
        stream=2,
        sequence=0x1_0000_0005,
        first_index=1000,
        context=Context(1, 2, 3, 1),
        losses=Losses(4, 5, 6),
        big_endian=big_endian,
    )


@pytest.mark.parametrize("big_endian", [True, False])
def test_round_trip(big_endian: bool) -> None:
    block = a_block(big_endian)
    datagram = decode_datagram(encode_block(block))
    assert datagram.header.sequence == 5
    assert decode_block(datagram) == block


def test_slots_are_the_end_of_the_datagram_and_not_covered() -> None:
    block = a_block()
    encoded = encode_block(block)
    assert encoded.endswith(block.slots)
    assert decode_datagram(encoded).header.covered == len(encoded) - 32 - len(block.slots)


def test_starts_are_header_slots() -> None:
    lengths = [len(record) // 8 for record in records(20)]
    expected = [sum(lengths[:i]) for i in range(20)]
    block = a_block()
    assert record_starts(block.starts, len(block.slots) // 8).tolist() == expected


def corrupt(block: Block) -> str:
    """Kind of the error that decoding this (encoded as it is) gives."""
    with pytest.raises(WireError) as caught:
        decode_block(decode_datagram(encode_block(block)))
    return caught.value.kind


def test_every_flipped_bit_of_the_slots_is_seen() -> None:
    datagram = decode_datagram(encode_block(a_block()))
    covered = datagram.header.covered
    for bit in range(8 * covered, 8 * len(datagram.payload)):
        payload = bytearray(datagram.payload)
        payload[bit // 8] ^= 1 << bit % 8
        with pytest.raises(WireError) as caught:
            decode_block(Datagram(datagram.header, bytes(payload)))
        assert caught.value.kind == "checksum"


def test_starts_must_fit_the_records() -> None:
    block = a_block()
    bits = int.from_bytes(block.starts, "little")
    size = len(block.starts)
    assert corrupt(replace(block, count=19)) == "starts"
    assert corrupt(replace(block, starts=(bits ^ 1).to_bytes(size, "little"))) == "starts"
    assert corrupt(replace(block, starts=(bits ^ 4 ^ 8).to_bytes(size, "little"))) == "starts"
    assert corrupt(replace(block, starts=block.starts + b"\0")) == "starts"
    assert corrupt(replace(block, starts=block.starts[:-1])) == "starts"


def test_start_bits_behind_the_end() -> None:
    block = make_block(records(2), 100, 101)
    assert corrupt(replace(block, starts=bytes([block.starts[0] | 0x80]))) == "starts"


def test_a_zeroed_slot_is_no_record() -> None:
    assert corrupt(make_block([bytes(8)], 0, 0)) == "starts"


def test_a_record_of_nine_data_slots_is_corrupt() -> None:
    assert corrupt(make_block([(1 << 22 | 9 << 16).to_bytes(4, "big") + bytes(76)], 0, 0)) == "starts"


def test_numbers_and_sizes_are_bounded() -> None:
    block = a_block()
    assert corrupt(replace(block, slots=b"", starts=b"", count=0)) == "payload"
    assert corrupt(replace(block, slots=block.slots[:-4])) == "payload"
    assert corrupt(replace(block, stream=8)) == "payload"
    assert corrupt(replace(block, context=Context(65536))) == "payload"
    assert corrupt(replace(block, first_index=(1 << 63) - 1)) == "payload"
    assert corrupt(replace(block, last_time=1 << 63)) == "payload"
    assert corrupt(replace(block, losses=Losses(1 << 63))) == "payload"


def test_other_channels_and_foreign_payloads() -> None:
    for channel, payload in [(Channel.ACK, b""), (Channel.BLOCK, b"\xff\xff"), (Channel.BLOCK, b"")]:
        with pytest.raises(WireError) as caught:
            decode_block(decode_datagram(encode_datagram(Header(channel, 1, 0, covered=len(payload)), payload)))
        assert caught.value.kind == "payload"


def test_header_and_message_must_agree() -> None:
    datagram = decode_datagram(encode_block(a_block()))
    for header in (replace(datagram.header, sequence=6), replace(datagram.header, covered=3)):
        with pytest.raises(WireError) as caught:
            decode_block(Datagram(header, datagram.payload))
        assert caught.value.kind == "payload"


def test_byte_order_flag_decides_how_the_slots_are_read() -> None:
    datagram = decode_datagram(encode_block(a_block(big_endian=False)))
    with pytest.raises(WireError):
        decode_block(Datagram(replace(datagram.header, flags=1), datagram.payload))
