# SPDX-License-Identifier: Apache-2.0
"""Pieces of a text report, and their plain form: aligned columns, no colour, for pipes and files."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field

__all__ = ["Bar", "Bars", "Block", "Table", "Text", "Tree", "bar_of", "plain_lines"]

_BAR_WIDTH = 40


@dataclass(frozen=True, slots=True)
class Text:
    """Lines as they are. ``important`` ones stand out on a terminal."""

    lines: tuple[str, ...]
    important: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under column names; a name that begins with ``>`` makes a column of numbers, aligned to the right."""

    title: str
    columns: tuple[str, ...]
    rows: Sequence[Sequence[str]]


@dataclass(frozen=True, slots=True)
class Tree:
    """A label and what belongs to it."""

    label: str
    children: tuple[Tree, ...] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    """One bar: a label, a number that gives its length, and what is written behind it."""

    label: str
    value: int
    text: str


@dataclass(frozen=True, slots=True)
class Bars:
    """Bars in proportion to ``whole``."""

    title: str
    whole: int
    bars: Sequence[Bar] = field(default_factory=tuple)


Block = Text | Table | Tree | Bars


def plain_lines(blocks: Iterable[Block]) -> Iterator[str]:
    """Yield the lines of a report, with an empty line between blocks."""
    first = True
    for block in blocks:
        if not first:
            yield ""
        first = False
        if isinstance(block, Text):
            yield from block.lines
        elif isinstance(block, Table):
            yield from _table(block)
        elif isinstance(block, Tree):
            yield from _tree(block)
        else:
            yield from _bars(block)


def bar_of(bar: Bar, whole: int, width: int = _BAR_WIDTH) -> int:
    """Return the length of a bar in characters: in proportion, but at least 1 for anything above 0."""
    if bar.value <= 0 or whole <= 0:
        return 0
    return max(1, min(width, (bar.value * width + whole // 2) // whole))


def _table(table: Table) -> Iterator[str]:
    if table.title:
        yield table.title
    names = [c.removeprefix(">") for c in table.columns]
    right = [c.startswith(">") for c in table.columns]
    widths = [max([len(n), *(len(row[i]) for row in table.rows)]) for i, n in enumerate(names)]
    for row in (names, *table.rows):
        cells = (c.rjust(w) if r else c.ljust(w) for c, w, r in zip(row, widths, right, strict=True))
        yield "  ".join(cells).rstrip()


def _tree(tree: Tree) -> Iterator[str]:
    yield tree.label
    last = len(tree.children) - 1
    for position, child in enumerate(tree.children):
        first, more = ("`- ", "   ") if position == last else ("|- ", "|  ")
        for number, line in enumerate(_tree(child)):
            yield (more if number else first) + line


def _bars(bars: Bars) -> Iterator[str]:
    if bars.title:
        yield bars.title
    width = max((len(b.label) for b in bars.bars), default=0)
    for bar in bars.bars:
        drawn = "#" * bar_of(bar, bars.whole)
        yield f"{bar.label.ljust(width)}  {drawn.ljust(_BAR_WIDTH, '.')}  {bar.text}"
