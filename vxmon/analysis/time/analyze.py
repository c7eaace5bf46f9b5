# SPDX-License-Identifier: Apache-2.0
"""``analyze time``: walks a trace once and keeps the books of windows, tasks, partitions and streams."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.scene import Scene, Scope, window_rows
from vxmon.analysis.time.clock import ticks_by_task
from vxmon.analysis.time.figures import boot_figures
from vxmon.analysis.time.result import BootTime, TimeResult
from vxmon.analysis.time.tasks import TaskBooks
from vxmon.analysis.time.windows import WindowBooks
from vxmon.analysis.walk import BootWalker, Walker, walk
from vxmon.config.model import ModuleConfig
from vxmon.trace.batches import present
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.names import LOSS_ID
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.state import NOBODY, UNKNOWN, Segments, States
from vxmon.trace.state_events import LossRows, frame_rows, hm_misses, task_events
from vxmon.trace.state_frames import FrameRows
from vxmon.trace.state_windows import People
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import EventId

__all__ = ["BootBooks", "StreamSums", "TimeRequest", "analyze_time", "time_walk"]

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


def time_walk(trace: StoredTrace, request: TimeRequest) -> tuple[Walker, TimeResult]:
    """What the analysis does with the records, and the result that is whole behind the walk."""
    result = TimeResult([], request.span)
    walker = BootWalker(
        window_rows(trace, Scope(request.span, request.module)),
        lambda boot: BootBooks(boot, trace.facts, request),
        BootBooks.feed,
        lambda books, states: result.boots.append(books.finish(states)),
    )
    return walker, result


def analyze_time(trace: StoredTrace, request: TimeRequest | None = None) -> TimeResult:
    """The figures of every boot of a trace."""
    walker, result = time_walk(trace, request or TimeRequest())
    walk(trace, [walker])
    return result


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

    def add(self, segments: Segments, ran: Ints, people: People) -> None:
        """Take segments, and who ran how long in them."""
        known = ran[1:]
        unknown, nobody, idle = int(ran[0]), int(known[NOBODY]), int(known[people.idle].sum())
        self.begin, self.end = min(self.begin, int(segments.start[0])), max(self.end, int(segments.end[-1]))
        observed = int(ran.sum())
        self.observed += observed
        self.idle += idle
        self.nobody += nobody
        self.unknown += unknown
        self.tasks += observed - idle - nobody - unknown


class BootBooks:
    """The books of one boot while its chunks come."""

    def __init__(self, boot: Boot, facts: Facts, request: TimeRequest) -> None:
        self.boot = boot
        self.request = request
        self.scene = Scene(boot, facts, Scope(request.span, request.module, request.background, request.cpus))
        self.people = self.scene.people
        self.reader = self.scene.reader
        self.tasks = TaskBooks({index: task.period for index, task in boot.names.tasks.items()})
        self.windows: dict[int, WindowBooks] = {}
        self.streams: dict[int, StreamSums] = {}
        self.partition_ticks: dict[int, int] = {}
        self.partition_switches: Ints = np.zeros(NOBODY + 1, np.int64)

    def feed(self, chunk: Chunk, states: States) -> None:
        """Take a chunk."""
        columns = chunk.columns
        self.scene.take(columns)
        kept = self.scene.kept(columns)
        closed = self.scene.selected(states.feed(chunk))
        still_open = self.scene.selected(list(states.open_segments(int(columns.time[-1]))))
        events = task_events(columns, self.reader, self.scene.losses, kept)
        self.tasks.feed(closed, still_open, events, self.people, self._sum(closed))
        for task, count in hm_misses(columns, self.reader, kept).items():
            self.tasks.hm_misses[task] = self.tasks.hm_misses.get(task, 0) + count
        switches = self.reader.of(columns, EventId.PARTITION_SWITCH)
        given = columns.arg[switches[kept[switches]]]
        self.partition_switches += np.bincount(given, minlength=NOBODY + 1)
        self._feed_windows(columns, closed)

    def finish(self, states: States) -> BootTime:
        """Close the books and make the figures."""
        rest = self.scene.selected(states.finish())
        self.tasks.clock.begin_chunk(rest, [], _no_losses())
        self.tasks.clock.end_chunk(self._sum(rest))
        end = max((sums.end for sums in self.streams.values()), default=0)
        self.tasks.finish(end, self.boot.names.tasks)
        nothing = np.zeros(0, np.int64)
        for segments in rest:
            self._books(segments.stream).feed([segments], _no_frames(), nothing, (nothing, nothing))
        for books in self.windows.values():
            books.finish()
        return boot_figures(self)

    # ------------------------------------------------------------ parts

    def _sum(self, parts: list[Segments]) -> Ints:
        """Enter where time went; returns who ran how long in all."""
        total = np.zeros(NOBODY + 2, np.int64)
        for segments in parts:
            ran = ticks_by_task(segments)
            total += ran
            self.streams.setdefault(segments.stream, StreamSums()).add(segments, ran, self.people)
            length = segments.end - segments.start
            sums = np.bincount(segments.partition - UNKNOWN, length).astype(np.int64)
            for place in np.flatnonzero(sums).tolist():
                partition = place + UNKNOWN
                self.partition_ticks[partition] = self.partition_ticks.get(partition, 0) + int(sums[place])
        return total

    def _books(self, stream: int) -> WindowBooks:
        if stream not in self.windows:
            self.windows[stream] = WindowBooks(
                self.scene.schedules,
                self.people,
                self.scene.stream_losses(stream),
                self.scene.lost(stream),
                _recorded(self.boot, stream),
                {},
                self.request.per_frame,
            )
        return self.windows[stream]

    def _feed_windows(self, columns: Columns, closed: list[Segments]) -> None:
        for stream in present(columns.stream):
            if self.request.cpus and stream not in self.request.cpus:
                continue
            books = self._books(stream)
            self.scene.add_modes(books.modes, columns)
            window = self.reader.of(columns, EventId.WINDOW)
            window = window[columns.stream[window] == stream]
            frames = frame_rows(columns, self.reader, stream)
            mine = [segments for segments in closed if segments.stream == stream]
            own = (columns.stream == stream) & (columns.id != LOSS_ID)
            times = columns.time if own.all() else columns.time[own]
            books.feed(mine, frames, times, (columns.time[window], columns.arg[window].astype(np.int64)))


def _recorded(boot: Boot, stream: int) -> int:
    """Records of a stream in all runs, lost ones included."""
    return sum(s.recorded for run in boot.runs.values() for s in run.streams.values() if s.stream == stream)


def _no_frames() -> FrameRows:
    nothing = np.zeros(0, np.int64)
    return FrameRows(nothing, nothing, nothing)


def _no_losses() -> LossRows:
    nothing = np.zeros(0, np.int64)
    return LossRows(nothing, nothing)
