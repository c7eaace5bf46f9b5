# SPDX-License-Identifier: Apache-2.0
"""What a session says of the memory that partitions use, as the memory map takes it; sizes in bytes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vxmon.analysis.figures import NOT_RECORDED, Figure

__all__ = ["Observed", "ObservedPartition", "ObservedStack"]


@dataclass(frozen=True, slots=True)
class ObservedStack:
    """The stack of one task: its size, and the deepest that it was; ``gone`` when it ended before the session."""

    task: str
    size: Figure
    high_water: Figure
    gone: bool = False

    @property
    def full(self) -> bool:
        """Tell whether nothing is left of it, as far as is known."""
        size, used = self.size.value, self.high_water.value
        return size is not None and used is not None and used >= size > 0


@dataclass(frozen=True, slots=True)
class ObservedPartition:
    """One partition as it ran.

    Attributes:
        heap_size: of its heap, used and free.
        heap_peak: the most that was in use at once.
        growth: of the heap in bytes per 1000 frames, with its interval.
        leak: whether the session shows all the evidence for a leak.
        full_in_s: seconds until the heap is full at that growth.
        stacks: of its tasks.

    """

    name: str
    heap_size: Figure
    heap_peak: Figure
    growth: Figure
    leak: bool
    full_in_s: int | None
    stacks: tuple[ObservedStack, ...]

    def worst(self, other: ObservedPartition) -> ObservedPartition:
        """Return the worse of two boots in each respect."""
        mine, theirs = ({stack.task: stack for stack in part.stacks} for part in (self, other))
        faster = max((self, other), key=lambda part: (part.leak, part.growth.value or 0))
        return ObservedPartition(
            name=self.name,
            heap_size=_larger(self.heap_size, other.heap_size),
            heap_peak=_larger(self.heap_peak, other.heap_peak),
            growth=faster.growth,
            leak=self.leak or other.leak,
            full_in_s=faster.full_in_s,
            stacks=tuple(
                _deeper(mine.get(task) or theirs[task], theirs.get(task) or mine[task]) for task in {**mine, **theirs}
            ),
        )

    @property
    def heap_full(self) -> bool:
        """Tell whether the heap was used up."""
        size, peak = self.heap_size.value, self.heap_peak.value
        return size is not None and peak is not None and peak >= size > 0

    @property
    def stack_size(self) -> Figure:
        """Return what all stacks take together."""
        return _sum([stack.size for stack in self.stacks])

    @property
    def stack_peak(self) -> Figure:
        """Return the sum of the high-waters; where one was not recorded, a lower bound."""
        return _sum([stack.high_water for stack in self.stacks if not stack.gone])

    @property
    def full_stacks(self) -> list[str]:
        """Return the tasks that have nothing left of their stacks."""
        return [stack.task for stack in self.stacks if stack.full]


@dataclass(frozen=True, slots=True)
class Observed:
    """All partitions of a session, by name; ``kernel`` is the module OS."""

    source: str
    partitions: Mapping[str, ObservedPartition] = field(default_factory=dict)
    kernel: ObservedPartition | None = None


def _deeper(a: ObservedStack, b: ObservedStack) -> ObservedStack:
    return ObservedStack(a.task, _larger(a.size, b.size), _larger(a.high_water, b.high_water), gone=a.gone and b.gone)


def _larger(a: Figure, b: Figure) -> Figure:
    """The larger of two figures, each of which may be in doubt."""
    if NOT_RECORDED in (a.status, b.status):
        return b if a.status == NOT_RECORDED else a
    values = [figure.value for figure in (a, b) if figure.value is not None]
    highs = [figure.hi for figure in (a, b)]
    return Figure.between(
        max(values, default=None),
        max(a.lo or 0, b.lo or 0),
        None if None in highs else max(high or 0 for high in highs),
        a.n + b.n,
    )


def _sum(figures: list[Figure]) -> Figure:
    """A sum in which what was not recorded leaves the upper end open."""
    known = [figure for figure in figures if figure.status != NOT_RECORDED]
    if not known:
        return Figure.none()
    lows = [figure.lo if figure.lo is not None else 0 for figure in known]
    highs = [figure.hi for figure in known]
    values = [figure.value if figure.value is not None else low for figure, low in zip(known, lows, strict=True)]
    hi = None if None in highs or len(known) < len(figures) else sum(high or 0 for high in highs)
    return Figure.between(sum(values), sum(lows), hi, len(known))
