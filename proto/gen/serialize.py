# SPDX-License-Identifier: Apache-2.0
"""The event table of a release in the form in which the target sends it (message EventTable)."""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from proto.gen.model import FIELD_TYPES, Arg, Event, EventTable, Field

__all__ = ["ReleaseTable", "bitmap", "release_table", "used_enums"]


@dataclass(frozen=True, slots=True)
class ReleaseTable:
    """Serialized table of an OS release and its fingerprint, the CRC-32 (as zlib) of the bytes."""

    release: str
    data: bytes
    fingerprint: int
    offered: tuple[int, ...]
    partition: tuple[int, ...]


def release_table(table: EventTable, release: str) -> ReleaseTable:
    """Serialize the events of one release.

    Written by hand from the field numbers in vxmon.proto, in order of number and without default
    values, so that the bytes (and the fingerprint) do not depend on a protobuf version.
    """
    events = table.of_release(release)
    data = b"".join(
        [
            _text(1, release),
            _number(2, table.format),
            *(_bytes(3, _event(event)) for event in events),
            *(_bytes(4, _enum(name, table.enums[name])) for name in used_enums(table, events)),
        ]
    )
    partition = (event.id for event in events if event.partition_origin)
    return ReleaseTable(release, data, zlib.crc32(data), bitmap(event.id for event in events), bitmap(partition))


def used_enums(table: EventTable, events: Iterable[Event]) -> list[str]:
    """Names of the enumerations that the events use, in the order of the file."""
    kinds = {kind for event in events for kind in (event.arg.kind, *(field.kind for field in event.fields))}
    return [name for name in table.enums if f"enum:{name}" in kinds]


def bitmap(ids: Iterable[int]) -> tuple[int, ...]:
    """32 words of 32 bits; event e is bit e % 32 of word e / 32."""
    words = [0] * 32
    for number in ids:
        words[number // 32] |= 1 << number % 32
    return tuple(words)


def _event(event: Event) -> bytes:
    return b"".join(
        [
            _number(1, event.id),
            _text(2, event.name),
            _text(3, event.klass),
            _bytes(4, _field(event.arg)),
            *(_bytes(5, _field(field)) for field in event.fields),
            _number(6, int(event.combine)),
            _number(7, int(event.partition_origin)),
        ]
    )


def _field(field: Field | Arg) -> bytes:
    if isinstance(field, Arg):
        return _text(1, field.name) + _text(3, field.kind)
    type_ = _number(2, FIELD_TYPES[field.type])
    return _text(1, field.name) + type_ + _text(3, field.kind) + _text(4, field.unit) + _text(5, field.length)


def _enum(name: str, values: dict[int, str]) -> bytes:
    entries = (_bytes(2, _number(1, value) + _text(2, text)) for value, text in values.items())
    return _text(1, name) + b"".join(entries)


def _varint(value: int) -> Iterator[int]:
    while value > 0x7F:
        yield value & 0x7F | 0x80
        value >>= 7
    yield value


def _number(field: int, value: int) -> bytes:
    return bytes([*_varint(field << 3), *_varint(value)]) if value else b""


def _bytes(field: int, value: bytes) -> bytes:
    return bytes([*_varint(field << 3 | 2), *_varint(len(value))]) + value


def _text(field: int, value: str) -> bytes:
    return _bytes(field, value.encode()) if value else b""
