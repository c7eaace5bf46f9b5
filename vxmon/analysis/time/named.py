# SPDX-License-Identifier: Apache-2.0
"""The figures of ``analyze time`` under their names.

    cpu.<CPU>.<time>                                     tasks_time idle_time nobody_time
    partition.<partition>.<time>                         time tasks_time idle_time; also .switches
    partition.<partition>.<quantity>.<statistic>         all windows of the partition
    window.<partition>.<schedule>.<window>.<quantity>.<statistic>
    task.<partition>.<task>.<count>                      activations deadline_misses preemptions and others
    task.<partition>.<task>.execution.<statistic>        also response

Times are ns. Where a session has several CPUs a window is ``<CPU>:<schedule>.<window>``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Final

from vxmon.analysis.figures import Extreme, Figure
from vxmon.analysis.named import NamedFigure
from vxmon.analysis.names import partition_name, task_name, unique_names
from vxmon.analysis.spread import STATISTICS, Spread
from vxmon.analysis.time.result import BootTime, CpuTime, PartitionTime, TaskTime, TimeResult, WindowTime
from vxmon.trace.facts import Facts
from vxmon.trace.ticks import instant_text, ticks_to_ns

__all__ = ["named_figures", "worst_text"]

_QUANTITIES: Final = (
    "used", "margin", "margin_net", "late", "tasks", "kernel", "other", "interrupts", "start_delay", "overrun",
)  # fmt: skip
_COUNTS: Final = (
    "dispatches", "preemptions", "activations", "completed", "deadline_misses", "kernel_misses", "hm_misses",
)  # fmt: skip
# More of these is better.
_LOW_IS_BAD: Final = frozenset({
    "margin", "margin_net", "idle_time", "nobody_time", "switches", "dispatches", "activations", "completed",
    "occurrences",
})  # fmt: skip


def named_figures(result: TimeResult, facts: Facts | None = None) -> Iterator[NamedFigure]:
    """Every figure of every boot. With ``facts``, limits of tasks may be shares of their time capacity."""
    for boot in result.boots:
        yield from _numbered(_boot_figures(boot, _capacities(boot, facts)), boot.number)


def worst_text(worst: Extreme | None, hz: int, what: str = "frame") -> str:
    """The number and time of an observation; empty where neither is known."""
    if worst is None or worst.time < 0:
        return ""
    return f"{what} {worst.number} at {instant_text(worst.time, hz)}"


def _numbered(figures: Iterator[NamedFigure], boot: int) -> Iterator[NamedFigure]:
    for figure in figures:
        yield replace(figure, boot=boot, parts=tuple(replace(part, boot=boot) for part in figure.parts))


def _capacities(boot: BootTime, facts: Facts | None) -> dict[int, int]:
    """Time capacities of tasks in ticks, by index, where they have one."""
    if facts is None:
        return {}
    tasks = next((b.names.tasks for b in facts.boots if b.number == boot.number), {})
    return {index: task.time_capacity for index, task in tasks.items() if task.time_capacity}


def _boot_figures(boot: BootTime, capacities: Mapping[int, int]) -> Iterator[NamedFigure]:
    for cpu in boot.cpus:
        yield from _cpu(boot, cpu)
    of_partition: dict[int, list[NamedFigure]] = {}
    for window in boot.windows:
        for figure in _window(boot, window):
            of_partition.setdefault(window.partition, []).append(figure)
    partitions = unique_names({p.index: partition_name(boot, p.index) for p in boot.partitions})
    for partition in boot.partitions:
        yield from _partition(boot, partition, partitions[partition.index], of_partition.get(partition.index, []))
    for figures in of_partition.values():
        yield from figures
    tasks = unique_names(
        {t.index: f"{partition_name(boot, t.partition)}.{task_name(boot, t.index)}" for t in boot.tasks}
    )
    for task in boot.tasks:
        yield from _task(boot, task, f"task.{tasks[task.index]}", capacities.get(task.index))


# ---------------------------------------------------------------- what figures are of


def _cpu(boot: BootTime, cpu: CpuTime) -> Iterator[NamedFigure]:
    for name in ("tasks", "idle", "nobody"):
        known = getattr(cpu, name)
        figure = Figure(known, known, known + cpu.unknown, 1)
        yield _time(boot, f"cpu.{cpu.stream}.{name}_time", figure, cpu.observed, name + "_time")


def _partition(
    boot: BootTime, partition: PartitionTime, name: str, windows: list[NamedFigure]
) -> Iterator[NamedFigure]:
    prefix = f"partition.{name}"
    observed = sum(cpu.observed for cpu in boot.cpus)
    for key, figure in (("time", partition.total), ("tasks_time", partition.tasks), ("idle_time", partition.idle)):
        yield _time(boot, f"{prefix}.{key}", figure, observed, key)
    yield _count(f"{prefix}.switches", partition.switches, "switches")
    if partition.windows is None:
        return
    by_end: dict[str, list[NamedFigure]] = {}
    for window in windows:
        by_end.setdefault(".".join(window.name.rsplit(".", 2)[1:]), []).append(window)
    for joined in _window_figures(boot, partition.windows, prefix, None):
        yield _joined(joined, by_end.get(".".join(joined.name.rsplit(".", 2)[1:]), []))


def _joined(figure: NamedFigure, windows: list[NamedFigure]) -> NamedFigure:
    """A figure of a partition, with what is known from its windows: which was the worst, and shares of budgets."""
    windows = [window for window in windows if window.figure.n or window.figure.in_doubt]
    wholes = {window.whole for window in windows}
    where = next((w.where for w in windows if figure.where and w.where.endswith(f", {figure.where}")), figure.where)
    if len(wholes) == 1:
        return replace(figure, where=where, whole=wholes.pop())
    return replace(figure, where=where, parts=tuple(windows) if None not in wholes else ())


def _window(boot: BootTime, window: WindowTime) -> Iterator[NamedFigure]:
    place = window.place
    if place is None:
        return
    cpu = f"{window.stream}:" if len(boot.cpus) > 1 else ""
    name = f"{cpu}{place.schedule}.{place.window}"
    prefix = f"window.{partition_name(boot, window.partition)}.{name}"
    for figure in _window_figures(boot, window, prefix, place.duration):
        yield replace(figure, where=f"window {name}, {figure.where}" if figure.where else "")


def _window_figures(boot: BootTime, window: WindowTime, prefix: str, budget: int | None) -> Iterator[NamedFigure]:
    for name in _QUANTITIES:
        spread: Spread = getattr(window, name)
        where = worst_text(spread.worst, boot.clock_hz)
        yield from _spread(boot, f"{prefix}.{name}", spread, budget, where)
    for key, statistic in STATISTICS.items():
        yield _count(f"{prefix}.records.{statistic}", getattr(window.records, key), "records")
    yield _count(f"{prefix}.occurrences", window.occurrences, "occurrences")
    yield _count(f"{prefix}.never_started", window.never_started, "never_started")


def _task(boot: BootTime, task: TaskTime, prefix: str, capacity: int | None) -> Iterator[NamedFigure]:
    observed = sum(cpu.observed for cpu in boot.cpus)
    yield _time(boot, f"{prefix}.time", task.total, observed, "idle_time" if task.idle else "time")
    if task.idle:
        yield _count(f"{prefix}.dispatches", task.dispatches, "dispatches")
        yield _count(f"{prefix}.preemptions", task.preemptions, "preemptions")
        return
    latest = worst_text(task.response.worst, boot.clock_hz, "activation")
    for name in _COUNTS:
        figure = _count(f"{prefix}.{name}", getattr(task, name), name)
        yield replace(figure, where=latest) if name == "deadline_misses" else figure
    longest = worst_text(task.execution.worst, boot.clock_hz, "activation")
    yield from _spread(boot, f"{prefix}.execution", task.execution, capacity, longest)
    yield from _spread(boot, f"{prefix}.response", task.response, capacity, latest)


# ---------------------------------------------------------------- one figure


def _spread(boot: BootTime, prefix: str, spread: Spread, whole: int | None, where: str) -> Iterator[NamedFigure]:
    """The statistics of a quantity; the place of the worst goes with the extreme at the bad end."""
    quantity = prefix.rpartition(".")[2]
    worst = "least" if quantity in _LOW_IS_BAD else "most"
    for key, statistic in STATISTICS.items():
        share = None if key == "total" else whole
        figure = _time(boot, f"{prefix}.{statistic}", getattr(spread, key), share, quantity)
        yield replace(figure, where=where) if key == worst else figure


def _time(boot: BootTime, name: str, ticks: Figure, whole: int | None, quantity: str) -> NamedFigure:
    """A time in ns. Where the session does not tell the clock's rate there is none."""
    hz = boot.clock_hz
    figure = ticks.mapped(lambda t: ticks_to_ns(t, hz)) if hz else Figure.none()
    return NamedFigure(
        name,
        figure,
        "ns",
        ticks_to_ns(whole, hz) if whole and hz else None,
        high_is_bad=quantity not in _LOW_IS_BAD,
    )


def _count(name: str, figure: Figure, quantity: str) -> NamedFigure:
    return NamedFigure(name, figure, "count", high_is_bad=quantity not in _LOW_IS_BAD)
