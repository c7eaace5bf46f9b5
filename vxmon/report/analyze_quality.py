# SPDX-License-Identifier: Apache-2.0
"""``analyze quality`` as text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import replace
from typing import Any, Final

from vxmon.analysis.quality import LossInterval, Quality
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.figures import envelope
from vxmon.trace.facts import CAUSES, Facts
from vxmon.trace.span import Span
from vxmon.trace.ticks import ticks_to_ns

__all__ = ["SCHEMA", "VERSION", "narrowed", "quality_blocks", "quality_json", "quality_rows"]

SCHEMA: Final = "vxmon.analyze.quality"
VERSION: Final = 1
"""Grows when something is renamed or removed; additions do not change it."""

# Loss intervals that text shows, largest first; JSON and CSV have all.
_SHOWN: Final = 20

Json = dict[str, Any]


def narrowed(result: Quality, facts: Facts, span: Span, cpus: Collection[int]) -> Quality:
    """The result with the losses of a time window and CPUs only, and the streams of the CPUs.

    The headline and the findings judge the whole session whatever is looked at.
    """
    limits = {boot.number: span.ticks(boot.first_time or 0, boot.clock_hz) for boot in facts.boots}

    def touches(loss: LossInterval) -> bool:
        begin, end = limits[loss.boot]
        late = begin is not None and loss.end is not None and loss.end < begin
        early = end is not None and loss.start is not None and loss.start >= end
        return not late and not early

    losses = [loss for loss in result.losses if touches(loss) and (not cpus or loss.stream in cpus)]
    return replace(result, losses=losses, streams=[s for s in result.streams if not cpus or s.stream in cpus])


def quality_json(result: Quality, facts: Facts) -> Json:
    """The report as a JSON object; times are ticks of the target's clock."""
    value = envelope(SCHEMA, VERSION, facts)
    value["streams"] = [
        {
            "boot": s.boot, "run": s.run, "cpu": s.stream, "recorded": s.recorded, "before_attach": s.before_attach,
            "not_in_this_file": s.cut_away, "delivered": s.delivered, "lost": s.lost, "causes": s.causes,
            "late_blocks": s.late_blocks, "steps_back": s.steps_back,
        }
        for s in result.streams
    ]  # fmt: skip
    value["losses"] = [_loss_json(loss) for loss in result.losses]
    value["runs"] = [
        {
            "boot": e.boot, "run": e.run, "seen_from_start": e.seen_from_start, "complete": e.complete,
            "first_ticks": e.first_time, "last_ticks": e.last_time, "end_reason": e.end_reason,
        }
        for e in result.edges
    ]  # fmt: skip
    value["unknown_events"] = {str(event): count for event, count in result.unknown_events.items()}
    value["findings"] = [
        {"severity": f.severity, "kind": f.kind, "text": f.text, "count": f.count} for f in result.findings
    ]
    return value


def _loss_json(loss: LossInterval) -> Json:
    return {
        "boot": loss.boot, "run": loss.run, "cpu": loss.stream, "start_ticks": loss.start, "end_ticks": loss.end,
        "records": loss.records, "causes": loss.causes,
    }  # fmt: skip


def quality_rows(result: Quality) -> Iterator[tuple[str, ...]]:
    """CSV: one loss interval a row."""
    yield "boot", "run", "cpu", "start_ticks", "end_ticks", "records", *CAUSES
    for loss in result.losses:
        start, end = ("" if t is None else str(t) for t in (loss.start, loss.end))
        causes = (str(loss.causes.get(cause, 0)) for cause in CAUSES)
        yield str(loss.boot), str(loss.run), str(loss.stream), start, end, str(loss.records), *causes


def quality_blocks(result: Quality) -> Iterator[Block]:
    """The report as text blocks."""
    yield Text((result.headline,), important=result.incomplete)
    columns = ("boot", "run", "CPU", ">recorded", ">before attach", ">delivered", ">lost", "causes", ">late blocks",
               ">steps back")  # fmt: skip
    rows = []
    for s in result.streams:
        causes = ", ".join(f"{cause} {count}" for cause, count in s.causes.items() if count) or "-"
        counts = (s.recorded, s.before_attach, s.delivered, s.lost)
        rows.append((
            str(s.boot), str(s.run), str(s.stream), *map(str, counts), causes, str(s.late_blocks), str(s.steps_back),
        ))  # fmt: skip
    yield Table("records by CPU", columns, rows)
    if result.losses:
        yield _loss_table(result)
    if result.unknown_events:
        unknown = [(f"EVENT_{event}", str(count)) for event, count in result.unknown_events.items()]
        yield Table("unknown events", ("event", ">records"), unknown)
    lines = tuple(f"{f.severity}: {f.text}" for f in result.findings)
    yield Text(lines or ("no findings",))


def _loss_table(result: Quality) -> Table:
    largest = sorted(result.losses, key=lambda loss: -loss.records)[:_SHOWN]
    rows = []
    for loss in largest:
        hz = result.clocks.get(loss.boot, 0)
        causes = ", ".join(f"{cause} {count}" for cause, count in loss.causes.items())
        span = "-" if loss.start is None or loss.end is None else _seconds(loss.end - loss.start, hz)
        where = (str(loss.boot), str(loss.run), str(loss.stream))
        rows.append((*where, _seconds(loss.start, hz), _seconds(loss.end, hz), span, str(loss.records), causes))
    title = "losses" if len(largest) == len(result.losses) else f"losses, the {_SHOWN} largest of {len(result.losses)}"
    columns = ("boot", "run", "CPU", ">from", ">to", ">lasting", ">records", "causes")
    return Table(title, columns, rows)


def _seconds(ticks: int | None, hz: int) -> str:
    if ticks is None or not hz:
        return "-" if ticks is None else f"{ticks} ticks"
    ns = ticks_to_ns(ticks, hz)
    return f"{ns // 10**9}.{ns % 10**9:09d} s"
