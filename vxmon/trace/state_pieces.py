# SPDX-License-Identifier: Apache-2.0
"""Segments cut at the edges of window occurrences, so that each piece is inside one of them or outside all."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.state import Segments
from vxmon.trace.state_frames import Occurrences

__all__ = ["NEVER", "Pieces", "first_of", "pieces"]

NEVER: Final = np.iinfo(np.int64).max

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Pieces:
    """Pieces in order; ``occurrence`` is -1 outside. Levels are as in Segments."""

    start: Ints
    end: Ints
    partition: Ints
    task: Ints
    depth: Ints
    occurrence: Ints

    def take(self, which: NDArray[np.bool_]) -> Pieces:
        """Some of them."""
        columns = (self.start, self.end, self.partition, self.task, self.depth, self.occurrence)
        return Pieces(*(column[which] for column in columns))


def pieces(segments: Segments, occurrences: Occurrences) -> Pieces:
    """Put the edges of occurrences, which must be in order and not overlap, into the segments that they cut.

    Each edge is looked up once: where the pieces of each occurrence begin and end follows by counting.
    """
    edges, number = occurrences.edges()
    cut = np.searchsorted(segments.start, edges, "right") - 1
    within = (edges > segments.start[cut]) & (edges < segments.end[cut]) & (cut >= 0)
    on = (edges == segments.start[cut]) & (cut >= 0)
    # The first piece from each edge on: every edge before has made one more piece.
    first = cut + 1 - on + np.cumsum(within) - within
    behind = first[within]
    old = np.ones(len(segments) + len(behind), bool)
    old[behind] = False
    at = np.cumsum(old) - 1
    start, end = segments.start.take(at), segments.end.take(at)
    start[behind], end[behind - 1] = edges[within], edges[within]
    which = _occurrence_of(first[number], len(at))
    return Pieces(start, end, segments.partition.take(at), segments.task.take(at), segments.depth.take(at), which)


def _occurrence_of(bounds: Ints, count: int) -> Ints:
    """The occurrence of each piece, of which ``bounds`` are the first pieces in and behind each; else -1."""
    bounds = np.minimum(np.maximum.accumulate(np.concatenate([[0], bounds, [count]])), count)
    numbers = np.full(len(bounds) - 1, -1, np.int64)
    numbers[1::2] = np.arange(len(bounds) // 2 - 1)
    return np.repeat(numbers, np.diff(bounds))


def first_of(of: NDArray[np.bool_], group: NDArray[np.intp], start: Ints) -> Ints:
    """When the first piece of some kind begins in each group; NEVER without. ``group``: where each begins."""
    some = np.flatnonzero(of)
    ahead: Ints = np.cumsum(of)[group] - of[group]
    position = np.append(some, len(of))[ahead]
    there = position < np.append(group[1:], len(of))
    return np.where(there, start[np.minimum(position, len(of) - 1)], NEVER)
