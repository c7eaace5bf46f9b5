# SPDX-License-Identifier: Apache-2.0
"""Sessions as arrays, for numpy, pandas and Arrow: what ``vxmon.open`` gives. See vxmon/README.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Final, Self, overload

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.batches import present
from vxmon.trace.columns import Chunk
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.names import LOSS_ID, LOSS_NAME
from vxmon.trace.opening import open_trace
from vxmon.trace.ticks import ticks_to_ns
from vxmon.trace.trace import StoredTrace
from vxmon.trace.values import field_arrays
from vxmon.wire.types import Event, Field, FieldType

__all__ = ["Batch", "Events", "Recording", "open_recording"]

Array = NDArray[Any]
# By boot: its first tick, and how many a second.
Clocks = Mapping[int, tuple[int, int]]


@dataclass(frozen=True, eq=False)
class Events:
    """Events in order of (boot, time, CPU). All arrays have one element an event.

    Attributes:
        ticks: int64, the target's clock.
        boot: uint16, counts the target's boots in the session from 0.
        cpu: uint8, the stream.
        event: uint16, the event's id; LOSS_ID (1024) where records are missing.
        argument: uint16, the event's first argument.
        fields: the other fields by name, of events of one name; empty else.
        clocks: the first tick of each boot and the rate of its clock in ticks a second, 0 where that is not told.

    """

    ticks: NDArray[np.int64]
    boot: NDArray[np.uint16]
    cpu: NDArray[np.uint8]
    event: NDArray[np.uint16]
    argument: NDArray[np.uint16]
    fields: Mapping[str, Array]
    clocks: Clocks

    def __len__(self) -> int:
        return len(self.ticks)

    def __getitem__(self, name: str) -> Array:
        """A field, or one of the other columns, by its name; raises KeyError."""
        if name in self.fields and name not in _OWN:
            return self.fields[name]
        return self.columns()[name]

    @cached_property
    def time_ns(self) -> NDArray[np.int64]:
        """Since the first record of the boot; -1 where the session does not tell the clock's rate."""
        times = np.full(len(self), -1)
        for boot, (first, rate) in self.clocks.items():
            which = np.flatnonzero(self.boot == boot) if len(self.clocks) > 1 else slice(None)
            if rate:
                times[which] = ticks_to_ns(self.ticks[which] - first, rate)
        return times

    def columns(self) -> dict[str, Array]:
        """All columns by name: ``pandas.DataFrame(events.columns())``, ``pyarrow.table(events.columns())``.

        A field with the name of another column gets an underscore behind it.
        """
        own: dict[str, Array] = {name: getattr(self, name) for name in _OWN}
        return own | {f"{name}_" if name in own else name: values for name, values in self.fields.items()}

    @staticmethod
    def join(parts: list[Events]) -> Events:
        """The events of several parts, one after the other; a part without a field has zeros there."""
        names = {name: values.dtype for part in parts for name, values in part.fields.items()}

        def column(part: Events, name: str) -> Array:
            return part.fields[name] if name in part.fields else np.zeros(len(part), names[name])

        return Events(
            ticks=np.concatenate([part.ticks for part in parts]),
            boot=np.concatenate([part.boot for part in parts]),
            cpu=np.concatenate([part.cpu for part in parts]),
            event=np.concatenate([part.event for part in parts]),
            argument=np.concatenate([part.argument for part in parts]),
            fields={name: np.concatenate([column(part, name) for part in parts]) for name in names},
            clocks={boot: clock for part in parts for boot, clock in part.clocks.items()},
        )


_OWN: Final = ("ticks", "time_ns", "boot", "cpu", "event", "argument")


class _Kinds:
    """The events of a boot by id, and those of all boots by name, its own first."""

    def __init__(self, boot: Boot, boots: Iterable[Boot]) -> None:
        tables = (*(other.table for other in boots), boot.table)
        self._by_name = {event.name: event for table in tables for event in (*table.events, _LOSS)}
        self._by_id = {event.id: event for event in (*boot.table.events, _LOSS)}

    def name(self, number: int) -> str:
        """The name of an id; EVENT_<id> where the boot's table does not have it."""
        return self._by_id[number].name if number in self._by_id else f"{_UNNAMED}{number}"

    def find(self, name: str) -> tuple[Event, bool]:
        """The event of a name, and whether the boot can have it. Raises InputError: no boot can."""
        upper = name.upper()
        if upper in self._by_name:
            event = self._by_name[upper]
            return event, self._by_id.get(event.id) is event
        number = upper.removeprefix(_UNNAMED)
        if number == upper or not number.isdecimal() or int(number) >= LOSS_ID:
            raise InputError(f"no event of the session is called {upper}")
        unnamed = Event(int(number), upper, "", Field("argument", FieldType.U16))
        return unnamed, unnamed.id not in self._by_id


@dataclass(frozen=True, eq=False)
class Batch(Events):
    """Some ten thousand consecutive events of one boot; :meth:`of` gives those of one name, with their fields."""

    _chunk: Chunk
    _kinds: _Kinds

    @cached_property
    def names(self) -> list[str]:
        """Names of the events that are here, in order of their ids; EVENT_<id> where the session's table has none."""
        return [self._kinds.name(number) for number in present(self.event)]

    def of(self, name: str) -> Events:
        """The events of this name, with their fields; none when there are none here.

        Raises:
            InputError: no boot of the session has an event of this name.

        """
        event, here = self._kinds.find(name)
        which = np.flatnonzero(self.event == event.id) if here else np.zeros(0, np.intp)
        return Events(
            ticks=self.ticks[which],
            boot=self.boot[: len(which)],
            cpu=self.cpu[which],
            event=self.event[which],
            argument=self.argument[which],
            fields=_fields(self._chunk, event, which),
            clocks=self.clocks,
        )


# Where records are missing.
_LOSS: Final = Event(LOSS_ID, LOSS_NAME, "CONTROL", Field("none", FieldType.U16))
# What an event that no table names is called, before its id.
_UNNAMED: Final = "EVENT_"


class Recording:
    """One or more session files, read as one. Use it in a ``with`` statement, or close it."""

    def __init__(self, trace: StoredTrace) -> None:
        self._trace = trace

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        self._trace.close()

    @property
    def facts(self) -> Facts:
        """Boots with their tables and names, what was lost and why, what is wrong with the files."""
        return self._trace.facts

    @property
    def lost(self) -> int:
        """Records that the target recorded and that are not here."""
        return self._trace.facts.lost

    def event_names(self) -> dict[int, str]:
        """Names of the event ids of all boots."""
        tables = (boot.table for boot in self.facts.boots)
        return {event.id: event.name for table in tables for event in table.events} | {LOSS_ID: LOSS_NAME}

    def names(self, kind: str, boot: int = 0) -> dict[int, str]:
        """Names by index of a kind of argument or field, "partition", "task" or "object"."""
        return self.facts.boots[boot].names.named(kind)

    def events(self, name: str | None = None) -> Events:
        """All events, or those of one name with their fields; all at once, in memory (some 24 bytes an event).

        Raises:
            InputError: no boot of the session has an event of this name, or the session changed while it was read.

        """
        if name is None:
            return Events.join([Events(**_columns(chunk)) for chunk in self._trace.chunks()])
        return Events.join([batch.of(name) for batch in self.batches()])

    @overload
    def batches(self) -> Iterator[Batch]: ...
    @overload
    def batches(self, name: str) -> Iterator[Events]: ...
    def batches(self, name: str | None = None) -> Iterator[Events]:
        """The same in pieces of some ten thousand events, so that memory does not depend on the session's size.

        To look at events of several names, ask for all and take them from each batch: the session is read only once.

        Raises:
            InputError: see :meth:`events`.

        """
        kinds = {boot.number: _Kinds(boot, self.facts.boots) for boot in self.facts.boots}
        if name is not None and kinds:
            kinds[0].find(name)
        for chunk in self._trace.chunks():
            batch = Batch(**_columns(chunk), _chunk=chunk, _kinds=kinds[chunk.boot.number])
            found = batch if name is None else batch.of(name)
            if len(found):
                yield found


def _columns(chunk: Chunk) -> dict[str, Any]:
    """What all events of a chunk have in common."""
    columns, boot = chunk.columns, chunk.boot
    return {
        "ticks": columns.time, "boot": np.full(len(columns), boot.number, np.uint16), "cpu": columns.stream,
        "event": columns.id, "argument": columns.arg, "fields": {},
        "clocks": {boot.number: (boot.first_time or 0, boot.clock_hz)},
    }  # fmt: skip


def _fields(chunk: Chunk, event: Event, which: NDArray[np.intp]) -> dict[str, Array]:
    if event is _LOSS:
        return {"records": chunk.losses["records"][chunk.columns.at[which]]}
    return field_arrays(chunk.columns, event, which)


def open_recording(paths: Iterable[str | os.PathLike[str]]) -> Recording:
    """Open session files as one recording.

    Raises:
        InputError: a file cannot be opened, is no session, or is a pipe.

    """
    trace = open_trace([os.fspath(path) for path in paths])
    if not isinstance(trace, StoredTrace):
        trace.close()
        raise InputError("a recording is read more than once; save the pipe to a file first")
    return Recording(trace)
