# SPDX-License-Identifier: Apache-2.0
"""From sessions to columns: 64-bit time, order over streams, names, and what is missing."""

from __future__ import annotations

from vxmon.trace.columns import Chunk, Columns, byte_field, field_values, recorded_fields
from vxmon.trace.facts import CAUSES, LOSS, Boot, Counters, Facts, FileFacts, Run, Stream
from vxmon.trace.names import LOSS_ID, LOSS_NAME, NO_TABLE, Names
from vxmon.trace.opening import open_trace
from vxmon.trace.ticks import NS_PER_S, ticks_to_ns
from vxmon.trace.trace import StoredTrace, Trace

__all__ = [
    "CAUSES",
    "LOSS",
    "LOSS_ID",
    "LOSS_NAME",
    "NO_TABLE",
    "NS_PER_S",
    "Boot",
    "Chunk",
    "Columns",
    "Counters",
    "Facts",
    "FileFacts",
    "Names",
    "Run",
    "StoredTrace",
    "Stream",
    "Trace",
    "byte_field",
    "field_values",
    "open_trace",
    "recorded_fields",
    "ticks_to_ns",
]
