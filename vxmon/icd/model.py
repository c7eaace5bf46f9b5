# SPDX-License-Identifier: Apache-2.0
"""A message as its interface control document describes it.

Positions are bits from the start of the payload, counted in the way of the field's byte order:

* big: bit 0 is the most significant bit of byte 0, and a field goes on to less significant bits;
* little: bit 0 is the least significant bit of byte 0, and a field goes on to more significant bits.

Bit n is in byte n // 8 either way, so a field of whole bytes has one position in both, and only its bytes change
places. This is how DWARF counts DW_AT_data_bit_offset for each byte order.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Literal

from vxmon.config.place import Place
from vxmon.icd.conditions import Condition

__all__ = [
    "MAX_FIELDS",
    "MAX_SIZE",
    "Binding",
    "Display",
    "Field",
    "FieldType",
    "Kind429",
    "Message",
    "Order",
    "Word429",
]

MAX_SIZE = 65_536
"""Largest message in bytes."""
MAX_FIELDS = 4096
"""Most fields of one message, elements of arrays counted."""

Order = Literal["big", "little"]
Display = Literal["decimal", "hex", "octal"]
Kind429 = Literal["bnr", "bcd", "discrete"]


class FieldType(StrEnum):
    """What the bits of a field are."""

    UNSIGNED = "unsigned"
    SIGNED = "signed"
    """Two's complement."""
    BCD = "bcd"
    """Decimal digits of 4 bits; the first may have fewer."""
    BOOL = "bool"
    ENUM = "enum"
    FLOAT16 = "float16"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    TEXT = "text"
    """Characters up to a zero byte or the end."""
    BYTES = "bytes"
    PADDING = "padding"
    """Bits that mean nothing; never shown."""


@dataclass(frozen=True, slots=True)
class Word429:
    """The ARINC 429 word that a field lies in; ``position`` is that of its 32 bits.

    Attributes:
        kind: which meaning the sign/status matrix has (ARINC 429 P1, 2.1.5).
        label: the label that must be there, as its octal digits say; None if any will do.
        reversed: bit 1 of the word is the label's most significant bit, as on the wire.
        parity: bit 32 makes the number of ones odd; else it is not looked at.

    """

    name: str
    position: int
    order: Order
    kind: Kind429
    label: int | None = None
    reversed: bool = True
    parity: bool = True


@dataclass(frozen=True, slots=True)
class Field:
    """One value of a message: value = number * scale + offset.

    Attributes:
        position, length: in bits, see above.
        values: names of numbers.
        minimum, maximum: of the scaled value, both included.
        valid: the field's value means something only where this holds.
        present: the field is in the message only where this holds (multiplexed signals).
        word: set for what lies in an ARINC 429 word, whose status then counts.
        auxiliary: describes another field (label, SDI, SSM); left out of one-line text.
        overlay: meant to lie over other fields.

    """

    name: str
    type: FieldType
    position: int
    length: int
    order: Order = "big"
    scale: int | float = 1
    offset: int | float = 0
    unit: str = ""
    values: Mapping[int, str] = field(default_factory=dict)
    minimum: int | float | None = None
    maximum: int | float | None = None
    valid: Condition | None = None
    present: Condition | None = None
    display: Display = "decimal"
    word: Word429 | None = None
    auxiliary: bool = False
    overlay: bool = False
    description: str = ""
    place: Place = Place("")

    @property
    def end(self) -> int:
        """Return the position after its last bit."""
        return self.position + self.length

    @property
    def last_byte(self) -> int:
        """Return the number of the last byte that holds a part of it."""
        return (self.end - 1) // 8


@dataclass(frozen=True, slots=True)
class Message:
    """A message: its size in bytes, and its fields in the order of the document.

    ``minimum_size`` is less than ``size`` where the end may be left out. ``notes`` say what a source could not tell.
    """

    name: str
    size: int
    fields: tuple[Field, ...]
    minimum_size: int
    description: str = ""
    place: Place = Place("")
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Binding:
    """Which layout the messages of an object have.

    Attributes:
        pattern: name of the object; ``*``, ``?`` and ``[...]`` as in file names.
        layout: name of a message of the same ICD, or a source such as ``app.elf:struct nav_state``.
        port: the object is a port of the module, so it must be in its configuration.
        partition: the object is meant only in this partition; None for any.

    """

    pattern: str
    layout: str
    port: bool
    partition: str | None
    place: Place
