# SPDX-License-Identifier: Apache-2.0
"""An ELF image as values. Addresses and sizes are Python integers: bytes, unsigned, up to 64 bits."""

from __future__ import annotations

from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Literal

__all__ = ["Image", "Kind", "Problem", "Section", "Segment", "Severity"]

Severity = Literal["warning", "note"]


class Kind(StrEnum):
    """What a section is to the memory of the running image."""

    CODE = "code"
    CONSTANTS = "constants"
    DATA = "data"
    ZERO_DATA = "zero data"
    STACK = "stack"
    HEAP = "heap"
    RESERVED = "reserved"
    """NOBITS without write permission: the script keeps addresses free, no memory stands behind them."""
    THREAD_ZERO = "thread zero data"
    """.tbss: a size for every thread's block; takes no address space itself."""
    NONE = "none"
    """Not allocated: symbol tables, debug information, notes for tools."""


@dataclass(frozen=True, slots=True)
class Problem:
    """Something odd about an image. A note explains, a warning casts doubt on a figure."""

    severity: Severity
    image: str
    message: str


@dataclass(frozen=True, slots=True)
class Segment:
    """A program header. ``permissions`` is like ``R-X``."""

    index: int
    type: str
    address: int
    load_address: int
    memory_size: int
    file_size: int
    offset: int
    permissions: str
    alignment: int

    @property
    def loadable(self) -> bool:
        """Tell whether the loader makes memory of it."""
        return self.type == "LOAD"

    @property
    def end(self) -> int:
        """Return the address after its last byte of memory."""
        return self.address + self.memory_size


@dataclass(frozen=True, slots=True)
class Section:
    """A section header. ``load_address`` is where its bytes are stored until they are used; see layout."""

    index: int
    name: str
    type: str
    address: int
    load_address: int
    size: int
    file_size: int
    offset: int
    permissions: str
    alignment: int
    kind: Kind
    link: int = 0

    @property
    def end(self) -> int:
        """Return the address after its last byte."""
        return self.address + self.size

    @property
    def occupies(self) -> bool:
        """Tell whether it takes memory at its address."""
        return self.size > 0 and self.kind not in (Kind.NONE, Kind.RESERVED, Kind.THREAD_ZERO)


@dataclass(frozen=True, slots=True)
class Image:
    """An ELF file. ``common`` is the size of common symbols, which only relocatable files have."""

    path: str
    bits: Literal[32, 64]
    byte_order: Literal["little", "big"]
    machine: str
    type: str
    entry: int
    segments: tuple[Segment, ...]
    sections: tuple[Section, ...]
    problems: tuple[Problem, ...]
    common: int = 0

    @property
    def relocatable(self) -> bool:
        """Tell whether it is an object file, whose sections have no addresses yet."""
        return self.type == "REL"

    def with_common(self, size: int) -> Image:
        """Return the image with its common symbols counted."""
        return replace(self, common=size)

    def noted(self, *problems: Problem) -> Image:
        """Return the image with more problems."""
        return replace(self, problems=(*self.problems, *problems))
