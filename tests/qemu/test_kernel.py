# SPDX-License-Identifier: Apache-2.0
"""The demo kernel alone: it boots, keeps the schedule, isolates faults, ends with the right status.

Expected numbers come from partitions/module.xml, by hand: a frame of 20 ms has 15 windows, two of them adjacent windows
of DISPLAY, hence 14 partition switches. The time base has 400 MHz: 8,000,000 ticks a frame.
"""

from __future__ import annotations

from pathlib import Path

import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from tests.support.qemu import BARE, CHECK, KERNEL, NO_INPUT, STATIC_PEER, Run, pcap_frames, run

TICKS_PER_MS = 400_000
FRAMES = 50
MS_PER_FRAME = {"MODULE_OS": 2, "NAV": 5, "DISPLAY": 5.5, "FLIGHT": 4, "IO": 2, "MAINT": 1.5}
STATED_LATENCY = 4000
"""Ticks (10 us): target_c/kernel/README.md states it."""
PERIODIC_MS = {
    "nav_imu": 10, "nav_filter": 20, "flight_control": 10, "flight_guidance": 20, "display_render": 20,
    "display_symbols": 40, "io_poll": 10, "io_status": 100, "maint_statistics": 100, "maint_test": 200,
}  # fmt: skip


@pytest.fixture(scope="module")
def nominal() -> Run:
    return run("nominal", f"run={FRAMES}f", kernel=BARE)


def lateness(done: Run) -> int:
    return int(done.books("latency")[0]["window_ticks"])


def test_boots_and_powers_off_with_status_0(nominal: Run) -> None:
    assert nominal.status == 0
    assert nominal.console.endswith("kernel: end of run, pass\n")
    for line in ("[NAV] navigation ready", "[IO] input and output ready", "[MAINT] maintenance ready"):
        assert line in nominal.console


@pytest.mark.parametrize("kernel", [KERNEL, BARE], ids=["monitored", "bare"])
def test_every_window_of_every_frame_comes_in_time(kernel: Path) -> None:
    done = run("windows", f"run={FRAMES}f", kernel=kernel)
    module = done.books("module")[0]
    assert (int(module["frames"]), int(module["windows"])) == (FRAMES, 15 * FRAMES)
    assert int(module["partition_switches"]) == 14 * FRAMES
    assert [int(entry["count"]) for entry in done.books("window")] == [FRAMES] * 15
    assert 0 < lateness(done) <= STATED_LATENCY


def test_partitions_get_the_time_of_their_windows(nominal: Run) -> None:
    partitions = nominal.partitions()
    for name, ms in MS_PER_FRAME.items():
        # The module OS also had the processor for the rest of the boot, 1 ms before the first frame.
        expected = (ms * FRAMES + (1 if name == "MODULE_OS" else 0)) * TICKS_PER_MS
        # A frame's first window begins some hundred ticks later than the others do, always the same.
        slack = 600 * FRAMES + 2 * lateness(nominal)
        assert abs(int(partitions[name]["ticks"]) - expected) <= slack, name


def test_the_time_of_a_partition_is_that_of_its_tasks(nominal: Run) -> None:
    """Between the partition's switch and its first task's lies the kernel, at most the dispatch latency a window."""
    most = int(nominal.books("latency")[0]["dispatch_ticks"])
    for name, partition in nominal.partitions().items():
        tasks = sum(int(t["ticks"]) for t in nominal.books("task") if t["partition"] == name)
        assert abs(int(partition["ticks"]) - tasks) <= most * (int(partition["switches"]) + 1), name


def test_periodic_processes_are_released_once_a_period(nominal: Run) -> None:
    tasks = nominal.tasks()
    for name, period in PERIODIC_MS.items():
        # The first window starts the partition: its release point may already be past.
        releases = -(-20 * FRAMES // period)
        assert int(tasks[name]["releases"]) in (releases - 1, releases), name
        assert int(tasks[name]["misses"]) == 0, name
    for name in ("nav_gps", "flight_monitor", "display_keys", "io_receive", "maint_orders"):
        assert int(tasks[name]["completions"]) > 1, name


def test_seconds_are_frames() -> None:
    assert int(run("seconds", "run=2s", kernel=BARE).books("module")[0]["frames"]) == 100


def test_the_low_half_of_the_clock_may_wrap() -> None:
    """0xff000000 is 42 ms before the low 32 bits wrap."""
    done = run("wrap", "run=5f clock=0xff000000", kernel=BARE)
    module = done.books("module")[0]
    assert 0xFF000000 < int(module["began"]) < 2**32 < int(module["ended"])
    assert int(done.partitions()["NAV"]["ticks"]) == pytest.approx(5 * 5 * TICKS_PER_MS, abs=2 * STATED_LATENCY)


def test_kernel_calls_do_what_they_should_and_refuse_the_rest() -> None:
    """tests/qemu/partitions: two use every call, the third makes 20,000 wrong ones and jumps into the kernel."""
    done = run("calls", "run=200f", kernel=CHECK)
    assert done.status == 0
    assert "FAILED" not in done.console
    assert "[SELFTEST] checks 0128 failures 0000\n" in done.console
    assert "[SERVICES] checks 0076 failures 0000\n" in done.console
    assert "[HOSTILE] two.lines\n[HOSTILE] checks 0004 failures 0000\n" in done.console
    assert "fault: partition HOSTILE process hostile_main: instruction storage at 00100400" in done.console
    assert int(done.partitions()["HOSTILE"]["calls"]) > 15_000


def test_overload_misses_deadlines_in_its_partition_only() -> None:
    tasks = run("overload", f"scenario=overload run={FRAMES}f", kernel=BARE).tasks()
    assert int(tasks["nav_filter"]["misses"]) > 0
    assert all(int(task["misses"]) == 0 for name, task in tasks.items() if name != "nav_filter")


@pytest.mark.parametrize(
    ("parameters", "words"),
    [
        ("speed=9", "boot parameter 'speed' is not known"),
        ("run", "boot parameter 'run' has no value"),
        ("run=1f run=2f", "boot parameter 'run' is given twice"),
        ("run=0f", "run=0f is neither frames"),
        ("run=5m", "run=5m is neither frames"),
        ("scenario=worst", "scenario=worst is not one of its values"),
        ("rate=2000000", "rate is more than 1000000"),
        ("entropy=99999999999999999999999", "is not a number"),
        ("port=65536", "port need"),
        ("clock=0xffffffffff800000", "the clock would wrap"),
        ("autostart=1", "autostart needs peer"),
        ("autostart=1 peer=10.0.2:1", "peer=10.0.2:1: see"),
        ("autostart=1 peer=10.0.2.2:6530 config=oneway:2", "config=oneway:2: see"),
        ("autostart=1 peer=10.0.2.2:6530 config=unit:5", "the agent does not start"),
        ("autostart=1 peer=10.0.2.2:6530 config=on:1023", "the agent does not start"),
    ],
)
def test_a_wrong_boot_parameter_ends_with_status_1_and_words(parameters: str, words: str) -> None:
    done = run("parameters", parameters)
    assert done.status == 1
    assert done.console.count("panic: ") == 1
    assert words in done.console


def test_a_fault_of_the_kernel_prints_registers_and_fails(tmp_path: Path) -> None:
    """An instruction that the processor does not have, put where a window begins."""
    broken = tmp_path / "broken.elf"
    with KERNEL.open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        found = symbols.get_symbol_by_name("sched_timer")
        assert found is not None
        address = found[0]["st_value"]
        offset = next(iter(elf.address_offsets(address)))
        file.seek(0)
        image = bytearray(file.read())
    image[offset : offset + 4] = b"\0\0\0\0"
    broken.write_bytes(image)
    done = run("panic", "run=5f", kernel=broken)
    assert done.status == 1
    assert f"pc {address:08x} " in done.console
    assert done.console.endswith("panic: program in the kernel\n")


def test_runs_are_equal_to_the_tick_and_to_the_byte(tmp_path: Path) -> None:
    runs = []
    for number in range(5):
        dump = tmp_path / f"{number}.pcap"
        done = run("equal", f"run={FRAMES}f scenario=bursty {STATIC_PEER}", *NO_INPUT(dump))
        assert done.status == 0
        runs.append((done.console, pcap_frames(dump.read_bytes())))
    assert sum(map(len, runs[0][1])) > 100_000
    assert all(other == runs[0] for other in runs)


def test_monitoring_does_not_change_what_the_partitions_do(nominal: Run) -> None:
    tasks = run("monitored", f"run={FRAMES}f").tasks()
    for name, task in nominal.tasks().items():
        assert tasks[name]["completions"] == task["completions"], name


def test_idle_may_wait_for_interrupts() -> None:
    """Without -icount time is the host's, so only the end is looked at."""
    done = run("wait", "run=25f idle=wait", kernel=BARE, icount=None)
    assert done.status == 0
    assert int(done.books("module")[0]["frames"]) == 25
