# SPDX-License-Identifier: Apache-2.0
"""What an object was sent: how many messages, how large, and how regular.

A period is the time from one message to the next, its jitter the difference to the period before. The kernel's numbers
tell how many messages lie between two that were recorded, so a loss elsewhere puts nothing in doubt.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.comm.messages import Ints, MessageRows
from vxmon.analysis.comm.numbers import Numbering
from vxmon.analysis.figures import Figure, Range

__all__ = ["Busiest", "SourceBook"]


@dataclass(slots=True)
class Busiest:
    """The most messages in one second, of seconds counted from the first record; ``at`` is its number."""

    second: int = -1
    count: int = 0
    most: int = 0
    at: int = -1

    def add(self, seconds: Ints) -> None:
        """Take the seconds of messages, in order."""
        if not len(seconds):
            return
        starts = np.concatenate([[0], np.flatnonzero(np.diff(seconds)) + 1])
        counts = np.diff(np.append(starts, len(seconds)))
        if int(seconds[0]) == self.second:
            counts[0] += self.count
        best = int(counts.argmax())
        if int(counts[best]) > self.most:
            self.most, self.at = int(counts[best]), int(seconds[starts[best]])
        self.second, self.count = int(seconds[-1]), int(counts[-1])


@dataclass(slots=True)
class _Last:
    """The last message that was sent, and the period before it."""

    time: int
    whole: int
    lost: int
    kept: bool
    period: int = -1


@dataclass(slots=True)
class SourceBook:
    """The messages that one object accepted. ``limit`` is the largest size that it takes; 0: not known."""

    limit: int = 0
    origin: int = 0
    hz: int = 0
    numbering: Numbering = field(default_factory=Numbering)
    seen: int = 0
    missing: int = 0
    steps_back: int = 0
    first_time: int | None = None
    first_lost: int = 0
    first_epoch: int = 0
    first_whole: int = 0
    sizes: Range = field(default_factory=Range)
    periods: Range = field(default_factory=Range)
    jitters: Range = field(default_factory=Range)
    busiest: Busiest = field(default_factory=Busiest)
    _last: _Last | None = None
    _doubt: int = 0

    def feed(self, rows: MessageRows) -> Ints:
        """Take the sends that succeeded, in order; returns their numbers without wrap, or 0 where there are none."""
        self.numbering.note(rows.number)
        numbered = self.numbering.numbered
        whole = self.numbering.count(rows.number) if numbered else np.zeros(len(rows), np.int64)
        if not len(rows):
            return whole
        kept = rows.kept
        if self.first_time is None:
            self.first_time, self.first_lost = int(rows.time[0]), int(rows.lost[0])
            self.first_epoch, self.first_whole = int(rows.epoch[0]), int(whole[0])
        self.seen += int(kept.sum())
        self.sizes.add(rows.size[kept], None, rows.number[kept], rows.time[kept])
        self.busiest.add((rows.time[kept] - self.origin) // (self.hz or 1))
        self._pairs(rows, whole, numbered=numbered)
        return whole

    def _pairs(self, rows: MessageRows, whole: Ints, *, numbered: bool) -> None:
        """Take the time from each message to the next."""
        last = self._last or _Last(int(rows.time[0]), int(whole[0]), int(rows.lost[0]), kept=False)
        period = np.diff(rows.time, prepend=last.time)
        lost = np.diff(rows.lost, prepend=last.lost)
        step = np.diff(whole, prepend=last.whole) if numbered else np.ones(len(rows), np.int64)
        both = rows.kept & np.concatenate([[last.kept], rows.kept[:-1]])
        self.steps_back += int((both & (step <= 0)).sum())
        sure = both & (step == 1) & (numbered | (lost == 0))
        self._sure(rows, period, sure, last.period)
        if numbered:
            self._gaps(period[both & (step > 1)], step[both & (step > 1)])
            self._cut(period, np.minimum(lost, np.maximum(step - 1, 0)) * ~both)
        else:
            self._maybe(period[both & (lost > 0)], lost[both & (lost > 0)])
            self._cut(period, lost * ~both)
        tail = int(period[-1]) if sure[-1] else -1
        self._last = _Last(int(rows.time[-1]), int(whole[-1]), int(rows.lost[-1]), bool(rows.kept[-1]), tail)

    def _sure(self, rows: MessageRows, period: Ints, sure: NDArray[np.bool_], before: int) -> None:
        self.periods.add(period[sure], None, rows.number[sure], rows.time[sure])
        previous = np.concatenate([[before], np.where(sure, period, -1)[:-1]])
        twice = sure & (previous >= 0)
        self.jitters.add(np.abs(period - previous)[twice], None, rows.number[twice], rows.time[twice])

    def _gaps(self, period: Ints, step: Ints) -> None:
        """Between two messages the kernel numbered others that are not in the session: each period is a part of it."""
        if len(period):
            self.missing += int((step - 1).sum())
            self._unknown(int(step.sum()), len(step), int(period.max()))

    def _maybe(self, period: Ints, lost: Ints) -> None:
        """Without numbers any record that was lost may have been a message."""
        if len(period):
            self.periods.add(np.zeros(len(period), np.int64), period)
            self._doubt += int(lost.sum())
            self._unknown(int(lost.sum()), len(lost), int(period.max()))

    def _cut(self, period: Ints, lost: Ints) -> None:
        """Between a message outside the time that is asked for and the next one, some may have been inside."""
        some = lost > 0
        if some.any():
            self._doubt += int(lost.sum())
            self._unknown(int(lost.sum()), int(some.sum()), int(period[some].max()))

    def _unknown(self, periods: int, places: int, longest: int) -> None:
        """So many periods of which only is known that none is longer."""
        self.periods.add_extra(periods, 0, longest)
        known = self.periods.sure.most
        self.jitters.add_extra(periods + places, 0, max(longest, known.value if known else 0))

    # ------------------------------------------------------------ figures

    def close(self, begin: int, end: int, lost: int) -> None:
        """Account for what was lost before the first and after the last message; ``lost`` records in all."""
        last = self._last
        if self.first_time is None or last is None:
            self._at_edge(lost, end - begin)
            return
        self._at_edge(self.first_lost, self.first_time - begin)
        self._at_edge(lost - last.lost, end - last.time)
        if self.missing or self._doubt:
            self.sizes.add_extra(self.missing + self._doubt, 0, self.limit or None)

    def _at_edge(self, lost: int, longest: int) -> None:
        if lost > 0:
            self._doubt += lost
            self._unknown(lost, 1, max(longest, 0))
            if self.first_time is None:
                self.sizes.add_extra(lost, 0, self.limit or None)

    def count(self) -> Figure:
        """Messages that were sent: those seen, those that the numbers tell of, and those that may have been."""
        sure = self.seen + self.missing
        return Figure(sure, sure, sure + self._doubt, self.seen)

    def most_in_a_second(self) -> Figure:
        """In the busiest second."""
        most = self.busiest.most
        return Figure(most, most, most + self.missing + self._doubt, self.seen)
