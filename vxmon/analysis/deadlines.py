# SPDX-License-Identifier: Apache-2.0
"""Missed deadlines as the records show them, against those that the health monitor reported.

All is kept in columns by task, so that a chunk costs no loop and the counts of parts add up.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Columns
from vxmon.trace.fields import FieldReader
from vxmon.trace.state import NOBODY
from vxmon.trace.state_events import TaskEvents, hm_rows, task_events
from vxmon.wire.events import HmCode

__all__ = ["Deadlines", "Disagreement"]

# Releases that may wait for their completion, over all tasks.
_MOST_OPEN: Final = 1 << 14
# A task's activations follow each other: the number is below this.
_SHIFT: Final = 32

Ints = NDArray[np.int64]


def _by_task() -> Ints:
    return np.zeros(NOBODY + 1, np.int64)


@dataclass(frozen=True, slots=True)
class Disagreement:
    """A task of which the records show ``seen`` missed deadlines while the health monitor reported ``told``."""

    task: int
    seen: int
    told: int


@dataclass(slots=True)
class _Open:
    """Activations that were released and did not end, by (task, number); ``losses``: before the release."""

    key: Ints
    deadline: Ints
    time: Ints
    losses: Ints

    def take(self, which: NDArray[np.bool_] | NDArray[np.intp]) -> _Open:
        return _Open(self.key[which], self.deadline[which], self.time[which], self.losses[which])

    @property
    def task(self) -> Ints:
        return self.key >> _SHIFT


def _nothing() -> _Open:
    return _Open(*(np.zeros(0, np.int64) for _ in range(4)))


@dataclass(slots=True)
class Deadlines:
    """Columns by task index.

    ``missed``: completed after the deadline, or stopped behind it. ``maybe``: the same where records are missing
    between, and what is open at the end behind its deadline. ``told``: reported by the health monitor; ``early`` those
    of them that came before the task's first release in the recording.
    """

    missed: Ints = field(default_factory=_by_task)
    maybe: Ints = field(default_factory=_by_task)
    told: Ints = field(default_factory=_by_task)
    early: Ints = field(default_factory=_by_task)
    lost: int = 0
    _losses: int = 0
    _open: _Open = field(default_factory=_nothing)
    _released: NDArray[np.bool_] = field(default_factory=lambda: np.zeros(NOBODY + 1, bool))

    def feed(self, columns: Columns, reader: FieldReader, losses: NDArray[np.void]) -> None:
        """Take a chunk."""
        events = task_events(columns, reader, losses, np.ones(len(columns), bool))
        self._tell(columns, reader, events)
        self._release(events)
        self._complete(events)
        self._stop(events)
        self._open = self._open.take(np.arange(max(len(self._open.key) - _MOST_OPEN, 0), len(self._open.key)))
        self._losses += len(events.losses.time)
        self.lost += int(events.losses.records.sum())

    def finish(self, end: int) -> None:
        """Recording ended."""
        late = (self._open.deadline > 0) & (self._open.deadline < end)
        self._count(self.maybe, self._open.task[late])
        self._open = _nothing()

    def disagreements(self) -> Iterator[Disagreement]:
        """Tasks of which the two counts cannot both be true, whatever is missing."""
        most_seen = self.missed + self.maybe + self.lost
        wrong = (self.told > most_seen) | (self.told + self.early + self.lost < self.missed)
        for task in np.flatnonzero(wrong[:NOBODY]).tolist():
            yield Disagreement(task, int(self.missed[task]), int(self.told[task] + self.early[task]))

    # ------------------------------------------------------------ parts

    @staticmethod
    def _count(column: Ints, tasks: Ints) -> None:
        column += np.bincount(tasks, minlength=NOBODY + 1)

    def _before(self, events: TaskEvents, time: Ints, side: str) -> Ints:
        """Losses that ended before instants; on the "right" those at the very instant, too."""
        rows = events.losses.time
        at = np.searchsorted(rows, time, "right") if side == "right" else np.searchsorted(rows, time, "left")
        return at + self._losses

    def _tell(self, columns: Columns, reader: FieldReader, events: TaskEvents) -> None:
        which, task = hm_rows(columns, reader, HmCode.DEADLINE_MISSED)
        first = np.full(NOBODY + 1, np.iinfo(np.int64).max)
        np.minimum.at(first, events.releases.task, events.releases.columns[0])
        known = self._released[task] | (columns.time[which] >= first[task])
        self._count(self.told, task[known])
        self._count(self.early, task[~known])
        self._released[events.releases.task] = True

    def _release(self, events: TaskEvents) -> None:
        time, number, _, deadline = events.releases.columns
        new = _Open(events.releases.task << _SHIFT | number, deadline, time, self._before(events, time, "left"))
        names = ("key", "deadline", "time", "losses")
        self._open = _Open(*(np.concatenate([getattr(self._open, name), getattr(new, name)]) for name in names))
        number, deadline = events.deadlines.columns
        key = events.deadlines.task << _SHIFT | number
        if len(key) and len(self._open.key):
            order = np.argsort(key, kind="stable")
            at = np.searchsorted(key[order], self._open.key, "right") - 1
            moved = (at >= 0) & (key[order][at] == self._open.key)
            self._open.deadline = np.where(moved, deadline[order][at], self._open.deadline)

    def _complete(self, events: TaskEvents) -> None:
        time, number = events.completions.columns
        _, begun, ended = np.intersect1d(
            self._open.key, events.completions.task << _SHIFT | number, return_indices=True
        )  # fmt: skip
        fits = time[ended] >= self._open.time[begun]
        begun, end = begun[fits], time[ended][fits]
        self._judge(self._open.take(begun), end, self._before(events, end, "right"), always=True)
        # Activations end in order: what is older than one that ended will not be seen to end.
        last = np.full(NOBODY + 1, -1, np.int64)
        np.maximum.at(last, self._open.task[begun], begun)
        self._open = self._open.take(np.arange(len(self._open.key)) > last[self._open.task])

    def _stop(self, events: TaskEvents) -> None:
        """A task that is stopped does not complete; its deadline counts only if it had passed."""
        (stopped,) = events.stops.columns
        if not len(stopped) or not len(self._open.key):
            return
        # Sorted by task, then time.
        place = np.searchsorted(events.stops.task, np.arange(NOBODY + 2))
        for task in np.unique(events.stops.task).tolist():
            own = stopped[place[task] : place[task + 1]]
            mine = self._open.task == task
            at = np.searchsorted(own, self._open.time, "left")
            ended = mine & (at < len(own))
            end = own[np.minimum(at, len(own) - 1)][ended]
            self._judge(self._open.take(ended), end, self._before(events, end, "right"), always=False)
            self._open = self._open.take(~ended)

    def _judge(self, begun: _Open, end: Ints, losses: Ints, *, always: bool) -> None:
        """Was the deadline met? With a loss between that is in doubt: a new deadline may have been set in it."""
        late = (begun.deadline > 0) & (end > begun.deadline)
        unsure = (begun.deadline > 0) & (losses > begun.losses) & (late | always)
        self._count(self.missed, begun.task[late & ~unsure])
        self._count(self.maybe, begun.task[unsure])
