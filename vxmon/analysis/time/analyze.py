# SPDX-License-Identifier: Apache-2.0
"""``analyze time``: walks a trace once and keeps the books of windows, tasks, partitions and streams."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.time.clock import LossRows
from vxmon.analysis.time.events import frame_rows, hm_misses, task_events
from vxmon.analysis.time.figures import boot_figures
from vxmon.analysis.time.modes import Modes
from vxmon.analysis.time.result import BootTime, TimeResult
from vxmon.analysis.time.schedules import choose_schedules
from vxmon.analysis.time.tasks import TaskBooks
from vxmon.analysis.time.windows import WindowBooks
from vxmon.config.model import ModuleConfig
from vxmon.trace.batches import batched, present
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.fields import FieldReader
from vxmon.trace.names import LOSS_ID
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.state import NOBODY, UNKNOWN, Segments, States
from vxmon.trace.state_frames import FrameRows
from vxmon.trace.state_windows import People, split_segments
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import EventId

__all__ = ["BootBooks", "StreamSums", "TimeRequest", "analyze_time"]

_NO_LIMIT: Final = 1 << 62

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class TimeRequest:
    """What to analyze.

    ``background`` names processes whose time is margin, like that of idle processes. ``per_frame`` keeps a row of
    every occurrence, ``histogram`` the distributions.
    """

    span: Span = EVERYTHING
    module: ModuleConfig | None = None
    background: Collection[str] = ()
    cpus: Collection[int] = ()
    per_frame: bool = False
    histogram: bool = False


def analyze_time(trace: StoredTrace, request: TimeRequest | None = None) -> TimeResult:
    """The figures of every boot of a trace."""
    request = request or TimeRequest()
    states = States(trace.facts, trace.index)
    result = TimeResult([], request.span)
    books: BootBooks | None = None
    for chunk in batched(trace.chunks()):
        if books is None or books.boot is not chunk.boot:
            _close(books, states, result)
            books = BootBooks(chunk.boot, trace.facts, request)
        books.feed(chunk, states)
    _close(books, states, result)
    return result


def _close(books: BootBooks | None, states: States, result: TimeResult) -> None:
    if books is not None:
        result.boots.append(books.finish(states))


@dataclass(slots=True)
class StreamSums:
    """Where the time of one stream went, in ticks."""

    begin: int = _NO_LIMIT
    end: int = 0
    observed: int = 0
    tasks: int = 0
    idle: int = 0
    nobody: int = 0
    unknown: int = 0

    def add(self, segments: Segments, people: People) -> None:
        """Take segments."""
        length = segments.end - segments.start
        known = segments.task >= 0
        idle = known & people.idle[np.maximum(segments.task, 0)]
        nobody = segments.task == NOBODY
        self.begin, self.end = min(self.begin, int(segments.start[0])), max(self.end, int(segments.end[-1]))
        self.observed += int(length.sum())
        self.idle += int(length[idle].sum())
        self.nobody += int(length[nobody].sum())
        self.unknown += int(length[~known].sum())
        self.tasks += int(length[known & ~idle & ~nobody].sum())


class BootBooks:
    """The books of one boot while its chunks come."""

    def __init__(self, boot: Boot, facts: Facts, request: TimeRequest) -> None:
        self.boot = boot
        self.request = request
        self.losses = facts.losses
        self.schedules, self.schedule_source, self.notes = choose_schedules(boot, request.module)
        self.people = _people(boot, request.background)
        self.reader = FieldReader(boot.table)
        self.limits = request.span.ticks(boot.first_time or 0, boot.clock_hz)
        self.tasks = TaskBooks({index: task.period for index, task in boot.names.tasks.items()})
        self.windows: dict[int, WindowBooks] = {}
        self.streams: dict[int, StreamSums] = {}
        self.partition_ticks: dict[int, int] = {}
        self.partition_switches: Ints = np.zeros(NOBODY + 1, np.int64)
        self.counts: Ints = np.zeros(LOSS_ID + 1, np.int64)
        self._own_losses = facts.losses[facts.losses["boot"] == boot.number]
        self._periodic = _periodic(boot)
        self._gaps = _union(*_spans(self._own_losses))

    def feed(self, chunk: Chunk, states: States) -> None:
        """Take a chunk."""
        columns = chunk.columns
        kept = self._kept(columns)
        created = self.reader.having(columns, EventId.TASK_CREATE, ("partition",))
        owner = self.reader.values(columns, EventId.TASK_CREATE, "partition", created)
        self.people.learn(columns.arg[created].astype(np.int64), owner)
        closed = self._selected(states.feed(chunk))
        still_open = self._selected(list(states.open_segments(int(columns.time[-1]))))
        events = task_events(columns, self.reader, self.losses, kept)
        self.tasks.feed(closed, still_open, events, self.people)
        for task, count in hm_misses(columns, self.reader, kept).items():
            self.tasks.hm_misses[task] = self.tasks.hm_misses.get(task, 0) + count
        self.counts += np.bincount(columns.id, minlength=LOSS_ID + 1)
        switches = self.reader.of(columns, EventId.PARTITION_SWITCH)
        given = columns.arg[switches[kept[switches]]]
        self.partition_switches += np.bincount(given, minlength=NOBODY + 1)
        self._sum(closed)
        self._feed_windows(columns, closed)

    def finish(self, states: States) -> BootTime:
        """Close the books and make the figures."""
        rest = self._selected(states.finish())
        self.tasks.clock.begin_chunk(rest, [], _no_losses())
        self.tasks.clock.end_chunk(rest)
        self._sum(rest)
        end = max((sums.end for sums in self.streams.values()), default=0)
        self.tasks.finish(end, self.boot.names.tasks)
        nothing = np.zeros(0, np.int64)
        for segments in rest:
            self._books(segments.stream).feed([segments], _no_frames(), nothing, (nothing, nothing))
        for books in self.windows.values():
            books.finish()
        return boot_figures(self)

    def recorded(self, *events: EventId) -> bool:
        """True when the session recorded all these events, as far as can be known."""
        configs = [run.config for run in self.boot.runs.values() if run.config is not None and run.config.events]
        return all(self.counts[event] > 0 or any(event in config.events for config in configs) for event in events)

    # ------------------------------------------------------------ parts

    def _kept(self, columns: Columns) -> NDArray[np.bool_]:
        begin, end = self.limits
        kept = np.ones(len(columns), bool)
        if begin is not None:
            kept &= columns.time >= begin
        if end is not None:
            kept &= columns.time < end
            for at in np.flatnonzero((columns.id == LOSS_ID) & ~kept).tolist():
                loss = self.losses[columns.at[at]]
                kept[at] = int(loss["start"]) < end and int(loss["end"]) >= (begin or 0)
        if self.request.cpus:
            kept &= np.isin(columns.stream, np.array(sorted(self.request.cpus), np.uint8))
        return kept

    def _selected(self, parts: list[Segments]) -> list[Segments]:
        begin, end = self.limits
        if self.request.cpus:
            parts = [segments for segments in parts if segments.stream in self.request.cpus]
        if begin is not None:
            parts = [split_segments(segments, begin)[1] for segments in parts]
        if end is not None:
            parts = [split_segments(segments, end)[0] for segments in parts]
        return [segments for segments in parts if len(segments)]

    def _sum(self, parts: list[Segments]) -> None:
        for segments in parts:
            self.streams.setdefault(segments.stream, StreamSums()).add(segments, self.people)
            length = segments.end - segments.start
            # UNKNOWN is -1, so everything is counted one place up.
            sums = np.bincount(segments.partition + 1, length).astype(np.int64)
            for place in np.flatnonzero(sums).tolist():
                partition = place + UNKNOWN
                self.partition_ticks[partition] = self.partition_ticks.get(partition, 0) + int(sums[place])

    def _books(self, stream: int) -> WindowBooks:
        if stream not in self.windows:
            own = self._own_losses[self._own_losses["stream"] == stream]
            self.windows[stream] = WindowBooks(
                self.schedules,
                self.people,
                _spans(own),
                int(own["records"].sum()),
                _recorded(self.boot, stream),
                {},
                self.request.per_frame,
            )
        return self.windows[stream]

    def _feed_windows(self, columns: Columns, closed: list[Segments]) -> None:
        modes = _mode_rows(columns, self.reader)
        signs = self._signs(columns)
        for stream in present(columns.stream):
            if self.request.cpus and stream not in self.request.cpus:
                continue
            books = self._books(stream)
            self._add_modes(books.modes, modes, signs)
            own = columns.stream == stream
            window = self.reader.of(columns, EventId.WINDOW)
            window = window[own[window]]
            frames = frame_rows(columns, self.reader, stream)
            mine = [segments for segments in closed if segments.stream == stream]
            times = columns.time[own & (columns.id != LOSS_ID)]
            books.feed(mine, frames, times, (columns.time[window], columns.arg[window].astype(np.int64)))

    def _signs(self, columns: Columns) -> dict[int, Ints]:
        """By partition, when its periodic processes were released or any process completed."""
        released = self.reader.of(columns, EventId.RELEASE)
        completed = self.reader.of(columns, EventId.COMPLETE)
        owner = np.concatenate([
            self._periodic[columns.arg[released]], self.people.partition[columns.arg[completed]],
        ])  # fmt: skip
        time = np.concatenate([columns.time[released], columns.time[completed]])
        return {p: np.sort(time[owner == p]) for p in present(owner[owner != UNKNOWN])}

    def _add_modes(self, modes: dict[int, Modes], rows: tuple[Ints, Ints, Ints, Ints], signs: dict[int, Ints]) -> None:
        time, partition, mode, previous = rows
        nothing = np.zeros(0, np.int64)
        for number in {*self.boot.names.partitions, *np.unique(partition).tolist()}:
            own = modes.setdefault(number, Modes(*self._gaps))
            which = partition == number
            if which.any():
                own.add(time[which], mode[which], previous[which])
            own.add_signs(signs.get(number, nothing))


def _people(boot: Boot, background: Collection[str]) -> People:
    tasks = boot.names.tasks
    return People.of({index: (task.partition, task.idle or task.name in background) for index, task in tasks.items()})


def _periodic(boot: Boot) -> Ints:
    """The partition of each periodic process by index; UNKNOWN for others."""
    owner = np.full(NOBODY + 1, UNKNOWN, np.int64)
    for index, task in boot.names.tasks.items():
        if task.period:
            owner[index] = task.partition
    return owner


def _mode_rows(columns: Columns, reader: FieldReader) -> tuple[Ints, Ints, Ints, Ints]:
    which = reader.having(columns, EventId.PARTITION_MODE, ("mode", "previous"))
    mode = reader.values(columns, EventId.PARTITION_MODE, "mode", which)
    previous = reader.values(columns, EventId.PARTITION_MODE, "previous", which)
    return columns.time[which], columns.arg[which].astype(np.int64), mode, previous


def _recorded(boot: Boot, stream: int) -> int:
    """Records of a stream in all runs, lost ones included."""
    return sum(s.recorded for run in boot.runs.values() for s in run.streams.values() if s.stream == stream)


def _spans(losses: NDArray[np.void]) -> tuple[Ints, Ints]:
    """(start, end) of losses in order of their ends; one without a begin is an instant."""
    losses = losses[np.argsort(losses["end"], kind="stable")]
    end = losses["end"].astype(np.int64)
    return np.where(losses["start"] < 0, end, losses["start"]).astype(np.int64), end


def _union(start: Ints, end: Ints) -> tuple[Ints, Ints]:
    """Spans of several streams joined where they overlap."""
    order = np.argsort(start, kind="stable")
    start, reach = start[order], np.maximum.accumulate(end[order])
    if not len(start):
        return start, reach
    first = np.concatenate([[True], start[1:] > reach[:-1]])
    last = np.append(np.flatnonzero(first)[1:], len(start)) - 1
    return start[first], reach[last]


def _no_frames() -> FrameRows:
    nothing = np.zeros(0, np.int64)
    return FrameRows(nothing, nothing, nothing)


def _no_losses() -> LossRows:
    nothing = np.zeros(0, np.int64)
    return LossRows(nothing, nothing)
