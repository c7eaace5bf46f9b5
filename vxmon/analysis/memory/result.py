# SPDX-License-Identifier: Apache-2.0
"""The result of ``analyze memory``. Sizes are bytes, times ticks of the target's clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vxmon.analysis.figures import Extreme, Figure
from vxmon.analysis.memory.series import Bins
from vxmon.trace.span import EVERYTHING, Span

__all__ = [
    "KERNEL",
    "KERNEL_INDEX",
    "BootMemory",
    "Estimate",
    "Evidence",
    "Growth",
    "HeapMemory",
    "MemoryResult",
    "OperationMemory",
    "Slice",
    "StackMemory",
    "Verdict",
    "heap_name",
    "stack_owner",
]

KERNEL = "kernel"
"""What the heap of the module OS is called."""

KERNEL_INDEX = 0
"""The partition that the module OS is."""

Verdict = Literal["leak?", "growing", "in doubt", "no growth", "too short", "not recorded"]


@dataclass(frozen=True, slots=True)
class Evidence:
    """One thing that a leak must show; ``holds`` is None where the session cannot tell."""

    name: str
    holds: bool | None
    text: str


@dataclass(frozen=True, slots=True)
class Growth:
    """How fast the lowest use of a frame grows, in the longest stretch without a restart.

    Attributes:
        per_1000_frames: bytes in 1000 frames, with its 95 % interval; estimated.
        per_second: bytes a second, likewise.
        frames: of the stretch, with a value.
        first, last: frames of the stretch.
        verdict: ``leak?`` when all the evidence holds, ``growing`` when only the interval is above 0.
        full_in_s: seconds until the heap is full at that rate; None where it does not grow for certain.

    """

    per_1000_frames: Figure
    per_second: Figure
    frames: int
    first: int
    last: int
    verdict: Verdict
    evidence: tuple[Evidence, ...] = ()
    full_in_s: int | None = None


@dataclass(frozen=True, slots=True)
class Slice:
    """Lowest and highest use in a part of the stretch, frames ``first`` to ``last``."""

    first: int
    last: int
    low: int
    high: int


@dataclass(frozen=True, slots=True)
class Estimate:
    """What the accounting rules say of a heap beside what was measured at the same time."""

    estimated: Figure
    measured: Figure
    difference: Figure
    time: int


@dataclass(frozen=True, slots=True)
class HeapMemory:
    """One heap; ``index`` is that of its partition, 0 for the kernel's.

    Attributes:
        first, last: use at the begin and end.
        high_water: what the allocator says was the most; between samples, too.
        blocks: allocated at the last sample, and ``blocks_grown``: how many more than at the first.
        largest_min: the least size of the largest free block, at samples; between them it may have been less.
        fragmentation_max: share of the free memory that is not in the largest block, at samples, in millionths.
        lowest_free: where the least free memory was: number of the frame, and time.
        restarts: of the partition, as recorded.

    """

    index: int
    size: Figure
    first: Figure
    last: Figure
    used_min: Figure
    used_max: Figure
    free_min: Figure
    largest_min: Figure
    fragmentation_max: Figure
    high_water: Figure
    blocks: Figure
    blocks_grown: Figure
    lowest_free: Extreme | None
    smallest_block: Extreme | None
    samples: int
    switches: int
    restarts: int
    growth: Growth
    slices: tuple[Slice, ...] = ()
    estimate: Estimate | None = None
    series: Bins | None = None


@dataclass(frozen=True, slots=True)
class StackMemory:
    """The stack of one task, or of all tasks that had that name in its partition one after the other.

    Attributes:
        high_water: by its fill pattern.
        at_switch: the deepest stack pointer when the task left the processor.
        margin: size - high_water; without a pattern at most what the stack pointer says.
        rises: bytes that the high-water rose by between the first sample and the last.
        gone: deleted, and nothing was recorded of it: it ended before.

    """

    partition: int | None
    task: str
    size: Figure
    high_water: Figure
    at_switch: Figure
    margin: Figure
    rises: Figure
    deepest_time: int | None
    indices: tuple[int, ...]
    gone: bool = False

    @property
    def deepest(self) -> Figure:
        """The most that was used: size - margin."""
        size = self.size.value
        if size is None or self.margin.lo is None:
            return Figure.none()
        value, hi = self.margin.value, self.margin.hi
        lowest = 0 if hi is None else size - hi
        return Figure.between(None if value is None else size - value, lowest, size - self.margin.lo, self.margin.n)


@dataclass(frozen=True, slots=True)
class OperationMemory:
    """How often a partition did one kind of operation, with sizes of one power of two.

    Attributes:
        count, total: since the partition started; of ``total`` bytes.
        grown: operations while it was observed.
        per_second: the same as a rate, in thousandths.
        lasting: how many more were done than undone since it started (allocate - free), None for what undoes.

    """

    partition: int
    operation: str
    size_class: int
    count: Figure
    total: Figure
    grown: Figure
    per_second: Figure


@dataclass(slots=True)
class BootMemory:
    """The figures of one boot. Names are those of the session; ``frame_ticks`` None: frames are not known."""

    id: int
    number: int
    clock_hz: int
    frame_ticks: int | None
    begin: int = 0
    end: int = 0
    heaps: list[HeapMemory] = field(default_factory=list)
    stacks: list[StackMemory] = field(default_factory=list)
    operations: list[OperationMemory] = field(default_factory=list)
    partition_names: Mapping[int, str] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class MemoryResult:
    """What ``analyze memory`` found."""

    boots: list[BootMemory]
    span: Span = EVERYTHING


def heap_name(boot: BootMemory, index: int) -> str:
    """The name of a heap: that of its partition, or its number; ``kernel`` for that of the module OS."""
    return KERNEL if index == KERNEL_INDEX else boot.partition_names.get(index) or f"partition {index}"


def stack_owner(boot: BootMemory, index: int | None) -> str:
    """The name of a partition that has tasks; the module OS has its own name."""
    if index is None:
        return "?"
    return boot.partition_names.get(index) or ("module OS" if index == KERNEL_INDEX else f"partition {index}")
