# SPDX-License-Identifier: Apache-2.0
"""Writes ELF files as a test describes them, sensible or not: nothing is checked or corrected."""

from __future__ import annotations

import struct
from dataclasses import dataclass, field, replace

__all__ = ["NOBITS", "PROGBITS", "STRTAB", "SYMTAB", "TLS", "A", "Elf", "Sec", "Seg", "W", "X", "symbol"]

A, W, X, TLS = 2, 1, 4, 0x400
PROGBITS, SYMTAB, STRTAB, NOBITS = 1, 2, 3, 8


@dataclass
class Sec:
    """A section header; ``data`` is put into the file unless ``offset`` says where the section is."""

    name: str = ""
    type: int = PROGBITS
    flags: int = 0
    address: int = 0
    size: int | None = None
    data: bytes = b""
    offset: int | None = None
    link: int = 0
    info: int = 0
    alignment: int = 1
    entsize: int = 0
    name_offset: int | None = None


@dataclass
class Seg:
    """A program header; type 1 is LOAD."""

    address: int = 0
    memory_size: int = 0
    file_size: int = 0
    load_address: int | None = None
    type: int = 1
    flags: int = 5
    offset: int = 0
    alignment: int = 1


@dataclass
class Elf:
    """A file. Fields of the header that are None are what fits the tables."""

    bits: int = 32
    order: str = ">"
    type: int = 2
    machine: int = 20
    entry: int = 0
    segments: list[Seg] = field(default_factory=list)
    sections: list[Sec] = field(default_factory=list)
    names: bool = True
    phoff: int | None = None
    shoff: int | None = None
    phentsize: int | None = None
    phnum: int | None = None
    shentsize: int | None = None
    shnum: int | None = None
    shstrndx: int | None = None

    def encode(self) -> bytes:
        """Return the bytes: header, program headers, section contents, section headers."""
        wide = self.bits == 64
        header_size, ph_size, sh_size = (64, 56, 64) if wide else (52, 32, 40)
        ph_stride, sh_stride = self.phentsize or ph_size, self.shentsize or sh_size
        sections = [Sec(type=0, alignment=0), *(replace(s) for s in self.sections)] if self.sections else []
        strings = b"\0"
        if sections and self.names:
            sections.append(Sec(".shstrtab", STRTAB))
            for section in sections:
                if section.name and section.name_offset is None:
                    section.name_offset = len(strings)
                    strings += section.name.encode() + b"\0"
            sections[-1].data = strings
        body = b""
        start = header_size + ph_stride * len(self.segments)
        placed: list[tuple[Sec, int, int]] = []
        for section in sections:
            size = len(section.data) if section.size is None else section.size
            offset = start + len(body) if section.offset is None else section.offset
            body += section.data
            placed.append((section, offset, size))
        large = len(sections) >= 0xFF00
        if large:
            first = placed[0][0]
            first.link = len(sections) - 1 if self.names else 0
            placed[0] = (first, 0, len(sections))
        shoff = start + len(body) if self.shoff is None else self.shoff
        count = 0 if large else len(sections)
        index = 0xFFFF if large else len(sections) - 1 if sections and self.names else 0
        header = struct.pack(
            self.order + ("HHIQQQIHHHHHH" if wide else "HHIIIIIHHHHHH"),
            self.type,
            self.machine,
            1,
            self.entry,
            (header_size if self.segments else 0) if self.phoff is None else self.phoff,
            shoff if sections or self.shoff is not None else 0,
            0,
            header_size,
            ph_stride,
            len(self.segments) if self.phnum is None else self.phnum,
            sh_stride,
            count if self.shnum is None else self.shnum,
            index if self.shstrndx is None else self.shstrndx,
        )
        ident = b"\x7fELF" + bytes([2 if wide else 1, 1 if self.order == "<" else 2, 1]) + bytes(9)
        segments = b"".join(self._segment(s).ljust(ph_stride, b"\xee")[:ph_stride] for s in self.segments)
        table = b"".join(self._section(*p).ljust(sh_stride, b"\xee")[:sh_stride] for p in placed)
        return ident + header + segments + body + table

    def _segment(self, s: Seg) -> bytes:
        load = s.address if s.load_address is None else s.load_address
        if self.bits == 64:
            values = (s.type, s.flags, s.offset, s.address, load, s.file_size, s.memory_size, s.alignment)
            return struct.pack(self.order + "IIQQQQQQ", *values)
        values = (s.type, s.offset, s.address, load, s.file_size, s.memory_size, s.flags, s.alignment)
        return struct.pack(self.order + "IIIIIIII", *values)

    def _section(self, s: Sec, offset: int, size: int) -> bytes:
        shape = "IIQQQQIIQQ" if self.bits == 64 else "IIIIIIIIII"
        numbers = (s.name_offset or 0, s.type, s.flags, s.address, offset, size, s.link, s.info, s.alignment, s.entsize)
        return struct.pack(self.order + shape, *numbers)


def symbol(name: int, value: int, size: int, info: int, section: int, *, bits: int = 32, order: str = ">") -> bytes:
    """Return one entry of a symbol table."""
    if bits == 64:
        return struct.pack(order + "IBBHQQ", name, info, 0, section, value, size)
    return struct.pack(order + "IIIBBH", name, value, size, info, 0, section)
