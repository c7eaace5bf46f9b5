# SPDX-License-Identifier: Apache-2.0
"""How the clocks of target and host are tied, and what happened on the link: for documents and as report blocks."""

from __future__ import annotations

from typing import Any, Final

from vxmon.report.blocks import Block, Table
from vxmon.report.walltime import iso_time
from vxmon.trace import Boot, Facts, ticks_to_ns
from vxmon.trace.linkevents import LinkEvent, LinkRecord, endpoint_text
from vxmon.trace.linknotes import link_events
from vxmon.words import counted

__all__ = ["clock_document", "clock_rows", "link_blocks", "link_document"]

Json = dict[str, Any]
# Names in the event table of every release.
_STATES: Final = {0: "lost", 1: "up", 2: "moved"}


def clock_document(boot: Boot) -> Json | None:
    """Host time at the last heartbeat, and what is known of the offset and the drift (SPEC section 12)."""
    wall = boot.wall
    if wall is None:
        return None
    at = wall.end
    first = boot.first_time if boot.first_time is not None else at
    last = max(boot.last_time if boot.last_time is not None else at, first)
    drift, at_ns = wall.drift, ticks_to_ns(at, boot.clock_hz)
    host_ns = wall.host_at(at)
    return {
        "at_ns": at_ns,
        "host_time": iso_time(host_ns),
        "offset_ns": host_ns - at_ns,
        "uncertainty_ns": wall.uncertainty_ns(first, last),
        "drift_ppm": round(drift.ppm, 3) if wall.bounded else None,
        "drift_uncertainty_ppm": round(drift.uncertainty_ppm, 3) if wall.bounded else None,
        "bounds": wall.bounds,
        "steps": wall.steps,
    }


def link_document(facts: Facts) -> list[Json]:
    """What hosts noted and targets recorded, by boot and time."""
    found = []
    for boot in facts.boots:
        entries = [_noted(boot, event) for event in link_events(facts, boot)]
        entries += [_recorded(boot, record) for record in boot.link_records]
        # Where one of both times is not known, the order of telling stays.
        found += sorted(entries, key=lambda entry: entry["host_time"] or "")
    return found


def _noted(boot: Boot, event: LinkEvent) -> Json:
    return {
        "boot": f"0x{boot.id:08x}",
        "by": "host",
        "kind": event.kind,
        "host_time": iso_time(event.host_ns),
        "time_ns": ticks_to_ns(boot.wall.ticks(event.host_ns), boot.clock_hz) if boot.wall is not None else None,
        "run": event.run or None,
        "silence_ns": event.silence_ns or None,
        "boot_before": f"0x{event.boot_before:08x}" if event.boot_before else None,
        "text": event.text,
    }


def _recorded(boot: Boot, record: LinkRecord) -> Json:
    state = _STATES.get(record.state, str(record.state))
    return {
        "boot": f"0x{boot.id:08x}",
        "by": "target",
        "kind": state,
        "host_time": iso_time(boot.wall.host_at(record.time)) if boot.wall is not None else None,
        "time_ns": ticks_to_ns(record.time, boot.clock_hz) if boot.clock_hz else None,
        "run": None,
        "silence_ns": None,
        "boot_before": None,
        "text": f"the host at {endpoint_text(record.address << 16 | record.port & 0xFFFF)}: link {state}",
    }


# ---------------------------------------------------------------- for people


def clock_rows(clock: Json | None) -> list[tuple[str, str]]:
    """Rows of facts about a target."""
    if clock is None:
        return [("host time", "not known: no heartbeat of the target")]
    if clock["uncertainty_ns"] is None:
        return [("host time", f"{clock['host_time']} at the latest; without heartbeats of a host delays are not known")]
    rows = [
        ("host time", f"{clock['host_time']} at {_seconds(clock['at_ns'])}, within {_micro(clock['uncertainty_ns'])}"),
        ("clock drift", f"{clock['drift_ppm']:+.3f} ppm, within {clock['drift_uncertainty_ppm']:.3f} ppm"),
    ]
    if clock["steps"]:
        rows.append(("clock steps", f"{counted(clock['steps'], 'time')} the target's clock did not run evenly"))
    return rows


def link_blocks(events: list[Json]) -> list[Block]:
    """The table of what happened on the link; nothing when nothing did."""
    rows = [
        (entry["host_time"] or "not known", entry["boot"], entry["by"], entry["kind"], entry["text"])
        for entry in events
    ]  # fmt: skip
    return [Table("Link events", ("host time", "boot", "by", "what", "text"), rows)] if rows else []


def _micro(ns: int) -> str:
    return f"{ns // 1000}.{ns % 1000:03} us"


def _seconds(ns: int) -> str:
    return f"{ns // 10**9}.{ns % 10**9:09} s"
