# SPDX-License-Identifier: Apache-2.0
"""Sets of block numbers as ranges. Pure."""

from __future__ import annotations

from bisect import bisect_left, bisect_right

import numpy as np
from numpy.typing import NDArray

__all__ = ["RangeSet"]


class RangeSet:
    """Disjoint ranges (first, end), ascending; ``end`` is one past the last."""

    def __init__(self) -> None:
        self.ranges: list[tuple[int, int]] = []

    def __len__(self) -> int:
        """Numbers in the set."""
        return sum(end - first for first, end in self.ranges)

    def __bool__(self) -> bool:
        return bool(self.ranges)

    def add(self, first: int, end: int) -> None:
        """Put first ... end - 1 in; ranges that touch become one."""
        if first >= end:
            return
        low = bisect_left(self.ranges, first, key=lambda r: r[1])
        high = bisect_right(self.ranges, end, key=lambda r: r[0])
        if low < high:
            first, end = min(first, self.ranges[low][0]), max(end, self.ranges[high - 1][1])
        self.ranges[low:high] = [(first, end)]

    def remove(self, first: int, end: int) -> None:
        """Take first ... end - 1 out."""
        if first >= end:
            return
        low = bisect_right(self.ranges, first, key=lambda r: r[1])
        high = bisect_left(self.ranges, end, key=lambda r: r[0])
        left: list[tuple[int, int]] = []
        for begin, stop in self.ranges[low:high]:
            left += [piece for piece in ((begin, min(stop, first)), (max(begin, end), stop)) if piece[0] < piece[1]]
        self.ranges[low:high] = left

    def contains(self, numbers: NDArray[np.int64]) -> NDArray[np.bool_]:
        """Which of the numbers are in the set."""
        if not self.ranges:
            return np.zeros(len(numbers), bool)
        table = np.array(self.ranges, np.int64)
        at = np.searchsorted(table[:, 0], numbers, side="right") - 1
        inside: NDArray[np.bool_] = (at >= 0) & (numbers < table[at, 1])
        return inside
