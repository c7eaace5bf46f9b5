# SPDX-License-Identifier: Apache-2.0
"""Pieces of a buffer as rows of a table."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["clear_behind", "gather", "raw"]

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]


def gather(data: Bytes, at: Ints, width: int) -> Bytes:
    """``width`` bytes at each place, as rows; 0 beyond the end of the data."""
    room = len(data) - width
    beyond = np.flatnonzero(at > room).tolist()
    if room < 0:
        table = np.zeros((len(at), width), np.uint8)
    else:
        # An element of the rows' width at every byte: a row is then taken by one copy.
        spots: NDArray[np.void] = np.ndarray((room + 1,), f"V{width}", data, strides=(1,))
        table = spots[np.minimum(at, room) if beyond else at].view(np.uint8).reshape(len(at), width)
    for row in beyond:
        piece = data[int(at[row]) :][:width]
        table[row, : len(piece)], table[row, len(piece) :] = piece, 0
    return table


def clear_behind(table: NDArray[Any], counts: Ints) -> None:
    """Make what follows the first ``counts`` elements of each row 0."""
    least = int(counts.min()) if len(counts) else table.shape[1]
    if least < table.shape[1]:
        table[:, least:] *= np.arange(least, table.shape[1]) < counts[:, None]


def raw(rows: NDArray[np.void]) -> NDArray[np.void]:
    """The same rows as bytes without fields: numpy copies those row by row, and others field by field."""
    return rows.view(f"V{rows.dtype.itemsize}")
