# SPDX-License-Identifier: Apache-2.0
"""The figures of ``analyze comm`` under their names.

    comm.<object>.count                   messages that it accepted, or that were received of it; also .received.count
    comm.<object>.rate                    in thousandths per second
    comm.<object>.<quantity>.<statistic>  size period jitter latency age
    comm.<object>.depth.<statistic>       of queues; comm.<object>.full is how long it was full
    comm.<object>.<counter>.count         overflow stale older overwritten orphan_sends orphan_receives
    flow.<partition>.<partition>.count    messages from the first to the second; also .bytes

Times are ns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from vxmon.analysis.comm.result import BootComm, CommResultSet, Flow, ObjectComm, Receiving, Sending, unique_labels
from vxmon.analysis.figures import Extreme, Figure
from vxmon.analysis.named import NamedFigure, Unit
from vxmon.analysis.spread import Spread
from vxmon.trace.facts import Facts
from vxmon.trace.ticks import ticks_to_ns

__all__ = ["named_figures", "partition_name", "worst_text"]

_STATISTICS: Final = {"least": "min", "mean": "mean", "p99": "p99", "most": "max"}


def named_figures(result: CommResultSet, facts: Facts | None = None) -> Iterator[NamedFigure]:
    """Every figure of every boot."""
    del facts
    for boot in result.boots:
        for one in boot.objects:
            yield from _object(boot, one)
        ends = {-1 if end is None else end: end for flow in boot.flows for end in (flow.sender, flow.receiver)}
        labels = unique_labels({key: partition_name(boot, end) for key, end in sorted(ends.items())})
        for flow in boot.flows:
            yield from _flow(boot, flow, labels)


def partition_name(boot: BootComm, index: int | None) -> str:
    """The name of a partition, or its number."""
    if index is None:
        return "?"
    return boot.partition_names.get(index) or ("module OS" if index == 0 else f"partition {index}")


def worst_text(worst: Extreme | None, hz: int) -> str:
    """The number and time of a message; empty where they are not known."""
    if worst is None or worst.time < 0:
        return ""
    ns = ticks_to_ns(worst.time, max(hz, 1))
    return f"message {worst.number} at {ns // 10**9}.{ns % 10**9:09d} s"


def _object(boot: BootComm, one: ObjectComm) -> Iterator[NamedFigure]:
    prefix = f"comm.{one.label}"
    sending, receiving = one.sending, one.receiving
    if sending is not None:
        yield _named(boot, f"{prefix}.count", sending.sent, high_is_bad=False)
        yield from _sending(boot, prefix, sending)
    if receiving is not None:
        name = "count" if sending is None else "received.count"
        yield _named(boot, f"{prefix}.{name}", receiving.received, high_is_bad=False)
        yield from _receiving(boot, prefix, receiving, one.capacity)
    yield _named(boot, f"{prefix}.overflow.count", one.overflow)
    for name, counts in (("orphan_sends", one.orphan_sends), ("orphan_receives", one.orphan_receives)):
        yield _named(boot, f"{prefix}.{name}.count", Figure.exact(sum(counts.values())))


def _sending(boot: BootComm, prefix: str, sending: Sending) -> Iterator[NamedFigure]:
    yield _named(boot, f"{prefix}.rate", sending.rate, "per_s_thousandths", high_is_bad=False)
    yield _named(boot, f"{prefix}.busiest_second.count", sending.busiest)
    yield from _spread(boot, f"{prefix}.size", sending.size, "bytes")
    yield from _spread(boot, f"{prefix}.period", sending.period, "ns")
    yield from _spread(boot, f"{prefix}.jitter", sending.jitter, "ns")


def _receiving(boot: BootComm, prefix: str, receiving: Receiving, capacity: int) -> Iterator[NamedFigure]:
    yield from _spread(boot, f"{prefix}.latency", receiving.latency, "ns")
    depth = receiving.depth
    if depth is not None:
        where = worst_text(None if depth.most_at is None else Extreme(0, -1, depth.most_at), boot.clock_hz)
        yield _named(boot, f"{prefix}.depth.min", depth.least, whole=capacity or None)
        yield _named(
            boot, f"{prefix}.depth.max", depth.most, whole=capacity or None, where=where.partition(" at ")[2]
        )  # fmt: skip
        yield _time(boot, f"{prefix}.full", depth.full)
        return
    yield from _spread(boot, f"{prefix}.age", receiving.age, "ns")
    for name in ("stale", "older", "overwritten"):
        yield _named(boot, f"{prefix}.{name}.count", getattr(receiving, name))


def _flow(boot: BootComm, flow: Flow, labels: Mapping[int, str]) -> Iterator[NamedFigure]:
    sender, receiver = (labels[-1 if end is None else end] for end in (flow.sender, flow.receiver))
    prefix = f"flow.{sender}.{receiver}"
    yield _named(boot, f"{prefix}.count", flow.count, high_is_bad=False)
    yield _named(boot, f"{prefix}.bytes", flow.octets, "bytes", high_is_bad=False)


def _spread(boot: BootComm, prefix: str, spread: Spread, unit: Unit) -> Iterator[NamedFigure]:
    """The statistics of a quantity; the place of the worst goes with the largest."""
    for key, statistic in _STATISTICS.items():
        figure: Figure = getattr(spread, key)
        where = worst_text(spread.worst, boot.clock_hz) if key == "most" else ""
        name = f"{prefix}.{statistic}"
        yield _time(boot, name, figure, where) if unit == "ns" else _named(boot, name, figure, unit, where=where)


def _time(boot: BootComm, name: str, ticks: Figure, where: str = "") -> NamedFigure:
    """A time in ns. Where the session does not tell the clock's rate there is none."""
    hz = boot.clock_hz
    figure = ticks.mapped(lambda t: ticks_to_ns(t, hz)) if hz else Figure.none()
    return _named(boot, name, figure, "ns", where=where)


def _named(
    boot: BootComm, name: str, figure: Figure, unit: Unit = "count", *, whole: int | None = None, where: str = "",
    high_is_bad: bool = True,
) -> NamedFigure:  # fmt: skip
    return NamedFigure(name, figure, unit, whole, where, high_is_bad, boot.number)
