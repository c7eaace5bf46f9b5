# SPDX-License-Identifier: Apache-2.0
"""The analysis against the kernel's own books, in every scenario: within one clock tick an interval."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.truth import SCENARIOS, compare, record_truth


@pytest.mark.parametrize("scenario", SCENARIOS)
def test_time_agrees_with_the_kernels_own_books(scenario: str, tmp_path: Path) -> None:
    found = list(compare(record_truth(scenario, tmp_path)))
    assert [c for c in found if not c.agrees] == []
    # 27 tasks of six partitions: five figures a task, two a partition.
    assert len(found) == 27 * 5 + 6 * 2


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
