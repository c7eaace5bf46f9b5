# SPDX-License-Identifier: Apache-2.0
"""What each compile unit takes in memory, from DWARF.

Code: the address ranges of the unit. Data: the addresses at which its variables lie; how large they are is in the
symbol table. This reads DWARF itself rather than by pyelftools, which makes an object of every entry (47,000 a second
measured, and all of them kept) and cannot be bounded; here entries without interest are only skipped.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from vxmon.image.bytesource import printable
from vxmon.image.dwarf_data import (
    ULEB,
    Abbreviation,
    Budget,
    Cursor,
    DwarfError,
    Form,
    Sections,
    entry_end,
    read_abbreviations,
)
from vxmon.image.dwarf_units import (
    LONGEST_NAME,
    UT_SPLIT_COMPILE,
    UT_SPLIT_TYPE,
    UT_TYPE,
    UnitHead,
    debug_sections,
    read_head,
    text_at,
)
from vxmon.image.elf import ElfFile

__all__ = ["Unit", "read_units"]

# Steps beyond those that the sections' sizes explain: tables and lists are normally walked once, at a byte a step
# or more, but a small file can refer to the same ones again and again.
_SPARE_STEPS = 500_000
_TABLES = 16
_TAG_COMPILE_UNIT, _TAG_VARIABLE, _TAG_PARTIAL_UNIT, _TAG_SKELETON_UNIT = 0x11, 0x34, 0x3C, 0x4A
_AT_LOCATION, _AT_NAME, _AT_LOW_PC, _AT_HIGH_PC, _AT_COMP_DIR, _AT_RANGES = 0x02, 0x03, 0x11, 0x12, 0x1B, 0x55
_AT_STR_OFFSETS_BASE, _AT_ADDR_BASE, _AT_RNGLISTS_BASE, _AT_GNU_ADDR_BASE = 0x72, 0x73, 0x74, 0x2133
_AT_DWO_NAME, _AT_GNU_DWO_NAME = 0x76, 0x2130
_OP_ADDR, _OP_PIECE, _OP_ADDRX, _OP_GNU_ADDR_INDEX = 0x03, 0x93, 0xA1, 0xFB


@dataclass(slots=True)
class Unit:
    """A compile unit: its name, the spans of its code (which may overlap), the addresses of its variables."""

    name: str
    folder: str
    code: list[tuple[int, int]]
    variables: list[int]


def read_units(elf: ElfFile) -> list[Unit]:
    """Return the compile units. What is damaged or too much ends the list, which is told in the file's problems."""
    sections = debug_sections(elf)
    units: list[Unit] = []
    if not sections.info:
        return units
    if elf.image.relocatable:
        elf.warn("compile units of a relocatable file are not read: its debug information is not relocated")
        return units
    try:
        units.extend(_Walk(elf, sections).units())
    except DwarfError as error:
        elf.warn(f"compile units after number {len(units):,} are missing: {error}")
    return units


class _Walk:
    """Goes through .debug_info once, unit by unit, entry by entry, without recursion."""

    def __init__(self, elf: ElfFile, sections: Sections) -> None:
        self._sections = sections
        self._order = elf.order
        walked = (sections.abbrev, sections.ranges, sections.rnglists, sections.aranges)
        self._budget = Budget(_SPARE_STEPS + 2 * sum(map(len, walked)) + len(sections.info) // 8)
        self._tables: dict[tuple[int, int, int, int], dict[int, Abbreviation]] = {}
        try:
            self._aranges = _read_aranges(sections.aranges, elf.order, self._budget)
        except DwarfError as error:
            elf.warn(f"the address ranges in .debug_aranges are not used: {error}")
            self._aranges = {}

    def units(self) -> Iterator[Unit]:
        position = 0
        while position < len(self._sections.info):
            self._budget.spend()
            start = position
            head = read_head(self._sections.info, start, self._order)
            position = head.end
            if head.kind in (UT_TYPE, UT_SPLIT_TYPE, UT_SPLIT_COMPILE):
                continue
            unit = self._unit(head, start)
            if unit is not None:
                yield unit

    def _abbreviations(self, head: UnitHead) -> dict[int, Abbreviation]:
        key = (head.abbrev, head.address_size, head.offset_size, head.version)
        if key not in self._tables:
            # Units that share a table are neighbours; keeping all tables would let a small file fill the memory.
            if len(self._tables) == _TABLES:
                del self._tables[next(iter(self._tables))]
            self._tables[key] = read_abbreviations(self._sections.abbrev, key[0], key[1:], self._order, self._budget)
        return self._tables[key]

    def _unit(self, head: UnitHead, start: int) -> Unit | None:
        table = self._abbreviations(head)
        cursor = Cursor(self._sections.info, head.first, head.end, self._order)
        if cursor.position == cursor.end:
            return None
        top = table.get(cursor.uleb())
        if top is None or top.tag not in (_TAG_COMPILE_UNIT, _TAG_PARTIAL_UNIT, _TAG_SKELETON_UNIT):
            return None
        values = _UnitValues(head, self._sections, self._order, self._budget)
        values.read(cursor, top)
        variables = [values.address(place) for place in self._variables(cursor, table)]
        # The skeleton of a split unit has only the name of the file with the rest.
        name = values.text(_AT_NAME) or values.text(_AT_DWO_NAME) or values.text(_AT_GNU_DWO_NAME) or "(unnamed)"
        code = values.code() + self._aranges.get(start, [])
        return Unit(name, values.text(_AT_COMP_DIR), code, [v for v in variables if v is not None])

    def _variables(self, cursor: Cursor, table: dict[int, Abbreviation]) -> Iterator[bytes]:
        """Yield the location expressions of the variables after the cursor.

        This loop runs once for each entry of the file: it keeps the position in a local. Each entry takes at least
        a byte, so the time is bounded by the size of the section.
        """
        data, end, position = cursor.data, cursor.end, cursor.position
        while position < end:
            code = data[position]
            position += 1
            if not code:
                continue
            if code >= 0x80:
                cursor.position = position - 1
                code = cursor.uleb()
                position = cursor.position
            shape = table.get(code)
            if shape is None:
                raise DwarfError(f"an entry uses abbreviation {code}, which its table does not have")
            if shape.tag == _TAG_VARIABLE:
                cursor.position = position
                yield _location(cursor, shape)
                position = cursor.position
            elif shape.fixed >= 0:
                position += shape.fixed
            else:
                position = entry_end(cursor, shape, position)
        if position > end:
            raise DwarfError("an entry ends past the end of its unit")


def _location(cursor: Cursor, shape: Abbreviation) -> bytes:
    """Return a variable's location expression, empty if it has none, and leave the cursor after the entry."""
    place = b""
    for name, form, how in shape.attributes:
        if name == _AT_LOCATION and form in (Form.EXPRLOC, Form.BLOCK1, Form.BLOCK):
            size = cursor.block_size(how)
            start = cursor.position
            cursor.skip(size)
            place = cursor.data[start : min(start + 12, cursor.position)]
        else:
            cursor.skip_form(how)
    return place


class _UnitValues:
    """The attributes of a unit's first entry, and what is needed to understand them."""

    def __init__(self, head: UnitHead, sections: Sections, order: str, budget: Budget) -> None:
        self._head = head
        self._sections = sections
        self._order = order
        self._budget = budget
        self._values: dict[int, tuple[int, int]] = {}
        self._strings: dict[int, bytes] = {}

    def read(self, cursor: Cursor, shape: Abbreviation) -> None:
        """Read the attributes of the entry at the cursor, which moves past it."""
        for name, form, how in shape.attributes:
            if form == Form.STRING:
                self._strings[name] = cursor.string()
            elif how >= 0:
                self._values[name] = (form, cursor.number(how))
            elif how == ULEB:
                self._values[name] = (form, cursor.uleb())
            else:
                cursor.skip_form(how)

    def text(self, attribute: int) -> str:
        """Return a string attribute; empty where there is none that can be read."""
        if attribute in self._strings:
            return printable(self._strings[attribute], LONGEST_NAME)
        form, value = self._values.get(attribute, (0, 0))
        if form == Form.STRP:
            return text_at(self._sections.str, value)
        if form == Form.LINE_STRP:
            return text_at(self._sections.line_str, value)
        if form in (Form.STRX, Form.STRX1, Form.STRX2, Form.STRX3, Form.STRX4):
            base = self._values.get(_AT_STR_OFFSETS_BASE, (0, 0))[1]
            size = self._head.offset_size
            return text_at(self._sections.str, self._at(self._sections.str_offsets, base + value * size, size))
        return ""

    def address(self, place: bytes) -> int | None:
        """Return the address that a location expression names, None where it names none."""
        if not place:
            return None
        cursor = Cursor(place, 1, len(place), self._order)
        if place[0] == _OP_ADDR:
            address = cursor.number(self._head.address_size)
        elif place[0] in (_OP_ADDRX, _OP_GNU_ADDR_INDEX):
            address = self._indexed(cursor.uleb())
        else:
            return None
        # A variable may be in pieces; any other operation makes something else of the address (thread-local: offset).
        whole = cursor.position == cursor.end or place[cursor.position] == _OP_PIECE
        return address if whole else None

    def code(self) -> list[tuple[int, int]]:
        """Return the spans of the unit's code."""
        low = self._address_of(_AT_LOW_PC)
        if _AT_RANGES in self._values:
            return self._ranges(low or 0)
        if low is None or _AT_HIGH_PC not in self._values:
            return []
        form, high = self._values[_AT_HIGH_PC]
        if form == Form.ADDR or form in (Form.ADDRX, Form.ADDRX1, Form.ADDRX2, Form.ADDRX3, Form.ADDRX4):
            return [(low, self._address_of(_AT_HIGH_PC) or 0)]
        return [(low, low + high)]

    def _address_of(self, attribute: int) -> int | None:
        if attribute not in self._values:
            return None
        form, value = self._values[attribute]
        return value if form == Form.ADDR else self._indexed(value)

    def _indexed(self, index: int) -> int:
        size = self._head.address_size
        base = self._values.get(_AT_ADDR_BASE) or self._values.get(_AT_GNU_ADDR_BASE) or (0, 0)
        return self._at(self._sections.addr, base[1] + index * size, size)

    def _at(self, data: bytes, offset: int, size: int) -> int:
        return Cursor(data, offset, len(data), self._order).number(size)

    def _ranges(self, base: int) -> list[tuple[int, int]]:
        form, value = self._values[_AT_RANGES]
        if self._head.version < 5:
            return list(self._old_ranges(value, base))
        if form == Form.RNGLISTX:
            start = self._values.get(_AT_RNGLISTS_BASE, (0, 0))[1]
            size = self._head.offset_size
            value = start + self._at(self._sections.rnglists, start + value * size, size)
        return list(self._new_ranges(value, base))

    def _old_ranges(self, offset: int, base: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of a list in .debug_ranges (DWARF 2 to 4)."""
        size = self._head.address_size
        cursor = Cursor(self._sections.ranges, offset, len(self._sections.ranges), self._order)
        highest = (1 << (8 * size)) - 1
        while True:
            self._budget.spend()
            start, end = cursor.number(size), cursor.number(size)
            if start == highest:
                base = end
            elif start or end:
                yield base + start, base + end
            else:
                return

    def _new_ranges(self, offset: int, base: int) -> Iterator[tuple[int, int]]:
        """Yield the ranges of a list in .debug_rnglists (DWARF 5)."""
        size = self._head.address_size
        cursor = Cursor(self._sections.rnglists, offset, len(self._sections.rnglists), self._order)
        while kind := cursor.number(1):
            self._budget.spend()
            if kind == 1:  # base_addressx
                base = self._indexed(cursor.uleb())
            elif kind == 2:  # startx_endx
                yield self._indexed(cursor.uleb()), self._indexed(cursor.uleb())
            elif kind == 3:  # startx_length
                start = self._indexed(cursor.uleb())
                yield start, start + cursor.uleb()
            elif kind == 4:  # offset_pair
                yield base + cursor.uleb(), base + cursor.uleb()
            elif kind == 5:  # base_address
                base = cursor.number(size)
            elif kind == 6:  # start_end
                yield cursor.number(size), cursor.number(size)
            elif kind == 7:  # start_length
                start = cursor.number(size)
                yield start, start + cursor.uleb()
            else:
                raise DwarfError(f"range list entry of unknown kind {kind}")


def _read_aranges(data: bytes, order: str, budget: Budget) -> dict[int, list[tuple[int, int]]]:
    """Return the spans in .debug_aranges by the place of their unit: all that strict DWARF 2 has for several."""
    spans: dict[int, list[tuple[int, int]]] = {}
    position = 0
    while position < len(data):
        cursor = Cursor(data, position, len(data), order)
        length, offset_size = cursor.number(4), 4
        if length == 0xFFFFFFFF:
            length, offset_size = cursor.number(8), 8
        end = cursor.position + length
        cursor.skip(2)
        unit, size = cursor.number(offset_size), cursor.number(1)
        segment = cursor.number(1)
        if size not in (1, 2, 4, 8) or segment:
            raise DwarfError(f"address ranges with addresses of {size} and segments of {segment} bytes")
        # The pairs are aligned to their own size, counted from the beginning of the set.
        cursor.skip(-(cursor.position - position) % (2 * size))
        while cursor.position < end:
            budget.spend()
            address, extent = cursor.number(size), cursor.number(size)
            if extent:
                spans.setdefault(unit, []).append((address, address + extent))
        position = max(end, cursor.position)
    return spans
