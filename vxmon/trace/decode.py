# SPDX-License-Identifier: Apache-2.0
"""The second pass: blocks to columns, some hundred blocks at a time, without a loop per record."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.blockbytes import CHANGED, BlockBytes
from vxmon.trace.columns import Columns
from vxmon.trace.names import LOSS_ID

__all__ = ["BLOCKS_A_CHUNK", "Reader", "decode_blocks", "in_order", "merge_blocks"]

# Large enough for numpy's fixed costs, small enough for the processor's cache.
BLOCKS_A_CHUNK: Final = 384

_SLOT: Final = 8
# Words are kept as they lie in the table of blocks unless it is larger than what is in it by more than this.
_SPARSE: Final = 2

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]
# Gives the bytes of blocks.
Reader = Callable[[NDArray[np.void]], BlockBytes]


def decode_blocks(rows: NDArray[np.void], data: BlockBytes, big_endian: bool) -> Columns:
    """Records of valid blocks, in the order of the blocks; a row with a loss gives a LOSS record before its own.

    Times follow SPEC section 3: the smallest value not before the block's first time with the record's low 32 bits.

    Raises:
        InputError: the bytes are not those that were found valid before.

    """
    words = data.slots.reshape(-1).view(">u4" if big_endian else "<u4").astype(np.uint32, copy=False)
    counts, sizes = rows["count"].astype(np.int64), rows["slots"].astype(np.int64)
    place = _header_slots(sizes, data.starts)
    # A header is two words, taken as one number.
    headers = words.view(np.uint64).take(place).view(np.uint32).reshape(-1, 2)
    head, low = headers[:, 0].copy(), headers[:, 1].copy()
    slots = (head >> np.uint32(16)).astype(np.uint8) & np.uint8(63)
    _check_reach(counts, sizes, place, slots, 8 * data.starts.shape[1])
    place += 1
    columns = Columns(
        time=_times(rows["first_time"], counts, low),
        stream=rows["stream"].repeat(counts),
        id=(head >> np.uint32(22)).astype(np.uint16),
        arg=head.astype(np.uint16),
        slots=slots,
        at=place + place,
        words=words,
        big_endian=big_endian,
    )
    # The words are as long as the table; consumers may keep many chunks.
    if data.slots.size > _SPARSE * _SLOT * int(sizes.sum()):
        columns = columns.packed()
    return _insert_losses(columns, rows, counts) if rows["room"].any() else columns


def _header_slots(sizes: Ints, starts: Bytes) -> Ints:
    """Index of each record's header slot among all slots."""
    own = starts & _own_bits(starts.shape[1])[sizes]
    places: Ints = np.unpackbits(own.reshape(-1), bitorder="little").view(bool).nonzero()[0]
    return places


@cache
def _own_bits(width: int) -> Bytes:
    """Masks of ``width`` bytes for a block's start bits, by its number of slots."""
    bits = np.arange(8 * width) < np.arange(8 * width + 1)[:, None]
    return np.packbits(bits, axis=1, bitorder="little")


def _check_reach(counts: Ints, sizes: Ints, place: Ints, slots: Bytes, width: int) -> None:
    """A block's records must lie end to end, from its first slot to its last, so that no field lies beyond."""
    begins = np.arange(len(counts)) * width
    if not counts.all():
        some = counts.nonzero()[0]
        if sizes.sum() != sizes[some].sum():
            raise InputError(CHANGED)
        counts, sizes, begins = counts[some], sizes[some], begins[some]
    ends = counts.cumsum()
    if len(place) != counts.sum() or (place[ends - counts] != begins).any():
        raise InputError(CHANGED)
    # Records that follow one another are in one row now, so that small numbers tell all.
    near = place.astype(np.uint16)
    following = np.empty_like(near)
    following[:-1] = near[1:]
    following[ends - 1] = (begins + sizes).astype(np.uint16)
    following -= near
    if (following != slots + np.uint8(1)).any():
        raise InputError(CHANGED)


def _times(first: Ints, counts: Ints, low: NDArray[np.uint32]) -> Ints:
    """Times of records by their low 32 bits; ``first`` and ``counts`` are of their blocks. ``low`` is used up."""
    low -= first.astype(np.uint32).repeat(counts)
    times: Ints = first.repeat(counts)
    times += low
    return times


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
    index: NDArray[np.void],
    read: Reader,
    big_endian: bool,
    blocks: int = BLOCKS_A_CHUNK,
    *,
    begin: int = 0,
    waiting: Sequence[Columns] = (),
) -> Iterator[Columns]:
    """Records of the blocks of one boot in order of (time, stream, sequence), in chunks.

    ``index`` is in order of (first time, stream, sequence). A record is handed out when no block that is still to
    be read can hold an earlier one; what has to wait is kept, which is at most what overlaps in time. ``begin`` is
    where in the index to begin, ``waiting`` what waits there of the blocks before.
    """
    several = len(index) > 0 and bool((index["stream"] != index["stream"][0]).any())
    for at in range(begin, len(index), blocks):
        rows = index[at : at + blocks]
        columns = in_order(Columns.join([*waiting, decode_blocks(rows, read(rows), big_endian)]), several=several)
        waiting = []
        if at + blocks < len(index):
            horizon = index["first_time"][at + blocks]
            ready = int(np.searchsorted(columns.time, horizon, side="left"))
            if ready < len(columns):
                waiting = [columns.take(slice(ready, None)).packed()]
                columns = columns.take(slice(0, ready))
        if len(columns):
            yield columns


def in_order(columns: Columns, *, several: bool) -> Columns:
    """Sort by (time, stream), keeping the order of each stream's records of equal time."""
    time = columns.time
    later = time[1:] > time[:-1] if several else time[1:] >= time[:-1]
    if later.all():
        return columns
    order = np.argsort(time, kind="stable")
    return columns.take(_by_stream(columns, order) if several else order)


def _by_stream(columns: Columns, order: NDArray[np.intp]) -> NDArray[np.intp]:
    """The same order by time, in which records of equal time are in order of their streams."""
    time, stream = columns.time[order], columns.stream[order]
    tied = time[1:] == time[:-1]
    if (tied & (stream[1:] < stream[:-1])).any():
        some = np.flatnonzero(np.append(tied, False) | np.append(False, tied))
        order[some] = order[some][np.lexsort((stream[some], time[some]))]
    return order
