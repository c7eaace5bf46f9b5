# SPDX-License-Identifier: Apache-2.0
"""A session with a fault of which everything is known, event by event; see tests.support.handmade."""

from __future__ import annotations

from tests.support.handmade import (
    A_IDLE,
    MODULE,
    MOS,
    WORK,
    A,
    B,
    complete,
    frame,
    recording,
    release,
    start,
    switch,
    whole_frame,
)
from tests.support.recording import Recording
from vxmon.wire.types import NOT_KNOWN

__all__ = ["NUMERIC_ERROR", "TIMER", "error", "faulty"]

NUMERIC_ERROR = 2
TIMER = 256


def error(code: int, task: int = NOT_KNOWN, entry: int = 0) -> dict[str, int]:
    return {"code": code, "level": 0, "subcode": 7, "address": 0x1234, "task": task, "action": 8, "entry": entry}


def faulty(block_records: int = 4, *, at: int = 2050) -> Recording:
    """Two frames as whole_frame makes them, and an error of WORK 50 after the begin of the second one's window 0.

    Before it WORK sends message 5, a heap is sampled, and an interrupt comes that lasts 6.
    """
    rec = recording(block_records=block_records)
    rec.rows([(900, *start())])
    whole_frame(rec, 1000, 0)
    rec.rows([
        (2001, *frame(2000, 1)), (2002, "WINDOW", 0), (2003, "PARTITION_SWITCH", A),
        (2004, *release(WORK, 2000, 2, 2350)), (2008, *switch(WORK)),
        (2010, "MEM_SAMPLE", A, {"free": 700, "allocated": 300, "blocks": 3, "largest": 500, "high_water": 400}),
        (2020, "MSG_SEND", 9, {"type": 3, "result": 0, "number": 5, "size": 32, "depth": 1, "partition": A, "task": 1}),
        (2030, "INT_ENTR", TIMER, {"vector": 10, "ip": 0xABC}), (2036, "INT_EXIT", TIMER),
        (at - 5, "EXCEPTION", 6, {"vector": 6, "code": 0x200, "address": 8, "ip": 12, "partition": A, "task": WORK}),
        (at, "HM_EVENT", A, error(NUMERIC_ERROR, WORK, entry=41)),
        (2108, *complete(WORK, 2)), (2110, *switch(A_IDLE, 0, WORK)), (2402, "WINDOW", 1),
        (2403, "PARTITION_SWITCH", B), (2802, "WINDOW", 2), (2803, "PARTITION_SWITCH", MODULE),
        (2808, *switch(MOS)), (3000, "STOP", 0),
    ])  # fmt: skip
    return rec
