# SPDX-License-Identifier: Apache-2.0
"""Text of exact length by columns: parts of lines for many rows at once.

A cell is an item of one width a row, of which the first bytes count, as many as its length says. What is behind them is
of no meaning and is overwritten by what comes next in the line, so that text of different length needs no search for
what to leave out, and no work a row.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cache
from typing import Any, Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vxmon.report.digits import decimal_groups, hexadecimal_groups

__all__ = [
    "Cell",
    "Part",
    "aligned",
    "chosen",
    "constant_cell",
    "decimal_cells",
    "fixed_cells",
    "hexadecimal_parts",
    "item_bytes",
    "joined",
    "listed",
    "one_cell",
    "overlaid",
    "packed_cells",
    "padded",
    "signed_cells",
    "squeezed",
    "stacked",
    "windows",
]

_GROUP: Final = 10_000
_PAIR: Final = _GROUP**2
_WORD: Final = 1 << 16
_BYTE: Final = 8

Ints = NDArray[np.int64]
Items = NDArray[Any]


class Cell(NamedTuple):
    """A text a row: ``items`` of shape (rows,) and any type of the width; ``lengths`` a row, or one for all."""

    items: Items
    lengths: Ints | int

    @property
    def width(self) -> int:
        """Bytes of an item."""
        return self.items.dtype.itemsize

    def take(self, rows: NDArray[np.intp]) -> Cell:
        """The cells of some rows."""
        lengths = self.lengths if isinstance(self.lengths, int) else self.lengths[rows]
        return Cell(self.items.take(rows), lengths)

    def first(self, width: int) -> Cell:
        """The same with items no wider than that."""
        return self if self.width <= width else Cell(_from(self.items, 0, width), self.lengths)

    def settled(self) -> Cell:
        """The same with one length and items no wider, where all rows have that length."""
        if not isinstance(self.lengths, int):
            least = int(self.lengths.min())
            if least != int(self.lengths.max()):
                return self
            return Cell(self.items, least).first(least)
        return self.first(self.lengths)


Part = bytes | Cell


def windows(data: bytearray | NDArray[np.uint8], width: int) -> NDArray[np.void]:
    """An item at every byte of some data, so that a row is stored or taken by one copy wherever it begins."""
    return np.ndarray((len(data) - width + 1,), f"V{width}", data, strides=(1,))


# ---------------------------------------------------------------- numbers


@cache
def _left_groups() -> tuple[NDArray[np.uint32], Ints]:
    """Texts and lengths of four digits: without leading zeros, the same with 0 as nothing, with leading zeros."""
    full = decimal_groups()[_GROUP : 2 * _GROUP]
    lengths = np.repeat(np.arange(1, 5), [10, 90, 900, 9000])
    plain = full >> (_BYTE * (4 - lengths)).astype(np.uint32)
    texts, counts = np.concatenate((plain, plain, full)), np.concatenate((lengths, lengths, np.full(_GROUP, 4)))
    texts[_GROUP] = counts[_GROUP] = 0
    return texts.astype("<u4", copy=False), counts


def _unsigned(values: NDArray[Any], top: int) -> NDArray[Any]:
    """Numbers as the shortest type that is worked with."""
    return values.astype(np.uint32 if top < 1 << 32 else np.uint64, copy=False)


def decimal_cells(values: NDArray[Any]) -> list[Cell]:
    """Unsigned numbers without leading zeros, as cells side by side."""
    if not len(values):
        return []
    top = int(values.max())
    numbers = _unsigned(values, top)
    if top < _GROUP:
        texts, lengths = _left_groups()
        return [Cell(texts.take(numbers), lengths.take(numbers))]
    if top < _PAIR:
        return [_eight_digits(numbers, None)]
    upper = numbers // _PAIR
    above = upper > 0
    *cells, last = decimal_cells(upper)
    # Of nothing above there is not even a zero.
    return [*cells, Cell(last.items, last.lengths * above), _eight_digits(numbers - upper * _PAIR, above)]


def _eight_digits(numbers: NDArray[Any], above: NDArray[np.bool_] | None) -> Cell:
    """Numbers below 10^8, with leading zeros where there is something above."""
    texts, lengths = _left_groups()
    high = numbers // _GROUP
    low = numbers - high * _GROUP
    low += (high > 0) * np.uint32(2 * _GROUP)
    high += _GROUP
    if above is not None:
        high += above * np.uint32(_GROUP)
        low += (above & (low < _GROUP)) * np.uint32(2 * _GROUP)
    ahead = lengths.take(high)
    text = texts.take(low).astype(np.uint64) << (ahead * _BYTE).astype(np.uint64) | texts.take(high)
    return Cell(text.astype("<u8", copy=False), ahead + lengths.take(low))


def signed_cells(values: NDArray[np.int32]) -> list[Cell]:
    """Signed numbers."""
    if not len(values) or int(values.min()) >= 0:
        return decimal_cells(values)
    sign = Cell(np.full(len(values), b"-"), (values < 0).astype(np.int64))
    return [sign, *decimal_cells(np.abs(values.astype(np.int64)))]


def hexadecimal_parts(values: NDArray[Any], digits: int = 8) -> list[Part]:
    """Unsigned numbers with at least so many digits, and at least one, as parts side by side."""
    if not len(values):
        return []
    values = values.astype(np.uint64, copy=False) if values.dtype.itemsize > 4 else values
    low, high = int(values.min()), int(values.max())
    least, most = (max(digits, edge.bit_length() + 3 >> 2, 1) for edge in (low, high))
    parts = _even_hexadecimal(values, most, low, high)
    if most == least:
        return parts
    lengths = np.full(len(values), least)
    for length in range(least, most):
        lengths += values >> (4 * length) > 0
    return [_left_from(joined(len(values), parts), lengths)]


def _even_hexadecimal(values: NDArray[Any], digits: int, low: int, high: int) -> list[Part]:
    """So many digits of numbers from ``low`` to ``high``: what all begin with, and the others in groups of four."""
    table = hexadecimal_groups()[:_WORD]
    parts: list[Part] = []
    for shift in range(-(-digits // 4) * 16 - 16, -16, -16):
        if low >> shift == high >> shift:
            parts = [b"%0*x" % (digits - shift // 4, low >> shift)]
            continue
        cut = max(shift // 4 + 4 - digits, 0)
        if shift <= 16:
            # Short numbers are worked with faster.
            values = values.astype(np.uint32, copy=False)
        items = table.take((values >> shift if shift else values) & (_WORD - 1))
        parts.append(Cell(_from(items, cut, 4 - cut) if cut else items, 4 - cut))
    return parts


def _from(items: Items, first: int, width: int) -> NDArray[np.void]:
    """Some bytes of each item, from ``first`` on."""
    return np.ndarray(items.shape, f"V{width}", items, offset=first, strides=items.strides)


def fixed_cells(values: NDArray[Any], digits: int) -> list[Cell]:
    """Numbers below 10^digits with leading zeros, as cells side by side."""
    table = decimal_groups()[_GROUP : 2 * _GROUP]
    cells: list[Cell] = []
    while digits > 0:
        upper = values // _GROUP
        items, width = table.take(values - upper * _GROUP), min(digits, 4)
        cells.insert(0, Cell(_from(items, 4 - width, width) if width < 4 else items, width))
        values, digits = upper, digits - width
    return cells


# ---------------------------------------------------------------- texts


def listed(texts: Sequence[bytes]) -> Cell:
    """Texts one by one."""
    width = max(map(len, texts), default=0) or 1
    items = np.frombuffer(b"".join(text.ljust(width, b"\0") for text in texts), f"V{width}")
    return Cell(items, np.array([len(text) for text in texts], np.int64))


def constant_cell(text: bytes, rows: int) -> Cell:
    """One text for all rows."""
    return Cell(np.frombuffer(bytearray(text or b"\0") * rows, f"V{len(text) or 1}"), len(text))


def stacked(upper: Cell, lower: Cell, width: int = 0) -> Cell:
    """The rows of two cells, at least so wide."""
    width = max(width, upper.width, lower.width)
    rows = len(upper.items)
    items = np.zeros((rows + len(lower.items), width), np.uint8)
    items[:rows, : upper.width] = item_bytes(upper.items)
    items[rows:, : lower.width] = item_bytes(lower.items)
    lengths = np.empty(len(items), np.int64)
    lengths[:rows], lengths[rows:] = upper.lengths, lower.lengths
    return Cell(items.view(f"V{width}")[:, 0], lengths)


def item_bytes(items: Items) -> NDArray[np.uint8]:
    """The bytes of items; shape (rows, bytes)."""
    return np.ascontiguousarray(items).view(np.uint8).reshape(len(items), -1)


def squeezed(block: NDArray[np.uint8]) -> Cell:
    """Rows of bytes padded with NUL anywhere, without it; shape (rows, bytes)."""
    rows, width = block.shape
    if not width or not rows:
        return Cell(np.zeros(rows, "V1"), 0)
    lengths = (block != 0).sum(axis=1)
    data = bytearray(block.tobytes().translate(None, b"\0")) + bytes(width)
    return Cell(windows(data, width)[np.cumsum(lengths) - lengths], lengths)


def padded(cell: Cell) -> NDArray[np.uint8]:
    """Rows of bytes with NUL behind their text."""
    block = item_bytes(cell.items).copy()
    block[_behind(cell, cell.width)] = 0
    return block


def chosen(which: NDArray[np.bool_], some: Cell, others: Cell) -> Cell:
    """The first cell in the rows that ``which`` says, the second in all others."""
    both = stacked(some, others)
    return both.take(np.arange(len(which)) + np.where(which, 0, len(which)))


def _behind(cell: Cell, width: int) -> NDArray[np.bool_]:
    """Which of ``width`` bytes are behind the text; shape (rows, width)."""
    behind: NDArray[np.bool_] = np.arange(width) >= (np.zeros(len(cell.items), np.int64) + cell.lengths)[:, None]
    return behind


def _left_from(cell: Cell, lengths: Ints) -> Cell:
    """The last bytes of each item, as many as ``lengths`` says."""
    data = np.concatenate((item_bytes(cell.items).reshape(-1), np.zeros(cell.width, np.uint8)))
    ends = np.arange(1, len(lengths) + 1) * cell.width
    return Cell(windows(data, cell.width)[ends - lengths], lengths)


def aligned(cell: Cell, width: int, *, left: bool = False, fill: bytes = b" ") -> Cell:
    """Cells at least so wide; what fills them is behind their text, or before it."""
    rows, wide = len(cell.items), max(width, cell.width)
    lengths = np.maximum(cell.lengths, width) + np.zeros(rows, np.int64)
    if left:
        block = np.full((rows, wide), fill[0], np.uint8)
        block[:, : cell.width] = item_bytes(cell.items)
        block[_behind(cell, wide)] = fill[0]
        return Cell(block.view(f"V{wide}")[:, 0], lengths)
    # An item behind as much to fill it with as it may need.
    block = np.full((rows + 1, wide + cell.width), fill[0], np.uint8)
    block[:-1, wide:] = item_bytes(cell.items)
    begins = np.arange(rows) * block.shape[1] + wide + cell.lengths - lengths
    return Cell(windows(block.reshape(-1), wide)[begins], lengths)


# ---------------------------------------------------------------- side by side


def packed_cells(rows: int, parts: Iterable[Part]) -> list[Cell]:
    """Parts side by side as few cells: one takes in all that comes up to a length that differs by row."""
    cells: list[Cell] = []
    pending: list[Part] = []
    for part in parts:
        pending.append(part)
        if isinstance(part, Cell) and not isinstance(part.lengths, int):
            cells.append(joined(rows, pending))
            pending = []
    return [*cells, joined(rows, pending)] if pending else cells


def joined(rows: int, parts: Sequence[Part]) -> Cell:
    """Parts side by side as one cell; only the last may have lengths that differ."""
    if len(parts) == 1 and isinstance(parts[0], Cell):
        return parts[0]
    parts = [part if isinstance(part, bytes) else part.settled() for part in parts[:-1]] + list(parts[-1:])
    widths = [len(part) if isinstance(part, bytes) else part.width for part in parts]
    template = b"".join(p if isinstance(p, bytes) else bytes(w) for p, w in zip(parts, widths, strict=True))
    items = constant_cell(template, rows).items
    overlaid(items, parts)
    last = parts[-1]
    before = len(template) - widths[-1]
    return Cell(items, before + (len(last) if isinstance(last, bytes) else last.lengths))


def overlaid(items: Items, parts: Iterable[Part]) -> None:
    """Store the cells among parts that lie side by side; constants are there already."""
    at = 0
    for part in parts:
        width = len(part) if isinstance(part, bytes) else part.width
        if isinstance(part, Cell) and width:
            np.ndarray(items.shape, part.items.dtype, items, offset=at, strides=items.strides)[:] = part.items
        at += width


def one_cell(rows: int, parts: Iterable[Part]) -> Cell:
    """Parts side by side as one cell, whatever their lengths."""
    cells = packed_cells(rows, parts)
    if len(cells) == 1:
        return cells[0]
    width = sum(cell.width for cell in cells)
    data = np.zeros(rows * width, np.uint8)
    begins = np.arange(rows) * width
    at = begins.copy()
    for cell in cells:
        windows(data, cell.width)[at] = cell.items
        at += cell.lengths
    return Cell(data.view(f"V{width}"), at - begins)
