# SPDX-License-Identifier: Apache-2.0
"""Debugging information entries by name and by reference, for those who follow a few of them.

Nothing is kept but the headers of units, so a file of any size can be asked; what is read spends from a budget.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Set
from dataclasses import dataclass
from functools import cached_property
from typing import Final

from vxmon.image.bytesource import printable
from vxmon.image.dwarf_data import (
    ULEB,
    Abbreviation,
    Budget,
    Cursor,
    DwarfError,
    Form,
    entry_end,
    read_abbreviations,
)
from vxmon.image.dwarf_units import (
    LONGEST_NAME,
    UT_SKELETON,
    UT_SPLIT_COMPILE,
    UT_SPLIT_TYPE,
    UT_TYPE,
    UnitHead,
    debug_sections,
    read_head,
    text_at,
)
from vxmon.image.elf import ElfFile

__all__ = ["At", "Entries", "Entry", "Reference", "Tag"]

# As in vxmon.image.dwarf: a walk over the file takes less than this; entries reached by reference take the spare.
_SPARE_STEPS: Final = 500_000
_TABLES: Final = 16


class Tag:
    """Numbers of the tags that types are made of."""

    ARRAY, CLASS, ENUMERATION, MEMBER, POINTER = 0x01, 0x02, 0x04, 0x0D, 0x0F
    REFERENCE, COMPILE_UNIT, STRUCTURE, TYPEDEF, UNION = 0x10, 0x11, 0x13, 0x16, 0x17
    INHERITANCE, POINTER_TO_MEMBER, SUBRANGE, BASE, CONST = 0x1C, 0x1F, 0x21, 0x24, 0x26
    ENUMERATOR, PACKED, VOLATILE, RESTRICT, RVALUE_REFERENCE = 0x28, 0x2D, 0x35, 0x37, 0x42
    ATOMIC, IMMUTABLE = 0x47, 0x4B


class At:
    """Numbers of the attributes that types have."""

    NAME, BYTE_SIZE, BIT_OFFSET, BIT_SIZE, CONST_VALUE = 0x03, 0x0B, 0x0C, 0x0D, 0x1C
    LOWER_BOUND, BIT_STRIDE, UPPER_BOUND, COUNT = 0x22, 0x2E, 0x2F, 0x37
    DATA_MEMBER_LOCATION, DECLARATION, ENCODING, EXTERNAL, TYPE = 0x38, 0x3C, 0x3E, 0x3F, 0x49
    BYTE_STRIDE, ENDIANITY, SIGNATURE, DATA_BIT_OFFSET, STR_OFFSETS_BASE = 0x51, 0x65, 0x69, 0x6B, 0x72


@dataclass(frozen=True, slots=True)
class Reference:
    """A place in .debug_info (or in .debug_types), or the signature of a type."""

    place: int
    types: bool = False
    signature: bool = False


Value = int | str | bytes | Reference


@dataclass(frozen=True, slots=True)
class Entry:
    """One entry: its tag and its attributes by number. Two entries are the same one if their places are."""

    tag: int
    values: dict[int, Value]
    unit: UnitHead
    types: bool
    place: int
    after: int
    """Where its attributes end."""
    children: bool

    @property
    def name(self) -> str:
        """Return its name, empty if it has none."""
        name = self.values.get(At.NAME)
        return name if isinstance(name, str) else ""

    @property
    def key(self) -> tuple[bool, int]:
        """Return what tells it from other entries of the file."""
        return self.types, self.place

    def number(self, attribute: int, default: int | None = None) -> int | None:
        """Return a constant attribute."""
        value = self.values.get(attribute)
        return value if isinstance(value, int) else default

    def reference(self, attribute: int) -> Reference | None:
        """Return an attribute that refers to another entry."""
        value = self.values.get(attribute)
        return value if isinstance(value, Reference) else None


class Entries:
    """The entries of an open file. Every method may raise DwarfError."""

    def __init__(self, elf: ElfFile) -> None:
        self._sections = debug_sections(elf)
        self._order = elf.order
        once = (self._sections.abbrev, self._sections.info, self._sections.types)
        self._budget = Budget(_SPARE_STEPS + 2 * sum(map(len, once)))
        self._tables: dict[tuple[int, int, int, int], dict[int, Abbreviation]] = {}
        self._bases: dict[tuple[bool, int], int] = {}

    @property
    def empty(self) -> bool:
        """Tell whether there is no debug information at all."""
        return not self._sections.info

    @cached_property
    def split(self) -> bool:
        """Tell whether some of it is in other files (-gsplit-dwarf)."""
        return any(unit.kind == UT_SKELETON for unit, _ in self._units)

    def find(self, name: str | None, tags: Set[int]) -> Iterator[Entry]:
        """Yield the entries with such a tag and name (None: any name), at any depth, in the order of the file."""
        raw = None if name is None else name.encode("utf-8", "surrogateescape")
        for unit, types in self._units:
            if unit.kind not in (UT_SPLIT_COMPILE, UT_SPLIT_TYPE):
                yield from self._find(unit, types, raw, tags)

    def at(self, reference: Reference) -> Entry:
        """Return the entry that a reference means."""
        if reference.signature:
            if reference.place not in self._signatures:
                raise DwarfError(f"type 0x{reference.place:016x} is not in this file")
            reference = self._signatures[reference.place]
        unit = self._unit_of(reference)
        entry = self._entry(unit, reference.types, reference.place)
        if entry is None:
            raise DwarfError(f"a reference leads to 0x{reference.place:x}, where no entry is")
        return entry

    def children(self, entry: Entry) -> Iterator[Entry]:
        """Yield the entries directly inside an entry."""
        if not entry.children:
            return
        position, depth = entry.after, 0
        while depth >= 0:
            if position >= entry.unit.end:
                raise DwarfError("the children of an entry have no end")
            child = self._entry(entry.unit, entry.types, position)
            if child is None:
                depth -= 1
                position += 1
                continue
            if depth == 0:
                yield child
            position = child.after
            depth += child.children

    def unit_name(self, entry: Entry) -> str:
        """Return the name of the compile unit that an entry is in."""
        top = self._entry(entry.unit, entry.types, entry.unit.first)
        return top.name if top is not None else ""

    @cached_property
    def _units(self) -> list[tuple[UnitHead, bool]]:
        units: list[tuple[UnitHead, bool]] = []
        for types, data in ((False, self._sections.info), (True, self._sections.types)):
            position = 0
            while position < len(data):
                self._budget.spend()
                head = read_head(data, position, self._order, types=types)
                units.append((head, types))
                position = head.end
        return units

    @cached_property
    def _starts(self) -> dict[bool, tuple[list[int], list[UnitHead]]]:
        found: dict[bool, tuple[list[int], list[UnitHead]]] = {False: ([], []), True: ([], [])}
        for unit, types in self._units:
            found[types][0].append(unit.start)
            found[types][1].append(unit)
        return found

    @cached_property
    def _signatures(self) -> dict[int, Reference]:
        units = ((unit, types) for unit, types in self._units if unit.kind == UT_TYPE)
        return {unit.signature: Reference(unit.start + unit.type, types) for unit, types in units}

    def _unit_of(self, reference: Reference) -> UnitHead:
        starts, units = self._starts[reference.types]
        index = bisect_right(starts, reference.place) - 1
        if index < 0 or not units[index].first <= reference.place < units[index].end:
            raise DwarfError(f"a reference leads to 0x{reference.place:x}, which is in no unit")
        return units[index]

    def _data(self, *, types: bool) -> bytes:
        return self._sections.types if types else self._sections.info

    def _abbreviations(self, unit: UnitHead) -> dict[int, Abbreviation]:
        sizes = (unit.address_size, unit.offset_size, unit.version)
        key = (unit.abbrev, *sizes)
        if key not in self._tables:
            if len(self._tables) == _TABLES:
                del self._tables[next(iter(self._tables))]
            table = read_abbreviations(self._sections.abbrev, unit.abbrev, sizes, self._order, self._budget)
            self._tables[key] = table
        return self._tables[key]

    def _find(self, unit: UnitHead, types: bool, name: bytes | None, tags: Set[int]) -> Iterator[Entry]:
        """Go through a unit.

        This loop runs once for each entry of the file: it keeps the position in a local, and reads no more of an entry
        than its name. Each entry takes at least a byte, so the time is bounded by the size of the section.
        """
        table = self._abbreviations(unit)
        data, end, position = self._data(types=types), unit.end, unit.first
        cursor = Cursor(data, position, end, self._order)
        while position < end:
            place = position
            code = data[position]
            position += 1
            if not code:
                continue
            if code >= 0x80:
                cursor.position = place
                code = cursor.uleb()
                position = cursor.position
            shape = self._shape(table, code)
            if shape.tag in tags and (name is None or self._has_name(cursor, shape, position, name, (unit, types))):
                entry = self._entry(unit, types, place)
                if entry is not None and entry.name:
                    yield entry
            position = position + shape.fixed if shape.fixed >= 0 else entry_end(cursor, shape, position)
        if position > end:
            raise DwarfError("an entry ends past the end of its unit")

    def _has_name(
        self, cursor: Cursor, shape: Abbreviation, position: int, name: bytes, where: tuple[UnitHead, bool]
    ) -> bool:
        """Tell whether the entry whose attributes begin at a position has a name."""
        cursor.position = min(position, cursor.end)
        for attribute, form, how in shape.attributes:
            if attribute != At.NAME:
                cursor.skip_form(how)
            elif form == Form.STRP:
                return self._sections.str.startswith(name + b"\0", cursor.number(how))
            elif form == Form.STRING:
                return cursor.string() == name
            else:
                return self._value(cursor, *where, form, how) == name.decode("utf-8", "surrogateescape")
        return False

    @staticmethod
    def _shape(table: dict[int, Abbreviation], code: int) -> Abbreviation:
        shape = table.get(code)
        if shape is None:
            raise DwarfError(f"an entry uses abbreviation {code}, which its table does not have")
        return shape

    def _entry(self, unit: UnitHead, types: bool, place: int) -> Entry | None:
        """Return the entry at a place, None for the mark that ends a list of children."""
        self._budget.spend()
        cursor = Cursor(self._data(types=types), place, unit.end, self._order)
        code = cursor.uleb()
        if not code:
            return None
        shape = self._shape(self._abbreviations(unit), code)
        values: dict[int, Value] = {}
        for attribute, form, how in shape.attributes:
            value = self._value(cursor, unit, types, form, how)
            if form == Form.IMPLICIT_CONST:
                value = shape.constants.get(attribute)
            if value is not None:
                values.setdefault(attribute, value)
        return Entry(shape.tag, values, unit, types, place, cursor.position, shape.children)

    def _value(self, cursor: Cursor, unit: UnitHead, types: bool, form: int, how: int) -> Value | None:
        """Return an attribute's value, None for what is of no use to types, and move on."""
        if form == Form.STRING:
            return printable(cursor.string(), LONGEST_NAME)
        if form in (Form.EXPRLOC, Form.BLOCK, Form.BLOCK1, Form.BLOCK2, Form.BLOCK4):
            size = cursor.block_size(how)
            cursor.skip(size)
            return cursor.data[cursor.position - size : cursor.position]
        if form == Form.SDATA:
            return cursor.sleb()
        if form == Form.FLAG_PRESENT:
            return 1
        number = cursor.number(how) if how >= 0 else cursor.uleb() if how == ULEB else None
        if number is None:
            cursor.skip_form(how)
            return None
        return self._meaning(unit, types, form, number)

    def _meaning(self, unit: UnitHead, types: bool, form: int, number: int) -> Value:
        if form == Form.STRP:
            return text_at(self._sections.str, number)
        if form == Form.LINE_STRP:
            return text_at(self._sections.line_str, number)
        if form in Form.STRINGS_BY_INDEX:
            size = unit.offset_size
            place = self._strings_base(unit, types) + number * size
            data = self._sections.str_offsets
            return text_at(self._sections.str, Cursor(data, place, len(data), self._order).number(size))
        if form in Form.REFERENCES_IN_UNIT:
            return Reference(unit.start + number, types)
        if form == Form.REF_ADDR:
            return Reference(number)
        return Reference(number, signature=True) if form == Form.REF_SIG8 else number

    def _strings_base(self, unit: UnitHead, types: bool) -> int:
        """Return where a unit's string offsets begin: its first entry says so, but may have strings before that."""
        key = (types, unit.start)
        if key not in self._bases:
            self._bases[key] = 8 if unit.offset_size == 4 else 16
            top = self._entry(unit, types, unit.first)
            base = top.number(At.STR_OFFSETS_BASE) if top is not None else None
            if base is not None:
                self._bases[key] = base
        return self._bases[key]
