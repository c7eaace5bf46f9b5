# SPDX-License-Identifier: Apache-2.0
"""A collection plan as report blocks."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from vxmon.report.blocks import Block, Table
from vxmon.wire.types import Event

__all__ = ["plan_blocks"]


def plan_blocks(document: Mapping[str, Mapping[str, Any]], events: Iterable[Event], release: str) -> list[Block]:
    """Keys of a plan by section, and the events it means."""
    rows = [(section, key, _text(value)) for section, keys in document.items() for key, value in keys.items()]
    chosen = [(event.klass, event.name, f"{event.id}") for event in events]
    return [
        Table("Plan", ("section", "key", "value"), rows),
        Table(f"Events recorded, release {release}", ("class", "event", ">id"), chosen),
    ]


def _text(value: Any) -> str:
    if value is None:
        return "(default)"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(value) if isinstance(value, list) else str(value)
