# SPDX-License-Identifier: Apache-2.0
"""Bounded reading of DWARF bytes: numbers, forms, abbreviations.

Source: the DWARF standard, versions 2 to 5 (https://dwarfstd.org), section 7, and the GNU extensions of GCC.
Everything that loops spends from one Budget, so that no file, however made, takes more than so many steps.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import lru_cache
from typing import NamedTuple

__all__ = [
    "ULEB",
    "Abbreviation",
    "Budget",
    "Cursor",
    "DwarfError",
    "Form",
    "Sections",
    "entry_end",
    "read_abbreviations",
]


class DwarfError(Exception):
    """DWARF that contradicts itself, or needs more steps than it may have; never leaves vxmon.image."""


class Budget:
    """Steps that may still be made."""

    def __init__(self, steps: int) -> None:
        self._left = steps

    def spend(self, steps: int = 1) -> None:
        """Make that many steps. Raises DwarfError when none are left."""
        self._left -= steps
        if self._left < 0:
            raise DwarfError("the debug information is larger than what is read")


class Sections(NamedTuple):
    """The bytes of the debug sections; empty where there is none."""

    info: bytes
    abbrev: bytes
    str: bytes
    line_str: bytes
    str_offsets: bytes
    addr: bytes
    ranges: bytes
    rnglists: bytes
    aranges: bytes
    types: bytes


class Form:
    """Numbers of the attribute forms that are told apart by more than their size."""

    ADDR, BLOCK2, BLOCK4, DATA8, STRING, BLOCK, BLOCK1 = 0x01, 0x03, 0x04, 0x07, 0x08, 0x09, 0x0A
    SDATA, STRP, UDATA, REF_ADDR, REF_UDATA, INDIRECT = 0x0D, 0x0E, 0x0F, 0x10, 0x15, 0x16
    SEC_OFFSET, EXPRLOC, STRX, ADDRX, LINE_STRP = 0x17, 0x18, 0x1A, 0x1B, 0x1F
    STRP_SUP, IMPLICIT_CONST, LOCLISTX, RNGLISTX = 0x1D, 0x21, 0x22, 0x23
    STRX1, STRX2, STRX3, STRX4, ADDRX1, ADDRX2, ADDRX3, ADDRX4 = 0x25, 0x26, 0x27, 0x28, 0x29, 0x2A, 0x2B, 0x2C
    GNU_ADDR_INDEX, GNU_STR_INDEX, GNU_REF_ALT, GNU_STRP_ALT = 0x1F01, 0x1F02, 0x1F20, 0x1F21
    FLAG_PRESENT, REF_SIG8 = 0x19, 0x20
    STRINGS_BY_INDEX = frozenset({STRX, STRX1, STRX2, STRX3, STRX4})
    REFERENCES_IN_UNIT = frozenset({0x11, 0x12, 0x13, 0x14, REF_UDATA})


# How to skip a form: bytes if positive or 0, else one of these.
ULEB, _STRING, _BLOCK, _BLOCK1, _BLOCK2, _BLOCK4, _INDIRECT = -1, -2, -3, -4, -5, -6, -7

_FIXED = {
    0x05: 2, 0x06: 4, 0x07: 8, 0x0B: 1, 0x0C: 1, 0x11: 1, 0x12: 2, 0x13: 4, 0x14: 8, 0x19: 0, 0x1C: 4, 0x1E: 16,
    0x20: 8, 0x21: 0, 0x24: 8, 0x25: 1, 0x26: 2, 0x27: 3, 0x28: 4, 0x29: 1, 0x2A: 2, 0x2B: 3, 0x2C: 4,
}  # fmt: skip
_VARIABLE = {
    0x03: _BLOCK2, 0x04: _BLOCK4, 0x08: _STRING, 0x09: _BLOCK, 0x0A: _BLOCK1, 0x0D: ULEB, 0x0F: ULEB, 0x15: ULEB,
    0x16: _INDIRECT, 0x18: _BLOCK, 0x1A: ULEB, 0x1B: ULEB, 0x22: ULEB, 0x23: ULEB, 0x1F01: ULEB, 0x1F02: ULEB,
}  # fmt: skip
_OFFSETS = {0x0E, 0x17, 0x1D, 0x1F, 0x1F20, 0x1F21}


@lru_cache(maxsize=32)
def _known_forms(address_size: int, offset_size: int, version: int) -> dict[int, int]:
    """Return how each form is skipped, in a unit with such sizes."""
    reference = address_size if version == 2 else offset_size
    offsets = dict.fromkeys(_OFFSETS, offset_size)
    return _FIXED | _VARIABLE | offsets | {Form.ADDR: address_size, Form.REF_ADDR: reference}


class Cursor:
    """A position in bytes, with an end. Reading past it raises DwarfError."""

    __slots__ = ("data", "end", "order", "position")

    def __init__(self, data: bytes, position: int, end: int, order: str) -> None:
        if not 0 <= position <= end <= len(data):
            raise DwarfError("a reference leads past the end of a debug section")
        self.data = data
        self.position = position
        self.end = end
        self.order: str = order

    def number(self, size: int) -> int:
        """Return an unsigned number of that many bytes."""
        start = self.position
        self.skip(size)
        return int.from_bytes(self.data[start : self.position], "big" if self.order == ">" else "little")

    def skip(self, size: int) -> None:
        """Move on."""
        if size > self.end - self.position:
            raise DwarfError("debug information ends in the middle of an entry")
        self.position += size

    def uleb(self) -> int:
        """Return a ULEB128 number of up to 64 bits; longer ones are not used by any producer."""
        value = shift = 0
        while True:
            if self.position >= self.end:
                raise DwarfError("debug information ends in the middle of a number")
            byte = self.data[self.position]
            self.position += 1
            value |= (byte & 0x7F) << shift
            shift += 7
            if byte < 0x80:
                return value
            if shift > 70:
                raise DwarfError("a number has more than 64 bits")

    def sleb(self) -> int:
        """Return a SLEB128 number."""
        start = self.position
        value = self.uleb()
        bits = 7 * (self.position - start)
        return value - (1 << bits) if value >> (bits - 1) else value

    def string(self) -> bytes:
        """Return the bytes up to a zero byte."""
        end = self.data.find(b"\0", self.position, self.end)
        if end < 0:
            raise DwarfError("a string has no end")
        text = self.data[self.position : end]
        self.position = end + 1
        return text

    def skip_form(self, how: int) -> None:
        """Skip an attribute value; ``how`` as in Abbreviation."""
        if how >= 0:
            self.skip(how)
        elif how == ULEB:
            self.uleb()
        elif how == _STRING:
            self.string()
        else:
            self.skip(self.block_size(how))

    def block_size(self, how: int) -> int:
        """Return the length that stands before a block."""
        if how == _BLOCK:
            return self.uleb()
        if how == _INDIRECT:
            raise DwarfError("attributes of indirect form are not read")
        return self.number({_BLOCK1: 1, _BLOCK2: 2, _BLOCK4: 4}[how])


@dataclass(frozen=True, slots=True)
class Abbreviation:
    """The shape of an entry: tag, (attribute, form, skip) in order, and the skips with fixed sizes merged."""

    tag: int
    attributes: tuple[tuple[int, int, int], ...]
    skips: tuple[int, ...]
    fixed: int
    """Size of the attributes where every entry has the same, else -1."""
    children: bool = False
    constants: Mapping[int, int] = field(default_factory=dict)
    """Values by attribute that stand here and not in the entries (DW_FORM_implicit_const)."""


def entry_end(cursor: Cursor, shape: Abbreviation, position: int) -> int:
    """Return where an entry ends whose attributes begin at a position."""
    data, end = cursor.data, cursor.end
    for how in shape.skips:
        if how >= 0:
            position += how
        elif how == ULEB:
            while position < end and data[position] >= 0x80:
                position += 1
            position += 1
        else:
            cursor.position = min(position, end)
            cursor.skip_form(how)
            position = cursor.position
    return position


def read_abbreviations(
    data: bytes, offset: int, sizes: tuple[int, int, int], order: str, budget: Budget
) -> dict[int, Abbreviation]:
    """Return the table at an offset; ``sizes`` are address size, offset size and DWARF version."""
    cursor = Cursor(data, offset, len(data), order)
    known = _known_forms(*sizes)
    table: dict[int, Abbreviation] = {}
    while code := cursor.uleb():
        tag = cursor.uleb()
        children = cursor.number(1) != 0
        constants: dict[int, int] = {}
        attributes = _specifications(cursor, known, constants)
        budget.spend(len(attributes) + 1)
        skips = _merged(attributes)
        fixed = sum(skips) if all(how >= 0 for how in skips) else -1
        table.setdefault(code, Abbreviation(tag, tuple(attributes), skips, fixed, children, constants))
        if cursor.position == cursor.end:
            # Some producers leave out the 0 that ends the last table.
            break
    return table


_MAX_ATTRIBUTES = 1000


def _specifications(cursor: Cursor, known: dict[int, int], constants: dict[int, int]) -> list[tuple[int, int, int]]:
    """Return the (attribute, form, skip) of one abbreviation, to its end; values that stand here go to ``constants``.

    Large files have millions of these, nearly all in two bytes: those are read without a call.
    """
    data, position, last = cursor.data, cursor.position, cursor.end - 1
    attributes: list[tuple[int, int, int]] = []
    while True:
        if position < last and data[position] < 0x80 and data[position + 1] < 0x80:
            name, form = data[position], data[position + 1]
            position += 2
        else:
            cursor.position = position
            name, form = cursor.uleb(), cursor.uleb()
            position = cursor.position
        if not name and not form:
            cursor.position = position
            return attributes
        how = known.get(form)
        if how is None:
            raise DwarfError(f"attribute form 0x{form:x} is not known")
        attributes.append((name, form, how))
        if form == Form.IMPLICIT_CONST:
            cursor.position = position
            constants[name] = cursor.sleb()
            position = cursor.position
        if len(attributes) > _MAX_ATTRIBUTES:
            raise DwarfError(f"an abbreviation has more than {_MAX_ATTRIBUTES} attributes")


def _merged(attributes: list[tuple[int, int, int]]) -> tuple[int, ...]:
    """Return the skips with neighbouring fixed sizes added up."""
    skips: list[int] = []
    for _, _, how in attributes:
        if how >= 0 and skips and skips[-1] >= 0:
            skips[-1] += how
        elif how != 0:
            skips.append(how)
    return tuple(skips)
