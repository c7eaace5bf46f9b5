# SPDX-License-Identifier: Apache-2.0
"""The records before and after some, collected while a trace is read once."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.names import LOSS_ID

__all__ = ["MOST_KEPT", "Collector", "Surroundings"]

MOST_KEPT: Final = 1000
"""Records of which the surroundings are kept: the last ones."""


@dataclass(slots=True)
class Surroundings:
    """One record (the row ``at`` of ``chunk``) with those before and after it."""

    chunk: Chunk
    at: int
    missing: int = 0

    @property
    def lost(self) -> int:
        """Records that are missing among them."""
        columns = self.chunk.columns
        intervals = columns.at[columns.id == LOSS_ID]
        return int(self.chunk.losses["records"][intervals].sum())


@dataclass(slots=True)
class Collector:
    """Keeps ``count`` records on either side of each record that it is told of, of the newest MOST_KEPT of those."""

    count: int
    found: list[Surroundings | None] = field(default_factory=list)
    _tail: Chunk | None = None
    _open: list[Surroundings] = field(default_factory=list)

    def feed(self, chunk: Chunk, marked: NDArray[np.intp]) -> None:
        """Take a chunk; ``marked`` are the rows of interest in it, in order."""
        if self._tail is not None and self._tail.boot is not chunk.boot:
            self._tail, self._open = None, []
        for some in self._open:
            _append(some, chunk)
        self._open = [some for some in self._open if some.missing]
        before = self._tail.columns if self._tail is not None else chunk.columns.take(slice(0, 0)).packed()
        whole = replace(chunk, columns=Columns.join([before, chunk.columns]), late=None)
        for at in (marked + len(before)).tolist():
            self._mark(whole, at)
        self._forget()
        last = whole.columns.take(slice(max(len(whole.columns) - self.count, 0), None)).packed()
        self._tail = replace(whole, columns=last)

    def _mark(self, whole: Chunk, at: int) -> None:
        begin, end = max(at - self.count, 0), at + self.count + 1
        columns = whole.columns.take(slice(begin, end)).packed()
        some = Surroundings(replace(whole, columns=columns), at - begin, max(end - len(whole.columns), 0))
        self.found.append(some)
        if some.missing:
            self._open.append(some)

    def _forget(self) -> None:
        for at in range(len(self.found) - MOST_KEPT - 1, -1, -1):
            if self.found[at] is None:
                break
            self.found[at] = None


def _append(some: Surroundings, chunk: Chunk) -> None:
    """The first records of the next chunk, as far as they are missing."""
    more = chunk.columns.take(slice(0, some.missing)).packed()
    some.missing -= len(more)
    some.chunk = replace(some.chunk, columns=Columns.join([some.chunk.columns, more]), losses=chunk.losses)
