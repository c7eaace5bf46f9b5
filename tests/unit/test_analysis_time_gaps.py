# SPDX-License-Identifier: Apache-2.0
"""Sessions by hand: what was not recorded, partition modes, filters, boots and changes of schedule."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.handmade import (
    A_IDLE,
    BLOCKED,
    COLD_START,
    LOW,
    MODULE,
    MOS,
    NORMAL,
    PREEMPTED,
    SCHEDULE,
    TASKS,
    WINDOW_END,
    WORK,
    A,
    analyzed,
    both,
    certain,
    frame,
    frames,
    partition,
    parts,
    recording,
    start,
    switch,
    task,
    whole_frame,
    window,
)
from tests.support.recording import Record, Recording
from vxmon.analysis.figures import Figure
from vxmon.analysis.time.analyze import TimeRequest, analyze_time
from vxmon.trace import StoredTrace, open_trace
from vxmon.wire.types import Schedule, TaskEntry, Window


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
    from vxmon.trace.span import parse_span

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
