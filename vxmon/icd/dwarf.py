# SPDX-License-Identifier: Apache-2.0
"""Messages from the types in an application's DWARF, as in ``app.elf:struct nav_state``.

Source: the DWARF standard, versions 2 to 5 (https://dwarfstd.org), sections 5.1 to 5.13.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Final

from vxmon.config.place import Place
from vxmon.errors import InputError
from vxmon.icd.coverage import with_padding
from vxmon.icd.dwarf_fields import Flattener
from vxmon.icd.model import Message
from vxmon.image.bytesource import ByteSource
from vxmon.image.dwarf_data import DwarfError
from vxmon.image.dwarf_entries import At, Entries, Entry, Tag
from vxmon.image.elf import ElfFile

__all__ = ["TypeName", "list_types", "message_of_type"]

_KINDS: Final = {
    "struct": frozenset({Tag.STRUCTURE, Tag.CLASS}),
    "class": frozenset({Tag.STRUCTURE, Tag.CLASS}),
    "union": frozenset({Tag.UNION}),
    "enum": frozenset({Tag.ENUMERATION}),
}
_NAMED: Final = frozenset({Tag.STRUCTURE, Tag.CLASS, Tag.UNION, Tag.ENUMERATION, Tag.TYPEDEF, Tag.BASE})
_MOST_DEFINITIONS: Final = 1000
_MOST_LISTED: Final = 100_000
_WORDS: Final = {Tag.STRUCTURE: "struct ", Tag.CLASS: "class ", Tag.UNION: "union "}


@dataclass(frozen=True, slots=True)
class TypeName:
    """A type that messages may have: name as it is written in C, size in bytes, first unit that defines it."""

    name: str
    size: int
    unit: str


def message_of_type(path: str, name: str) -> Message:
    """Return the message that a C type describes.

    Args:
        path: of an ELF file with debug information.
        name: ``struct nav_state``, ``nav_state_t``, or with the unit that defines it, ``nav_state_t@src/nav.c``.

    Raises:
        InputError: there is no such type, or there are several different ones.

    """
    wanted, _, unit = name.partition("@")
    with ByteSource(Path(path)) as source:
        elf = ElfFile(source)
        entries = _open(elf)
        try:
            found = _definitions(elf, entries, wanted, unit)
        except DwarfError as error:
            raise InputError(f"{path}: {wanted}: {error}") from None
    if not found:
        where = f" in a unit named {unit}" if unit else ""
        hint = "; part of the debug information is in .dwo files" if entries.split else ""
        raise InputError(f"{path}: there is no type {wanted}{where} in the debug information{hint}")
    return replace(found[0], name=name, place=Place(path))


def list_types(path: str) -> list[TypeName]:
    """Return the structures and unions of an ELF file, by name. Raises InputError as message_of_type does."""
    with ByteSource(Path(path)) as source:
        entries = _open(ElfFile(source))
        found: dict[str, TypeName] = {}
        try:
            for entry in entries.find(None, frozenset(_WORDS)):
                size = entry.number(At.BYTE_SIZE)
                name = _WORDS[entry.tag] + entry.name
                if size is not None and name not in found and len(found) < _MOST_LISTED:
                    found[name] = TypeName(name, size, entries.unit_name(entry))
        except DwarfError as error:
            raise InputError(f"{path}: {error}") from None
    return sorted(found.values(), key=lambda t: t.name)


def _open(elf: ElfFile) -> Entries:
    if elf.image.relocatable:
        raise InputError(f"{elf.source.path}: types of a relocatable file are not read; give the linked application")
    entries = Entries(elf)
    if entries.empty:
        raise InputError(f"{elf.source.path}: there is no debug information; compile with -g and do not strip")
    return entries


def _definitions(elf: ElfFile, entries: Entries, wanted: str, unit: str) -> list[Message]:
    """Return the message of each definition that differs from those before; more than one is an error."""
    messages: list[tuple[Message, str]] = []
    for entry in _named(entries, wanted):
        name = entries.unit_name(entry)
        if unit and not (name == unit or name.endswith("/" + unit)):
            continue
        flattener = Flattener(entries, elf.byte_order)
        size, fields = flattener.message(entry)
        notes = tuple(flattener.notes)
        message = with_padding(Message(wanted, size, tuple(fields), size, notes=notes))
        if messages and message != messages[0][0]:
            units = f"{messages[0][1]} and {name}"
            raise InputError(
                f"{elf.source.path}: {wanted} is different in {units}; say which one: {wanted}@{messages[0][1]}"
            )
        messages.append((message, name))
    return [message for message, _ in messages[:1]]


def _named(entries: Entries, wanted: str) -> Iterator[Entry]:
    """Yield the definitions of a type, the first of them by each name in C: structures have names of their own."""
    word, _, rest = wanted.strip().partition(" ")
    tags, name = (_KINDS[word], rest.strip()) if word in _KINDS and rest else (_NAMED, wanted.strip())
    for count, entry in enumerate(entries.find(name, tags)):
        if count == _MOST_DEFINITIONS:
            return
        if entry.number(At.DECLARATION) is None:
            yield entry
