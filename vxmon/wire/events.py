# SPDX-License-Identifier: Apache-2.0
"""The event tables this vxmon ships: ids, enumerations, and the table of each OS release."""

from __future__ import annotations

from vxmon.wire.generated.events import (
    CLASSES,
    FORMAT,
    TABLES,
    CommResult,
    DeadlineKind,
    EventId,
    HmAction,
    HmCode,
    HmLevel,
    KernelCall,
    LinkState,
    ObjectType,
    OnOff,
    Operation,
    PartitionMode,
    Phase,
    Reason,
    StopReason,
    TaskState,
)
from vxmon.wire.types import EventTable

__all__ = [
    "CLASSES",
    "FORMAT",
    "TABLES",
    "CommResult",
    "DeadlineKind",
    "EventId",
    "HmAction",
    "HmCode",
    "HmLevel",
    "KernelCall",
    "LinkState",
    "ObjectType",
    "OnOff",
    "Operation",
    "PartitionMode",
    "Phase",
    "Reason",
    "StopReason",
    "TaskState",
    "shipped_table",
]


def shipped_table(fingerprint: int) -> EventTable | None:
    """The shipped table with this fingerprint, for sessions that hold none."""
    return next((table for table in TABLES.values() if table.fingerprint == fingerprint), None)
