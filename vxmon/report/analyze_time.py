# SPDX-License-Identifier: Apache-2.0
"""``analyze time`` as text, JSON and CSV. Times are ns in JSON and CSV, microseconds in text."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from typing import Any, Final

import numpy as np

from vxmon.analysis.figures import Extreme, Figure
from vxmon.analysis.names import partition_name, task_name
from vxmon.analysis.quality import headline
from vxmon.analysis.spread import Spread
from vxmon.analysis.time.named import named_figures, worst_text
from vxmon.analysis.time.result import BootTime, PartitionTime, TaskTime, TimeResult, WindowTime
from vxmon.report.blocks import Bar, Bars, Block, Table, Text
from vxmon.report.figures import NOTHING, envelope, figure_json, figure_row, micros, plain, span_line, spread_json
from vxmon.trace.facts import Facts
from vxmon.trace.span import EVERYTHING
from vxmon.trace.ticks import ticks_to_ns

__all__ = [
    "SCHEMA",
    "VERSION",
    "Filter",
    "time_blocks",
    "time_json",
    "time_rows",
]

SCHEMA: Final = "vxmon.analyze.time"
VERSION: Final = 1
"""Grows when something is renamed or removed; additions do not change it."""

Json = dict[str, Any]

# Quantities of a window, in the order of reports; all but ``records`` are times.
_PARTS: Final = (
    "used", "margin", "margin_net", "late", "tasks", "kernel", "other", "interrupts", "start_delay", "overrun",
)  # fmt: skip
_BARS: Final = 24


class Filter:
    """Which partitions and tasks a report shows; empty: all.

    Args:
        partitions: names or indices.
        tasks: names, or indices.

    """

    def __init__(self, partitions: tuple[str, ...] = (), tasks: tuple[str, ...] = ()) -> None:
        self._partitions = frozenset(partitions)
        self._tasks = frozenset(tasks)

    def partition(self, boot: BootTime, index: int | None) -> bool:
        """True when a partition is shown."""
        return not self._partitions or bool(self._partitions & {partition_name(boot, index), str(index)})

    def task(self, boot: BootTime, task: TaskTime) -> bool:
        """True when a task is shown."""
        if self._tasks and not self._tasks & {task_name(boot, task.index), str(task.index)}:
            return False
        return self.partition(boot, task.partition)

    def of(self, result: TimeResult) -> TimeResult:
        """The result with only what is shown."""
        return replace(result, boots=[self._boot(boot) for boot in result.boots])

    def _boot(self, boot: BootTime) -> BootTime:
        return replace(
            boot,
            partitions=[p for p in boot.partitions if self.partition(boot, p.index)],
            windows=[w for w in boot.windows if self.partition(boot, w.partition)],
            tasks=[t for t in boot.tasks if self.task(boot, t)],
        )


# ---------------------------------------------------------------- JSON


def time_json(result: TimeResult, facts: Facts, chosen: Filter) -> Json:
    """The report as a JSON object."""
    value = envelope(SCHEMA, VERSION, facts)
    value["window"] = {"begin_ns": result.span.begin, "end_ns": result.span.end}
    value["boots"] = [_boot_json(boot, chosen) for boot in result.boots]
    return value


def _boot_json(boot: BootTime, chosen: Filter) -> Json:
    value: Json = {
        "boot": f"0x{boot.id:08x}",
        "number": boot.number,
        "clock_hz": boot.clock_hz,
        "schedule_source": boot.schedule_source,
        "cpus": [
            {
                "cpu": c.stream, "begin_ticks": c.begin, "end_ticks": c.end, "observed_ticks": c.observed,
                "tasks_ticks": c.tasks, "idle_ticks": c.idle, "nobody_ticks": c.nobody, "unknown_ticks": c.unknown,
                "windows_cut_by_edges": c.edges,
            }
            for c in boot.cpus
        ],
        "partitions": [_partition_json(boot, p) for p in boot.partitions if chosen.partition(boot, p.index)],
        "windows": [_window_json(boot, w) for w in boot.windows if chosen.partition(boot, w.partition)],
        "tasks": [_task_json(boot, t) for t in boot.tasks if chosen.task(boot, t)],
        "notes": list(boot.notes),
    }  # fmt: skip
    if boot.frames is not None:
        value["frames"] = _frames_json(boot, chosen)
    return value


def _partition_json(boot: BootTime, partition: PartitionTime) -> Json:
    hz = boot.clock_hz
    value: Json = {
        "partition": partition_name(boot, partition.index),
        "index": partition.index,
        "time_ns": figure_json(partition.total, hz),
        "tasks_ns": figure_json(partition.tasks, hz),
        "idle_ns": figure_json(partition.idle, hz),
        "switches": figure_json(partition.switches),
    }
    if partition.windows is not None:
        value["windows"] = _window_values(boot, partition.windows)
    return value


def _window_json(boot: BootTime, window: WindowTime) -> Json:
    place = window.place
    if place is None:
        return _window_values(boot, window)
    return {
        "cpu": window.stream,
        "schedule": place.schedule,
        "window": place.window,
        "partition": partition_name(boot, window.partition),
        "offset_ns": ticks_to_ns(place.offset, boot.clock_hz) if boot.clock_hz else None,
        "budget_ns": ticks_to_ns(place.duration, boot.clock_hz) if boot.clock_hz else None,
        **_window_values(boot, window),
    }


def _window_values(boot: BootTime, window: WindowTime) -> Json:
    value: Json = {name: spread_json(getattr(window, name), boot.clock_hz) for name in _PARTS}
    value["records"] = spread_json(window.records, None)
    value |= {
        "occurrences": figure_json(window.occurrences),
        "never_started": figure_json(window.never_started),
        "not_normal": window.not_normal,
        "sum_of_parts_ticks": window.parts_total,
        "sum_of_budgets_ticks": window.budget_total,
    }
    return value


def _task_json(boot: BootTime, task: TaskTime) -> Json:
    hz = boot.clock_hz
    return {
        "task": task_name(boot, task.index),
        "index": task.index,
        "partition": partition_name(boot, task.partition),
        "idle": task.idle,
        "time_ns": figure_json(task.total, hz),
        "dispatches": figure_json(task.dispatches),
        "preemptions": figure_json(task.preemptions),
        "activations": figure_json(task.activations),
        "completed": figure_json(task.completed),
        "execution": spread_json(task.execution, hz),
        "response": spread_json(task.response, hz),
        "deadline_misses": figure_json(task.deadline_misses),
        "deadline_misses_by_kernel": figure_json(task.kernel_misses),
        "deadline_misses_by_hm": figure_json(task.hm_misses),
        "activations_cut": task.cut,
    }


def _frames_json(boot: BootTime, chosen: Filter) -> list[Json]:
    names, rows = _frame_table(boot, chosen)
    return [dict(zip(names, row, strict=True)) for row in rows]


# ---------------------------------------------------------------- CSV


def time_rows(result: TimeResult, chosen: Filter) -> Iterator[tuple[str, ...]]:
    """CSV: one figure a row; with --per-frame one occurrence a row instead."""
    if any(boot.frames is not None for boot in result.boots):
        yield from _frame_rows(result, chosen)
        return
    yield "boot", "figure", "unit", "value", "lo", "hi", "n", "status"
    for named in named_figures(chosen.of(result)):
        unit = "" if named.unit == "count" else named.unit
        yield str(named.boot), named.name, unit, *figure_row(named.figure)


def _frame_rows(result: TimeResult, chosen: Filter) -> Iterator[tuple[str, ...]]:
    first = True
    for boot in result.boots:
        names, rows = _frame_table(boot, chosen)
        if first:
            yield "boot", *names
            first = False
        for row in rows:
            yield str(boot.number), *("" if cell is None else str(cell) for cell in row)


def _frame_table(boot: BootTime, chosen: Filter) -> tuple[tuple[str, ...], Iterator[tuple[Any, ...]]]:
    """Column names with units, and rows of occurrences in order of time."""
    columns: Mapping[str, np.ndarray[Any, np.dtype[np.int64]]] = boot.frames.columns if boot.frames is not None else {}
    plain_columns = ("stream", "frame", "schedule", "window")
    times = ("budget", "used", "margin", "unknown", "late", "tasks", "kernel", "other", "interrupts", "delay")
    names = ("cpu", *plain_columns[1:], "partition", "start_ticks", *(f"{name}_ns" for name in times), "records")
    if not columns:
        return names, iter(())
    order = np.lexsort((columns["window"], columns["stream"], columns["start"]))
    values = [columns[name][order].tolist() for name in plain_columns]
    owners = columns["partition"][order].tolist()
    values += [[partition_name(boot, owner) for owner in owners], columns["start"][order].tolist()]
    for name in times:
        ns = ticks_to_ns(columns[name][order], max(boot.clock_hz, 1)).tolist()
        # A start that was not seen has no delay.
        values.append([None if (name == "delay" and t < 0) or not boot.clock_hz else t for t in ns])
    values.append(columns["records"][order].tolist())
    wanted = [chosen.partition(boot, owner) for owner in owners]
    return names, (row for row, keep in zip(zip(*values, strict=True), wanted, strict=True) if keep)


# ---------------------------------------------------------------- text


def time_blocks(result: TimeResult, facts: Facts, chosen: Filter, record_ns: float | None = None) -> Iterator[Block]:
    """The report as text blocks. ``record_ns`` is what recording one event costs, where it was calibrated."""
    yield Text((headline(facts),), important=facts.incomplete)
    if result.span != EVERYTHING:
        yield Text((span_line(result.span, facts),))
    for boot in result.boots:
        yield from _boot_blocks(boot, chosen, record_ns)


def _boot_blocks(boot: BootTime, chosen: Filter, record_ns: float | None) -> Iterator[Block]:
    hz = boot.clock_hz
    line = (
        f"boot 0x{boot.id:08x}, clock {hz} Hz, schedule from: {boot.schedule_source}; times in us, "
        "ranges hold the truth, ~ is estimated, - not recorded or nothing to measure"
    )
    yield Text((line,))
    yield Table(
        "CPU time",
        ("CPU", ">observed", "=", ">tasks", "+", ">idle", "+", ">nobody", "+", ">unknown", ">sum", ">cut windows"),
        [_cpu_row(c, hz) for c in boot.cpus],
    )
    partitions = [p for p in boot.partitions if chosen.partition(boot, p.index)]
    yield _partition_table(boot, partitions)
    windows = [w for w in boot.windows if chosen.partition(boot, w.partition) and w.place is not None]
    if windows:
        yield _margin_table(boot, windows)
        yield _use_table(boot, windows, record_ns)
        yield _start_table(boot, windows)
    tasks = [t for t in boot.tasks if chosen.task(boot, t)]
    if tasks:
        yield _task_table(boot, tasks)
        yield _deadline_table(boot, tasks)
    if boot.frames is not None:
        yield _frame_block(boot, chosen)
    yield from _histograms(boot, windows, tasks)
    if boot.notes:
        yield Text(tuple(f"note: {note}" for note in boot.notes))


def _cpu_row(cpu: Any, hz: int) -> tuple[str, ...]:
    def us(ticks: int) -> str:
        return micros(Figure.exact(ticks), hz)

    total = cpu.tasks + cpu.idle + cpu.nobody + cpu.unknown
    sums = "adds up" if total == cpu.observed else f"{total - cpu.observed:+d} ticks"
    parts = (us(cpu.tasks), "+", us(cpu.idle), "+", us(cpu.nobody), "+", us(cpu.unknown))
    return (str(cpu.stream), us(cpu.observed), "=", *parts, sums, str(cpu.edges))


def _partition_table(boot: BootTime, partitions: list[PartitionTime]) -> Table:
    hz = boot.clock_hz
    columns = ("partition", ">switches", ">time", ">tasks", ">idle", ">windows", ">used mean", ">used max",
               ">margin min", ">margin mean", "worst")  # fmt: skip
    rows = []
    for p in partitions:
        row = (
            partition_name(boot, p.index),
            plain(p.switches),
            micros(p.total, hz),
            micros(p.tasks, hz),
            micros(p.idle, hz),
        )
        w = p.windows
        if w is None:
            rows.append((*row, *(NOTHING,) * 6))
            continue
        use = (plain(w.occurrences), micros(w.used.mean, hz), micros(w.used.most, hz))
        margins = (micros(w.margin.least, hz, floor=True), micros(w.margin.mean, hz, floor=True))
        rows.append((*row, *use, *margins, _where(w.margin.worst, hz)))
    return Table("partitions", columns, rows)


def _where(worst: Extreme | None, hz: int) -> str:
    return worst_text(worst, hz) or NOTHING


def _window_name(boot: BootTime, window: WindowTime) -> tuple[str, str]:
    place = window.place
    cpu = f"{window.stream}:" if len(boot.cpus) > 1 else ""
    number = "" if place is None else f"{cpu}{place.schedule}.{place.window}"
    return number, partition_name(boot, window.partition)


def _margin_table(boot: BootTime, windows: list[WindowTime]) -> Table:
    hz = boot.clock_hz
    columns = ("window", "partition", ">n", ">budget", ">margin min", ">p1", ">mean", ">max", ">net min", ">min %",
               "worst", ">not NORMAL")  # fmt: skip
    rows = []
    for w in windows:
        margin = [
            micros(figure, hz, floor=True) for figure in (w.margin.least, w.margin.p1, w.margin.mean, w.margin.most)
        ]
        net = micros(w.margin_net.least, hz, floor=True)
        rows.append((
            *_window_name(boot, w), plain(w.occurrences), micros(w.budget, hz), *margin, net, _share(w),
            _where(w.margin.worst, hz), str(w.not_normal),
        ))  # fmt: skip
    return Table("margins (budget - used = what the idle process ran inside the window)", columns, rows)


def _share(window: WindowTime) -> str:
    """The smallest margin as a share of the budget, rounded down; of a range the bad end."""
    low, budget = window.margin.least.lo, window.budget.value
    if low is None or not budget:
        return NOTHING
    tenths = low * 1000 // budget
    return f"{tenths // 10}.{tenths % 10}"


def _use_table(boot: BootTime, windows: list[WindowTime], record_ns: float | None) -> Table:
    hz = boot.clock_hz
    columns = ("window", "partition", ">used mean", ">max", "=", ">late start", ">tasks", ">kernel", ">other",
               ">of which interrupts", ">records", ">recording", ">sum")  # fmt: skip
    rows = []
    for w in windows:
        parts = [micros(part.mean, hz) for part in (w.late, w.tasks, w.kernel, w.other, w.interrupts)]
        cost = NOTHING
        if record_ns is not None and w.records.mean.value is not None:
            cost = f"{w.records.mean.value * record_ns / 1000:.1f}"
        sums = "adds up" if w.parts_total == w.budget_total else f"{w.parts_total - w.budget_total:+d} ticks"
        used = (micros(w.used.mean, hz), micros(w.used.most, hz), "=")
        rows.append((*_window_name(boot, w), *used, *parts, plain(w.records.mean), cost, sums))
    return Table("use of windows (means; late start + tasks + kernel + other = used, + margin = budget)", columns, rows)


def _start_table(boot: BootTime, windows: list[WindowTime]) -> Table:
    hz = boot.clock_hz
    columns = ("window", "partition", ">start delay min", ">mean", ">max", ">jitter", ">overrun mean", ">p99", ">max",
               "worst", ">never started")  # fmt: skip
    rows = []
    for w in windows:
        delay, over = w.start_delay, w.overrun
        delays = [micros(figure, hz) for figure in (delay.least, delay.mean, delay.most)]
        overruns = [micros(figure, hz) for figure in (over.mean, over.p99, over.most)]
        rows.append((
            *_window_name(boot, w), *delays, micros(_jitter(delay), hz), *overruns, _where(over.worst, hz),
            plain(w.never_started),
        ))  # fmt: skip
    return Table("starts and ends of windows (overrun: time past the nominal end)", columns, rows)


def _jitter(delay: Spread) -> Figure:
    """Largest less smallest start delay."""
    low, high = delay.least, delay.most
    if None in (low.value, high.value, low.lo, low.hi, high.lo):
        return Figure.none() if low.value is None else Figure.between(None, 0, None, low.n)
    value = (high.value or 0) - (low.value or 0)
    hi = None if high.hi is None else high.hi - (low.lo or 0)
    return Figure.between(value, max((high.lo or 0) - (low.hi or 0), 0), hi, low.n)


def _task_table(boot: BootTime, tasks: list[TaskTime]) -> Table:
    hz = boot.clock_hz
    columns = ("task", "partition", ">time", ">dispatches", ">preempted", ">activations", ">execution min", ">mean",
               ">p95", ">p99", ">max", "worst")  # fmt: skip
    rows = []
    for t in tasks:
        e = t.execution
        # The idle process has no activations; what a loss may hide of them would be noise.
        times = [NOTHING if t.idle else micros(figure, hz) for figure in (e.least, e.mean, e.p95, e.p99, e.most)]
        name = task_name(boot, t.index) + (" (idle)" if t.idle else "")
        counts = (plain(t.dispatches), plain(t.preemptions), plain(t.activations))
        where = _where(e.worst, hz).replace("frame", "activation")
        rows.append((name, partition_name(boot, t.partition), micros(t.total, hz), *counts, *times, where))
    return Table("tasks (execution per activation)", columns, rows)


def _deadline_table(boot: BootTime, tasks: list[TaskTime]) -> Table:
    hz = boot.clock_hz
    columns = ("task", "partition", ">completed", ">response min", ">mean", ">p99", ">max", "worst", ">misses",
               ">by kernel", ">by HM", ">cut")  # fmt: skip
    rows = []
    for t in tasks:
        r = t.response
        if t.idle:
            continue
        times = [micros(figure, hz) for figure in (r.least, r.mean, r.p99, r.most)]
        misses = (plain(t.deadline_misses), plain(t.kernel_misses), plain(t.hm_misses), str(t.cut))
        where = _where(r.worst, hz).replace("frame", "activation")
        rows.append(
            (task_name(boot, t.index), partition_name(boot, t.partition), plain(t.completed), *times, where, *misses)
        )
    return Table("responses and deadlines (from the nominal release to completion)", columns, rows)


def _frame_block(boot: BootTime, chosen: Filter) -> Table:
    names, rows = _frame_table(boot, chosen)
    cells = [tuple(NOTHING if cell is None else str(cell) for cell in row) for row in rows]
    right = tuple(name if name == "partition" else f">{name}" for name in names)
    return Table("occurrences", right, cells)


def _histograms(boot: BootTime, windows: list[WindowTime], tasks: list[TaskTime]) -> Iterator[Block]:
    named = [(f"margin of window {' '.join(_window_name(boot, w))}", w.margin) for w in windows]
    named += [(f"execution of {task_name(boot, t.index)}", t.execution) for t in tasks if not t.idle]
    for title, spread in named:
        if spread.histogram and boot.clock_hz:
            yield _bars(f"{title}, us", spread.histogram, boot.clock_hz)


def _bars(title: str, histogram: list[tuple[int, int, int]], hz: int) -> Bars:
    """Buckets joined to at most some two dozen of equal width."""
    low, high = histogram[0][0], histogram[-1][1]
    width = max(-(-(high - low + 1) // _BARS), 1)
    counts: dict[int, int] = {}
    for begin, end, count in histogram:
        at = ((begin + end) // 2 - low) // width
        counts[at] = counts.get(at, 0) + count
    labels = (micros(Figure.exact(low + at * width), hz, floor=True) for at in range(max(counts) + 1))
    bars = [Bar(label, counts.get(at, 0), str(counts.get(at, 0))) for at, label in enumerate(labels)]
    return Bars(title, max(counts.values()), bars)
