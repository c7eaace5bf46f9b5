# SPDX-License-Identifier: Apache-2.0
"""Small sessions, event by event, with figures calculated by hand; the arithmetic stands beside each."""

from __future__ import annotations

from pathlib import Path

from tests.support.handmade import (
    BLOCKED,
    ENDED,
    LOW,
    MODULE,
    MOS,
    OTHER,
    PREEMPTED,
    TASKS,
    WINDOW_END,
    WORK,
    A,
    B,
    analyzed,
    both,
    certain,
    complete,
    frames,
    partition,
    parts,
    recording,
    release,
    start,
    switch,
    task,
    whole_frame,
    window,
)
from tests.support.recording import Record
from vxmon.wire.types import TaskEntry


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
