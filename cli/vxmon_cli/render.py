# SPDX-License-Identifier: Apache-2.0
"""Report blocks on standard output: rich tables and trees on a terminal, plain columns elsewhere."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING

from vxmon.report.blocks import Bars, Block, Table, Text, Tree, bar_of, plain_lines
from vxmon_cli.output import open_output

if TYPE_CHECKING:
    from rich.console import Console
    from rich.tree import Tree as RichTree

__all__ = ["show", "write_text", "write_texts"]

# Above this a table is written line by line: rich measures every cell before it writes the first.
_MOST_ROWS = 2000
# Characters that are written at once.
_PIECE = 1 << 16


def show(blocks: Iterable[Block]) -> None:
    """Write report blocks to standard output."""
    if sys.stdout is not None and sys.stdout.isatty():
        _show_rich(blocks)
        return
    write_text("".join(line + "\n" for line in plain_lines(blocks)))


def write_text(text: str) -> None:
    """Write text to standard output. Raises OutputError when it does not take it."""
    with open_output(None) as write:
        write(text.encode("utf-8", "backslashreplace"))


def write_texts(texts: Iterable[str]) -> None:
    """Write many pieces of text as they come, in larger ones. Raises OutputError as ``write_text`` does."""
    waiting: list[str] = []
    size = 0
    for text in texts:
        waiting.append(text)
        size += len(text)
        if size >= _PIECE:
            write_text("".join(waiting))
            waiting, size = [], 0
    write_text("".join(waiting))


def _show_rich(blocks: Iterable[Block]) -> None:
    from rich.console import Console

    console = Console(highlight=False, emoji=False, markup=False)
    for block in blocks:
        if isinstance(block, Text):
            console.print("\n".join(block.lines), style="bold" if block.important else None)
        elif isinstance(block, Table) and len(block.rows) <= _MOST_ROWS:
            _show_table(console, block)
        elif isinstance(block, Tree):
            console.print(_rich_tree(block))
        elif isinstance(block, Bars):
            _show_bars(console, block)
        else:
            write_text("".join(line + "\n" for line in plain_lines([block])))


def _show_table(console: Console, block: Table) -> None:
    from rich.box import SIMPLE_HEAD
    from rich.table import Table as RichTable
    from rich.text import Text as RichText

    table = RichTable(title=RichText(block.title) if block.title else None, title_justify="left", box=SIMPLE_HEAD)
    for name in block.columns:
        right = name.startswith(">")
        table.add_column(RichText(name.removeprefix(">")), justify="right" if right else "left", overflow="fold")
    for row in block.rows:
        table.add_row(*(RichText(cell) for cell in row))
    console.print(table)


def _rich_tree(block: Tree) -> RichTree:
    from rich.text import Text as RichText
    from rich.tree import Tree as RichTree

    tree = RichTree(RichText(block.label))
    for child in block.children:
        tree.children.append(_rich_tree(child))
    return tree


def _show_bars(console: Console, block: Bars) -> None:
    from rich.text import Text as RichText

    label = max((len(b.label) for b in block.bars), default=0)
    text = max((len(b.text) for b in block.bars), default=0)
    width = max(10, console.width - label - text - 4)
    if block.title:
        console.print(block.title, style="bold")
    for bar in block.bars:
        line = RichText(f"{bar.label.ljust(label)}  ")
        line.append(("█" * bar_of(bar, block.whole, width)).ljust(width), style="cyan")
        console.print(line.append(f"  {bar.text.rjust(text)}"), no_wrap=True, overflow="ellipsis")
