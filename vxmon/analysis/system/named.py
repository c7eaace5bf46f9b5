# SPDX-License-Identifier: Apache-2.0
"""Figures of ``analyze system`` under the names that limits use: ``hm.DEADLINE_MISSED.count``."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vxmon.analysis.named import NamedFigure
from vxmon.analysis.names import unique_names
from vxmon.analysis.system.result import BootSystem, Category, InterruptTime, Kind, SystemResult
from vxmon.trace.facts import Facts
from vxmon.trace.state import NOBODY, UNKNOWN
from vxmon.trace.ticks import instant_text, ticks_to_ns

__all__ = ["named_figures"]


def named_figures(result: SystemResult, facts: Facts | None = None) -> Iterator[NamedFigure]:
    """Every figure of every boot."""
    del facts
    for boot in result.boots:
        for figure in _boot(boot):
            yield replace(figure, boot=boot.number)


def _boot(boot: BootSystem) -> Iterator[NamedFigure]:
    for category in boot.categories:
        yield from _category(boot, category)
    for interrupt in boot.interrupts:
        yield from _durations(boot, interrupt)


def _category(boot: BootSystem, category: Category) -> Iterator[NamedFigure]:
    name = category.name
    yield from _kind(boot, category.total, name, rates=True)
    for kind in category.kinds:
        yield from _kind(boot, kind, f"{name}.{kind.name}", rates=True)
    partitions = _partitions(boot)
    for kind in category.by_partition:
        index = UNKNOWN if kind.partition is None else kind.partition
        partition = partitions.get(index, str(index))
        yield from _kind(boot, kind, f"{name}.{kind.name}.{partition}", rates=False)


def _partitions(boot: BootSystem) -> dict[int, str]:
    return {**unique_names(boot.partition_names), NOBODY: "none", UNKNOWN: "unknown"}


def _kind(boot: BootSystem, kind: Kind, name: str, *, rates: bool) -> Iterator[NamedFigure]:
    first = "" if kind.first is None else f"first at {instant_text(kind.first, boot.clock_hz)}"
    yield NamedFigure(f"{name}.count", kind.count, "count", where=first)
    if rates:
        worst = "" if kind.worst_at is None else f"from {instant_text(kind.worst_at, boot.clock_hz)}"
        yield NamedFigure(f"{name}.rate.mean", kind.mean_rate, "per_s_thousandths")
        yield NamedFigure(f"{name}.rate.max", kind.most_rate, "per_s_thousandths", where=worst)


def _durations(boot: BootSystem, interrupt: InterruptTime) -> Iterator[NamedFigure]:
    spread, hz = interrupt.duration, boot.clock_hz
    worst = spread.worst
    where = "" if worst is None or worst.time < 0 else f"at {instant_text(worst.time, hz)}"
    for name, figure, place in (("mean", spread.mean, ""), ("max", spread.most, where)):
        ns = figure.mapped(lambda ticks: ticks_to_ns(ticks, hz)) if hz else figure.none()
        yield NamedFigure(f"interrupt.{interrupt.number}.duration.{name}", ns, "ns", where=place)
