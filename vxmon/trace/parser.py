# SPDX-License-Identifier: Apache-2.0
"""Calls functions for events, in the style of QNX's traceparser library: events, ranges of events, begin and end.

Events come in order of time over all CPUs, and whole: a combine event, a record of several slots, is one event. See
vxmon/README.md for an example.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.columns import Chunk
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.names import LOSS_ID, LOSS_NAME
from vxmon.trace.opening import open_trace
from vxmon.trace.ticks import ticks_to_ns
from vxmon.trace.trace import Trace
from vxmon.trace.values import field_lists
from vxmon.wire.slots import Value
from vxmon.wire.types import Event as Entry

__all__ = ["Event", "Parser"]

_ALL: Final = range(LOSS_ID + 1)


class Event(NamedTuple):
    """One event.

    ``ticks`` is the target's clock and ``time_ns`` the time since the boot's first record (-1 where the session does
    not tell the clock's rate). ``argument`` is the event's first argument, ``fields`` are the others by name: numbers,
    text as str, bytes. Of LOSS, ``fields`` has the number of records that are missing.
    """

    ticks: int
    time_ns: int
    boot: Boot
    cpu: int
    id: int
    name: str
    argument: int
    fields: dict[str, Value]


Call = Callable[[Event], None]


class Parser:
    """Reads sessions and calls functions for what is in them.

    Several functions may be registered for one event; they are called in the order of their registration. A function
    ends the parse by raising StopIteration. Other exceptions go through to the caller of :meth:`run`.
    """

    def __init__(self) -> None:
        self._named: list[tuple[str, Call]] = []
        self._ranges: list[tuple[int, int, Call]] = []
        self._begin: list[Callable[[Facts], None]] = []
        self._end: list[Callable[[Facts], None]] = []

    def on_event(self, name: str, call: Call) -> None:
        """Call for events of this name, or of this class: ``TASK_SWITCH``, ``HM``; LOSS where records are missing."""
        self._named.append((name.upper(), call))

    def on_range(self, first: int, last: int, call: Call) -> None:
        """Call for events with ids ``first`` to ``last``, both included; 0 to 1024 are all, LOSS included."""
        if not 0 <= first <= last <= LOSS_ID:
            raise InputError(f"a range of events from {first} to {last}: ids are 0 to {LOSS_ID}")
        self._ranges.append((first, last, call))

    def on_begin(self, call: Callable[[Facts], None]) -> None:
        """Call before the first event, with what is known of the session; of files that is everything."""
        self._begin.append(call)

    def on_end(self, call: Callable[[Facts], None]) -> None:
        """Call behind the last event, with all that is known, losses included."""
        self._end.append(call)

    def run(self, *paths: str | os.PathLike[str]) -> Facts:
        """Parse session files as one, or ``-`` for standard input; returns what is known of them.

        Raises:
            InputError: a file cannot be read, or no boot has an event or class that was asked for.

        """
        with open_trace([os.fspath(path) for path in paths]) as trace:
            try:
                self._walk(trace)
            except StopIteration:
                return trace.facts
            for end in self._end:
                end(trace.facts)
            return trace.facts

    def _walk(self, trace: Trace) -> None:
        begun = False
        calls: dict[int, dict[int, list[Call]]] = {}
        for chunk in trace.chunks():
            if not begun:
                begun = True
                self._tell_begin(trace.facts)
            number = chunk.boot.number
            if number not in calls:
                calls[number] = self._calls(chunk.boot)
            _call(chunk, calls[number])
        if not begun:
            self._tell_begin(trace.facts)

    def _tell_begin(self, facts: Facts) -> None:
        for begin in self._begin:
            begin(facts)

    def _calls(self, boot: Boot) -> dict[int, list[Call]]:
        """What to call for each event id."""
        ids = _ids_by_name(boot)
        found: dict[int, list[Call]] = {}
        for name, call in self._named:
            if name not in ids:
                raise InputError(f"the session has no event and no class {name}")
            for event in ids[name]:
                found.setdefault(event, []).append(call)
        for first, last, call in self._ranges:
            for event in _ALL[first : last + 1]:
                found.setdefault(event, []).append(call)
        return found


def _ids_by_name(boot: Boot) -> dict[str, list[int]]:
    ids: dict[str, list[int]] = {LOSS_NAME: [LOSS_ID]}
    for entry in boot.table.events:
        ids.setdefault(entry.name, []).append(entry.id)
        ids.setdefault(entry.klass, []).append(entry.id)
    return ids


def _call(chunk: Chunk, calls: dict[int, list[Call]]) -> None:
    """Make the events that are wanted, all of one kind at a time, and call for them in their order."""
    ids = chunk.columns.id
    wanted = np.zeros(LOSS_ID + 1, bool)
    wanted[list(calls)] = True
    rows = np.flatnonzero(wanted[ids])
    made: list[Event | None] = [None] * len(ids)
    for event in np.unique(ids[rows]).tolist():
        which = np.flatnonzero(ids == event)
        for row, value in zip(which.tolist(), _events(chunk, event, which), strict=True):
            made[row] = value
    for row in rows.tolist():
        found = made[row]
        if found is not None:
            for call in calls[found.id]:
                call(found)


def _events(chunk: Chunk, event: int, which: NDArray[np.intp]) -> Iterable[Event]:
    boot, columns = chunk.boot, chunk.columns
    entry = next((entry for entry in boot.table.events if entry.id == event), None)
    ticks = columns.time[which]
    since = ticks - (boot.first_time or 0)
    times = ticks_to_ns(since, boot.clock_hz).tolist() if boot.clock_hz else [-1] * len(which)
    name = LOSS_NAME if event == LOSS_ID else entry.name if entry is not None else f"EVENT_{event}"
    heads = zip(ticks.tolist(), times, columns.stream[which].tolist(), columns.arg[which].tolist(), strict=True)
    fields = _fields(chunk, event, entry, which)
    return (
        Event(tick, time, boot, cpu, event, name, argument, values)
        for (tick, time, cpu, argument), values in zip(heads, fields, strict=True)
    )


def _fields(chunk: Chunk, event: int, entry: Entry | None, which: NDArray[np.intp]) -> list[dict[str, Value]]:
    if event == LOSS_ID:
        return [{"records": int(chunk.losses[at]["records"])} for at in chunk.columns.at[which].tolist()]
    return [{} for _ in which] if entry is None else field_lists(chunk.columns, entry, which)
