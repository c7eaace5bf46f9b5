# SPDX-License-Identifier: Apache-2.0
"""Arguments of events as text: ``name:value`` by columns, with the names the session knows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.report.cells import (
    Cell,
    Part,
    chosen,
    decimal_cells,
    hexadecimal_parts,
    one_cell,
    signed_cells,
)
from vxmon.report.digits import hexadecimal_pairs, safe_text, text_bytes
from vxmon.report.texts import NUMBERS, Texts, TextsOfSeveral
from vxmon.trace import NO_TABLE, Columns, Names, recorded_fields
from vxmon.trace.columns import data_words, word_bytes, word_values
from vxmon.wire.slots import Place, place_fields
from vxmon.wire.types import Event, EventTable, Field, FieldType

__all__ = ["TIME_NAME", "ArgumentText", "Records", "Render", "Template", "class_names", "event_names", "names_by_index"]

# The event that 6.x shows in a form of its own.
TIME_NAME: Final = "TIME"

# What stands for a field that a record is too short for.
NOT_RECORDED: Final = b"not_recorded"

Rows = NDArray[np.intp]


class Records(NamedTuple):
    """What is shown of records of one event and length: arguments, and data words of shape (records, words)."""

    arg: NDArray[np.uint16]
    words: NDArray[np.uint32]
    big_endian: bool

    @classmethod
    def of(cls, columns: Columns, rows: Rows) -> Records:
        """Those of some rows of columns, of which there is at least one."""
        words = data_words(columns, int(columns.slots[rows[0]]), rows)
        return cls(columns.arg.take(rows), words, columns.big_endian)


# Parts of the lines of records.
Render = Callable[[Records], Sequence[Part]]
Template = list[bytes | Render]
_Values = Callable[[Records], NDArray[Any]]

_INDICES: Final = frozenset({"partition", "task", "window", "object", "schedule"})
_UNKNOWN: Final = Event(0, "", "UNKNOWN", Field("arg", FieldType.U16))


class _Named(NamedTuple):
    """A field whose values have names."""

    known: Mapping[int, bytes]
    values: _Values


_Field = bytes | Render | _Named


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
        self._known: dict[str, dict[int, bytes] | None] = {}

    def template(self, event_id: int, slots: int, before: bytes = b"") -> Template:
        """What to lay side by side for records of an event with so many data slots, behind a constant text."""
        return _gathered([before, *self._parts(event_id, slots)])

    def _parts(self, event_id: int, slots: int) -> Sequence[_Field]:
        event = self._events.get(event_id, _UNKNOWN)
        if self._classic and event.name == TIME_NAME and slots:
            return [_classic_time]
        parts = self._number(_label(event.arg), event.arg, lambda records: records.arg)
        if event is _UNKNOWN:
            parts.append(b" slots:%d" % slots)
        else:
            parts += self._fields(event, slots)
        if slots and (self._words or event is _UNKNOWN):
            parts += [b" words:", _words]
        return parts

    def _fields(self, event: Event, slots: int) -> list[_Field]:
        try:
            places = place_fields(event)
        except WireError:
            return [b" slots:%d" % slots]  # a table that breaks the rules; its names are no use
        recorded = recorded_fields(places, slots)
        parts: list[_Field] = []
        for number, place in enumerate(places):
            label = b" " + _label(place.field)
            parts += [label, NOT_RECORDED] if number >= recorded else self._field(label, place, places)
        return parts

    def _field(self, label: bytes, place: Place, places: tuple[Place, ...]) -> list[_Field]:
        if place.field.type == FieldType.TEXT:
            return [label + b'"', _text(place), b'"']
        if place.field.type == FieldType.BYTES:
            return [label, _bytes(place, places)]
        return self._number(label, place.field, _values(place))

    def _number(self, label: bytes, field: Field, values: _Values) -> list[_Field]:
        """A label, and how the numbers of a field are shown."""
        if field.kind == "ticks" or field.type == FieldType.X32:
            return [label + b"0x", lambda records: hexadecimal_parts(values(records))]
        if field.type == FieldType.X64:
            return [label + b"0x", lambda records: hexadecimal_parts(values(records), 16)]
        if field.type == FieldType.I32:
            return [label, lambda records: signed_cells(values(records))]
        known = self._names_of(field.kind)
        if known is None:
            return [label, lambda records: decimal_cells(values(records))]
        return [label, _Named(known, values)]

    def _names_of(self, kind: str) -> dict[int, bytes] | None:
        """Names of values of a kind; None for plain numbers."""
        if kind not in self._known:
            self._known[kind] = self._look_up(kind)
        return self._known[kind]

    def _look_up(self, kind: str) -> dict[int, bytes] | None:
        if kind in _INDICES:
            return names_by_index(self._names.named(kind))
        if kind == "event":
            return _safe(self._event_names)
        values = self._enums.get(kind.removeprefix("enum:"))
        return None if values is None else _safe(values)


def names_by_index(names: Mapping[int, str]) -> dict[int, bytes]:
    """What to print for indices that have names; 65535 is ``none``."""
    return _safe(names) | {NUMBERS - 1: b"none"}


def _safe(names: Mapping[int, str]) -> dict[int, bytes]:
    return {number: safe_text(name) for number, name in names.items()}


def _label(field: Field) -> bytes:
    return safe_text(field.name) + b":"


def _gathered(parts: Iterable[_Field]) -> Template:
    """Constants that are side by side as one, and names with what is between them as one."""
    template: Template = []
    named: list[tuple[bytes, _Named]] = []
    constant = b""
    for part in parts:
        if isinstance(part, bytes):
            constant += part
        elif isinstance(part, _Named):
            named.append((constant, part))
            constant = b""
        else:
            template += [*_names(named), constant, part]
            named, constant = [], b""
    return [part for part in (*template, *_names(named), constant) if part]


def _names(named: list[tuple[bytes, _Named]]) -> Template:
    """Names by value, each behind a constant; what has no name is a number."""
    if not named:
        return []
    texts = TextsOfSeveral([_text_of(before, field.known) for before, field in named])

    def render(records: Records) -> list[Cell]:
        found = [field.values(records) for _, field in named]
        if all(not len(some) or some.dtype.itemsize <= 2 or int(some.max()) < NUMBERS for some in found):
            return texts.cells(found)
        return [_with_large(*one) for one in zip(texts.alone, named, found, strict=True)]

    return [render]


def _text_of(before: bytes, known: Mapping[int, bytes]) -> Callable[[int], bytes]:
    return lambda value: before + known.get(value, b"%d" % value)


def _with_large(texts: Texts, named: tuple[bytes, _Named], values: NDArray[Any]) -> Cell:
    """The same with numbers that are too large for a name."""
    large = values >= NUMBERS
    numbers = one_cell(len(values), [named[0], *decimal_cells(values)])
    return chosen(large, numbers, texts.cell(np.where(large, 0, values)))


def _values(place: Place) -> _Values:
    return lambda records: word_values(records.words, place, big_endian=records.big_endian)


def _classic_time(records: Records) -> list[Part]:
    time = _values(Place(Field("time", FieldType.U64), 0))(records)
    low = (time & np.uint64(0xFFFFFFFF)).astype(np.uint32)
    return [b"msb:0x", *hexadecimal_parts(time >> np.uint64(32)), b" lsb(offset):0x", *hexadecimal_parts(low)]


def _text(place: Place) -> Render:
    """Text up to its first NUL."""

    def render(records: Records) -> list[Cell]:
        data = text_bytes(word_bytes(records.words[:, place.word :], big_endian=records.big_endian))
        return [Cell(data.view(f"V{data.shape[1]}")[:, 0], np.count_nonzero(data, axis=1))]

    return render


def _bytes(place: Place, places: tuple[Place, ...]) -> Render:
    """Bytes as pairs of digits, as many as the length field says."""
    length = next((p for p in places if p.field.name == place.field.length), None)

    def render(records: Records) -> list[Cell]:
        data = word_bytes(records.words[:, place.word :], big_endian=records.big_endian)
        pairs = hexadecimal_pairs().take(data)
        cell = Cell(pairs.view(f"V{2 * data.shape[1]}")[:, 0], 2 * data.shape[1])
        if length is None:
            return [cell]
        valid = np.minimum(word_values(records.words, length, big_endian=records.big_endian), data.shape[1])
        return [Cell(cell.items, 2 * valid.astype(np.int64))]

    return render


def _words(records: Records) -> list[Part]:
    parts: list[Part] = []
    for word in range(records.words.shape[1]):
        parts += [b",0x" if word else b"0x", *hexadecimal_parts(records.words[:, word])]
    return parts
