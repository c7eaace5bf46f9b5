# SPDX-License-Identifier: Apache-2.0
"""The second pass: blocks to columns, some hundred blocks at a time, without a loop per record."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.columns import Columns
from vxmon.trace.names import LOSS_ID

__all__ = ["BLOCKS_A_CHUNK", "CHANGED", "Reader", "decode_blocks", "in_order", "merge_blocks"]

# Large enough for numpy's fixed costs, small enough for the processor's cache.
BLOCKS_A_CHUNK: Final = 384

CHANGED: Final = "the session changed while it was read"

# Gives the start bits and the slots of blocks, each joined, in the order of the rows.
Reader = Callable[[NDArray[np.void]], tuple[bytes, bytes]]


def decode_blocks(rows: NDArray[np.void], starts: bytes, slots: bytes, big_endian: bool) -> Columns:
    """Records of valid blocks, in the order of the blocks; a row with a loss gives a LOSS record before its own.

    Times follow SPEC section 3: the smallest value not before the block's first time with the record's low 32 bits.

    Raises:
        InputError: the bytes are not those that were found valid before.

    """
    words = np.frombuffer(slots, ">u4" if big_endian else "<u4").astype(np.uint32)
    counts = rows["count"].astype(np.int64)
    owner = np.repeat(np.arange(len(rows)), counts)
    place = _header_slots(rows, starts, owner)
    head, low = words[2 * place], words[2 * place + 1]
    _check_reach(place, head, len(words) // 2)
    first = rows["first_time"][owner]
    columns = Columns(
        time=first + (low - first.astype(np.uint32)).astype(np.int64),
        stream=rows["stream"][owner],
        id=(head >> np.uint32(22)).astype(np.uint16),
        arg=head.astype(np.uint16),
        slots=(head >> np.uint32(16)).astype(np.uint8) & np.uint8(63),
        at=2 * place + 2,
        words=words,
        big_endian=big_endian,
    )
    return _insert_losses(columns, rows, counts) if rows["room"].any() else columns


def _header_slots(rows: NDArray[np.void], starts: bytes, owner: NDArray[np.intp]) -> NDArray[np.int64]:
    """Index of each record's header slot among all slots."""
    bits = np.unpackbits(np.frombuffer(starts, np.uint8), bitorder="little").view(bool)
    slots = rows["slots"].astype(np.int64)
    padding = np.cumsum(-slots & 7)
    shift = np.concatenate([[0], padding[:-1]])
    begins = np.flatnonzero(bits)
    if len(begins) != len(owner):
        raise InputError(CHANGED)
    place: NDArray[np.int64] = begins - shift[owner]
    if len(place) and (place[0] != 0 or place.min() < 0 or place.max() >= slots.sum()):
        raise InputError(CHANGED)
    return place


def _check_reach(place: NDArray[np.int64], head: NDArray[np.uint32], total: int) -> None:
    """Each record must reach exactly to the next one, so that no field lies beyond the slots."""
    if (np.diff(place, append=total) != ((head >> np.uint32(16)) & np.uint32(63)).astype(np.int64) + 1).any():
        raise InputError(CHANGED)


def _insert_losses(columns: Columns, rows: NDArray[np.void], counts: NDArray[np.int64]) -> Columns:
    which = np.flatnonzero(rows["room"])
    before = (np.cumsum(counts) - counts)[which]
    lost = rows[which]

    def put(column: NDArray[Any], value: object) -> NDArray[Any]:
        return np.insert(column, before, np.asarray(value).astype(column.dtype))

    return Columns(
        time=put(columns.time, lost["first_time"]),
        stream=put(columns.stream, lost["stream"]),
        id=put(columns.id, LOSS_ID),
        arg=put(columns.arg, 0),
        slots=put(columns.slots, 0),
        at=put(columns.at, lost["room"].astype(np.int64) - 1),
        words=columns.words,
        big_endian=columns.big_endian,
    )


def merge_blocks(
    index: NDArray[np.void], read: Reader, big_endian: bool, blocks: int = BLOCKS_A_CHUNK
) -> Iterator[Columns]:
    """Records of the blocks of one boot in order of (time, stream, sequence), in chunks.

    ``index`` is in order of (first time, stream, sequence). A record is handed out when no block that is still to
    be read can hold an earlier one; what has to wait is kept, which is at most what overlaps in time.
    """
    waiting: list[Columns] = []
    several = len(index) > 0 and bool((index["stream"] != index["stream"][0]).any())
    for begin in range(0, len(index), blocks):
        rows = index[begin : begin + blocks]
        starts, slots = read(rows)
        columns = in_order(Columns.join([*waiting, decode_blocks(rows, starts, slots, big_endian)]), several=several)
        waiting = []
        if begin + blocks < len(index):
            horizon = index["first_time"][begin + blocks]
            ready = int(np.searchsorted(columns.time, horizon, side="left"))
            if ready < len(columns):
                waiting = [columns.take(slice(ready, None)).packed()]
                columns = columns.take(slice(0, ready))
        if len(columns):
            yield columns


def in_order(columns: Columns, *, several: bool) -> Columns:
    """Sort by (time, stream), keeping the order of each stream's records of equal time."""
    if not several:
        if (columns.time[1:] >= columns.time[:-1]).all():
            return columns
        return columns.take(np.argsort(columns.time, kind="stable"))
    by_stream = np.argsort(columns.stream, kind="stable")
    order = by_stream[np.argsort(columns.time[by_stream], kind="stable")]
    return columns.take(order)
