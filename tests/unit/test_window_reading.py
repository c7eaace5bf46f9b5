# SPDX-License-Identifier: Apache-2.0
"""Reading only the blocks that a selection needs says the same as reading all of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.handmade import WORK, A, frames
from tests.support.recording import EVENTS, Recording
from vxmon.analysis.memory import analyze as analyze_of_memory
from vxmon.analysis.memory.analyze import MemoryRequest, analyze_memory
from vxmon.analysis.memory.named import named_figures as memory_figures
from vxmon.analysis.scene import Scope, window_rows
from vxmon.analysis.time import analyze
from vxmon.analysis.time.analyze import TimeRequest, analyze_time
from vxmon.analysis.time.named import named_figures
from vxmon.trace import StoredTrace, open_trace
from vxmon.trace.criteria import Selection
from vxmon.trace.faults import fault_instants
from vxmon.trace.selection import selected
from vxmon.trace.span import Span
from vxmon.trace.state import UNKNOWN

FRAMES = 30
# Frames are 1000 us; the first begins 100 us after the first record.
WINDOWS = [(0, 900), (100, 1100), (5000, 6000), (5333, 5334), (12_345, 16_789), (29_000, 40_000)]
HZ_NS = 1000


def faulty(frame_count: int = FRAMES, block_records: int = 5) -> Recording:
    """Frames with an error in each tenth, and a memory sample in each."""
    rec = frames(frame_count, block_records)
    for number in range(frame_count):
        rec.add(1000 + 1000 * number + 60, "MEM_SAMPLE", A, free=5000 - number, allocated=100 + number, largest=900)
    for number in range(3, frame_count, 10):
        rec.add(1000 + 1000 * number + 50, "HM_EVENT", A, code=0, task=WORK)
    rec.records.sort(key=lambda record: record.time)
    return rec


def figures(trace: StoredTrace, span: Span) -> list[object]:
    result = analyze_time(trace, TimeRequest(span=span, per_frame=True))
    memory = analyze_memory(trace, MemoryRequest(span=span))
    named = (named_figures(result, trace.facts), memory_figures(memory, trace.facts))
    return [(f.name, f.figure, f.whole, f.where) for some in named for f in some]


@pytest.mark.parametrize("drop", [(), (20, 21, 55)])
def test_a_window_is_analyzed_from_its_own_blocks(
    tmp_path: Path, drop: tuple[int, ...], monkeypatch: pytest.MonkeyPatch
) -> None:
    path = faulty().write(tmp_path / "s.pcapng", drop)
    with open_trace([path]) as trace:
        assert isinstance(trace, StoredTrace)
        for begin, end in WINDOWS:
            span = Span(begin * HZ_NS, end * HZ_NS)
            for module in (analyze, analyze_of_memory):
                monkeypatch.setattr(module, "window_rows", window_rows)
            part = figures(trace, span)
            for module in (analyze, analyze_of_memory):
                monkeypatch.setattr(module, "window_rows", lambda trace, _: trace.index)
            assert part == figures(trace, span), (begin, end)


def test_few_blocks_are_read_for_a_window(tmp_path: Path) -> None:
    """Two frames on either side of a window of one make five of thirty."""
    with open_trace([faulty().write(tmp_path / "s.pcapng")]) as trace:
        assert isinstance(trace, StoredTrace)
        rows = window_rows(trace, Scope(Span(10_100 * HZ_NS, 11_100 * HZ_NS)))
        assert len(rows) < len(trace.index) * 7 // FRAMES


@pytest.mark.parametrize("drop", [(), (20, 21, 55)])
def test_who_ran_is_known_behind_blocks_that_are_not_read(tmp_path: Path, drop: tuple[int, ...]) -> None:
    """Around faults in frames 3, 13 and 23, so that most blocks in between are left out."""
    with open_trace([faulty().write(tmp_path / "s.pcapng", drop)]) as trace:
        assert isinstance(trace, StoredTrace)
        whole = set(who(trace, Selection()))
        some = who(trace, Selection(around="any", reach_ns=500 * HZ_NS))
    assert 20 < len(some) < len(whole) // 4
    assert set(some) <= whole


def test_who_ran_is_not_claimed_where_switches_were_switched_off_before(tmp_path: Path) -> None:
    rec = faulty()
    rec.records = [r for r in rec.records if r.name != "TASK_SWITCH" or r.time < 4000]
    rec.add(4000, "FILTER", EVENTS["TASK_SWITCH"].id, state=0)
    rec.records.sort(key=lambda record: record.time)
    with open_trace([rec.write(tmp_path / "s.pcapng")]) as trace:
        assert isinstance(trace, StoredTrace)
        whole = set(who(trace, Selection()))
        for selection in (
            Selection(span=Span(20_000 * HZ_NS, 21_000 * HZ_NS)),
            Selection(around="any", reach_ns=50_000),
        ):
            some = who(trace, selection)
            assert some
            assert set(some) <= whole
            assert {row[-1] for row in some if row[0] > 4100} == {UNKNOWN}


def who(trace: StoredTrace, selection: Selection) -> list[tuple[int, ...]]:
    """(time, event, argument, partition, task) of what is selected."""
    chunks, books = selected(trace, selection, fault_instants, who=True)
    rows: list[tuple[int, ...]] = []
    for chunk in chunks:
        c, ran = chunk.columns, books.ran
        assert ran is not None
        columns = (c.time, c.id, c.arg, ran.partition, ran.task)
        rows += zip(*(column.tolist() for column in columns), strict=True)
    return rows
