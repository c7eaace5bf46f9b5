# SPDX-License-Identifier: Apache-2.0
"""The books of one heap while the chunks of a boot come, and the figures made of them."""

from __future__ import annotations

import itertools
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.figures import Figure, Range
from vxmon.analysis.memory.lost import Lost
from vxmon.analysis.memory.result import Growth, HeapMemory, Slice
from vxmon.analysis.memory.series import Bins, Series
from vxmon.wire.events import PartitionMode

__all__ = ["HeapBook", "HeapRows", "ModeRows", "slices_of"]

_MILLION: Final = 1_000_000
_SLICES: Final = 8

Ints = NDArray[np.int64]


@dataclass(slots=True)
class HeapRows:
    """What the records of a chunk say of one heap, in order of time.

    ``sampled`` are the rows that are MEM_SAMPLE records; ``largest``, ``blocks`` and ``high_water`` are theirs.
    """

    time: Ints
    frame: Ints
    free: Ints
    used: Ints
    sampled: NDArray[np.intp]
    largest: Ints
    blocks: Ints
    high_water: Ints


@dataclass(slots=True)
class ModeRows:
    """Mode changes of one partition in a chunk."""

    time: Ints
    mode: Ints
    previous: Ints

    @staticmethod
    def none() -> ModeRows:
        """No change."""
        return ModeRows(*(np.zeros(0, np.int64) for _ in range(3)))


@dataclass(slots=True)
class _Sample:
    """The first or last sample of the allocator."""

    time: int
    blocks: int
    high_water: int


@dataclass(slots=True)
class HeapBook:
    """One heap of one boot.

    ``every`` keeps a bin a frame, when they are asked for; ``restartable`` is true when the partition may have been
    restarted, as far as the session's tables can say.
    """

    index: int
    every: Series | None = None
    restartable: bool = False
    used: Range = field(default_factory=Range)
    free: Range = field(default_factory=Range)
    largest: Range = field(default_factory=Range)
    fragmentation: Range = field(default_factory=Range)
    sizes: tuple[int, int] | None = None
    first: tuple[int, int] | None = None
    last: tuple[int, int] | None = None
    samples: int = 0
    switches: int = 0
    restarts: int = 0
    first_sample: _Sample | None = None
    last_sample: _Sample | None = None
    peak: int = 0
    best: Series = field(default_factory=Series)
    _now: Series = field(default_factory=Series)
    _normal: bool = True
    _told: bool = False

    def feed(self, rows: HeapRows, modes: ModeRows) -> None:
        """Take the rows of a chunk."""
        if len(rows.time):
            self._take_use(rows)
            self._take_samples(rows)
        self._take_series(rows, modes)

    def _take_use(self, rows: HeapRows) -> None:
        self.used.add(rows.used, None, rows.frame, rows.time)
        self.free.add(rows.free, None, rows.frame, rows.time)
        size = rows.used + rows.free
        low, high = int(size.min()), int(size.max())
        self.sizes = (low, high) if self.sizes is None else (min(low, self.sizes[0]), max(high, self.sizes[1]))
        if self.first is None:
            self.first = (int(rows.time[0]), int(rows.used[0]))
        self.last = (int(rows.time[-1]), int(rows.used[-1]))
        self.samples += len(rows.sampled)
        self.switches += len(rows.time) - len(rows.sampled)

    def _take_samples(self, rows: HeapRows) -> None:
        which = rows.sampled
        if not len(which):
            return
        frame, time, free = rows.frame[which], rows.time[which], rows.free[which]
        self.largest.add(rows.largest, None, frame, time)
        apart = np.maximum(free - rows.largest, 0) * _MILLION // np.maximum(free, 1)
        self.fragmentation.add(apart, None, frame, time)
        ends = [_Sample(int(time[at]), int(rows.blocks[at]), int(rows.high_water[at])) for at in (0, -1)]
        self.first_sample = self.first_sample or ends[0]
        self.last_sample = ends[1]
        self.peak = max(self.peak, int(rows.high_water.max()))

    def _take_series(self, rows: HeapRows, modes: ModeRows) -> None:
        """Each change of mode begins a new stretch; only NORMAL mode counts, or what nothing is known of."""
        if self.every is not None:
            self.every.add(rows.frame, rows.used)
        if len(modes.time) and not self._told:
            # The first change tells in which mode the partition was up to then.
            self._told = True
            self._normal = bool(modes.previous[0] == PartitionMode.NORMAL)
            self._now = self._now if self._normal else Series()
        life = np.searchsorted(modes.time, rows.time, side="right")
        normal = np.concatenate([[self._normal], modes.mode == PartitionMode.NORMAL])
        counts = np.bincount(life, minlength=len(normal))
        counts[~normal] = 0
        # The stretch that goes on, the longest inside the chunk, and the one that is still open at its end.
        inner = int(np.argmax(counts[1:-1])) + 1 if len(counts) > 2 else 0
        for number in sorted({0, inner, len(normal) - 1}):
            if number:
                self._close()
            if counts[number]:
                own = life == number
                self._now.add(rows.frame[own], rows.used[own])
        self._normal = bool(normal[-1])
        gone = (modes.previous == PartitionMode.NORMAL) & (modes.mode != PartitionMode.NORMAL)
        self.restarts += int(gone.sum())

    def _close(self) -> None:
        if self._now.frames > self.best.frames:
            self.best = self._now
        self._now = Series()

    # ------------------------------------------------------------ figures

    def finish(self, lost: Lost) -> None:
        """No more rows come: add what losses may hide."""
        self._close()
        if not lost or self.sizes is None:
            return
        size = self.sizes[1] if self.sizes[0] == self.sizes[1] else None
        most = self._most_used(lost)
        self.used.add_extra(lost.records, 0, most)
        self.free.add_extra(lost.records, 0 if size is None or most is None else size - most, size)
        if self.last_sample is not None:
            self.largest.add_extra(lost.records, 0, size)
            self.fragmentation.add_extra(lost.records, 0, _MILLION)

    def figures(self, lost: Lost, growth: Growth, *, recorded: bool) -> HeapMemory:
        """All figures but growth, which is judged elsewhere; ``recorded``: the events were switched on."""
        return HeapMemory(
            index=self.index,
            size=self._size(),
            first=self._end_figure(self.first, lost, before=True),
            last=self._end_figure(self.last, lost, before=False),
            used_min=_of(self.used, self.used.least()),
            used_max=_of(self.used, self.used.most()),
            free_min=_of(self.free, self.free.least()),
            largest_min=_of(self.largest, self.largest.least()),
            fragmentation_max=_of(self.fragmentation, self.fragmentation.most()),
            high_water=self._high_water(lost),
            blocks=self._blocks(lost),
            blocks_grown=self._blocks_grown(lost) if recorded else Figure.none(),
            lowest_free=self.free.worst(high_is_bad=False),
            smallest_block=self.largest.worst(high_is_bad=False),
            samples=self.samples,
            switches=self.switches,
            restarts=self.restarts,
            growth=growth,
            slices=slices_of(self.best.bins, self.best.shift, _SLICES),
            series=None if self.every is None else self.every.bins,
        )

    def _size(self) -> Figure:
        if self.sizes is None:
            return Figure.none()
        low, high = self.sizes
        return Figure.between(high, low, high, self.samples + self.switches)

    def _most_used(self, lost: Lost) -> int | None:
        """Upper bound of the use that a lost record may have told; None: there is none."""
        if self.sizes is None or self.sizes[0] != self.sizes[1]:
            return None
        last = self.last_sample
        if last is not None and not lost.after(last.time):
            return max(self.peak, 0 if self.used.sure.most is None else self.used.sure.most.value)
        return self.sizes[1]

    def _end_figure(self, end: tuple[int, int] | None, lost: Lost, *, before: bool) -> Figure:
        if end is None:
            return Figure.none()
        time, value = end
        doubt = lost.before(time) if before else lost.after(time)
        return Figure.between(value, 0, self._most_used(lost)) if doubt else Figure.exact(value)

    def _high_water(self, lost: Lost) -> Figure:
        """The allocator's own book, or what was seen behind its last record; without one that is a lower bound."""
        last, most = self.last_sample, self.used.sure.most
        if most is None:
            return Figure.none()
        if last is None:
            return Figure.between(None, most.value, None, self.used.n)
        value = max(self.peak, most.value)
        if not lost.after(last.time):
            return Figure.exact(value, self.samples)
        return Figure.between(value, value, self._most_used(lost), self.samples)

    def _blocks(self, lost: Lost) -> Figure:
        last = self.last_sample
        if last is None:
            return Figure.none()
        if not lost.after(last.time):
            return Figure.exact(last.blocks, self.samples)
        return Figure.between(last.blocks, 0, self._most_used(lost), self.samples)

    def _blocks_grown(self, lost: Lost) -> Figure:
        """A block has at least one byte, which bounds those that lost samples tell."""
        first, last = self.first_sample, self.last_sample
        if first is None or last is None or last.time == first.time:
            return Figure.none()
        value, most = last.blocks - first.blocks, self._most_used(lost)
        early, late = lost.before(first.time), lost.after(last.time)
        if early and most is None:
            return Figure.between(value, None, None, self.samples)
        lo = (0 if late else last.blocks) - ((most or 0) if early else first.blocks)
        hi = None if late and most is None else ((most or 0) if late else last.blocks) - (0 if early else first.blocks)
        return Figure.between(value, lo, hi, self.samples)


def _of(values: Range, figure: Figure) -> Figure:
    return figure if values.n else Figure.none()


def slices_of(bins: Bins, shift: int, parts: int) -> tuple[Slice, ...]:
    """Lowest and highest use in parts with about the same number of bins each."""
    if not len(bins):
        return ()
    edges = np.unique(np.linspace(0, len(bins), parts + 1).astype(int)).tolist()
    return tuple(
        Slice(
            int(bins.number[a]) << shift,
            (int(bins.number[b - 1]) + 1 << shift) - 1,
            int(bins.low[a:b].min()),
            int(bins.high[a:b].max()),
        )
        for a, b in itertools.pairwise(edges)
    )
