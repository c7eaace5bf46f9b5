# SPDX-License-Identifier: Apache-2.0
"""Scenario faults: what the applications do wrong, when, and what the tables of module.xml say happens then.

Instants and places are read off partitions/*/main.c: NAV is late in step 25 of each 50 (20 ms), IO raises an error in
round 5 of each 10 (100 ms), makes a call that does not exist in round 22 and uses an instruction of the kernel's in
round 26, DISPLAY divides by 0 in symbol update 60 (40 ms) and needs too much stack at key press 14 (200 ms), MAINT
stores to the kernel's memory in test 15 (200 ms). The memory controller reports an error at frame 160, the power supply
one at frame 450. Codes, levels and actions are numbered as in proto/events.toml.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.qemu import BARE, CHECK, Run, run
from tests.support.recorded import Recording, record

(DEADLINE_MISSED, APPLICATION_ERROR, NUMERIC_ERROR, ILLEGAL_REQUEST, STACK_OVERFLOW, MEMORY_VIOLATION, HARDWARE_FAULT,
 POWER_FAIL) = map(str, range(8))  # fmt: skip
PROCESS, PARTITION, MODULE = "0", "1", "2"
LOG, RESTART_PROCESS, WARM_RESTART, COLD_RESTART, RESET_MODULE, HANDLER = "1", "2", "4", "5", "7", "8"
HM_EVENT, EDR_EVENT, PARTITION_MODE, EXCEPTION, TASK_CREATE, TASK_DELETE = 224, 225, 36, 98, 68, 69
TICKS_PER_MS = 400_000
FRAMES_TO_RESET = 450
AFTER_RESET = 100


@pytest.fixture(scope="module")
def faults() -> Run:
    """A run over the reset: the frames after it count anew."""
    done = run("faults", f"scenario=faults run={FRAMES_TO_RESET + AFTER_RESET}f", kernel=BARE)
    assert done.status == 0
    return done


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    """Everything but the reset."""
    return record(tmp_path_factory.mktemp("faults"), "faults-events", "scenario=faults", 300)


def errors(done: Run, code: str) -> list[dict[str, str]]:
    return [entry for entry in done.books("hm") if entry["code"] == code]


def test_each_error_once_or_each_second_where_the_code_makes_it(faults: Run) -> None:
    def places(code: str) -> set[tuple[str, ...]]:
        keys = ("partition", "task", "level", "action")
        return {tuple(entry[key] for key in keys) for entry in errors(faults, code)}

    assert places(DEADLINE_MISSED) == {("NAV", "nav_filter", PROCESS, HANDLER)}
    assert places(APPLICATION_ERROR) == {("IO", "io_status", PROCESS, HANDLER)}
    assert places(ILLEGAL_REQUEST) == {("IO", "io_status", PROCESS, HANDLER)}
    assert places(NUMERIC_ERROR) == {("DISPLAY", "display_symbols", PROCESS, RESTART_PROCESS)}
    assert places(STACK_OVERFLOW) == {("DISPLAY", "display_keys", PARTITION, COLD_RESTART)}
    assert places(MEMORY_VIOLATION) == {("MAINT", "maint_test", PARTITION, WARM_RESTART)}
    assert places(HARDWARE_FAULT) == {("NAV", "-", MODULE, LOG)}
    assert places(POWER_FAIL) == {("-", "-", MODULE, RESET_MODULE)}
    counts = [len(errors(faults, str(code))) for code in range(1, 8)]
    # 9 s of rounds: 0.5, 1.5 ... 8.5 s.
    assert counts == [9, 1, 2, 1, 1, 1, 1]
    assert len(errors(faults, DEADLINE_MISSED)) >= 9


def test_they_come_when_the_code_makes_them(faults: Run) -> None:
    began = 8_000_000  # the boot takes 20 ms at most
    # The release of the activation in which it happens, in ms after the partitions' first window.
    # The division in update 60 restarts display_symbols, which counts anew: keys 12, 13, 14 come with its 5th, 10th and
    # 15th update.
    expected = {
        NUMERIC_ERROR: 59 * 40,
        STACK_OVERFLOW: 60 * 40 + 14 * 40,
        MEMORY_VIOLATION: 14 * 200,
        HARDWARE_FAULT: 160 * 20,
        POWER_FAIL: 450 * 20,
    }
    for code, ms in expected.items():
        at = int(errors(faults, code)[0]["time"])
        # Longest from a release to the fault: a frame or two of waiting, the test of 250 work units in MAINT's windows.
        assert ms * TICKS_PER_MS <= at <= began + (ms + 70) * TICKS_PER_MS, code
    raised = [int(entry["time"]) for entry in errors(faults, APPLICATION_ERROR)]
    # Each restart of io_status (rounds 22, 26) brings its next round earlier, at the next release point of 10 ms.
    assert all(900 * TICKS_PER_MS < b - a < 1010 * TICKS_PER_MS for a, b in pairwise(raised))


def test_addresses_and_subcodes_are_what_the_code_touched(faults: Run) -> None:
    (violation,), (overflow,), (hardware,) = (
        errors(faults, code) for code in (MEMORY_VIOLATION, STACK_OVERFLOW, HARDWARE_FAULT)
    )
    # E500MCRM: ESR[ST] for a store, ESR[PTR] for a trap instruction, ESR[PPR] for a privileged one.
    assert (violation["address"], violation["subcode"]) == ("0x200000", "0x800000")
    # display_keys is process 3; its stack of 4096 bytes ends at 0x10080000 + 4 * 0x8000.
    assert 0x10098000 <= int(overflow["address"], 16) < 0x1009F000
    # 0x60000 into NAV's memory, which is the first.
    assert hardware["address"] == hex(0x01000000 + 0x60000)
    assert [entry["subcode"] for entry in errors(faults, NUMERIC_ERROR)] == ["0x2000000"]
    assert [entry["subcode"] for entry in errors(faults, ILLEGAL_REQUEST)] == [hex(250), "0x4000000"]
    assert {entry["message"] for entry in errors(faults, APPLICATION_ERROR)} == {"bus_parity"}


def test_the_logs_survive_the_reset_and_tell_of_it(faults: Run) -> None:
    assert "kernel: module reset\n" in faults.console
    assert faults.console.count("kernel: module demo on ppce500") == 2
    entries = faults.books("edr")
    assert [int(entry["number"]) for entry in entries] == list(range(len(entries)))
    # Severity and facility of Wind River's edrLibCommon.h: INFO 4, BOOT 0x40, REBOOT 0x50, INIT 0x30.
    kinds = [(entry["boot"], entry["kind"]) for entry in entries]
    assert kinds.index(("0", "0x44")) < kinds.index(("0", "0x54")) < kinds.index(("1", "0x44"))
    assert kinds.count(("1", "0x34")) == 5
    assert {entry["boot"] for entry in faults.books("hm")} == {"0"}
    assert {"0x202", "0x13", "0x22", "0x23"} < {entry["kind"] for entry in entries}
    logs = {entry["name"]: entry for entry in faults.books("log")}
    assert all((log["boot"], log["missed"], log["generation"]) == ("1", "0", "1") for log in logs.values())


def test_restarted_partitions_work_again(recorded: Recording) -> None:
    partitions = recorded.done.partitions()
    assert {name: p["restarts"] for name, p in partitions.items() if name != "MODULE_OS"} == {
        "NAV": "0", "DISPLAY": "1", "FLIGHT": "0", "IO": "0", "MAINT": "1",
    }  # fmt: skip
    assert all(p["mode"] == "3" for p in partitions.values())
    # From 2.8 s to 6 s the picture of 20 ms is drawn again, less the restart.
    assert 140 < int(recorded.done.tasks()["display_render"]["completions"]) < 162
    modes = [(partition, data[0] >> 16) for _, partition, data, _ in recorded.of(PARTITION_MODE)]
    # 2 warm start, 1 cold start, 3 normal, as ARINC 653 numbers them.
    assert [mode for partition, mode in modes if partition == 5] == [1, 3, 2, 3]
    assert [mode for partition, mode in modes if partition == 2] == [1, 3, 1, 3]
    for partition in (2, 5):
        created = [task for _, task, data, _ in recorded.of(TASK_CREATE) if data[0] >> 16 == partition]
        assert len(created) == len(set(created)) == 10  # main, three processes, idle: twice, never the same number


def test_every_error_is_an_event_with_its_number_in_the_log(recorded: Recording) -> None:
    books = recorded.done.books("hm")
    seen = [(data[4], data[0] >> 16, data[0] & 0xFFFF, data[1], data[2], data[3] & 0xFFFF)
            for _, _, data, _ in recorded.of(HM_EVENT)]  # fmt: skip
    assert seen == [
        (
            int(b["number"]),
            int(b["code"]),
            int(b["level"]),
            int(b["subcode"], 16),
            int(b["address"], 16),
            int(b["action"]),
        )
        for b in books
    ]
    kept = [(data[1], data[0]) for _, _, data, _ in recorded.of(EDR_EVENT)]
    assert kept == [(int(b["number"]), int(b["kind"], 16)) for b in recorded.done.books("edr")][-len(kept) :]
    # Vectors of the E500MCRM: 2 data storage, 6 program, 13 data TLB miss; partitions 2 DISPLAY, 4 IO, 5 MAINT.
    exceptions = sorted((vector, data[4] >> 16) for _, vector, data, _ in recorded.of(EXCEPTION))
    assert exceptions == [(2, 5), (6, 2), (6, 4), (13, 2)]


def test_the_others_are_not_touched(recorded: Recording) -> None:
    nominal = run("faults-nominal", "scenario=nominal run=300f", kernel=BARE).tasks()
    for name in ("flight_control", "flight_guidance", "flight_monitor", "nav_imu", "io_poll"):
        assert recorded.done.tasks()[name]["completions"] == nominal[name]["completions"], name


def test_a_table_may_make_a_partition_idle() -> None:
    """HOSTILE of tests/qemu/partitions jumps into the kernel; its table says hmDH_PartitionIdle."""
    done = run("idle", "run=200f", kernel=CHECK)
    assert "hm: MEMORY_VIOLATION partition HOSTILE process hostile_main address 00100400" in done.console
    assert "level partition, action idle_partition" in done.console
    assert done.partitions()["HOSTILE"]["mode"] == "0"


def test_the_hm_log_keeps_the_newest_and_counts_the_rest() -> None:
    """In overload a deadline is missed about each frame: more than the 100 entries of module.xml."""
    done = run("overflow", "scenario=overload run=300f", kernel=BARE)
    log = next(entry for entry in done.books("log") if entry["name"] == "hm")
    entries = done.books("hm")
    assert len(entries) == 100
    assert int(log["missed"]) == int(log["next"]) - 100 > 0
    assert [int(e["number"]) for e in entries] == list(range(int(log["oldest"]), int(log["next"])))
    assert int(log["next"]) == sum(int(task["misses"]) for task in done.books("task"))


def test_runs_over_a_reset_are_equal(tmp_path: Path) -> None:
    runs = [record(tmp_path, f"equal-{i}", "scenario=faults", 460) for i in range(2)]
    assert runs[0].done.console == runs[1].done.console
    assert [b.slots for b in runs[0].blocks] == [b.slots for b in runs[1].blocks]
    assert len({b.boot for b in runs[0].blocks}) == 2
