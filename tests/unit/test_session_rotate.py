# SPDX-License-Identifier: Apache-2.0
"""A session in several files: one session when read together, and no block in two of them or in the wrong one."""

from __future__ import annotations

from itertools import chain, pairwise
from pathlib import Path

import pytest

from tests.support.sessions import HOST, TARGET, Target
from tests.unit.test_session_ring import START, blocks_of, feed, points
from vxmon.errors import OutputError
from vxmon.session.reader import open_session
from vxmon.session.rotate import RotatingRecorder, part_name
from vxmon.trace import open_trace


def parts(folder: Path) -> list[Path]:
    return sorted(folder.glob("r-*.pcapng"))


def feed_parts(recorder: RotatingRecorder, datagrams: list[bytes], at: int = 0) -> None:
    feed(recorder, datagrams, at)  # type: ignore[arg-type]  # any recorder takes them


def record(folder: Path, blocks: int, size: int = 100_000, seconds: float = 0) -> Target:
    target = Target()
    recorder = RotatingRecorder(str(folder / "r.pcapng"), size, seconds, {"command": ["x"]})
    feed_parts(recorder, [*target.started(), *target.tables()])
    for i in range(blocks // 10):
        feed_parts(recorder, points(target, 10), i * 1_000_000)
    feed_parts(recorder, target.end(10**9), blocks * 100_000)
    recorder.finish(blocks, 0)
    return target


def test_files_of_a_size_are_one_session(tmp_path: Path) -> None:
    record(tmp_path, 400)
    files = parts(tmp_path)
    assert len(files) > 3
    assert [file.name for file in files] == [Path(part_name("r.pcapng", n + 1)).name for n in range(len(files))]
    assert all(100_000 <= file.stat().st_size < 120_000 for file in files[:-1])
    assert [sequence for file in files for sequence in blocks_of(file)] == list(range(400))
    with open_trace([str(file) for file in files]) as trace:
        (stream,) = trace.facts.streams
        assert (stream.recorded, stream.delivered, stream.lost_records) == (40_000, 40_000, 0)
        assert not trace.facts.incomplete


def test_files_of_a_time(tmp_path: Path) -> None:
    """A batch each 1,000,000 x 1000 ns, that is each second."""
    record(tmp_path, 100, size=0, seconds=2)
    assert len(parts(tmp_path)) == 5


def test_each_file_has_its_own_tables_and_says_which_part_it_is(tmp_path: Path) -> None:
    record(tmp_path, 400)
    for number, file in enumerate(parts(tmp_path), 1):
        with open_trace([str(file)]) as trace:
            (boot,) = trace.facts.boots
            assert "session" in boot.table_source
            assert boot.names.partitions[1].name == "NAV"
            (stream,) = trace.facts.streams
            assert stream.lost_records == 0
            assert trace.facts.files[0].metadata["part"] == {"number": number, "of": "r.pcapng"}


def test_a_late_block_goes_to_the_file_in_which_it_was_missed(tmp_path: Path) -> None:
    target = Target()
    recorder = RotatingRecorder(str(tmp_path / "r.pcapng"), 100_000, 0, {})
    feed_parts(recorder, [*target.started(), *target.tables()])
    some = points(target, 200)
    late = [3, 50, 119]
    feed_parts(recorder, [some[at] for at in range(120) if at not in late])
    feed_parts(recorder, [some[at] for at in range(120, 150)], 1)
    feed_parts(recorder, [some[at] for at in (119, 3, 50, *range(150, 200))], 2)
    feed_parts(recorder, target.end(10**9), 3)
    recorder.finish(200, 0)
    held = [blocks_of(file) for file in parts(tmp_path)]
    assert sorted(chain.from_iterable(held)) == list(range(200))
    for before, after in pairwise(held):
        assert max(before) < min(after), "the files have no blocks between those of others"
    with open_session(str(parts(tmp_path)[0])) as session:
        list(session.datagrams())
        (stream,) = session.metadata["cut"]["streams"]
        assert stream == [target.boot, 1, 0, 0, 0, 100 * (max(held[0]) + 1), 100 * (max(held[0]) + 1)]


def test_a_file_that_stays_incomplete_is_closed_in_the_end(tmp_path: Path) -> None:
    """Block 5 never comes; ten seconds after the next file was begun the first one is closed."""
    target = Target()
    recorder = RotatingRecorder(str(tmp_path / "r.pcapng"), 100_000, 0, {})
    some = points(target, 300)
    feed_parts(recorder, [*target.started(), *target.tables(), *(b for at, b in enumerate(some[:200]) if at != 5)])
    feed_parts(recorder, some[200:210], 1_000)
    with open_session(str(parts(tmp_path)[0])) as session:
        list(session.datagrams())
        assert "cut" not in session.metadata
    feed_parts(recorder, some[210:220], 11_000_000)
    with open_session(str(parts(tmp_path)[0])) as session:
        list(session.datagrams())
        assert session.metadata["cut"]["what"] == "part 1"
    feed_parts(recorder, [some[5]], 11_001_000)
    recorder.finish(0, 0)
    assert 5 in blocks_of(parts(tmp_path)[1]), "a late block is still kept"
    with open_trace([str(file) for file in parts(tmp_path)]) as trace:
        assert trace.facts.streams[0].delivered == 22_000
        assert trace.facts.lost == 0


def test_files_of_an_earlier_session_are_not_mixed_with_these(tmp_path: Path) -> None:
    record(tmp_path, 20)
    with pytest.raises(OutputError, match="earlier session"):
        RotatingRecorder(str(tmp_path / "r.pcapng"), 100_000, 0, {})


def test_the_recorder_takes_what_is_sent_too(tmp_path: Path) -> None:
    recorder = RotatingRecorder(str(tmp_path / "r.pcapng"), 100_000, 0, {})
    recorder.add(START, HOST, TARGET, b"VXMN" + bytes(60))
    recorder.close()
    recorder = RotatingRecorder(str(tmp_path / "s.pcapng"), 100_000, 0, {})
    recorder.add(START, HOST, TARGET, b"VXMN" + bytes(60))
    recorder.flush()
    assert recorder.size == (tmp_path / "s-0001.pcapng").stat().st_size
    recorder.close()
