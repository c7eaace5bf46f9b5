# SPDX-License-Identifier: Apache-2.0
"""``analyze quality``: everything that weakens the evidence of a session."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from functools import partial
from itertools import pairwise
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.deadlines import Deadlines
from vxmon.analysis.figures import Figure, Statistic
from vxmon.analysis.named import NamedFigure
from vxmon.analysis.walk import Walker, walk
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.facts import CAUSES, Boot, Facts, Stream
from vxmon.trace.fields import FieldReader
from vxmon.trace.names import LOSS_ID
from vxmon.trace.rowtable import places_in_order
from vxmon.trace.state import States
from vxmon.trace.ticks import ticks_to_ns
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import TABLES, EventId, OnOff
from vxmon.wire.types import EventTable
from vxmon.words import counted

__all__ = [
    "Finding",
    "LossInterval",
    "Quality",
    "RunEdges",
    "StreamQuality",
    "analyze_quality",
    "headline",
    "named_figures",
    "quality_walk",
]

# A sample later than this many periods of its partition has missed at least one.
_LATE_SAMPLE: Final = 2
_MOST_FILTERS: Final = 100
# What must be recorded to compare missed deadlines with the health monitor's reports.
_DEADLINES: Final = frozenset({EventId.RELEASE, EventId.COMPLETE, EventId.DEADLINE, EventId.HM_EVENT})

Ints = NDArray[np.int64]
Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that weakens the evidence. Errors concern completeness, warnings may change how figures are read."""

    severity: Severity
    kind: str
    text: str
    count: int = 0


@dataclass(frozen=True, slots=True)
class StreamQuality:
    """One stream of one run; records, and blocks that came late or stepped back in time."""

    boot: int
    run: int
    stream: int
    recorded: int
    before_attach: int
    cut_away: int
    delivered: int
    lost: int
    causes: dict[str, int]
    late_blocks: int
    steps_back: int


@dataclass(frozen=True, slots=True)
class LossInterval:
    """Consecutive lost records; times are ticks, None where no instant is known."""

    boot: int
    run: int
    stream: int
    start: int | None
    end: int | None
    records: int
    causes: dict[str, int]


@dataclass(frozen=True, slots=True)
class RunEdges:
    """How a run begins and ends in this session; times are ticks."""

    boot: int
    run: int
    seen_from_start: bool
    complete: bool
    first_time: int | None
    last_time: int | None
    end_reason: int | None


@dataclass(slots=True)
class Quality:
    """What ``analyze quality`` found."""

    headline: str
    incomplete: bool
    streams: list[StreamQuality] = field(default_factory=list)
    losses: list[LossInterval] = field(default_factory=list)
    edges: list[RunEdges] = field(default_factory=list)
    unknown_events: dict[int, int] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)
    filters: list[tuple[int, int, int, bool]] = field(default_factory=list)
    clocks: dict[int, int] = field(default_factory=dict)


def headline(facts: Facts) -> str:
    """One line for the top of every report that says whether the evidence is complete."""
    recorded = sum(s.expected for s in facts.streams)
    if not facts.incomplete:
        extra = _edge_words(facts)
        return f"complete: {facts.delivered} of {counted(recorded, 'record')}, nothing lost{extra}"
    parts = []
    if facts.lost:
        share = facts.lost * 1000 // max(recorded, 1) / 10
        parts.append(
            f"{facts.lost} of {counted(recorded, 'record')} lost ({share:.1f} %) in "
            f"{counted(len(facts.losses), 'place')} ({_causes(facts)})"
        )
    counters = facts.counters
    counts = (
        (facts.cut_bytes, "byte of the files is of no use", "bytes of the files are of no use"),
        (counters.corrupt_blocks, "corrupt block", ""),
        (counters.truncated, "datagram cut by a snapshot length", "datagrams cut by a snapshot length"),
        (counters.newer, "datagram of a newer wire format", "datagrams of a newer wire format"),
    )
    parts += [counted(count, one, many) for count, one, many in counts if count]
    return "INCOMPLETE: " + "; ".join([*parts, *facts.absent]) + _edge_words(facts)


def _causes(facts: Facts) -> str:
    totals = {cause: sum(s.lost[cause] for s in facts.streams) for cause in CAUSES}
    return ", ".join(f"{cause} {count}" for cause, count in totals.items() if count)


def _edge_words(facts: Facts) -> str:
    before = sum(s.before_attach for s in facts.streams)
    words = f"; {counted(before, 'record')} before attach" if before else ""
    if facts.cut is not None:
        words += f"; {counted(facts.cut_away, 'record is', 'records are')} not in this file ({facts.cut.text})"
    return words


def analyze_quality(trace: StoredTrace) -> Quality:
    """Judge a session. Reads it once."""
    walker, judged = quality_walk(trace)
    walk(trace, [walker])
    return judged()


def quality_walk(trace: StoredTrace) -> tuple[Walker, Callable[[], Quality]]:
    """What the analysis does with the records, and what makes the judgement behind the walk."""
    facts = trace.facts
    quality = Quality(headline(facts), facts.incomplete)
    quality.clocks = {boot.number: boot.clock_hz for boot in facts.boots}
    late, back = _late_blocks(trace.index), _steps_back(trace.index)
    for boot in facts.boots:
        for run in boot.runs.values():
            for stream in run.streams.values():
                key = (boot.number, run.number, stream.stream)
                quality.streams.append(_stream(key, stream, late.get(key, 0), back.get(key, 0)))
            quality.edges.append(_edges(boot, run.number))
    quality.losses = list(_losses(facts))
    walker = _Records(trace, quality)
    return walker, partial(_judged, facts, quality, walker)


def _judged(facts: Facts, quality: Quality, records: _Records) -> Quality:
    findings = [*_findings(facts, quality, records.samples), *_deadline_findings(facts, records.deadlines)]
    quality.findings = sorted(findings, key=lambda f: ("error", "warning", "note").index(f.severity))
    return quality


def named_figures(result: Quality, facts: Facts) -> Iterator[NamedFigure]:
    """Counts of what weakens the evidence, of the whole session; ``quality.lost`` of all its records."""
    recorded = sum(s.expected for s in facts.streams)
    open_end = bool(facts.open_runs)
    # What came after the last word of a target that never said its end is not known.
    lost = Figure(facts.lost, facts.lost, None if open_end else facts.lost, recorded)
    largest = max(result.losses, key=lambda loss: loss.records, default=None)
    where = "" if largest is None else _loss_place(largest, result.clocks.get(largest.boot, 0))
    yield NamedFigure("quality.lost", lost, "count", recorded or None, where)
    for cause in CAUSES:
        of_cause = sum(s.lost[cause] for s in facts.streams)
        hi = None if open_end and cause == "pending" else of_cause
        yield NamedFigure(f"quality.lost.{cause}", Figure(of_cause, of_cause, hi, recorded), "count", recorded or None)
    for name, count in _counts(result, facts).items():
        yield NamedFigure(f"quality.{name}", Figure.exact(count), "bytes" if name.endswith("_bytes") else "count")


def _loss_place(loss: LossInterval, hz: int) -> str:
    """Where a loss is, in words; times are of the target's clock."""
    if loss.start is None or not hz:
        return f"{counted(loss.records, 'record')} on CPU {loss.stream}"
    ns = ticks_to_ns(loss.start, hz)
    return f"{counted(loss.records, 'record')} on CPU {loss.stream} after {ns // 10**9}.{ns % 10**9:09d} s"


def _counts(result: Quality, facts: Facts) -> dict[str, int]:
    findings = [finding.severity for finding in result.findings]
    return {
        "before_attach": sum(s.before_attach for s in facts.streams),
        "places": len(result.losses),
        "open_runs": len(facts.open_runs),
        "unknown_events": sum(result.unknown_events.values()),
        "corrupt_blocks": facts.counters.corrupt_blocks,
        "truncated_datagrams": facts.counters.truncated,
        "newer_datagrams": facts.counters.newer,
        "unusable_bytes": facts.cut_bytes,
        "socket_drops": facts.counters.socket_drops,
        "late_blocks": sum(s.late_blocks for s in result.streams),
        "steps_back": sum(s.steps_back for s in result.streams),
        "errors": findings.count("error"),
        "warnings": findings.count("warning"),
    }


def _stream(key: tuple[int, int, int], stream: Stream, late: int, back: int) -> StreamQuality:
    return StreamQuality(
        *key,
        recorded=stream.recorded,
        before_attach=stream.before_attach,
        cut_away=stream.cut_away,
        delivered=stream.delivered,
        lost=stream.lost_records,
        causes=dict(stream.lost),
        late_blocks=late,
        steps_back=back,
    )


def _edges(boot: Boot, number: int) -> RunEdges:
    run = boot.runs[number]
    first = [s.first_time for s in run.streams.values() if s.first_time is not None]
    last = [s.last_time for s in run.streams.values() if s.last_time is not None]
    whole = run.seen_from_start or all(s.before_attach == 0 for s in run.streams.values())
    return RunEdges(
        boot.number, number, whole, run.complete, min(first, default=None), max(last, default=None), run.end_reason
    )


def _losses(facts: Facts) -> Iterator[LossInterval]:
    for loss in facts.losses:
        start, end = (None if loss[name] < 0 else int(loss[name]) for name in ("start", "end"))
        causes = {cause: int(loss[cause]) for cause in CAUSES if loss[cause]}
        place = (int(loss["boot"]), int(loss["run"]), int(loss["stream"]))
        yield LossInterval(*place, start, end, int(loss["records"]), causes)


# ---------------------------------------------------------------- blocks


_STREAM: Final = ("boot", "run", "stream")


def _late_blocks(index: NDArray[np.void]) -> dict[tuple[int, int, int], int]:
    """Blocks that came behind a later block of their stream; resent or reordered on the way."""
    late = {}
    for key, own in _by_stream(index, ("file", "slots_at")):
        sequence = index["sequence"][own]
        late[key] = int((sequence < np.maximum.accumulate(sequence)).sum())
    return {key: count for key, count in late.items() if count}


def _steps_back(index: NDArray[np.void]) -> dict[tuple[int, int, int], int]:
    """Blocks that begin before the one ahead of them in sequence ended: the target's clock stepped back."""
    back = {}
    for key, own in _by_stream(index, ("sequence",)):
        back[key] = int((index["first_time"][own[1:]] < index["last_time"][own[:-1]]).sum())
    return {key: count for key, count in back.items() if count}


def _by_stream(
    index: NDArray[np.void], order: tuple[str, ...]
) -> Iterator[tuple[tuple[int, int, int], NDArray[np.intp]]]:
    """Where the blocks of each stream are, in order of these fields."""
    places = places_in_order(index, (*_STREAM, *order), index["slots"] > 0)
    change = np.zeros(max(len(places) - 1, 0), bool)
    for name in _STREAM:
        change |= np.diff(index[name][places].astype(np.int64)) != 0
    edges = [0, *(np.flatnonzero(change) + 1).tolist(), len(places)] if len(places) else []
    for begin, end in pairwise(edges):
        boot, run, stream = (int(index[name][places[begin]]) for name in _STREAM)
        yield (boot, run, stream), places[begin:end]


# ---------------------------------------------------------------- records


@dataclass(slots=True)
class _Samples:
    """Distances between the memory samples of each partition of each boot, in ticks; and its losses."""

    last: dict[tuple[int, int], int] = field(default_factory=dict)
    distances: dict[tuple[int, int], Statistic] = field(default_factory=dict)

    def take(self, boot: int, time: Ints, partition: Ints) -> None:
        for number in np.unique(partition).tolist():
            own = time[partition == number]
            before = self.last.get((boot, number))
            steps = np.diff(own if before is None else np.concatenate([[before], own]))
            self.last[boot, number] = int(own[-1])
            self.distances.setdefault((boot, number), Statistic()).add(steps, times=own[-len(steps) :])


class _Records(Walker):
    """The one pass over the records: unknown events, samples, and deadlines."""

    def __init__(self, trace: StoredTrace, quality: Quality) -> None:
        self.rows = trace.index
        self.samples = _Samples()
        self.deadlines: dict[int, Deadlines] = {}
        self._quality = quality
        self._readers = {boot.number: FieldReader(boot.table) for boot in trace.facts.boots}
        self._unknown = np.zeros(LOSS_ID, np.int64)
        self._known = {boot.number: _known_events(boot) for boot in trace.facts.boots}

    def feed(self, chunk: Chunk, states: States) -> None:
        """See Walker."""
        del states  # Only records count.
        boot, columns = chunk.boot, chunk.columns
        own = self.deadlines.setdefault(boot.number, Deadlines())
        own.feed(columns, self._readers[boot.number], chunk.losses)
        self._unknown += np.where(self._known[boot.number], 0, columns.counts()[:LOSS_ID])
        _take_filters(self._quality, boot, columns)
        which = columns.rows_of(EventId.MEM_SAMPLE)
        if len(which):
            self.samples.take(boot.number, columns.time[which], columns.arg[which].astype(np.int64))

    def finish(self, states: States) -> None:
        """See Walker."""
        del states
        unknown = self._unknown
        self._quality.unknown_events = {int(event): int(unknown[event]) for event in np.flatnonzero(unknown).tolist()}


def _known_events(boot: Boot) -> NDArray[np.bool_]:
    known = np.zeros(LOSS_ID, bool)
    known[[event.id for event in boot.table.events]] = True
    return known


def _take_filters(quality: Quality, boot: Boot, columns: Columns) -> None:
    """Events that were switched on or off while recording; they are rare."""
    reader = FieldReader(boot.table)
    if not len(columns.rows_of(EventId.FILTER)):
        return
    which = reader.having(columns, EventId.FILTER, ("state",))
    for at in which[: _MOST_FILTERS - len(quality.filters)].tolist():
        state = int(reader.values(columns, EventId.FILTER, "state", np.array([at]))[0])
        quality.filters.append((boot.number, int(columns.time[at]), int(columns.arg[at]), state != OnOff.OFF))


# ---------------------------------------------------------------- findings


def _findings(facts: Facts, quality: Quality, samples: _Samples) -> Iterator[Finding]:
    if facts.lost:
        yield Finding("error", "loss", f"{counted(facts.lost, 'record')} lost ({_causes(facts)})", facts.lost)
    for problem in facts.problems:
        yield Finding("warning", "session", problem)
    total = sum(quality.unknown_events.values())
    if total:
        ids = ", ".join(f"EVENT_{event} x {count}" for event, count in list(quality.unknown_events.items())[:10])
        yield Finding(
            "warning", "unknown_events", f"{counted(total, 'record')} of events the table does not have: {ids}", total
        )
    for stream in quality.streams:
        where = f"boot {stream.boot} run {stream.run} CPU {stream.stream}"
        if stream.late_blocks:
            text = f"{where}: {counted(stream.late_blocks, 'block')} came late (resent or reordered)"
            yield Finding("note", "late_blocks", text, stream.late_blocks)
    if facts.cut is not None:
        text = f"{counted(facts.cut_away, 'record is', 'records are')} not in this file: {facts.cut.text}"
        yield Finding("note", "cut", text, facts.cut_away)
    for boot in facts.boots:
        yield from _schema(boot)
    for edge in quality.edges:
        yield from _edge(edge)
    yield from _missed_samples(facts, samples)
    for number, time, event, on in quality.filters:
        named = {e.id: e.name for e in facts.boots[number].table.events}
        text = (
            f"boot {number}: {named.get(event, f'event {event}')} was switched {'on' if on else 'off'} at {time} ticks"
        )
        yield Finding("warning", "filter", text)


def _edge(edge: RunEdges) -> Iterator[Finding]:
    where = f"boot {edge.boot} run {edge.run}"
    if not edge.seen_from_start:
        yield Finding("note", "edge", f"{where}: its begin is not in the session")
    if not edge.complete:
        yield Finding(
            "warning", "edge", f"{where}: its end is not in the session; what the target lost last is not known"
        )


def _schema(boot: Boot) -> Iterator[Finding]:
    """How the table that the session was recorded with differs from the one this vxmon ships for the release."""
    if boot.table_source != "session":
        yield Finding("warning", "schema", f"boot {boot.number}: the event table is {boot.table_source or 'missing'}")
        return
    shipped = TABLES.get(boot.os_release)
    if shipped is None:
        yield Finding(
            "note", "schema", f"boot {boot.number}: release {boot.os_release or 'not told'} is not one of ours"
        )
    elif shipped.fingerprint != boot.table.fingerprint:
        for text in _differences(boot.table, shipped):
            yield Finding("note", "schema", f"boot {boot.number}: {text}")


def _differences(own: EventTable, shipped: EventTable) -> Iterator[str]:
    ours, theirs = ({event.id: event for event in table.events} for table in (own, shipped))
    for event in sorted({*ours, *theirs}):
        here, there = ours.get(event), theirs.get(event)
        if here is None or there is None:
            known = here or there
            where = "shipped with vxmon" if here is None else "of the session"
            yield f"event {event} ({known.name if known else ''}) is only in the table {where}"
        elif (here.name, here.fields) != (there.name, there.fields):
            yield f"event {event} ({here.name}) has other fields than in the table shipped with vxmon"


def _deadline_findings(facts: Facts, deadlines: dict[int, Deadlines]) -> Iterator[Finding]:
    """Where the health monitor reports other misses than releases and completions show. Both must be recorded."""
    for boot in facts.boots:
        own = deadlines.get(boot.number)
        configs = [run.config for run in boot.runs.values()]
        if own is None or not all(config is not None and config.events >= _DEADLINES for config in configs):
            continue
        own.finish(boot.last_time or 0)
        for found in own.disagreements():
            name = boot.names.named("task").get(found.task, f"task {found.task}")
            text = (
                f"boot {boot.number}: {name} missed {counted(found.seen, 'deadline')} by its releases and completions, "
                f"{found.told} by the health monitor"
            )
            yield Finding("warning", "deadlines", text, abs(found.seen - found.told))


def _missed_samples(facts: Facts, samples: _Samples) -> Iterator[Finding]:
    """Periodic samples: a distance of more than twice the usual one means that some were not taken in time."""
    for (boot, partition), distances in sorted(samples.distances.items()):
        usual = distances.percentile(500)
        if usual is None or distances.most is None or usual[0] <= 0:
            continue
        if distances.most.value > _LATE_SAMPLE * usual[1]:
            hz = max(facts.boots[boot].clock_hz, 1)
            text = (
                f"boot {boot}: memory samples of partition {partition} come each {usual[0] * 1000 // hz} ms, "
                f"one came after {distances.most.value * 1000 // hz} ms"
            )
            yield Finding("note" if facts.lost else "warning", "sampling", text)
