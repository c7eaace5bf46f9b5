# SPDX-License-Identifier: Apache-2.0
"""Messages that were sent to a destination and not yet received there."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.comm.messages import Ints

__all__ = ["MOST_OPEN", "OpenTable", "Sends"]

MOST_OPEN: Final = 1024
"""Messages of one destination that are remembered from one chunk to the next; more than a queue can hold."""


@dataclass(slots=True)
class Sends:
    """Messages that were sent, by their numbers without wrap, in order of time. ``place`` is that in the chunk."""

    whole: Ints
    time: Ints
    place: Ints
    partition: Ints
    epoch: Ints
    kept: NDArray[np.bool_]
    matched: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.whole)

    @staticmethod
    def none() -> Sends:
        """No messages."""
        nothing, never = np.zeros(0, np.int64), np.zeros(0, bool)
        return Sends(nothing, nothing, nothing, nothing, nothing, never, never)

    def take(self, which: NDArray[Any] | slice) -> Sends:
        """Some of them, in the order given."""
        return Sends(*(getattr(self, column.name)[which] for column in fields(self)))

    def joined(self, other: Sends) -> Sends:
        """These and others behind them."""
        return Sends(*(np.concatenate([getattr(s, column.name) for s in (self, other)]) for column in fields(self)))


class OpenTable:
    """The open messages of one destination. ``dropped`` counts those that the table had no room for."""

    def __init__(self) -> None:
        self.sends = Sends.none()
        self.dropped = 0
        self.dropped_up_to = -1

    def add(self, sends: Sends) -> None:
        """Take messages that were sent."""
        if len(sends):
            joined = self.sends.joined(sends)
            self.sends = joined.take(np.argsort(joined.whole, kind="stable"))

    def find(self, whole: Ints, time: Ints) -> Ints:
        """Where the messages with these numbers are that were sent by then; -1 where there is none."""
        if not len(self.sends):
            return np.full(len(whole), -1)
        at = np.searchsorted(self.sends.whole, whole, "right") - 1
        there = (at >= 0) & (self.sends.whole[at] == whole) & (self.sends.time[at] <= time)
        found: Ints = np.where(there, at, -1)
        return found

    def keep(self, which: NDArray[np.bool_]) -> Sends:
        """Keep some messages; returns the others."""
        gone = self.sends.take(~which)
        self.sends = self.sends.take(which)
        return gone

    def limit(self) -> Sends:
        """Drop the oldest where there are too many; returns those that were never received."""
        excess = len(self.sends) - MOST_OPEN
        if excess <= 0:
            return Sends.none()
        oldest = self.sends.take(slice(0, excess))
        self.dropped_up_to = int(oldest.whole[-1])
        self.sends = self.sends.take(slice(excess, None))
        lost = oldest.take(~oldest.matched)
        self.dropped += len(lost)
        return lost
