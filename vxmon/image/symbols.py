# SPDX-License-Identifier: Apache-2.0
"""Symbols with a size, as columns: a large image has millions, of which a report names a few."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from vxmon.image.bytesource import printable
from vxmon.image.elf import ElfFile
from vxmon.image.model import Kind, Section

__all__ = ["Symbol", "SymbolTable", "read_symbols"]

_MAX_TABLE = 512 << 20
_LONGEST_NAME = 4096
_SHN_UNDEF, _SHN_LORESERVE, _SHN_ABS, _SHN_COMMON, _SHN_XINDEX = 0, 0xFF00, 0xFFF1, 0xFFF2, 0xFFFF
_STT_SECTION, _STT_FILE = 3, 4
_MAX_ALIASES = 20
_TYPES = {0: "notype", 1: "object", 2: "function", 5: "common", 6: "thread", 10: "indirect function"}


@dataclass(frozen=True, slots=True)
class Symbol:
    """One symbol as it is written in the image; ``aliases`` are other names of the same address and size."""

    name: str
    address: int
    size: int
    type: str
    kind: Kind | None
    section: str
    aliases: tuple[str, ...] = ()


class SymbolTable:
    """Defined symbols that have a size. ``source`` is the section they come from, empty if there is none.

    ``address`` and ``size`` are uint64 arrays; equal positions belong together.
    """

    def __init__(self, rows: NDArray[np.void], names: bytes, sections: dict[int, Section], source: str) -> None:
        self.address = rows["value"].astype(np.uint64)
        self.size = rows["size"].astype(np.uint64)
        self.source = source
        self._rows = rows
        self._names = names
        self._sections = sections

    @property
    def common(self) -> int:
        """Return the size of all common symbols, in bytes: memory that the linker has yet to place."""
        return sum(self.size[self._rows["section"] == _SHN_COMMON].tolist())

    def __len__(self) -> int:
        return len(self._rows)

    def name(self, position: int) -> str:
        """Return the name of one symbol."""
        start = int(self._rows["name"][position])
        end = self._names.find(b"\0", start, start + _LONGEST_NAME + 1)
        return printable(self._names[start : end if end >= 0 else start + _LONGEST_NAME + 1], _LONGEST_NAME)

    def section_of(self, position: int) -> Section | None:
        """Return the section that a symbol lies in; None for absolute and common symbols."""
        return self._sections.get(int(self._rows["section"][position]))

    def symbol(self, position: int) -> Symbol:
        """Return one symbol."""
        row = self._rows[position]
        section = self.section_of(position)
        common = int(row["section"]) == _SHN_COMMON
        kind = Kind.ZERO_DATA if common else section.kind if section else None
        where = "(common)" if common else section.name if section else "(absolute)"
        number = int(row["info"]) & 15
        kind_name = _TYPES.get(number, f"type {number}")
        return Symbol(self.name(position), int(row["value"]), int(row["size"]), kind_name, kind, where)

    def largest(self, count: int) -> list[Symbol]:
        """Return the largest symbols, largest first; names of one object are one line."""
        # Size downwards, then address and section: symbols of one object are neighbours.
        order = np.lexsort((self._rows["name"], self._rows["section"], self.address, ~self.size))
        result: list[Symbol] = []
        last: tuple[int, int, int] | None = None
        for position in order:
            row = self._rows[position]
            key = (int(row["value"]), int(row["size"]), int(row["section"]))
            if key == last and key[2] != _SHN_COMMON:
                result[-1] = _with_alias(result[-1], self.name(int(position)))
                continue
            if len(result) == count:
                break
            last = key
            result.append(self.symbol(int(position)))
        return result


def _with_alias(symbol: Symbol, name: str) -> Symbol:
    if len(symbol.aliases) >= _MAX_ALIASES or name == symbol.name or name in symbol.aliases:
        return symbol
    s = symbol
    return Symbol(s.name, s.address, s.size, s.type, s.kind, s.section, (*s.aliases, name))


def read_symbols(elf: ElfFile) -> SymbolTable:
    """Return the symbols of .symtab, else of .dynsym; problems go to the ElfFile."""
    image = elf.image
    table = next((s for s in image.sections if s.type == "SYMTAB"), None)
    table = table or next((s for s in image.sections if s.type == "DYNSYM"), None)
    shape = _shape(elf)
    if table is None or not _readable(elf, table):
        return SymbolTable(np.zeros(0, shape), b"", {}, "")
    strings = elf.raw_sections[table.link] if 0 < table.link < len(elf.raw_sections) else None
    names = b""
    if strings is None or strings.size > _MAX_TABLE or not elf.source.holds(strings.offset, strings.size):
        elf.warn(f"the names of the symbols in {table.name} (section {table.link}) cannot be read")
    else:
        names = elf.source.read(strings.offset, strings.size)
    raw = elf.source.read(table.offset, table.size - table.size % shape.itemsize)
    rows = _widened(np.frombuffer(raw, shape))
    _extend_indices(elf, table, rows)
    sections = {s.index: s for s in image.sections}
    return SymbolTable(rows[_wanted(rows)], names, sections, table.name)


_WIDE = np.dtype([("name", "u4"), ("value", "u8"), ("size", "u8"), ("info", "u1"), ("other", "u1"), ("section", "u4")])


def _widened(narrow: NDArray[np.void]) -> NDArray[np.void]:
    """Return the same symbols in one shape for both classes (astype would go by position, not by name)."""
    rows = np.empty(len(narrow), _WIDE)
    for name in _WIDE.names or ():
        rows[name] = narrow[name]
    return rows


def _shape(elf: ElfFile) -> np.dtype[np.void]:
    o = elf.order
    if elf.bits == 32:
        fields = [("name", "u4"), ("value", "u4"), ("size", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2")]
    else:
        fields = [("name", "u4"), ("info", "u1"), ("other", "u1"), ("section", "u2"), ("value", "u8"), ("size", "u8")]
    return np.dtype([(name, o + code) for name, code in fields])


def _readable(elf: ElfFile, table: Section) -> bool:
    if table.size > _MAX_TABLE:
        elf.warn(f"the symbol table {table.name} of {table.size:,} bytes is larger than what is read")
    elif not elf.source.holds(table.offset, table.size):
        elf.warn(f"the symbol table {table.name} lies past the end of the file")
    else:
        return True
    return False


def _extend_indices(elf: ElfFile, table: Section, rows: NDArray[np.void]) -> None:
    """Put in the section numbers that do not fit into 16 bits."""
    far = rows["section"] == _SHN_XINDEX
    extra = next((s for s in elf.image.sections if s.type == "SYMTAB_SHNDX" and s.link == table.index), None)
    # Reserved numbers are moved out of the way of real sections, which may have them too.
    reserved = (rows["section"] >= _SHN_LORESERVE) & ~far & (rows["section"] != _SHN_COMMON)
    rows["section"][reserved] = 0xFFFFFFFF
    if extra is None or not far.any():
        return
    numbers = np.frombuffer(elf.source.read(extra.offset, min(extra.size, 4 * len(rows)) & ~3), elf.order + "u4")
    if len(numbers) < len(rows):
        elf.warn("the table of large section numbers is too short; some symbols have no section")
        return
    rows["section"][far] = numbers[far]


def _wanted(rows: NDArray[np.void]) -> NDArray[np.bool_]:
    """Tell which symbols are defined, have a size, and stand for code or data."""
    kinds = rows["info"] & 15
    named = (kinds != _STT_SECTION) & (kinds != _STT_FILE)
    wanted: NDArray[np.bool_] = named & (rows["size"] > 0) & (rows["section"] != _SHN_UNDEF)
    return wanted
