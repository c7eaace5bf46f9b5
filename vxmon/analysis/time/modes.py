# SPDX-License-Identifier: Apache-2.0
"""In which window occurrences a partition was in NORMAL mode, as far as the session can say."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.events import PartitionMode

__all__ = ["DOUBTFUL", "NORMAL", "NOT_NORMAL", "WAITING", "Modes", "Verdicts"]

NORMAL: Final = 0
NOT_NORMAL: Final = 1
WAITING: Final = 2
"""Nothing was said since the recording began, or since a loss in which the mode may have changed."""
DOUBTFUL: Final = 3
"""The loss in which the mode may have changed reaches into the occurrence."""

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Verdicts:
    """One an occurrence; ``stretch`` says since when nothing was lost that could hide a change of mode."""

    verdict: Ints
    stretch: Ints


@dataclass(slots=True)
class Modes:
    """Mode changes of one partition, and other signs of NORMAL: only then are periodic processes released."""

    time: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    mode: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    previous: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    signs: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    _older_signs: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    _broken: int = -1

    def add(self, time: Ints, mode: Ints, previous: Ints) -> None:
        """Take PARTITION_MODE records."""
        self.time = np.concatenate([self.time, time])
        self.mode = np.concatenate([self.mode, mode])
        self.previous = np.concatenate([self.previous, previous])

    def add_signs(self, time: Ints) -> None:
        """Take the instants of a chunk at which the mode must have been NORMAL; two chunks' are kept."""
        self._older_signs, self.signs = self.signs, time

    def judge(self, start: Ints, end: Ints, doubtful: NDArray[np.bool_], loss_end: Ints) -> Verdicts:
        """Verdicts of occurrences in order; ``loss_end`` is where the loss of a doubtful one ends."""
        broken = np.maximum.accumulate(np.where(doubtful, loss_end, self._broken)) if len(start) else start
        if len(start):
            broken = np.maximum(broken, self._broken)
            self._broken = int(broken[-1])
        first, last = np.searchsorted(self.time, start, "right"), np.searchsorted(self.time, end, "left")
        told = np.concatenate([[-1], self.mode])[first]
        told_at = np.concatenate([[-2], self.time])[first]
        changed = last > first
        verdict = np.where(told == PartitionMode.NORMAL, NORMAL, NOT_NORMAL)
        verdict = np.where(told_at <= broken, WAITING, verdict)
        verdict = np.where(changed, NOT_NORMAL, verdict)
        return Verdicts(np.where(doubtful, DOUBTFUL, verdict), broken)

    def settle(self, stretch: int, until: int | None) -> bool | None:
        """Was the mode NORMAL from ``stretch`` on until something changed? ``until`` is where the next doubt ends.

        None: nothing says so yet.
        """
        at = int(np.searchsorted(self.time, stretch, "right"))
        if at < len(self.time) and (until is None or self.time[at] < until):
            return int(self.previous[at]) == PartitionMode.NORMAL
        signs = np.concatenate([self._older_signs, self.signs])
        found = signs > stretch
        if until is not None:
            found &= signs < until
        return True if found.any() else None
