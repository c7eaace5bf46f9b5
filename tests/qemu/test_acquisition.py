# SPDX-License-Identifier: Apache-2.0
"""A live target is asked for its log, its memory and another plan: ``vxmon hm-log``, ``plan``, ``target``.

What the scenario faults does is said in target_c/partitions: NAV's filter misses deadlines, each second at least one.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import vxmon
from tests.support.qemu import KERNEL
from vxmon.link.qemu import LIVE, Boot, DemoTarget, forward_options, free_port


@pytest.fixture(name="address", scope="module")
def faulty_target() -> Iterator[str]:
    port = free_port()
    with DemoTarget(KERNEL, Boot(0xACC0, "faults"), forward_options(port), LIVE):
        yield f"127.0.0.1:{port}"


def document(*arguments: str) -> dict[str, Any]:
    done = vxmon(*arguments, "--format", "json")
    assert done.status == 0, done.err
    content: dict[str, Any] = json.loads(done.out)
    return content


def wait_for_log(address: str, entries: int) -> list[dict[str, Any]]:
    end = time.monotonic() + 60
    while True:
        found: list[dict[str, Any]] = document("hm-log", "--target", address)["entries"]
        if len(found) >= entries:
            return found
        assert time.monotonic() < end, "the scenario makes no errors"
        time.sleep(1)


def test_the_newest_three_of_a_type_and_a_partition(address: str) -> None:
    wait_for_log(address, 10)
    chosen = ("--type", "DEADLINE_MISSED", "--partition", "NAV")
    newest = document("hm-log", "--target", address, *chosen, "-n", "3")["entries"]
    every = document("hm-log", "--target", address)["entries"]
    # More may have come between the two questions.
    before = [e for e in every if e["entry"] <= newest[0]["entry"]]
    of_type = [e for e in before if e["code"] == 0 and e["partition_name"] == "NAV"]
    assert newest == of_type[:3]
    assert {(e["code_name"], e["task_name"], e["level_name"]) for e in newest} == {
        ("DEADLINE_MISSED", "nav_filter", "process")
    }
    assert all(e["message"] is not None for e in newest)


def test_numbers_of_entries_have_no_gap(address: str) -> None:
    log = document("hm-log", "--target", address)
    numbers = [entry["entry"] for entry in log["entries"]]
    assert numbers == list(range(numbers[0], log["oldest"] - 1, -1))


def test_the_edr_log_by_facility(address: str) -> None:
    every = document("hm-log", "--target", address, "--log", "edr")["entries"]
    assert {"BOOT", "INIT"} <= {entry["facility"] for entry in every}
    boots = document("hm-log", "--target", address, "--log", "edr", "--type", "BOOT")["entries"]
    assert boots
    assert {entry["facility"] for entry in boots} == {"BOOT"}


def test_memory_of_every_partition(address: str) -> None:
    heaps = document("target", "memory", address)["partitions"]
    assert {"NAV", "DISPLAY", "FLIGHT", "IO", "MAINT"} <= {heap["name"] for heap in heaps}
    assert all(heap["high_water_bytes"] >= heap["allocated_bytes"] for heap in heaps)
    assert all(heap["largest_free_bytes"] <= heap["free_bytes"] for heap in heaps)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ('[filters]\npartitions = ["NOPE"]\n', "this target has no partition 'NOPE'; there are: DISPLAY, FLIGHT"),
        ('[events]\nevents = ["NOPE"]\n', "release 2.4 offers no event 'NOPE'"),
        ("[buffers]\nunits = 65000\n", "configure refused: the buffer memory holds"),
    ],
)
def test_refusals_are_worded_and_the_target_goes_on(address: str, tmp_path: Path, text: str, words: str) -> None:
    plan = tmp_path / "plan.toml"
    plan.write_text("format = 1\n" + text)
    done = vxmon("plan", "check", str(plan), "--target", address)
    assert done.status in (2, 3)
    assert words in done.err
    assert document("target", "info", address)["plan"] is None


def test_a_plan_on_the_target(address: str, tmp_path: Path) -> None:
    plan, session = tmp_path / "plan.toml", tmp_path / "s.pcapng"
    plan.write_text(
        'format = 1\n[events]\nclasses = ["MEM", "COMM"]\n[filters]\npartitions = ["NAV"]\n'
        "[sampling]\nmemory_ms = 100\n[stop]\nseconds = 1.0\n"
    )
    done = vxmon("capture", address, "--plan", str(plan), "-o", str(session))
    assert done.status == 0, done.err
    done = vxmon("print", str(session))
    lines = [line for line in done.out.decode().splitlines() if "MEM_" in line or "MSG_" in line]
    assert lines
    assert {line.split("partition:")[1].split()[0] for line in lines} == {"NAV"}
    samples = [line for line in lines if "MEM_SAMPLE" in line]
    assert 9 <= len(samples) <= 11  # at 0, 100, ... 900 ms, and at 1000 ms if that comes before the end


def test_an_unknown_scenario(address: str) -> None:
    done = vxmon("target", "scenario", "nope", address)
    assert done.status == 3
    assert "scenario refused: no scenario is called 'nope'" in done.err
    assert vxmon("target", "scenario", "schedule:7", address).status == 3
