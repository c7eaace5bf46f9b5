# SPDX-License-Identifier: Apache-2.0
"""Rooms: datagrams with place around them."""

from __future__ import annotations

import numpy as np

from vxmon.session.packets import Endpoint, frame_packets
from vxmon.session.rooms import AT, LARGEST, ROOM, Rooms

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
