# SPDX-License-Identifier: Apache-2.0
"""``vxmon plan``, ``capture --plan``, ``hm-log`` and ``target`` against the agent on Linux.

What the simulated module does is said in target_c/ports/posix/activity.c: each error of code C is of partition
C % 4 + 1 at address 0x1000 + C, messages are 100 bytes with their number in front.
"""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Done, events, info, kill_started, posix_target, vxmon
from tests.support.schemas import valid

CODES = (
    "DEADLINE_MISSED", "APPLICATION_ERROR", "NUMERIC_ERROR", "ILLEGAL_REQUEST", "STACK_OVERFLOW",
    "MEMORY_VIOLATION", "HARDWARE_FAULT", "POWER_FAIL",
)  # fmt: skip
PARTITIONS = ("NAV", "DISPLAY", "COMM", "MAINT")
TASKS = ("nav_filter", "dsp_draw", "com_receive", "mnt_monitor")


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    kill_started()


@pytest.fixture(name="plan")
def plan_file(tmp_path: Path) -> Path:
    return tmp_path / "plan.toml"


def fine(done: Done) -> str:
    assert done.status == 0, done.err
    return done.out.decode()


def document(done: Done) -> dict[str, Any]:
    content: dict[str, Any] = json.loads(fine(done))
    return content


def test_a_plan_from_init_to_capture(plan: Path, tmp_path: Path) -> None:
    session = tmp_path / "s.pcapng"
    fine(vxmon("plan", "init", str(plan)))
    assert "fine for release 2.4" in fine(vxmon("plan", "check", str(plan)))
    assert vxmon("plan", "init", str(plan)).status == 3
    plan.write_text(
        'format = 1\n[events]\nclasses = ["MEM", "COMM"]\n[filters]\nwithout_partitions = ["NAV"]\n'
        "[sampling]\nmemory_ms = 50\nstack_ms = 100\n[buffers]\nunit_slots = 256\n[stop]\nseconds = 0.5\n"
    )
    with posix_target() as target:
        assert "fine for 127.0.0.1" in fine(vxmon("plan", "check", str(plan), "--target", target.address))
        fine(vxmon("capture", target.address, "--plan", str(plan), "-o", str(session)))
    (run,) = [run for boot in info(session)["boots"] for run in boot["runs"]]
    assert run["end_reason"] == "autostop"
    config = run["config"]
    assert (config["memory_ms"], config["stack_ms"], config["operations_ms"]) == (50, 100, 1000)
    assert (config["hidden_partitions"], config["unit_slots"], config["payload"]) == ([1], 256, "metadata")
    lines = events(session)
    assert not any("MEM" in line and "partition:NAV" in line for line in lines)
    # All messages are NAV's, so none is left; the other heaps are sampled at 0, 50, ... ms.
    assert not any("MSG_" in line for line in lines)
    samples = [line for line in lines if "MEM_SAMPLE" in line and "partition:COMM" in line]
    assert 5 <= len(samples) <= 11
    assert all("free:61440 allocated:4096 blocks:1 largest:61440 high_water:4096" in line for line in samples)


def test_content_by_plan_is_one_line_a_record(plan: Path, tmp_path: Path) -> None:
    session = tmp_path / "s.pcapng"
    plan.write_text('format = 1\n[events]\nclasses = ["COMM"]\n[messages]\npayload = "content"\ncontent_bytes = 60\n')
    with posix_target() as target:
        fine(vxmon("capture", target.address, "--plan", str(plan), "-d", "0.2", "-o", str(session)))
    lines = events(session)
    content = [line for line in lines if ":CONTENT" in line]
    sent = [line for line in lines if ":MSG_SEND" in line]
    assert len(sent) > 3
    assert len(content) == 4 * len(sent)  # sent and received, each in 56 and 4 bytes
    for line in sent:
        number = int(line.split("number:")[1].split()[0])
        bytes_ = bytes([*number.to_bytes(4, "big"), *((i + number) % 256 for i in range(4, 60))])
        assert sum(f"number:{number} offset:0 length:56 content:{bytes_[:56].hex()}" in c for c in content) == 2
        assert sum(f"number:{number} offset:56 length:4 content:{bytes_[56:].hex()}" in c for c in content) == 2


def test_apply_is_taken_by_the_next_run_and_told_by_info(plan: Path) -> None:
    plan.write_text("format = 1\n[sampling]\nmemory_ms = 123\n")
    with posix_target() as target:
        before = document(vxmon("target", "info", target.address, "--format", "json"))
        assert before["plan"] is None
        said = fine(vxmon("plan", "apply", str(plan), target.address))
        assert "applied to the next run started without a plan (capture brings its own, --plan)" in said
        after = document(vxmon("target", "info", target.address, "--format", "json"))
    assert (after["running"], after["plan"]["memory_ms"]) == (False, 123)
    assert after["partitions"]["1"] == "NAV"


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("[buffers]\nunits = 60000\n", "configure refused: the buffer memory holds"),
        ('[filters]\npartitions = ["X"]\n', "this target has no partition 'X'; there are: COMM, DISPLAY, MAINT"),
        ('[events]\nevents = ["X"]\n', "release 2.4 offers no event 'X'"),
    ],
)
def test_refusals_of_a_target(plan: Path, text: str, words: str) -> None:
    plan.write_text("format = 1\n" + text)
    with posix_target() as target:
        done = vxmon("plan", "check", str(plan), "--target", target.address)
        assert done.status in (2, 3)
        assert words in done.err
        assert done.err.count("\n") == 1
        assert document(vxmon("target", "info", target.address, "--format", "json"))["plan"] is None


def test_a_plan_and_options_that_say_the_same_are_refused(plan: Path, tmp_path: Path) -> None:
    plan.write_text("format = 1\n")
    done = vxmon("capture", "127.0.0.1", "--plan", str(plan), "-E", "WINDOW", "-o", str(tmp_path / "s"))
    assert done.status == 2
    assert "--plan says what to record" in done.err


def test_hm_log_live_and_from_a_session(tmp_path: Path) -> None:
    with posix_target() as target:
        for _ in range(4):
            fine(vxmon("target", "scenario", "faults", target.address))
        live = document(vxmon("hm-log", "--target", target.address, "--format", "json"))
        newest = document(
            vxmon("hm-log", "--target", target.address, "--type", "DEADLINE_MISSED", "--partition", "NAV", "-n", "3",
            "--format", "json")
        )  # fmt: skip
        other = vxmon("hm-log", "--target", target.address, "--partition", "NOPE")
    assert valid("hm-log-1", json.dumps(live)) == live
    assert [entry["entry"] for entry in live["entries"]] == list(range(31, -1, -1))
    for entry in live["entries"]:
        code = entry["entry"] % 8
        expected = (code, CODES[code], PARTITIONS[code % 4], TASKS[code % 4], f"0x{0x1000 + code:08x}", "log")
        keys = ("code", "code_name", "partition_name", "task_name", "address", "action_name")
        assert tuple(entry[key] for key in keys) == expected
        assert entry["message"] == "simulated"
    assert [entry["entry"] for entry in newest["entries"]] == [24, 16, 8]
    assert other.status == 2
    assert "no partition 'NOPE'; there are: COMM, DISPLAY, MAINT, MODULE_OS, NAV" in other.err


def test_hm_log_of_another_log_and_format() -> None:
    with posix_target() as target:
        fine(vxmon("target", "scenario", "faults", target.address))
        rows = list(csv.DictReader(io.StringIO(fine(vxmon("hm-log", "--target", target.address, "--format", "csv")))))
        none = fine(vxmon("hm-log", "--target", target.address, "--log", "edr"))
        wrong = vxmon("hm-log", "--target", target.address, "--type", "FOO")
    assert [row["code_name"] for row in rows] == list(reversed(CODES))
    assert none == "no entries\n"
    assert wrong.status == 2
    assert "'FOO' is no type of the log; there are: APPLICATION_ERROR" in wrong.err


def test_memory_of_partitions() -> None:
    with posix_target() as target:
        heaps = document(vxmon("target", "memory", target.address, "--format", "json"))["partitions"]
    assert [heap["name"] for heap in heaps] == ["MODULE_OS", *PARTITIONS]
    assert {heap["allocated_bytes"] for heap in heaps} == {4096}


def test_no_target_and_no_session() -> None:
    assert vxmon("hm-log").status == 2
    assert vxmon("target", "scenario", "x" * 40, "127.0.0.1").status == 2
    done = vxmon("target", "scenario", "nope", "127.0.0.1:9")
    assert done.status == 3
    assert "does not answer" in done.err
