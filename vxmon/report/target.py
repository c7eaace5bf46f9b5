# SPDX-License-Identifier: Apache-2.0
"""What a live target says of itself: a document for machines, and the same as report blocks."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from vxmon.link.selection import TargetView
from vxmon.report.blocks import Block, Table
from vxmon.report.config import config_document
from vxmon.wire.acquired import MemoryEntry
from vxmon.wire.refusals import REASONS, refused_text
from vxmon.wire.types import LinkCounters

__all__ = ["memory_blocks", "memory_document", "target_blocks", "target_document"]

_VERSION: Final = 1
_APART: Final = frozenset({"version", "events", "plan", "refused", "refused_by_reason"})

Json = dict[str, Any]


def target_document(view: TargetView, link: LinkCounters | None = None) -> Json:
    """What the target is, offers and does now; ``link`` are its counters, None: it did not tell them."""
    info = view.info
    return {
        "version": _VERSION,
        "os_name": info.os_name,
        "os_release": info.os_release,
        "board": info.board,
        "agent_version": info.agent_version,
        "boot": f"0x{info.boot:08x}",
        "clock_hz": info.clock_hz,
        "byte_order": "big" if info.big_endian else "little",
        "event_table": f"0x{info.table_fingerprint:08x}",
        "arena_bytes": info.arena_bytes,
        "max_units": info.max_units,
        "sampling_ms": [info.min_period_ms, info.max_period_ms],
        "max_content_bytes": info.max_content_bytes,
        "hm_log": info.hm_log,
        "edr_log": info.edr_log,
        "partitions": {str(index): name for index, name in sorted(view.partitions.items())},
        "object_count": len(view.objects),
        "key": info.has_key,
        "refused": None if link is None else link.refused,
        "refused_by_reason": None if link is None else {name: getattr(link, name) for name in REASONS},
        "running": info.running,
        "plan": None if info.config is None else config_document(view.table, info.config),
        "events": [
            {"id": event.id, "name": event.name, "class": event.klass, "offered": event.id in info.offered}
            for event in view.table.events
        ],
    }


def target_blocks(document: Json) -> list[Block]:
    """The document as tables."""
    simple = {key: value for key, value in document.items() if key not in _APART}
    if document["refused"] is not None:
        counters = LinkCounters(refused=document["refused"], **document["refused_by_reason"])
        simple["since boot"] = refused_text(counters) or "no datagram refused"
    blocks: list[Block] = [
        Table("Target", ("fact", "value"), [(k.replace("_", " "), _text(v)) for k, v in simple.items()])
    ]
    plan = document["plan"]
    if plan is not None:
        title = "Active plan" if document["running"] else "Plan of the next run"
        blocks.append(Table(title, ("key", "value"), [(key, _text(value)) for key, value in plan.items()]))
    rows = [(e["class"], e["name"], str(e["id"]), _text(e["offered"])) for e in document["events"]]
    return [*blocks, Table("Events", ("class", "event", ">id", "offered"), rows)]


def _text(value: Any) -> str:
    if value is None:
        return "-"
    if isinstance(value, bool):
        return "yes" if value else "no"
    if isinstance(value, dict):
        return ", ".join(map(str, value.values()))
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def memory_document(view: TargetView, entries: Iterable[MemoryEntry]) -> Json:
    """Heaps of partitions in bytes."""
    return {
        "version": _VERSION,
        "partitions": [
            {
                "partition": entry.partition,
                "name": view.partitions.get(entry.partition),
                "free_bytes": entry.free,
                "allocated_bytes": entry.allocated,
                "blocks": entry.blocks,
                "largest_free_bytes": entry.largest,
                "high_water_bytes": entry.high_water,
            }
            for entry in entries
        ],
    }


def memory_blocks(document: Json) -> list[Block]:
    """The document as a table."""
    columns = ("partition", ">free", ">allocated", ">blocks", ">largest free", ">high water")
    keys = ("free_bytes", "allocated_bytes", "blocks", "largest_free_bytes", "high_water_bytes")
    rows = [
        (f"{row['name'] or '?'} ({row['partition']})", *(str(row[key]) for key in keys))
        for row in document["partitions"]
    ]
    return [Table("Heaps, bytes", columns, rows)]
