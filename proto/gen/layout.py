# SPDX-License-Identifier: Apache-2.0
"""Where the fields of an event lie in its data slots (SPEC section 2)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from proto.gen.model import MAX_DATA_SLOTS, VARIABLE_TYPES, Event, Field, GenError

__all__ = ["Layout", "Placed", "lay_out"]

_MAX_WORDS = 2 * MAX_DATA_SLOTS


@dataclass(frozen=True, slots=True)
class Placed:
    """A field and the index of its first 32-bit word; ``upper`` tells which half of it a u16 has."""

    field: Field
    word: int
    upper: bool = False


@dataclass(frozen=True, slots=True)
class Layout:
    """Fields at their places. ``words`` counts those before a text or bytes field."""

    placed: tuple[Placed, ...]
    words: int

    @property
    def variable(self) -> Placed | None:
        """The text or bytes field, if there is one."""
        last = self.placed[-1] if self.placed else None
        return last if last is not None and last.field.type in VARIABLE_TYPES else None

    @property
    def slots(self) -> int:
        """Data slots of the fixed fields."""
        return (self.words + 1) // 2

    @property
    def variable_bytes(self) -> int:
        """The most bytes that a text or bytes field can have."""
        return 4 * (_MAX_WORDS - self.words)


def lay_out(event: Event) -> Layout:
    """Place the fields of an event.

    Raises:
        GenError: the fields break a packing rule; names the event and the field.

    """
    try:
        return _lay_out(event.fields)
    except GenError as error:
        raise GenError(f"event {event.name}: {error}") from error


def _lay_out(fields: Iterable[Field]) -> Layout:
    placed: list[Placed] = []
    word = 0
    half: Field | None = None
    for field in fields:
        if placed and placed[-1].field.type in VARIABLE_TYPES:
            raise GenError(f"field {placed[-1].field.name}: a {placed[-1].field.type} field must be the last")
        if half is not None and field.type != "u16":
            raise GenError(f"field {half.name}: u16 fields come in pairs, {field.name} is {field.type}")
        if field.type in {"u64", "x64"} and word % 2:
            raise GenError(f"field {field.name}: a {field.type} must start on a slot boundary")
        placed.append(Placed(field, word, upper=field.type == "u16" and half is None))
        half = field if field.type == "u16" and half is None else None
        word += 0 if half else _words(field)
        if word > _MAX_WORDS:
            raise GenError(f"field {field.name}: more than {MAX_DATA_SLOTS} data slots")
    if half is not None:
        raise GenError(f"field {half.name}: u16 fields come in pairs, it is alone")
    if placed and placed[-1].field.type in VARIABLE_TYPES and word >= _MAX_WORDS:
        raise GenError(f"field {placed[-1].field.name}: no room is left for it")
    return Layout(tuple(placed), word)


def _words(field: Field) -> int:
    """Words that a field adds; the second u16 of a pair adds the word of both."""
    if field.type in VARIABLE_TYPES:
        return 0
    return 2 if field.type in {"u64", "x64"} else 1
