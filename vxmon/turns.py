# SPDX-License-Identifier: Apache-2.0
"""Work on many items done by two processes in turns.

Both walk through all items, and each makes something of every second one. So nothing travels between them but what was
made, and what is done twice is only the walk, which must be cheap. It travels through memory that both have: through
a pipe it would be copied twice more, and who makes it would wait with all that a pipe does not hold.
"""

from __future__ import annotations

import mmap
import os
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from vxmon.second import Second

__all__ = ["ENOUGH_EVENTS", "ROOM_BYTES", "Data", "in_turns", "worth_turns"]

ENOUGH_EVENTS: Final = 500_000
"""With fewer events to print a second process does not pay."""
_LENGTH_BYTES: Final = 8
# What was made of two items finds room before the first process takes any.
_ROOMS: Final = 2
ROOM_BYTES: Final = 8 << 20
"""An item longer than this comes in pieces. Memory that is not used costs nothing."""

Data = bytes | bytearray | memoryview
C = TypeVar("C")


def worth_turns(amount: int, enough: int) -> bool:
    """True when there is enough to do for a second process, and one can be had."""
    return amount >= enough and Second.is_free()


def in_turns(items: Iterator[C], make: Callable[[C], Data], *, lent: bool = False, extra: int = 0) -> Iterator[Data]:
    """``make(item)`` of each item, in order.

    Args:
        items: gives the same in either process, so it must read files by place, not from where the last read ended.
        make: must not depend on what it made before.
        lent: what is yielded need only last until the next is asked for, which saves a copy.
        extra: of so many items, an even number, the second process makes one more than half, as the first has other
            work too; 0: just half.

    What the second process does not deliver whole is made here, so that its end, or that there is none, changes nothing
    but the time it takes.

    """
    try:
        helper = _Helper.fork(items, make, extra)
    except OSError:
        yield from map(make, items)
        return
    try:
        for number, item in enumerate(items):
            data = helper.take() if _is_its(number, extra) else None
            if data is None:
                yield make(item)
            elif lent:
                yield data
                helper.give_back()
            else:
                data = bytearray(data)
                helper.give_back()
                yield data
    finally:
        helper.end()


class _Rooms:
    """Memory of both processes, and the pipes that tell what is in it and what is free again.

    A message is what is left of an item, as a number; as much of that as fits is in the next room.
    """

    def __init__(self) -> None:
        self._memory = mmap.mmap(-1, _ROOMS * ROOM_BYTES)
        self.full, self._fill = os.pipe()
        try:
            self._free, self._empty = os.pipe()
        except OSError:
            os.close(self.full)
            os.close(self._fill)
            raise
        self._number = 0

    def _next(self, left: int) -> memoryview:
        """The next room, as far as it is used."""
        begin = self._number % _ROOMS * ROOM_BYTES
        self._number += 1
        return memoryview(self._memory)[begin : begin + min(left, ROOM_BYTES)]

    def put(self, data: Data) -> None:
        """Hand over an item, in pieces where it is longer than a room."""
        rest = memoryview(data)
        while True:
            if self._number >= _ROOMS and not os.read(self._free, 1):
                raise EOFError
            room = self._next(len(rest))
            room[:] = rest[: len(room)]
            os.write(self._fill, len(rest).to_bytes(_LENGTH_BYTES, "little"))
            rest = rest[len(room) :]
            if not rest:
                return

    def take(self) -> tuple[memoryview, int] | None:
        """The next piece, and how much is left of its item with it; None when no more come."""
        # So short a message is written, and read, whole or not at all.
        head = os.read(self.full, _LENGTH_BYTES)
        left = int.from_bytes(head, "little")
        return (self._next(left), left) if len(head) == _LENGTH_BYTES else None

    def give_back(self) -> None:
        """Say that a room is free again; the other end may have ended."""
        os.write(self._empty, b".")

    def keep_inner(self) -> None:
        """In the second process: close what the first one uses, so that the end of either is seen."""
        os.close(self.full)
        os.close(self._empty)

    def keep_outer(self) -> None:
        """In the first process: the same. It keeps both ends of one pipe, so that to write there is no error."""
        os.close(self._fill)

    def close(self) -> None:
        """Close the ends of the first process."""
        for end in (self.full, self._free, self._empty):
            os.close(end)


def _is_its(number: int, extra: int) -> bool:
    """True for items of the second process."""
    return number % 2 == 1 or (extra > 0 and number > 0 and number % extra == 0)


class _Helper:
    """The other process, as this one sees it."""

    def __init__(self, process: Second, rooms: _Rooms) -> None:
        self._process = process
        self._rooms = rooms
        self._whole = True

    @classmethod
    def fork(cls, items: Iterator[C], make: Callable[[C], Data], extra: int) -> _Helper:
        """Start it where this process stands."""
        rooms = _Rooms()

        def work() -> None:
            rooms.keep_inner()
            _help(items, make, rooms, extra)

        try:
            process = Second(work)
        except OSError:
            rooms.close()
            raise
        finally:
            rooms.keep_outer()
        return cls(process, rooms)

    def take(self) -> memoryview | bytearray | None:
        """What was made of the next item that is the other's, until its room is given back; None: not all of it."""
        whole = bytearray()
        while self._whole:
            taken = self._rooms.take()
            if taken is None:
                self._whole = False
                break
            piece, left = taken
            if len(piece) == left:
                return whole + piece if whole else piece
            whole += piece
            self.give_back()
        return None

    def give_back(self) -> None:
        """What was taken last is not needed any more."""
        self._rooms.give_back()

    def end(self) -> None:
        """End it, wherever it is."""
        self._rooms.close()
        self._process.end()


def _help(items: Iterator[C], make: Callable[[C], Data], rooms: _Rooms, extra: int) -> None:
    """The other process: its items. Whatever goes wrong, the first process finds that out by itself."""
    for number, item in enumerate(items):
        if _is_its(number, extra):
            rooms.put(make(item))
