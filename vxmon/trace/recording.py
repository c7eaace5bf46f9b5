# SPDX-License-Identifier: Apache-2.0
"""Sessions as arrays, for numpy, pandas and Arrow: what ``vxmon.open`` gives. See vxmon/README.md."""

from __future__ import annotations

import os
from collections.abc import Iterable, Iterator
from dataclasses import field, replace
from typing import Any, Final, Self

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.columns import Chunk
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.names import LOSS_ID, LOSS_NAME
from vxmon.trace.opening import open_trace
from vxmon.trace.ticks import ticks_to_ns
from vxmon.trace.trace import StoredTrace
from vxmon.trace.values import field_arrays
from vxmon.valueclass import dataclass
from vxmon.wire.types import Event, Field, FieldType

__all__ = ["Events", "Recording", "open_recording"]


@dataclass(frozen=True, slots=True)
class Events:
    """Events in order of (boot, time, CPU). All arrays have one element an event.

    Attributes:
        ticks: int64, the target's clock.
        time_ns: int64, since the first record of the boot; -1 where the session does not tell the clock's rate.
        boot: uint16, counts the target's boots in the session from 0.
        cpu: uint8, the stream.
        event: uint16, the event's id; LOSS_ID (1024) where records are missing.
        argument: uint16, the event's first argument.
        fields: the other fields by name, when events of one name were asked for; empty else.

    """

    ticks: NDArray[np.int64]
    time_ns: NDArray[np.int64]
    boot: NDArray[np.uint16]
    cpu: NDArray[np.uint8]
    event: NDArray[np.uint16]
    argument: NDArray[np.uint16]
    fields: dict[str, NDArray[Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ticks)

    def __getitem__(self, name: str) -> NDArray[Any]:
        """A field, or one of the other columns, by its name; raises KeyError."""
        return self.columns()[name]

    def columns(self) -> dict[str, NDArray[Any]]:
        """All columns by name: ``pandas.DataFrame(events.columns())``, ``pyarrow.table(events.columns())``.

        A field with the name of another column gets an underscore behind it.
        """
        own: dict[str, NDArray[Any]] = {
            "ticks": self.ticks, "time_ns": self.time_ns, "boot": self.boot, "cpu": self.cpu, "event": self.event,
            "argument": self.argument,
        }  # fmt: skip
        return own | {f"{name}_" if name in own else name: values for name, values in self.fields.items()}

    @staticmethod
    def join(parts: list[Events]) -> Events:
        """The events of several parts, one after the other; a part without a field has zeros there."""
        if not parts:
            return _NOTHING
        names = {name: values.dtype for part in parts for name, values in part.fields.items()}

        def column(part: Events, name: str) -> NDArray[Any]:
            return part.fields[name] if name in part.fields else np.zeros(len(part), names[name])

        return Events(
            ticks=np.concatenate([part.ticks for part in parts]),
            time_ns=np.concatenate([part.time_ns for part in parts]),
            boot=np.concatenate([part.boot for part in parts]),
            cpu=np.concatenate([part.cpu for part in parts]),
            event=np.concatenate([part.event for part in parts]),
            argument=np.concatenate([part.argument for part in parts]),
            fields={name: np.concatenate([column(part, name) for part in parts]) for name in names},
        )


_NOTHING: Final = Events(
    np.zeros(0, np.int64), np.zeros(0, np.int64), np.zeros(0, np.uint16), np.zeros(0, np.uint8),
    np.zeros(0, np.uint16), np.zeros(0, np.uint16),
)  # fmt: skip

# Where records are missing; it has no fields.
_LOSS: Final = Event(LOSS_ID, LOSS_NAME, "CONTROL", Field("none", FieldType.U16))


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
        return Events.join(list(self.batches(name)))

    def batches(self, name: str | None = None) -> Iterator[Events]:
        """The same in pieces of some ten thousand events, so that memory does not depend on the session's size.

        Raises:
            InputError: see :meth:`events`.

        """
        if name is None:
            yield from (_everything(chunk) for chunk in self._trace.chunks())
            return
        wanted = self._look_up(name.upper())
        for chunk in self._trace.chunks():
            event = wanted.get(chunk.boot.number)
            which = np.flatnonzero(chunk.columns.id == event.id) if event is not None else np.zeros(0, np.intp)
            if event is not None and len(which):
                fields = field_arrays(chunk.columns, event, which)
                yield replace(_everything(replace(chunk, columns=chunk.columns.take(which))), fields=fields)

    def _look_up(self, name: str) -> dict[int, Event]:
        """The event of this name of each boot that has it."""
        boots = self.facts.boots
        found = {boot.number: event for boot in boots for event in boot.table.events if event.name == name}
        if name == LOSS_NAME:
            return {boot.number: _LOSS for boot in boots}
        if not found:
            raise InputError(f"no event of the session is called {name}")
        return found


def _everything(chunk: Chunk) -> Events:
    """All events of a chunk, without fields."""
    columns = chunk.columns
    return Events(
        ticks=columns.time,
        time_ns=_since_start(chunk.boot, columns.time),
        boot=np.full(len(columns), chunk.boot.number, np.uint16),
        cpu=columns.stream,
        event=columns.id,
        argument=columns.arg,
    )


def _since_start(boot: Boot, ticks: NDArray[np.int64]) -> NDArray[np.int64]:
    if not boot.clock_hz:
        return np.full(len(ticks), -1)
    return ticks_to_ns(ticks - (boot.first_time or 0), boot.clock_hz)


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
