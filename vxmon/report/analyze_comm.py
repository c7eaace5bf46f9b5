# SPDX-License-Identifier: Apache-2.0
"""``analyze comm`` as text, JSON and CSV. Times are ns in JSON and CSV, microseconds in text."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Final

from vxmon.analysis.comm.fields import ObjectFields
from vxmon.analysis.comm.named import named_figures, partition_name, worst_text
from vxmon.analysis.comm.result import BootComm, CommResultSet, Depth, Flow, ObjectComm, Receiving, Sending
from vxmon.analysis.figures import Figure
from vxmon.analysis.quality import headline
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.comm_fields import field_blocks, fields_json
from vxmon.report.figures import (
    NOTHING,
    envelope,
    figure_json,
    figure_row,
    micros,
    plain,
    shown,
    span_line,
    spread_json,
)
from vxmon.trace.facts import Facts
from vxmon.trace.span import EVERYTHING
from vxmon.trace.ticks import ticks_to_ns

__all__ = ["SCHEMA", "VERSION", "comm_blocks", "comm_json", "comm_rows", "select_objects"]

SCHEMA: Final = "vxmon.analyze.comm"
VERSION: Final = 1
"""Grows when something is renamed or removed; additions do not change it."""

_REASONS: Final = {
    "lost": "the other record may be lost",
    "passed_over": "later messages were received first",
    "unread_at_end": "not received before the end of recording",
    "never_read": "nobody receives there",
    "deleted": "the object was deleted with them",
    "table_full": "the table of open messages was full",
    "no_channel": "no channel is known; --module tells",
    "before": "sent before recording began",
    "earlier": "sent long before the window",
    "not_recorded": "its sending was not recorded",
}

Json = dict[str, Any]


def select_objects(result: CommResultSet, objects: Collection[str], partitions: Collection[str]) -> CommResultSet:
    """The result with only these objects (labels, names or indices) and those of these partitions; empty: all."""

    def wanted(boot: BootComm, one: ObjectComm) -> bool:
        named = not objects or bool({one.label, one.name, str(one.index)} & set(objects))
        return named and (not partitions or bool(_partition_names(boot, one.partition) & set(partitions)))

    def wanted_flow(boot: BootComm, flow: Flow) -> bool:
        ends = _partition_names(boot, flow.sender) | _partition_names(boot, flow.receiver)
        return not objects and (not partitions or bool(ends & set(partitions)))

    boots = [
        replace(
            boot,
            objects=[one for one in boot.objects if wanted(boot, one)],
            flows=[flow for flow in boot.flows if wanted_flow(boot, flow)],
        )
        for boot in result.boots
    ]
    return CommResultSet(boots, result.span)


def _partition_names(boot: BootComm, index: int | None) -> set[str]:
    return {partition_name(boot, index), str(index)}


# ---------------------------------------------------------------- JSON


def comm_json(result: CommResultSet, facts: Facts, fields: list[ObjectFields] | None = None) -> Json:
    """The report as a JSON object; ``fields``: of the messages, where they are asked for."""
    value = envelope(SCHEMA, VERSION, facts)
    value["window"] = {"begin_ns": result.span.begin, "end_ns": result.span.end}
    value["boots"] = [_boot_json(boot) for boot in result.boots]
    if fields is not None:
        for boot, document in zip(result.boots, value["boots"], strict=True):
            document["fields"] = fields_json(boot, fields)
    return value


def _boot_json(boot: BootComm) -> Json:
    return {
        "boot": f"0x{boot.id:08x}",
        "number": boot.number,
        "clock_hz": boot.clock_hz,
        "begin_ticks": boot.begin,
        "end_ticks": boot.end,
        "channels_from": boot.channel_source or None,
        "objects": [_object_json(boot, one) for one in boot.objects],
        "flows": [
            {
                "from": partition_name(boot, flow.sender), "to": partition_name(boot, flow.receiver),
                "count": figure_json(flow.count), "bytes": figure_json(flow.octets),
            }
            for flow in boot.flows
        ],
        "notes": list(boot.notes),
    }  # fmt: skip


def _object_json(boot: BootComm, one: ObjectComm) -> Json:
    return {
        "object": one.label,
        "index": one.index,
        "kind": one.kind,
        "partition": partition_name(boot, one.partition),
        "message_size_bytes": one.message_size,
        "capacity": one.capacity,
        "channel": one.channel,
        "source": one.source,
        "destinations": list(one.destinations),
        "results": {direction: dict(counts) for direction, counts in one.results.items()},
        "sending": None if one.sending is None else _sending_json(boot, one.sending),
        "receiving": None if one.receiving is None else _receiving_json(boot, one.receiving),
        "overflow": figure_json(one.overflow),
        "orphan_sends": dict(one.orphan_sends),
        "orphan_receives": dict(one.orphan_receives),
    }


def _sending_json(boot: BootComm, sending: Sending) -> Json:
    return {
        "sent": figure_json(sending.sent),
        "rate_per_s_thousandths": figure_json(sending.rate),
        "busiest_second": figure_json(sending.busiest),
        "busiest_second_number": sending.busiest_second,
        "size_bytes": spread_json(sending.size, None),
        "period": spread_json(sending.period, boot.clock_hz),
        "jitter": spread_json(sending.jitter, boot.clock_hz),
    }


def _receiving_json(boot: BootComm, receiving: Receiving) -> Json:
    hz = boot.clock_hz
    return {
        "received": figure_json(receiving.received),
        "latency": spread_json(receiving.latency, hz),
        "age": spread_json(receiving.age, hz),
        "depth": None if receiving.depth is None else _depth_json(receiving.depth, hz),
        "stale": figure_json(receiving.stale),
        "refresh_ns": None if receiving.refresh is None or not hz else ticks_to_ns(receiving.refresh, hz),
        "older_than_refresh": figure_json(receiving.older),
        "overwritten": figure_json(receiving.overwritten),
    }


def _depth_json(depth: Depth, hz: int) -> Json:
    return {
        "min": figure_json(depth.least),
        "mean_thousandths": figure_json(depth.mean),
        "max": figure_json(depth.most),
        "max_at_ticks": depth.most_at,
        "full_ns": figure_json(depth.full, hz),
        "times_full": depth.times_full,
        "full_first_ticks": depth.full_first,
        "full_last_ticks": depth.full_last,
        "longest_full_ns": ticks_to_ns(depth.longest_full, hz) if hz else None,
        "unknown_ns": ticks_to_ns(depth.unknown, hz) if hz else None,
    }


# ---------------------------------------------------------------- CSV


def comm_rows(result: CommResultSet) -> Iterator[tuple[str, ...]]:
    """CSV: one figure a row, under the names that rules of ``vxmon check`` use."""
    yield "boot", "figure", "unit", "value", "lo", "hi", "n", "status"
    for named in named_figures(result):
        yield str(named.boot), named.name, named.unit, *figure_row(named.figure)


# ---------------------------------------------------------------- text


def comm_blocks(
    result: CommResultSet, facts: Facts, fields: list[ObjectFields] | None = None
) -> Iterator[Block]:  # fmt: skip
    """The report as text blocks; ``fields``: of the messages, where they are asked for."""
    yield Text((headline(facts),), important=facts.incomplete)
    if result.span != EVERYTHING:
        yield Text((span_line(result.span, facts),))
    for boot in result.boots:
        yield from _boot_blocks(boot)
        yield from field_blocks(boot, fields) if fields is not None else ()


def _boot_blocks(boot: BootComm) -> Iterator[Block]:
    channels = f"channels from {boot.channel_source}" if boot.channel_source else "channels not known"
    observed = micros(Figure.exact(boot.end - boot.begin), boot.clock_hz)
    yield Text((f"boot 0x{boot.id:08x}, observed {observed} us, {channels}; {_LEGEND}",))
    if not boot.objects:
        yield Text(("no messages were recorded of what is asked for",))
    sent = [(one, one.sending) for one in boot.objects if one.sending is not None]
    received = [(one, one.receiving) for one in boot.objects if one.receiving is not None]
    if sent:
        yield Table("sent", _SENT, [_sent_row(boot, one, sending) for one, sending in sent])
    if received:
        yield Table("received", _RECEIVED, [_received_row(boot, one, receiving) for one, receiving in received])
    queues = [(one, r.depth) for one, r in received if r.depth is not None]
    if queues:
        yield Table("queues", _QUEUES, [_queue_row(boot, one, depth) for one, depth in queues])
    latest = [(one, r) for one, r in received if r.depth is None]
    if latest:
        yield Table("newest message only", _LATEST, [_latest_row(boot, one, r) for one, r in latest])
    if boot.flows:
        yield _matrix(boot)
    orphans = list(_orphan_rows(boot))
    if orphans:
        yield Table("without the other end", ("object", "what", ">messages", "because"), orphans)
    if boot.notes:
        yield Text(tuple(f"note: {note}" for note in boot.notes))


_LEGEND: Final = "times in us, ranges hold the truth, ~ is estimated, - not recorded or nothing to measure"
_SENT: Final = (
    "object", "kind", "partition", ">sent", ">per s", ">busiest s", ">bytes min", ">max", ">period mean", ">min",
    ">max", ">jitter mean", ">max", "to",
)  # fmt: skip
_RECEIVED: Final = (
    "object", "partition", "from", ">received", ">latency min", ">mean", ">p99", ">max", "worst",
)  # fmt: skip
_QUEUES: Final = (
    "queue", ">capacity", ">depth min", ">mean", ">max", ">times full", ">full for", ">longest", "first full",
    ">overflow",
)  # fmt: skip
_LATEST: Final = (
    "object", ">refresh", ">read", ">stale", ">older", ">overwritten", ">age mean", ">max", "oldest",
)  # fmt: skip


def _sent_row(boot: BootComm, one: ObjectComm, sending: Sending) -> tuple[str, ...]:
    hz = boot.clock_hz
    period, jitter = sending.period, sending.jitter
    to = ", ".join(one.destinations) or (NOTHING if one.receiving is None else "itself")
    return (
        one.label, one.kind, partition_name(boot, one.partition), plain(sending.sent),
        shown(sending.rate, _thousandths), plain(sending.busiest), plain(sending.size.least), plain(sending.size.most),
        micros(period.mean, hz), micros(period.least, hz, floor=True), micros(period.most, hz),
        micros(jitter.mean, hz), micros(jitter.most, hz), to,
    )  # fmt: skip


def _received_row(boot: BootComm, one: ObjectComm, receiving: Receiving) -> tuple[str, ...]:
    hz, latency = boot.clock_hz, receiving.latency
    times = [micros(f, hz) for f in (latency.mean, latency.p99, latency.most)]
    source = one.source or (NOTHING if one.sending is None else "itself")
    return (
        one.label, partition_name(boot, one.partition), source, plain(receiving.received),
        micros(latency.least, hz, floor=True), *times, worst_text(latency.worst, hz) or NOTHING,
    )  # fmt: skip


def _queue_row(boot: BootComm, one: ObjectComm, depth: Depth) -> tuple[str, ...]:
    hz = boot.clock_hz
    first = NOTHING if depth.full_first is None else _seconds(depth.full_first, hz)
    return (
        one.label, str(one.capacity or "?"), plain(depth.least), shown(depth.mean, _thousandths), plain(depth.most),
        str(depth.times_full), micros(depth.full, hz), micros(Figure.exact(depth.longest_full), hz), first,
        plain(one.overflow),
    )  # fmt: skip


def _latest_row(boot: BootComm, one: ObjectComm, receiving: Receiving) -> tuple[str, ...]:
    hz, age = boot.clock_hz, receiving.age
    refresh = NOTHING if receiving.refresh is None else micros(Figure.exact(receiving.refresh), hz)
    counts = (receiving.received, receiving.stale, receiving.older, receiving.overwritten)
    return (
        one.label, refresh, *map(plain, counts), micros(age.mean, hz), micros(age.most, hz),
        worst_text(age.worst, hz) or NOTHING,
    )  # fmt: skip


def _matrix(boot: BootComm) -> Table:
    """Messages from the partition of the row to that of the column."""
    receivers = sorted({flow.receiver for flow in boot.flows}, key=lambda index: -1 if index is None else index)
    senders = sorted({flow.sender for flow in boot.flows}, key=lambda index: -1 if index is None else index)
    cells = {(flow.sender, flow.receiver): plain(flow.count) for flow in boot.flows}
    rows = [(partition_name(boot, a), *(cells.get((a, b), ".") for b in receivers)) for a in senders]
    columns = ("from \\ to", *(f">{partition_name(boot, index)}" for index in receivers))
    return Table("messages between partitions, each counted once a destination", columns, rows)


def _orphan_rows(boot: BootComm) -> Iterator[tuple[str, ...]]:
    for one in boot.objects:
        for what, counts in (("sent, not received", one.orphan_sends), ("received, not sent", one.orphan_receives)):
            for reason, count in counts.items():
                yield one.label, what, str(count), _REASONS.get(reason, reason)


def _thousandths(number: int) -> str:
    return f"{number // 1000}.{number % 1000:03d}"


def _seconds(ticks: int, hz: int) -> str:
    ns = ticks_to_ns(ticks, max(hz, 1))
    return f"{ns // 10**9}.{ns % 10**9:09d} s"
