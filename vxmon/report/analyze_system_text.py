# SPDX-License-Identifier: Apache-2.0
"""``analyze system`` as text: counts and rates, and each fault with its circumstances."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

from vxmon.analysis.figures import Figure
from vxmon.analysis.quality import headline
from vxmon.analysis.system.counts import BINS
from vxmon.analysis.system.result import BootSystem, Category, Fault, Kind, SystemResult
from vxmon.report.analyze_system import SystemFilter, owner_name, runner_name
from vxmon.report.blocks import Block, Table, Text, Tree
from vxmon.report.figures import NOTHING, micros, plain, shown, span_line
from vxmon.trace.facts import Facts
from vxmon.trace.span import EVERYTHING
from vxmon.trace.ticks import instant_text
from vxmon.words import counted

__all__ = ["system_blocks"]

# Faults whose circumstances text shows unless all are asked for.
_SHOWN: Final = 20
_TITLES: Final = {"hm": "HM", "edr": "ED&R", "exception": "exception", "interrupt": "interrupt"}


def system_blocks(result: SystemResult, facts: Facts, chosen: SystemFilter, *, faults: bool) -> Iterator[Block]:
    """The report as text blocks; with ``faults`` only those, and all of them."""
    yield Text((headline(facts),), important=facts.incomplete)
    if result.span != EVERYTHING:
        yield Text((span_line(result.span, facts),))
    for boot in result.boots:
        yield _boot_line(boot)
        if not faults:
            yield from _count_blocks(boot, chosen)
        yield from _fault_blocks(boot, chosen, None if faults else _SHOWN)
        if boot.notes:
            yield Text(tuple(f"note: {note}" for note in boot.notes))


def _boot_line(boot: BootSystem) -> Text:
    span = micros(Figure.exact(boot.rate_span), boot.clock_hz)
    observed = instant_text(boot.observed, boot.clock_hz)
    line = (
        f"boot 0x{boot.id:08x}, clock {boot.clock_hz} Hz, observed {observed}; max /s: of the densest {span} us; "
        "ranges hold the truth, - not recorded or nothing to measure"
    )
    return Text((line,))


# ---------------------------------------------------------------- counts


def _count_blocks(boot: BootSystem, chosen: SystemFilter) -> Iterator[Block]:
    categories = [category for category in boot.categories if chosen.category(category)]
    columns = ("events", "type", ">count", ">mean /s", ">max /s", "densest from", "first", "last")
    rows = [row for category in categories for row in _kind_rows(boot, category, chosen)]
    yield Table("events by type", columns, rows)
    yield from _partition_table(boot, categories, chosen)
    if any(category.name == "interrupt" for category in categories) and boot.interrupts:
        yield _interrupt_table(boot)
    yield _time_table(boot, categories)


def _kind_rows(boot: BootSystem, category: Category, chosen: SystemFilter) -> Iterator[tuple[str, ...]]:
    title = _TITLES[category.name]
    for kind in (category.total, *category.kinds):
        if chosen.kind(category, kind):
            times = (_instant(boot, time) for time in (kind.worst_at, kind.first, kind.last))
            yield title, kind.name or "all", plain(kind.count), *_rates(kind), *times


def _rates(kind: Kind) -> tuple[str, str]:
    def text(thousandths: int) -> str:
        return f"{thousandths // 1000}.{thousandths % 1000:03d}"

    return shown(kind.mean_rate, text), shown(kind.most_rate, text)


def _instant(boot: BootSystem, ticks: int | None) -> str:
    return NOTHING if ticks is None else instant_text(ticks, boot.clock_hz)


def _partition_table(boot: BootSystem, categories: list[Category], chosen: SystemFilter) -> Iterator[Table]:
    """Kinds that came, by partition: of interrupts, the partition that was interrupted."""
    kinds = [
        (category, kind)
        for category in categories
        for kind in category.by_partition
        if chosen.kind(category, kind) and chosen.partition(boot, kind.partition) and kind.first is not None
    ]
    partitions = sorted({kind.partition for _, kind in kinds if kind.partition is not None})
    cells: dict[tuple[str, str], dict[int | None, str]] = {}
    for category, kind in kinds:
        cells.setdefault((_TITLES[category.name], kind.name), {})[kind.partition] = plain(kind.count)
    if cells:
        columns = ("events", "type", *(f">{owner_name(boot, index)}" for index in partitions))
        rows = [(*key, *(row.get(index, "0") for index in partitions)) for key, row in cells.items()]
        yield Table("events by partition (of interrupts: the one that was interrupted)", columns, rows)


def _interrupt_table(boot: BootSystem) -> Table:
    hz = boot.clock_hz
    columns = ("interrupt", ">vector", ">paired", ">min us", ">mean", ">p99", ">max", "longest at")
    rows = []
    for found in boot.interrupts:
        spread = found.duration
        times = (micros(figure, hz) for figure in (spread.least, spread.mean, spread.p99, spread.most))
        longest = NOTHING if spread.worst is None or spread.worst.time < 0 else _instant(boot, spread.worst.time)
        vector = NOTHING if found.vector is None else str(found.vector)
        rows.append((str(found.number), vector, str(spread.count.n), *times, longest))
    return Table("interrupts, from entry to exit", columns, rows)


def _time_table(boot: BootSystem, categories: list[Category]) -> Table:
    columns = ("from", *(f">{_TITLES[category.name]}" for category in categories))
    rows = []
    for place in range(BINS):
        begin = boot.begin + (boot.end - boot.begin) * place // BINS
        counts = (
            NOTHING if category.total.count.status == "not_recorded" else str(category.total.over_time[place])
            for category in categories
        )
        rows.append((_instant(boot, begin), *counts))
    return Table("events over time", columns, rows)


# ---------------------------------------------------------------- faults


def _fault_blocks(boot: BootSystem, chosen: SystemFilter, most: int | None) -> Iterator[Block]:
    faults = [fault for fault in boot.faults if chosen.fault(boot, fault)]
    if not faults:
        recorded = any(
            boot.category(name).total.count.status != "not_recorded" for name in ("hm", "exception")
        )  # fmt: skip
        yield Text(("no faults" if recorded else "faults: not recorded",))
        return
    for number, fault in enumerate(faults[:most], 1):
        yield _fault_tree(boot, fault, f"fault {number} of {len(faults)}")
    if most is not None and len(faults) > most:
        yield Text((f"{counted(len(faults) - most, 'more fault')}: --faults shows all, --type and --partition some",))


def _fault_tree(boot: BootSystem, fault: Fault, title: str) -> Tree:
    facts = [
        _owner_line(boot, fault), _exception_line(boot, fault), _runner_line(boot, fault), _window_line(boot, fault),
        _margin_line(boot, fault), _release_line(boot, fault), _memory_line(boot, fault), *_message_lines(boot, fault),
        *_interrupt_lines(boot, fault), _loss_line(boot, fault),
    ]  # fmt: skip
    return Tree(f"{title}: {fault.name} at {_instant(boot, fault.time)}", tuple(Tree(line) for line in facts if line))


def _us(boot: BootSystem, ticks: int) -> str:
    return f"{micros(Figure.exact(ticks), boot.clock_hz)} us" if boot.clock_hz else f"{ticks} ticks"


def _owner_line(boot: BootSystem, fault: Fault) -> str:
    if fault.code is None:
        return ""
    who = "the module" if fault.of_partition is None else owner_name(boot, fault.of_partition)
    if fault.of_task is not None:
        who += f", {runner_name(boot, fault.of_task)}"
    return (
        f"HM entry {fault.entry}: of {who}; level {fault.level}, action {fault.action}, subcode {fault.subcode}, "
        f"address 0x{fault.address:08x}"
    )


def _exception_line(boot: BootSystem, fault: Fault) -> str:
    e = fault.exception
    if e is None:
        return ""
    before = f", {_us(boot, fault.time - e.time)} before" if e.time != fault.time else ""
    return f"exception {e.vector}: code 0x{e.code:08x}, address 0x{e.address:08x}, at 0x{e.ip:08x}{before}"


def _runner_line(boot: BootSystem, fault: Fault) -> str:
    partition = fault.absent.get("partition") or owner_name(boot, fault.partition)
    task = fault.absent.get("task") or runner_name(boot, fault.task)
    inside = ", inside an interrupt" if fault.depth else ""
    return f"running on CPU {fault.stream}: partition {partition}, task {task}{inside}"


def _window_line(boot: BootSystem, fault: Fault) -> str:
    if fault.offset is None:
        number = "" if fault.window is None else f"{fault.window}, its begin "
        return f"window: {number}{fault.absent.get('window', 'unknown')}"
    past = ", past its end" if fault.budget is not None and fault.offset >= fault.budget else ""
    length = "" if fault.budget is None else f" of {_us(boot, fault.budget)}"
    return (
        f"window: {fault.schedule}.{fault.window} of frame {fault.frame}, {_us(boot, fault.offset)} after its begin"
        f"{length}{past}"
    )


def _margin_line(boot: BootSystem, fault: Fault) -> str:
    if "margin" in fault.absent:
        return f"margin of this window: {fault.absent['margin']}"
    return f"margin of this window: {micros(fault.margin, boot.clock_hz, floor=True)} us"


def _release_line(boot: BootSystem, fault: Fault) -> str:
    if fault.released is None:
        return f"since the release: {fault.absent['released']}"
    done = ", already complete" if fault.completed else ""
    return f"since the release: {_us(boot, fault.time - fault.released)} (activation {fault.activation}{done})"


def _memory_line(boot: BootSystem, fault: Fault) -> str:
    sample = fault.memory
    if sample is None:
        return f"memory: {fault.absent['memory']}"
    largest = "" if sample.largest is None else f", largest block {sample.largest} B"
    before = _us(boot, fault.time - sample.time)
    return f"memory: {sample.free} B free, {sample.allocated} B allocated{largest}; {before} before"


def _message_lines(boot: BootSystem, fault: Fault) -> Iterator[str]:
    for m in fault.messages:
        what = boot.object_names.get(m.object) or f"object {m.object}"
        words = "sent to" if m.sent else "received from"
        before = _us(boot, fault.time - m.time)
        yield f"message {words} {what}: number {m.number}, {m.size} B, {m.result}; {before} before"
    if "messages" in fault.absent:
        yield f"{'older messages' if fault.messages else 'messages'}: {fault.absent['messages']}"


def _interrupt_lines(boot: BootSystem, fault: Fault) -> Iterator[str]:
    for i in fault.interrupts:
        before = _us(boot, fault.time - i.time)
        yield f"interrupt {i.number} (vector {i.vector}) at 0x{i.ip:08x}; {before} before"
    if "interrupts" in fault.absent:
        yield f"{'older interrupts' if fault.interrupts else 'interrupts'}: {fault.absent['interrupts']}"


def _loss_line(boot: BootSystem, fault: Fault) -> str:
    if fault.lost_before is None:
        return ""
    return f"records were lost, the last of them up to {_us(boot, fault.lost_before)} before"
