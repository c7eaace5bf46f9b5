# SPDX-License-Identifier: Apache-2.0
"""Records and their slots: where fields lie, packing and unpacking (SPEC section 2)."""

from __future__ import annotations

import struct
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.wire.types import Event, Field, FieldType

__all__ = [
    "MAX_DATA_SLOTS",
    "MAX_EVENT_ID",
    "SLOT_BYTES",
    "Place",
    "decode_record",
    "encode_record",
    "place_fields",
    "slot_words",
]

SLOT_BYTES: Final = 8
MAX_DATA_SLOTS: Final = 8
MAX_EVENT_ID: Final = 1023

_MAX_WORDS: Final = 2 * MAX_DATA_SLOTS
_WIDE: Final = frozenset({FieldType.U64, FieldType.X64})
_VARIABLE: Final = frozenset({FieldType.TEXT, FieldType.BYTES})

Value = int | str | bytes


@dataclass(frozen=True, slots=True)
class Place:
    """Where a field lies: ``word`` counts 32-bit words from the first data slot, ``shift`` is that of a u16 in it."""

    field: Field
    word: int
    shift: int = 0

    @property
    def end_word(self) -> int:
        """First word behind the field; a record with fewer data words does not have it.

        Of text and bytes: one more than the first word, as the rest may be as short as that.
        """
        return self.word + (2 if self.field.type in _WIDE else 1)


def place_fields(event: Event) -> tuple[Place, ...]:
    """Where the fields of an event lie.

    Raises:
        WireError: kind "payload", the table breaks a packing rule.

    """
    places: list[Place] = []
    word = 0
    half = False
    for field in event.fields:
        _check_place(event, field, places, word, half)
        if field.type == FieldType.U16:
            places.append(Place(field, word, 0 if half else 16))
            word += 1 if half else 0
            half = not half
        else:
            places.append(Place(field, word))
            word += 2 if field.type in _WIDE else 1
    if half or word > _MAX_WORDS:
        raise _broken(event, "a u16 is alone" if half else "too many data slots")
    return tuple(places)


def _check_place(event: Event, field: Field, places: list[Place], word: int, half: bool) -> None:
    if half and field.type != FieldType.U16:
        raise _broken(event, f"{field.name} parts a pair of u16")
    if field.type in _WIDE and word % 2:
        raise _broken(event, f"{field.name} does not start on a slot boundary")
    if places and places[-1].field.type in _VARIABLE:
        raise _broken(event, f"{places[-1].field.name} is not the last field")


def _broken(event: Event, why: str) -> WireError:
    return WireError("payload", f"event table: {event.name}: {why}")


def slot_words(slots: bytes | memoryview, big_endian: bool) -> NDArray[np.uint32]:
    """View slots as 32-bit words; read-only, a copy only where the byte order is not this machine's."""
    return np.frombuffer(slots, dtype=">u4" if big_endian else "<u4").astype(np.uint32, copy=False)


def encode_record(event: Event, arg: int, time: int, values: Mapping[str, Value], big_endian: bool) -> bytes:
    """Pack one record as the target's record functions do. ``time`` is in ticks; its low 32 bits are stored.

    For tests and synthetic sessions. ``values`` must hold every field of the event; the field that
    gives the length of ``bytes`` is stored as given.

    Raises:
        WireError: a value is missing or does not fit its field, or the record needs more than 8 data slots.

    """
    words, tail = [0] * _MAX_WORDS, b""
    used = 0
    for place in place_fields(event):
        value = values.get(place.field.name)
        if place.field.type in _VARIABLE:
            tail = _tail(event, place, value)
        else:
            _store(words, event, place, value, big_endian)
            used = place.end_word
    data = _pack(words[:used], big_endian) + tail
    slots = -(-len(data) // SLOT_BYTES) or int(bool(tail or used))
    if slots > MAX_DATA_SLOTS or not 0 <= arg <= 0xFFFF:
        raise WireError("payload", f"{event.name}: {slots} data slots, argument {arg}")
    head = _pack([event.id << 22 | slots << 16 | arg, time & 0xFFFFFFFF], big_endian)
    return head + data.ljust(slots * SLOT_BYTES, b"\0")


def _tail(event: Event, place: Place, value: Value | None) -> bytes:
    if value is None or isinstance(value, int):
        raise WireError("payload", f"{event.name}: {place.field.name} is {value!r}, not text or bytes")
    data = value.encode() if isinstance(value, str) else value
    # An empty text still takes a slot: without one it would be "not recorded".
    return data or b"\0"


def _store(words: list[int], event: Event, place: Place, value: Value | None, big_endian: bool) -> None:
    kind = place.field.type
    bits = 16 if kind == FieldType.U16 else 64 if kind in _WIDE else 32
    low = -(1 << 31) if kind == FieldType.I32 else 0
    if not isinstance(value, int) or not low <= value < (1 << (31 if low else bits)):
        raise WireError("payload", f"{event.name}: {place.field.name} is {value!r}, not a number of {bits} bits")
    if kind in _WIDE:
        pair = [value >> 32, value & 0xFFFFFFFF]
        words[place.word : place.word + 2] = pair if big_endian else pair[::-1]
    else:
        words[place.word] |= (value & 0xFFFFFFFF) << place.shift


def _pack(words: list[int], big_endian: bool) -> bytes:
    return struct.pack(f"{'>' if big_endian else '<'}{len(words)}I", *words)


def decode_record(event: Event, record: bytes, big_endian: bool) -> dict[str, Value]:
    """Unpack the fields of one record (header slot first); fields it is too short for are left out.

    For single records only; columns of many records are made by vxmon.trace.

    Raises:
        WireError: the record is not whole slots, or its table entry breaks a packing rule.

    """
    if len(record) < SLOT_BYTES or len(record) % SLOT_BYTES:
        raise WireError("payload", f"a record of {len(record)} bytes")
    words = struct.unpack(f"{'>' if big_endian else '<'}{len(record) // 4}I", record)[2:]
    values: dict[str, Value] = {}
    for place in place_fields(event):
        if place.end_word > len(words):
            break
        if place.field.type in _VARIABLE:
            values[place.field.name] = _variable(place, record[SLOT_BYTES + 4 * place.word :], values)
        else:
            values[place.field.name] = _number(place, words, big_endian)
    return values


def _number(place: Place, words: tuple[int, ...], big_endian: bool) -> int:
    word = words[place.word]
    kind = place.field.type
    if kind == FieldType.U16:
        return word >> place.shift & 0xFFFF
    if kind == FieldType.I32:
        return word - (word >> 31 << 32)
    if kind in _WIDE:
        other = words[place.word + 1]
        return word << 32 | other if big_endian else other << 32 | word
    return word


def _variable(place: Place, rest: bytes, values: Mapping[str, Value]) -> Value:
    if place.field.type == FieldType.TEXT:
        return rest.split(b"\0", 1)[0].decode("utf-8", "replace")
    length = values.get(place.field.length, 0)
    return rest[:length] if isinstance(length, int) else b""
