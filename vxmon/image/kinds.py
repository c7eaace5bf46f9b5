# SPDX-License-Identifier: Apache-2.0
"""From numbers in headers to words: types, permissions, and what a section is to memory.

Numbers are those of the System V ABI, chapter 4 and 5 (https://www.sco.com/developers/gabi/latest/contents.html).
"""

from __future__ import annotations

import re
from functools import lru_cache

from vxmon.image.model import Kind

__all__ = [
    "SHF_ALLOC",
    "SHF_COMPRESSED",
    "SHF_EXECINSTR",
    "SHF_TLS",
    "SHF_WRITE",
    "SHT_NOBITS",
    "file_type",
    "machine_name",
    "section_kind",
    "section_permissions",
    "section_type",
    "segment_permissions",
    "segment_type",
]

SHT_NOBITS = 8
SHF_WRITE, SHF_ALLOC, SHF_EXECINSTR, SHF_TLS, SHF_COMPRESSED = 0x1, 0x2, 0x4, 0x400, 0x800

_FILE_TYPES = {0: "NONE", 1: "REL", 2: "EXEC", 3: "DYN", 4: "CORE"}
_SEGMENT_TYPES = {0: "NULL", 1: "LOAD", 2: "DYNAMIC", 3: "INTERP", 4: "NOTE", 5: "SHLIB", 6: "PHDR", 7: "TLS"}
_GNU_SEGMENT_TYPES = {
    0x6474E550: "GNU_EH_FRAME",
    0x6474E551: "GNU_STACK",
    0x6474E552: "GNU_RELRO",
    0x6474E553: "GNU_PROPERTY",
}
_SECTION_TYPES = dict(
    enumerate("NULL PROGBITS SYMTAB STRTAB RELA HASH DYNAMIC NOTE NOBITS REL SHLIB DYNSYM".split())
) | {
    14: "INIT_ARRAY",
    15: "FINI_ARRAY",
    16: "PREINIT_ARRAY",
    17: "GROUP",
    18: "SYMTAB_SHNDX",
    19: "RELR",
    0x6FFFFFF5: "GNU_ATTRIBUTES",
    0x6FFFFFF6: "GNU_HASH",
    0x6FFFFFFD: "GNU_VERDEF",
    0x6FFFFFFE: "GNU_VERNEED",
    0x6FFFFFFF: "GNU_VERSYM",
}
_WORDS = re.compile(r"[^a-z]+")


def file_type(number: int) -> str:
    """Return the name of an e_type."""
    return _FILE_TYPES.get(number, f"0x{number:x}")


def segment_type(number: int) -> str:
    """Return the name of a p_type."""
    return _SEGMENT_TYPES.get(number) or _GNU_SEGMENT_TYPES.get(number) or f"0x{number:x}"


def section_type(number: int) -> str:
    """Return the name of an sh_type."""
    return _SECTION_TYPES.get(number) or f"0x{number:x}"


@lru_cache(maxsize=16)
def machine_name(number: int) -> str:
    """Return the name of an e_machine, for example PowerPC."""
    # pyelftools' lists of machines; imported late because its import takes longer than reading most images.
    from elftools.elf.descriptions import describe_e_machine
    from elftools.elf.enums import ENUM_E_MACHINE

    symbol = next((name for name, value in ENUM_E_MACHINE.items() if value == number), None)
    described = describe_e_machine(symbol) if symbol else None
    if described and not described.startswith("<unknown"):
        return described
    return symbol.removeprefix("EM_") if symbol else f"machine {number}"


def segment_permissions(flags: int) -> str:
    """Return p_flags like R-X."""
    return "".join(letter if flags & bit else "-" for letter, bit in (("R", 4), ("W", 2), ("X", 1)))


def section_permissions(flags: int) -> str:
    """Return what sh_flags permit, like R-X; empty for a section that is not in memory."""
    if not flags & SHF_ALLOC:
        return ""
    return "R" + ("W" if flags & SHF_WRITE else "-") + ("X" if flags & SHF_EXECINSTR else "-")


def section_kind(name: str, number: int, flags: int) -> Kind:
    """Tell what a section of that name, sh_type and sh_flags is to memory."""
    if not flags & SHF_ALLOC:
        return Kind.NONE
    if number == SHT_NOBITS:
        return _zero_kind(name, flags)
    if flags & SHF_EXECINSTR:
        return Kind.CODE
    return _named_kind(name, Kind.DATA) if flags & SHF_WRITE else Kind.CONSTANTS


def _zero_kind(name: str, flags: int) -> Kind:
    if flags & SHF_TLS:
        return Kind.THREAD_ZERO
    if not flags & SHF_WRITE:
        return Kind.RESERVED
    return _named_kind(name, Kind.ZERO_DATA)


def _named_kind(name: str, otherwise: Kind) -> Kind:
    """Recognise .heap, .stack, ._user_heap_stack, .irq_stack and their like."""
    words = set(_WORDS.split(name.lower()))
    if "heap" in words:
        return Kind.HEAP
    return Kind.STACK if words & {"stack", "stacks"} else otherwise
