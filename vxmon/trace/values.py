# SPDX-License-Identifier: Apache-2.0
"""Fields of the records of one event as Python values and as arrays, by name."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import repeat
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.trace.batches import present
from vxmon.trace.columns import Columns, byte_field, field_values, recorded_fields
from vxmon.wire.slots import Place, Value, place_fields
from vxmon.wire.types import Event, FieldType

__all__ = ["field_arrays", "field_tuples", "known_places"]

_VARIABLE: Final = frozenset({FieldType.TEXT, FieldType.BYTES})


def known_places(event: Event) -> tuple[Place, ...]:
    """Where the fields of an event lie; none when its table entry breaks a rule, as a damaged table's may."""
    try:
        return place_fields(event)
    except WireError:
        return ()


def field_arrays(columns: Columns, event: Event, which: NDArray[np.intp]) -> dict[str, NDArray[Any]]:
    """Fields of records of an event as arrays with an element a record.

    Numbers come as uint32, int32 or uint64, text and bytes as objects (str, bytes). A record that is too short for a
    field has 0, "" or b"" there.
    """
    places = known_places(event)
    lengths = columns.slots[which]
    found = present(lengths)
    if len(found) == 1 and recorded_fields(places, found[0]) == len(places):
        return _fields(columns, places, found[0], which)
    arrays = {place.field.name: _empty(place, len(which)) for place in places}
    for slots in found:
        rows = np.flatnonzero(lengths == slots)
        for name, values in _fields(columns, places, slots, which[rows]).items():
            arrays[name][rows] = values
    return arrays


def field_tuples(
    columns: Columns, event: Event, slots: int, which: NDArray[np.intp]
) -> tuple[tuple[str, ...], Iterator[tuple[Value, ...]]]:
    """Fields of records of an event, all with so many data slots: names, and a tuple of values a record.

    Fields for which the records are too short are left out.
    """
    fields = _fields(columns, known_places(event), slots, which)
    values: Iterator[tuple[Value, ...]] = zip(*(array.tolist() for array in fields.values()), strict=True)
    return tuple(fields), values if fields else repeat((), len(which))


def _empty(place: Place, count: int) -> NDArray[Any]:
    if place.field.type in _VARIABLE:
        return np.full(count, "" if place.field.type == FieldType.TEXT else b"", object)
    wide = place.field.type in (FieldType.U64, FieldType.X64)
    return np.zeros(count, np.int32 if place.field.type == FieldType.I32 else np.uint64 if wide else np.uint32)


def _fields(
    columns: Columns, places: tuple[Place, ...], slots: int, which: NDArray[np.intp]
) -> dict[str, NDArray[Any]]:
    fields: dict[str, NDArray[Any]] = {}
    for place in places[: recorded_fields(places, slots)]:
        if place.field.type in _VARIABLE:
            fields[place.field.name] = _variable(columns, place, slots, which, fields)
        else:
            fields[place.field.name] = field_values(columns, place, which)
    return fields


def _variable(
    columns: Columns, place: Place, slots: int, which: NDArray[np.intp], before: dict[str, NDArray[Any]]
) -> NDArray[Any]:
    """Text up to its first NUL, or as many bytes as the length field before says."""
    data = [row.tobytes() for row in byte_field(columns, place.word, slots, which)]
    values = np.empty(len(data), object)
    if place.field.type == FieldType.TEXT:
        values[:] = [row.split(b"\0", 1)[0].decode("utf-8", "replace") for row in data]
    elif place.field.length in before:
        values[:] = [row[:size] for row, size in zip(data, before[place.field.length].tolist(), strict=True)]
    else:
        values[:] = b""
    return values
