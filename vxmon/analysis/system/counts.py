# SPDX-License-Identifier: Apache-2.0
"""How often events of each kind came, and how densely; streamed, no loop per event."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ALL", "BINS", "Counts", "KindBook", "RateBook", "most_lost"]

ALL: Final = -2
"""Stands for all numbers of a category, or for all partitions."""

BINS: Final = 20
"""Parts of equal length into which the observed time is divided."""

# Events kept to find the densest span; more of them in one span make the figure a lower bound.
_MOST_WAITING: Final = 1 << 20
# Kinds that are told apart; a senseless session may name 65536 codes in 65536 partitions.
_MOST_KINDS: Final = 4096
_SHIFT: Final = 34

Ints = NDArray[np.int64]


@dataclass(slots=True)
class RateBook:
    """The most events within any span of ``width`` ticks, and when the first such span began."""

    width: int
    most: int = 0
    at: int = -1
    capped: bool = False
    _tail: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def add(self, times: Ints) -> None:
        """Take more instants, in order."""
        times = np.concatenate([self._tail, times])
        count = np.searchsorted(times, times + self.width, "left") - np.arange(len(times))
        best = int(count.argmax())
        if count[best] > self.most:
            self.most, self.at = int(count[best]), int(times[best])
        self._tail = times[times > times[-1] - self.width]
        if len(self._tail) > _MOST_WAITING:
            self._tail, self.capped = self._tail[-_MOST_WAITING // 2 :], True


@dataclass(slots=True)
class KindBook:
    """Events of one kind in one partition: ``over_time`` counts them by BINS of the observed time."""

    rate: RateBook
    count: int = 0
    first: int = -1
    last: int = -1
    over_time: Ints = field(default_factory=lambda: np.zeros(BINS, np.int64))

    def add(self, times: Ints, place: Ints) -> None:
        """Take events: their times, in order, and in which bin each is."""
        self.first = int(times[0]) if self.first < 0 else self.first
        self.last = int(times[-1])
        self.count += len(times)
        self.over_time += np.bincount(place, minlength=BINS)
        self.rate.add(times)


@dataclass(slots=True)
class Counts:
    """Events of one category by number and partition, either of which may be ALL.

    Args:
        begin, end: of the observed time.
        width: of the span in which events are densest, in ticks.

    """

    begin: int
    end: int
    width: int
    books: dict[tuple[int, int], KindBook] = field(default_factory=dict)
    left_out: int = 0

    def add(self, number: Ints, partition: Ints, time: Ints) -> None:
        """Take events in order of time; numbers and partitions are below 2^32, -1 is unknown."""
        if not len(time):
            return
        place = np.clip((time - self.begin) * BINS // max(self.end - self.begin, 1), 0, BINS - 1)
        everything = np.full(len(time), ALL, np.int64)
        for keys in ((number, partition), (number, everything), (everything, everything)):
            for key, which in _groups(*keys):
                self._book(key, time[which], place[which])

    def _book(self, key: tuple[int, int], times: Ints, place: Ints) -> None:
        if key not in self.books and len(self.books) >= _MOST_KINDS and key != (ALL, ALL):
            self.left_out += len(times)
            return
        if key not in self.books:
            self.books[key] = KindBook(RateBook(self.width))
        self.books[key].add(times, place)


def _groups(number: Ints, partition: Ints) -> Iterator[tuple[tuple[int, int], Ints]]:
    """Rows of each pair that occurs, in their order."""
    key = (number - ALL) << _SHIFT | (partition - ALL)
    order = np.argsort(key, kind="stable")
    edges = np.flatnonzero(np.concatenate([[True], np.diff(key[order]) != 0, [True]]))
    for begin, end in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
        row = int(order[begin])
        yield (int(number[row]), int(partition[row])), order[begin:end]


def most_lost(start: Ints, end: Ints, records: Ints, width: int) -> int:
    """The most records that may be missing within any span of ``width`` ticks, given where records were lost.

    The densest span begins where a loss ends: it is touched by that one, by those that end later and begin in it.
    """
    if not len(end):
        return 0
    by_start, by_end = np.argsort(start, kind="stable"), np.argsort(end, kind="stable")
    begun = np.concatenate([[0], np.cumsum(records[by_start])])
    ended = np.concatenate([[0], np.cumsum(records[by_end])])
    stops = end[by_end]
    touching = (
        begun[np.searchsorted(start[by_start], stops + width, "right")] - ended[np.searchsorted(stops, stops, "left")]
    )
    return int(touching.max())
