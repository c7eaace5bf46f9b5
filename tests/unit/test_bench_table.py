# SPDX-License-Identifier: Apache-2.0
"""The table of the benches: verdicts, history, and the load beside."""

from __future__ import annotations

import json
import os
from pathlib import Path

from tests.bench.busy import busy_beside
from tests.bench.sizes import linear_rows
from tests.bench.table import Row, add_to_history

FACTS = {"commit": "c", "processor": "p", "processors": 2, "load": [0.1, 0.2, 0.3], "busy_beside": 0}
ROWS = [
    Row("fast enough", 3.0, "ns", goal=3.0),
    Row("too little", 5.0, "events/s", goal=6.0, more_is_better=True),
    Row("beside a peer", 1.0, "events/s", against="peer", ratio=4.9, ratio_goal=5.0),
    Row("only told", 7.0, "s"),
]


def test_a_goal_is_reached_or_not() -> None:
    assert [row.verdict for row in ROWS] == ["reached", "not reached", "not reached", ""]


def test_a_run_adds_a_line_with_what_has_a_goal(tmp_path: Path) -> None:
    path = tmp_path / "new" / "history.jsonl"
    for _ in range(2):
        add_to_history(path, FACTS, {"some": ROWS})
    lines = [json.loads(line) for line in path.read_text().splitlines()]
    assert len(lines) == 2
    assert lines[0]["figures"] == {"some: fast enough": 3.0, "some: too little": 5.0, "some: beside a peer": 4.9}
    assert lines[0]["commit"] == "c"


def test_what_an_event_more_costs_is_compared_between_steps() -> None:
    """100 ns an event from the first to the second size, 200 ns from there on: twice as much."""
    seconds = {1_000_000: 0.3, 2_000_000: 0.4, 3_000_000: 0.6}
    names = ("decode and sort, no index kept", "decode and sort, index kept", "print", "analyze time")
    rows = list(linear_rows({size: dict.fromkeys(names, (s, 1.0)) for size, s in seconds.items()}))
    assert [round(row.value, 6) for row in rows] == [200.0, 2.0] * len(names)
    assert rows[1].verdict == "not reached"


def test_busy_processes_end_with_the_measuring() -> None:
    before = set(children())
    with busy_beside(2):
        assert len(set(children()) - before) == 2
    assert set(children()) == before


def children() -> list[str]:
    return Path(f"/proc/self/task/{os.getpid()}/children").read_text().split()
