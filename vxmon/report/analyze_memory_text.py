# SPDX-License-Identifier: Apache-2.0
"""``analyze memory`` as text."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vxmon.analysis.figures import NOT_RECORDED, Figure
from vxmon.analysis.memory.result import (
    BootMemory,
    Growth,
    HeapMemory,
    MemoryResult,
    OperationMemory,
    StackMemory,
    heap_name,
    stack_owner,
)
from vxmon.analysis.quality import headline
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.figures import NOTHING, shown, span_line
from vxmon.trace.facts import Facts
from vxmon.trace.span import EVERYTHING

__all__ = ["memory_blocks"]

_HOLDS: Final = {True: "yes", False: "no", None: "not recorded"}
_STACK_COLUMNS: Final = (
    "partition", "task", ">size", ">high-water", ">at switches", ">margin", ">margin %", ">risen",
)  # fmt: skip
_EVIDENT: Final = ("leak?", "growing", "in doubt")


def memory_blocks(result: MemoryResult, facts: Facts) -> Iterator[Block]:
    """The report as text blocks."""
    yield Text((headline(facts),), important=facts.incomplete)
    if result.span != EVERYTHING:
        yield Text((span_line(result.span, facts),))
    for boot in result.boots:
        yield from _boot_blocks(boot)


def _boot_blocks(boot: BootMemory) -> Iterator[Block]:
    legend = "sizes in bytes, ranges hold the truth, ~ is estimated, - not recorded"
    yield Text((f"boot 0x{boot.id:08x}, clock {boot.clock_hz} Hz; {legend}",))
    known = [heap for heap in boot.heaps if heap.samples + heap.switches]
    if known:
        yield from _heap_blocks(boot, known)
    else:
        yield Text(("no heap was recorded",))
    if any(heap.estimate is not None for heap in boot.heaps):
        yield _estimate_table(boot)
    stacks = [_stack_row(boot, stack) for stack in boot.stacks if stack.high_water.n + stack.at_switch.n]
    if stacks:
        yield Table("stacks", _STACK_COLUMNS, stacks)
    if boot.operations:
        rows = [_operation_row(boot, entry) for entry in boot.operations]
        columns = ("partition", "operation", ">of bytes", ">count", ">total", ">while observed", ">a second")
        yield Table("operations from the partition's start to the last count", columns, rows)
    if boot.notes:
        yield Text(tuple(f"note: {note}" for note in boot.notes))


def _heap_blocks(boot: BootMemory, heaps: list[HeapMemory]) -> Iterator[Block]:
    yield _heap_table(boot, heaps)
    yield _growth_table(boot, heaps)
    for heap in heaps:
        if heap.growth.verdict in _EVIDENT:
            yield _evidence(heap_name(boot, heap.index), heap.growth)
    yield _time_table(boot, heaps)


def _heap_table(boot: BootMemory, heaps: list[HeapMemory]) -> Table:
    columns = (
        "heap", ">size", ">used at begin", ">at end", ">least", ">most", ">least free", ">free %", ">high-water",
        ">largest block", ">fragmented", ">blocks",
    )  # fmt: skip
    rows = [
        (
            heap_name(boot, h.index), *map(_bytes, (h.size, h.first, h.last, h.used_min, h.used_max, h.free_min)),
            _share(h.free_min, h.size.value), _bytes(h.high_water), _bytes(h.largest_min),
            shown(h.fragmentation_max, _per_cent_up), _bytes(h.blocks),
        )
        for h in heaps
    ]  # fmt: skip
    return Table("heaps (largest block, fragmented, blocks: at samples only)", columns, rows)


def _growth_table(boot: BootMemory, heaps: list[HeapMemory]) -> Table:
    columns = ("heap", ">B a frame", ">95 % from", ">to", ">B/s", ">frames", ">blocks grown", "verdict", ">full in")
    rows = []
    for heap in heaps:
        growth, figure = heap.growth, heap.growth.per_1000_frames
        rate = growth.per_second
        rows.append((
            heap_name(boot, heap.index), _thousandths(figure, figure.value), _thousandths(figure, figure.lo),
            _thousandths(figure, figure.hi), NOTHING if rate.value is None else f"~{rate.value:,}", str(growth.frames),
            _bytes(heap.blocks_grown), growth.verdict, _full_in(growth),
        ))  # fmt: skip
    return Table("growth of the lowest use of each frame", columns, rows)


def _full_in(growth: Growth) -> str:
    if growth.full_in_s is None:
        return NOTHING
    return f"{growth.full_in_s} s" if growth.full_in_s else "< 1 s"


def _thousandths(figure: Figure, value: int | None) -> str:
    """A number of thousandths; a bound that is missing is one that there is none of."""
    if figure.status == NOT_RECORDED:
        return NOTHING
    if value is None:
        return "unbounded"
    sign = "-" if value < 0 else ""
    return f"{sign}{abs(value) // 1000:,}.{abs(value) % 1000:03d}"


def _evidence(name: str, growth: Growth) -> Table:
    rows = [(e.name.replace("_", " "), _HOLDS[e.holds], e.text) for e in growth.evidence]
    return Table(f"evidence for a leak in {name}: {growth.verdict}", ("what", "holds", "why"), rows)


def _time_table(boot: BootMemory, heaps: list[HeapMemory]) -> Table:
    most = max((len(heap.slices) for heap in heaps), default=0)
    columns = ("heap", ">first frame", ">last frame", *(f">part {number + 1}" for number in range(most)))
    rows = []
    for heap in heaps:
        parts = [f"{s.low}" if s.low == s.high else f"{s.low}..{s.high}" for s in heap.slices]
        edges = (str(heap.slices[0].first), str(heap.growth.last or heap.slices[-1].last)) if parts else ("-", "-")
        rows.append((heap_name(boot, heap.index), *edges, *parts, *[NOTHING] * (most - len(parts))))
    return Table("use over time: lowest and highest in equal parts", columns, rows)


def _estimate_table(boot: BootMemory) -> Table:
    rows = []
    for heap in boot.heaps:
        estimate = heap.estimate
        if estimate is not None:
            low, high = estimate.estimated.lo, estimate.estimated.hi
            bounds = NOTHING if low is None or high is None else f"{low:,}..{high:,}"
            figures = (estimate.estimated, estimate.measured, estimate.difference)
            value, measured, difference = (_bytes(figure) for figure in figures)
            rows.append((heap_name(boot, heap.index), value, bounds, measured, difference))
    columns = ("heap", ">by the rules", ">range", ">measured", ">measured - rules")
    return Table("heaps by the accounting rules, and as measured at the last count of operations", columns, rows)


def _stack_row(boot: BootMemory, stack: StackMemory) -> tuple[str, ...]:
    figures = (stack.size, stack.high_water, stack.at_switch)
    sizes = tuple(_bytes(figure) for figure in figures)
    margin, share = _bytes(stack.margin), _share(stack.margin, stack.size.value)
    if stack.margin.value is None and stack.margin.hi is not None:
        most = Figure.exact(stack.margin.hi)
        margin, share = f"<= {_bytes(most)}", f"<= {_share(most, stack.size.value)}"
    return stack_owner(boot, stack.partition), stack.task, *sizes, margin, share, _bytes(stack.rises)


def _operation_row(boot: BootMemory, entry: OperationMemory) -> tuple[str, ...]:
    size = f"{1 << entry.size_class:,}.." if 0 < entry.size_class < 64 else ""
    figures = (entry.count, entry.total, entry.grown)
    rate = shown(entry.per_second, lambda value: f"{value // 1000}.{value % 1000:03d}")
    return stack_owner(boot, entry.partition), entry.operation, size, *(_bytes(figure) for figure in figures), rate


def _bytes(figure: Figure) -> str:
    return shown(figure, lambda value: f"{value:,}")


def _share(figure: Figure, whole: int | None) -> str:
    """A share of something as a percentage, rounded down: of what is free, little is bad."""
    return shown(figure, lambda value: f"{value * 1000 // whole / 10:.1f}") if whole else NOTHING


def _per_cent_up(millionths: int) -> str:
    tenths = -(-millionths // 1000)
    return f"{tenths // 10}.{tenths % 10} %"
