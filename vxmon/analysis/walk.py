# SPDX-License-Identifier: Apache-2.0
"""One walk over the records of a trace for any number of analyses: all take the same batches and the same states."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from typing import Generic, TypeVar

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.batches import batched
from vxmon.trace.columns import Chunk
from vxmon.trace.facts import Boot
from vxmon.trace.state import States
from vxmon.trace.trace import StoredTrace

__all__ = ["BootWalker", "Walker", "walk"]

B = TypeVar("B")


class Walker(ABC):
    """What an analysis does with the records. ``rows`` are the blocks it reads, ``probes`` what it asks States for."""

    rows: NDArray[np.void]
    probes: tuple[int, ...] = ()

    @abstractmethod
    def feed(self, chunk: Chunk, states: States) -> None:
        """Take a batch; ``states.feed`` tells its segments, to each who asks."""

    @abstractmethod
    def finish(self, states: States) -> None:
        """There are no more."""


class BootWalker(Walker, Generic[B]):
    """Keeps books of each boot: opened with its first batch, fed, and closed when the next boot begins."""

    def __init__(
        self,
        rows: NDArray[np.void],
        opened: Callable[[Boot], B],
        fed: Callable[[B, Chunk, States], None],
        closed: Callable[[B, States], None],
        probes: tuple[int, ...] = (),
    ) -> None:
        self.rows, self.probes = rows, probes
        self._opened, self._fed, self._closed = opened, fed, closed
        self._books: tuple[Boot, B] | None = None

    def feed(self, chunk: Chunk, states: States) -> None:
        """See Walker."""
        if self._books is None or self._books[0] is not chunk.boot:
            self.finish(states)
            self._books = (chunk.boot, self._opened(chunk.boot))
        self._fed(self._books[1], chunk, states)

    def finish(self, states: States) -> None:
        """See Walker."""
        if self._books is not None:
            self._closed(self._books[1], states)
            self._books = None


def walk(trace: StoredTrace, walkers: Sequence[Walker]) -> None:
    """Read what each of them wants, once for all that want the same."""
    rest = list(walkers)
    while rest:
        rows = rest[0].rows
        together = [walker for walker in rest if _are_same(walker.rows, rows)]
        rest = [walker for walker in rest if walker not in together]
        states = States(trace.facts, rows, {probe for walker in together for probe in walker.probes})
        for chunk in batched(trace.chunks(rows)):
            for walker in together:
                walker.feed(chunk, states)
        for walker in together:
            walker.finish(states)


def _are_same(a: NDArray[np.void], b: NDArray[np.void]) -> bool:
    return a is b or (len(a) == len(b) and bool((a == b).all()))
