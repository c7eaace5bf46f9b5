# SPDX-License-Identifier: Apache-2.0
"""How long each task had run at any instant, and how much was unknown by then, over all streams of a boot."""

from __future__ import annotations

from dataclasses import field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.state import NOBODY, UNKNOWN, Segments
from vxmon.trace.state_events import LossRows
from vxmon.valueclass import dataclass

__all__ = ["Clock", "Instants"]

_NAMES: Final = ("time", "ran", "unknown", "losses", "lost", "losses_before", "lost_before")

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Instants:
    """Instants of one task: how long it had run, how much time was unknown, losses and lost records so far.

    A loss that ended at the very instant may be before or behind it: ``losses`` and ``lost`` count it,
    ``losses_before`` and ``lost_before`` do not.
    """

    time: Ints
    ran: Ints
    unknown: Ints
    losses: Ints
    lost: Ints
    losses_before: Ints
    lost_before: Ints

    @staticmethod
    def none() -> Instants:
        """No instants."""
        return Instants(*(np.zeros(0, np.int64) for _ in _NAMES))

    @staticmethod
    def zero() -> Instants:
        """The begin of all time."""
        return Instants(*(np.zeros(1, np.int64) for _ in _NAMES))

    def take(self, which: NDArray[np.bool_] | Ints) -> Instants:
        """Some of them."""
        return Instants(*(getattr(self, name)[which] for name in _NAMES))

    @staticmethod
    def join(a: Instants, b: Instants) -> Instants:
        """One after the other."""
        return Instants(*(np.concatenate([getattr(a, name), getattr(b, name)]) for name in _NAMES))

    def shifted(self, before: Instants | None) -> Instants:
        """Each one's predecessor; that of the first is ``before``, or the begin of all time."""
        return Instants.join(before or Instants.zero(), self.take(np.arange(len(self.time) - 1)))


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
    _spans: tuple[Ints, Ints] = field(default_factory=lambda: (np.zeros(0, np.int64), np.zeros(0, np.int64)))
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
        order = np.lexsort((start, task)) if len(spans) > 1 else np.argsort(task, kind="stable")
        task = task[order]
        edges = np.flatnonzero(np.concatenate([[True], task[1:] != task[:-1]])) if len(task) else np.zeros(0, np.intp)
        self._tasks, self._edges = task[edges], np.append(edges, len(task))
        self._spans = (start[order], end[order])

    def end_chunk(self, closed: list[Segments]) -> None:
        """Fold what ended into the sums; what is open comes again when it ends."""
        for segments in closed:
            known = segments.task >= 0
            length = segments.end - segments.start
            sums = np.bincount(segments.task[known].astype(np.int64), length[known])
            self._ran[: len(sums)] += sums.astype(np.int64)
            self._unknown += int(length[segments.task == UNKNOWN].sum())
        self._losses += len(self._loss_rows.time)
        self._lost += int(self._loss_rows.records.sum())
        self._loss_rows = LossRows(np.zeros(0, np.int64), np.zeros(0, np.int64))
        self._tasks, self._unknown_spans = np.zeros(0, np.int64), []

    def read(self, task: int, time: Ints) -> Instants:
        """The clock of a task at instants of the current chunk."""
        at = int(np.searchsorted(self._tasks, task))
        ran = np.full(len(time), self._ran[task])
        if at < len(self._tasks) and self._tasks[at] == task:
            some = slice(int(self._edges[at]), int(self._edges[at + 1]))
            ran += _Sums.of(self._spans[0][some], self._spans[1][some]).until(time)
        unknown = np.full(len(time), self._unknown)
        for spans in self._unknown_spans:
            unknown += spans.until(time)
        sums = np.concatenate([[0], self.lost_sums]) + self._lost
        losses, before = (np.searchsorted(self._loss_rows.time, time, side) for side in ("right", "left"))
        counts = (losses + self._losses, sums[losses], before + self._losses, sums[before])
        return Instants(time, ran, unknown, *counts)

    def now(self, end: int) -> dict[int, Instants]:
        """The clock at the end, by task; -1 stands for tasks that never ran."""

        def one(ran: int) -> Instants:
            values = (end, ran, self._unknown, *2 * (self._losses, self._lost))
            return Instants(*(np.array([value], np.int64) for value in values))

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


def _columns(spans: list[Segments]) -> tuple[Ints, Ints, Ints]:
    if not spans:
        empty = np.zeros(0, np.int64)
        return empty, empty, empty
    task = np.concatenate([s.task for s in spans])
    known = task >= 0
    start = np.concatenate([s.start for s in spans])[known]
    end = np.concatenate([s.end for s in spans])[known]
    return task[known], start, end
