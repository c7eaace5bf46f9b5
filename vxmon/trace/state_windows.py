# SPDX-License-Identifier: Apache-2.0
"""What happened inside each window occurrence of a stream: who ran, for how long, and what is not known of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.state import NOBODY, UNKNOWN, Segments
from vxmon.trace.state_frames import FrameRows, FrameTrack, Occurrences
from vxmon.trace.state_pieces import NEVER, Pieces, first_of, pieces
from vxmon.wire.types import Schedule

__all__ = [
    "PARTS",
    "People",
    "Unknown",
    "WindowPlace",
    "WindowTable",
    "Windows",
    "split_segments",
    "unknown_part",
    "window_places",
]

# Where the time of an occurrence went; they add up to its duration when all of it was recorded.
# "unseen" is time of the window's own partition of which the task is not known, "unknown" all else that is not known.
PARTS: Final = ("margin", "tasks", "kernel", "other", "late", "unseen", "unknown")
_MARGIN, _TASKS, _KERNEL, _OTHER, _LATE, _UNSEEN, _UNKNOWN = range(7)
# Of which: interrupts, interrupts inside the idle process, time for which it is unknown whether in an interrupt.
_INTERRUPT, _INTERRUPT_IDLE, _INTERRUPT_UNKNOWN = 7, 8, 9
_SUMS: Final = 10
# Segments kept while no frame says which window they are in.
_MOST_UNCOVERED: Final = 1 << 16

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class WindowPlace:
    """A window of a schedule; times in ticks from the start of the major frame."""

    schedule: int
    window: int
    partition: int
    offset: int
    duration: int
    major_frame: int


def window_places(schedules: Mapping[int, Schedule]) -> list[WindowPlace]:
    """All windows of all schedules; the position is the ``place`` of their occurrences."""
    return [
        WindowPlace(number, index, window.partition, window.offset, window.duration, schedule.major_frame)
        for number, schedule in sorted(schedules.items())
        for index, window in enumerate(schedule.windows)
    ]


@dataclass(slots=True)
class People:
    """Who belongs where, by task index: ``partition`` (UNKNOWN where the session does not say) and ``idle``."""

    partition: Ints
    idle: NDArray[np.bool_]

    @staticmethod
    def of(tasks: Mapping[int, tuple[int, bool]]) -> People:
        """From (partition, idle) of each task."""
        people = People(np.full(NOBODY + 1, UNKNOWN, np.int64), np.zeros(NOBODY + 1, bool))
        for index, (partition, idle) in tasks.items():
            people.partition[index], people.idle[index] = partition, idle
        return people

    def learn(self, task: Ints, partition: Ints) -> None:
        """Take the partitions of tasks that were created, where nothing is known of them."""
        new = (self.partition[task] == UNKNOWN) & (task != NOBODY)
        self.partition[task[new]] = partition[new]

    def has_idle(self, partition: int) -> bool:
        """True when the idle process of a partition is known, without which its margin is not."""
        return bool((self.idle & (self.partition == partition)).any())


@dataclass(slots=True)
class WindowTable:
    """Occurrences of which everything that was recorded is accounted for.

    ``parts`` has a row each of PARTS and a column an occurrence, in ticks; ``interrupts``, ``idle_interrupts`` and
    ``unknown_depth`` are of which. ``overrun`` is how long the partition of the window *before* stayed on past its
    end, ``overrun_hi`` how long it may have, ``after`` the place of that window, -1 for none. ``started`` is false
    where the partition never got the processor.
    """

    occurrences: Occurrences
    parts: Ints
    interrupts: Ints
    idle_interrupts: Ints
    unknown_depth: Ints
    overrun: Ints
    overrun_hi: Ints
    after: Ints
    started: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.occurrences)


def unknown_part(parts: Ints) -> Ints:
    """How much of each occurrence is not known; any other part of it may be longer by as much."""
    unknown: Ints = parts[_UNKNOWN] + parts[_UNSEEN]
    return unknown


@dataclass(slots=True)
class _Open:
    """Occurrences that are not over, with what was summed up so far."""

    occurrences: Occurrences
    sums: Ints
    first_own: Ints
    first_unknown: Ints
    first_other: Ints
    after: Ints

    @staticmethod
    def of(occurrences: Occurrences, after: Ints) -> _Open:
        count = len(occurrences)
        own, unknown, other = (np.full(count, NEVER, np.int64) for _ in range(3))
        return _Open(occurrences, np.zeros((_SUMS, count), np.int64), own, unknown, other, after)

    def take(self, which: slice | NDArray[np.bool_]) -> _Open:
        return _Open(
            self.occurrences.take(which), self.sums[:, which], self.first_own[which], self.first_unknown[which],
            self.first_other[which], self.after[which],
        )  # fmt: skip

    @staticmethod
    def join(a: _Open, b: _Open) -> _Open:
        names = ("sums", "first_own", "first_unknown", "first_other", "after")
        rest = (np.concatenate([getattr(a, name), getattr(b, name)], axis=-1) for name in names)
        return _Open(Occurrences.join([a.occurrences, b.occurrences]), *rest)


@dataclass(slots=True)
class Unknown:
    """Unknown time by who may have run in it.

    That is the partition whose window it was, and the one before it, which may have stayed on; ``anywhere`` is
    unknown time of which not even the window is known.
    """

    within: dict[int, int] = field(default_factory=dict)
    anywhere: int = 0

    def add(self, partition: Ints, span: Ints) -> None:
        """Take unknown time in which these partitions may have run."""
        sums = np.bincount(partition, span).astype(np.int64)
        for number in np.flatnonzero(sums).tolist():
            self.within[number] = self.within.get(number, 0) + int(sums[number])

    def of(self, partition: int) -> int:
        """How long a partition may have run without our knowing."""
        return self.within.get(partition, 0) + self.anywhere


@dataclass(slots=True)
class Windows:
    """Accounts for the window occurrences of one stream; ``losses`` are the (start, end) of what it lost, in order.

    ``hidden`` counts, by place, occurrences of which the session cannot even say whether they were (an upper bound).
    ``regions`` counts the stretches in which such may have been.
    ``edges`` counts occurrences that the begin or end of recording cut.
    """

    schedules: Mapping[int, Schedule]
    people: People
    losses: tuple[Ints, Ints]
    track: FrameTrack = field(init=False)
    places: list[WindowPlace] = field(init=False)
    unknown_tasks: Unknown = field(default_factory=Unknown)
    unknown_partitions: Unknown = field(default_factory=Unknown)
    hidden: dict[int, int] = field(default_factory=dict)
    regions: int = 0
    edges: int = 0
    uncovered: int = 0
    _owner: Ints = field(init=False)
    _open: _Open = field(init=False)
    _last_place: int = -1
    _last_end: int = 0
    _waiting: list[Segments] = field(default_factory=list)
    _seen_from: int | None = None
    _seen_to: int = 0

    def __post_init__(self) -> None:
        self.track = FrameTrack(self.schedules)
        self.places = window_places(self.schedules)
        self._owner = np.array([p.partition for p in self.places] or [UNKNOWN], np.int64)
        self._open = _Open.of(Occurrences.none(), np.zeros(0, np.int64))

    def feed(self, segments: list[Segments], frames: FrameRows) -> WindowTable:
        """Take what one chunk added; returns the occurrences that are over."""
        if segments:
            self._seen_from = int(segments[0].start[0]) if self._seen_from is None else self._seen_from
            self._seen_to = int(segments[-1].end[-1])
        self._plan(self.track.add(frames))
        self._note_hidden()
        self._waiting += segments
        covered = self.track.covered
        ready = [] if covered is None else self._split(covered)
        ready = self._limited(ready)
        return self._account(Segments.join(ready), last=False) if ready else self._done(0)

    def finish(self) -> WindowTable:
        """Take the rest; occurrences that are not over are edges."""
        ready, self._waiting = self._waiting, []
        self._hide_behind(self._seen_to)
        return self._account(Segments.join(ready), last=True) if ready else self._done(len(self._open.occurrences))

    # ------------------------------------------------------------ what can be accounted for now

    def _plan(self, occurrences: Occurrences) -> None:
        """Queue occurrences; each knows which window came right before it."""
        if not len(occurrences):
            return
        before_end = np.concatenate([[self._last_end], occurrences.end[:-1]])
        before_place = np.concatenate([[self._last_place], occurrences.place[:-1]])
        after = np.where(before_end == occurrences.start, before_place, -1)
        self._last_end, self._last_place = int(occurrences.end[-1]), int(occurrences.place[-1])
        self._open = _Open.join(self._open, _Open.of(occurrences, after))

    def _split(self, time: int) -> list[Segments]:
        """Waiting segments up to an instant; what crosses it is cut in two."""
        ready, rest = [], []
        for segments in self._waiting:
            if int(segments.end[-1]) <= time:
                ready.append(segments)
            elif int(segments.start[0]) >= time:
                rest.append(segments)
            else:
                first, second = split_segments(segments, time)
                ready.append(first)
                rest.append(second)
        self._waiting = rest
        return ready

    def _limited(self, ready: list[Segments]) -> list[Segments]:
        """No frame came for long: let go of the older half of what waits."""
        if sum(map(len, self._waiting)) > _MOST_UNCOVERED:
            waiting = Segments.join(self._waiting)
            half = len(waiting) // 2
            self._waiting = [waiting.take(slice(half, None))]
            return [*ready, waiting.take(slice(0, half))]
        return ready

    # ------------------------------------------------------------ accounting

    def _account(self, segments: Segments, *, last: bool) -> WindowTable:
        state = self._open
        piece = pieces(segments, state.occurrences)
        inside = piece.occurrence >= 0
        self._note_unknown(piece, inside)
        if not inside.all():
            piece = piece.take(inside)
        if len(piece.start):
            self._sum(piece, state)
        over = (
            len(state.occurrences) if last else int(np.searchsorted(state.occurrences.end, segments.end[-1], "right"))
        )
        return self._done(over)

    def _sum(self, piece: Pieces, state: _Open) -> None:
        at = piece.occurrence
        group = np.flatnonzero(np.concatenate([[True], at[1:] != at[:-1]]))
        which = at[group]
        owner = self._owner[state.occurrences.place].take(at)
        task_owner = self.people.partition.take(piece.task, mode="wrap")
        ruler = piece.partition
        unknown = ruler == UNKNOWN
        if unknown.any():
            ruler = np.where(unknown, task_owner, ruler)
            unknown = ruler == UNKNOWN
        own = (ruler == owner) & ~unknown
        _earlier(state.first_own, which, own, group, piece.start)
        _earlier(state.first_unknown, which, unknown, group, piece.start)
        before = np.where(state.after >= 0, self._owner[state.after], UNKNOWN)
        _earlier(state.first_other, which, unknown | (ruler != before.take(at)), group, piece.start)
        mine = own & (task_owner == owner)
        idle = mine & self.people.idle.take(piece.task, mode="wrap")
        part = _parts_of_own(own, task_owner, piece.task, mine, idle)
        rest = np.flatnonzero(~own)
        part[rest] = _parts_of_others(piece.start[rest], at[rest], unknown[rest], state)
        _add(state.sums, part, at, piece.end - piece.start)
        _add_interrupts(state.sums, piece, idle)

    def _done(self, over: int) -> WindowTable:
        """Hand out the first occurrences and forget them."""
        done, self._open = self._open.take(slice(0, over)), self._open.take(slice(over, None))
        total = done.sums[: _UNKNOWN + 1].sum(axis=0)
        length = done.occurrences.end - done.occurrences.start
        whole = total == length
        if not whole.all():
            self.edges += int(((total > 0) & ~whole).sum())
            done = done.take(whole)
        stayed = np.minimum(done.first_other, done.occurrences.end) - done.occurrences.start
        unsure = (done.first_other == done.first_unknown) & (done.first_other != NEVER)
        before = np.where(done.after >= 0, self._owner[done.after], UNKNOWN)
        same = before == self._owner[done.occurrences.place]
        stayed = np.where(same, 0, stayed)
        reach = np.where(unsure & ~same, stayed + done.sums[_UNKNOWN], stayed)
        return WindowTable(
            done.occurrences, done.sums[: _UNKNOWN + 1], done.sums[_INTERRUPT], done.sums[_INTERRUPT_IDLE],
            done.sums[_INTERRUPT_UNKNOWN], stayed, reach, done.after, done.first_own != NEVER,
        )  # fmt: skip

    # ------------------------------------------------------------ what is not known

    def _note_unknown(self, piece: Pieces, inside: NDArray[np.bool_]) -> None:
        length = piece.end - piece.start
        if not inside.all():
            self.uncovered += int(length[~inside].sum())
        for account, level in ((self.unknown_tasks, piece.task), (self.unknown_partitions, piece.partition)):
            unknown = level == UNKNOWN
            if not unknown.any():
                continue
            account.anywhere += int(length[unknown & ~inside].sum())
            at = piece.occurrence[unknown & inside]
            if len(at):
                self._add_unknown(account, np.bincount(at, length[unknown & inside]).astype(np.int64))

    def _add_unknown(self, account: Unknown, spans: Ints) -> None:
        """Unknown time of each open occurrence: to its partition and to the one right before it."""
        touched = np.flatnonzero(spans)
        spans, after = spans[touched], self._open.after[touched]
        owner, before = self._owner[self._open.occurrences.place[touched]], self._owner[after]
        follows = after >= 0
        account.anywhere += int(spans[~follows].sum())
        account.add(owner[follows], spans[follows])
        others = follows & (before != owner)
        account.add(before[others], spans[others])

    def _note_hidden(self) -> None:
        """A stretch without windows in which records were lost may have had frames; count how many at most."""
        for begin, end in self.track.regions:
            first = self._seen_from if begin is None else begin
            lost = self._first_loss(first, end)
            if first is not None and lost is not None:
                self._hide_before(max(lost, first), end, at_edge=begin is None and lost <= first)
        self.track.regions.clear()

    def _first_loss(self, begin: int | None, end: int) -> int | None:
        """Begin of the first loss that touches a stretch."""
        start, stop = self.losses
        at = 0 if begin is None else int(np.searchsorted(stop, begin, "left"))
        return int(start[at]) if at < len(start) and int(start[at]) <= end else None

    def _hide_before(self, time: int, frame_start: int, *, at_edge: bool) -> None:
        """Frames may have been between the first loss of a stretch and the next frame that is known."""
        self.regions += 1
        for place, window in enumerate(self.places):
            most = (frame_start + window.offset - time) // max(window.major_frame, 1) + (not at_edge)
            self.hidden[place] = self.hidden.get(place, 0) + max(most, 0)

    def _hide_behind(self, end: int) -> None:
        """Frames may have been between the last window that is known and the end."""
        covered = self.track.covered
        lost = self._first_loss(covered, end)
        if lost is None:
            return
        self.regions += 1
        for place, window in enumerate(self.places):
            begin = lost - window.major_frame if covered is None or len(self.schedules) > 1 else covered
            room = end - begin - (window.offset + window.duration if covered is not None else 0)
            most = room // max(window.major_frame, 1) + 1
            self.hidden[place] = self.hidden.get(place, 0) + max(most, 0)


def _earlier(column: Ints, which: Ints, of: NDArray[np.bool_], group: NDArray[np.intp], start: Ints) -> None:
    """Enter when the first piece of some kind begins in each group; the groups are the occurrences ``which``."""
    if not of.any():
        return
    found = first_of(of, group, start)
    column[which] = np.minimum(column[which], found)


def _parts_of_own(
    own: NDArray[np.bool_], task_owner: Ints, task: Ints, mine: NDArray[np.bool_], idle: NDArray[np.bool_]
) -> NDArray[np.uint8]:
    """Part of each piece in which the window's partition has the processor; OTHER of all the others.

    With a task that is not its own, it is the kernel's: the partition has no task of its own yet. The numbers of the
    parts are such that each more that is known of a task makes them one less.
    """
    named = own & (task_owner != UNKNOWN)
    part: NDArray[np.uint8] = np.uint8(_OTHER) - named.view(np.uint8)
    part -= mine.view(np.uint8)
    part -= idle.view(np.uint8)
    unseen = task == UNKNOWN
    if unseen.any():
        part[own & unseen] = _UNSEEN
    return part


def _parts_of_others(start: Ints, at: Ints, unknown: NDArray[np.bool_], state: _Open) -> NDArray[np.uint8]:
    """Part of each piece in which another partition has the processor, or it is unknown who."""
    late = start < state.first_own[at]
    part = np.where(late, _LATE, _OTHER)
    return np.where(unknown | (late & (start >= state.first_unknown[at])), _UNKNOWN, part).astype(np.uint8)


def _add(sums: Ints, part: NDArray[np.uint8] | int, at: Ints, length: Ints) -> None:
    """Add lengths to sums; float64 holds sums of ticks exactly up to 2^53, which is more than 200 days at 400 MHz."""
    count = sums.shape[1]
    key = part * np.int64(count) + at
    sums += np.bincount(key, length, minlength=sums.size).astype(np.int64).reshape(sums.shape)


def _add_interrupts(sums: Ints, piece: Pieces, idle: NDArray[np.bool_]) -> None:
    interrupted, unsure = piece.depth > 0, piece.depth < 0
    parts = ((_INTERRUPT, interrupted), (_INTERRUPT_IDLE, interrupted & idle), (_INTERRUPT_UNKNOWN, unsure))
    for part, which in parts:
        if which.any():
            _add(sums, part, piece.occurrence[which], (piece.end - piece.start)[which])


def split_segments(segments: Segments, time: int) -> tuple[Segments, Segments]:
    """Segments before and after an instant; the one that crosses it is in both, cut."""
    first, second = segments.take(segments.start < time), segments.take(segments.end > time)
    first.end = np.minimum(first.end, time)
    second.start = np.maximum(second.start, time)
    return first, second
