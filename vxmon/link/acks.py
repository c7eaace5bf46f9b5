# SPDX-License-Identifier: Apache-2.0
"""Which blocks of a run are stored, which are missed, and what to tell the target about it (SPEC section 6). Pure."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.link.ranges import RangeSet
from vxmon.wire.status import MAX_MISSING
from vxmon.wire.types import Range, StreamAck

__all__ = ["StreamTracker"]

# Gaps remembered; with more, the newest blocks are forgotten and will be sent again.
_MAX_RANGES: Final = 4096

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]


class StreamTracker:
    """The blocks of one stream in one run.

    ``seen`` is one more than the highest block stored; ``gaps`` are the blocks below that are missed, ``gone`` those
    of them that the target no longer has. ``recovered`` counts blocks that were named missing and came then.
    """

    def __init__(self, stream: int) -> None:
        self.stream = stream
        self.seen = 0
        self.gaps = RangeSet()
        self.gone = RangeSet()
        self.recovered = 0
        self._asked = RangeSet()

    @property
    def next(self) -> int:
        """Every block below is stored, or gone."""
        return self.gaps.ranges[0][0] if self.gaps else self.seen

    def store(self, sequences: Ints) -> Bools:
        """Take blocks that were written to the session; returns which of them are new (the others are duplicates)."""
        if not len(sequences):
            return np.zeros(0, bool)
        first, last = int(sequences[0]), int(sequences[-1])
        if first == self.seen and last - first + 1 == len(sequences) and bool((sequences[1:] > sequences[:-1]).all()):
            self.seen = last + 1
            return np.ones(len(sequences), bool)
        return self._store_any(sequences)

    def _store_any(self, sequences: Ints) -> Bools:
        unique, first = np.unique(sequences, return_index=True)
        filling = self.gaps.contains(unique)
        missed = (unique >= self.seen) | filling | self.gone.contains(unique)
        self.recovered += int(np.count_nonzero(filling & self._asked.contains(unique)))
        new = np.zeros(len(sequences), bool)
        new[first[missed]] = True
        cuts = np.flatnonzero(np.diff(unique) != 1)
        begins = unique[np.concatenate(([0], cuts + 1))]
        ends = unique[np.concatenate((cuts, [len(unique) - 1]))] + 1
        for begin, end in zip(begins.tolist(), ends.tolist(), strict=True):
            self.gaps.remove(begin, end)
            self.gone.remove(begin, end)
            self._asked.remove(begin, end)
            self._extend(begin, end)
        return new

    def _extend(self, begin: int, end: int) -> None:
        if end > self.seen:
            self.gaps.add(self.seen, begin)
            self.seen = end
        if len(self.gaps.ranges) > _MAX_RANGES:
            self.seen = self.gaps.ranges.pop()[0]

    def give_up_below(self, held: int) -> None:
        """The target no longer has the blocks below ``held``: those missed are gone."""
        for first, end in self.gaps.ranges:
            if first >= held:
                break
            self.gone.add(first, min(end, held))
        self.gaps.remove(0, held)
        self._asked.remove(0, held)
        if held > self.seen:
            self.gone.add(self.seen, held)
            self.seen = held
        del self.gone.ranges[:-_MAX_RANGES]

    def acknowledgement(self, cut: int) -> StreamAck:
        """What to tell the target; blocks up to ``cut`` are asked for even when nothing above was seen.

        Pass 0 for ``cut`` while blocks may still be on their way.
        """
        gaps = self.gaps.ranges
        ranges = [Range(first, end - first) for first, end in gaps[:MAX_MISSING]]
        for first, end in gaps[:MAX_MISSING]:
            self._asked.add(first, end)
        if len(gaps) > MAX_MISSING:
            return StreamAck(self.stream, self.next, gaps[MAX_MISSING][0], tuple(ranges))
        if cut > self.seen and len(ranges) < MAX_MISSING:
            ranges.append(Range(self.seen, cut - self.seen))
        return StreamAck(self.stream, self.next, self.seen, tuple(ranges))
