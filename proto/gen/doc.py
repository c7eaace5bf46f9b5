# SPDX-License-Identifier: Apache-2.0
"""Makes ``proto/EVENTS.md``, the table of events for people."""

from __future__ import annotations

from proto.gen.layout import lay_out
from proto.gen.model import Arg, Event, EventTable, Field

__all__ = ["events_doc"]

_HEAD = """\
<!-- SPDX-License-Identifier: Apache-2.0 -->
<!-- Made by `make gen` from proto/events.toml; do not edit. -->
# Events

Event table format {format}. How records are packed is said in `SPEC.md`, section 2; *slots* are the data slots behind
the header slot. The argument is the 16-bit number in the header slot. A field's type is followed by what it means: an
index of the session's tables, ticks of the target's clock, a unit, or an enumeration (listed at the end).
"""


def events_doc(table: EventTable) -> str:
    """Text of ``EVENTS.md``."""
    parts = [_HEAD.replace("{format}", str(table.format)), _overview(table)]
    parts += [_klass(table, klass.name, klass.doc) for klass in table.classes]
    parts += [_enums(table)]
    removed = [event for event in table.events if event.removed]
    if removed:
        rows = [f"* {event.id} {event.name}, until format {event.removed}" for event in removed]
        parts.append("\n".join(["## Removed", "", *rows, ""]))
    return "\n".join(parts)


def _overview(table: EventTable) -> str:
    releases = table.releases
    lines = [
        "| id | name | class | slots | recorded by | " + " | ".join(releases) + " |",
        "|---|---|---|---|---|" + "---|" * len(releases),
    ]
    for event in table.live:
        offered = " | ".join("yes" if release in event.releases else "" for release in releases)
        lines.append(f"| {event.id} | {event.name} | {event.klass} | {_slots(event)} | {event.origin} | {offered} |")
    return "\n".join(["## Offered by OS release", "", *lines, ""])


def _slots(event: Event) -> str:
    layout = lay_out(event)
    if layout.variable is None:
        return str(layout.slots)
    return f"{max(layout.slots, 1)}-8"


def _klass(table: EventTable, name: str, doc: str) -> str:
    events = [event for event in table.live if event.klass == name]
    return "\n".join([f"## {name}: {doc}", "", *(_event(event) for event in events)])


def _event(event: Event) -> str:
    fields = [f"* `{event.arg.name}` argument{_meaning(event.arg)}"]
    fields += [f"* `{field.name}` {field.type}{_meaning(field)}" for field in event.fields]
    return "\n".join([f"### {event.id} {event.name}", "", event.doc, "", *fields, ""])


def _meaning(field: Field | Arg) -> str:
    if isinstance(field, Arg):
        return f", {field.kind}" if field.kind else ""
    words = [
        field.kind,
        f"in {field.unit}" if field.unit else "",
        f"{field.length} bytes valid" if field.length else "",
    ]
    return "".join(f", {word}" for word in words if word)


def _enums(table: EventTable) -> str:
    lines = []
    for name, values in table.enums.items():
        lines.append(f"* `{name}`: " + ", ".join(f"{value} {text}" for value, text in values.items()))
    return "\n".join(["## Enumerations", "", *lines, ""])
