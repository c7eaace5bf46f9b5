# SPDX-License-Identifier: Apache-2.0
"""Rooms: datagrams with place around them."""

from __future__ import annotations

import numpy as np

from vxmon.session.packets import Endpoint, frame_packets
from vxmon.session.rooms import AT, LARGEST, ROOM, Rooms
from vxmon.wire.block import encode_block, make_block
from vxmon.wire.bulk import KINDS

A, B = Endpoint(0x7F000001, 6530), Endpoint(0xC0A80102, 40001)


def rooms(*payloads: bytes) -> Rooms:
    slots = np.zeros((len(payloads), 1500), np.uint8)
    for row, payload in zip(slots, payloads, strict=True):
        row[: len(payload)] = np.frombuffer(payload, np.uint8)
    lengths = np.array([len(payload) for payload in payloads], np.int64)
    return Rooms.of(np.arange(len(payloads), dtype=np.int64), slots, lengths)


def test_datagrams_are_found_by_offset_and_by_row() -> None:
    some = rooms(b"one", b"three", b"")
    assert [some.payload(i) for i in range(len(some))] == [b"one", b"three", b""]
    assert [some.flat[at : at + n].tobytes() for at, n in zip(some.offsets, some.lengths, strict=True)] == [
        b"one",
        b"three",
        b"",
    ]
    assert some.slots[1, :5].tobytes() == b"three"


def test_some_of_them_are_a_copy_and_all_are_none() -> None:
    some = rooms(b"one", b"two", b"three")
    assert some.only(np.array([True, True, True])) is some
    kept = some.only(np.array([True, False, True]))
    assert [kept.payload(i) for i in range(len(kept))] == [b"one", b"three"]
    assert kept.times.tolist() == [0, 2]
    assert len(some.only(np.zeros(3, bool))) == 0


def test_the_largest_datagram_fits_with_all_around_it() -> None:
    some = rooms(bytes(1472))
    assert LARGEST >= 1472
    for length in range(LARGEST - 4, LARGEST + 1):
        some.lengths[0] = length
        (size,) = frame_packets(some, A, B).tolist()
        assert AT + length + 4 <= size <= ROOM


def test_blocks_among_them_are_checked_once() -> None:
    record = (33 << 22 | 7).to_bytes(4, "big") + bytes(4)
    good = encode_block(make_block([record] * 10, 1, 1, sequence=3))
    bad = good[:-1] + bytes([good[-1] ^ 1])
    some = rooms(b"no block", good, b"", bad)
    which, scan = some.blocks
    assert which.tolist() == [1, 3]
    assert [KINDS[kind] for kind in scan.kind] == ["ok", "checksum"]
    assert scan.rows["sequence"][0] == 3
    assert some.blocks is some.blocks
    assert some.only(np.array([True, False, True, True])).blocks[0].tolist() == [2]
