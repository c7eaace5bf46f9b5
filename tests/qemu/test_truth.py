# SPDX-License-Identifier: Apache-2.0
"""The analysis against the kernel's own books, in every scenario: within one clock tick an interval."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.burn import TICKS_AN_INSTRUCTION, loop_instructions, steps_of_work
from tests.support.tree import ROOT
from tests.support.truth import SCENARIOS, compare, record_truth
from vxmon.trace import open_trace
from vxmon.wire.events import EventId

# Arguments of ``work`` in target_c/partitions/flight/main.c.
FLIGHT_WORK = {"flight_control": 62, "flight_monitor": 10, "flight_guidance": 85}


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_time_agrees_with_the_kernels_own_books(scenario: str, tmp_path: Path) -> None:
    truth = record_truth(scenario, tmp_path)
    found = list(compare(truth))
    assert [c for c in found if not c.agrees] == []
    # Five figures a task, two a partition; module.xml has five partitions, and there is the module OS.
    assert len(truth.kernel.partitions()) == 6
    assert len(found) == 5 * len(truth.kernel.books("task")) + 2 * 6 > 100


def test_overload_shows_in_the_margin_of_its_partition(tmp_path: Path) -> None:
    """In the scenario nav_filter works past its window: module.xml gives NAV 2.5 ms twice a frame."""
    nominal, overload = (record_truth(name, tmp_path).time for name in ("nominal", "overload"))
    least = {}
    for name, boot in (("nominal", nominal), ("overload", overload)):
        windows = next(p.windows for p in boot.partitions if boot.partition_names[p.index] == "NAV")
        assert windows is not None
        least[name] = windows.margin.least.value
    assert least["overload"] == 0
    assert least["nominal"] is not None
    assert least["nominal"] > 0


def completions(pcap: Path, names: dict[int, str]) -> list[str]:
    """Names of the flight tasks in the order in which they completed; none of them interrupts another's work."""
    found: list[str] = []
    with open_trace([str(pcap)]) as trace:
        for chunk in trace.chunks():
            which = np.flatnonzero(chunk.columns.id == EventId.COMPLETE)
            found += [names[index] for index in chunk.columns.arg[which].tolist()]
    return [name for name in found if name in FLIGHT_WORK]


def test_burn_loops_of_known_instruction_count_agree_to_99_9_per_cent(tmp_path: Path) -> None:
    boot = record_truth("nominal", tmp_path).time
    calls = completions(tmp_path / "truth-nominal.pcap", dict(boot.task_names))
    # The monitor's first activation ends at once: there is no command yet.
    assert calls.pop(0) == "flight_monitor"
    steps = list(steps_of_work(FLIGHT_WORK[name] for name in calls))
    a_step = loop_instructions(ROOT / "build/ppce500/flight.elf") * TICKS_AN_INSTRUCTION
    for name in FLIGHT_WORK:
        execution = next(t.execution for t in boot.tasks if boot.task_names[t.index] == name)
        loops = [a_step * number for number, call in zip(steps, calls, strict=True) if call == name]
        assert execution.total.value is not None
        assert execution.most.value is not None
        # What an activation does besides is the same each time; the longest one says how much it is.
        besides = execution.most.value - max(loops)
        assert 0 < besides < 0.1 * max(loops)
        if name == "flight_monitor":
            loops.append(execution.least.value - besides if execution.least.value is not None else 0)
        assert execution.total.value - besides * len(loops) == pytest.approx(sum(loops), rel=0.001)
        if name == "flight_control":
            assert execution.least.value == pytest.approx(min(loops) + besides, rel=0.001)
