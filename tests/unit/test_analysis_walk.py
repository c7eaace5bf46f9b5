# SPDX-License-Identifier: Apache-2.0
"""Analyses that walk together find what each finds alone, and the records are read once."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.bench.make_session import make_session
from vxmon.analysis.gate.gather import SOURCES, GateRequest, gather
from vxmon.analysis.walk import Walker, walk
from vxmon.config.limits import Pattern
from vxmon.trace import StoredTrace, open_trace
from vxmon.trace.columns import Chunk
from vxmon.trace.span import parse_span
from vxmon.trace.state import States


@pytest.fixture
def trace(tmp_path: Path) -> Iterator[StoredTrace]:
    make_session(str(tmp_path / "s.pcapng"), 8000, streams=2, drop=9)
    with open_trace([str(tmp_path / "s.pcapng")]) as opened:
        assert isinstance(opened, StoredTrace)
        yield opened


class Counter(Walker):
    def __init__(self, rows: np.ndarray[tuple[int], np.dtype[np.void]]) -> None:
        self.rows = rows
        self.records = self.finished = 0
        self.segments: list[int] = []

    def feed(self, chunk: Chunk, states: States) -> None:
        self.records += len(chunk.columns)
        self.segments.append(sum(map(len, states.feed(chunk))))

    def finish(self, states: States) -> None:
        self.segments.append(sum(map(len, states.finish())))
        self.finished += 1


def count_reads(trace: StoredTrace, monkeypatch: pytest.MonkeyPatch) -> list[int]:
    reads: list[int] = []
    real = trace.chunks

    def chunks(index: np.ndarray[tuple[int], np.dtype[np.void]]) -> Iterator[Chunk]:
        reads.append(len(index))
        return real(index)

    monkeypatch.setattr(trace, "chunks", chunks)
    return reads


@pytest.mark.parametrize("request_", [GateRequest(), GateRequest(parse_span("20ms..60ms"))], ids=["whole", "window"])
def test_the_gate_finds_together_what_each_analysis_finds_alone(trace: StoredTrace, request_: GateRequest) -> None:
    alone = [figure for source in SOURCES for figure in source.compute(trace, request_)]
    assert len(alone) > 500
    assert gather(trace, [Pattern("*")], request_) == alone


def test_the_gate_reads_a_session_once(trace: StoredTrace, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = count_reads(trace, monkeypatch)
    gather(trace, [Pattern("*")], GateRequest())
    assert reads == [len(trace.index)]


def test_states_are_the_same_for_all_who_ask(trace: StoredTrace, monkeypatch: pytest.MonkeyPatch) -> None:
    reads = count_reads(trace, monkeypatch)
    some = trace.index[: len(trace.index) // 2]
    walkers = [Counter(trace.index), Counter(some), Counter(trace.index.copy())]
    walk(trace, walkers)
    assert reads == [len(trace.index), len(some)]
    assert [walker.finished for walker in walkers] == [1, 1, 1]
    assert walkers[0].records == walkers[2].records > walkers[1].records > 0
    assert walkers[0].segments == walkers[2].segments
    assert sum(walkers[0].segments) > sum(walkers[1].segments) > 0
