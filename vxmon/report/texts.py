# SPDX-License-Identifier: Apache-2.0
"""Texts of numbers and of numbers side by side, each made once, when it is first seen."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.report.cells import Cell, listed, stacked

__all__ = ["NUMBERS", "Texts", "TextsOfSeveral"]

NUMBERS: Final = 1 << 16
"""Numbers below this have texts here."""

# What tables of places have at first; most numbers are small.
_AT_FIRST: Final = 64
_FAST_WIDTHS: Final = (4, 8, 16, 32, 64)
_FEW: Final = 4


class _Places:
    """Places of 16-bit numbers, from 1 on; 0 of those that have none. 65535, which is common, has the first one."""

    def __init__(self) -> None:
        self._table = np.zeros(_AT_FIRST, np.intp)

    def of(self, numbers: NDArray[Any]) -> NDArray[np.intp]:
        """Where each number is."""
        keys = _keys(numbers)
        try:
            return self._table.take(keys)
        except IndexError:
            self._grow(int(keys.max()) + 1)
            return self._table.take(keys)

    def put(self, numbers: NDArray[Any], first: int) -> None:
        """Give numbers, which have been asked for, places from ``first`` on."""
        self._table[_keys(numbers)] = np.arange(first, first + len(numbers))

    def _grow(self, size: int) -> None:
        table = np.zeros(1 << (size - 1).bit_length(), np.intp)
        table[: len(self._table)] = self._table
        self._table = table


def _keys(numbers: NDArray[Any]) -> NDArray[np.uint16]:
    keys = numbers.astype(np.uint16)
    keys += np.uint16(1)
    return keys


class Texts:
    """What to print for 16-bit numbers.

    Args:
        text: gives the text of a number.

    """

    def __init__(self, text: Callable[[int], bytes]) -> None:
        self._text = text
        self._places = _Places()
        self._made = listed([b""])
        self._longest = 1

    def cell(self, numbers: NDArray[Any]) -> Cell:
        """The texts of numbers below 2^16."""
        places = self._places.of(numbers)
        if np.count_nonzero(places) < len(places):
            self._make(np.unique(numbers[places == 0]))
            places = self._places.of(numbers)
        return self._made.take(places).first(self._longest)

    def _make(self, numbers: NDArray[Any]) -> None:
        texts = [self._text(number) for number in numbers.tolist()]
        self._places.put(numbers, len(self._made.items))
        self._longest = max(self._longest, *map(len, texts))
        self._made = stacked(self._made, listed(texts), _fast_width(self._longest))


def _fast_width(width: int) -> int:
    """Items of these widths are taken faster than others."""
    return next((fast for fast in _FAST_WIDTHS if width <= fast), width)


class TextsOfSeveral:
    """What to print for 16-bit numbers that stand side by side.

    Args:
        texts: give the text of a number of each.

    ``alone`` makes them one by one.

    """

    def __init__(self, texts: Sequence[Callable[[int], bytes]]) -> None:
        self._texts = texts
        self._seen = [_Seen() for _ in texts]
        self.alone = [Texts(text) for text in texts]
        self._together: Texts | None
        self._enter()

    def cells(self, columns: Sequence[NDArray[Any]]) -> list[Cell]:
        """The texts of numbers below 2^16; one cell unless too many different numbers came."""
        if self._together is not None:
            numbers = [seen.numbers(column) for seen, column in zip(self._seen, columns, strict=True)]
            if self._bits != [seen.bits for seen in self._seen]:
                self._enter()
        if self._together is None:
            return [texts.cell(column) for texts, column in zip(self.alone, columns, strict=True)]
        together = numbers[0]
        for bits, number in zip(self._bits[1:], numbers[1:], strict=True):
            together = (together << bits) | number
        return [self._together.cell(together)]

    def _enter(self) -> None:
        """Begin anew with numbers that have more bits together, or give them up when these are too many."""
        self._bits = [seen.bits for seen in self._seen]
        few = len(self.alone) > 1 and 1 << sum(self._bits) <= NUMBERS
        self._together = Texts(self._side_by_side) if few else None

    def _side_by_side(self, number: int) -> bytes:
        found: list[bytes] = []
        for bits, seen, text in zip(self._bits[::-1], self._seen[::-1], self._texts[::-1], strict=True):
            found.insert(0, text(seen.values[number & (1 << bits) - 1]))
            number >>= bits
        return b"".join(found)


class _Seen:
    """Numbers in the order in which they are first seen."""

    def __init__(self) -> None:
        self.values: list[int] = [0]
        self.bits = _FEW
        self._places = _Places()

    def numbers(self, values: NDArray[Any]) -> NDArray[np.intp]:
        """The place of each value among those seen so far; from 1 on."""
        places = self._places.of(values)
        if np.count_nonzero(places) < len(places):
            new = np.unique(values[places == 0])
            self._places.put(new, len(self.values))
            self.values += new.tolist()
            self.bits = max(_FEW, len(self.values).bit_length())
            places = self._places.of(values)
        return places
