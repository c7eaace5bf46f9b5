# SPDX-License-Identifier: Apache-2.0
"""The figures of ``analyze memory`` under their names.

    memory.<partition>.<quantity>                        growth growth_per_frame high_water blocks blocks_grown size
    memory.<partition>.<quantity>.<statistic>            free.min used.min used.max largest.min fragmentation.max
    memory.<partition>.estimate.difference               measured - estimated, with accounting rules
    memory.kernel.<...>                                  the heap of the module OS
    stack.<partition>.<task>.<quantity>.<statistic>      margin.min high_water.max at_switch.max
    operations.<partition>.<operation>.<quantity>        count grown rate; all sizes together

``growth`` is in bytes a second, ``growth_per_frame`` in bytes a frame with its bounds rounded outwards.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TypeVar

from vxmon.analysis.figures import Extreme, Figure
from vxmon.analysis.memory.result import (
    BootMemory,
    HeapMemory,
    MemoryResult,
    OperationMemory,
    StackMemory,
    heap_name,
    stack_owner,
)
from vxmon.analysis.named import NamedFigure
from vxmon.trace.facts import Facts
from vxmon.trace.ticks import ticks_to_ns

__all__ = ["boot_figures", "named_figures"]

T = TypeVar("T")


def named_figures(result: MemoryResult, facts: Facts | None = None) -> Iterator[NamedFigure]:  # noqa: ARG001
    """Every figure of every boot; ``facts`` are not needed, all analyses are called alike."""
    for boot in result.boots:
        yield from boot_figures(boot)


def boot_figures(boot: BootMemory) -> Iterator[NamedFigure]:
    """Every figure of one boot."""
    for figure in _figures(boot):
        yield replace(figure, boot=boot.number)


def _figures(boot: BootMemory) -> Iterator[NamedFigure]:
    for heap, name in _numbered([(h, h.index, heap_name(boot, h.index)) for h in boot.heaps]):
        yield from _heap(boot, heap, f"memory.{name}")
    stacks = [(s, number, f"{stack_owner(boot, s.partition)}.{s.task}") for number, s in enumerate(boot.stacks)]
    # A task that ended before is nothing that a limit could be about.
    for stack, name in _numbered([entry for entry in stacks if not entry[0].gone]):
        yield from _stack(boot, stack, f"stack.{name}")
    yield from _operations(boot)


def _numbered(things: list[tuple[T, int, str]]) -> Iterator[tuple[T, str]]:
    """Things with their names; all but the first of a name have their number behind it."""
    seen: set[str] = set()
    for thing, number, name in things:
        yield thing, f"{name}#{number}" if name in seen else name
        seen.add(name)


def _heap(boot: BootMemory, heap: HeapMemory, prefix: str) -> Iterator[NamedFigure]:
    size = heap.size.value
    growth = heap.growth
    least = _where(boot, heap.lowest_free)
    yield NamedFigure(f"{prefix}.growth", growth.per_second, "bytes_per_s", where=_stretch(heap))
    per_frame = _per_frame(growth.per_1000_frames)
    yield NamedFigure(f"{prefix}.growth_per_frame", per_frame, "bytes", where=_stretch(heap))
    yield NamedFigure(f"{prefix}.free.min", heap.free_min, "bytes", size, least, high_is_bad=False)
    yield NamedFigure(f"{prefix}.used.max", heap.used_max, "bytes", size, least)
    yield NamedFigure(f"{prefix}.used.min", heap.used_min, "bytes", size)
    yield NamedFigure(f"{prefix}.high_water", heap.high_water, "bytes", size)
    yield NamedFigure(f"{prefix}.size", heap.size, "bytes", high_is_bad=False)
    block = _where(boot, heap.smallest_block)
    yield NamedFigure(f"{prefix}.largest.min", heap.largest_min, "bytes", size, block, high_is_bad=False)
    yield NamedFigure(f"{prefix}.fragmentation.max", heap.fragmentation_max, "millionths", 1_000_000)
    yield NamedFigure(f"{prefix}.blocks", heap.blocks, "count")
    yield NamedFigure(f"{prefix}.blocks_grown", heap.blocks_grown, "count")
    if heap.estimate is not None:
        yield NamedFigure(f"{prefix}.estimate.difference", heap.estimate.difference, "bytes", size)


def _per_frame(per_1000: Figure) -> Figure:
    lo, hi = per_1000.lo, per_1000.hi
    return replace(
        per_1000,
        value=None if per_1000.value is None else round(per_1000.value / 1000),
        lo=None if lo is None else lo // 1000,
        hi=None if hi is None else -(-hi // 1000),
    )


def _stack(boot: BootMemory, stack: StackMemory, prefix: str) -> Iterator[NamedFigure]:
    size = stack.size.value
    where = _at(boot, stack.deepest_time)
    yield NamedFigure(f"{prefix}.margin.min", stack.margin, "bytes", size, high_is_bad=False)
    yield NamedFigure(f"{prefix}.high_water.max", stack.high_water, "bytes", size)
    yield NamedFigure(f"{prefix}.at_switch.max", stack.at_switch, "bytes", size, where)


def _operations(boot: BootMemory) -> Iterator[NamedFigure]:
    """Sums over sizes; bounds add up as the counts are of different operations."""
    kinds: dict[tuple[int, str], list[OperationMemory]] = {}
    for entry in boot.operations:
        kinds.setdefault((entry.partition, entry.operation), []).append(entry)
    for (partition, operation), entries in kinds.items():
        prefix = f"operations.{stack_owner(boot, partition)}.{operation}"
        yield NamedFigure(f"{prefix}.count", _summed([e.count for e in entries]), "count")
        yield NamedFigure(f"{prefix}.grown", _summed([e.grown for e in entries]), "count")
        yield NamedFigure(f"{prefix}.rate", _summed([e.per_second for e in entries]), "per_s_thousandths")


def _summed(figures: list[Figure]) -> Figure:
    known = [figure for figure in figures if figure.value is not None]
    if not known:
        return Figure.none()
    his = [figure.hi for figure in known]
    return Figure(
        value=sum(figure.value or 0 for figure in known),
        lo=sum(figure.lo or 0 for figure in known),
        hi=None if None in his else sum(hi or 0 for hi in his),
        n=sum(figure.n for figure in known),
    )


def _where(boot: BootMemory, extreme: Extreme | None) -> str:
    if extreme is None or extreme.time < 0:
        return ""
    return (f"frame {extreme.number} " if boot.frame_ticks else "") + _at(boot, extreme.time)


def _at(boot: BootMemory, time: int | None) -> str:
    if time is None or time < 0 or not boot.clock_hz:
        return ""
    ns = ticks_to_ns(time, boot.clock_hz)
    return f"at {ns // 10**9}.{ns % 10**9:09d} s"


def _stretch(heap: HeapMemory) -> str:
    return f"{heap.growth.frames} frames, {heap.growth.first} to {heap.growth.last}" if heap.growth.frames else ""
