# SPDX-License-Identifier: Apache-2.0
"""Selections of events: each mask equals a per-record reference, written below from the definitions in words."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from tests.support.recording import EVENTS, Record, Recording
from vxmon.errors import InputError
from vxmon.trace import LOSS_ID, open_trace
from vxmon.trace.criteria import Selection
from vxmon.trace.faults import fault_instants, parse_fault
from vxmon.trace.selection import selected
from vxmon.trace.span import Span, parse_span, parse_time
from vxmon.wire.types import PartitionEntry, TaskEntry

PARTITIONS = (PartitionEntry(0, "MODULE"), PartitionEntry(1, "NAV"), PartitionEntry(2, "FMS"))
TASKS = (TaskEntry(0, 1, "nav_filter"), TaskEntry(1, 2, "fms_plan"), TaskEntry(2, 1, "nav_io"))
NAMED_PARTITIONS = ("partition",)
NAMED_TASKS = ("task", "previous")
UNKNOWN, NOBODY = -1, 65535


def recording(**more: object) -> Recording:
    return Recording(TASKS, (), PARTITIONS, **more)  # type: ignore[arg-type]


# ---------------------------------------------------------------- the reference


def named(record: Record, kind: str) -> set[int]:
    """Indices of a kind that a record names."""
    event = EVENTS[record.name]
    found = {record.arg} if event.arg.kind == kind else set()
    return found | {int(record.values[f.name]) for f in event.fields if f.kind == kind}


def ran(records: list[Record], at: int) -> tuple[int, int]:
    """Partition and task after the last switch of the record's CPU at or before its time; -1: not known."""
    partition = task = UNKNOWN
    for record in records:
        if record.stream != records[at].stream or record.time > records[at].time:
            continue
        if record.name == "PARTITION_SWITCH":
            partition = record.arg
        elif record.name == "TASK_SWITCH":
            task = record.arg
        elif record.name == "START":
            partition, task = record.arg, int(record.values["task"])
    return partition, task


def wanted(records: list[Record], at: int, selection: Selection, start: int) -> bool:
    """Whether a record is selected, from the definitions in words."""
    record = records[at]
    partition, task = ran(records, at)
    partitions = {p.index for p in PARTITIONS if p.name in selection.partitions}
    tasks = {t.index for t in TASKS if t.name in selection.tasks}
    tasks_of = {t.index for t in TASKS if t.partition in partitions}
    kind = EVENTS[record.name]
    if (selection.classes or selection.events) and not (
        kind.klass in selection.classes or record.name in selection.events
    ):
        return False
    if selection.cpus and record.stream not in selection.cpus:
        return False
    if partitions and not ({partition, *named(record, "partition")} & partitions or named(record, "task") & tasks_of):
        return False
    if tasks and not ({task, *named(record, "task")} & tasks):
        return False
    begin, end = selection.span.begin, selection.span.end
    if begin is not None and record.time - start < begin // 1000:
        return False
    return end is None or record.time - start < end // 1000


EVENT = st.one_of(
    st.tuples(st.just("PARTITION_SWITCH"), st.integers(0, 2), st.just({})),
    st.tuples(
        st.just("TASK_SWITCH"), st.sampled_from([0, 1, 2, NOBODY]),
        st.fixed_dictionaries({"previous": st.integers(0, 2)}),
    ),
    st.tuples(st.just("RELEASE"), st.integers(0, 2), st.just({})),
    st.tuples(st.just("USER_POINT"), st.integers(0, 5), st.just({})),
    st.tuples(st.just("WINDOW"), st.integers(0, 2), st.just({})),
    st.tuples(
        st.just("KER_CALL"), st.integers(0, 5),
        st.fixed_dictionaries({"partition": st.integers(0, 2), "task": st.integers(0, 2)}),
    ),
)  # fmt: skip


@st.composite
def recordings(draw: st.DrawFn) -> Recording:
    """Up to two CPUs, equal times included."""
    made = recording(block_records=draw(st.integers(1, 7)))
    for stream in range(draw(st.integers(1, 2))):
        time = draw(st.integers(0, 50))
        made.add(time, "START", draw(st.integers(0, 2)), stream=stream, window=0, task=draw(st.integers(0, 2)), run=1)
        for name, arg, values in draw(st.lists(EVENT, min_size=1, max_size=25)):
            time += draw(st.sampled_from([0, 1, 1, 7, 30]))
            made.add(time, name, arg, stream=stream, **values)
    return made


def some(values: list[str]) -> st.SearchStrategy[tuple[str, ...]]:
    return st.lists(st.sampled_from(values), max_size=2, unique=True).map(tuple)


@st.composite
def selections(draw: st.DrawFn) -> Selection:
    begin = draw(st.none() | st.integers(0, 200))
    end = draw(st.none() | st.integers((begin or 0) + 1, 400))
    return Selection(
        classes=draw(some(["TASK", "KER", "USER"])),
        events=draw(some(["WINDOW", "RELEASE", "USER_POINT"])),
        partitions=draw(some(["NAV", "FMS", "MODULE"])),
        tasks=draw(some(["nav_filter", "fms_plan", "nav_io"])),
        cpus=draw(st.sampled_from([(), (), (0,)])),
        span=Span(*(None if t is None else t * 1000 for t in (begin, end))),
    )


def key(record: Record) -> tuple[int, int, int, int]:
    return record.time, record.stream, EVENTS[record.name].id, record.arg


@given(recordings(), selections())
@settings(max_examples=120, deadline=None)
def test_a_mask_is_what_the_definitions_say(
    tmp_path_factory: pytest.TempPathFactory, made: Recording, selection: Selection
) -> None:
    path = made.write(tmp_path_factory.mktemp("s") / "s.pcapng")
    start = min(r.time for r in made.records)
    # A window behind the end is refused.
    assume((selection.span.begin or 0) <= (max(r.time for r in made.records) - start) * 1000)
    expected = sorted(key(r) for at, r in enumerate(made.records) if wanted(made.records, at, selection, start))
    found: list[tuple[int, int, int, int]] = []
    with open_trace([path]) as trace:
        chunks, books = selected(trace, selection)
        for chunk in chunks:
            c = chunk.columns
            found += zip(c.time.tolist(), c.stream.tolist(), c.id.tolist(), c.arg.tolist(), strict=True)
    assert sorted(found) == expected
    assert books.unknown == 0
    if selection.everything:
        return
    assert books.events == len(expected)
    assert books.text() == f"{len(expected)} of {len(made.records)} events selected"


# ---------------------------------------------------------------- losses, faults, names


def lossy(tmp_path: Path) -> str:
    """NAV runs, a block of two records is lost, then points whose CPU's partition the block head tells: FMS."""
    made = recording(block_records=2)
    made.add(0, "START", 1, window=0, task=0, run=1)
    made.add(10, "USER_POINT", 1)
    made.add(20, "PARTITION_SWITCH", 2)
    made.add(30, "USER_POINT", 2)
    made.add(40, "USER_POINT", 3)
    made.add(50, "USER_POINT", 4)
    return made.write(tmp_path / "s.pcapng", drop=(1,))


def shown(path: str, selection: Selection) -> tuple[list[tuple[int, int]], str]:
    """(time, event) of what is selected, and the word on it."""
    with open_trace([path]) as trace:
        chunks, books = selected(trace, selection, fault_instants)
        rows = [pair for c in chunks for pair in zip(c.columns.time.tolist(), c.columns.id.tolist(), strict=True)]
    return rows, books.text()


def test_after_a_loss_the_block_head_says_who_ran(tmp_path: Path) -> None:
    point = EVENTS["USER_POINT"].id
    rows, text = shown(lossy(tmp_path), Selection(partitions=("FMS",)))
    assert rows == [(40, LOSS_ID), (40, point), (50, point)]
    assert text == "2 of 4 events selected"


def test_a_loss_is_shown_where_its_interval_touches_the_window(tmp_path: Path) -> None:
    path = lossy(tmp_path)
    for span, lost in (("..5us", False), ("..11us", True), ("20us..30us", True), ("41us..", False), ("40us..", True)):
        rows, _ = shown(path, Selection(span=parse_span(span), classes=("HM",)))
        assert rows == [(40, LOSS_ID)] * lost, span


def test_a_record_of_which_it_is_not_known_who_ran_is_counted(tmp_path: Path) -> None:
    """The capture came late and no switch was seen: the heads do not know either."""
    made = recording(start_seen=False)
    made.add(10, "USER_POINT", 1)
    made.add(20, "PARTITION_SWITCH", 1)
    made.add(30, "USER_POINT", 2)
    rows, text = shown(made.write(tmp_path / "s.pcapng"), Selection(partitions=("NAV",)))
    assert [time for time, _ in rows] == [20, 30]
    assert text == "2 of 3 events selected; 1 more event may belong to it: who ran is not known there"


def faulty(tmp_path: Path) -> str:
    made = recording()
    made.add(0, "START", 1, window=0, task=0, run=1)
    for time in range(100, 2000, 100):
        made.add(time, "USER_POINT", time // 100)
    made.add(2000, "HM_EVENT", 1, code=0)
    made.add(3000, "USER_POINT", 30)
    made.add(4000, "EXCEPTION", 6)
    made.add(4100, "USER_POINT", 41)
    return made.write(tmp_path / "s.pcapng")


@pytest.mark.parametrize(
    ("text", "times"),
    [
        ("any:100us", [1900, 2000, 4000, 4100]),
        ("DEADLINE_MISSED:200us", [1800, 1900, 2000]),
        ("exception:0s", [4000]),
        ("HM:1ms", [*range(1000, 2001, 100), 3000]),
        ("NUMERIC_ERROR", []),
    ],
)
def test_events_around_faults(tmp_path: Path, text: str, times: list[int]) -> None:
    kind, reach = parse_fault(text)
    rows, said = shown(faulty(tmp_path), Selection(around=kind, reach_ns=reach))
    assert [time for time, _ in rows] == times
    assert ("there is no fault NUMERIC_ERROR in the selected time" in said) == (not times)


@pytest.mark.parametrize(
    ("selection", "message"),
    [
        (Selection(partitions=("NOV",)), "no partition NOV; its partitions are FMS, MODULE, NAV"),
        (Selection(tasks=("x",)), "no task x; its tasks are fms_plan, nav_filter, nav_io"),
        (Selection(objects=("x",)), "no object x; it knows no objects by name"),
        (Selection(cpus=(3,)), "no CPU 3; its CPUs are 0"),
        (Selection(classes=("hmm",)), "no class HMM; its classes are COMM, CONTROL, HM, INT, KER, MEM, SCHED, TASK, "),
        (Selection(events=("FOO",)), "no event FOO; its events are BUFFER_GROW, "),
        (Selection(around="FOO"), "no type of fault FOO; types are APPLICATION_ERROR, "),
    ],
)
def test_a_name_that_does_not_exist_is_told_with_those_that_do(
    tmp_path: Path, selection: Selection, message: str
) -> None:
    with pytest.raises(InputError, match=f"^the session has {message}"):
        shown(lossy(tmp_path), selection)


def test_a_window_behind_the_end_is_refused(tmp_path: Path) -> None:
    """Nobody observed what would be counted as 0."""
    with pytest.raises(InputError, match=r"^the session is 0\.0000\d\d s long; nothing of it is in 1s\.\.$"):
        shown(lossy(tmp_path), Selection(span=Span(10**9)))


def test_numbers_stand_for_what_has_no_name(tmp_path: Path) -> None:
    assert len(shown(lossy(tmp_path), Selection(partitions=("2",)))[0]) == 3


@pytest.mark.parametrize("text", ["", ":5ms", "any:", "any:5 miles"])
def test_a_fault_that_is_written_wrong_is_refused(text: str) -> None:
    with pytest.raises(InputError):
        parse_fault(text)


@pytest.mark.parametrize(
    ("text", "ns", "again"),
    [
        ("1.5s", 1_500_000_000, "1.5s"),
        ("2", 2 * 10**9, "2s"),
        ("30us", 30_000, "30us"),
        ("1000.01us", 1_000_010, "1.00001ms"),
        ("0", 0, "0s"),
        ("7ns", 7, "7ns"),
    ],
)
def test_times_are_read_and_written(text: str, ns: int, again: str) -> None:
    assert parse_time(text) == ns
    assert str(Span(ns, None)) == f"{again}.."
