# SPDX-License-Identifier: Apache-2.0
"""Use of a heap over time, by frames: a bounded number of bins, however long the session is.

Of each frame the lowest and the highest use count. Blocks that come and go within a frame are not in the lowest, which
is therefore what growth is judged by. When there are more frames than bins, two neighbouring bins become one.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.memory.growth import Points

__all__ = ["MOST_BINS", "Bins", "Series"]

MOST_BINS: Final = 512

Ints = NDArray[np.int64]


def _none() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(slots=True)
class Bins:
    """Columns of equal length, in order of frames; each bin has at least one value.

    Attributes:
        number: of the bin; it spans the frames ``number << shift`` up to before ``number + 1 << shift``.
        low: lowest use in bytes, and ``at`` the first frame that had it.
        high: highest use.
        last: use at the end.
        frames: with a value.

    """

    number: Ints = field(default_factory=_none)
    low: Ints = field(default_factory=_none)
    at: Ints = field(default_factory=_none)
    high: Ints = field(default_factory=_none)
    last: Ints = field(default_factory=_none)
    frames: Ints = field(default_factory=_none)

    def __len__(self) -> int:
        return len(self.number)

    @staticmethod
    def of(frame: Ints, use: Ints) -> Bins:
        """One bin a frame; ``frame`` in order of time."""
        order = np.argsort(frame, kind="stable")
        none = np.zeros(len(frame), np.int64)
        bins = Bins(frame[order], use[order], frame[order], use[order], use[order], none).grouped(0)
        bins.frames = np.ones(len(bins), np.int64)
        return bins

    @staticmethod
    def joined(parts: list[Bins]) -> Bins:
        """All of them, one after the other."""
        names = ("number", "low", "at", "high", "last", "frames")
        return Bins(*(np.concatenate([getattr(part, name) for part in parts]) for name in names))

    def grouped(self, shift: int) -> Bins:
        """Bins of equal numbers become one, after numbers were halved ``shift`` times."""
        if not len(self):
            return self
        number = self.number >> shift
        begins = np.flatnonzero(np.concatenate([[True], number[1:] != number[:-1]]))
        ends = np.append(begins[1:], len(number)) - 1
        owner = np.repeat(np.arange(len(begins)), np.diff(np.append(begins, len(number))))
        lowest = np.lexsort((self.at, self.low, owner))[begins]
        frames = np.add.reduceat(self.frames, begins)
        return Bins(
            number[begins], self.low[lowest], self.at[lowest], np.maximum.reduceat(self.high, begins), self.last[ends],
            frames,
        )  # fmt: skip


class Series:
    """The use of one heap in one stretch of time without a restart.

    Args:
        most: bins to keep; None: one a frame, however many.

    """

    def __init__(self, most: int | None = MOST_BINS) -> None:
        self._most = most
        self.shift = 0
        self._bins = Bins()
        self._parts: list[Bins] = []
        self._last_frame = -1

    @property
    def bins(self) -> Bins:
        """All bins so far, in order."""
        if self._parts:
            # Of an unbounded series only when it is asked for: that takes time in proportion to all of it.
            self._bins = self._ordered(Bins.joined([self._bins, *self._parts])).grouped(0)
            self._parts = []
        return self._bins

    def add(self, frame: Ints, use: Ints) -> None:
        """Take values in order of time."""
        if not len(frame):
            return
        more = Bins.of(frame, use)
        last = int(more.number[-1])
        if int(more.number[0]) == self._last_frame:
            more.frames[0] = 0  # it was counted with what came before
        self._last_frame = last
        self._parts.append(more.grouped(self.shift) if self.shift else more)
        if self._most is not None:
            self._shrink(self._most)

    @staticmethod
    def _ordered(bins: Bins) -> Bins:
        """A target's clock that steps back puts bins out of order."""
        if not (np.diff(bins.number) < 0).any():
            return bins
        order = np.argsort(bins.number, kind="stable")
        return Bins(bins.number[order], bins.low[order], bins.at[order], bins.high[order], bins.last[order],
                    bins.frames[order])  # fmt: skip

    def _shrink(self, most: int) -> None:
        bins = self.bins
        while int(bins.number[-1]) - int(bins.number[0]) >= most:
            bins = bins.grouped(1)
            self.shift += 1
        self._bins = bins

    @property
    def frames(self) -> int:
        """Frames with a value."""
        return int(self.bins.frames.sum())

    def doubtful(self, first: Ints, last: Ints) -> tuple[NDArray[np.bool_], int]:
        """Which bins lose records, and how many bins without a value do.

        Args:
            first, last: frames in which losses begin and end, in order of their begins.

        """
        if not len(self.bins) or not len(first):
            return np.zeros(len(self.bins), bool), 0
        low, high = first >> self.shift, np.maximum.accumulate(last >> self.shift)
        # Of losses in order of their begins, those up to the last one that begins before a bin's end may reach it.
        before = np.searchsorted(low, self.bins.number, side="right")
        own = (before > 0) & (high[np.maximum(before - 1, 0)] >= self.bins.number)
        reached = np.concatenate([[low[0] - 1], high[:-1]])
        covered = int(np.maximum(high - np.maximum(reached, low - 1), 0).sum())
        return own, covered - int(own.sum())

    def points(self, doubtful: NDArray[np.bool_], missing: int) -> Points:
        """Lowest uses by frame; of doubtful bins the lowest may be any below, in any of their frames."""
        bins = self.bins
        begin, end = bins.number << self.shift, (bins.number + 1 << self.shift) - 1
        return Points(
            x=bins.at,
            y=bins.low,
            x_low=np.where(doubtful, begin, bins.at),
            x_high=np.where(doubtful, end, bins.at),
            y_low=np.where(doubtful, 0, bins.low),
            y_high=bins.low,
            missing=missing,
        )
