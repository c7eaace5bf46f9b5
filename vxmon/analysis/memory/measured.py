# SPDX-License-Identifier: Apache-2.0
"""Use of heaps at the instants at which operations were counted, so that the two can be compared.

A partition's heap rests while its operations are counted, because another one runs: the last use before is that. The
kernel's heap is shared and goes on; of that, the uses around all the counts are kept.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from vxmon.analysis.figures import Figure
from vxmon.analysis.memory.heaps import HeapBook, HeapRows
from vxmon.analysis.memory.result import KERNEL_INDEX

__all__ = ["MeasuredUse"]


@dataclass(slots=True)
class MeasuredUse:
    """What was measured at the last count of each partition's operations."""

    _own: dict[int, int] = field(default_factory=dict)
    _kernel: dict[int, list[int]] = field(default_factory=dict)
    _waiting: set[int] = field(default_factory=set)

    def take(self, told: Mapping[int, int], rows: Mapping[int, HeapRows], books: Mapping[int, HeapBook]) -> None:
        """Take a chunk.

        Args:
            told: by partition, when its operations were counted last in it.
            rows: of the heaps in it.
            books: of the heaps up to before it.

        """
        kernel = rows.get(KERNEL_INDEX)
        if kernel is not None:
            for partition in self._waiting:
                self._kernel[partition].append(int(kernel.used[0]))
            self._waiting.clear()
        for partition, time in told.items():
            use = _before(rows.get(partition), books.get(partition), time)
            if use is not None:
                self._own[partition] = use
            self._take_kernel(partition, time, kernel, books.get(KERNEL_INDEX))

    def _take_kernel(self, partition: int, time: int, rows: HeapRows | None, book: HeapBook | None) -> None:
        before, after = _before(rows, book, time), _after(rows, time)
        self._kernel[partition] = [use for use in (before, after) if use is not None]
        if after is None:
            self._waiting.add(partition)

    def of(self, index: int) -> Figure:
        """What was measured of a heap; the kernel's is a range where it changed between the counts."""
        if index != KERNEL_INDEX:
            return Figure.exact(self._own[index]) if index in self._own else Figure.none()
        uses = [use for some in self._kernel.values() for use in some]
        return Figure.between(uses[-1], min(uses), max(uses), len(uses)) if uses else Figure.none()


def _before(rows: HeapRows | None, book: HeapBook | None, time: int) -> int | None:
    at = 0 if rows is None else int(np.searchsorted(rows.time, time, side="right"))
    if rows is not None and at:
        return int(rows.used[at - 1])
    return None if book is None or book.last is None else book.last[1]


def _after(rows: HeapRows | None, time: int) -> int | None:
    at = 0 if rows is None else int(np.searchsorted(rows.time, time, side="right"))
    return int(rows.used[at]) if rows is not None and at < len(rows.used) else None
