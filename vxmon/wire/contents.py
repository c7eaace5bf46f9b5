# SPDX-License-Identifier: Apache-2.0
"""The checks of the slots of many blocks at once: Fletcher-64 and start bits (SPEC section 3)."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.events import EventId
from vxmon.wire.gather import Bytes, Ints, clear_behind, gather
from vxmon.wire.slots import MAX_DATA_SLOTS

__all__ = ["Bools", "look_at_contents"]

_MODULUS: Final = np.uint64(0xFFFFFFFF)
# Data slots of a record, in the upper half of its first word.
_COUNT: Final = 0x3F
# A record's first word is above this, unless its event is 0: half a word.
_NO_EVENT: Final = 0x40
_ONE_EVENT: Final = 0x40
_FILTER: Final = np.uint16(EventId.FILTER * _ONE_EVENT)
# Rows whose floats stay in the cache.
_FLOATS_AT_ONCE: Final = 128

Bools = NDArray[np.bool_]


def look_at_contents(
    data: Bytes, at: Ints, back: Ints, slots: Ints, counts: NDArray[np.uint16], *, big_endian: bool
) -> tuple[Bools, Bools, Bools]:
    """Blocks whose checksum is wrong, blocks whose start bits are, and blocks that switch events on or off.

    Args:
        data: holds the blocks.
        at: where the slots of each begin.
        back: how many bytes before them its start bits begin.
        slots: how many slots it has, at most 184.
        counts: how many records it tells.
        big_endian: byte order of the slots.

    """
    words = gather(data, at, 8 * int(slots.max())).view(">u4" if big_endian else "<u4").astype(np.uint32)
    clear_behind(words, 2 * slots)
    sizes = slots + 7 >> 3
    starts_at = at - back
    marks = gather(data, starts_at, int(sizes.max()) + 2)
    clear_behind(marks, sizes)
    told = gather(data, starts_at + sizes + 1, 8).view("<u8")[:, 0]
    agree, switches = _look_at_starts(words, marks, slots, counts)
    return _fletcher(words, 2 * slots) != told, ~agree, switches


def _fletcher(words: NDArray[np.uint32], counts: Ints) -> NDArray[np.uint64]:
    """Fletcher-64 of rows of words, 0 behind the first ``counts``.

    The sums are made as floats, by a matrix product, and are exact: a datagram has at most 368 words, of 32 bits, and
    368 * 368 * 2^32 is less than 2^53.
    """
    width = words.shape[1]
    weights = np.ones((width, 2))
    weights[:, 1] = np.arange(width)
    totals = np.empty((len(words), 2))
    floats = np.empty((min(len(words), _FLOATS_AT_ONCE), width))
    for begin in range(0, len(words), _FLOATS_AT_ONCE):
        part = words[begin : begin + _FLOATS_AT_ONCE]
        floats[: len(part)] = part
        np.matmul(floats[: len(part)], weights, out=totals[begin : begin + _FLOATS_AT_ONCE])
    sums, weighted = totals.astype(np.uint64).T
    second = (counts.astype(np.uint64) * sums - weighted) % _MODULUS
    checksums: NDArray[np.uint64] = (second << np.uint64(32)) | (sums % _MODULUS)
    return checksums


def _look_at_starts(
    words: NDArray[np.uint32], marks: Bytes, slots: Ints, told: NDArray[np.uint16]
) -> tuple[Bools, Bools]:
    """Where start bits and lengths in header slots tell the same records, as many as told; where one is a FILTER.

    ``marks`` has two bytes behind the start bits of each, all 0.
    """
    width = 8 * marks.shape[1]
    starts = np.unpackbits(marks.reshape(-1), bitorder="little")
    heads = np.empty((len(slots), width), np.uint16)
    # The upper half of each slot's first word. What is behind the slots begins no record.
    heads[:, : words.shape[1] >> 1] = words.view(np.uint16)[:, 1 if np.little_endian else 0 :: 4]
    agree: Bools = np.bitwise_count(marks).sum(axis=1, dtype=np.uint8) == told
    rows = np.arange(len(slots)) * width
    # A bit in the last byte that stands for no slot.
    last = marks.reshape(-1).take((rows + slots - 1) >> 3)
    agree &= (last >> (slots - 1 & 7).astype(np.uint8) < 2) & (starts[rows] == 1)
    wrong = _wrong_starts(starts, heads.reshape(-1), rows + slots)
    if wrong.any():
        agree &= ~wrong.reshape(-1, width).any(axis=1)
    return agree, _having(heads, starts.reshape(-1, width).view(bool))


def _having(heads: NDArray[np.uint16], starts: Bools) -> Bools:
    """Blocks in which a record is a FILTER; hardly any has one."""
    found: Bools = heads - _FILTER < _ONE_EVENT
    found &= starts
    having = np.zeros(len(found), bool)
    if found.any():
        having |= found.any(axis=1)
    return having


def _wrong_starts(starts: Bytes, heads: NDArray[np.uint16], ends: Ints) -> Bools:
    """Starts of records that do not end where the next one, or what is at ``ends``, begins; or that cannot be."""
    following = np.zeros(len(starts) + 2 * MAX_DATA_SLOTS, np.uint8)
    following[: len(starts)] = starts
    following[ends] = 1
    # Of each slot the eight bits behind it, by doubling; then how many of them are 0 before the first 1.
    window = following[1:]
    for step, factor in ((1, 2), (2, 4), (4, 16)):
        window = window[:-step] | window[step:] * np.uint8(factor)
    window = window[: len(starts)]
    free = np.bitwise_count(~window & (window - np.uint8(1)))
    data_slots = heads.astype(np.uint8)
    data_slots &= _COUNT
    wrong: Bools = data_slots != free
    wrong |= heads < _NO_EVENT
    # A record of the longest kind ends behind the eight.
    longest = data_slots == MAX_DATA_SLOTS
    longest &= following[1 + MAX_DATA_SLOTS : 1 + MAX_DATA_SLOTS + len(starts)] == 0
    wrong |= longest
    wrong &= starts.view(bool)
    return wrong
