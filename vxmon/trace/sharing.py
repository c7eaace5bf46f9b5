# SPDX-License-Identifier: Apache-2.0
"""Memory that two processes share, in slots: one puts records there, the other uses them where they lie.

A slot is given back when nobody holds an array of its records any more, nor a part of one. An array that is held for
ever keeps its slot for ever, so who lends must be ready to have no slot left.
"""

from __future__ import annotations

import ctypes
import mmap
import os
import weakref
from collections.abc import Callable
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Columns

__all__ = ["Slots", "copied"]

# Arrays begin at multiples of this: lines of the processor's cache.
_ALIGNED: Final = 64
_KINDS: Final[dict[str, type[np.generic]]] = {
    "time": np.int64, "at": np.int64, "words": np.uint32, "id": np.uint16, "arg": np.uint16, "stream": np.uint8,
    "slots": np.uint8,
}  # fmt: skip


class Slots:
    """Slots of shared memory.

    Args:
        count: how many.
        size: bytes of each.
        give_back: called with the number of a slot that is free again, in the process that made the slots, at any
            time, also by the collector of garbage.

    Raises:
        OSError: there is no memory.

    """

    def __init__(self, count: int, size: int, give_back: Callable[[int], None]) -> None:
        self._memory = mmap.mmap(-1, count * size)
        self._size = size
        self._kind = ctypes.c_char * size
        self._give_back = give_back
        self._owner = os.getpid()
        self._lent: set[int] = set()
        self._kept: set[int] = set()
        _ALL.add(self)

    @property
    def lent(self) -> int:
        """How many slots are in use."""
        return len(self._lent)

    def put(self, slot: int, columns: Columns) -> bool:
        """Copy records to a slot; false when they are too many."""
        places, size = _places(len(columns), len(columns.words))
        if size > self._size:
            return False
        for name, (at, count) in places.items():
            target: NDArray[Any] = np.ndarray((count,), _KINDS[name], self._memory, slot * self._size + at)
            target[:] = getattr(columns, name)
        return True

    def lend(self, slot: int, records: int, words: int, *, big_endian: bool) -> Columns:
        """Records of a slot, where they lie."""
        # Each array that is made of this one, or of a part of it, holds it.
        lease = self._kind.from_buffer(self._memory, slot * self._size)
        self._lent.add(slot)
        weakref.finalize(lease, self._end, slot).atexit = False
        places, view = _places(records, words)[0], memoryview(lease)
        arrays: dict[str, NDArray[Any]] = {
            name: np.ndarray((count,), _KINDS[name], view, at) for name, (at, count) in places.items()
        }
        return Columns(**arrays, big_endian=big_endian)

    def keep(self) -> None:
        """Never give back what is lent now: another process uses it too."""
        self._kept |= self._lent

    def _end(self, slot: int) -> None:
        if os.getpid() == self._owner and slot not in self._kept:
            self._lent.discard(slot)
            self._give_back(slot)


# A program may start processes of its own that go on with what they have inherited.
_ALL: Final[weakref.WeakSet[Slots]] = weakref.WeakSet()


def _keep_all() -> None:
    for slots in _ALL:
        slots.keep()


os.register_at_fork(after_in_parent=_keep_all)


def _places(records: int, words: int) -> tuple[dict[str, tuple[int, int]], int]:
    """Where in a slot each array begins and how many elements it has; and how many bytes all take."""
    places, at = {}, 0
    for name, kind in _KINDS.items():
        count = words if name == "words" else records
        places[name] = at, count
        at += count * np.dtype(kind).itemsize + _ALIGNED - 1 & -_ALIGNED
    return places, at


def copied(columns: Columns) -> Columns:
    """The same records in arrays of their own."""
    return replace(columns, **{name: getattr(columns, name).copy() for name in _KINDS})
