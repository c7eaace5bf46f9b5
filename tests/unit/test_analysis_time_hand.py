# SPDX-License-Identifier: Apache-2.0
"""Small sessions, event by event, with figures calculated by hand; the arithmetic stands beside each.

One tick is one microsecond. The module has a major frame of 1000 with windows A [0,400), B [400,800), SPARE
[800,1000). A has the tasks WORK (1), LOW (2) and its idle process A_IDLE (3), B has OTHER (4) and B_IDLE (5), the
module OS has MOS (0), which is its idle process.
"""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.recording import EVENTS, Record, Recording
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


def test_the_effective_execution_time_of_a_partition_is_the_sum_of_its_intervals(tmp_path: Path) -> None:
    """Partition A runs in [T1,T2], [T4,T5] and [T6,T7]; B and the module OS run between."""
    t1, t2, t3, t4, t5, t6, t7 = 100, 180, 230, 300, 350, 500, 620
    rec = recording()
    for row in (
        (50, *start()), (t1, "PARTITION_SWITCH", A, {}), (t1, *switch(WORK)),
        (t2, "PARTITION_SWITCH", B, {}), (t2, *switch(OTHER)), (t3, "PARTITION_SWITCH", MODULE, {}), (t3, *switch(MOS)),
        (t4, "PARTITION_SWITCH", A, {}), (t4, *switch(WORK)), (t5, "PARTITION_SWITCH", MODULE, {}), (t5, *switch(MOS)),
        (t6, "PARTITION_SWITCH", A, {}), (t6, *switch(WORK)), (t7, "PARTITION_SWITCH", B, {}), (t7, *switch(OTHER)),
        (700, "STOP", 0, {}),
    ):  # fmt: skip
        rec.rows([row])
    boot = analyzed(rec, tmp_path)
    # (180 - 100) + (350 - 300) + (620 - 500) = 80 + 50 + 120
    assert certain(partition(boot, A).total) == 250
    assert certain(task(boot, WORK).total) == 250
    # (230 - 180) + (700 - 620) = 50 + 80; the module OS: (100 - 50) + (300 - 230) + (500 - 350) = 50 + 70 + 150
    assert certain(partition(boot, B).total) == 130
    assert certain(partition(boot, MODULE).total) == 270
    # All of it: 700 - 50 = 650 = 250 + 130 + 270.
    assert boot.cpus[0].observed == 650


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


def test_the_parts_of_a_window_add_up_to_its_budget(tmp_path: Path) -> None:
    boot = analyzed(frames(2), tmp_path)
    # A's window [0,400): late 3 (partition switch at 3), kernel 5 (task switch at 8), WORK 8..110 = 102, idle 110..400
    # = 290; 3 + 5 + 102 + 290 = 400. Twice.
    assert parts(window(boot, 0)) == (580, 204, 10, 0, 6)
    # B [400,800): late 3, kernel 5, OTHER 408..608 = 200, idle 608..800 = 192.
    assert parts(window(boot, 1)) == (384, 400, 10, 0, 6)
    # SPARE [800,1000): late 3, kernel 5, MOS (idle) 808..1000 = 192.
    assert parts(window(boot, 2)) == (384, 0, 10, 0, 6)
    for index, budget in ((0, 400), (1, 400), (2, 200)):
        found = window(boot, index)
        assert certain(found.occurrences) == 2
        assert certain(found.used.total) + certain(found.margin.total) == 2 * budget
        assert found.parts_total == found.budget_total == 2 * budget
    # used = 400 - 290 = 110
    assert certain(window(boot, 0).used.most) == 110
    # The WINDOW records come 2 after the nominal starts.
    assert certain(window(boot, 0).start_delay.most) == 2
    # A has the processor until 403, its window ends at 400.
    assert certain(window(boot, 0).overrun.most) == 3
    assert boot.notes == []


def test_activations_execution_and_response(tmp_path: Path) -> None:
    boot = analyzed(frames(2), tmp_path)
    work = task(boot, WORK)
    assert certain(work.activations) == certain(work.completed) == 2
    # Runs from 8, completes at 108: 100; from the nominal release at 0: 108. After COMPLETE it runs 2 more.
    assert (certain(work.execution.least), certain(work.execution.most)) == (100, 100)
    assert certain(work.response.most) == 108
    assert certain(work.total) == 204
    assert certain(work.deadline_misses) == 0
    # OTHER: runs from 408, completes at 606: 198; nominal release 400: 206.
    assert certain(task(boot, OTHER).execution.most) == 198
    assert certain(task(boot, OTHER).response.most) == 206


def test_windows_at_the_edges_are_counted_and_left_out(tmp_path: Path) -> None:
    rec = recording()
    whole_frame(rec, 1000, 0)
    rec.records = [r for r in rec.records if r.time <= 1606]
    rec.rows([(1700, "STOP", 0)])
    rec.records.insert(0, recording_start(900))
    boot = analyzed(rec, tmp_path)
    # Window A [1000,1400) is whole, B [1400,1800) is cut at 1700, SPARE never came.
    assert certain(window(boot, 0).occurrences) == 1
    assert certain(window(boot, 1).occurrences) == 0
    assert boot.cpus[0].edges == 1
    # OTHER runs from 1408 to the end of recording at 1700.
    assert certain(task(boot, OTHER).total) == 292


def recording_start(time: int) -> Record:
    rec = recording()
    rec.rows([(time, *start())])
    return rec.records[0]


def test_an_interval_across_a_loss_is_unknown(tmp_path: Path) -> None:
    rec = recording(block_records=2)
    rec.rows(
        [
            (100, *start()),
            (200, "PARTITION_SWITCH", A),
            (200, *switch(WORK)),
            (260, "USER_POINT", 1),
            (300, *switch(LOW, PREEMPTED, WORK)),
            (340, *switch(WORK, BLOCKED, LOW)),
            (400, "USER_POINT", 2),
            (450, "STOP", 0),
        ]
    )
    # Without the third block nothing is known between 260 and 400. WORK: 200..260 and, by the head of the fourth
    # block, 400..450: 60 + 50 = 110; the truth is 110 + 40 + 60 = 210. Unknown: 400 - 260 = 140.
    boot = analyzed(rec, tmp_path, drop=(2,))
    assert both(task(boot, WORK).total) == (110, 250)
    assert both(task(boot, LOW).total) == (0, 140)
    assert boot.cpus[0].unknown == 140
    # Two records are lost: LOW may have been dispatched twice.
    assert both(task(boot, LOW).dispatches) == (0, 2)
    whole = analyzed(rec, tmp_path)
    assert certain(task(whole, WORK).total) == 210
    assert certain(task(whole, LOW).total) == 40


def test_the_low_half_of_the_clock_wraps(tmp_path: Path) -> None:
    at = (1 << 32) - 50
    rec = recording()
    rec.rows(
        [
            (at, *start()),
            (at + 10, *switch(WORK)),
            (at + 100, *switch(MOS, BLOCKED, WORK)),
            (at + 130, *switch(WORK)),
            (at + 170, "STOP", 0),
        ]
    )
    boot = analyzed(rec, tmp_path)
    # 10..100, across the wrap at 50, and 130..170: 90 + 40
    assert certain(task(boot, WORK).total) == 130
    assert boot.cpus[0].observed == 170


def test_nested_interrupts_are_of_which_and_not_subtracted(tmp_path: Path) -> None:
    rec = frames(1)
    rec.rows(
        [
            # In WORK: 20..30 with another inside, 22..25; in A_IDLE: 200..215.
            (1020, "INT_ENTR", 1),
            (1022, "INT_ENTR", 2),
            (1025, "INT_EXIT", 2),
            (1030, "INT_EXIT", 1),
            (1200, "INT_ENTR", 1),
            (1215, "INT_EXIT", 1),
        ]
    )
    rec.records.sort(key=lambda r: r.time)
    boot = analyzed(rec, tmp_path)
    found = window(boot, 0)
    # Outermost: 10 + 15 = 25. The margin stays 290; net of what was in the idle process: 290 - 15 = 275.
    assert certain(found.interrupts.total) == 25
    assert certain(found.margin.total) == 290
    assert certain(found.margin_net.total) == 275
    assert certain(task(boot, WORK).total) == 102


def test_margin_net_exists_only_where_interrupts_were_recorded(tmp_path: Path) -> None:
    boot = analyzed(frames(1).without("INT_ENTR", "INT_EXIT"), tmp_path)
    assert window(boot, 0).margin_net.total.status == "not_recorded"
    assert window(boot, 0).interrupts.total.status == "not_recorded"
    assert certain(window(boot, 0).margin.total) == 290


def test_two_cpus_have_states_of_their_own(tmp_path: Path) -> None:
    rec = recording()
    rec.rows([(100, *start()), (200, *switch(WORK)), (300, *switch(MOS, BLOCKED, WORK)), (500, "STOP", 0)])
    rec.rows([(100, *start()), (250, *switch(OTHER)), (310, *switch(WORK, BLOCKED, OTHER)), (400, "STOP", 0)], stream=1)
    boot = analyzed(rec, tmp_path)
    # WORK: CPU 0 200..300, then CPU 1 310..400: 100 + 90. OTHER: CPU 1 250..310.
    assert certain(task(boot, WORK).total) == 190
    assert certain(task(boot, OTHER).total) == 60
    # CPU 0 idles 100..200 and 300..500, CPU 1 100..250.
    assert [cpu.idle for cpu in boot.cpus] == [300, 150]
    assert [cpu.observed for cpu in boot.cpus] == [400, 300]


def test_a_reused_os_handle_is_another_task(tmp_path: Path) -> None:
    rec = recording()
    rec.tasks = (*TASKS, TaskEntry(6, A, "OLD", handle=0x1234, deleted=True), TaskEntry(7, A, "NEW", handle=0x1234))
    rec.rows(
        [
            (100, *start()),
            (110, *switch(6)),
            (150, *switch(MOS, ENDED, 6)),
            (160, "TASK_DELETE", 6, {"handle": 0x1234}),
            (170, "TASK_CREATE", 7, {"partition": A, "handle": 0x1234}),
            (180, *switch(7)),
            (200, "STOP", 0),
        ]
    )
    boot = analyzed(rec, tmp_path)
    assert certain(task(boot, 6).total) == 40
    assert certain(task(boot, 7).total) == 20


def test_a_wake_before_the_switch_at_the_same_instant(tmp_path: Path) -> None:
    rec = recording()
    rec.rows(
        [
            (100, *start()),
            (200, *release(WORK, 200, 1)),
            (200, *switch(WORK)),
            (200, *switch(LOW, PREEMPTED, WORK)),
            (200, *switch(WORK, BLOCKED, LOW)),
            (240, *complete(WORK, 1)),
            (240, *switch(MOS, BLOCKED, WORK)),
            (300, "STOP", 0),
        ]
    )
    boot = analyzed(rec, tmp_path)
    # Two empty intervals at 200; WORK runs 200..240.
    assert certain(task(boot, WORK).execution.most) == 40
    assert certain(task(boot, WORK).response.most) == 40
    assert certain(task(boot, WORK).dispatches) == 2
    assert certain(task(boot, LOW).total) == 0


def test_a_preemption_is_inside_one_partition_and_the_end_of_a_window_is_none(tmp_path: Path) -> None:
    rec = recording()
    rec.rows(
        [
            (100, *start()),
            (110, "PARTITION_SWITCH", A),
            (110, *release(LOW, 100, 1)),
            (110, *switch(LOW)),
            (150, *release(WORK, 150, 1)),
            (150, *switch(WORK, PREEMPTED, LOW)),
            (180, *complete(WORK, 1)),
            (180, *switch(LOW, BLOCKED, WORK)),
            (200, "PARTITION_SWITCH", B),
            (200, *switch(OTHER, WINDOW_END, LOW)),
            (300, "PARTITION_SWITCH", A),
            (300, *switch(LOW, WINDOW_END, OTHER)),
            (325, *complete(LOW, 1)),
            (330, "STOP", 0),
        ]
    )
    low = task(analyzed(rec, tmp_path), LOW)
    assert certain(low.preemptions) == 1
    # 110..150, 180..200, 300..325: 40 + 20 + 25 = 85. Response 325 - 100.
    assert certain(low.execution.most) == 85
    assert certain(low.response.most) == 225


def test_deadlines_met_missed_moved_and_passed_without_completion(tmp_path: Path) -> None:
    rec = recording()
    rec.rows(
        [
            (0, *start()),
            # 1: in time. 2: late by 1. 3: at the deadline is in time.
            (100, *release(WORK, 100, 1, 150)),
            (140, *complete(WORK, 1)),
            (200, *release(WORK, 200, 2, 250)),
            (251, *complete(WORK, 2)),
            (300, *release(WORK, 300, 3, 350)),
            (350, *complete(WORK, 3)),
            # 4: the deadline was moved from 450 to 480 before it passed.
            (400, *release(WORK, 400, 4, 450)),
            (440, "DEADLINE", WORK, {"deadline": 480, "kind": 0, "activation": 4}),
            (470, *complete(WORK, 4)),
            # LOW: stopped before its deadline; then not complete at 660, when it had passed at 650.
            (500, *release(LOW, 500, 1, 560)),
            (530, "TASK_STATE", LOW, {"state": 0, "previous": 1}),
            (600, *release(LOW, 600, 2, 650)),
            (660, "STOP", 0),
        ]
    )
    boot = analyzed(rec, tmp_path)
    assert certain(task(boot, WORK).deadline_misses) == 1
    assert certain(task(boot, LOW).deadline_misses) == 1
    # LOW's first was cut by the stop, its second by the end of recording.
    assert task(boot, LOW).cut == 2


def test_a_stream_that_is_joined_late_begins_with_what_its_block_says(tmp_path: Path) -> None:
    rec = recording(block_records=2, start_seen=False)
    rec.rows(
        [
            (100, *start()),
            (110, "PARTITION_SWITCH", A),
            (110, *switch(WORK)),
            (120, "USER_POINT", 1),
            (150, "USER_POINT", 2),
            (180, *switch(MOS, BLOCKED, WORK)),
            (190, "USER_POINT", 3),
            (200, "STOP", 0),
        ]
    )
    boot = analyzed(rec, tmp_path, drop=(0, 1))
    # The first block that is there begins at 150 with WORK running: 150..180. Nothing of it is lost; it was before.
    assert certain(task(boot, WORK).total) == 30
    assert boot.cpus[0].observed == 50


def test_between_two_runs_nothing_is_counted(tmp_path: Path) -> None:
    rec = recording()
    rec.rows([(100, *start()), (150, *switch(WORK)), (200, "STOP", 0)])
    rec.add(500, "START", MODULE, run=2, window=2, task=WORK)
    rec.add(530, "TASK_SWITCH", MOS, run=2, reason=BLOCKED, previous=WORK)
    rec.add(600, "STOP", 0, run=2)
    boot = analyzed(rec, tmp_path)
    # 150..200 and 500..530
    assert certain(task(boot, WORK).total) == 80
    assert boot.cpus[0].observed == 100 + 100


def test_a_partition_that_is_not_normal_has_no_margin(tmp_path: Path) -> None:
    rec = frames(3)
    rec.add(1500, "PARTITION_MODE", A, mode=COLD_START, previous=NORMAL)
    rec.add(2900, "PARTITION_MODE", A, mode=NORMAL, previous=COLD_START)
    rec.records.sort(key=lambda r: r.time)
    found = window(analyzed(rec, tmp_path), 0)
    # Of the windows at 1000, 2000 and 3000 the second is in COLD_START.
    assert certain(found.occurrences) == 2
    assert found.not_normal == 1


def test_a_mode_that_is_told_late_holds_for_the_windows_before(tmp_path: Path) -> None:
    rec = frames(3)
    rec.add(2900, "PARTITION_MODE", A, mode=NORMAL, previous=COLD_START)
    rec.records.sort(key=lambda r: r.time)
    found = window(analyzed(rec.without("RELEASE"), tmp_path), 0)
    assert certain(found.occurrences) == 1
    assert found.not_normal == 2


def test_two_windows_of_one_partition_in_a_row(tmp_path: Path) -> None:
    rec = recording(schedule=Schedule(0, 400, (Window(A, True, 0, 100), Window(A, False, 100, 300))))
    rec.rows(
        [
            (0, *start(A, 1, A_IDLE)),
            (401, *frame(400, 1)),
            (402, "WINDOW", 0),
            (410, *switch(WORK, PREEMPTED, A_IDLE)),
            (502, "WINDOW", 1),
            (550, *switch(A_IDLE, BLOCKED, WORK)),
            (801, *frame(800, 2)),
            (802, "WINDOW", 0),
            (1000, "STOP", 0),
        ]
    )
    boot = analyzed(rec, tmp_path)
    # [400,500): idle 400..410 = 10, WORK 90. [500,800): WORK 50, idle 250. [800,900): all idle. Nobody starts late.
    assert parts(window(boot, 0)) == (10 + 100, 90, 0, 0, 0)
    assert parts(window(boot, 1)) == (250, 50, 0, 0, 0)
    assert certain(window(boot, 0).overrun.most) == 0


@pytest.mark.parametrize(
    "off",
    [("INT_ENTR", "INT_EXIT"), ("KER_CALL", "KER_EXIT"), ("RELEASE", "COMPLETE"), ("WINDOW",), ("USER_POINT",)],
)
def test_switching_an_event_off_changes_no_other_figure(off: tuple[str, ...], tmp_path: Path) -> None:
    rec = frames(3)
    rec.rows([(1020, "INT_ENTR", 1), (1030, "INT_EXIT", 1), (1060, "USER_POINT", 4)])
    rec.records.sort(key=lambda r: r.time)
    all_on, some_off = analyzed(rec, tmp_path), analyzed(rec.without(*off), tmp_path)
    for index in range(3):
        assert parts(window(some_off, index)) == parts(window(all_on, index))
        assert window(some_off, index).overrun == window(all_on, index).overrun
    for index in range(6):
        assert task(some_off, index).total == task(all_on, index).total
        assert task(some_off, index).preemptions == task(all_on, index).preemptions
    if "RELEASE" not in off:
        assert task(some_off, WORK).execution == task(all_on, WORK).execution


def test_without_task_switches_late_starts_stay_and_margins_are_not_recorded(tmp_path: Path) -> None:
    all_on, off = analyzed(frames(3), tmp_path), analyzed(frames(3).without("TASK_SWITCH"), tmp_path)
    for index in range(3):
        assert window(off, index).late == window(all_on, index).late
        assert window(off, index).overrun == window(all_on, index).overrun
        assert window(off, index).margin.total == Figure.none()
    assert task(off, WORK).total == Figure.none()
    assert partition(off, A).total == partition(all_on, A).total


def test_a_switch_event_filtered_for_a_while_leaves_a_range(tmp_path: Path) -> None:
    rec = recording()
    rec.rows(
        [
            (100, *start()),
            (110, *switch(WORK)),
            (150, "FILTER", 64, {"state": 0}),
            (190, "FILTER", 64, {"state": 1}),
            (200, *switch(LOW, BLOCKED, WORK)),
            (230, *switch(MOS, BLOCKED, LOW)),
            (300, "STOP", 0),
        ]
    )
    boot = analyzed(rec, tmp_path)
    # From 150 to the next switch at 200 nobody says who runs. WORK: 40 and up to 50 more.
    assert both(task(boot, WORK).total) == (40, 90)
    assert both(task(boot, LOW).total) == (30, 80)


def test_a_frame_whose_record_is_lost_is_put_back(tmp_path: Path) -> None:
    """Four records a block: [START, frame, WINDOW, switch] is block 0; block 4 is [frame 1 ...] of the second frame."""
    rec = frames(3, block_records=4)
    numbers = [i // 4 for i, r in enumerate(rec.records) if r.name == "MAJOR_FRAME" and r.time == 2001]
    boot = analyzed(rec, tmp_path, drop=tuple(numbers))
    whole = analyzed(rec, tmp_path)
    found, truth = window(boot, 0), window(whole, 0)
    # Frames 0 and 2 say where frame 1 was: 1000 + 1000. Its window A is partly unknown; still three occurrences.
    assert certain(found.occurrences) == certain(truth.occurrences) == 3
    assert found.margin.total.lo is not None
    assert found.margin.total.hi is not None
    assert found.margin.total.lo <= certain(truth.margin.total) <= found.margin.total.hi
    assert found.margin.total.in_doubt or found.late.total.in_doubt


def test_only_a_window_of_time(tmp_path: Path) -> None:
    from vxmon.analysis.span import parse_span

    # The first record is at 900: 1.1 ms after it is 2000, 2.1 ms after it 3000.
    boot = analyzed(frames(4), tmp_path, request=TimeRequest(span=parse_span("1100us..2100us")))
    assert certain(window(boot, 0).occurrences) == 1
    assert certain(task(boot, WORK).total) == 102
    assert boot.cpus[0].observed == 1000


def test_a_background_process_is_margin(tmp_path: Path) -> None:
    boot = analyzed(frames(1), tmp_path, request=TimeRequest(background=["WORK"]))
    # WORK's 102 and the idle process's 290
    assert certain(window(boot, 0).margin.total) == 392


def test_two_boots_are_two_sets_of_figures(tmp_path: Path) -> None:
    paths = []
    for boot, until in ((1, 150), (2, 190)):
        rec = recording()
        rec.boot = boot
        rec.rows([(100, *start()), (110, *switch(WORK)), (until, "STOP", 0)])
        paths.append(rec.write(tmp_path / f"{boot}.pcapng"))
    with open_trace(paths) as trace:
        assert isinstance(trace, StoredTrace)
        found = analyze_time(trace).boots
    assert [certain(task(boot, WORK).total) for boot in found] == [40, 80]


def test_a_task_that_only_its_creation_tells_of(tmp_path: Path) -> None:
    rec = frames(1)
    rec.tasks = [t for t in TASKS if t.index != WORK]
    rec.records.insert(
        1, Record(950, "TASK_CREATE", WORK, {"partition": A, "priority": 5, "handle": 0, "stack_size": 0})
    )
    found = window(analyzed(rec, tmp_path), 0)
    assert parts(found) == (290, 102, 5, 0, 3)


def test_without_an_idle_process_there_is_no_margin(tmp_path: Path) -> None:
    rec = frames(1)
    rec.tasks = [TaskEntry(t.index, t.partition, t.name, period=t.period) for t in TASKS]
    boot = analyzed(rec, tmp_path)
    assert window(boot, 0).margin.total == Figure.none()
    assert "A: no idle process is known, so its margin is not; name its background processes" in boot.notes
    # The idle process's 290 are then a task's.
    assert certain(window(boot, 0).tasks.total) == 392
    named = analyzed(rec, tmp_path, request=TimeRequest(background=["A_IDLE"]))
    assert certain(window(named, 0).margin.total) == 290


def two_schedules() -> Recording:
    """Frame 1 runs schedule 0, frame 2 (from 2000 on) schedule 1, in which A has [0,100) and the module OS the rest."""
    rec = recording()
    rec.schedules = (SCHEDULE, Schedule(1, 500, (Window(A, True, 0, 100), Window(MODULE, False, 100, 400))))
    rec.rows([(900, *start())])
    whole_frame(rec, 1000, 0)
    rec.rows(
        [
            (1900, "SCHEDULE", 1, {"previous": 0}),
            (2001, *frame(2000, 1, 1)),
            (2002, "WINDOW", 0),
            (2003, "PARTITION_SWITCH", A),
            (2005, *switch(A_IDLE)),
            (2101, "WINDOW", 1),
            (2102, "PARTITION_SWITCH", MODULE),
            (2104, *switch(MOS, WINDOW_END, A_IDLE)),
            (2500, "STOP", 0),
        ]
    )
    return rec


def test_a_change_of_schedule(tmp_path: Path) -> None:
    boot = analyzed(two_schedules(), tmp_path)
    places = {(w.place.schedule, w.place.window): w for w in boot.windows if w.place is not None}
    assert parts(places[0, 0]) == (290, 102, 5, 0, 3)
    # [2000,2100): 3 late, 2 kernel, then idle: 95. The module OS has [2100,2500): 2 late, 2 kernel, 396 idle.
    assert parts(places[1, 0]) == (95, 0, 2, 0, 3)
    assert parts(places[1, 1]) == (396, 0, 2, 0, 2)
    assert boot.notes == []
    # A's figures are over both of its windows: 290 + 95.
    windows = partition(boot, A).windows
    assert windows is not None
    assert certain(windows.margin.total) == 385


def test_a_frame_that_comes_too_early_is_told(tmp_path: Path) -> None:
    rec = frames(1)
    rec.rows([(1900, *frame(1900, 1))])
    rec.records.sort(key=lambda r: r.time)
    boot = analyzed(rec, tmp_path)
    assert boot.notes == ["CPU 0: 1 major frames do not follow each other as the schedule says"]
