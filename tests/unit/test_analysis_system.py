# SPDX-License-Identifier: Apache-2.0
"""``analyze system`` of small sessions, event by event, with what must be told worked out by hand beside each."""

from __future__ import annotations

import random
from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.faults import error, faulty
from tests.support.handmade import (
    A_IDLE,
    LOW,
    MODULE,
    NORMAL,
    WORK,
    A,
    B,
    both,
    certain,
    recording,
    start,
    switch,
    whole_frame,
)
from tests.support.recording import EVENTS, Record, Recording
from tests.support.scheduling import random_session
from vxmon.analysis import walk
from vxmon.analysis.scene import Scope
from vxmon.analysis.system.analyze import SystemRequest, analyze_system
from vxmon.analysis.system.named import named_figures
from vxmon.analysis.system.result import BootSystem, Category, Fault, Kind
from vxmon.trace import StoredTrace, open_trace
from vxmon.trace.batches import batched
from vxmon.trace.columns import Chunk
from vxmon.trace.span import parse_span
from vxmon.wire.types import NOT_KNOWN

DEADLINE_MISSED, NUMERIC_ERROR, HARDWARE_FAULT = 0, 2, 6
TIMER = 256


def analyzed(
    rec: Recording, tmp_path: Path, drop: tuple[int, ...] = (), request: SystemRequest | None = None
) -> BootSystem:
    with open_trace([rec.write(tmp_path / "s.pcapng", drop)]) as trace:
        assert isinstance(trace, StoredTrace)
        return analyze_system(trace, request).boots[0]


def kind(category: Category, name: str, partition: int | None = None) -> Kind:
    rows = category.kinds if partition is None else category.by_partition
    return next(k for k in rows if (k.name, k.partition) == (name, partition))


def only(boot: BootSystem) -> Fault:
    (fault,) = boot.faults
    return fault


# ---------------------------------------------------------------- circumstances


def test_the_circumstances_of_a_fault(tmp_path: Path) -> None:
    boot = analyzed(faulty(), tmp_path)
    fault = only(boot)
    assert (fault.name, fault.entry, fault.of_partition, fault.of_task) == ("NUMERIC_ERROR", 41, A, WORK)
    assert (fault.level, fault.action, fault.subcode, fault.address) == ("process", "handler", 7, 0x1234)
    assert (fault.partition, fault.task, fault.depth) == (A, WORK, 0)
    # Window 0 of frame 1 begins at 2000 and lasts 400; the fault is at 2050.
    assert (fault.schedule, fault.window, fault.frame, fault.offset, fault.budget) == (0, 0, 1, 50, 400)
    # A_IDLE runs from 2110 to the end of the window at 2400.
    assert certain(fault.margin) == 290
    assert (fault.released, fault.activation, fault.completed) == (2000, 2, False)
    assert fault.memory is not None
    assert (fault.memory.time, fault.memory.free, fault.memory.largest) == (2010, 700, 500)
    (message,) = fault.messages
    assert (message.time, message.sent, message.object, message.number, message.result) == (2020, True, 9, 5, "ok")
    (interrupt,) = fault.interrupts
    assert (interrupt.time, interrupt.number, interrupt.vector, interrupt.ip) == (2030, TIMER, 10, 0xABC)
    assert fault.exception is not None
    assert (fault.exception.time, fault.exception.vector, fault.exception.ip) == (2045, 6, 12)
    assert fault.lost_before is None
    assert fault.absent == {
        "messages": "none since the recording began", "interrupts": "none since the recording began",
    }  # fmt: skip


def test_the_size_of_blocks_does_not_show(tmp_path: Path) -> None:
    assert only(analyzed(faulty(1), tmp_path)) == only(analyzed(faulty(50), tmp_path))


def test_behind_a_loss_what_the_loss_may_have_changed_is_unknown(tmp_path: Path) -> None:
    """In blocks of one record all from RELEASE (2004) to INT_EXIT (2036) are missing; block heads tell who runs."""
    rec = faulty(1)
    begin = next(n for n, r in enumerate(rec.records) if r.time == 2004)
    end = next(n for n, r in enumerate(rec.records) if r.time == 2036)
    fault = only(analyzed(rec, tmp_path, drop=tuple(range(begin, end + 1))))
    # What is lost lies between 2003 and 2045.
    assert fault.lost_before == 5
    assert (fault.partition, fault.task, fault.window, fault.frame, fault.offset) == (A, WORK, 0, 1, 50)
    lost = "unknown: records were lost before"
    assert (fault.released, fault.activation, fault.memory, fault.messages, fault.interrupts) == (
        None,
        None,
        None,
        (),
        (),
    )
    assert {fault.absent[name] for name in ("released", "memory", "messages", "interrupts")} == {lost}
    # Idle ran for 290; in the 42 that are unknown it may have run too.
    assert both(fault.margin) == (290, 290 + 42)


def test_behind_a_loss_of_the_frame_there_is_no_window(tmp_path: Path) -> None:
    """All from the second frame's begin to the exception is missing, and no third frame tells where it was."""
    rec = faulty(1)
    begin = next(n for n, r in enumerate(rec.records) if r.time == 2001)
    end = next(n for n, r in enumerate(rec.records) if r.time == 2036)
    fault = only(analyzed(rec, tmp_path, drop=tuple(range(begin, end + 1))))
    # The head of the block says who runs in which window, but not when that window began.
    assert (fault.partition, fault.task, fault.window) == (A, WORK, 0)
    assert (fault.offset, fault.frame, fault.schedule) == (None, None, None)
    assert fault.absent["window"] == fault.absent["margin"] == "unknown: records were lost before"


def test_what_was_not_recorded_is_called_so(tmp_path: Path) -> None:
    rec = faulty().without("RELEASE", "MEM_SAMPLE", "MEM_SWITCH", "MSG_SEND", "MSG_RECEIVE", "INT_ENTR", "WINDOW")
    fault = only(analyzed(rec, tmp_path))
    names = ("released", "memory", "messages", "interrupts", "window", "margin")
    assert {name: fault.absent[name] for name in names} == dict.fromkeys(names, "not recorded")
    assert fault.exception is not None


def test_an_error_of_another_than_who_runs(tmp_path: Path) -> None:
    """The hardware's error is of B while WORK of A runs; what came before is told of B, the release of WORK."""
    rec = faulty()
    rec.records = [
        Record(r.time, r.name, B, {**r.values, "code": HARDWARE_FAULT, "task": NOT_KNOWN})
        if r.name == "HM_EVENT"
        else r
        for r in rec.records
    ]
    boot = analyzed(rec, tmp_path)
    fault = next(f for f in boot.faults if f.code is not None)
    assert (fault.of_partition, fault.of_task, fault.partition, fault.task) == (B, None, A, WORK)
    assert fault.released == 2000
    assert (fault.memory, fault.messages, fault.exception) == (None, (), None)
    # The exception led to no error of its task: it is a fault of its own.
    alone = next(f for f in boot.faults if f.code is None)
    assert (alone.name, alone.time, alone.of_task, alone.offset) == ("exception 6", 2045, WORK, 45)


def test_a_partition_that_runs_past_its_window(tmp_path: Path) -> None:
    """The fault is at 1401: B's window has begun at 1400, but A has the processor until 1403."""
    rec = recording()
    rec.rows([(900, *start())])
    whole_frame(rec, 1000, 0)
    at = next(n for n, r in enumerate(rec.records) if r.time == 1402)
    rec.records.insert(at, Record(1401, "HM_EVENT", A, {**error(DEADLINE_MISSED, WORK)}))
    rec.rows([(2000, "STOP", 0)])
    fault = only(analyzed(rec, tmp_path))
    assert (fault.window, fault.offset, fault.budget, fault.partition, fault.task) == (0, 401, 400, A, A_IDLE)
    # WORK completed at 1108 what was released at 1000.
    assert (fault.released, fault.completed) == (1000, True)


def test_a_partition_that_is_restarted_has_no_margin(tmp_path: Path) -> None:
    rec = faulty()
    at = next(n for n, r in enumerate(rec.records) if r.name == "HM_EVENT")
    rec.records.insert(at + 1, Record(2051, "PARTITION_MODE", A, {"mode": 1, "previous": NORMAL}))
    fault = only(analyzed(rec, tmp_path))
    assert fault.margin.status == "not_recorded"
    assert fault.absent["margin"] == "none: the partition was not in NORMAL mode"


def test_a_window_that_the_end_cuts_has_no_margin(tmp_path: Path) -> None:
    rec = faulty()
    rec.records = [r for r in rec.records if r.time <= 2050]
    rec.rows([(2060, "STOP", 0)])
    fault = only(analyzed(rec, tmp_path))
    assert (fault.window, fault.offset) == (0, 50)
    assert "cuts the window" in fault.absent["margin"]


def test_switches_at_the_very_tick_of_a_fault(tmp_path: Path) -> None:
    """Records are in order even where their times are equal: WORK runs at the first error, LOW at the second."""
    rec = recording(block_records=1)
    rec.rows([(900, *start()), (1000, *switch(WORK))])
    for row in ((error(0, entry=1), switch(LOW)), (error(0, entry=2), switch(A_IDLE))):
        rec.rows([(1100, "HM_EVENT", A, row[0]), (1100, *row[1])])
    rec.rows([(1200, "STOP", 0)])
    boot = analyzed(rec, tmp_path)
    assert [(f.entry, f.task) for f in boot.faults] == [(1, WORK), (2, LOW)]


# ---------------------------------------------------------------- counts and rates


def test_an_error_that_never_came_is_0_and_one_that_was_not_recorded_is_none(tmp_path: Path) -> None:
    hm = analyzed(faulty(), tmp_path).category("hm")
    assert certain(kind(hm, "NUMERIC_ERROR").count) == certain(kind(hm, "NUMERIC_ERROR", A).count) == 1
    assert certain(kind(hm, "POWER_FAIL").count) == certain(kind(hm, "NUMERIC_ERROR", B).count) == 0
    hm = analyzed(faulty().without("HM_EVENT"), tmp_path).category("hm")
    assert hm.total.count.status == kind(hm, "POWER_FAIL").count.status == "not_recorded"
    assert kind(hm, "POWER_FAIL").most_rate.status == "not_recorded"


def test_what_was_switched_off_for_a_while_has_no_upper_bound(tmp_path: Path) -> None:
    rec = faulty()
    rec.records.insert(2, Record(1002, "FILTER", EVENTS["HM_EVENT"].id, {"state": 0}))
    boot = analyzed(rec, tmp_path)
    assert both(boot.category("hm").total.count) == (1, None)
    assert any("for a part of the time only" in note for note in boot.notes)


def dense(block_records: int = 1) -> Recording:
    """Interrupts at 1000, 1100, 1150, 1180 and 3000, each for 5; observed from 0 to 4000."""
    rec = recording(block_records=block_records)
    rec.rows([(0, *start())])
    for at in (1000, 1100, 1150, 1180, 3000):
        rec.rows([(at, "INT_ENTR", TIMER, {"vector": 10, "ip": 0}), (at + 5, "INT_EXIT", TIMER)])
    rec.rows([(4000, "STOP", 0)])
    return rec


def test_mean_and_largest_rate(tmp_path: Path) -> None:
    """5 in 4 ms are 1250 a second; within 100 us [1100, 1200) there are 3, which are 30000 a second."""
    boot = analyzed(dense(), tmp_path, request=SystemRequest(rate_ns=100_000))
    timer = kind(boot.category("interrupt"), "256")
    assert certain(timer.count) == 5
    assert certain(timer.mean_rate) == 1_250_000
    assert (certain(timer.most_rate), timer.worst_at) == (30_000_000, 1100)
    assert (timer.first, timer.last) == (1000, 3000)
    # Twentieths of 4000 are 200 long: 1000..1200 has four, 3000..3200 one.
    assert {place: count for place, count in enumerate(timer.over_time) if count} == {5: 4, 15: 1}
    # They came while the module OS ran.
    assert certain(kind(boot.category("interrupt"), "256", MODULE).count) == 5
    assert certain(boot.interrupts[0].duration.most) == 5


def test_a_span_longer_than_what_was_observed_is_as_long_as_that(tmp_path: Path) -> None:
    boot = analyzed(dense(), tmp_path)
    assert boot.rate_span == 4000
    assert certain(boot.category("interrupt").total.most_rate) == 1_250_000


def test_rates_and_durations_under_loss_hold_the_truth(tmp_path: Path) -> None:
    """The records at 1105 (exit), 1150, 1155 are missing: three, which may all have been entries within 100 us."""
    rec = dense()
    drop = tuple(n for n, r in enumerate(rec.records) if 1105 <= r.time <= 1155)
    boot = analyzed(rec, tmp_path, drop, SystemRequest(rate_ns=100_000))
    timer = kind(boot.category("interrupt"), "256")
    assert both(timer.count) == (4, 4 + 3)
    # [1000, 1100) has 1, [1100, 1200) 2; and up to 3 more.
    assert both(timer.most_rate) == (20_000_000, 50_000_000)
    # From the entry at 1100 to the exit at 1185: the loss ends at 1180, where the next interrupt is entered at once.
    assert both(boot.interrupts[0].duration.most) == (5, 85)


def test_only_a_window_of_time(tmp_path: Path) -> None:
    """[1100, 1160) after the first record at 0 has two interrupts."""
    boot = analyzed(dense(), tmp_path, request=SystemRequest(Scope(span=parse_span("1100us..1160us"))))
    assert certain(boot.category("interrupt").total.count) == 2
    assert boot.observed == 60


def test_edr_by_severity_and_facility(tmp_path: Path) -> None:
    rec = recording()
    rec.rows([(0, *start())])
    for at, value in ((10, 0x202), (20, 0x22), (30, 0x44)):
        rec.rows([(at, "EDR_EVENT", A, {"kind": value, "task": WORK})])
    rec.rows([(100, "STOP", 0)])
    edr = analyzed(rec, tmp_path).category("edr")
    counts = {k.name: certain(k.count) for k in edr.kinds}
    assert counts == {
        "FATAL": 0, "NONFATAL": 2, "WARNING": 0, "INFO": 1, "NONFATAL+USER": 1, "NONFATAL+INTERRUPT": 1, "INFO+BOOT": 1,
    }  # fmt: skip


def test_figures_have_names_that_differ(tmp_path: Path) -> None:
    with open_trace([faulty().write(tmp_path / "s")]) as trace:
        assert isinstance(trace, StoredTrace)
        named = list(named_figures(analyze_system(trace), trace.facts))
    by_name = {figure.name: figure for figure in named}
    assert len(by_name) == len(named)
    for name, value in (
        ("hm.count", 1), ("hm.NUMERIC_ERROR.count", 1), ("hm.NUMERIC_ERROR.A.count", 1), ("hm.POWER_FAIL.B.count", 0),
        ("edr.FATAL.count", 0), ("exception.6.count", 1), ("interrupt.256.count", 1),
        ("interrupt.256.duration.max", 6000),
    ):  # fmt: skip
        assert certain(by_name[name].figure) == value, name
    assert by_name["interrupt.256.duration.max"].where == "at 0.002030000 s"


# ---------------------------------------------------------------- random sessions


def with_errors(seed: int, rate: float = 1) -> Recording:
    """A random module of whose user events some are errors, samples and messages in turn."""
    rec = random_session(seed)
    rng = random.Random(seed)
    owner = {task.index: task.partition for task in rec.tasks}
    records = []
    for r in rec.records:
        if r.name != "USER_POINT" or rng.random() >= rate:
            records.append(r)
            continue
        task = rng.choice([*owner, NOT_KNOWN])
        partition = owner.get(task, rng.choice(list(owner.values())))
        name, arg, values = rng.choice([
            ("HM_EVENT", partition, error(rng.randrange(8), task)),
            ("MEM_SAMPLE", partition, {"free": rng.randrange(99)}),
            ("MSG_SEND", 1, {"number": rng.randrange(99), "partition": partition}),
        ])  # fmt: skip
        fields: dict[str, int | str | bytes] = {f.name: values.get(f.name, 0) for f in EVENTS[name].fields}
        records.append(Record(r.time, name, arg, fields, r.stream))
    rec.records = records
    return rec


def in_pieces(monkeypatch: pytest.MonkeyPatch, records: int) -> None:
    """Have walks take so many records at a time."""

    def pieces(chunks: Iterable[Chunk]) -> Iterator[Chunk]:
        for chunk in batched(chunks):
            for begin in range(0, len(chunk.columns), records):
                yield replace(chunk, columns=chunk.columns.take(slice(begin, begin + records)))

    monkeypatch.setattr(walk, "batched", pieces)


def test_where_batches_end_does_not_show(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Windows are looked into only where faults ask for them: those that come later find all that they need.

    Signs of a partition's mode are kept for two batches, so with losses these must not be shorter than a frame.
    """
    margins = 0
    for seed in range(16):
        rec = with_errors(seed, rate=0.3)
        drop = tuple(range(3, len(rec.blocks()), 9)) if seed % 2 else ()
        monkeypatch.undo()
        whole = analyzed(rec, tmp_path, drop)
        margins += sum(fault.margin.value is not None for fault in whole.faults)
        for records in (40,) if drop else (3, 11, 40):
            in_pieces(monkeypatch, records)
            assert analyzed(rec, tmp_path, drop) == whole, (seed, records)
    assert margins >= 10


FACTS = (
    "name", "of_partition", "of_task", "partition", "task", "window", "schedule", "offset", "frame", "budget",
    "released", "activation", "memory", "exception",
)  # fmt: skip


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_nothing_is_told_behind_a_loss_that_is_not_so(first: int, tmp_path: Path) -> None:
    """What is told of a fault in a session with losses is what the whole session tells of it."""
    compared = 0
    for seed in range(first, first + 20):
        rec = with_errors(seed)
        blocks = len(rec.blocks())
        drop = tuple(random.Random(seed).sample(range(blocks), blocks // 3))
        whole = {(f.stream, f.time, f.name, f.of_task, f.of_partition): f for f in analyzed(rec, tmp_path).faults}
        for fault in analyzed(rec, tmp_path, drop).faults:
            truth = whole[fault.stream, fault.time, fault.name, fault.of_task, fault.of_partition]
            for name in FACTS:
                told = getattr(fault, name)
                assert told is None or told == getattr(truth, name), (seed, name)
            assert truth.messages[: len(fault.messages)] == fault.messages
            assert truth.interrupts[: len(fault.interrupts)] == fault.interrupts
            if fault.margin.lo is not None and truth.margin.value is not None:
                assert fault.margin.hi is not None
                assert fault.margin.lo <= truth.margin.value <= fault.margin.hi, seed
            compared += 1
    assert compared > 30


@pytest.mark.parametrize("first", range(0, 40, 20))
def test_counts_and_rates_of_lossy_sessions_hold_the_truth(first: int, tmp_path: Path) -> None:
    request = SystemRequest(rate_ns=200_000)
    for seed in range(first, first + 20):
        rec = with_errors(seed)
        blocks = len(rec.blocks())
        drop = tuple(random.Random(seed).sample(range(1, blocks), blocks // 4))
        true, found = (analyzed(rec, tmp_path, some, request) for some in ((), drop))
        for category in true.categories:
            for kind_ in (category.total, *category.kinds):
                seen = [k for k in (found.category(category.name).total, *found.category(category.name).kinds)
                        if k.name == kind_.name]  # fmt: skip
                for k in seen:
                    assert holds(k.count, kind_.count.value), seed
                    assert holds(k.most_rate, kind_.most_rate.value), seed
        for interrupt in found.interrupts:
            truth = next(i for i in true.interrupts if i.number == interrupt.number)
            assert holds(interrupt.duration.most, truth.duration.most.value), seed


def holds(figure: object, value: int | None) -> bool:
    lo, hi = both(figure)  # type: ignore[arg-type]
    return value is None or ((lo is None or lo <= value) and (hi is None or value <= hi))
