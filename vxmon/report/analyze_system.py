# SPDX-License-Identifier: Apache-2.0
"""``analyze system`` as JSON and CSV, and which part of it is shown. Times are ns, instants ticks of the clock."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any, Final

from vxmon.analysis.names import partition_name, task_name
from vxmon.analysis.system.named import named_figures
from vxmon.analysis.system.result import BootSystem, Category, Fault, Kind, SystemResult
from vxmon.report.figures import envelope, figure_json, figure_row, spread_json
from vxmon.trace.facts import Facts
from vxmon.trace.state import NOBODY
from vxmon.trace.ticks import ticks_to_ns

__all__ = ["SCHEMA", "VERSION", "SystemFilter", "owner_name", "runner_name", "system_json", "system_rows"]

SCHEMA: Final = "vxmon.analyze.system"
VERSION: Final = 1
"""Grows when something is renamed or removed; additions do not change it."""

Json = dict[str, Any]


class SystemFilter:
    """Which types, partitions and tasks a report shows; empty: all.

    Args:
        types: names of kinds (DEADLINE_MISSED, NONFATAL+USER), of categories (hm, edr, exception, interrupt), or both
            with a dot between (exception.6); upper and lower case are the same.
        partitions, tasks: names or indices.

    """

    def __init__(
        self, types: tuple[str, ...] = (), partitions: tuple[str, ...] = (), tasks: tuple[str, ...] = ()
    ) -> None:
        self._types = frozenset(name.upper() for name in types)
        self._partitions = frozenset(partitions)
        self._tasks = frozenset(tasks)

    def kind(self, category: Category, kind: Kind) -> bool:
        """True when a kind is shown."""
        return not self._types or bool(self._types & _type_names(category.name, kind.name))

    def category(self, category: Category) -> bool:
        """True when anything of a category is shown."""
        return any(self.kind(category, kind) for kind in (category.total, *category.kinds))

    def partition(self, boot: BootSystem, index: int | None) -> bool:
        """True when a partition is shown."""
        return not self._partitions or bool(self._partitions & {owner_name(boot, index), str(index)})

    def fault(self, boot: BootSystem, fault: Fault) -> bool:
        """True when a fault is shown: by whose it is, or by who ran."""
        category = "hm" if fault.code is not None else "exception"
        if self._types and not self._types & _type_names(category, fault.name.removeprefix("exception ")):
            return False
        if self._partitions and not any(
            self.partition(boot, index) for index in (fault.of_partition, fault.partition) if index is not None
        ):
            return False
        tasks = [index for index in (fault.of_task, fault.task) if index not in (None, NOBODY)]
        names = {task_name(boot, index) for index in tasks if index is not None} | {str(index) for index in tasks}
        return not self._tasks or bool(self._tasks & names)

    def unknown_types(self, result: SystemResult) -> list[str]:
        """Types that were asked for and are in no boot of the session."""
        known = {
            name
            for boot in result.boots
            for category in boot.categories
            for kind in (category.total, *category.kinds)
            for name in _type_names(category.name, kind.name)
        }
        return sorted(self._types - known)


def _type_names(category: str, kind: str) -> set[str]:
    names = {category, kind, f"{category}.{kind}"} if kind else {category}
    return {name.upper() for name in names}


def owner_name(boot: BootSystem, index: int | None) -> str:
    """A partition by name; 65535 stands for none, -1 and None for one that is not known."""
    if index == NOBODY:
        return "none"
    return partition_name(boot, None if index is None or index < 0 else index)


def runner_name(boot: BootSystem, index: int | None) -> str:
    """A task by name, or that nobody ran, or that it is not known."""
    if index is None:
        return "?"
    return "nobody" if index == NOBODY else task_name(boot, index)


# ---------------------------------------------------------------- JSON


def system_json(result: SystemResult, facts: Facts, chosen: SystemFilter) -> Json:
    """The report as a JSON object."""
    value = envelope(SCHEMA, VERSION, facts)
    value["window"] = {"begin_ns": result.span.begin, "end_ns": result.span.end}
    value["boots"] = [_boot_json(boot, chosen) for boot in result.boots]
    return value


def _ns(boot: BootSystem, ticks: int | None) -> int | None:
    return None if ticks is None or not boot.clock_hz else ticks_to_ns(ticks, boot.clock_hz)


def _boot_json(boot: BootSystem, chosen: SystemFilter) -> Json:
    return {
        "boot": f"0x{boot.id:08x}",
        "number": boot.number,
        "clock_hz": boot.clock_hz,
        "begin_ticks": boot.begin,
        "end_ticks": boot.end,
        "observed_ns": _ns(boot, boot.observed),
        "rate_span_ns": _ns(boot, boot.rate_span),
        "categories": {c.name: _category_json(boot, c, chosen) for c in boot.categories if chosen.category(c)},
        "interrupts": [
            {"interrupt": i.number, "vector": i.vector, "duration": spread_json(i.duration, boot.clock_hz)}
            for i in boot.interrupts
        ],
        "faults": [_fault_json(boot, fault) for fault in boot.faults if chosen.fault(boot, fault)],
        "faults_left_out": boot.faults_left_out,
        "notes": list(boot.notes),
    }


def _category_json(boot: BootSystem, category: Category, chosen: SystemFilter) -> Json:
    return {
        "total": _kind_json(boot, category.total),
        "kinds": [_kind_json(boot, kind) for kind in category.kinds if chosen.kind(category, kind)],
        "by_partition": [
            _kind_json(boot, kind)
            for kind in category.by_partition
            if chosen.kind(category, kind) and chosen.partition(boot, kind.partition)
        ],
    }


def _kind_json(boot: BootSystem, kind: Kind) -> Json:
    value: Json = {"type": kind.name, "number": kind.number if kind.name else None}
    if kind.partition is not None:
        value["partition"] = owner_name(boot, kind.partition)
    return value | {
        "count": figure_json(kind.count),
        "mean_per_s_thousandths": figure_json(kind.mean_rate),
        "max_per_s_thousandths": figure_json(kind.most_rate),
        "max_at_ticks": kind.worst_at,
        "first_ticks": kind.first,
        "last_ticks": kind.last,
        "over_time": list(kind.over_time),
    }


def _fault_json(boot: BootSystem, fault: Fault) -> Json:
    def since(time: int | None) -> int | None:
        return None if time is None else _ns(boot, fault.time - time)

    return {
        "time_ticks": fault.time,
        "cpu": fault.stream,
        "type": fault.name,
        "code": fault.code,
        "level": fault.level,
        "action": fault.action,
        "subcode": fault.subcode,
        "address": f"0x{fault.address:08x}",
        "entry": fault.entry,
        "of_partition": _name(boot.partition_names, fault.of_partition),
        "of_task": _name(boot.task_names, fault.of_task),
        "partition": _name(boot.partition_names, fault.partition),
        "task": None if fault.task is None else runner_name(boot, fault.task),
        "interrupt_depth": fault.depth,
        "schedule": fault.schedule,
        "window": fault.window,
        "frame": fault.frame,
        "offset_ns": _ns(boot, fault.offset),
        "budget_ns": _ns(boot, fault.budget),
        "margin_ns": figure_json(fault.margin, boot.clock_hz),
        "since_release_ns": since(fault.released),
        "activation": fault.activation,
        "completed": fault.completed,
        "memory": _memory_json(fault, since),
        "messages": [
            {
                "before_ns": since(m.time), "direction": "sent" if m.sent else "received",
                "object": boot.object_names.get(m.object) or str(m.object), "number": m.number, "size_bytes": m.size,
                "result": m.result,
            }
            for m in fault.messages
        ],
        "interrupts": [
            {"before_ns": since(i.time), "interrupt": i.number, "vector": i.vector, "ip": f"0x{i.ip:08x}"}
            for i in fault.interrupts
        ],
        "exception": _exception_json(fault, since),
        "lost_before_ns": _ns(boot, fault.lost_before),
        "absent": dict(fault.absent),
    }  # fmt: skip


def _name(names: Mapping[int, str], index: int | None) -> str | None:
    return None if index is None else names.get(index) or str(index)


def _memory_json(fault: Fault, since: Any) -> Json | None:
    sample = fault.memory
    if sample is None:
        return None
    return {
        "before_ns": since(sample.time), "free_bytes": sample.free, "allocated_bytes": sample.allocated,
        "largest_bytes": sample.largest,
    }  # fmt: skip


def _exception_json(fault: Fault, since: Any) -> Json | None:
    exception = fault.exception
    if exception is None:
        return None
    return {
        "before_ns": since(exception.time), "vector": exception.vector, "code": f"0x{exception.code:08x}",
        "address": f"0x{exception.address:08x}", "ip": f"0x{exception.ip:08x}",
    }  # fmt: skip


# ---------------------------------------------------------------- CSV


def system_rows(result: SystemResult, facts: Facts, chosen: SystemFilter, *, faults: bool) -> Iterator[tuple[str, ...]]:
    """CSV: one figure a row, by the names that rules use; or one fault a row."""
    if faults:
        yield from _fault_rows(result, chosen)
        return
    yield "boot", "figure", "unit", "value", "lo", "hi", "n", "status", "where"
    for named in named_figures(result, facts):
        yield str(named.boot), named.name, named.unit, *figure_row(named.figure), named.where


_FAULT_CELLS: Final = (
    "time_ticks", "cpu", "type", "level", "action", "subcode", "address", "entry", "of_partition", "of_task",
    "partition", "task", "schedule", "window", "frame", "offset_ns", "budget_ns", "since_release_ns", "activation",
    "lost_before_ns",
)  # fmt: skip


def _fault_rows(result: SystemResult, chosen: SystemFilter) -> Iterator[tuple[str, ...]]:
    yield "boot", *_FAULT_CELLS, "margin_ns", "margin_lo_ns", "margin_hi_ns", "free_bytes", "allocated_bytes"
    for boot in result.boots:
        for fault in boot.faults:
            if chosen.fault(boot, fault):
                value = _fault_json(boot, fault)
                memory = value["memory"] or {}
                margin = (value["margin_ns"][name] for name in ("value", "lo", "hi"))
                cells = [value[name] for name in _FAULT_CELLS]
                yield tuple(_cell(x) for x in (
                    boot.number, *cells, *margin, memory.get("free_bytes"), memory.get("allocated_bytes"),
                ))  # fmt: skip


def _cell(value: object) -> str:
    return "" if value is None else str(value)
