# SPDX-License-Identifier: Apache-2.0
"""In which window occurrences a partition was in NORMAL mode, as far as the session can say."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.events import PartitionMode

__all__ = ["BRIDGE", "DOUBTFUL", "NORMAL", "NOT_NORMAL", "WAITING", "Modes", "Verdicts"]

NORMAL: Final = 0
NOT_NORMAL: Final = 1
WAITING: Final = 2
"""Nothing was said yet since the recording began, or since the last loss, in which the mode may have changed."""
BRIDGE: Final = 3
"""A loss lies inside the occurrence; it was NORMAL if the partition was so before and behind the loss."""
DOUBTFUL: Final = 4
"""The loss is so long that the partition may have left NORMAL mode and come back."""

Ints = NDArray[np.int64]
# Tells instants when it is asked; mostly it is not.
Signs = Callable[[], Ints]
Bools = NDArray[np.bool_]


@dataclass(slots=True)
class Verdicts:
    """One an occurrence. A stretch is what lies between two losses.

    ``stretch`` is that at the occurrence's end, ``before`` that ahead of the first loss which touches it.
    """

    verdict: Ints
    stretch: Ints
    before: Ints


@dataclass(slots=True)
class Modes:
    """Mode changes of one partition, and other signs of NORMAL.

    Periodic processes are released, and processes complete, only in NORMAL mode; before it, there is only the
    process that initialises the partition. A record at the instant at which a loss ends lies behind it.

    Args:
        loss_start, loss_end: of all losses of the boot, in order.

    """

    loss_start: Ints
    loss_end: Ints
    time: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    mode: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    previous: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    _signs: list[Signs] = field(default_factory=list)
    _seen: tuple[int, bool] = (-1, False)

    @property
    def hidden(self) -> bool:
        """True when a change of mode may be among what was lost."""
        return bool(len(self.loss_end))

    def add(self, time: Ints, mode: Ints, previous: Ints) -> None:
        """Take PARTITION_MODE records."""
        self.time = np.concatenate([self.time, time])
        self.mode = np.concatenate([self.mode, mode])
        self.previous = np.concatenate([self.previous, previous])

    def add_signs(self, signs: Signs) -> None:
        """Take the instants of a chunk at which the mode must have been NORMAL; two chunks' are kept."""
        self._signs = [*self._signs[-1:], signs]

    def judge(self, start: Ints, end: Ints, far: Bools) -> Verdicts:
        """Verdicts of occurrences in order; ``far``: a loss in it reaches into another one of the partition."""
        first = np.searchsorted(self.loss_end, start, "right")
        behind = np.searchsorted(self.loss_start, end, "left")
        inside = behind > first
        stretch = np.where(inside, behind, first)
        begun = np.concatenate([[-1], self.loss_end])[first]
        at = np.searchsorted(self.time, start, "right")
        told = np.concatenate([[-1], self.mode])[at]
        told_at = np.concatenate([[-2], self.time])[at]
        verdict = np.where(told == PartitionMode.NORMAL, NORMAL, NOT_NORMAL)
        verdict = np.where(told_at < begun, WAITING, verdict)
        verdict = np.where(inside, BRIDGE, verdict)
        verdict = np.where(np.searchsorted(self.time, end, "left") > at, NOT_NORMAL, verdict)
        verdict = np.where(inside & far, DOUBTFUL, verdict)
        return Verdicts(verdict, stretch, first)

    def at_begin(self, stretch: int) -> bool | None:
        """Was the mode NORMAL when a stretch began? None: nothing says so yet."""
        begin, end = self._bounds(stretch)
        at = int(np.searchsorted(self.time, begin, "left"))
        if at < len(self.time) and (end is None or self.time[at] <= end):
            return int(self.previous[at]) == PartitionMode.NORMAL
        if self._seen == (stretch, True):
            return True
        if not self._signs:
            return None
        signs = np.concatenate([some() for some in self._signs])
        found = signs >= begin
        if end is not None:
            found &= signs <= end
        if found.any():
            self._seen = (stretch, True)
            return True
        return None

    def at_end(self, stretch: int) -> bool | None:
        """Whether the mode was NORMAL when a stretch ended, as far as anything says so."""
        begin, end = self._bounds(stretch)
        at = len(self.time) if end is None else int(np.searchsorted(self.time, end, "right"))
        if at and self.time[at - 1] >= begin:
            return int(self.mode[at - 1]) == PartitionMode.NORMAL
        return self.at_begin(stretch)

    def begin_of(self, stretch: int) -> int:
        """When a stretch begins; -1 for the first."""
        return self._bounds(stretch)[0]

    def end_of(self, stretch: int) -> int:
        """When the loss behind a stretch begins; a very late instant where there is none."""
        end = self._bounds(stretch)[1]
        return np.iinfo(np.int64).max if end is None else end

    def _bounds(self, stretch: int) -> tuple[int, int | None]:
        begin = int(self.loss_end[stretch - 1]) if stretch else -1
        return begin, int(self.loss_start[stretch]) if stretch < len(self.loss_start) else None
