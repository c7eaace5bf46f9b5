# SPDX-License-Identifier: Apache-2.0
"""What every walk over the records of a boot needs: who belongs where, the schedule, what is looked at, what was lost.

scene = Scene(boot, facts, Scope(span=span))
for chunk in ...:
    scene.take(chunk.columns)
    segments = scene.selected(states.feed(chunk))
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from functools import partial
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.schedules import choose_schedules
from vxmon.config.model import ModuleConfig
from vxmon.trace.columns import Columns, within
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.fields import FieldReader
from vxmon.trace.names import LOSS_ID
from vxmon.trace.selection import WHOLE, rows_within
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.state import NOBODY, UNKNOWN, Segments
from vxmon.trace.state_events import mode_rows
from vxmon.trace.state_modes import Modes
from vxmon.trace.state_windows import People, split_segments
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import EventId

__all__ = ["AROUND_NS", "Recording", "Scene", "Scope", "cut_scene", "window_rows"]

# Frames read before and behind a window: who runs, in which mode and frame, is known after one.
_FRAMES_AROUND: Final = 2

AROUND_NS: Final = 2 * 10**9
"""What went on when a window begins or ends (a message that waits, what came before a fault) is looked for so far."""

Recording = Literal["whole", "part", "none"]
"""Whether an event was recorded all the time, for a part of it, or not at all (as far as the session can say)."""

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Scope:
    """What to look at, and what else is known of the module.

    ``background`` names processes whose time is margin, like that of idle processes. ``cpus`` empty: all.
    """

    span: Span = EVERYTHING
    module: ModuleConfig | None = None
    background: Collection[str] = ()
    cpus: Collection[int] = ()


class Scene:
    """One boot while its chunks come.

    ``counts`` are the records of each event so far, ``limits`` the instants between which records are looked at.
    ``cut``: there are records from before those that come, ``partial``: or from behind them.
    """

    def __init__(self, boot: Boot, facts: Facts, scope: Scope, *, cut: bool = False, partial: bool = False) -> None:
        self.boot = boot
        self.scope = scope
        self.cut = cut
        self.partial = cut or partial
        self.losses = facts.losses
        self.own_losses = facts.losses[facts.losses["boot"] == boot.number]
        self.schedules, self.schedule_source, self.notes = choose_schedules(boot, scope.module)
        self.people = _people(boot, scope.background)
        self.reader = FieldReader(boot.table)
        self.limits = scope.span.ticks(boot.first_time or 0, boot.clock_hz)
        self.counts: Ints = np.zeros(LOSS_ID + 1, np.int64)
        self._switched: set[int] = set()
        self._periodic = _periodic(boot)
        self._gaps = _union(*_spans(self.own_losses))

    def take(self, columns: Columns) -> None:
        """Learn from the records of a chunk."""
        created = self.reader.having(columns, EventId.TASK_CREATE, ("partition",))
        owner = self.reader.values(columns, EventId.TASK_CREATE, "partition", created)
        self.people.learn(columns.arg[created].astype(np.int64), owner)
        self.counts += columns.counts()
        self._switched.update(np.unique(columns.arg[self.reader.of(columns, EventId.FILTER)]).tolist())

    def recorded(self, *events: EventId) -> bool:
        """True when the session recorded all these events, as far as can be known."""
        return all(self.recording(event) != "none" for event in events)

    def recording(self, event: int) -> Recording:
        """How far the session recorded an event."""
        configs = [run.config for run in self.boot.runs.values() if run.config is not None and run.config.events]
        on = [event in config.events for config in configs]
        if event in self._switched or (any(on) and not all(on)):
            return "part"
        return "whole" if any(on) or self.counts[event] > 0 else "none"

    # ------------------------------------------------------------ what is looked at

    def kept(self, columns: Columns) -> NDArray[np.bool_]:
        """Records that are looked at."""
        begin, end = self.limits
        kept = within(columns.time, self.limits)
        if end is not None:
            for at in np.flatnonzero((columns.id == LOSS_ID) & ~kept).tolist():
                loss = self.losses[columns.at[at]]
                kept[at] = int(loss["start"]) < end and int(loss["end"]) >= (begin or 0)
        if self.scope.cpus:
            kept &= np.isin(columns.stream, np.array(sorted(self.scope.cpus), np.uint8))
        return kept

    def selected(self, parts: list[Segments]) -> list[Segments]:
        """The parts of segments that are looked at."""
        begin, end = self.limits
        if self.scope.cpus:
            parts = [segments for segments in parts if segments.stream in self.scope.cpus]
        if begin is not None:
            parts = [split_segments(segments, begin)[1] for segments in parts]
        if end is not None:
            parts = [split_segments(segments, end)[0] for segments in parts]
        return [segments for segments in parts if len(segments)]

    # ------------------------------------------------------------ losses and modes

    def stream_losses(self, stream: int) -> tuple[Ints, Ints]:
        """(start, end) of what a stream lost, in order."""
        return _spans(self.own_losses[self.own_losses["stream"] == stream])

    def lost(self, stream: int) -> int:
        """Records that a stream lost."""
        return int(self.own_losses["records"][self.own_losses["stream"] == stream].sum())

    def add_modes(self, modes: dict[int, Modes], columns: Columns) -> None:
        """Enter what a chunk says of the modes of partitions."""
        time, partition, mode, previous = mode_rows(columns, self.reader)
        signs = self._signs(columns)
        for number in {*self.boot.names.partitions, *np.unique(partition).tolist()}:
            own = modes.setdefault(number, Modes(*self._gaps))
            which = partition == number
            if which.any():
                own.add(time[which], mode[which], previous[which])
            own.add_signs(partial(signs.of, number))

    def _signs(self, columns: Columns) -> _Signs:
        """When periodic processes were released and any process completed."""
        released = self.reader.of(columns, EventId.RELEASE)
        completed = self.reader.of(columns, EventId.COMPLETE)
        owner = np.concatenate([
            self._periodic[columns.arg[released]], self.people.partition[columns.arg[completed]],
        ])  # fmt: skip
        return _Signs(owner, np.concatenate([columns.time[released], columns.time[completed]]))


@dataclass(slots=True)
class _Signs:
    """Instants, and the partition that each is a sign of."""

    owner: Ints
    time: Ints

    def of(self, partition: int) -> Ints:
        own: Ints = self.time[self.owner == partition]
        return own


def window_rows(trace: StoredTrace, scope: Scope, around_ns: int = 0) -> NDArray[np.void]:
    """The blocks to read for a time window: those of it, and some frames around, or ``around_ns`` if that is more.

    All of a boot are read where events were switched on or off meanwhile, as that says what was recorded; and where no
    schedule is known, unless ``around_ns`` tells how far to look.
    """
    around = {boot.number: _around(trace, boot, scope, around_ns) for boot in trace.facts.boots}
    return rows_within(trace, scope.span, (), around)


def cut_scene(trace: StoredTrace, boot: Boot, scope: Scope, around_ns: int) -> Scene:
    """The scene of a boot of which what :func:`window_rows` tells is read."""
    begin, end = scope.span.ticks(boot.first_time or 0, boot.clock_hz)
    around = _around(trace, boot, scope, around_ns)
    cut = begin is not None and begin - around > (boot.first_time or 0)
    return Scene(boot, trace.facts, scope, cut=cut, partial=end is not None and end + around < (boot.last_time or 0))


def _around(trace: StoredTrace, boot: Boot, scope: Scope, around_ns: int) -> int:
    """Ticks to look at before and behind the window."""
    schedules, _, _ = choose_schedules(boot, scope.module)
    longest = max((schedule.major_frame for schedule in schedules.values()), default=0)
    if trace.switches(boot.number) or not (longest or around_ns):
        return WHOLE
    return max(_FRAMES_AROUND * longest, around_ns * boot.clock_hz // 10**9)


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
