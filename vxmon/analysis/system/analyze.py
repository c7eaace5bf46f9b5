# SPDX-License-Identifier: Apache-2.0
"""``analyze system``: walks a trace once, counts what went wrong and what interrupted, and notes the circumstances."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.edr import SEVERITY_MASK
from vxmon.analysis.scene import AROUND_NS, Scene, Scope, cut_scene, window_rows
from vxmon.analysis.system.counts import Counts
from vxmon.analysis.system.faults import FaultColumns, FaultRows
from vxmon.analysis.system.figures import boot_figures
from vxmon.analysis.system.interrupts import Durations
from vxmon.analysis.system.places import Places
from vxmon.analysis.system.result import CATEGORIES, EVENTS, BootSystem, SystemResult
from vxmon.analysis.walk import BootWalker, Walker, walk
from vxmon.trace.batches import present
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.state import UNKNOWN, Probes, Segments, States
from vxmon.trace.state_events import LossRows, loss_rows
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import EventId

__all__ = ["BootBooks", "SystemRequest", "analyze_system", "system_walk"]

_PROBES: Final = (EventId.HM_EVENT, EventId.EXCEPTION, EventId.INT_ENTR)
# What tells the kinds of a category apart; interrupts by their argument.
_NUMBER: Final = {"hm": "code", "edr": "kind", "exception": "vector"}
_SECOND: Final = 10**9

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class SystemRequest:
    """What to analyze; ``rate_ns`` is the span within which the largest rates are looked for."""

    scope: Scope = field(default_factory=Scope)
    rate_ns: int = _SECOND


def system_walk(trace: StoredTrace, request: SystemRequest) -> tuple[Walker, SystemResult]:
    """What the analysis does with the records, and the result that is whole behind the walk."""
    scope, result = request.scope, SystemResult([], request.scope.span)
    walker = BootWalker(
        window_rows(trace, scope, AROUND_NS),
        lambda boot: BootBooks(boot, trace.facts, request, cut_scene(trace, boot, scope, AROUND_NS)),
        BootBooks.feed,
        lambda books, states: result.boots.append(books.finish(states)),
        _PROBES,
    )
    return walker, result


def analyze_system(trace: StoredTrace, request: SystemRequest | None = None) -> SystemResult:
    """The figures of every boot of a trace."""
    walker, result = system_walk(trace, request or SystemRequest())
    walk(trace, [walker])
    return result


class BootBooks:
    """The books of one boot while its chunks come."""

    def __init__(self, boot: Boot, facts: Facts, request: SystemRequest, scene: Scene | None = None) -> None:
        self.boot = boot
        self.scene = scene or Scene(boot, facts, request.scope)
        self.begin, self.end = _observed(self.scene)
        width = request.rate_ns * (boot.clock_hz or _SECOND) // _SECOND
        self.rate_span = max(min(width, self.end - self.begin), 1)
        self.counts = {name: Counts(self.begin, self.end, self.rate_span) for name in CATEGORIES}
        self.severities = Counts(self.begin, self.end, self.rate_span)
        self.durations = Durations()
        self.vectors: dict[int, int] = {}
        self.faults = FaultColumns(self.scene)
        self.places: dict[int, Places] = {}
        self.lost: list[LossRows] = []
        self.observed: dict[int, int] = {}

    def feed(self, chunk: Chunk, states: States) -> None:
        """Take a chunk."""
        columns = chunk.columns
        self.scene.take(columns)
        kept = self.scene.kept(columns)
        raw = states.feed(chunk)
        closed = self.scene.selected(raw)
        self._count(columns, kept, states.probed)
        self.durations.feed(columns, self.scene.reader, kept, raw)
        found = dict(self.faults.feed(columns, kept, states.probed))
        for stream in {*present(columns.stream), *found, *self.places}:
            self._place(stream, columns, [s for s in closed if s.stream == stream], found.get(stream, FaultRows()))
        self._sum(closed)
        self.lost.append(loss_rows(columns, self.scene.losses, kept))

    def finish(self, states: States) -> BootSystem:
        """Close the books and make the figures."""
        raw = states.finish()
        rest = self.scene.selected(raw)
        self.durations.finish(raw)
        for stream, places in self.places.items():
            places.finish([segments for segments in rest if segments.stream == stream])
        self._sum(rest)
        return boot_figures(self)

    # ------------------------------------------------------------ parts

    def _place(self, stream: int, columns: Columns, closed: list[Segments], found: FaultRows) -> None:
        if stream not in self.places:
            self.places[stream] = Places(self.scene, stream)
        places = self.places[stream]
        nothing = np.zeros(0, np.int64)
        found.columns["row"] = np.arange(len(found)) + len(places.start)
        window = found.columns.get("window", nothing)
        places.feed(columns, closed, found.columns.get("time", nothing), window)

    def _sum(self, parts: list[Segments]) -> None:
        for segments in parts:
            length = int((segments.end - segments.start).sum())
            self.observed[segments.stream] = self.observed.get(segments.stream, 0) + length

    def _count(self, columns: Columns, kept: NDArray[np.bool_], probed: list[Probes]) -> None:
        reader = self.scene.reader
        partition_of = _running(len(columns), probed)
        for name, event in EVENTS.items():
            which = reader.of(columns, event)
            which = which[kept[which]]
            number = columns.arg[which].astype(np.int64)
            partition = partition_of[which] if name == "interrupt" else number
            if name in _NUMBER:
                number = self._field(columns, event, _NUMBER[name], which)
            if name == "exception":
                partition = self._field(columns, event, "partition", which)
            self.counts[name].add(number, partition, columns.time[which])
            if name == "edr":
                known = number >= 0
                self.severities.add(number[known] & SEVERITY_MASK, partition[known], columns.time[which][known])
        entries = reader.having(columns, EventId.INT_ENTR, ("vector",))
        numbers, first = np.unique(columns.arg[entries], return_index=True)
        vectors = reader.values(columns, EventId.INT_ENTR, "vector", entries[first])
        self.vectors.update(zip(numbers.tolist(), vectors.tolist(), strict=True))

    def _field(self, columns: Columns, event: EventId, name: str, which: NDArray[np.intp]) -> Ints:
        """A field, -1 where a record is too short to have it."""
        values = np.full(len(which), UNKNOWN, np.int64)
        has = np.isin(which, self.scene.reader.having(columns, event, (name,)))
        values[has] = self.scene.reader.values(columns, event, name, which[has])
        return values


def _observed(scene: Scene) -> tuple[int, int]:
    """The instants between which records are looked at and can be."""
    first, last = scene.boot.first_time or 0, scene.boot.last_time or 0
    begin, end = scene.limits
    begin = first if begin is None else max(begin, first)
    return begin, max(last if end is None else min(end, last), begin)


def _running(count: int, probed: list[Probes]) -> Ints:
    """The running partition at each probed record of a chunk."""
    partition = np.full(count, UNKNOWN, np.int64)
    for some in probed:
        partition[some.at] = some.partition
    return partition
