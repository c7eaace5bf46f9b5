# SPDX-License-Identifier: Apache-2.0
"""Chunks made ahead by a second process, while this one uses those before.

Both claim chunks, the next that nobody has claimed, in a table that they share. That both make one costs time and
nothing else: one of the two results is left. The second process puts its chunks into slots of shared memory and tells
the number of each over a pipe; slots that are free again are told over another. What it does not deliver in time, or
at all, is made here.
"""

from __future__ import annotations

import contextlib
import mmap
import os
import struct
from collections.abc import Callable, Generator, Iterator, Sequence
from typing import Final, TypeVar

from vxmon.second import Second
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.parts import OverrunError, Plan
from vxmon.trace.sharing import Slots, copied

__all__ = ["ENOUGH_EVENTS", "chunks_ahead", "made_ahead"]

ENOUGH_EVENTS: Final = 2_000_000
"""With fewer events a second process does not pay: to start and to end it costs what a million take."""
# A chunk has 384 blocks of up to 184 slots, each of them a record of 22 bytes or less.
_SLOT_BYTES: Final = 5 << 19
_SLOTS: Final = 10
# So many slots are left to the second process; of a chunk that would take one of them a copy is handed out.
_LEFT: Final = 3
# How far behind a chunk that is to come this process makes others until it comes.
_MOST_BEHIND: Final = 2

# What the second process tells of a chunk: its number, slot, records, words and byte order.
_NEWS: Final = struct.Struct("<qqqq?")
# Who claims a chunk.
_SECOND: Final = 1
_FIRST: Final = 2

P = TypeVar("P")


def chunks_ahead(plan: Plan) -> Iterator[Chunk]:
    """The chunks of a plan in order."""
    done = 0
    try:
        with contextlib.closing(made_ahead(plan.parts, plan.make)) as made:
            for part, columns in zip(plan.parts, made, strict=True):
                if len(columns):
                    yield plan.chunk(part, columns)
                done += 1
    except OverrunError:
        yield from plan.walk(done)


def made_ahead(parts: Sequence[P], make: Callable[[P], Columns]) -> Generator[Columns]:
    """``make(part)`` of each part, in order; what it raises is raised in the part's turn."""
    try:
        ahead = _Ahead(parts, make)
    except OSError:
        yield from map(make, parts)
        return
    try:
        for number in range(len(parts)):
            yield ahead.take(number)
    finally:
        ahead.end()


class _Tokens:
    """Numbers of slots that are free, over a pipe that lasts as long as a slot is in use."""

    # Until there is a pipe: an object that could not be made has its end too.
    _source = _sink = -1

    def __init__(self, slots: int) -> None:
        self._source, self._sink = os.pipe()
        self._free = list(reversed(range(slots)))

    def give(self, slot: int) -> None:
        """Tell that a slot is free. As the first process keeps both ends, the pipe is never a broken one."""
        os.write(self._sink, bytes((slot,)))

    def open(self) -> None:
        """In the second process, before it takes any."""
        os.close(self._sink)
        self._sink = -1

    def take(self) -> int | None:
        """In the second process: a free slot, as soon as there is one; None when the first process is no more.

        The one that was freed last: to fetch memory that was never used takes longer than to fill it.
        """
        os.set_blocking(self._source, not self._free)
        with contextlib.suppress(BlockingIOError):
            told = os.read(self._source, 64)
            if not told:
                return None
            self._free += told
        return self._free.pop()

    def __del__(self) -> None:
        for end in (self._source, self._sink):
            if end >= 0:
                os.close(end)


class _Ahead:
    """The two processes' work on the chunks, as the first one sees it."""

    def __init__(self, parts: Sequence[P], make: Callable[[P], Columns]) -> None:
        self._make: Callable[[int], Columns] = lambda number: make(parts[number])
        self._owner = os.getpid()
        self._claims = mmap.mmap(-1, max(len(parts), 1))
        self._tokens = _Tokens(_SLOTS)
        self._slots = Slots(_SLOTS, _SLOT_BYTES, self._tokens.give)
        self._ready: dict[int, tuple[int, int, int, bool]] = {}
        self._own: dict[int, Columns] = {}
        self._listening = True
        self._next = 0
        self._news, sink = os.pipe()
        os.set_blocking(self._news, False)
        try:
            self._second = Second(lambda: self._help(sink))
        except OSError:
            os.close(self._news)
            raise
        finally:
            os.close(sink)

    def _help(self, sink: int) -> None:
        """The second process: chunks that nobody has claimed, as long as there are slots."""
        os.close(self._news)
        self._tokens.open()
        slot = self._tokens.take()
        while slot is not None and (number := self._claim(0, _SECOND)) is not None:
            columns = self._make(number)
            if self._slots.put(slot, columns):
                told = number, slot, len(columns), len(columns.words), columns.big_endian
                os.write(sink, _NEWS.pack(*told))
                slot = self._tokens.take()

    def _claim(self, begin: int, who: int, most: int | None = None) -> int | None:
        """The next chunk that nobody has claimed, of ``most`` at most."""
        end = len(self._claims) if most is None else begin + most
        number = self._claims.find(b"\0", begin, end)
        if number < 0:
            return None
        self._claims[number] = who
        return number

    def take(self, number: int) -> Columns:
        """The records of the next chunk."""
        if os.getpid() != self._owner:
            # A copy of the first process, which the program has made: the pipes are not for it.
            return self._make(number)
        self._hear()
        while self._is_to_come(number) and self._make_behind(number):
            self._hear()
        own, ready = self._own.pop(number, None), self._ready.pop(number, None)
        self._next = number + 1
        if ready is not None:
            return self._lend(*ready)
        # Never wait: on a machine that has other work the second process may not go on for long.
        self._claims[number] = _FIRST
        return self._make(number) if own is None else own

    def _is_to_come(self, number: int) -> bool:
        """True while the second process is at this chunk."""
        here = number in self._own or number in self._ready
        return self._listening and not here and self._claims[number] == _SECOND

    def _make_behind(self, number: int) -> bool:
        """Make a chunk a little behind this one; false when there is none to be made."""
        behind = self._claim(number + 1, _FIRST, _MOST_BEHIND)
        if behind is not None:
            # What goes wrong will be raised in the chunk's turn, when it is made again.
            with contextlib.suppress(Exception):
                self._own[behind] = self._make(behind)
        return behind is not None

    def _hear(self) -> None:
        """Take what the second process has told."""
        if not self._listening:
            return
        try:
            data = os.read(self._news, 64 * _NEWS.size)
        except BlockingIOError:
            return
        self._listening = bool(data)
        for number, slot, records, words, big_endian in _NEWS.iter_unpack(data):
            if number < self._next:
                self._tokens.give(slot)
            else:
                self._ready[number] = slot, records, words, big_endian

    def _lend(self, slot: int, records: int, words: int, big_endian: bool) -> Columns:
        few = self._slots.lent >= _SLOTS - _LEFT
        columns = self._slots.lend(slot, records, words, big_endian=big_endian)
        return copied(columns) if few else columns

    def end(self) -> None:
        """End the second process. Records that were handed out stay as they are."""
        os.close(self._news)
        self._second.end()
