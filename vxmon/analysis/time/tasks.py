# SPDX-License-Identifier: Apache-2.0
"""Books of tasks: execution, activations, response, deadlines, preemptions; streamed, no loop per event."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.figures import Figure, Range
from vxmon.analysis.time.clock import Clock, Instants
from vxmon.trace.state import NOBODY, UNKNOWN, Segments
from vxmon.trace.state_events import Activations, TaskEvents
from vxmon.trace.state_windows import People

__all__ = ["TaskBook", "TaskBooks"]

# Releases of one task that may wait for their completion.
_MOST_OPEN: Final = 64

Ints = NDArray[np.int64]


@dataclass(slots=True)
class _Open:
    """Released and not complete activations of a task, in order, with the clock's readings at their release."""

    number: Ints
    nominal: Ints
    deadline: Ints
    at: Instants

    @staticmethod
    def none() -> _Open:
        empty = np.zeros(0, np.int64)
        return _Open(empty, empty, empty, Instants.none())

    def take(self, which: NDArray[np.bool_] | Ints) -> _Open:
        return _Open(self.number[which], self.nominal[which], self.deadline[which], self.at.take(which))


@dataclass(slots=True)
class _Last:
    """The last activation of a task that was seen to complete: number, nominal release, and the clock then."""

    number: int
    nominal: int
    at: Instants


@dataclass(slots=True)
class TaskBook:
    """What is known of one task so far."""

    period: int = 0
    execution: Range = field(default_factory=Range)
    response: Range = field(default_factory=Range)
    releases: int = 0
    misses: int = 0
    doubtful: int = 0
    kernel_misses: int = 0
    cut: int = 0
    open: _Open = field(default_factory=_Open.none)
    last: _Last | None = None


@dataclass(slots=True)
class TaskBooks:
    """All tasks of a boot."""

    periods: Mapping[int, int]
    clock: Clock = field(default_factory=Clock)
    books: dict[int, TaskBook] = field(default_factory=dict)
    dispatches: Ints = field(default_factory=lambda: np.zeros(NOBODY + 1, np.int64))
    preemptions: Ints = field(default_factory=lambda: np.zeros(NOBODY + 1, np.int64))
    hm_misses: dict[int, int] = field(default_factory=dict)

    def feed(
        self, segments: list[Segments], still_open: list[Segments], events: TaskEvents, people: People, ran: Ints
    ) -> None:
        """Take a chunk: segments that ended, those that are open at its end, its events, and who ran how long."""
        self._count_switches(events, people)
        self.clock.begin_chunk(segments, still_open, events.losses)
        for task, own in events.by_task():
            self._take(task, own)
        self.clock.end_chunk(ran)

    def book(self, task: int) -> TaskBook:
        """The book of a task, opened when it is new."""
        if task not in self.books:
            self.books[task] = TaskBook(self.periods.get(task, 0))
        return self.books[task]

    def finish(self, end: int, named: Iterable[int]) -> None:
        """Recording ended: what is open is cut, what was lost since each task's last activation is in doubt."""
        now = self.clock.now(end)
        for task in {*self.books, *named, *self.clock.seen()} - {NOBODY}:
            self._close(task, self.book(task), end, now)

    # ------------------------------------------------------------ switches

    def _count_switches(self, events: TaskEvents, people: People) -> None:
        self.dispatches += np.bincount(events.switched_to, minlength=NOBODY + 1)
        same = people.partition[events.preempted] == people.partition[events.preempted_by]
        same &= people.partition[events.preempted] != UNKNOWN
        self.preemptions += np.bincount(events.preempted[same], minlength=NOBODY + 1)

    # ------------------------------------------------------------ activations

    def _take(self, task: int, own: Activations) -> None:
        book = self.book(task)
        book.releases += len(own.release_time)
        book.kernel_misses += own.missed
        at = self.clock.read(task, own.release_time)
        new = _Open(own.number, own.nominal, own.deadline, at)
        pool = _joined(book.open, new)
        _replenish(pool, own)
        done = self.clock.read(task, own.complete_time)
        which, completed = _matches(pool, own.complete_number, done)
        begun, done = pool.take(which), done.take(completed)
        book.cut += len(own.complete_time) - len(completed)
        if len(which):
            self._complete(book, begun, done)
            pool = self._still_open(book, pool, which)
        pool = self._stopped(book, task, pool, own.stopped)
        book.open = pool.take(np.arange(max(len(pool.number) - _MOST_OPEN, 0), len(pool.number)))

    @staticmethod
    def _still_open(book: TaskBook, pool: _Open, done: Ints) -> _Open:
        """Activations end in order: what is older than one that ended will not be seen to end."""
        rest = np.ones(len(pool.number), bool)
        rest[done] = False
        older = rest & (np.arange(len(rest)) < done[-1])
        book.cut += int(older.sum())
        return pool.take(rest & ~older)

    def _stopped(self, book: TaskBook, task: int, pool: _Open, stops: Ints) -> _Open:
        """A task that is stopped or deleted does not complete; its deadline counts only if it had passed."""
        if not len(stops) or not len(pool.number):
            return pool
        at = np.searchsorted(stops, pool.at.time, "left")
        ended = at < len(stops)
        some = pool.take(ended)
        end = self.clock.read(task, stops[at[ended]])
        late = (some.deadline > 0) & (some.deadline < end.time)
        unsure = late & (end.losses > some.at.losses_before)
        book.misses += int((late & ~unsure).sum())
        book.doubtful += int(unsure.sum())
        book.cut += len(some.number)
        return pool.take(~ended)

    def _complete(self, book: TaskBook, begun: _Open, done: Instants) -> None:
        """Enter activations of which release and completion are known, in order of completion."""
        self._hidden_between(book, begun, done)
        before = done.shifted(book.last.at if book.last is not None else None)
        ran = np.maximum(begun.at.ran, before.ran)
        unknown = np.maximum(begun.at.unknown, before.unknown)
        low = done.ran - ran
        span = done.time - np.maximum(begun.at.time, before.time)
        high = np.minimum(low + (done.unknown - unknown), np.maximum(span, low))
        book.execution.add(low, high, begun.number, done.time)
        book.response.add(done.time - begun.nominal, None, begun.number, done.time)
        late = (begun.deadline > 0) & (done.time > begun.deadline)
        unsure = (begun.deadline > 0) & (done.losses > begun.at.losses_before)
        book.misses += int((late & ~unsure).sum())
        book.doubtful += int(unsure.sum())
        book.last = _Last(int(begun.number[-1]), int(begun.nominal[-1]), done.take(np.array([len(done.time) - 1])))

    def _hidden_between(self, book: TaskBook, begun: _Open, done: Instants) -> None:
        """Activations between two known ones that a loss hid; their numbers say how many."""
        last = book.last
        if int(done.losses[-1]) <= (int(last.at.losses_before[0]) if last is not None else 0):
            return
        before = done.shifted(last.at if last is not None else None)
        number = np.concatenate([[last.number if last is not None else -1], begun.number[:-1]])
        nominal = np.concatenate([[last.nominal if last is not None else 0], begun.nominal[:-1]])
        gaps = begun.number - number - 1
        for at in np.flatnonzero((done.losses > before.losses_before) & (gaps != 0)).tolist():
            lost = int(done.lost[at] - before.lost_before[at])
            first = last is None and at == 0
            count = min(int(gaps[at]), lost) if gaps[at] > 0 else lost
            ran = int(begun.at.ran[at] - before.ran[at])
            most = max(ran, 0) + max(int(begun.at.unknown[at] - before.unknown[at]), 0)
            book.execution.add_extra(count, 0, most)
            waited = None if first else max(int(begun.at.time[at] - nominal[at]), 0)
            book.response.add_extra(count, 0, waited)

    def _close(self, task: int, book: TaskBook, end: int, now: dict[int, Instants]) -> None:
        here = now.get(task, now[-1])
        late = (book.open.deadline > 0) & (book.open.deadline < end)
        unsure = late & (here.losses[0] > book.open.at.losses_before)
        book.misses += int((late & ~unsure).sum())
        book.doubtful += int(unsure.sum())
        book.cut += len(book.open.number)
        before = book.last.at if book.last is not None else Instants.zero()
        lost = int(here.lost[0] - before.lost_before[0])
        if lost > 0:
            span = end - int(before.time[0])
            most = lost if not book.period or book.last is None else min(lost, span // book.period + 2)
            ran = int(here.ran[0] - before.ran[0]) + int(here.unknown[0] - before.unknown[0])
            book.execution.add_extra(most, 0, max(ran, 0))
            book.response.add_extra(most, 0, None if book.last is None else max(end - book.last.nominal, 0))

    # ------------------------------------------------------------ figures

    def total(self, task: int, maybe: int) -> Figure:
        """Execution of a task; ``maybe`` is the unknown time in which it may have run."""
        known = int(self.clock.ran(task))
        return Figure(known, known, known + maybe, int(self.dispatches[task]))


def _joined(a: _Open, b: _Open) -> _Open:
    if not len(a.number):
        return b
    pairs = ((a.number, b.number), (a.nominal, b.nominal), (a.deadline, b.deadline))
    number, nominal, deadline = (np.concatenate(pair) for pair in pairs)
    return _Open(number, nominal, deadline, Instants.join(a.at, b.at))


def _replenish(pool: _Open, own: Activations) -> None:
    """A DEADLINE that is set replaces that of its activation."""
    if not len(own.set_number) or not len(pool.number):
        return
    order = np.argsort(own.set_number, kind="stable")
    numbers, deadlines = own.set_number[order], own.set_deadline[order]
    at = np.searchsorted(numbers, pool.number, "right") - 1
    replaced = (at >= 0) & (numbers[at] == pool.number)
    pool.deadline = np.where(replaced, deadlines[at], pool.deadline)


def _matches(pool: _Open, numbers: Ints, done: Instants) -> tuple[Ints, Ints]:
    """Positions of releases and of their completions, by activation number, in order of completion."""
    release, complete = _in_both(pool.number, numbers)
    fits = done.time[complete] >= pool.at.time[release]
    release, complete = release[fits], complete[fits]
    order = np.argsort(complete, kind="stable")
    return release[order], complete[order]


def _in_both(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Positions of the numbers that are in both; of a number that comes again the first."""
    if len(a) and (a[1:] > a[:-1]).all() and (b[1:] > b[:-1]).all():
        at = np.minimum(np.searchsorted(a, b), len(a) - 1)
        found = np.flatnonzero(a[at] == b)
        return at[found], found
    _, in_a, in_b = np.intersect1d(a, b, return_indices=True)
    return in_a, in_b
