# SPDX-License-Identifier: Apache-2.0
"""Work on the rows of large sessions in place: a hundred million events have more than a hundred MB of rows.

What these functions are given is theirs: rows are moved where they lie, a part at a time, and never all copied.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.gather import raw

__all__ = ["gather", "in_order", "is_in_order", "pack", "places_in_order", "those"]

_PART: Final = 1 << 16
_WORD: Final = 8
# Words of each row that are moved at once when rows change places.
_WORDS_AT_ONCE: Final = 3

Rows = NDArray[np.void]


def gather(parts: list[Rows], kind: np.dtype[np.void], spare: int = 0) -> Rows:
    """All parts in one, and room for ``spare`` more behind; the list is empty then.

    Each part is freed when it was copied, so that all are not there twice.
    """
    end = sum(map(len, parts))
    whole = np.empty(end + spare, kind)
    while parts:
        part = parts.pop()
        raw(whole)[end - len(part) : end] = raw(part)
        end -= len(part)
    return whole


def is_in_order(rows: Rows, names: Sequence[str]) -> bool:
    """True when no row is before the one that precedes it, by these fields, the first one first."""
    return all(_part_in_order(rows[begin : begin + _PART + 1], names) for begin in range(0, len(rows), _PART))


def _part_in_order(rows: Rows, names: Sequence[str]) -> bool:
    fits = np.ones(max(len(rows) - 1, 0), bool)
    for name in reversed(names):
        before, behind = rows[name][:-1], rows[name][1:]
        fits = (before < behind) | ((before == behind) & fits)
    return bool(fits.all())


def in_order(rows: Rows, names: Sequence[str]) -> Rows:
    """The rows in order of these fields, the first one first; equal ones stay in the order in which they are."""
    if is_in_order(rows, names):
        return rows
    order = np.lexsort(tuple(rows[name] for name in reversed(names)))
    words = rows.view(np.uint64).reshape(len(rows), rows.dtype.itemsize // _WORD)
    for at in range(0, words.shape[1], _WORDS_AT_ONCE):
        some = slice(at, at + _WORDS_AT_ONCE)
        words[:, some] = words[order, some]
    return rows


def places_in_order(rows: Rows, names: Sequence[str], which: NDArray[np.bool_]) -> NDArray[np.intp]:
    """Where the rows are for which it is true, in order of these fields; the rows stay as they are."""
    places = np.flatnonzero(which)
    return places[np.lexsort(tuple(rows[name][places] for name in reversed(names)))]


def those(rows: Rows, which: NDArray[np.bool_]) -> Rows:
    """Rows for which it is true, moved to the front."""
    if which.all():
        return rows
    parts = (slice(begin, begin + _PART) for begin in range(0, len(rows), _PART))
    return _put(rows, (raw(rows)[part][which[part]] for part in parts))


def pack(rows: Rows, some: Sequence[Rows]) -> Rows:
    """Moves views of the rows, which must be given in the order in which they lie, together to the front."""
    if sum(map(len, some)) == len(rows):
        return rows
    return _put(
        rows, (raw(view)[begin : begin + _PART].copy() for view in some for begin in range(0, len(view), _PART))
    )


def _put(rows: Rows, parts: Iterable[Rows]) -> Rows:
    end = 0
    for part in parts:
        raw(rows)[end : end + len(part)] = raw(part)
        end += len(part)
    return rows[:end]
