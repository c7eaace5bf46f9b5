# SPDX-License-Identifier: Apache-2.0
"""``analyze memory`` as JSON and CSV, and what a report shows of it. Sizes are bytes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

from vxmon.analysis.figures import Extreme
from vxmon.analysis.memory.named import named_figures
from vxmon.analysis.memory.result import (
    BootMemory,
    Estimate,
    Growth,
    HeapMemory,
    MemoryResult,
    OperationMemory,
    StackMemory,
    heap_name,
    stack_owner,
)
from vxmon.report.figures import envelope, figure_json, figure_row
from vxmon.trace.facts import Facts
from vxmon.trace.ticks import ticks_to_ns

__all__ = ["SCHEMA", "VERSION", "chosen_parts", "memory_json", "memory_rows"]

SCHEMA: Final = "vxmon.analyze.memory"
VERSION: Final = 1
"""Grows when something is renamed or removed; additions do not change it."""

Json = dict[str, Any]

_HEAP_FIGURES: Final = {
    "size_bytes": "size", "used_begin_bytes": "first", "used_end_bytes": "last", "used_min_bytes": "used_min",
    "used_max_bytes": "used_max", "free_min_bytes": "free_min", "largest_min_bytes": "largest_min",
    "fragmentation_max_millionths": "fragmentation_max", "high_water_bytes": "high_water", "blocks": "blocks",
    "blocks_grown": "blocks_grown",
}  # fmt: skip


def chosen_parts(result: MemoryResult, partitions: tuple[str, ...], tasks: tuple[str, ...]) -> MemoryResult:
    """What belongs to some partitions, and the stacks of some tasks, by name or index; all when none are given.

    ``kernel`` is partition 0.
    """
    if not partitions and not tasks:
        return result
    return replace(result, boots=[_only(boot, frozenset(partitions), frozenset(tasks)) for boot in result.boots])


def _only(boot: BootMemory, partitions: frozenset[str], tasks: frozenset[str]) -> BootMemory:
    def shown(index: int | None) -> bool:
        if index is None:
            return not partitions
        names = {heap_name(boot, index), stack_owner(boot, index), str(index)}
        return not partitions or bool(partitions & names)

    def wanted(stack: StackMemory) -> bool:
        return not tasks or bool(tasks & {stack.task, *map(str, stack.indices)})

    return replace(
        boot,
        heaps=[heap for heap in boot.heaps if shown(heap.index)],
        stacks=[stack for stack in boot.stacks if shown(stack.partition) and wanted(stack)],
        operations=[entry for entry in boot.operations if shown(entry.partition)],
    )


# ---------------------------------------------------------------- JSON


def memory_json(result: MemoryResult, facts: Facts) -> Json:
    """The report as a JSON object."""
    value = envelope(SCHEMA, VERSION, facts)
    value["window"] = {"begin_ns": result.span.begin, "end_ns": result.span.end}
    value["boots"] = [_boot_json(boot) for boot in result.boots]
    return value


def _boot_json(boot: BootMemory) -> Json:
    frame = boot.frame_ticks
    return {
        "boot": f"0x{boot.id:08x}",
        "number": boot.number,
        "clock_hz": boot.clock_hz,
        "frame_ns": ticks_to_ns(frame, boot.clock_hz) if frame and boot.clock_hz else None,
        "heaps": [_heap_json(boot, heap) for heap in boot.heaps],
        "stacks": [_stack_json(boot, stack) for stack in boot.stacks],
        "operations": [_operation_json(boot, entry) for entry in boot.operations],
        "notes": list(boot.notes),
    }


def _heap_json(boot: BootMemory, heap: HeapMemory) -> Json:
    value: Json = {"heap": heap_name(boot, heap.index), "partition_index": heap.index}
    value |= {key: figure_json(getattr(heap, name)) for key, name in _HEAP_FIGURES.items()}
    value |= {
        "lowest_free_at": _extreme_json(heap.lowest_free),
        "smallest_largest_at": _extreme_json(heap.smallest_block),
        "samples": heap.samples,
        "switches": heap.switches,
        "restarts": heap.restarts,
        "growth": _growth_json(heap.growth),
        "use_over_time": [
            {"first_frame": s.first, "last_frame": s.last, "used_min_bytes": s.low, "used_max_bytes": s.high}
            for s in heap.slices
        ],
        "estimate": None if heap.estimate is None else _estimate_json(heap.estimate),
    }
    if heap.series is not None:
        names = ("frame", "used_min_bytes", "used_max_bytes", "used_end_bytes")
        value["frames"] = [dict(zip(names, row, strict=True)) for row in _series(heap)]
    return value


def _extreme_json(extreme: Extreme | None) -> Json | None:
    if extreme is None or extreme.time < 0:
        return None
    return {"frame": extreme.number, "time_ticks": extreme.time}


def _growth_json(growth: Growth) -> Json:
    return {
        "bytes_per_1000_frames": figure_json(growth.per_1000_frames),
        "bytes_per_s": figure_json(growth.per_second),
        "frames": growth.frames,
        "first_frame": growth.first,
        "last_frame": growth.last,
        "verdict": growth.verdict,
        "full_in_s": growth.full_in_s,
        "evidence": [{"name": e.name, "holds": e.holds, "text": e.text} for e in growth.evidence],
    }


def _estimate_json(estimate: Estimate) -> Json:
    return {
        "estimated_bytes": figure_json(estimate.estimated),
        "measured_bytes": figure_json(estimate.measured),
        "difference_bytes": figure_json(estimate.difference),
        "time_ticks": estimate.time,
    }


def _stack_json(boot: BootMemory, stack: StackMemory) -> Json:
    return {
        "partition": stack_owner(boot, stack.partition),
        "task": stack.task,
        "tasks_of_that_name": len(stack.indices),
        "size_bytes": figure_json(stack.size),
        "high_water_bytes": figure_json(stack.high_water),
        "at_switch_max_bytes": figure_json(stack.at_switch),
        "margin_bytes": figure_json(stack.margin),
        "risen_bytes": figure_json(stack.rises),
        "deepest_switch_ticks": stack.deepest_time,
    }


def _operation_json(boot: BootMemory, entry: OperationMemory) -> Json:
    return {
        "partition": stack_owner(boot, entry.partition),
        "operation": entry.operation,
        "size_class": entry.size_class,
        "count": figure_json(entry.count),
        "total_bytes": figure_json(entry.total),
        "while_observed": figure_json(entry.grown),
        "per_s_thousandths": figure_json(entry.per_second),
    }


def _series(heap: HeapMemory) -> Iterator[tuple[int, ...]]:
    """Of each frame with a value its number, and the lowest, highest and last use."""
    if heap.series is not None:
        columns = (heap.series.number, heap.series.low, heap.series.high, heap.series.last)
        yield from zip(*(column.tolist() for column in columns), strict=True)


# ---------------------------------------------------------------- CSV


def memory_rows(result: MemoryResult) -> Iterator[tuple[str, ...]]:
    """CSV: one figure a row; with --per-frame one frame of one heap a row instead."""
    heaps = [(boot, heap) for boot in result.boots for heap in boot.heaps]
    if any(heap.series is not None for _, heap in heaps):
        yield "boot", "heap", "frame", "used_min_bytes", "used_max_bytes", "used_end_bytes"
        for boot, heap in heaps:
            place = (str(boot.number), heap_name(boot, heap.index))
            yield from ((*place, *map(str, row)) for row in _series(heap))
        return
    yield "boot", "figure", "unit", "value", "lo", "hi", "n", "status"
    for named in named_figures(result):
        unit = "" if named.unit == "count" else named.unit
        yield str(named.boot), named.name, unit, *figure_row(named.figure)
