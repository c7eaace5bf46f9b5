# SPDX-License-Identifier: Apache-2.0
"""Lines of many rows laid one after the other: each part is stored once, where it stands in the text."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vxmon.report.cells import Cell, Ints, Part, overlaid, windows
from vxmon.report.digits import lookup_table
from vxmon.trace import Columns

__all__ = ["Constants", "Group", "Heads", "Kinds", "alike", "lay"]

_END: Final = b"\n"

Rows = NDArray[np.intp]
# Texts by kind, each the same for all rows of its kind.
Constants = list[bytes]
# Rows that are alike, and the cells side by side behind their fronts.
Group = tuple[Rows, list[Cell]]


class Kinds(NamedTuple):
    """Rows of each event and length, in order within; ``which`` of these each row is among."""

    rows: list[Rows]
    which: NDArray[np.intp]


def alike(columns: Columns) -> Kinds:
    """Find what has the same event and length."""
    keys = columns.id << np.uint16(4) | columns.slots
    order = np.argsort(keys, kind="stable")
    sorted_keys = keys.take(order)
    edges = np.flatnonzero(sorted_keys[1:] != sorted_keys[:-1]) + 1
    rows = np.split(order, edges) if len(order) else []
    numbers = np.empty(int(keys.max(initial=0)) + 1, np.intp)
    numbers[[int(keys[some[0]]) for some in rows]] = np.arange(len(rows))
    return Kinds(rows, numbers.take(keys))


class Heads(NamedTuple):
    """What lines begin with.

    ``fronts`` is as much of it as has one length in all rows, behind the end of the line before. ``rest`` is what
    differs in length, and what is behind that.
    """

    fronts: NDArray[np.void]
    rest: list[Constants | Cell]

    @classmethod
    def of(cls, parts: Iterable[Part | Constants], kinds: Kinds) -> Heads:
        """Heads of parts side by side: constants, constants by kind, and cells of all rows in order."""
        count = len(kinds.rows)
        found = [[_END] * count, *(_by_kind(part, count) for part in parts)]
        even = next((number for number, part in enumerate(found) if not _is_even(part)), len(found))
        return cls(_fronts(found[:even], kinds), found[even:])

    def behind(self, kind: int, rows: Rows) -> list[Part]:
        """The rest of the heads of the rows of a kind."""
        return [part.take(rows) if isinstance(part, Cell) else part[kind] for part in self.rest]


def _by_kind(part: Part | Constants, count: int) -> Constants | Cell:
    if isinstance(part, Cell):
        return part.settled()
    return [part] * count if isinstance(part, bytes) else part


def _is_even(part: Constants | Cell) -> bool:
    """Of one length in all rows."""
    if isinstance(part, Cell):
        return isinstance(part.lengths, int)
    return len(set(map(len, part))) == 1


def _fronts(parts: Sequence[Constants | Cell], kinds: Kinds) -> NDArray[np.void]:
    """Even parts side by side."""
    columns = [[bytes(part.width)] * len(kinds.rows) if isinstance(part, Cell) else part for part in parts]
    templates = [b"".join(texts) for texts in zip(*columns, strict=True)]
    items = lookup_table(templates).take(kinds.which)
    overlaid(items, [part if isinstance(part, Cell) else part[0] for part in parts])
    return items


def lay(fronts: NDArray[np.void], groups: list[Group]) -> bytearray:
    """A line a row: its front, then its cells.

    What is behind the text of a cell is overwritten by the next cell of the line or by the front of the next line,
    which are stored after it. It must never reach farther, so a cell that has more behind its text than a front is
    wide is stored in classes of length.

    Args:
        fronts: an item a row, in order; all of it counts. It begins with the end of the line before.
        groups: each row is in one of them.

    """
    if not len(fronts):
        return bytearray()
    front = fronts.dtype.itemsize
    lengths = np.empty(len(fronts), np.int64)
    for rows, cells in groups:
        lengths[rows] = sum((cell.lengths for cell in cells), front)
    behind = np.cumsum(lengths)
    size = int(behind[-1])
    behind -= lengths - front
    text = bytearray(size + front + len(_END))
    for rows, cells in groups:
        at = behind.take(rows)
        for cell in cells[:-1]:
            _store(text, at, cell, front)
            at += cell.lengths
        for cell in cells[-1:]:
            _store(text, at, cell, front)
    behind -= front
    windows(text, front)[behind] = fronts
    text[size:] = _END
    del text[: len(_END)]
    return text


def _store(text: bytearray, at: Ints, cell: Cell, room: int) -> None:
    """Store a cell's items, each ``at`` its place in the text."""
    if cell.width <= room or isinstance(cell.lengths, int) or cell.width - int(cell.lengths.min()) <= room:
        windows(text, cell.width)[at] = cell.items
        return
    classes = (cell.lengths + (room - 1)) // room
    for number in np.flatnonzero(np.bincount(classes)).tolist():
        rows = np.flatnonzero(classes == number)
        part = cell.take(rows).first(number * room)
        if number:
            windows(text, part.width)[at[rows]] = part.items
