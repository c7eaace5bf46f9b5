# SPDX-License-Identifier: Apache-2.0
"""GNU ld linker maps (``-Wl,-Map=FILE``): which object file, or member of an archive, each byte came from.

The format is only described by its source (binutils ld/ldlang.c, print_output_section_statement and following).
An output section begins in column 0, its parts are indented by one blank; a long name is followed by its numbers
on the next line; ``*fill*`` is padding.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from vxmon.errors import InputError
from vxmon.image.bytesource import ByteSource, printable

__all__ = ["MAX_MAP", "LinkMap", "Member", "read_linkmap"]

MAX_MAP = 256 << 20
"""Largest map that is read, in bytes."""

_BEGIN = "Linker script and memory map"
_LONGEST_LINE = 8192
_MAX_MEMBERS = 200_000
_NUMBERS = r"(0x[0-9a-f]{1,16})\s+(0x[0-9a-f]{1,16})"
_OUTPUT = re.compile(rf"([^\s*(][^\s]*)(?:\s+{_NUMBERS})?(?:\s+load address 0x[0-9a-f]+)?\s*$")
_INPUT = re.compile(rf" (\*fill\*|[^\s*(][^\s]*)(?:\s+{_NUMBERS}(?:\s+(\S.*))?)?\s*$")
_CONTINUED = re.compile(rf"\s+{_NUMBERS}(?:\s+(\S.*))?$")
_MEMBER = re.compile(r"(.*)\(([^()]*)\)$")


@dataclass(slots=True)
class Member:
    """An object file; ``archive`` is empty for one that was named itself. Sizes by output section, in bytes."""

    archive: str
    name: str
    sizes: dict[str, int] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class LinkMap:
    """What a map says. ``outputs`` are the sizes of the output sections, ``fill`` the padding in each."""

    path: str
    members: tuple[Member, ...]
    outputs: dict[str, int]
    fill: dict[str, int]


def read_linkmap(path: Path) -> LinkMap:
    """Read a GNU ld map. Raises InputError when it is none, or too large."""
    with ByteSource(path) as source:
        if source.size > MAX_MAP:
            raise InputError(f"{path}: the linker map is larger than {MAX_MAP >> 20} MiB")
        data = source.read(0, source.size)
    lines = _lines(data)
    if not any(line.startswith(_BEGIN) for line in lines):
        raise InputError(f"{path}: no GNU ld map: there is no line '{_BEGIN}'")
    reader = _Reader(str(path))
    for line in lines:
        reader.line(line)
    return LinkMap(str(path), tuple(reader.members.values()), reader.outputs, reader.fill)


def _lines(data: bytes) -> Iterator[str]:
    position = 0
    while position < len(data):
        end = data.find(b"\n", position)
        end = len(data) if end < 0 else end
        yield data[position : min(end, position + _LONGEST_LINE)].decode("utf-8", "backslashreplace").rstrip("\r")
        position = end + 1


class _Reader:
    """Collects sizes while lines go by; a name without numbers waits for those of the next line."""

    def __init__(self, path: str) -> None:
        self.members: dict[tuple[str, str], Member] = {}
        self.outputs: dict[str, int] = {}
        self.fill: dict[str, int] = {}
        self._path = path
        self._output: str | None = None
        self._waiting: str | None = None

    def line(self, line: str) -> None:
        waiting, self._waiting = self._waiting, None
        if waiting is not None and (match := _CONTINUED.match(line)):
            self._sized(waiting, match[2], match[3])
        elif line[:1].isspace():
            self._part(line)
        elif line:
            self._output_line(line)

    def _output_line(self, line: str) -> None:
        match = _OUTPUT.match(line)
        # LOAD, START GROUP, OUTPUT(...) and their like are no sections.
        if match is None or match[1] in ("LOAD", "START", "END", "OUTPUT"):
            self._output = None
            return
        self._output = None if match[1] == "/DISCARD/" else printable(match[1].encode())
        if match[3] is not None:
            self._sized("", match[3], None)
        else:
            self._waiting = ""

    def _part(self, line: str) -> None:
        match = _INPUT.match(line)
        if match is None or self._output is None:
            return
        if match[3] is None:
            self._waiting = match[1]
        else:
            self._sized(match[1], match[3], match[4])

    def _sized(self, part: str, size: str, file: str | None) -> None:
        """Count the size of an output section (no part), of padding, or of an input section."""
        output = self._output
        if output is None:
            return
        if not part:
            self.outputs[output] = self.outputs.get(output, 0) + int(size, 16)
        elif part == "*fill*":
            self.fill[output] = self.fill.get(output, 0) + int(size, 16)
        elif file:
            sizes = self._member(file.strip()).sizes
            sizes[output] = sizes.get(output, 0) + int(size, 16)

    def _member(self, file: str) -> Member:
        match = _MEMBER.match(file)
        key = (match[1], match[2]) if match else ("", file)
        member = self.members.get(key)
        if member is None:
            if len(self.members) >= _MAX_MEMBERS:
                raise InputError(f"{self._path}: more than {_MAX_MEMBERS:,} object files")
            member = self.members[key] = Member(printable(key[0].encode()), printable(key[1].encode()))
        return member
