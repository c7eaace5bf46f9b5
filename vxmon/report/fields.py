# SPDX-License-Identifier: Apache-2.0
"""Arguments of events as text: ``name:value`` by columns, with the names the session knows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.report.digits import (
    Piece,
    decimal,
    hexadecimal,
    hexadecimal_bytes,
    name_table,
    safe_text,
    text_bytes,
)
from vxmon.trace import NO_TABLE, Columns, Names, byte_field, field_values, recorded_fields
from vxmon.wire.slots import Place, place_fields
from vxmon.wire.types import Event, EventTable, Field, FieldType

__all__ = ["TIME_NAME", "ArgumentText", "Render", "class_names", "event_names"]

# The event that 6.x shows in a form of its own.
TIME_NAME: Final = "TIME"

# What stands for a field that a record is too short for.
NOT_RECORDED: Final = b"not_recorded"

Rows = NDArray[np.intp]
# Pieces for the records of some rows of columns.
Render = Callable[[Columns, Rows], list[Piece]]
_Values = Callable[[NDArray[Any]], list[Piece]]

_INDICES: Final = frozenset({"partition", "task", "window", "object", "schedule"})
_UNKNOWN: Final = Event(0, "", "UNKNOWN", Field("arg", FieldType.U16))


def event_names(table: EventTable) -> dict[int, str]:
    """Names by id."""
    return {event.id: event.name for event in table.events}


def class_names(table: EventTable) -> dict[int, str]:
    """Classes by id."""
    return {event.id: event.klass for event in table.events}


class ArgumentText:
    """Makes the arguments of one boot's events.

    Args:
        table: the events, as the session tells them; an event that is not in it is shown by number.
        names: of partitions, tasks and objects.
        words: show the data words in hexadecimal too.
        classic: the TIME event in its 6.x form.

    """

    def __init__(
        self, table: EventTable = NO_TABLE, names: Names | None = None, *, words: bool = False, classic: bool = False
    ) -> None:  # fmt: skip
        self._events = {event.id: event for event in table.events}
        self._enums = {enum.name: enum.values for enum in table.enums}
        self._names = names or Names()
        self._event_names = event_names(table)
        self._words = words
        self._classic = classic
        self._tables: dict[str, NDArray[np.void]] = {}

    def template(self, event_id: int, slots: int) -> list[bytes | Render]:
        """What to lay side by side for records of an event with so many data slots."""
        event = self._events.get(event_id, _UNKNOWN)
        if self._classic and event.name == TIME_NAME and slots:
            return [_classic_time]
        parts: list[bytes | Render] = [_label(event.arg), self._argument(event.arg)]
        if event is _UNKNOWN:
            parts.append(b" slots:%d" % slots)
        else:
            parts += self._fields(event, slots)
        if slots and (self._words or event is _UNKNOWN):
            parts += [b" words:", _words(slots)]
        return parts

    def _fields(self, event: Event, slots: int) -> list[bytes | Render]:
        try:
            places = place_fields(event)
        except WireError:
            return [b" slots:%d" % slots]  # a table that breaks the rules; its names are no use
        recorded = recorded_fields(places, slots)
        parts: list[bytes | Render] = []
        for number, place in enumerate(places):
            parts.append(b" " + _label(place.field))
            parts += [NOT_RECORDED] if number >= recorded else self._field(place, places, slots)
        return parts

    def _argument(self, field: Field) -> Render:
        values = self._values(field)
        return lambda columns, rows: values(columns.arg[rows])

    def _field(self, place: Place, places: tuple[Place, ...], slots: int) -> list[bytes | Render]:
        if place.field.type == FieldType.TEXT:
            return [b'"', lambda columns, rows: [text_bytes(byte_field(columns, place.word, slots, rows))], b'"']
        if place.field.type == FieldType.BYTES:
            return [_bytes(place, places, slots)]
        values = self._values(place.field)
        return [lambda columns, rows: values(field_values(columns, place, rows))]

    def _values(self, field: Field) -> _Values:
        """How the numbers of a field are shown."""
        if field.kind == "ticks" or field.type == FieldType.X32:
            return lambda values: [b"0x", *hexadecimal(values)]
        if field.type == FieldType.X64:
            return lambda values: [b"0x", *hexadecimal(values, 16)]
        if field.type == FieldType.I32:
            return _signed
        table = self._table(field.kind)
        return decimal if table is None else lambda values: _named(values, table)

    def _table(self, kind: str) -> NDArray[np.void] | None:
        """Texts of all values of a kind; None for plain numbers."""
        if kind not in self._tables:
            if kind in _INDICES:
                self._tables[kind] = name_table(self._names.named(kind), b"none")
            elif kind == "event":
                self._tables[kind] = name_table(self._event_names, None)
            elif kind.removeprefix("enum:") in self._enums:
                self._tables[kind] = name_table(self._enums[kind.removeprefix("enum:")], None)
        return self._tables.get(kind)


def _label(field: Field) -> bytes:
    return safe_text(field.name) + b":"


def _named(values: NDArray[Any], table: NDArray[np.void]) -> list[Piece]:
    """Names by value; what is too large for the table is a number."""
    last = len(table) - 1
    if values.dtype.itemsize <= 2 or not (values >= last).any():
        return [table.take(values)]
    return [table.take(np.minimum(values, last).astype(np.int64)), *decimal(values, values >= last)]


def _signed(values: NDArray[Any]) -> list[Piece]:
    negative = values < 0
    sign = np.where(negative, ord("-"), 0).astype(np.uint8)
    return [sign, *decimal(np.abs(values.astype(np.int64)).astype(np.uint32))]


def _classic_time(columns: Columns, rows: Rows) -> list[Piece]:
    time = field_values(columns, Place(Field("time", FieldType.U64), 0), rows)
    low = (time & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return [b"msb:0x", *hexadecimal(time >> np.uint64(32)), b" lsb(offset):0x", *hexadecimal(low)]


def _bytes(place: Place, places: tuple[Place, ...], slots: int) -> Render:
    length = next((p for p in places if p.field.name == place.field.length), None)

    def render(columns: Columns, rows: Rows) -> list[Piece]:
        data = byte_field(columns, place.word, slots, rows)
        valid = np.full(len(rows), data.shape[1]) if length is None else field_values(columns, length, rows)
        return [hexadecimal_bytes(data, valid)]

    return render


def _words(slots: int) -> Render:
    def render(columns: Columns, rows: Rows) -> list[Piece]:
        pieces: list[Piece] = []
        for word in range(2 * slots):
            pieces += [b",0x" if word else b"0x", *hexadecimal(columns.words[columns.at[rows] + word])]
        return pieces

    return render
