# SPDX-License-Identifier: Apache-2.0
"""Chunks joined to larger ones: analyses pay numpy's fixed costs once a batch."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Chunk, Columns

__all__ = ["BATCH_RECORDS", "batched", "present"]

# Some 10 MB with what analyses make of them.
BATCH_RECORDS: Final = 1 << 17


def batched(chunks: Iterable[Chunk], records: int = BATCH_RECORDS) -> Iterator[Chunk]:
    """The same records in the same order, in chunks of one boot each with at least ``records`` where there are more."""
    waiting: list[Chunk] = []
    count = 0
    for chunk in chunks:
        if waiting and (count >= records or waiting[0].boot is not chunk.boot):
            # Not while the parts are held: they may lie in memory that is wanted for later ones.
            batch, waiting, count = _joined(waiting), [], 0
            yield batch
        waiting.append(chunk)
        count += len(chunk.columns)
    if waiting:
        yield _joined(waiting)


def present(values: NDArray[Any]) -> list[int]:
    """The different numbers among small ones (some 16 bits), in order; faster than numpy's unique on large arrays."""
    if not len(values) or (values == values[0]).all():
        return [int(value) for value in values[:1]]
    return [int(value) for value in np.flatnonzero(np.bincount(values)).tolist()]


def _joined(chunks: list[Chunk]) -> Chunk:
    if len(chunks) == 1:
        return chunks[0]
    return replace(chunks[-1], columns=Columns.join([chunk.columns for chunk in chunks]), late=None)
