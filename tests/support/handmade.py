# SPDX-License-Identifier: Apache-2.0
"""The module of the sessions that are calculated by hand, and short words for their events and figures.

One tick is one microsecond. The module has a major frame of 1000 with windows A [0,400), B [400,800), SPARE
[800,1000). A has the tasks WORK (1), LOW (2) and its idle process A_IDLE (3), B has OTHER (4) and B_IDLE (5), the
module OS has MOS (0), which is its idle process.
"""

from __future__ import annotations

from pathlib import Path

from tests.support.recording import EVENTS, Recording
from vxmon.analysis.figures import Figure
from vxmon.analysis.time.analyze import TimeRequest, analyze_time
from vxmon.analysis.time.result import BootTime, PartitionTime, TaskTime, WindowTime
from vxmon.trace import StoredTrace, open_trace
from vxmon.wire.types import PartitionEntry, Schedule, TaskEntry, Window

MODULE, A, B = 0, 1, 2
MOS, WORK, LOW, A_IDLE, OTHER, B_IDLE = range(6)
BLOCKED, PREEMPTED, ENDED, WINDOW_END = range(4)
NORMAL, COLD_START = 3, 1
TASKS = (
    TaskEntry(MOS, MODULE, "MOS", idle=True),
    TaskEntry(WORK, A, "WORK", period=1000),
    TaskEntry(LOW, A, "LOW"),
    TaskEntry(A_IDLE, A, "A_IDLE", idle=True),
    TaskEntry(OTHER, B, "OTHER", period=1000),
    TaskEntry(B_IDLE, B, "B_IDLE", idle=True),
)
PARTITIONS = (PartitionEntry(MODULE, "MODULE"), PartitionEntry(A, "A"), PartitionEntry(B, "B"))
SCHEDULE = Schedule(0, 1000, (Window(A, True, 0, 400), Window(B, True, 400, 400), Window(MODULE, False, 800, 200)))


def recording(*, schedule: Schedule = SCHEDULE, block_records: int = 4, start_seen: bool = True) -> Recording:
    """A recording of which the session says that all events were on."""
    return Recording(
        TASKS, (schedule,), PARTITIONS, block_records=block_records, start_seen=start_seen,
        events=frozenset(event.id for event in EVENTS.values()),
    )  # fmt: skip


def start(partition: int = MODULE, window: int = 2, task: int = MOS) -> tuple[str, int, dict[str, int]]:
    return "START", partition, {"window": window, "task": task, "run": 1}


def switch(task: int, reason: int = WINDOW_END, previous: int = MOS) -> tuple[str, int, dict[str, int]]:
    return "TASK_SWITCH", task, {"reason": reason, "previous": previous}


def release(task: int, nominal: int, activation: int, deadline: int = 0) -> tuple[str, int, dict[str, int]]:
    return "RELEASE", task, {"release": nominal, "deadline": deadline, "activation": activation}


def complete(task: int, activation: int) -> tuple[str, int, dict[str, int]]:
    return "COMPLETE", task, {"activation": activation}


def frame(start_time: int, number: int, schedule: int = 0) -> tuple[str, int, dict[str, int]]:
    return "MAJOR_FRAME", schedule, {"start": start_time, "frame": number}


def analyzed(
    rec: Recording, tmp_path: Path, drop: tuple[int, ...] = (), request: TimeRequest | None = None
) -> BootTime:
    with open_trace([rec.write(tmp_path / "s.pcapng", drop)]) as trace:
        assert isinstance(trace, StoredTrace)
        return analyze_time(trace, request).boots[0]


def partition(boot: BootTime, index: int) -> PartitionTime:
    return next(p for p in boot.partitions if p.index == index)


def task(boot: BootTime, index: int) -> TaskTime:
    return next(t for t in boot.tasks if t.index == index)


def window(boot: BootTime, index: int, stream: int = 0) -> WindowTime:
    return next(w for w in boot.windows if w.place is not None and w.place.window == index and w.stream == stream)


def certain(figure: Figure) -> int:
    assert figure.value is not None
    assert figure.lo == figure.value == figure.hi
    return figure.value


def both(figure: Figure) -> tuple[int | None, int | None]:
    return figure.lo, figure.hi


def parts(found: WindowTime) -> tuple[int, ...]:
    """Sums of margin, tasks, kernel, other, late."""
    return tuple(certain(s.total) for s in (found.margin, found.tasks, found.kernel, found.other, found.late))


def whole_frame(rec: Recording, at: int, number: int) -> None:
    """A frame with 3 us from the nominal start of a window to the partition switch and 5 more to the task switch."""
    rec.rows(
        [
            (at + 1, *frame(at, number)),
            (at + 2, "WINDOW", 0),
            (at + 3, "PARTITION_SWITCH", A),
            (at + 4, *release(WORK, at, number + 1, at + 350)),
            (at + 8, *switch(WORK, WINDOW_END, MOS)),
            (at + 108, *complete(WORK, number + 1)),
            (at + 110, *switch(A_IDLE, BLOCKED, WORK)),
            (at + 402, "WINDOW", 1),
            (at + 403, "PARTITION_SWITCH", B),
            (at + 404, *release(OTHER, at + 400, number + 1, at + 800)),
            (at + 408, *switch(OTHER, WINDOW_END, A_IDLE)),
            (at + 606, *complete(OTHER, number + 1)),
            (at + 608, *switch(B_IDLE, BLOCKED, OTHER)),
            (at + 802, "WINDOW", 2),
            (at + 803, "PARTITION_SWITCH", MODULE),
            (at + 808, *switch(MOS, WINDOW_END, B_IDLE)),
        ]
    )


def frames(count: int, block_records: int = 4) -> Recording:
    rec = recording(block_records=block_records)
    rec.rows([(900, *start())])
    for number in range(count):
        whole_frame(rec, 1000 + 1000 * number, number)
    # The module OS runs from 808 of the last frame on.
    rec.rows([(1000 + 1000 * count, "STOP", 0)])
    return rec
