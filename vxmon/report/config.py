# SPDX-License-Identifier: Apache-2.0
"""The configuration of a run, that is its plan as the target took it, with names."""

from __future__ import annotations

from typing import Any

from vxmon.wire.types import EventTable, RunConfig

__all__ = ["config_document"]


def config_document(table: EventTable, config: RunConfig) -> dict[str, Any]:
    """All of a configuration; events by name, hidden partitions and objects by index."""
    names = {event.id: event.name for event in table.events}
    return {
        "events": sorted(names.get(number, f"EVENT_{number}") for number in config.events),
        "datagram_bytes": config.datagram_bytes,
        "unit_slots": config.unit_slots,
        "units": config.units,
        "policy": config.policy.name.lower(),
        "high_water_percent": config.high_water,
        "flush_ms": config.flush_ms,
        "one_way": config.one_way,
        "no_upload": config.no_upload,
        "max_ticks": config.max_ticks,
        "hidden_partitions": sorted(config.hidden_partitions),
        "hidden_objects": sorted(config.hidden_objects),
        "payload": config.payload.name.lower(),
        "content_bytes": config.content_bytes,
        "fast": config.fast,
        "memory_ms": config.memory_ms,
        "stack_ms": config.stack_ms,
        "operations_ms": config.operations_ms,
        "grow_units": config.grow_units,
        "max_units": config.max_units,
        "max_records": config.max_records,
        "stop_when_full": config.stop_when_full,
    }
