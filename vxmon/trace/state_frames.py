# SPDX-License-Identifier: Apache-2.0
"""Nominal window occurrences of a stream, anchored at its MAJOR_FRAME records."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.types import Schedule

__all__ = ["FrameRows", "FrameTrack", "Occurrences"]

# Frames that a loss hides and that are put back by arithmetic, at most at once; beyond, only their number is kept.
_MOST_INFERRED: Final = 1 << 16

Ints = NDArray[np.int64]


@dataclass(slots=True)
class FrameRows:
    """MAJOR_FRAME records of a stream in order: nominal start in ticks, number, schedule, and when it was recorded."""

    start: Ints
    frame: Ints
    schedule: Ints


@dataclass(slots=True)
class Occurrences:
    """Nominal spans of windows, in order, not overlapping. ``place`` is the number of a (schedule, window)."""

    start: Ints
    end: Ints
    place: Ints
    frame: Ints

    def __len__(self) -> int:
        return len(self.start)

    @staticmethod
    def none() -> Occurrences:
        """No occurrence."""
        return Occurrences(*(np.zeros(0, np.int64) for _ in range(4)))

    @staticmethod
    def join(parts: list[Occurrences]) -> Occurrences:
        """One after the other."""
        names = ("start", "end", "place", "frame")
        return Occurrences(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def take(self, which: slice | NDArray[np.bool_]) -> Occurrences:
        """Some of them."""
        return Occurrences(self.start[which], self.end[which], self.place[which], self.frame[which])

    def edges(self) -> tuple[Ints, Ints]:
        """The different instants at which one begins or ends, in order; and which of them each one's two are."""
        both = np.empty(2 * len(self), np.int64)
        both[0::2], both[1::2] = self.start, self.end
        new = np.ones(len(both), bool)
        new[1:] = both[1:] != both[:-1]
        return both[new], np.cumsum(new) - 1


@dataclass(slots=True)
class _Plan:
    """Windows of one schedule that last; ``place`` of the first is ``first``."""

    major: int
    offset: Ints
    end: Ints
    place: Ints


@dataclass(slots=True)
class FrameTrack:
    """Makes occurrences of frames.

    A frame whose record is missing is put back when the frames around it say exactly where it was: same schedule,
    and the distance is that of the frame numbers. ``covered`` is the instant up to which windows are known;
    ``regions`` are the stretches (from, to) in front of frames in which they are not, from None: since the begin.
    """

    schedules: Mapping[int, Schedule]
    covered: int | None = None
    irregular: int = 0
    unknown_schedules: set[int] = field(default_factory=set)
    regions: list[tuple[int | None, int]] = field(default_factory=list)
    _plans: dict[int, _Plan] = field(default_factory=dict)
    _last: tuple[int, int, int] | None = None

    def __post_init__(self) -> None:
        place = 0
        for number, schedule in sorted(self.schedules.items()):
            offset = np.array([w.offset for w in schedule.windows], np.int64)
            duration = np.array([w.duration for w in schedule.windows], np.int64)
            lasts = duration > 0
            places = place + np.arange(len(offset))
            self._plans[number] = _Plan(schedule.major_frame, offset[lasts], (offset + duration)[lasts], places[lasts])
            place += len(offset)

    def add(self, rows: FrameRows) -> Occurrences:
        """Occurrences of more frames, in order."""
        parts = []
        begin = 0
        while begin < len(rows.start):
            end = self._regular(rows, begin)
            some = slice(begin, end)
            parts += self._between(int(rows.start[begin]), int(rows.frame[begin]), int(rows.schedule[begin]))
            parts.append(self._make(int(rows.schedule[begin]), rows.start[some], rows.frame[some]))
            self._last = (int(rows.start[end - 1]), int(rows.frame[end - 1]), int(rows.schedule[end - 1]))
            begin = end
        return Occurrences.join(parts) if parts else Occurrences.none()

    def _regular(self, rows: FrameRows, begin: int) -> int:
        """End of the frames from ``begin`` on that follow each other as their schedule says."""
        plan = self._plans.get(int(rows.schedule[begin]))
        if plan is None:
            return begin + 1
        start, frame = rows.start[begin:], rows.frame[begin:]
        follows = (np.diff(start) == plan.major) & (np.diff(frame) == 1)
        follows &= rows.schedule[begin + 1 :] == rows.schedule[begin]
        wrong = np.flatnonzero(~follows)
        return begin + 1 + (int(wrong[0]) if len(wrong) else len(follows))

    def _between(self, start: int, frame: int, schedule: int) -> list[Occurrences]:
        """Frames between the last one and this one."""
        plan = self._plans.get(schedule)
        if self._last is None or plan is None:
            return []
        last_start, last_frame, last_schedule = self._last
        missing = frame - last_frame - 1
        before = self._plans.get(last_schedule, plan)
        if missing == 0 and start - last_start == before.major:
            return []
        exact = schedule == last_schedule and start - last_start == (missing + 1) * plan.major
        if exact and 0 < missing <= _MOST_INFERRED:
            numbers = np.arange(1, missing + 1)
            return [self._make(schedule, last_start + numbers * plan.major, last_frame + numbers)]
        self.irregular += not exact
        return []

    def _make(self, schedule: int, start: Ints, frame: Ints) -> Occurrences:
        plan = self._plans.get(schedule)
        if plan is None:
            self.unknown_schedules.add(schedule)
            return Occurrences.none()
        made = Occurrences(
            (start[:, None] + plan.offset).reshape(-1),
            (start[:, None] + plan.end).reshape(-1),
            np.tile(plan.place, len(start)),
            np.repeat(frame, len(plan.place)),
        )
        if self.covered is not None:
            made = made.take(made.start >= self.covered)
        if self.covered is None or int(start[0]) > self.covered:
            self.regions.append((self.covered, int(start[0])))
        end = int(start[-1]) + plan.major
        self.covered = end if self.covered is None else max(self.covered, end)
        return made
