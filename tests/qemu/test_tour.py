# SPDX-License-Identifier: Apache-2.0
"""The gate on the demo target: the README's tour, and the demo's own limits in two scenarios."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.commands import vxmon
from tests.support.tour import Step, differences, read_tour, run_tour
from tests.support.tree import ROOT

LIMITS = str(ROOT / "target_c/partitions/limits.toml")


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("tour")


@pytest.fixture(scope="module")
def steps(folder: Path) -> list[Step]:
    return run_tour(folder)


def test_the_tour_is_what_the_commands_say(steps: list[Step]) -> None:
    written = read_tour()
    assert len(written) == 5
    assert [differences(a, b) for a, b in zip(written, steps, strict=True)] == [[]] * 5, (
        "run python -m tests.support.tour when the demo has changed"
    )


def test_nominal_passes_the_demos_limits(steps: list[Step], folder: Path) -> None:
    assert steps
    done = vxmon("check", str(folder / "good.pcapng"), "--limits", LIMITS, "--fail-on", "warn")
    assert (done.status, done.err) == (0, ""), done.out.decode()


def test_overload_fails_and_names_partition_window_frame_and_by_how_much(steps: list[Step], folder: Path) -> None:
    """NAV has 2.5 ms windows; 25 % of them are 625 us, and the scenario leaves nothing."""
    assert steps
    done = vxmon("check", str(folder / "next.pcapng"), "--limits", LIMITS)
    assert (done.status, done.err) == (1, "")
    out = done.out.decode()
    assert "partition.NAV.margin.min is 0 us, 625 us below min 25 % = 625 us; worst: window 0.9, frame " in out
    assert "task.NAV.nav_filter.deadline_misses is " in out
    assert "FLIGHT" not in "".join(line for line in out.splitlines() if ": error: " in line)
