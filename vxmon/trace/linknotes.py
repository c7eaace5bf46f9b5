# SPDX-License-Identifier: Apache-2.0
"""Puts what happened on the link among the records, in order of time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.facts import LOSS, Boot, Facts
from vxmon.trace.linkevents import KINDS, MOST_EVENTS, LinkEvent, LinkRecord
from vxmon.trace.names import LOSS_ID
from vxmon.trace.wallclock import WallClock
from vxmon.wire.events import EventId

__all__ = ["NOTE_IDS", "link_events", "note_link_records", "with_link_events"]

Ints = NDArray[np.int64]

# No event of a table has such an id.
NOTE_IDS: Final = {kind: LOSS_ID + 1 + number for number, kind in enumerate(KINDS)}


def link_events(facts: Facts, boot: Boot) -> list[LinkEvent]:
    """What happened on the link of a boot; a reboot that no host has noted, as in a passive recording, is among it."""
    events = boot.link_events
    if boot.number == 0 or any(event.kind == "reboot" for event in events):
        return events
    before = facts.boots[boot.number - 1].id
    text = f"another boot of the target (0x{before:08x} before, now 0x{boot.id:08x})"
    return [LinkEvent("reboot", boot.first_seen_ns, text, boot_before=before), *events]


def note_link_records(chunk: Chunk) -> None:
    """Keep the LINK records of a chunk with its boot."""
    columns, records = chunk.columns, chunk.boot.link_records
    which = np.flatnonzero((columns.id == EventId.LINK) & (columns.slots > 0))
    for row in which[: MOST_EVENTS - len(records)].tolist():
        at = int(columns.at[row])
        address, port = int(columns.words[at]), int(columns.words[at + 1])
        records.append(LinkRecord(int(columns.time[row]), int(columns.arg[row]), address, port))


@dataclass(slots=True)
class _Waiting:
    """Which of a boot's events were not handed out yet."""

    shown: set[LinkEvent] = field(default_factory=set)
    last: int = 0
    ticks: dict[LinkEvent, int | None] = field(default_factory=dict)
    wall: WallClock | None = None

    def find(self, boot: Boot, event: LinkEvent) -> int | None:
        """Target time of an event; None when it is not known."""
        if boot.wall is not self.wall:
            self.wall, self.ticks = boot.wall, {}
        if event not in self.ticks:
            self.ticks[event] = _ticks(boot, event)
        return self.ticks[event]


def with_link_events(chunks: Iterable[Chunk], facts: Facts) -> Iterator[Chunk]:
    """The same records with rows for what happened on the link; such a row's id is in NOTE_IDS.

    Each stands where the host's time says, or at the edge of its boot where that is not known.
    """
    waiting: dict[int, _Waiting] = {}
    current: Boot | None = None
    for chunk in chunks:
        if current is not None and current is not chunk.boot and facts.complete:
            yield from _rest(current, facts, waiting)
        current = chunk.boot
        yield _insert(chunk, facts, waiting.setdefault(current.number, _Waiting()))
    for boot in facts.boots:
        yield from _rest(boot, facts, waiting)


def _insert(chunk: Chunk, facts: Facts, state: _Waiting) -> Chunk:
    """Add what happened up to the last record."""
    columns = chunk.columns
    state.last = max(state.last, int(columns.time[-1])) if len(columns) else state.last
    due = [
        (time, event)
        for event in link_events(facts, chunk.boot)
        if event not in state.shown and (time := state.find(chunk.boot, event)) is not None and time <= state.last
    ]
    if not due or not len(columns):
        return chunk
    due.sort(key=lambda entry: entry[0])
    state.shown.update(event for _, event in due)
    times = np.array([time for time, _ in due], np.int64)
    places = np.searchsorted(columns.time, times).astype(np.int64)
    return _with_rows(chunk, places, times, tuple(event for _, event in due))


def _with_rows(chunk: Chunk, places: Ints, times: Ints, events: tuple[LinkEvent, ...]) -> Chunk:
    columns = chunk.columns

    def put(column: NDArray[Any], value: object) -> NDArray[Any]:
        return np.insert(column, places, np.asarray(value).astype(column.dtype))

    more = Columns(
        time=put(columns.time, times),
        stream=put(columns.stream, 0),
        id=put(columns.id, [NOTE_IDS[event.kind] for event in events]),
        arg=put(columns.arg, 0),
        slots=put(columns.slots, 0),
        at=put(columns.at, np.arange(len(events))),
        words=columns.words,
        big_endian=columns.big_endian,
    )
    late = None if chunk.late is None else put(chunk.late, False)
    return replace(chunk, columns=more, notes=events, late=late)


def _ticks(boot: Boot, event: LinkEvent) -> int | None:
    """Target time of an event; None when it is not known."""
    first = boot.first_time or 0
    if event.kind == "reboot":
        return first
    return max(boot.wall.ticks(event.host_ns), first) if boot.wall is not None else None


def _rest(boot: Boot, facts: Facts, waiting: dict[int, _Waiting]) -> Iterator[Chunk]:
    """What happened after the last record of a boot."""
    state = waiting.setdefault(boot.number, _Waiting(last=boot.first_time or 0))
    events = tuple(event for event in link_events(facts, boot) if event not in state.shown)
    if not events:
        return
    state.shown.update(events)
    times = [max(state.find(boot, event) or 0, state.last) for event in events]
    empty = Columns(
        np.zeros(0, np.int64), np.zeros(0, np.uint8), np.zeros(0, np.uint16), np.zeros(0, np.uint16),
        np.zeros(0, np.uint8), np.zeros(0, np.int64), np.zeros(0, np.uint32), boot.byte_order == "big",
    )  # fmt: skip
    chunk = Chunk(boot, empty, np.zeros(0, LOSS))
    yield _with_rows(chunk, np.zeros(len(events), np.int64), np.array(times, np.int64), events)
