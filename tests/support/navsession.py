# SPDX-License-Identifier: Apache-2.0
"""A small session that is calculated by hand, for tests of commands.

One tick is 1 us; NAV's window is [0,400) of a frame of 1000, SPARE is [400,1000). In each of two frames NAV gets the
processor 3 late, after 5 of kernel its task runs for 102, then its idle process until 405 (5 past the end). So
used = 110 and margin = 290 of 400. The first activation misses its deadline: 1008 > 1000 + 100.
"""

from __future__ import annotations

from tests.support.recording import EVENTS, Recording
from vxmon.wire.types import PartitionEntry, Schedule, TaskEntry, Window

__all__ = ["recording"]


def recording(*, schedule: bool = True) -> Recording:
    """The session, of which the second block is 1008..1406 of the target's time; without its schedule if so asked."""
    schedules = (Schedule(0, 1000, (Window(1, True, 0, 400), Window(0, False, 400, 600))),) if schedule else ()
    rec = Recording(
        tasks=(
            TaskEntry(0, 0, "mos_idle", idle=True), TaskEntry(1, 1, "nav_filter", period=1000),
            TaskEntry(2, 1, "nav_idle", idle=True),
        ),
        schedules=schedules, partitions=(PartitionEntry(0, "MODULE_OS"), PartitionEntry(1, "NAV")),
        events=frozenset(event.id for event in EVENTS.values()), block_records=5,
    )  # fmt: skip
    rec.add(500, "START", 0, window=1, task=0, run=1)
    for number in (0, 1):
        at = 1000 + 1000 * number
        rec.add(at + 1, "MAJOR_FRAME", 0, start=at, frame=number)
        rec.add(at + 2, "WINDOW", 0)
        rec.add(at + 3, "PARTITION_SWITCH", 1)
        rec.add(at + 4, "RELEASE", 1, release=at, deadline=at + 100 + 10 * number, activation=number + 1)
        rec.add(at + 8, "TASK_SWITCH", 1, reason=3, previous=0)
        rec.add(at + 108, "COMPLETE", 1, activation=number + 1)
        rec.add(at + 110, "TASK_SWITCH", 2, reason=0, previous=1)
        rec.add(at + 402, "WINDOW", 1)
        rec.add(at + 405, "PARTITION_SWITCH", 0)
        rec.add(at + 406, "TASK_SWITCH", 0, reason=3, previous=2)
    rec.add(3000, "STOP", 0)
    return rec
