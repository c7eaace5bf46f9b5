# SPDX-License-Identifier: Apache-2.0
"""ELF headers, program headers and section headers, of any class, byte order and machine.

The tables are read here rather than by pyelftools, which stops at the first oddity (a table past the end, an entry
size of its own, no string table) where a memory map can still say something, and which takes seconds for tens of
thousands of sections.  Everything read is bounded: see MAX_SECTIONS, MAX_SEGMENTS and ByteSource.
"""

from __future__ import annotations

import struct
from bisect import bisect_right
from pathlib import Path
from typing import Literal, NamedTuple

from vxmon.errors import InputError
from vxmon.image import kinds
from vxmon.image.bytesource import ByteSource, printable
from vxmon.image.model import Image, Kind, Problem, Section, Segment

__all__ = ["MAX_SECTIONS", "MAX_SEGMENTS", "ElfFile", "read_image"]

MAX_SECTIONS = 200_000
MAX_SEGMENTS = 66_000
_MAX_NAMES = 64 << 20
_XNUM = 0xFFFF
_MAGIC = b"\x7fELF"
_WORDS_32 = {"header": "HHIIIIIHHHHHH", "segment": "IIIIIIII", "section": "IIIIIIIIII"}
_WORDS_64 = {"header": "HHIQQQIHHHHHH", "segment": "IIQQQQQQ", "section": "IIQQQQIIQQ"}


class _Header(NamedTuple):
    type: int
    machine: int
    version: int
    entry: int
    phoff: int
    shoff: int
    flags: int
    ehsize: int
    phentsize: int
    phnum: int
    shentsize: int
    shnum: int
    shstrndx: int


class _RawSection(NamedTuple):
    name: int
    type: int
    flags: int
    address: int
    offset: int
    size: int
    link: int
    info: int
    alignment: int
    entsize: int


def read_image(path: Path) -> Image:
    """Return the memory side of one ELF file. Raises InputError for what is no ELF file, or too broken to use."""
    with ByteSource(path) as source:
        return ElfFile(source).image


class ElfFile:
    """The tables of an open ELF file; ``image`` is what they mean."""

    def __init__(self, source: ByteSource) -> None:
        self.source = source
        self.problems: list[Problem] = []
        self.bits, self.byte_order = self._ident()
        self.order = "<" if self.byte_order == "little" else ">"
        self._words = _WORDS_64 if self.bits == 64 else _WORDS_32
        self._header = self._read_header()
        self._broken: list[str] = []
        first = self._first_section()
        raw_segments = self._segments(first)
        self.raw_sections = self._sections(first)
        if self._broken and not raw_segments and not self.raw_sections:
            raise InputError(f"{source.path}: truncated or damaged ELF file: {self._broken[0]}")
        for message in self._broken:
            self.warn(message)
        self.image = self._image(tuple(raw_segments), self._names(first))

    def warn(self, message: str) -> None:
        """Note something that casts doubt on a figure."""
        self.problems.append(Problem("warning", self.source.path, message))

    def _ident(self) -> tuple[Literal[32, 64], Literal["little", "big"]]:
        ident = self.source.read(0, 16)
        path = self.source.path
        if ident[:4] != _MAGIC:
            what = "an archive; extract its members first" if ident.startswith(b"!<arch>\n") else "no ELF file"
            raise InputError(f"{path}: {'an empty file' if not ident else what}")
        if len(ident) < 16:
            raise InputError(f"{path}: truncated ELF file at byte {len(ident)}: the identification has 16")
        if ident[4] not in (1, 2) or ident[5] not in (1, 2):
            raise InputError(f"{path}: ELF class {ident[4]} with byte order {ident[5]} is not defined (each is 1 or 2)")
        if ident[6] != 1:
            self.warn(f"ELF version {ident[6]}, read as version 1")
        return (32 if ident[4] == 1 else 64), ("little" if ident[5] == 1 else "big")

    def _read_header(self) -> _Header:
        shape = struct.Struct(self.order + self._words["header"])
        data = self.source.read(16, shape.size)
        if len(data) < shape.size:
            where = f"at byte {16 + len(data)}: the header of ELF{self.bits} has {16 + shape.size}"
            raise InputError(f"{self.source.path}: truncated ELF file {where}")
        return _Header(*shape.unpack(data))

    def _first_section(self) -> _RawSection | None:
        """Return section 0, which holds the numbers that are too large for the header."""
        shape = struct.Struct(self.order + self._words["section"])
        if not self._header.shoff:
            return None
        data = self.source.read(self._header.shoff, shape.size)
        return self._raw_section(shape.unpack(data)) if len(data) == shape.size else None

    def _raw_section(self, v: tuple[int, ...]) -> _RawSection:
        return _RawSection(*v)

    def _table(self, what: str, offset: int, entry: int, count: int, limit: int) -> list[tuple[int, ...]]:
        """Return the entries of a header table, or nothing and a reason in ``_broken``."""
        shape = struct.Struct(self.order + self._words[what])
        if count == 0:
            return []
        if offset == 0:
            self._broken.append(f"the header counts {count:,} {what} headers but gives no place for them")
            return []
        if entry < shape.size:
            self._broken.append(f"{what} headers of {entry} bytes; ELF{self.bits} has {shape.size}")
            return []
        if entry > shape.size:
            self._broken.append(f"{what} headers of {entry} bytes, of which the first {shape.size} are read")
        if not self.source.holds(offset, entry * count):
            end = f"0x{offset:x} + {entry * count:,}"
            self._broken.append(
                f"the {what} headers at {end} end past the end of the file ({self.source.size:,} bytes)"
            )
            return []
        if count > limit:
            raise InputError(f"{self.source.path}: {count:,} {what} headers are more than the {limit:,} that are read")
        data = self.source.read(offset, entry * count)
        return [shape.unpack_from(data, i * entry) for i in range(len(data) // entry)]

    def _segments(self, first: _RawSection | None) -> list[Segment]:
        header = self._header
        count = first.info if header.phnum == _XNUM and first else header.phnum
        rows = self._table("segment", header.phoff, header.phentsize, count, MAX_SEGMENTS)
        segments: list[Segment] = []
        for index, row in enumerate(rows):
            if self.bits == 32:
                kind, offset, address, load, file_size, memory_size, flags, alignment = row
            else:
                kind, flags, offset, address, load, file_size, memory_size, alignment = row
            name, permissions = kinds.segment_type(kind), kinds.segment_permissions(flags)
            segments.append(Segment(index, name, address, load, memory_size, file_size, offset, permissions, alignment))
        return segments

    def _sections(self, first: _RawSection | None) -> list[_RawSection]:
        header = self._header
        count = header.shnum
        if count == 0 and first is not None:
            count = first.size
        rows = self._table("section", header.shoff, header.shentsize, count, MAX_SECTIONS)
        return [self._raw_section(row) for row in rows]

    def _names(self, first: _RawSection | None) -> list[str]:
        """Return the section names; empty where there is no readable name."""
        raw = self.raw_sections
        index = self._header.shstrndx
        if index == _XNUM and first is not None:
            index = first.link
        if not raw or index == 0:
            return [""] * len(raw)
        table = raw[index] if index < len(raw) else None
        if table is None or not self.source.holds(table.offset, table.size) or table.size > _MAX_NAMES:
            self.warn(f"the table of section names (section {index}) cannot be read; sections have no names")
            return [""] * len(raw)
        return self._cut_names(self.source.read(table.offset, table.size))

    def _cut_names(self, table: bytes) -> list[str]:
        names: list[str] = []
        unreadable = 0
        for section in self.raw_sections:
            # One more than is shown, so that a name without end costs no more than a long one.
            piece = table[section.name : section.name + 256]
            unreadable += section.name > 0 and not piece
            names.append(printable(piece.split(b"\0", 1)[0]))
        if unreadable:
            self.warn(f"{unreadable:,} sections have names past the end of the table of names")
        return names

    def _image(self, segments: tuple[Segment, ...], names: list[str]) -> Image:
        header = self._header
        segments = _with_load_addresses(segments)
        loads = _Loads(segments)
        pairs = zip(names, self.raw_sections, strict=True)
        sections = tuple(_section(i, name, raw, loads) for i, (name, raw) in enumerate(pairs) if i)
        self._check(segments, sections)
        return Image(
            path=self.source.path,
            bits=self.bits,
            byte_order=self.byte_order,
            machine=kinds.machine_name(header.machine),
            type=kinds.file_type(header.type),
            entry=header.entry,
            segments=segments,
            sections=sections,
            problems=tuple(self.problems),
        )

    def _check(self, segments: tuple[Segment, ...], sections: tuple[Section, ...]) -> None:
        space = 1 << self.bits
        _note_all(
            self, "segment", [s.index for s in segments if s.loadable and s.end > space], "past the address space"
        )
        _note_all(
            self, "section", [s.index for s in sections if s.permissions and s.end > space], "past the address space"
        )
        outside = [s.index for s in segments if s.loadable and not self.source.holds(s.offset, s.file_size)]
        _note_all(self, "segment", outside, "past the end of the file")
        outside = [s.index for s in sections if s.type != "NULL" and not self.source.holds(s.offset, s.file_size)]
        _note_all(self, "section", outside, "past the end of the file")
        odd = [s.index for s in sections if s.alignment & (s.alignment - 1) or s.alignment >= 1 << 31]
        if odd:
            self.warn(f"{_some('section', odd)}: the alignment is no power of two below 2 GiB")
        wrong = [s.index for s in segments if s.loadable and s.file_size > s.memory_size]
        if wrong:
            self.warn(f"{_some('segment', wrong)}: more bytes in the file than in memory")


def _note_all(elf: ElfFile, what: str, indices: list[int], where: str) -> None:
    if indices:
        elf.warn(f"{_some(what, indices)}: ends {where}")


def _some(what: str, indices: list[int]) -> str:
    """Return for example "sections 1, 2, 3 and 40 more"."""
    shown = ", ".join(str(i) for i in indices[:5])
    more = f" and {len(indices) - 5:,} more" if len(indices) > 5 else ""
    return f"{what}{'s' if len(indices) > 1 else ''} {shown}{more}"


def _with_load_addresses(segments: tuple[Segment, ...]) -> tuple[Segment, ...]:
    """Take run addresses as load addresses where a linker left all the latter 0, as GNU BFD does."""
    loads = [s for s in segments if s.loadable]
    if len(loads) < 2 or any(s.load_address for s in segments):
        return segments
    return tuple(
        Segment(s.index, s.type, s.address, s.address, s.memory_size, s.file_size, s.offset, s.permissions, s.alignment)
        for s in segments
    )


class _Loads:
    """The loadable segments, findable by address."""

    # How many segments that begin before an address are looked at; they only matter where segments overlap.
    _LOOK_BACK = 16

    def __init__(self, segments: tuple[Segment, ...]) -> None:
        self._loads = sorted((s for s in segments if s.loadable), key=lambda s: s.address)
        self._starts = [s.address for s in self._loads]

    def load_address(self, raw: _RawSection, kind: Kind) -> int:
        """Return the load address: from the place among the segment's file bytes, or in its memory for NOBITS."""
        if kind is Kind.NONE:
            return raw.address
        end = bisect_right(self._starts, raw.address)
        for segment in reversed(self._loads[max(0, end - self._LOOK_BACK) : end]):
            if raw.address + raw.size > segment.end:
                continue
            if raw.type == kinds.SHT_NOBITS:
                return segment.load_address + (raw.address - segment.address)
            if segment.offset <= raw.offset and raw.offset + raw.size <= segment.offset + segment.file_size:
                return segment.load_address + (raw.offset - segment.offset)
        return raw.address


def _section(index: int, name: str, raw: _RawSection, loads: _Loads) -> Section:
    nobits = raw.type == kinds.SHT_NOBITS
    kind = kinds.section_kind(name, raw.type, raw.flags)
    return Section(
        index=index,
        name=name,
        type=kinds.section_type(raw.type),
        address=raw.address,
        load_address=loads.load_address(raw, kind),
        size=raw.size,
        file_size=0 if nobits or raw.type == 0 else raw.size,
        offset=raw.offset,
        permissions=kinds.section_permissions(raw.flags),
        alignment=raw.alignment,
        kind=kind,
        link=raw.link,
    )
