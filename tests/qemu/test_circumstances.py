# SPDX-License-Identifier: Apache-2.0
"""Scenario faults: the circumstances that ``analyze system`` shows are what the fault code does.

Expected is what partitions/*/main.c and kernel/core/scenario.c say of who does what in which activation (numbers of
rounds, updates and presses stand there), the schedule of module.xml, and the instants in the kernel's own HM log, which
it prints at the end. A frame begins 1 ms and a whole number of 20 ms after the kernel's ``began``.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

import pytest

from tests.support.commands import vxmon
from tests.support.qemu import NO_INPUT, STATIC_PEER, run

US = 400  # ticks
FRAME = 20_000 * US
FIRST_FRAME = 1000 * US
WITHIN = 50 * US
FRAMES = 452  # the power fails at frame 450, and the module is reset
# The owner and length in us of each window, from module.xml.
WINDOWS = (
    ("FLIGHT", 2000), ("NAV", 2500), ("IO", 1000), ("SPARE", 500), ("DISPLAY", 1500), ("DISPLAY", 1500), ("SPARE", 500),
    ("MAINT", 500), ("FLIGHT", 2000), ("NAV", 2500), ("IO", 1000), ("SPARE", 500), ("DISPLAY", 2500), ("SPARE", 500),
    ("MAINT", 1000),
)  # fmt: skip


@dataclass(frozen=True)
class Expected:
    """Whose error it is, who runs then, whether in an interrupt, and in which activation of whom the code makes it."""

    of: tuple[str | None, str | None]
    running: tuple[str, str]
    depth: int
    activation: int | None
    vector: int | None = None


SELF = 0
EXPECTED = {
    # Step 25 of 50 is late. The kernel sees it as NAV's window begins: in the timer's interrupt, which comes while
    # FLIGHT, whose window ends there, has nothing more to do. NAV has the processor by then, but none of its processes.
    "DEADLINE_MISSED": Expected(("NAV", "nav_filter"), ("NAV", "flight_idle"), 1, 25),
    # Round 5 of 10; a kernel call; so is the call that does not exist.
    "APPLICATION_ERROR": Expected(("IO", "io_status"), ("IO", "io_status"), SELF, 5),
    "ILLEGAL_REQUEST": Expected(("IO", "io_status"), ("IO", "io_status"), SELF, 22),
    # A trap (program exception, 6) in symbol update 60.
    "NUMERIC_ERROR": Expected(("DISPLAY", "display_symbols"), ("DISPLAY", "display_symbols"), SELF, 60, 6),
    # Press 14 ends the 14th wait; the first activation began at the start. A data TLB miss, 13.
    "STACK_OVERFLOW": Expected(("DISPLAY", "display_keys"), ("DISPLAY", "display_keys"), SELF, 15, 13),
    # Test 15; a store that the MMU refuses: data storage, 2.
    "MEMORY_VIOLATION": Expected(("MAINT", "maint_test"), ("MAINT", "maint_test"), SELF, 15, 2),
    # Devices interrupt when frames 160 and 450 begin: when interrupts are allowed again, FLIGHT has dispatched.
    "HARDWARE_FAULT": Expected(("NAV", None), ("FLIGHT", "flight_control"), 1, None),
    "POWER_FAIL": Expected((None, None), ("FLIGHT", "flight_control"), 1, None),
}
CODES = tuple(EXPECTED)
NUMBERED = ("DEADLINE_MISSED", "APPLICATION_ERROR", "NUMERIC_ERROR", "ILLEGAL_REQUEST", "STACK_OVERFLOW",
            "MEMORY_VIOLATION", "HARDWARE_FAULT", "POWER_FAIL")  # fmt: skip


@dataclass(frozen=True)
class Shown:
    """What the analysis shows of the boot that ends with the reset, and what the kernel says of it."""

    faults: list[dict[str, Any]]
    log: list[dict[str, str]]
    began: int

    def of(self, code: str) -> list[tuple[dict[str, Any], dict[str, str]]]:
        """Faults of a type, with the kernel's entries of the same number."""
        entries = {int(entry["number"]): entry for entry in self.log}
        return [(fault, entries[fault["entry"]]) for fault in self.faults if fault["type"] == code]


@pytest.fixture(scope="module")
def shown(tmp_path_factory: pytest.TempPathFactory) -> Shown:
    folder = tmp_path_factory.mktemp("circumstances")
    parameters = f"scenario=faults {STATIC_PEER}"
    short = run("circumstances-began", f"run=005f {parameters}", *NO_INPUT(folder / "short.pcap"))
    dump = folder / "faults.pcap"
    done = run("circumstances", f"run={FRAMES}f {parameters}", *NO_INPUT(dump))
    assert (short.status, done.status) == (0, 0)
    report = vxmon("analyze", "system", "--format", "json", str(dump))
    first, *_ = json.loads(report.out)["boots"]
    log = [entry for entry in done.books("hm") if entry["boot"] == "0"]
    return Shown(first["faults"], log, int(short.books("module")[0]["began"]))


def window_of(offset: int) -> tuple[int, int]:
    """The window of an instant of a frame, and where in it."""
    begin = 0
    for index, (_, length) in enumerate(WINDOWS):
        if offset < begin + length * US:
            return index, offset - begin
        begin += length * US
    raise ValueError(offset)


def test_every_error_of_the_log_is_shown(shown: Shown) -> None:
    assert [fault["entry"] for fault in shown.faults] == [int(entry["number"]) for entry in shown.log]
    assert {fault["type"] for fault in shown.faults} == set(CODES)
    for fault, entry in zip(shown.faults, shown.log, strict=True):
        assert fault["type"] == NUMBERED[int(entry["code"])]
        assert fault["address"] == f"0x{int(entry['address'], 16):08x}"
        assert fault["lost_before_ns"] is None


@pytest.mark.parametrize("code", CODES)
def test_who_did_it_and_who_ran(code: str, shown: Shown) -> None:
    expected = EXPECTED[code]
    for fault, entry in shown.of(code):
        of = tuple(None if name == "-" else name for name in (entry["partition"], entry["task"]))
        assert (fault["of_partition"], fault["of_task"]) == expected.of == of
        assert (fault["partition"], fault["task"]) == expected.running
        assert fault["interrupt_depth"] == expected.depth


@pytest.mark.parametrize("code", CODES)
def test_window_and_offset_are_those_of_the_schedule(code: str, shown: Shown) -> None:
    """Within 50 us of where the kernel's own log puts the error in the schedule of module.xml."""
    for fault, entry in shown.of(code):
        frame, at = divmod(int(entry["time"]) - shown.began - FIRST_FRAME, FRAME)
        window, offset = window_of(at)
        assert (fault["frame"], fault["window"]) == (frame, window)
        assert abs(fault["offset_ns"] * US // 1000 - offset) <= WITHIN
        assert fault["budget_ns"] == WINDOWS[window][1] * 1000
        assert WINDOWS[window][0] == EXPECTED[code].running[0]


@pytest.mark.parametrize("code", [code for code in CODES if EXPECTED[code].activation is not None])
def test_it_is_the_activation_in_which_the_code_makes_it(code: str, shown: Shown) -> None:
    expected = EXPECTED[code]
    fault, _ = shown.of(code)[0]
    assert fault["activation"] == expected.activation
    assert (fault["exception"] or {}).get("vector") == expected.vector
    # A late step is seen 20 ms after its release, at its deadline; nobody needs longer than two frames.
    least, most = (20e6, 20.1e6) if code == "DEADLINE_MISSED" else (0, 40e6)
    assert least <= fault["since_release_ns"] <= most
    assert fault["completed"] is False


def test_devices_interrupt_right_before_their_errors(shown: Shown) -> None:
    for code, interrupt in (("HARDWARE_FAULT", 224), ("POWER_FAIL", 225)):
        ((fault, _),) = shown.of(code)
        assert fault["interrupts"][0]["interrupt"] == interrupt
        assert fault["interrupts"][0]["before_ns"] < 50_000
        assert fault["offset_ns"] < 50_000


def test_margins_are_those_of_partitions_that_work(shown: Shown) -> None:
    """Who is restarted has no margin in that window; who is late has used up all of NAV's."""
    for fault in shown.faults:
        margin = fault["margin_ns"]["value"]
        if fault["action"] in {"warm_restart", "cold_restart"}:
            assert margin is None
            assert fault["absent"]["margin"] == "none: the partition was not in NORMAL mode"
        else:
            assert 0 <= margin < fault["budget_ns"]
    late = [fault for fault in shown.faults if fault["type"] == "DEADLINE_MISSED"]
    assert late[0]["margin_ns"]["value"] == 0


def test_what_came_before_is_told(shown: Shown) -> None:
    """NAV sends its position each 20 ms; heaps are seen at least once a frame; an interrupt comes each window."""
    for fault in shown.faults:
        if fault["of_partition"] is not None:
            assert fault["memory"]["before_ns"] <= 20_000_000
            assert fault["memory"]["free_bytes"] > 0
        assert fault["interrupts"][0]["before_ns"] <= 2_500_000
    position = {m["object"] for f in shown.faults if f["of_partition"] == "NAV" for m in f["messages"]}
    assert position == {"nav_position"}
