# SPDX-License-Identifier: Apache-2.0
"""The doors to a file's DWARF: its debug sections as bytes, and the headers of its units."""

from __future__ import annotations

import zlib
from dataclasses import dataclass

from vxmon.image.bytesource import MAX_PIECE, printable
from vxmon.image.dwarf_data import Cursor, DwarfError, Sections
from vxmon.image.elf import ElfFile
from vxmon.image.kinds import SHF_COMPRESSED
from vxmon.image.model import Section

__all__ = [
    "LONGEST_NAME",
    "UT_SKELETON",
    "UT_SPLIT_COMPILE",
    "UT_SPLIT_TYPE",
    "UT_TYPE",
    "UnitHead",
    "debug_sections",
    "read_head",
    "text_at",
]

LONGEST_NAME = 1024
UT_TYPE, UT_SPLIT_COMPILE, UT_SKELETON, UT_SPLIT_TYPE = 2, 5, 4, 6
_MAX_INFLATED = 512 << 20


@dataclass(frozen=True, slots=True)
class UnitHead:
    """A unit's header; ``start`` is its place, ``first`` that of its entries, in .debug_info.

    A type unit has a signature, and the place of its type in ``type``, counted from ``start``.
    """

    version: int
    first: int
    end: int
    abbrev: int
    offset_size: int
    address_size: int
    kind: int
    start: int = 0
    signature: int = 0
    type: int = 0


def debug_sections(elf: ElfFile) -> Sections:
    """Return the debug sections of an open file, inflated; what cannot be read is empty and told."""
    found: dict[str, Section] = {}
    for section in elf.image.sections:
        if section.name.startswith((".debug_", ".zdebug_")):
            found.setdefault(section.name.lstrip(".z"), section)
    return Sections(*(_bytes(elf, found.get(f"debug_{name}")) for name in Sections._fields))


def _bytes(elf: ElfFile, section: Section | None) -> bytes:
    """Return the contents of a debug section, inflated where it is compressed."""
    if section is None or section.type == "NOBITS":
        return b""
    if section.size > MAX_PIECE:
        elf.warn(f"{section.name} is larger than what is read")
        return b""
    data = elf.source.read(section.offset, section.size)
    if elf.raw_sections[section.index].flags & SHF_COMPRESSED:
        head = 24 if elf.bits == 64 else 12
        kind = int.from_bytes(data[:4], elf.byte_order)
        return _inflated(elf, section.name, data[head:]) if kind == 1 else _unknown(elf, section.name, kind)
    if section.name.startswith(".z") and data.startswith(b"ZLIB"):
        return _inflated(elf, section.name, data[12:])
    return data


def _unknown(elf: ElfFile, name: str, kind: int) -> bytes:
    what = "zstd" if kind == 2 else f"method {kind}"
    elf.warn(f"{name} is compressed with {what}, which is not read")
    return b""


def _inflated(elf: ElfFile, name: str, data: bytes) -> bytes:
    inflater = zlib.decompressobj()
    try:
        result = inflater.decompress(data, _MAX_INFLATED)
    except zlib.error as error:
        elf.warn(f"{name} cannot be decompressed: {error}")
        return b""
    if inflater.unconsumed_tail:
        elf.warn(f"{name} is larger than {_MAX_INFLATED >> 20} MiB when decompressed")
        return b""
    return result


def read_head(info: bytes, position: int, order: str, *, types: bool = False) -> UnitHead:
    """Return the header of the unit at a place of .debug_info, or .debug_types with ``types``.

    Raises DwarfError for what no version defines.
    """
    cursor = Cursor(info, position, len(info), order)
    length, offset_size = cursor.number(4), 4
    if length == 0xFFFFFFFF:
        length, offset_size = cursor.number(8), 8
    end = cursor.position + length
    if end > len(info):
        raise DwarfError("a unit ends past the end of .debug_info")
    version = cursor.number(2)
    if not 2 <= version <= 5:
        raise DwarfError(f"DWARF version {version} is not known")
    kind = UT_TYPE if types else 1
    if version == 5:
        kind, address_size, abbrev = cursor.number(1), cursor.number(1), cursor.number(offset_size)
        cursor.skip(8 if kind in (UT_SKELETON, UT_SPLIT_COMPILE) else 0)
    else:
        abbrev, address_size = cursor.number(offset_size), cursor.number(1)
    if address_size not in (1, 2, 4, 8):
        raise DwarfError(f"addresses of {address_size} bytes")
    signature = type_place = 0
    if kind in (UT_TYPE, UT_SPLIT_TYPE):
        signature, type_place = cursor.number(8), cursor.number(offset_size)
    sizes = (offset_size, address_size)
    return UnitHead(version, cursor.position, end, abbrev, *sizes, kind, position, signature, type_place)


def text_at(data: bytes, offset: int) -> str:
    """Return the text at a place of a string section; one that does not end is cut."""
    end = data.find(b"\0", offset, offset + LONGEST_NAME + 1)
    return printable(data[offset : end if end >= 0 else offset + LONGEST_NAME], LONGEST_NAME)
