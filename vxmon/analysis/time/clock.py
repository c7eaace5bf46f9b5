# SPDX-License-Identifier: Apache-2.0
"""How long each task had run at any instant, and how much was unknown by then, over all streams of a boot."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.state import NOBODY, UNKNOWN, Segments
from vxmon.trace.state_events import LossRows

__all__ = ["Clock", "Instants", "ticks_by_task"]

_ROWS: Final = 7

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Instants:
    """Instants of one task: how long it had run, how much time was unknown, losses and lost records so far.

    A loss that ended at the very instant may be before or behind it: ``losses`` and ``lost`` count it,
    ``losses_before`` and ``lost_before`` do not. The columns are the rows of ``table``.
    """

    table: Ints

    def __len__(self) -> int:
        return len(_row(self.table, 0))

    @staticmethod
    def none() -> Instants:
        """No instants."""
        return Instants(np.zeros((_ROWS, 0), np.int64))

    @staticmethod
    def zero() -> Instants:
        """The begin of all time."""
        return Instants(np.zeros((_ROWS, 1), np.int64))

    @property
    def time(self) -> Ints:
        """When, in ticks."""
        return _row(self.table, 0)

    @property
    def ran(self) -> Ints:
        """How long the task had run."""
        return _row(self.table, 1)

    @property
    def unknown(self) -> Ints:
        """For how long it was unknown who ran."""
        return _row(self.table, 2)

    @property
    def losses(self) -> Ints:
        """Losses that had ended."""
        return _row(self.table, 3)

    @property
    def lost(self) -> Ints:
        """Records in them."""
        return _row(self.table, 4)

    @property
    def losses_before(self) -> Ints:
        """Losses that had ended before."""
        return _row(self.table, 5)

    @property
    def lost_before(self) -> Ints:
        """Records in these."""
        return _row(self.table, 6)

    def take(self, which: NDArray[np.bool_] | Ints) -> Instants:
        """Some of them."""
        return Instants(self.table.take(np.flatnonzero(which) if which.dtype == bool else which, axis=1))

    @staticmethod
    def join(a: Instants, b: Instants) -> Instants:
        """One after the other."""
        return Instants(np.concatenate([a.table, b.table], axis=1))

    def shifted(self, before: Instants | None) -> Instants:
        """Each one's predecessor; that of the first is ``before``, or the begin of all time."""
        return Instants.join(before or Instants.zero(), Instants(self.table[:, :-1]))


def _row(table: Ints, number: int) -> Ints:
    row: Ints = table[number]
    return row


def ticks_by_task(segments: Segments) -> Ints:
    """How long each task ran: that of UNKNOWN is first, then by index, NOBODY last."""
    sums = np.bincount(segments.task - UNKNOWN, segments.end - segments.start, minlength=NOBODY + 2)
    return sums.astype(np.int64)


@dataclass(slots=True)
class _Sums:
    """Spans of one kind in order of time, with what came before them."""

    start: Ints
    end: Ints
    before: Ints

    @staticmethod
    def of(start: Ints, end: Ints) -> _Sums:
        length = end - start
        return _Sums(start, end, np.cumsum(length) - length)

    def part(self, begin: int, end: int) -> _Sums:
        """Some of them, as if they were all."""
        return _Sums(self.start[begin:end], self.end[begin:end], self.before[begin:end] - self.before[begin])

    def until(self, time: Ints) -> Ints:
        """Length of the parts of the spans that lie before each instant."""
        if not len(self.start):
            return np.zeros(len(time), np.int64)
        at = np.searchsorted(self.start, time, "right") - 1
        inside = np.minimum(time, self.end[at]) - self.start[at]
        return np.where(at >= 0, self.before[at] + inside, 0)


@dataclass(slots=True)
class Clock:
    """Reads execution at instants inside the current chunk; earlier chunks are kept as sums by task."""

    _ran: Ints = field(default_factory=lambda: np.zeros(NOBODY + 1, np.int64))
    _unknown: int = 0
    _losses: int = 0
    _lost: int = 0
    _tasks: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    _edges: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    _spans: _Sums = field(default_factory=lambda: _Sums(*(np.zeros(0, np.int64) for _ in range(3))))
    _unknown_spans: list[_Sums] = field(default_factory=list)
    _loss_rows: LossRows = field(default_factory=lambda: LossRows(np.zeros(0, np.int64), np.zeros(0, np.int64)))
    lost_sums: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def begin_chunk(self, closed: list[Segments], still_open: list[Segments], losses: LossRows) -> None:
        """Make the chunk's spans readable."""
        spans = [*closed, *still_open]
        self._loss_rows = losses
        self.lost_sums = np.cumsum(losses.records)
        self._unknown_spans = []
        for segments in spans:
            unknown = segments.task == UNKNOWN
            if unknown.any():
                self._unknown_spans.append(_Sums.of(segments.start[unknown], segments.end[unknown]))
        task, start, end = _columns(spans)
        order = np.argsort(task, kind="stable")
        task = task.take(order)
        edges = np.flatnonzero(np.concatenate([[True], task[1:] != task[:-1]])) if len(task) else np.zeros(0, np.intp)
        self._tasks, self._edges = task[edges].astype(np.int64), np.append(edges, len(task))
        self._spans = _Sums.of(start.take(order), end.take(order))

    def end_chunk(self, ran: Ints) -> None:
        """Fold what ended into the sums, as ``ticks_by_task`` gives it; what is open comes again when it ends."""
        self._unknown += int(ran[0])
        self._ran += ran[1:]
        self._losses += len(self._loss_rows.time)
        self._lost += int(self._loss_rows.records.sum())
        self._loss_rows = LossRows(np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._tasks, self._unknown_spans = np.zeros(0, np.int64), []

    def read(self, task: int, time: Ints) -> Instants:
        """The clock of a task at instants of the current chunk."""
        table = np.empty((_ROWS, len(time)), np.int64)
        table[0], table[1], table[2] = time, self._ran[task], self._unknown
        at = int(np.searchsorted(self._tasks, task))
        if at < len(self._tasks) and self._tasks[at] == task:
            table[1] += self._spans.part(int(self._edges[at]), int(self._edges[at + 1])).until(time)
        for spans in self._unknown_spans:
            table[2] += spans.until(time)
        self._count_losses(table)
        return Instants(table)

    def _count_losses(self, table: Ints) -> None:
        table[3], table[4] = table[5], table[6] = self._losses, self._lost
        if not len(self._loss_rows.time):
            return
        sums = np.concatenate([[0], self.lost_sums])
        upto, before = (np.searchsorted(self._loss_rows.time, table[0], side) for side in ("right", "left"))
        table[3] += upto
        table[4] += sums[upto]
        table[5] += before
        table[6] += sums[before]

    def now(self, end: int) -> dict[int, Instants]:
        """The clock at the end, by task; -1 stands for tasks that never ran."""

        def one(ran: int) -> Instants:
            values = (end, ran, self._unknown, *2 * (self._losses, self._lost))
            return Instants(np.array([[value] for value in values], np.int64))

        return {-1: one(0), **{task: one(int(self._ran[task])) for task in self.seen()}}

    def ran(self, task: int) -> int:
        """How long a task ran in all chunks so far."""
        return int(self._ran[task])

    def by_task(self) -> Ints:
        """How long each task ran, by index."""
        return self._ran

    def seen(self) -> list[int]:
        """Tasks that ran."""
        return [int(task) for task in np.flatnonzero(self._ran).tolist()]

    @property
    def lost(self) -> int:
        """Records lost so far."""
        return self._lost


def _columns(spans: list[Segments]) -> tuple[NDArray[np.uint16], Ints, Ints]:
    """Task, start and end of all segments in which it is known who ran, those of a task in order of time."""
    if not spans:
        return np.zeros(0, np.uint16), np.zeros(0, np.int64), np.zeros(0, np.int64)
    task, start, end = (np.concatenate([getattr(s, name) for s in spans]) for name in ("task", "start", "end"))
    if (start[1:] < start[:-1]).any():
        order = np.argsort(start, kind="stable")
        task, start, end = task[order], start[order], end[order]
    known = task >= 0
    if not known.all():
        task, start, end = task[known], start[known], end[known]
    return task.astype(np.uint16), start, end
