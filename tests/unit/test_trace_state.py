# SPDX-License-Identifier: Apache-2.0
"""State columns of small sessions, by hand, and that the size of chunks does not show in them."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest

from tests.support.recording import Recording
from tests.support.scheduling import random_session
from vxmon.trace import Chunk, StoredTrace, open_trace
from vxmon.trace.batches import batched
from vxmon.trace.state import NOBODY, OPEN_END, OPEN_START, UNKNOWN, Segments, States, level_intervals
from vxmon.wire.events import EventId

U = UNKNOWN


def pieces(trace: StoredTrace, size: int) -> Iterator[Chunk]:
    """The trace's records in chunks of a size."""
    for chunk in trace.chunks():
        for at in range(0, len(chunk.columns), size):
            yield Chunk(chunk.boot, chunk.columns.take(slice(at, at + size)), chunk.losses)


def segments(path: str, size: int = 1 << 20) -> dict[int, Segments]:
    """All segments of each stream."""
    with open_trace([path]) as trace:
        assert isinstance(trace, StoredTrace)
        states = States(trace.facts, trace.index)
        parts = [some for chunk in pieces(trace, size) for some in states.feed(chunk)] + states.finish()
    streams = sorted({part.stream for part in parts})
    return {stream: Segments.join([p for p in parts if p.stream == stream]) for stream in streams}


def rows(found: Segments) -> list[tuple[int, ...]]:
    columns = (found.start, found.end, found.partition, found.window, found.task, found.depth, found.flags)
    return [tuple(row) for row in np.stack(columns, axis=1).tolist()]


def recording() -> Recording:
    rec = Recording(block_records=2)
    rec.rows(
        [
            (100, "START", 1, {"window": 0, "task": 5}),
            (200, "PARTITION_SWITCH", 2),
            (210, "TASK_SWITCH", 7, {"reason": 3, "previous": 5}),
            (250, "INT_ENTR", 3),
            (260, "INT_EXIT", 3),
            (300, "WINDOW", 1),
            (310, "TASK_SWITCH", NOBODY, {"reason": 0, "previous": 7}),
            (400, "STOP", 0),
        ]
    )
    return rec


def test_who_ran_at_each_level(tmp_path: Path) -> None:
    (found,) = segments(recording().write(tmp_path / "s")).values()
    assert rows(found) == [
        (100, 200, 1, 0, 5, 0, OPEN_START),
        (200, 210, 2, 0, 5, 0, 0),
        (210, 250, 2, 0, 7, 0, 0),
        (250, 260, 2, 0, 7, 1, 0),
        (260, 300, 2, 0, 7, 0, 0),
        (300, 310, 2, 1, 7, 0, 0),
        (310, 400, 2, 1, NOBODY, 0, OPEN_END),
    ]


@pytest.mark.parametrize(
    ("level", "expected"),
    [
        ("partition", [(100, 200, 1, OPEN_START), (200, 400, 2, OPEN_END)]),
        ("window", [(100, 300, 0, OPEN_START), (300, 400, 1, OPEN_END)]),
        ("task", [(100, 210, 5, OPEN_START), (210, 310, 7, 0), (310, 400, NOBODY, OPEN_END)]),
    ],
)
def test_intervals_of_a_level_have_interrupts_nested_inside(
    level: str, expected: list[tuple[int, ...]], tmp_path: Path
) -> None:
    (found,) = segments(recording().write(tmp_path / "s")).values()
    intervals = level_intervals(found, level)
    columns = (intervals.start, intervals.end, intervals.value, intervals.flags)
    assert [tuple(row) for row in np.stack(columns, axis=1).tolist()] == expected


def test_nothing_is_known_across_a_loss_and_the_next_block_says_where_it_goes_on(tmp_path: Path) -> None:
    (found,) = segments(recording().write(tmp_path / "s", drop=(1,))).values()
    # The records at 210 and 250 are missing; the head of the next block: partition 2, window 0, task 7, depth 1.
    assert rows(found)[:3] == [(100, 200, 1, 0, 5, 0, OPEN_START), (200, 260, U, U, U, U, 0), (260, 300, 2, 0, 7, 0, 0)]
    intervals = level_intervals(found, "task")
    assert intervals.end.tolist()[:2] == [200, 310]
    assert intervals.start.tolist()[1] == 260


def test_a_loss_at_the_begin_and_at_the_end(tmp_path: Path) -> None:
    (found,) = segments(recording().write(tmp_path / "s", drop=(0, 3))).values()
    assert rows(found)[0] == (100, 210, U, U, U, U, OPEN_START)
    assert rows(found)[-1] == (300, 400, U, U, U, U, OPEN_END)


def test_a_recording_that_just_ends_is_closed_at_its_last_record(tmp_path: Path) -> None:
    rec = recording()
    rec.records.pop()
    rec.end_seen = False
    (found,) = segments(rec.write(tmp_path / "s")).values()
    # The last switch, at 310, ended this one; of what came then nothing was recorded.
    assert rows(found)[-1] == (300, 310, 2, 1, 7, 0, 0)


@pytest.mark.parametrize("size", [1, 2, 7, 64])
def test_the_size_of_chunks_does_not_show(size: int, tmp_path: Path) -> None:
    for seed in range(12):
        session = random_session(seed)
        path = session.write(tmp_path / "s", drop=(seed, seed + 2) if seed % 2 else ())
        whole, cut = segments(path), segments(path, size)
        assert whole.keys() == cut.keys()
        for stream, found in whole.items():
            for level in ("partition", "window", "task", "depth"):
                a, b = level_intervals(found, level), level_intervals(cut[stream], level)
                assert a.start.tolist() == b.start.tolist()
                assert a.end.tolist() == b.end.tolist()
                assert a.value.tolist() == b.value.tolist()


def test_segments_follow_each_other_without_a_hole(tmp_path: Path) -> None:
    for seed in range(12):
        for found in segments(random_session(seed).write(tmp_path / "s", drop=(1, 3))).values():
            assert (found.start[1:] == found.end[:-1]).all()
            assert (found.end > found.start).all()
            assert found.flags[0] & OPEN_START


def test_batches_hold_the_same_records(tmp_path: Path) -> None:
    path = random_session(3).write(tmp_path / "s", drop=(2,))
    with open_trace([path]) as trace:
        assert isinstance(trace, StoredTrace)
        (whole,) = trace.chunks()
        joined = list(batched(pieces(trace, 10), 25))
        assert [len(chunk.columns) for chunk in joined][:-1] == [30] * (len(joined) - 1)
        for name in ("time", "stream", "id", "arg", "slots"):
            parts = np.concatenate([getattr(chunk.columns, name) for chunk in joined])
            assert (parts == getattr(whole.columns, name)).all()


def test_the_state_at_some_records(tmp_path: Path) -> None:
    """Whatever the size of chunks: who ran at the interrupt's entry and exit, which count themselves in the depth."""
    path = recording().write(tmp_path / "s")
    for size in (1, 3, 1 << 20):
        found = []
        with open_trace([path]) as trace:
            assert isinstance(trace, StoredTrace)
            states = States(trace.facts, trace.index, probes=(EventId.INT_ENTR, EventId.INT_EXIT, EventId.WINDOW))
            for chunk in pieces(trace, size):
                states.feed(chunk)
                for some in states.probed:
                    columns = (some.partition, some.window, some.task, some.depth)
                    found += list(zip(chunk.columns.time[some.at].tolist(), *map(list, columns), strict=True))
        assert found == [(250, 2, 0, 7, 1), (260, 2, 0, 7, 0), (300, 2, 1, 7, 0)]
