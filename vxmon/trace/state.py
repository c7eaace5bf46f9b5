# SPDX-License-Identifier: Apache-2.0
"""Who ran on each stream at each instant, as interval columns made from block heads, START and the switches.

    states = States(trace.facts, trace.index)
    for chunk in trace.chunks():
        for segments in states.feed(chunk):
            ...
    for segments in states.finish():
        ...

A segment is a span of one stream in which nobody switched. Segments of a stream follow each other without a hole
while recording lasts; where records are missing there is a segment whose levels are UNKNOWN, so that an interval is
never paired across a loss. Which classes of events were recorded besides does not change a segment's partition,
window or task.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.fields import FieldReader
from vxmon.trace.names import LOSS_ID
from vxmon.trace.state_edges import UNKNOWN, Begin, Gap, Head, StreamEdges, boot_edges
from vxmon.wire.events import EventId
from vxmon.wire.types import NOT_KNOWN

__all__ = [
    "NOBODY", "OPEN_END", "OPEN_START", "UNKNOWN", "Intervals", "Probes", "Segments", "States", "level_intervals",
]  # fmt: skip

NOBODY: Final = NOT_KNOWN
"""Value of the task level while no task runs."""

# Flags of a segment: it was cut by the begin or end of recording, not by a switch.
OPEN_START: Final = 1
OPEN_END: Final = 2

_KEEP: Final = -2
_OUTSIDE: Final = -3
LEVELS: Final = ("partition", "window", "task")
_COLUMNS: Final = (*LEVELS, "depth")
_SWITCHES: Final = {"partition": EventId.PARTITION_SWITCH, "window": EventId.WINDOW, "task": EventId.TASK_SWITCH}
_INTERRUPTS: Final = (EventId.INT_ENTR, EventId.INT_EXIT)
_RELEVANT: Final = np.zeros(LOSS_ID + 1, bool)
_RELEVANT[[*_SWITCHES.values(), *_INTERRUPTS, EventId.START, EventId.STOP, EventId.FILTER, LOSS_ID]] = True

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Segments:
    """Consecutive spans of one stream, in order. Arrays have one element a span, none is empty.

    start, end: int64 ticks. partition, window, task: indices, NOBODY or UNKNOWN. depth: of nested interrupts, UNKNOWN
    across a loss. flags: OPEN_START and OPEN_END.
    """

    boot: Boot
    stream: int
    start: Ints
    end: Ints
    partition: Ints
    window: Ints
    task: Ints
    depth: Ints
    flags: Ints

    def __len__(self) -> int:
        return len(self.start)

    def take(self, which: NDArray[np.intp] | NDArray[np.bool_] | slice) -> Segments:
        """Some of the spans."""
        return Segments(
            self.boot, self.stream, self.start[which], self.end[which], self.partition[which], self.window[which],
            self.task[which], self.depth[which], self.flags[which],
        )  # fmt: skip

    @staticmethod
    def join(parts: list[Segments]) -> Segments:
        """Spans of one stream, one part after the other."""
        if len(parts) == 1:
            return parts[0]
        return Segments(
            parts[0].boot,
            parts[0].stream,
            start=np.concatenate([p.start for p in parts]),
            end=np.concatenate([p.end for p in parts]),
            partition=np.concatenate([p.partition for p in parts]),
            window=np.concatenate([p.window for p in parts]),
            task=np.concatenate([p.task for p in parts]),
            depth=np.concatenate([p.depth for p in parts]),
            flags=np.concatenate([p.flags for p in parts]),
        )


@dataclass(slots=True)
class Intervals:
    """Spans of one level: in each of them ``value`` stays the same. Unknown spans are left out."""

    start: Ints
    end: Ints
    value: Ints
    flags: Ints


@dataclass(slots=True)
class Probes:
    """The state right behind some records of one stream, in order; columns of equal length.

    ``at`` is the position of the record in its chunk. Levels are as in Segments.
    """

    stream: int
    at: Ints
    partition: Ints
    window: Ints
    task: Ints
    depth: Ints


def level_intervals(segments: Segments, level: str) -> Intervals:
    """The intervals of a level ("partition", "window" or "task"), with interrupts and other switches nested inside."""
    value: Ints = getattr(segments, level)
    count = len(value)
    if not count:
        return Intervals(segments.start, segments.end, value, segments.flags)
    change = np.ones(count, bool)
    change[1:] = (value[1:] != value[:-1]) | (segments.start[1:] != segments.end[:-1])
    first = np.flatnonzero(change)
    last = np.append(first[1:], count) - 1
    flags = segments.flags[first] & OPEN_START | segments.flags[last] & OPEN_END
    known = value[first] != UNKNOWN
    return Intervals(segments.start[first][known], segments.end[last][known], value[first][known], flags[known])


@dataclass(slots=True)
class _Rows:
    """Changes of state of one stream in order. _KEEP: the level stays; _OUTSIDE: recording is off."""

    time: Ints
    partition: Ints
    window: Ints
    task: Ints
    depth: Ints
    step: Ints
    probe: Ints


@dataclass(slots=True)
class _Stream:
    """The state at the last row seen, and how many runs have begun."""

    boot: Boot
    edges: StreamEdges
    begun: int = 0
    time: int = 0
    level: dict[str, int] = field(default_factory=lambda: dict.fromkeys(_COLUMNS, _OUTSIDE))
    opened: bool = False


class States:
    """Turns chunks into segments; keeps only the state at the end of the last chunk.

    Args:
        facts: of the trace.
        index: the blocks that will be read, as ``Trace.index`` or a part of it.
        probes: events at whose records the state is wanted; ``probed`` holds it for the last chunk.

    """

    def __init__(self, facts: Facts, index: NDArray[np.void], probes: Collection[int] = ()) -> None:
        self._facts = facts
        self._probes = np.zeros(LOSS_ID + 1, bool)
        self._probes[list(probes)] = True
        self._relevant = _RELEVANT | self._probes
        self.probed: list[Probes] = []
        self._index = index
        self._boot: Boot | None = None
        self._streams: dict[int, _Stream] = {}
        self._reader: FieldReader | None = None
        self._fed: tuple[Chunk, list[Segments]] | None = None
        self._finished: list[Segments] | None = None
        self.steps_back = 0

    def feed(self, chunk: Chunk) -> list[Segments]:
        """Segments that end in this chunk, one object a stream that has any; the same again for the same chunk."""
        if self._fed is None or self._fed[0] is not chunk:
            self._fed = (chunk, self._feed(chunk))
            self._finished = None
        return self._fed[1]

    def finish(self) -> list[Segments]:
        """Close the open segments at the end of a boot; they are marked OPEN_END. The same again until the next."""
        if self._finished is None:
            self._finished = self._close()
        return self._finished

    def _feed(self, chunk: Chunk) -> list[Segments]:
        done: list[Segments] = []
        self.probed = []
        if self._boot is not chunk.boot:
            done += self._close()
            self._enter(chunk.boot)
        columns = chunk.columns
        horizon = int(columns.time[-1]) if len(columns) else 0
        which = np.flatnonzero(self._relevant.take(columns.id))
        stream_of = columns.stream[which]
        for number, stream in self._streams.items():
            own = which if len(self._streams) == 1 else which[stream_of == number]
            rows = self._rows(columns, own, stream, horizon)
            if len(rows.time):
                done.append(self._segments(number, stream, rows))
        return [segments for segments in done if len(segments)]

    def _close(self) -> list[Segments]:
        done = []
        for number, stream in self._streams.items():
            if stream.level["task"] == _OUTSIDE:
                continue
            end = max(stream.time, stream.edges.last_time)
            rows = _single(end, dict.fromkeys(_COLUMNS, _OUTSIDE))
            done.append(self._segments(number, stream, rows))
        self._streams = {}
        self._boot = None
        return [segments for segments in done if len(segments)]

    def open_segments(self, until: int) -> Iterator[Segments]:
        """What is open at the end of the last chunk, as segments that end at ``until``."""
        for number, stream in self._streams.items():
            if stream.level["task"] != _OUTSIDE and until > stream.time:
                partition, window, task, depth = (_one(max(stream.level[name], UNKNOWN)) for name in _COLUMNS)
                span = (_one(stream.time), _one(until))
                yield Segments(stream.boot, number, *span, partition, window, task, depth, _one(0))

    def note_edges(self, number: int, edges: StreamEdges) -> None:
        """Learn the edges of a stream while it is read: its begin when it is new, and losses."""
        known = self._streams.get(number)
        if known is None and self._boot is not None:
            self._streams[number] = _Stream(self._boot, edges)
        elif known is not None:
            known.edges.gaps = edges.gaps

    def _enter(self, boot: Boot) -> None:
        self._boot = boot
        self._reader = FieldReader(boot.table)
        edges = boot_edges(boot, self._facts, self._index)
        self._streams = {number: _Stream(boot, some) for number, some in edges.items()}

    # ------------------------------------------------------------ changes

    def _rows(self, columns: Columns, which: NDArray[np.intp], stream: _Stream, horizon: int) -> _Rows:
        ids, arg = columns.id.take(which), columns.arg.take(which)
        count = len(which)
        partition, window, task, depth = (np.full(count, _KEEP, np.int64) for _ in _COLUMNS)
        probe = np.where(self._probes.take(ids), which, -1)
        rows = _Rows(columns.time.take(which), partition, window, task, depth, np.zeros(count, np.int64), probe)
        for name, event in _SWITCHES.items():
            at = np.flatnonzero(ids == event)
            getattr(rows, name)[at] = arg.take(at)
        rows.step[ids == EventId.INT_ENTR] = 1
        rows.step[ids == EventId.INT_EXIT] = -1
        self._starts(columns, which, ids, rows, stream)
        self._filters(columns, which, ids, rows)
        outside = np.flatnonzero(ids == EventId.STOP)
        for name in _COLUMNS:
            getattr(rows, name)[outside] = _OUTSIDE
        return self._insert(rows, columns, which, ids, stream, horizon)

    def _starts(
        self, columns: Columns, which: NDArray[np.intp], ids: NDArray[np.uint16], rows: _Rows, stream: _Stream
    ) -> None:
        reader = self._reader
        starts = np.flatnonzero(ids == EventId.START)
        if reader is None or not len(starts):
            return
        rows.partition[starts] = columns.arg[which[starts]]
        rows.depth[starts] = 0
        rows.window[starts] = rows.task[starts] = UNKNOWN
        full = np.intersect1d(reader.having(columns, EventId.START, ("window", "task")), which[starts])
        place = np.searchsorted(which, full)
        rows.window[place] = reader.values(columns, EventId.START, "window", full)
        rows.task[place] = reader.values(columns, EventId.START, "task", full)
        for at in starts.tolist():
            for name in stream.edges.unrecorded(int(rows.time[at])):
                getattr(rows, name)[at] = UNKNOWN

    def _filters(self, columns: Columns, which: NDArray[np.intp], ids: NDArray[np.uint16], rows: _Rows) -> None:
        """From a filter on, its level is unknown until the next switch: off says nothing more, on nothing yet."""
        at = np.flatnonzero(ids == EventId.FILTER)
        if not len(at):
            return
        event = columns.arg[which[at]]
        for name, switch in _SWITCHES.items():
            getattr(rows, name)[at[event == switch]] = UNKNOWN
        rows.depth[at[np.isin(event, _INTERRUPTS)]] = UNKNOWN

    def _insert(
        self, rows: _Rows, columns: Columns, which: NDArray[np.intp], ids: NDArray[np.uint16], stream: _Stream,
        horizon: int,
    ) -> _Rows:  # fmt: skip
        """Put in what begins, and replace losses by what they mean; both are rare."""
        places: list[int] = []
        extra: list[tuple[int, dict[str, int]]] = []
        drop = np.flatnonzero(ids == LOSS_ID)
        for at in drop.tolist():
            gap = stream.edges.gaps.get(int(columns.at[which[at]]))
            changes = _gap_changes(gap) if gap is not None else []
            places += [at] * len(changes)
            extra += changes
        begins = stream.edges.begins
        while stream.begun < len(begins) and begins[stream.begun].time <= horizon:
            changes = _begin_changes(begins[stream.begun])
            stream.begun += 1
            at = int(np.searchsorted(rows.time, max(time for time, _ in changes), side="left"))
            places += [at] * len(changes)
            extra += changes
        return _with(rows, places, extra, drop) if extra or len(drop) else rows

    # ------------------------------------------------------------ segments

    def _segments(self, number: int, stream: _Stream, rows: _Rows) -> Segments:
        time = np.concatenate([[stream.time], rows.time])
        self.steps_back += int(np.count_nonzero(time[2:] < time[1:-1]))
        if (time[1:] < time[:-1]).any():
            time = np.maximum.accumulate(time)
        values = [_filled(stream.level[name], getattr(rows, name)) for name in LEVELS]
        values.append(_depths(stream.level["depth"], rows.depth, rows.step))
        self._probe(number, rows.probe, values)
        inside = values[2] != _OUTSIDE
        flags = _flags(inside, time, opened=stream.opened)
        stream.opened = bool(flags[-1] & OPEN_START) and bool(inside[-1])
        stream.time = int(time[-1])
        stream.level = {name: int(column[-1]) for name, column in zip(_COLUMNS, values, strict=True)}
        keep = inside[:-1] & (time[1:] > time[:-1])
        which = slice(0, len(keep)) if keep.all() else np.flatnonzero(keep)
        partition, window, task, depth = (_told(column[:-1][which]) for column in values)
        return Segments(
            stream.boot, number, time[:-1][which], time[1:][which], partition, window, task, depth, flags[:-1][which]
        )

    def _probe(self, number: int, probe: Ints, levels: list[Ints]) -> None:
        """Keep the levels behind the rows that are probes; ``levels`` begin with those ahead of the first row."""
        which = np.flatnonzero(probe >= 0)
        if len(which):
            partition, window, task, depth = (_told(level[1:][which]) for level in levels)
            self.probed.append(Probes(number, probe[which], partition, window, task, depth))


def _told(level: Ints) -> Ints:
    """Values of a level with UNKNOWN where recording is off."""
    return np.maximum(level, UNKNOWN) if len(level) and int(level.min()) < UNKNOWN else level


def _flags(inside: NDArray[np.bool_], time: Ints, *, opened: bool) -> Ints:
    """Flags of the segments that begin at each instant; ``opened``: the first one was so before."""
    flags = np.zeros(len(time), np.int64)
    if not opened and (inside[:-1] == inside[1:]).all():
        return flags
    flags[1:][~inside[:-1] & inside[1:]] |= OPEN_START
    flags[0] = OPEN_START if opened else 0
    flags[:-1][inside[:-1] & ~inside[1:]] |= OPEN_END
    # OPEN_START moves on from empty segments to the next that is not.
    empty = time[1:] == time[:-1]
    if (empty & (flags[:-1] & OPEN_START > 0)).any():
        for at in np.flatnonzero(empty).tolist():
            flags[at + 1] |= flags[at] & OPEN_START
    return flags


def _gap_changes(gap: Gap) -> list[tuple[int, dict[str, int]]]:
    return [(gap.start, dict.fromkeys(_COLUMNS, UNKNOWN)), (gap.end, _state(gap.head))]


def _begin_changes(begin: Begin) -> list[tuple[int, dict[str, int]]]:
    changes = []
    if begin.before is not None:
        changes.append((begin.before, dict.fromkeys(_COLUMNS, _OUTSIDE)))
    if begin.gap is not None:
        return changes + _gap_changes(begin.gap)
    return [*changes, (begin.time, _state(begin.head))]


def _state(head: Head | None) -> dict[str, int]:
    if head is None:
        return dict.fromkeys(_COLUMNS, _OUTSIDE)
    return {name: getattr(head, name) for name in _COLUMNS}


def _one(value: int) -> Ints:
    return np.array([value], np.int64)


def _single(time: int, state: dict[str, int]) -> _Rows:
    partition, window, task, depth = (_one(state[name]) for name in _COLUMNS)
    return _Rows(_one(time), partition, window, task, depth, _one(0), _one(-1))


def _with(rows: _Rows, places: list[int], extra: list[tuple[int, dict[str, int]]], drop: NDArray[np.intp]) -> _Rows:
    """Rows with others put in before the places given, and some dropped."""
    keep = np.ones(len(rows.time), bool)
    keep[drop] = False
    order = np.argsort(np.asarray(places, np.intp), kind="stable")
    at = np.asarray(places, np.intp)[order]

    def put(column: Ints, values: list[int]) -> Ints:
        added = np.asarray(values, np.int64)[order] if values else np.zeros(0, np.int64)
        mask = np.insert(keep, at, True)
        merged: Ints = np.insert(column, at, added)[mask]
        return merged

    states = [state for _, state in extra]
    partition, window, task, depth = (put(getattr(rows, name), [state[name] for state in states]) for name in _COLUMNS)
    steps = put(rows.step, [0] * len(extra))
    probe = put(rows.probe, [-1] * len(extra))
    return _Rows(put(rows.time, [time for time, _ in extra]), partition, window, task, depth, steps, probe)


def _runs(column: Ints) -> tuple[NDArray[np.intp], Ints]:
    """Rows in which something is told, and how many rows there are before the first of them and from each one on.

    One row ahead of the first counts among those before.
    """
    told = np.flatnonzero(column != _KEEP)
    return told, np.diff(told, prepend=-1, append=len(column))


def _filled(before: int, column: Ints) -> Ints:
    """What was told before, then each row's value, or the last one before it that was told."""
    told, counts = _runs(column)
    return np.repeat(np.concatenate([[before], column[told]]), counts)


def _depths(before: int, column: Ints, step: Ints) -> Ints:
    """Depth of interrupts: the last absolute value and the entries and exits since; never below 0."""
    told, counts = _runs(column)
    base = np.repeat(np.concatenate([[before], column[told]]), counts)
    if not step.any():
        return base
    steps = np.cumsum(np.concatenate([[0], step]))
    since = steps - np.repeat(np.concatenate([[0], steps[told + 1]]), counts)
    depth: Ints = np.where(base < 0, base, np.maximum(base + since, 0))
    return depth
