# SPDX-License-Identifier: Apache-2.0
"""What has grown between two builds of an image, and whether that is more than allowed."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from pathlib import PurePath
from typing import Literal

from vxmon.errors import InputError
from vxmon.image.layout import Layout
from vxmon.image.model import Image
from vxmon.image.symbols import SymbolTable

__all__ = ["Change", "Growth", "SizeBook", "compare", "parse_limit", "size_book"]

_MAX_SYMBOLS = 2_000_000
_UNITS = {"": 1, "K": 1 << 10, "M": 1 << 20, "G": 1 << 30}
_LIMIT = re.compile(r"([0-9]{1,15})(?:\.([0-9]{1,6}))?\s*(%|[KMG](?:i?B)?|B)?")


@dataclass(frozen=True, slots=True)
class SizeBook:
    """The sizes of an image by name, in bytes; sizes of one name are added up."""

    path: str
    totals: dict[str, int]
    sections: dict[str, int]
    symbols: dict[str, int]


@dataclass(frozen=True, slots=True)
class Change:
    """One size that differs. ``old`` or ``new`` is 0 for what exists in one image only."""

    what: Literal["total", "section", "symbol"]
    name: str
    old: int
    new: int

    @property
    def delta(self) -> int:
        """Return by how much it grew."""
        return self.new - self.old


@dataclass(frozen=True, slots=True)
class Growth:
    """The comparison of one image with its baseline; changes are sorted, largest growth first.

    ``exceeded`` holds the totals (ram, load) that grew by more than ``limit`` allows.
    """

    path: str
    baseline: str
    totals: tuple[Change, ...]
    changes: tuple[Change, ...]
    limit: str | None
    exceeded: tuple[Change, ...]


def size_book(image: Image, layout: Layout, symbols: SymbolTable | None) -> SizeBook:
    """Return the sizes of an image, ready to be compared."""
    sections: dict[str, int] = {}
    for section in image.sections:
        if section.permissions and section.size:
            name = section.name or f"section {section.index}"
            sections[name] = sections.get(name, 0) + section.size
    totals = {"ram": layout.totals.ram, "load": layout.totals.load}
    return SizeBook(image.path, totals, sections, _by_name(image, symbols))


def compare(new: Sequence[SizeBook], old: Sequence[SizeBook], limit: str | None) -> list[Growth]:
    """Compare images with their baselines: the only ones with each other, else those of one file name."""
    if limit is not None:
        parse_limit(limit)
    if not old:
        if limit is not None:
            raise InputError("a largest growth needs a baseline to grow from: give --baseline")
        return []
    if len(new) == len(old) == 1:
        return [_compare(new[0], old[0], limit)]
    before = {PurePath(book.path).name: book for book in old}
    if len(before) != len(old):
        raise InputError("two baselines have one file name; they cannot be told apart")
    missing = [book.path for book in new if PurePath(book.path).name not in before]
    if missing:
        raise InputError(f"{missing[0]}: there is no baseline of that file name")
    return [_compare(book, before[PurePath(book.path).name], limit) for book in new]


def parse_limit(text: str) -> Fraction | int:
    """Return a limit of growth: an int of bytes ("4096", "4K", "1 MiB"), or a Fraction of the old size ("2 %").

    K, M and G are powers of 1024.
    """
    match = _LIMIT.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r} is no limit of growth: write bytes (4096, 4K, 1M) or per cent (2%)")
    number = Fraction(int(match[1])) + (Fraction(int(match[2]), 10 ** len(match[2])) if match[2] else 0)
    if match[3] == "%":
        return number / 100
    size = number * _UNITS[(match[3] or "").rstrip("iB")]
    return int(size)


def _by_name(image: Image, symbols: SymbolTable | None) -> dict[str, int]:
    if symbols is None:
        return {}
    if len(symbols) > _MAX_SYMBOLS:
        raise InputError(f"{image.path}: {len(symbols):,} symbols are more than the {_MAX_SYMBOLS:,} that are compared")
    sizes: dict[str, int] = {}
    for position, size in enumerate(symbols.size.tolist()):
        name = symbols.name(position)
        sizes[name] = sizes.get(name, 0) + size
    return sizes


def _compare(new: SizeBook, old: SizeBook, limit: str | None) -> Growth:
    totals = tuple(Change("total", name, old.totals[name], size) for name, size in new.totals.items())
    changes = _changes("section", old.sections, new.sections) + _changes("symbol", old.symbols, new.symbols)
    exceeded = tuple(c for c in totals if limit is not None and _exceeds(c, parse_limit(limit)))
    return Growth(new.path, old.path, totals, tuple(changes), limit, exceeded)


def _changes(what: Literal["section", "symbol"], old: dict[str, int], new: dict[str, int]) -> list[Change]:
    names = old.keys() | new.keys()
    changes = [Change(what, n, old.get(n, 0), new.get(n, 0)) for n in names if old.get(n, 0) != new.get(n, 0)]
    return sorted(changes, key=lambda c: (-c.delta, c.name))


def _exceeds(change: Change, limit: Fraction | int) -> bool:
    if isinstance(limit, int):
        return change.delta > limit
    return change.delta > limit * change.old
