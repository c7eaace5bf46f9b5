# SPDX-License-Identifier: Apache-2.0
"""Calls functions for events, in the style of QNX's traceparser library: events, ranges of events, begin and end.

Events come in order of time over all CPUs, and whole: a combine event, a record of several slots, is one event. See
vxmon/README.md for an example.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from itertools import repeat
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.batches import present
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.names import LOSS_ID, LOSS_NAME
from vxmon.trace.opening import open_trace
from vxmon.trace.ticks import ticks_to_ns
from vxmon.trace.trace import Trace
from vxmon.trace.values import field_tuples
from vxmon.wire.slots import Value
from vxmon.wire.types import Event as Entry

__all__ = ["Event", "Parser"]

_ALL: Final = range(LOSS_ID + 1)


class Event(NamedTuple):
    """One event.

    ``ticks`` is the target's clock and ``time_ns`` the time since the boot's first record (-1 where the session does
    not tell the clock's rate). ``argument`` is the event's first argument, ``values`` are the others: numbers, text as
    str, bytes; ``names`` are their names. Of LOSS, the one value is the number of records that are missing.
    """

    ticks: int
    time_ns: int
    boot: Boot
    cpu: int
    id: int
    name: str
    argument: int
    names: tuple[str, ...]
    values: tuple[Value, ...]

    @property
    def fields(self) -> dict[str, Value]:
        """The values by their names; made when asked for, so ask once."""
        return dict(zip(self.names, self.values, strict=True))


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
        calls: dict[int, dict[int, Call]] = {}
        for chunk in trace.chunks():
            if not begun:
                begun = True
                self._tell_begin(trace.facts)
            number = chunk.boot.number
            if number not in calls:
                self._check(trace.facts)
                calls[number] = self._calls(chunk.boot)
            _call_all(chunk, calls[number])
        if not begun:
            self._tell_begin(trace.facts)

    def _tell_begin(self, facts: Facts) -> None:
        for begin in self._begin:
            begin(facts)

    def _check(self, facts: Facts) -> None:
        """A name that no boot knows is a mistake; of several boots some may have no table, or one without it."""
        known = {name for boot in facts.boots for name in _ids_by_name(boot)}
        for name, _ in self._named:
            if name not in known:
                raise InputError(f"the session has no event and no class {name}")

    def _calls(self, boot: Boot) -> dict[int, Call]:
        """What to call for each event id."""
        ids = _ids_by_name(boot)
        found: dict[int, list[Call]] = {}
        for name, call in self._named:
            for event in ids.get(name, ()):
                found.setdefault(event, []).append(call)
        for first, last, call in self._ranges:
            for event in _ALL[first : last + 1]:
                found.setdefault(event, []).append(call)
        return {event: _in_turn(calls) for event, calls in found.items()}


def _in_turn(calls: list[Call]) -> Call:
    if len(calls) == 1:
        return calls[0]

    def call_each(event: Event) -> None:
        for call in calls:
            call(event)

    return call_each


def _ids_by_name(boot: Boot) -> dict[str, list[int]]:
    ids: dict[str, list[int]] = {LOSS_NAME: [LOSS_ID]}
    for entry in boot.table.events:
        ids.setdefault(entry.name, []).append(entry.id)
        ids.setdefault(entry.klass, []).append(entry.id)
    return ids


def _call_all(chunk: Chunk, calls: dict[int, Call]) -> None:
    """Call for the events that are wanted, in their order."""
    wanted = np.zeros(LOSS_ID + 1, bool)
    wanted[list(calls)] = True
    columns = chunk.columns.take(np.flatnonzero(wanted[chunk.columns.id]))
    for call, event in zip(map(calls.__getitem__, columns.id.tolist()), _events(chunk, columns), strict=True):
        call(event)


def _events(chunk: Chunk, columns: Columns) -> Iterator[Event]:
    """Some events of a chunk, one by one: made of columns when they are asked for, by iterators that run in C."""
    boot = chunk.boot
    since = columns.time - (boot.first_time or 0)
    times = ticks_to_ns(since, boot.clock_hz).tolist() if boot.clock_hz else repeat(-1)
    kind_of, kinds = _kinds(chunk, columns)
    names, fields, values = (
        [kind.name for kind in kinds],
        [kind.names for kind in kinds],
        [kind.values for kind in kinds],
    )
    parts = zip(
        columns.time.tolist(), times, repeat(boot), columns.stream.tolist(), columns.id.tolist(),
        map(names.__getitem__, kind_of), columns.arg.tolist(), map(fields.__getitem__, kind_of),
        map(next, map(values.__getitem__, kind_of)), strict=False,
    )  # fmt: skip
    # As Event._make does, which is a function in Python.
    return map(tuple.__new__, repeat(Event), parts)


class _Kind(NamedTuple):
    """What records of one event and one length have in common, and the values of their fields, in order."""

    name: str
    names: tuple[str, ...]
    values: Iterator[tuple[Value, ...]]


def _kinds(chunk: Chunk, columns: Columns) -> tuple[list[int], list[_Kind]]:
    """Kinds of records, and the place of each record's among them."""
    keys = columns.id.astype(np.uint32) << np.uint32(6) | columns.slots
    found = present(keys)
    place = np.zeros(_ALL.stop << 6, np.uint16)
    place[found] = np.arange(len(found))
    kind_of = place[keys]
    entries = {entry.id: entry for entry in chunk.boot.table.events}
    kinds = []
    for number, key in enumerate(found):
        event, slots = key >> 6, key & 63
        kinds.append(_kind(chunk, columns, entries.get(event), event, slots, np.flatnonzero(kind_of == number)))
    return kind_of.tolist(), kinds


def _kind(
    chunk: Chunk, columns: Columns, entry: Entry | None, event: int, slots: int, which: NDArray[np.intp]
) -> _Kind:  # fmt: skip
    if event == LOSS_ID:
        return _Kind(LOSS_NAME, ("records",), zip(chunk.losses["records"][columns.at[which]].tolist(), strict=True))
    if entry is None:
        return _Kind(f"EVENT_{event}", (), repeat((), len(which)))
    return _Kind(entry.name, *field_tuples(columns, entry, slots, which))
