# SPDX-License-Identifier: Apache-2.0
"""Chunks told by the index alone, so that each can be made on its own, by whichever process is free.

A chunk has the records from the first time of its blocks up to the first time of the next chunk's. They are in its own
blocks and in those blocks before that end later, by what they say of themselves. Blocks that end later than they say
are found when their own chunk is made; from there on the chunks must be made one after the other.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vxmon import turns
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.decode import BLOCKS_A_CHUNK, Reader, decode_blocks, in_order, merge_blocks
from vxmon.trace.facts import Boot

__all__ = ["OverrunError", "Part", "Plan", "in_turns", "make_part", "split", "walk_from"]

Ints = NDArray[np.int64]


class OverrunError(Exception):
    """A block has records behind its last time."""


@dataclass(frozen=True, slots=True)
class Part:
    """A chunk: rows ``begin`` ... ``end - 1`` of the index of a boot, and the rows ``earlier`` that reach into it."""

    boot: Boot
    index: NDArray[np.void]
    begin: int
    end: int
    earlier: Ints
    several: bool

    @property
    def rows(self) -> NDArray[np.void]:
        """All that it is made of, in the order of the index."""
        if not len(self.earlier):
            return self.index[self.begin : self.end]
        return self.index[np.append(self.earlier, np.arange(self.begin, self.end))]

    @property
    def big_endian(self) -> bool:
        """The byte order of its slots."""
        return self.boot.byte_order == "big"

    @property
    def is_last(self) -> bool:
        """True when no chunk of the boot follows."""
        return self.end == len(self.index)


@dataclass(slots=True)
class Plan:
    """The chunks of an index."""

    parts: list[Part]
    read: Reader
    losses: NDArray[np.void]

    @staticmethod
    def of(boots: Iterable[tuple[Boot, NDArray[np.void]]], read: Reader, losses: NDArray[np.void]) -> Plan | None:
        """Of the index of each boot; None when a boot's chunks are better made one after the other."""
        parts: list[Part] = []
        for boot, index in boots:
            some = split(boot, index)
            if some is None:
                return None
            parts += some
        return Plan(parts, read, losses)

    def make(self, part: Part) -> Columns:
        """The records of a chunk; see make_part."""
        return make_part(part, self.read)

    def chunk(self, part: Part, columns: Columns) -> Chunk:
        """A chunk with these records."""
        return Chunk(part.boot, columns, self.losses)

    def walk(self, begin: int) -> Iterator[Chunk]:
        """From a chunk on one after the other; all before it must have been made."""
        for number in range(begin, len(self.parts)):
            part = self.parts[number]
            if number == begin or part.begin == 0:
                for columns in walk_from(part, self.read):
                    yield self.chunk(part, columns)


def in_turns(plan: Plan, make: Callable[[Chunk], turns.Data]) -> Iterator[turns.Data]:
    """``make(chunk)`` of each chunk in order, by two processes that each make the records of their own chunks only.

    ``make`` must not depend on what it made before. What is yielded lasts until the next is asked for.
    """

    def of_part(part: Part) -> turns.Data:
        columns = plan.make(part)
        return make(plan.chunk(part, columns)) if len(columns) else b""

    done = 0
    try:
        for data in turns.in_turns(iter(plan.parts), of_part, lent=True):
            yield data
            done += 1
    except OverrunError:
        yield from turns.in_turns(plan.walk(done), make, lent=True)


def split(boot: Boot, index: NDArray[np.void], blocks: int = BLOCKS_A_CHUNK) -> list[Part] | None:
    """The chunks of the index of one boot, as merge_blocks makes them.

    None when they are better made one after the other: so many blocks overlap that each chunk would need more earlier
    blocks than it has of its own.
    """
    first, last = index["first_time"].copy(), _last_times(index)
    if (first[1:] < first[:-1]).any():
        return None
    several = len(index) > 0 and bool((index["stream"] != index["stream"][0]).any())
    earlier = np.zeros(0, np.int64)
    parts: list[Part] = []
    for begin in range(0, len(index), blocks):
        end = min(begin + blocks, len(index))
        parts.append(Part(boot, index, begin, end, earlier, several))
        if end < len(index):
            own = begin + np.flatnonzero(last[begin:end] >= first[end])
            earlier = np.append(earlier[last[earlier] >= first[end]], own)
        if len(earlier) > blocks:
            return None
    return parts


def make_part(part: Part, read: Reader) -> Columns:
    """The chunk's records in order; there may be none.

    Raises:
        OverrunError: this chunk, and those that follow, must be made one after the other.

    """
    rows = part.rows
    decoded = decode_blocks(rows, read(rows), part.big_endian)
    columns = in_order(decoded, several=part.several)
    begin, end = 0, len(columns)
    if len(part.earlier):
        begin = int(np.searchsorted(columns.time, part.index["first_time"][part.begin]))
    if not part.is_last:
        end = int(np.searchsorted(columns.time, part.index["first_time"][part.end]))
        if end < len(columns):
            _check_ends(rows, decoded)
    return columns if end - begin == len(columns) else columns.take(slice(begin, end))


def _check_ends(rows: NDArray[np.void], columns: Columns) -> None:
    """No record of a block may be later than the block says; ``columns`` are in the order of the blocks."""
    records = rows["count"].astype(np.int64) + (rows["room"] > 0)
    if (columns.time > _last_times(rows).repeat(records)).any():
        raise OverrunError


def _last_times(rows: NDArray[np.void]) -> Ints:
    """Times after which blocks have no records, as they say."""
    times: Ints = np.maximum(rows["first_time"], rows["last_time"])
    return times


def walk_from(part: Part, read: Reader) -> Iterator[Columns]:
    """This chunk and those that follow in its boot, one after the other; those before it must have been made."""
    rows = part.index[part.earlier]
    waiting: list[Columns] = []
    if len(rows):
        columns = in_order(decode_blocks(rows, read(rows), part.big_endian), several=part.several)
        begin = int(np.searchsorted(columns.time, part.index["first_time"][part.begin]))
        waiting = [columns.take(slice(begin, None)).packed()]
    blocks = part.end - part.begin
    return merge_blocks(part.index, read, part.big_endian, blocks, begin=part.begin, waiting=waiting)
