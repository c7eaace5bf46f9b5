# SPDX-License-Identifier: Apache-2.0
"""The ring keeps the newest, names survive, and what was discarded on purpose never looks like a loss."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.sessions import HOST, NAMES, TARGET, Target
from vxmon.errors import OutputError
from vxmon.session.reader import open_session
from vxmon.session.ring import RingRecorder
from vxmon.session.rooms import Rooms
from vxmon.trace import open_trace
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.tables import decode_table
from vxmon.wire.types import Channel, ObjectTable, TaskEntry

START = 1_700_000_000_000_000_000


def feed(ring: RingRecorder, datagrams: list[bytes], at: int = 0) -> None:
    slots = np.zeros((len(datagrams), 2048), np.uint8)
    for row, data in zip(slots, datagrams, strict=True):
        row[: len(data)] = np.frombuffer(data, np.uint8)
    lengths = np.array([len(d) for d in datagrams], np.int64)
    times = START + (at + np.arange(len(datagrams), dtype=np.int64)) * 1000
    ring.add_batch(Rooms.of(times, slots, lengths), TARGET, HOST)


def blocks_of(path: Path) -> list[int]:
    """Sequences of the blocks in a session, in its order."""
    with open_session(str(path)) as session:
        datagrams = [decode_datagram(batch.payload(i)) for batch in session.datagrams() for i in range(len(batch))]
    return [decode_block(d).sequence for d in datagrams if d.header.channel == Channel.BLOCK]


def points(target: Target, count: int) -> list[bytes]:
    """Blocks of 100 records."""
    return [target.points(range(t := 100 * target.blocks.get(0, 0), t + 100)) for _ in range(count)]


def test_the_newest_is_kept_within_the_size(tmp_path: Path) -> None:
    path, size, target = tmp_path / "r.pcapng", 200_000, Target()
    ring = RingRecorder(str(path), size, {})
    feed(ring, [*target.started(), *target.tables()])
    for i in range(100):
        feed(ring, points(target, 10), i)
        assert ring.size <= size
    feed(ring, target.end(100 * 1000))
    ring.finish(1000, 0)
    kept = blocks_of(path)
    assert kept == list(range(kept[0], 1000))
    assert size * 0.8 < path.stat().st_size < size * 1.05
    assert not (tmp_path / "r.pcapng.ring").exists()


def test_nothing_is_left_out_while_there_is_room(tmp_path: Path) -> None:
    path, target = tmp_path / "r.pcapng", Target()
    ring = RingRecorder(str(path), 1 << 24, {"command": ["x"]})
    sent = [*target.started(), *target.tables(), *points(target, 50), *target.end(5000)]
    ring.add(START - 1, HOST, TARGET, b"VXMN\x01\x00\x01\x20 a command")
    feed(ring, sent)
    ring.finish(len(sent), 3)
    with open_session(str(path)) as session:
        found = [batch.payload(i) for batch in session.datagrams() for i in range(len(batch))]
        assert found[1:] == sent
        assert session.metadata["command"] == ["x"]
        assert (session.statistics.received, session.statistics.dropped) == (len(sent), 3)


@pytest.mark.parametrize("stragglers", [0, 1])
def test_what_was_discarded_is_no_loss(tmp_path: Path, stragglers: int) -> None:
    """Old blocks that are sent again late would make all blocks between them and the oldest kept look lost."""
    path, target = tmp_path / "r.pcapng", Target()
    ring = RingRecorder(str(path), 100_000, {})
    feed(ring, [*target.started(), *target.tables()])
    first = points(target, 20)
    feed(ring, first)
    for i in range(40):
        feed(ring, points(target, 10), i)
    feed(ring, first[:stragglers])
    feed(ring, target.end(100 * 1000))
    ring.finish(1000, 0)
    kept = blocks_of(path)
    assert kept == list(range(kept[0], 420))
    with open_trace([str(path)]) as trace:
        (stream,) = trace.facts.streams
        assert stream.delivered == 100 * len(kept)
        assert stream.before_attach == 100 * kept[0]
        assert stream.lost_records == 0


def test_a_real_gap_in_what_is_kept_is_a_loss(tmp_path: Path) -> None:
    path, target = tmp_path / "r.pcapng", Target()
    ring = RingRecorder(str(path), 100_000, {})
    feed(ring, [*target.started(), *target.tables()])
    for i in range(40):
        feed(ring, points(target, 10), i)
    points(target, 3)
    feed(ring, [*points(target, 10), *target.end(100 * 1000)])
    ring.finish(1000, 0)
    with open_trace([str(path)]) as trace:
        (stream,) = trace.facts.streams
        assert stream.lost["link"] == 300


def test_names_survive_the_segment_they_came_in(tmp_path: Path) -> None:
    path, target = tmp_path / "r.pcapng", Target()
    ring = RingRecorder(str(path), 50_000, {})
    feed(ring, target.tables())
    many = ObjectTable(2, NAMES.schedules, NAMES.partitions, tuple(TaskEntry(i, 1, f"task_{i}") for i in range(120)))
    feed(ring, target.tables(many))
    for i in range(60):
        feed(ring, points(target, 10), i)
    ring.finish(1000, 0)
    with open_trace([str(path)]) as trace:
        (boot,) = trace.facts.boots
        assert boot.table_source == "session"
        assert boot.info is not None
    with open_session(str(path)) as session:
        first = [decode_datagram(batch.payload(i)) for batch in session.datagrams() for i in range(len(batch))]
    assert any(d.header.fragments > 1 for d in first if d.header.channel == Channel.TABLE), "a table in fragments"


def test_tables_kept_do_not_grow_without_end(tmp_path: Path) -> None:
    """Tables are repeated each 5 s, and grow with every task that is created: the newest ones say all."""
    path, target = tmp_path / "r.pcapng", Target()
    ring = RingRecorder(str(path), 50_000, {})
    for version in range(1, 60):
        tasks = tuple(TaskEntry(i, 1, f"t{i}") for i in range(version % 20 + 1))
        feed(ring, [*target.tables(ObjectTable(version, (), NAMES.partitions, tasks)), *points(target, 20)])
    ring.finish(1000, 0)
    versions = []
    with open_session(str(path)) as session:
        for batch in session.datagrams():
            for i in range(len(batch)):
                datagram = decode_datagram(batch.payload(i))
                if datagram.header.channel == Channel.TABLE and datagram.header.fragments == 1:
                    table = decode_table(datagram.payload)
                    versions += [table.version] if isinstance(table, ObjectTable) else []
    assert versions[-1] == 59
    assert len(versions) < 10


def test_a_killed_ring_leaves_readable_segments(tmp_path: Path) -> None:
    path, target = tmp_path / "r.pcapng", Target()
    ring = RingRecorder(str(path), 100_000, {})
    for i in range(20):
        feed(ring, points(target, 10), i)
    ring.close()
    kept = [number for part in sorted((tmp_path / "r.pcapng.ring").iterdir()) for number in blocks_of(part)]
    assert kept == list(range(kept[0], 200))


def test_a_folder_that_cannot_be_made_is_an_error(tmp_path: Path) -> None:
    (tmp_path / "x.ring").write_text("in the way")
    with pytest.raises(OutputError, match="cannot be used for segments"):
        RingRecorder(str(tmp_path / "x"), 1000, {})


def test_segments_of_an_earlier_ring_are_not_touched(tmp_path: Path) -> None:
    path, target = tmp_path / "r.pcapng", Target()
    ring = RingRecorder(str(path), 100_000, {})
    feed(ring, points(target, 10))
    ring.close()
    with pytest.raises(
        OutputError, match=r"r\.pcapng\.ring: an earlier ring .*: see vxmon print .*/\*, then delete it"
    ):
        RingRecorder(str(path), 100_000, {})
    assert [number for part in ring.folder.iterdir() for number in blocks_of(part)] == list(range(10))
