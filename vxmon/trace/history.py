# SPDX-License-Identifier: Apache-2.0
"""The last records of each kind before a place in the trace, over chunks, without a loop per record."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["History", "last_of_each"]

# Positions in a chunk are below this; a key is shifted above them.
_PLACES: Final = 40

Ints = NDArray[np.int64]


@dataclass(slots=True)
class History:
    """The last ``keep`` rows of each key (a task, a partition, a stream), and those of the current chunk.

    Keys are whole numbers from 0 to 65535.
    """

    keep: int
    columns: dict[str, Ints] = field(default_factory=dict)
    _order: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    _key: Ints = field(default_factory=lambda: np.zeros(0, np.int64))

    def feed(self, key: Ints, at: Ints, columns: Mapping[str, Ints]) -> None:
        """Take the rows of a chunk: key, position in the chunk, and what is to be known of each."""
        self._forget()
        key = np.concatenate([self._key, key])
        # Rows of earlier chunks come first.
        place = key << _PLACES | np.concatenate([np.zeros(len(self._key), np.int64), at + 1])
        order = np.argsort(place, kind="stable")
        self._key, self._order = key[order], place[order]
        nothing = np.zeros(0, np.int64)
        self.columns = {
            name: np.concatenate([self.columns.get(name, nothing), column])[order] for name, column in columns.items()
        }

    def before(self, key: Ints, at: Ints) -> Ints:
        """Row numbers into ``columns`` of what came before each place, newest first; shape (places, keep), -1: none."""
        first = np.searchsorted(self._order, key << _PLACES | (at + 1), "left")
        rows = first[:, None] - 1 - np.arange(self.keep)
        found = rows >= 0
        if len(self._key):
            found &= self._key[np.maximum(rows, 0)] == key[:, None]
        return np.where(found, rows, -1)

    def take(self, name: str, rows: Ints) -> Ints:
        """A column of rows that ``before`` gave; -1 where there is none."""
        column = self.columns.get(name)
        if column is None or not len(column):
            return np.full(rows.shape, -1, np.int64)
        return np.where(rows >= 0, column[np.maximum(rows, 0)], -1)

    def _forget(self) -> None:
        """All but the last rows of each key."""
        last = last_of_each(self._key, self.keep)
        self._key = self._key[last]
        self.columns = {name: column[last] for name, column in self.columns.items()}


def last_of_each(key: Ints, keep: int) -> NDArray[np.intp]:
    """Positions of the last rows of each key, in order. Keys are whole numbers from 0 to 65535."""
    count = len(key)
    if not count or (key == key[0]).all():
        return np.arange(max(count - keep, 0), count)
    order = np.argsort(key.astype(np.uint16), kind="stable")
    own = key[order]
    ends = np.append(np.flatnonzero(own[1:] != own[:-1]) + 1, count)
    last = np.repeat(ends, np.diff(ends, prepend=0)) - np.arange(count) <= keep
    return np.sort(order[last])
