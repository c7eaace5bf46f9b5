# SPDX-License-Identifier: Apache-2.0
"""Missed deadlines against the health monitor's reports: by hand, and against the books of ``analyze time``."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.faults import error
from tests.support.handmade import LOW, WORK, A, complete, recording, release, start
from tests.support.recording import Recording
from tests.support.scheduling import random_session
from vxmon.analysis.deadlines import Deadlines
from vxmon.analysis.quality import Finding, analyze_quality
from vxmon.analysis.time.analyze import analyze_time
from vxmon.trace import StoredTrace, open_trace
from vxmon.trace.fields import FieldReader

DEADLINE_MISSED = 0
MISSED = ("HM_EVENT", A)


def session(*reports: tuple[int, int], block_records: int = 4) -> Recording:
    """WORK is released each 1000 with a deadline 300 later; it completes after 200, 400 (late), 250 and 500 (late).

    LOW has a deadline 100 after its release at 4000 that REPLENISH moves to 900 after it; it completes 500 after it.
    ``reports``: (time, task) of the health monitor.
    """
    rec = recording(block_records=block_records)
    rows: list[tuple[int, str, int, dict[str, int]]] = [(900, *start())]
    for number, took in enumerate((200, 400, 250, 500)):
        at = 1000 + 1000 * number
        rows += [(at, *release(WORK, at, number + 1, at + 300)), (at + took, *complete(WORK, number + 1))]
    rows += [(4000, *release(LOW, 4000, 1, 4100)), (4050, "DEADLINE", LOW, {"deadline": 4900, "activation": 1})]
    rows += [(4600, *complete(LOW, 1))]
    rows += [(at, *MISSED, error(DEADLINE_MISSED, task)) for at, task in reports]
    for row in sorted(rows, key=lambda row: row[0]):
        rec.rows([row])
    rec.rows([(5000, "STOP", 0)])
    return rec


def findings(rec: Recording, tmp_path: Path, drop: tuple[int, ...] = ()) -> list[Finding]:
    with open_trace([rec.write(tmp_path / "s", drop)]) as trace:
        assert isinstance(trace, StoredTrace)
        return [finding for finding in analyze_quality(trace).findings if finding.kind == "deadlines"]


def test_no_finding_where_both_agree(tmp_path: Path) -> None:
    assert findings(session((2301, WORK), (4301, WORK)), tmp_path) == []


def test_a_disagreement_is_a_warning(tmp_path: Path) -> None:
    (finding,) = findings(session((2301, WORK)), tmp_path)
    assert (finding.severity, finding.count) == ("warning", 1)
    assert finding.text == (
        "boot 0: WORK missed 2 deadlines by its releases and completions, 1 by the health monitor"
    )  # fmt: skip


def test_a_report_without_a_miss(tmp_path: Path) -> None:
    """The health monitor did not hear of the new deadline of LOW."""
    (finding,) = findings(session((2301, WORK), (4101, LOW), (4301, WORK)), tmp_path)
    assert finding.text.startswith("boot 0: LOW missed 0 deadlines by")


def test_edges_and_losses_excuse_a_difference(tmp_path: Path) -> None:
    # A report ahead of the first release may be of an activation that began before the recording.
    assert findings(session((950, WORK), (2301, WORK), (4301, WORK)), tmp_path) == []
    # In blocks of one record the report at 2301 is lost: two misses are seen, one report, and one record is missing.
    rec = session((2301, WORK), (4301, WORK), block_records=1)
    lost = next(n for n, r in enumerate(rec.records) if r.time == 2301)
    assert findings(rec, tmp_path, (lost,)) == []
    # The end cuts the last activation behind its deadline: the report may have come or not.
    for reports in ((2301, WORK), (4301, WORK)), ((2301, WORK),):
        rec = session(*reports)
        rec.records = [r for r in rec.records if r.time < 4400]
        rec.rows([(4400, "STOP", 0)])
        assert findings(rec, tmp_path) == []


def test_without_one_of_the_events_nothing_is_compared(tmp_path: Path) -> None:
    for name in ("HM_EVENT", "COMPLETE", "RELEASE", "DEADLINE"):
        assert findings(session((2301, WORK)).without(name), tmp_path) == []


@pytest.mark.parametrize("lossy", [False, True])
def test_the_columns_agree_with_the_books_of_time(lossy: bool, tmp_path: Path) -> None:
    """Another way to the same counts: activation by activation, with the clock of each task."""
    missed = 0
    for seed in range(25):
        rec = random_session(seed)
        blocks = len(rec.blocks())
        drop = tuple(random.Random(seed).sample(range(blocks), blocks // 4)) if lossy else ()
        with open_trace([rec.write(tmp_path / "s", drop)]) as trace:
            assert isinstance(trace, StoredTrace)
            (boot,) = trace.facts.boots
            time = analyze_time(trace).boots[0]
            own, reader = Deadlines(), FieldReader(boot.table)
            for chunk in trace.chunks():
                own.feed(chunk.columns, reader, chunk.losses)
            own.finish(boot.last_time or 0)
        for task in time.tasks:
            low, high = int(own.missed[task.index]), int((own.missed + own.maybe)[task.index])
            assert task.deadline_misses.value is not None
            assert low <= task.deadline_misses.value <= high, (seed, task.index)
            missed += low
    assert missed > 10
