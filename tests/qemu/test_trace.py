# SPDX-License-Identifier: Apache-2.0
"""What the target recorded against what the kernel counted itself, and against the schedule in module.xml.

The records are read straight from the datagrams by SPEC sections 2 and 3 (tests/support/records.py). Event numbers are
those of proto/events.toml.
"""

from __future__ import annotations

from collections import defaultdict
from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.qemu import NO_INPUT, STATIC_PEER, pcap_frames, run
from tests.support.recorded import Recording, record
from tests.support.records import record_list
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.types import Channel

MAJOR_FRAME, WINDOW, PARTITION_SWITCH, PARTITION_MODE, TASK_SWITCH = 32, 33, 34, 36, 64
RELEASE, COMPLETE, DEADLINE, TASK_CREATE, INT_ENTR, INT_EXIT, EXCEPTION = 65, 66, 67, 68, 96, 97, 98
KER_CALL, KER_EXIT, USER_POINT, USER, USER_TEXT = 128, 129, 256, 257, 258
REASON_WINDOW_END = 3
FRAMES = 50
TICKS_PER_US = 400
FRAME_TICKS = 20_000 * TICKS_PER_US
STATED_LATENCY = 4000
# Partition index and window length in us, from module.xml: 1 NAV, 2 DISPLAY, 3 FLIGHT, 4 IO, 5 MAINT, 0 SPARE.
WINDOWS = [
    (3, 2000), (1, 2500), (4, 1000), (0, 500), (2, 1500), (2, 1500), (0, 500), (5, 500),
    (3, 2000), (1, 2500), (4, 1000), (0, 500), (2, 2500), (0, 500), (5, 1000),
]  # fmt: skip


@pytest.fixture(scope="module")
def nominal(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return record(tmp_path_factory.mktemp("trace"), "nominal", "scenario=nominal")


def test_nothing_is_missing(nominal: Recording) -> None:
    index = 0
    for block in nominal.blocks:
        assert block.first_index == index
        index += block.count
    assert index == int(nominal.done.books("monitor")[0]["recorded"])


def test_times_never_go_back(nominal: Recording) -> None:
    times = [time for *_, time in nominal.records]
    assert times == sorted(times)


def starts_of_frames(recording: Recording) -> list[int]:
    return [data[0] << 32 | data[1] for _, _, data, _ in recording.of(MAJOR_FRAME)]


def test_frames_begin_every_20_ms(nominal: Recording) -> None:
    starts = starts_of_frames(nominal)
    assert [data[2] for _, _, data, _ in nominal.of(MAJOR_FRAME)] == list(range(FRAMES))
    assert {b - a for a, b in pairwise(starts)} == {FRAME_TICKS}


def test_windows_and_partitions_come_when_the_schedule_says(nominal: Recording) -> None:
    windows, switches, running = [], [], 0
    for start in starts_of_frames(nominal):
        at = start
        for index, (partition, length) in enumerate(WINDOWS):
            windows.append((index, at))
            if partition != running:
                switches.append((partition, at))
                running = partition
            at += length * TICKS_PER_US
    for event, expected in ((WINDOW, windows), (PARTITION_SWITCH, switches)):
        seen = nominal.of(event)
        assert [argument for _, argument, _, _ in seen] == [argument for argument, _ in expected]
        late = [time - at for (*_, time), (_, at) in zip(seen, expected, strict=True)]
        assert min(late) >= 0
        assert max(late) <= STATED_LATENCY


def test_the_kernel_counts_as_many_as_were_recorded(nominal: Recording) -> None:
    module = nominal.done.books("module")[0]
    assert len(nominal.of(WINDOW)) == int(module["windows"])
    assert len(nominal.of(PARTITION_SWITCH)) == int(module["partition_switches"])
    assert len(nominal.of(TASK_SWITCH)) == int(module["task_switches"])
    assert len(nominal.of(INT_ENTR)) == int(module["interrupts"])
    partitions = nominal.done.partitions().values()
    assert len(nominal.of(KER_CALL)) == sum(int(entry["calls"]) for entry in partitions)
    assert len(nominal.of(USER_POINT, USER, USER_TEXT)) == sum(int(entry["user_events"]) for entry in partitions)


@pytest.mark.parametrize(("event", "key"), [(RELEASE, "releases"), (COMPLETE, "completions")])
def test_activations_are_those_the_kernel_counted(nominal: Recording, event: int, key: str) -> None:
    seen: dict[int, int] = defaultdict(int)
    for _, task, _, _ in nominal.of(event):
        seen[task] += 1
    assert seen == {int(t["index"]): int(t[key]) for t in nominal.done.books("task") if int(t[key])}


def test_execution_times_are_those_the_kernel_counted(nominal: Recording) -> None:
    """The kernel reads its clock a few instructions before the record's: at most 300 ticks a switch."""
    switches = nominal.of(TASK_SWITCH)
    ticks: dict[int, int] = defaultdict(int)
    for (_, task, _, begin), (*_, end) in pairwise(switches):
        ticks[task] += end - begin
    last = switches[-1]
    ticks[last[1]] += int(nominal.done.books("module")[0]["ended"]) - last[3]
    for book in nominal.done.books("task"):
        index, switched = int(book["index"]), int(book["switches"])
        if index != 0:  # the monitor also ran before the first switch was recorded
            assert abs(ticks[index] - int(book["ticks"])) <= 300 * switched, book["name"]


def test_every_switch_names_the_task_that_ran(nominal: Recording) -> None:
    switches = nominal.of(TASK_SWITCH)
    for (_, running, _, _), (_, _, data, _) in pairwise(switches):
        assert data[0] & 0xFFFF == running


def test_window_end_is_the_reason_only_where_the_partition_changes(nominal: Recording) -> None:
    changed = False
    for event, _, data, _ in nominal.of(PARTITION_SWITCH, TASK_SWITCH):
        if event == PARTITION_SWITCH:
            changed = True
        else:
            assert (data[0] >> 16 == REASON_WINDOW_END) == changed
            changed = False


def test_interrupts_and_kernel_calls_come_in_pairs(nominal: Recording) -> None:
    depth = 0
    for event, *_ in nominal.of(INT_ENTR, INT_EXIT):
        depth += 1 if event == INT_ENTR else -1
        assert depth in (0, 1)
    called: dict[int, int] = {}
    for event, call, data, _ in nominal.of(KER_CALL, KER_EXIT):
        task = data[0] & 0xFFFF
        if event == KER_CALL:
            assert task not in called
            called[task] = call
        else:
            assert called.pop(task) == call


def test_tasks_run_only_in_windows_of_their_partition(nominal: Recording) -> None:
    owner = {int(t["index"]): p["index"] for p in nominal.done.books("partition")
             for t in nominal.done.books("task") if t["partition"] == p["name"]}  # fmt: skip
    partition = 0
    for event, argument, _, _ in nominal.of(PARTITION_SWITCH, TASK_SWITCH):
        if event == PARTITION_SWITCH:
            partition = argument
        else:
            assert owner[argument] == str(partition)


def test_missed_deadlines_are_recorded_once_each(tmp_path: Path) -> None:
    overload = record(tmp_path, "overload", "scenario=overload")
    missed = [(task, data[3]) for _, task, data, _ in overload.of(DEADLINE) if data[2] == 1]
    assert len(missed) == len(set(missed)) == sum(int(t["misses"]) for t in overload.done.books("task")) > 0


def test_only_the_chosen_events_are_recorded(tmp_path: Path) -> None:
    parameters = STATIC_PEER.replace("config=oneway:1", "config=oneway:1,on:33+256-258,off:257")
    dump = tmp_path / "chosen.pcap"
    done = run("trace-chosen", f"run=5f scenario=nominal {parameters}", *NO_INPUT(dump))
    datagrams = [decode_datagram(frame[42:]) for frame in pcap_frames(dump.read_bytes())]
    blocks = [decode_block(datagram) for datagram in datagrams if datagram.header.channel == Channel.BLOCK]
    events = {item[0] for block in blocks for item in record_list(block)}
    assert events - {1, 2, 3, 4, 6} == {WINDOW, USER_POINT, USER_TEXT}
    # The process that records USER sees the bit and makes no call.
    assert int(done.partitions()["IO"]["user_events"]) < int(done.tasks()["io_receive"]["completions"])


@pytest.mark.parametrize(
    ("config", "cause"),
    [
        ("oneway:1,unit:128,units:4,noupload:1", "overwritten"),
        ("oneway:1,unit:128,units:4,policy:linear,noupload:1", "full"),
        ("oneway:1,unit:128,units:8,policy:linear", "full"),
        ("oneway:1,datagram:512,unit:1024,flush:20,highwater:10", None),
    ],
)
def test_what_does_not_arrive_is_counted_with_its_cause(tmp_path: Path, config: str, cause: str | None) -> None:
    dump = tmp_path / "loss.pcap"
    done = run("trace-loss", f"run={FRAMES}f {STATIC_PEER.replace('oneway:1', config)}", *NO_INPUT(dump))
    datagrams = [decode_datagram(frame[42:]) for frame in pcap_frames(dump.read_bytes())]
    blocks = [decode_block(datagram) for datagram in datagrams if datagram.header.channel == Channel.BLOCK]
    monitor = {key: int(value) for key, value in done.books("monitor")[0].items()}
    lost = {key: monitor[key] for key in ("overwritten", "full", "exhausted") if monitor[key]}
    assert set(lost) == ({cause} if cause is not None else set())
    assert monitor["recorded"] > 10_000
    assert sum(block.count for block in blocks) + sum(lost.values()) == monitor["recorded"]
    assert len({block.sequence for block in blocks}) == len(blocks) == monitor["blocks"]
