# SPDX-License-Identifier: Apache-2.0
"""What is missing of a boot, as far as it concerns memory: how many records, between which instants."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

__all__ = ["Lost"]

Ints = NDArray[np.int64]


def _none() -> Ints:
    return np.zeros(0, np.int64)


@dataclass(slots=True)
class Lost:
    """Losses that touch the time that is looked at.

    Attributes:
        records: lost in them.
        start, end: instants, in order of their begins.
        first, last: the frames in which they begin and end.

    """

    records: int = 0
    start: Ints = field(default_factory=_none)
    end: Ints = field(default_factory=_none)
    first: Ints = field(default_factory=_none)
    last: Ints = field(default_factory=_none)

    @staticmethod
    def of(losses: NDArray[np.void], begin: int, end: int | None) -> Lost:
        """Losses of a boot between two instants; one whose begin is not known begins at ``begin``."""
        start = np.where(losses["start"] < 0, begin, losses["start"]).astype(np.int64)
        finish = np.maximum(losses["end"].astype(np.int64), start)
        touched = finish >= begin
        if end is not None:
            touched &= start < end
        order = np.flatnonzero(touched)
        order = order[np.argsort(start[order], kind="stable")]
        return Lost(int(losses["records"][order].sum()), start[order], finish[order])

    def __bool__(self) -> bool:
        return self.records > 0

    def before(self, time: int) -> bool:
        """True when something may have been lost before an instant."""
        return bool(len(self.start)) and int(self.start[0]) < time

    def after(self, time: int) -> bool:
        """True when something may have been lost behind an instant."""
        return bool(len(self.end)) and int(self.end.max()) > time
