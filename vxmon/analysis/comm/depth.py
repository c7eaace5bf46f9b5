# SPDX-License-Identifier: Apache-2.0
"""How many messages wait in a queue over time.

The kernel tells the depth after each call on the queue's own object. A message sent to a port's channel adds one to
the queue at the other end. Across a loss the depth is unknown until it is told again. Where the channel is not known,
nothing tells that a message was added: between two calls the queue may have been as deep as it can be.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.comm.messages import Ints
from vxmon.analysis.figures import Figure, Statistic

__all__ = ["DepthBook", "DepthRows"]

# No queue is deeper; larger numbers would not fit the sums.
_DEEPEST = 1 << 20


@dataclass(slots=True)
class DepthRows:
    """What changes or tells a depth, in order of time. Where it is not ``told`` one message is added."""

    time: Ints
    told: NDArray[np.bool_]
    depth: Ints
    epoch: Ints


@dataclass(slots=True)
class _State:
    time: int
    depth: int
    sure: bool
    epoch: int


@dataclass(slots=True)
class DepthBook:
    """One queue. ``begin`` and ``end`` bound the time that is asked for, ``origin`` is the begin of recording.

    ``blind``: what is sent to it is not known, so the depth is known at calls only. ``cut``: it was told before, which
    was not read.
    """

    capacity: int
    begin: int
    end: int
    origin: int
    blind: bool = False
    cut: bool = False
    depths: Statistic = field(default_factory=Statistic)
    told: int = 0
    area: int = 0
    known: int = 0
    unknown: int = 0
    full_ticks: int = 0
    times_full: int = 0
    full_first: int | None = None
    full_last: int | None = None
    longest_full: int = 0
    _state: _State | None = None
    _begun: bool = False
    _run: int | None = None

    def feed(self, rows: DepthRows) -> None:
        """Take the rows of a chunk."""
        if not len(rows.time):
            return
        depth, sure = self._depths(rows)
        inside = sure & (rows.time >= self.begin) & (rows.time < self.end)
        self.depths.add(depth[inside], None, rows.time[inside])
        self.told += int((inside & rows.told).sum())
        first = self._state or _State(int(rows.time[0]), 0, sure=False, epoch=int(rows.epoch[0]))
        self._intervals(first, rows, depth, sure)
        self._state = _State(int(rows.time[-1]), int(depth[-1]), bool(sure[-1]), int(rows.epoch[-1]))

    def finish(self, end: int, epoch: int) -> None:
        """Close the last interval at the end of recording; ``epoch``: losses until then."""
        state = self._state
        if state is not None and end >= state.time:
            rows = DepthRows(
                np.array([end]), np.ones(1, bool), np.array([state.depth]), np.array([max(epoch, state.epoch)])
            )
            self._intervals(state, rows, rows.depth, np.array([state.sure and epoch == state.epoch]))

    def _depths(self, rows: DepthRows) -> tuple[Ints, NDArray[np.bool_]]:
        """The depth after each row, and where it is sure."""
        state = self._state or _State(0, 0, sure=False, epoch=-1)
        count = len(rows.time)
        told_at = np.maximum.accumulate(np.where(rows.told, np.arange(count), -1))
        added = np.cumsum(~rows.told)
        since = np.maximum(told_at, 0)
        ago: Ints = added - np.where(told_at >= 0, added[since], 0)
        base = np.where(told_at >= 0, rows.depth[since], state.depth)
        epoch = np.where(told_at >= 0, rows.epoch[since], state.epoch)
        known = (told_at >= 0) | state.sure
        deepest = min(self.capacity, _DEEPEST) if self.capacity else _DEEPEST
        return np.minimum(base + ago, deepest), known & (epoch == rows.epoch)

    def _intervals(self, first: _State, rows: DepthRows, depth: Ints, sure: NDArray[np.bool_]) -> None:
        """Take the times from each row, the first of which is of before, to the next."""
        time = np.clip(np.concatenate([[first.time], rows.time]), self.begin, self.end)
        lasting = np.diff(time)
        before = np.concatenate([[first.depth], depth[:-1]])
        steady = np.concatenate([[first.epoch], rows.epoch[:-1]]) == rows.epoch
        known = np.concatenate([[first.sure], sure[:-1]]) & steady
        self.area += int((before * lasting)[known].sum())
        self.known += int(lasting[known].sum())
        # Before the depth is told for the first time nothing is said of it, but that it may have been told and lost.
        if not self._begun and sure.any() and (self.cut or rows.epoch[sure.argmax()] > 0):
            self.unknown += max(int(time[1:][sure.argmax()]) - max(self.origin, self.begin), 0)
        begun = 0 if self._begun else int(sure.argmax()) + 1 if sure.any() else len(sure)
        self.unknown += int(lasting[begun:][~known[begun:]].sum())
        self._begun = self._begun or bool(sure.any())
        if self.capacity:
            self._full(time, lasting, known & (before >= self.capacity))

    def _full(self, time: Ints, lasting: Ints, full: NDArray[np.bool_]) -> None:
        """Take the times in which the queue was full; what goes on from the chunk before is the same one."""
        full = full & ((lasting > 0) | (time[1:] < self.end) & (time[1:] > self.begin))
        edges = np.diff(full.astype(np.int8), prepend=0, append=0)
        begins, ends = np.flatnonzero(edges == 1), np.flatnonzero(edges == -1)
        lengths = time[ends] - time[begins]
        goes_on = bool(full[0]) and self._run is not None
        if goes_on:
            lengths[0] += self._run or 0
        fresh = time[begins[1 if goes_on else 0 :]]
        self.full_ticks += int(lasting[full].sum())
        self.times_full += len(fresh)
        if len(fresh):
            self.full_first = int(fresh[0]) if self.full_first is None else self.full_first
            self.full_last = int(fresh[-1])
        if len(lengths):
            self.longest_full = max(self.longest_full, int(lengths.max()))
        self._run = int(lengths[-1]) if full[-1] else None

    # ------------------------------------------------------------ figures

    def most(self) -> Figure:
        """The greatest depth; across a loss it may have been anything up to the capacity."""
        most = self.depths.most
        if self.blind and most is not None:
            return Figure.between(None, most.value, self.capacity or None, self.told)
        return self._figure(most.value if most else None, 0, self.capacity or None)

    def least(self) -> Figure:
        """The smallest depth."""
        least = self.depths.least
        value = least.value if least else None
        if self.blind and value is not None:
            return Figure.between(None, 0, value, self.told)
        figure = self._figure(value, 0, value)
        return Figure(figure.value, 0 if self.unknown and value is not None else figure.lo, value, figure.n)

    def mean(self) -> Figure:
        """The mean over time, in thousandths of a message."""
        if not self.known:
            return Figure.none()
        whole = self.known + self.unknown
        low = self.area * 1000 // whole
        high = (self.area + self.unknown * self.capacity) * 1000 // whole if self.capacity else None
        if self.blind:
            return Figure.between(None, low, self.capacity * 1000 or None, self.told)
        return Figure(self.area * 1000 // self.known, low, high if self.unknown else low, self.told)

    def full(self) -> Figure:
        """How long the queue was full, in ticks."""
        if not self.capacity or not self.known:
            return Figure.none()
        if self.blind:
            return Figure.between(None, self.full_ticks, self.known + self.unknown, self.told)
        return Figure(self.full_ticks, self.full_ticks, self.full_ticks + self.unknown, self.times_full)

    def _figure(self, value: int | None, least: int, most: int | None) -> Figure:
        if value is None:
            return Figure.none()
        low = max(least, value) if self.unknown else value
        return Figure(value, low, most if self.unknown else value, self.told)
