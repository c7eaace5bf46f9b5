# SPDX-License-Identifier: Apache-2.0
"""The result of ``analyze time``. All times are ticks of the target's clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.figures import Figure
from vxmon.analysis.spread import Spread
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.state_windows import WindowPlace

__all__ = [
    "BootTime",
    "CpuTime",
    "FrameRows",
    "PartitionTime",
    "TaskTime",
    "TimeResult",
    "WindowTime",
]


@dataclass(frozen=True, slots=True)
class WindowTime:
    """The occurrences of one window on one stream, or of all windows of a partition (``place`` is None).

    ``used`` = budget - margin = late + tasks + kernel + other. ``interrupts`` and ``recording`` are of which.
    ``not_normal`` occurrences, in which the partition was not in NORMAL mode, and ``edges``, cut by the begin or end
    of recording, are left out of all the others.
    """

    partition: int
    place: WindowPlace | None
    stream: int | None
    occurrences: Figure
    budget: Figure
    margin: Spread
    margin_net: Spread
    used: Spread
    late: Spread
    tasks: Spread
    kernel: Spread
    other: Spread
    interrupts: Spread
    records: Spread
    start_delay: Spread
    overrun: Spread
    never_started: Figure
    not_normal: int
    parts_total: int
    budget_total: int
    unmatched: int


@dataclass(frozen=True, slots=True)
class TaskTime:
    """One task. ``total`` is its execution, idle tasks' is margin; execution and response are per activation."""

    index: int
    partition: int | None
    idle: bool
    total: Figure
    dispatches: Figure
    preemptions: Figure
    activations: Figure
    completed: Figure
    execution: Spread
    response: Spread
    deadline_misses: Figure
    kernel_misses: Figure
    hm_misses: Figure
    cut: int


@dataclass(frozen=True, slots=True)
class PartitionTime:
    """One partition: how long it had the processor, and how its tasks used it."""

    index: int
    total: Figure
    tasks: Figure
    idle: Figure
    switches: Figure
    windows: WindowTime | None


@dataclass(frozen=True, slots=True)
class CpuTime:
    """One stream: ``observed`` = ``tasks`` + ``idle`` + ``nobody`` + ``unknown``, exactly."""

    stream: int
    begin: int
    end: int
    observed: int
    tasks: int
    idle: int
    nobody: int
    unknown: int
    edges: int


@dataclass(frozen=True, slots=True)
class FrameRows:
    """One row an occurrence, for --per-frame: columns of equal length, ticks; ``unknown`` is the width of the range."""

    columns: Mapping[str, NDArray[np.int64]]


@dataclass(slots=True)
class BootTime:
    """The figures of one boot. Names are those of the session."""

    id: int
    number: int
    clock_hz: int
    cpus: list[CpuTime] = field(default_factory=list)
    partitions: list[PartitionTime] = field(default_factory=list)
    windows: list[WindowTime] = field(default_factory=list)
    tasks: list[TaskTime] = field(default_factory=list)
    partition_names: Mapping[int, str] = field(default_factory=dict)
    task_names: Mapping[int, str] = field(default_factory=dict)
    schedule_source: str = "session"
    notes: list[str] = field(default_factory=list)
    frames: FrameRows | None = None


@dataclass(slots=True)
class TimeResult:
    """What ``analyze time`` found."""

    boots: list[BootTime]
    span: Span = EVERYTHING
