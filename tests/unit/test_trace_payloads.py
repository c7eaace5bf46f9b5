# SPDX-License-Identifier: Apache-2.0
"""Messages put together from records written by hand: whole, in parts, cut, with a part lost, interleaved."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.support.recording import Recording
from vxmon.trace import Chunk, StoredTrace, open_trace
from vxmon.trace.payloads import PayloadReader, Payloads
from vxmon.wire.events import EventId
from vxmon.wire.types import ObjectEntry, PartitionEntry, Payload, RunConfig

SEND, RECEIVE, CONTENT = EventId.MSG_SEND, EventId.MSG_RECEIVE, EventId.CONTENT
# Event, object, number, size, bytes that were recorded.
Found = tuple[int, int, int, int, bytes]


def recording(limit: int = 0, block_records: int = 4) -> Recording:
    config = RunConfig(payload=Payload.CONTENT, content_bytes=limit) if limit else RunConfig()
    rec = Recording(
        partitions=(PartitionEntry(1, "A"),), block_records=block_records, config=config,
        objects=(ObjectEntry(1, 2, 1, "one"), ObjectEntry(2, 2, 1, "two")),
    )  # fmt: skip
    rec.add(0, "START", 0, window=0, task=0, run=1)
    return rec


def pattern(size: int, start: int = 0) -> bytes:
    return bytes((start + i) & 0xFF for i in range(size))


def call(rec: Recording, time: int, index: int, number: int, size: int, event: str = "MSG_SEND", **more: int) -> None:
    rec.add(time, event, index, number=number, size=size, partition=1, **more)


def content(rec: Recording, time: int, index: int, number: int, data: bytes, offset: int = 0, stream: int = 0) -> None:
    rec.add(time, "CONTENT", index, number=number, offset=offset, length=len(data), content=data, stream=stream)


def whole(rec: Recording, time: int, index: int, number: int, data: bytes, event: str = "MSG_SEND") -> None:
    """A message as the agent records it: parts of at most 56 bytes."""
    call(rec, time, index, number, len(data), event)
    for offset in range(0, len(data), 56):
        content(rec, time, index, number, data[offset : offset + 56], offset)


def plain(messages: Payloads) -> list[Found]:
    found: list[Found] = []
    for part, payloads in messages.matrices():
        some = messages.take(part)
        columns = (some.event, some.object, some.number, some.size, some.length)
        for row, (*about, length) in zip(payloads, zip(*(c.tolist() for c in columns), strict=True), strict=True):
            event, index, number, size = about
            found += [(event, index, number, size, bytes(row[:length]))]
    return found


def read(rec: Recording, folder: Path, drop: tuple[int, ...] = (), records: int = 0) -> list[Found]:
    """All messages; the trace in pieces of so many records, or as it comes."""
    found: list[Found] = []
    with open_trace([rec.write(folder / "s.pcapng", drop)]) as trace:
        assert isinstance(trace, StoredTrace)
        reader = PayloadReader(trace.facts.boots[0])
        for chunk in trace.chunks():
            step = records or max(len(chunk.columns), 1)
            for at in range(0, len(chunk.columns), step):
                some = chunk.columns.take(np.arange(at, min(at + step, len(chunk.columns))))
                found += plain(reader.feed(Chunk(chunk.boot, some, chunk.losses)))
        rest = reader.finish()
    return found + (plain(rest) if rest is not None else [])


@pytest.mark.parametrize("records", [0, 1, 2])
def test_messages_come_whole_however_the_trace_is_cut(tmp_path: Path, records: int) -> None:
    rec = recording(limit=4096)
    sizes = [1, 8, 56, 57, 112, 200]
    for number, size in enumerate(sizes, 1):
        whole(rec, 10 * number, 1, number, pattern(size, number))
        whole(rec, 10 * number + 5, 1, number, pattern(size, number), "MSG_RECEIVE")
    expected = [
        (event, 1, number, size, pattern(size, number))
        for number, size in enumerate(sizes, 1)
        for event in (SEND, RECEIVE)
    ]
    assert read(rec, tmp_path, records=records) == expected


def test_of_a_long_message_only_the_begin_may_be_recorded(tmp_path: Path) -> None:
    rec = recording(limit=64)
    call(rec, 10, 1, 1, 200)
    content(rec, 10, 1, 1, pattern(56))
    content(rec, 10, 1, 1, pattern(8, 56), 56)
    whole(rec, 20, 1, 2, pattern(4))
    assert read(rec, tmp_path, records=1) == [(SEND, 1, 1, 200, pattern(64)), (SEND, 1, 2, 4, pattern(4))]


def test_behind_a_lost_part_nothing_is_taken(tmp_path: Path) -> None:
    # Blocks of 2: [START, call], [part at 0, part at 56], [part at 112, call], [part, ...]
    rec = recording(limit=4096, block_records=2)
    whole(rec, 10, 1, 1, pattern(150))
    whole(rec, 20, 1, 2, pattern(3))
    assert read(rec, tmp_path, drop=(1,)) == [(SEND, 1, 1, 150, b""), (SEND, 1, 2, 3, pattern(3))]


def test_messages_without_content_and_content_without_messages(tmp_path: Path) -> None:
    rec = recording(limit=64)
    call(rec, 10, 1, 1, 8)
    call(rec, 11, 1, 0, 0, "MSG_RECEIVE", result=8)
    content(rec, 20, 2, 5, pattern(8))
    content(rec, 30, 2, 5, pattern(8, 1))
    content(rec, 40, 2, 6, pattern(8), 56)
    assert sorted(read(rec, tmp_path)) == [
        (SEND, 1, 1, 8, b""), (RECEIVE, 1, 0, 0, b""), (CONTENT, 2, 5, -1, pattern(8)),
        (CONTENT, 2, 5, -1, pattern(8, 1)),
    ]  # fmt: skip


def test_messages_of_several_cpus_and_objects_are_kept_apart(tmp_path: Path) -> None:
    rec = recording(limit=4096)
    rec.add(10, "MSG_SEND", 1, number=1, size=60, partition=1)
    rec.add(10, "MSG_SEND", 1, stream=1, number=1, size=60, partition=1)
    rec.add(11, "MSG_SEND", 2, number=1, size=4, partition=1)
    content(rec, 12, 1, 1, pattern(56, 7), stream=1)
    content(rec, 13, 1, 1, pattern(56))
    content(rec, 14, 2, 1, pattern(4, 9))
    content(rec, 15, 1, 1, pattern(4, 63), 56, stream=1)
    content(rec, 16, 1, 1, pattern(4, 56), 56)
    assert sorted(read(rec, tmp_path)) == [
        (SEND, 1, 1, 60, pattern(60)), (SEND, 1, 1, 60, pattern(60, 7)), (SEND, 2, 1, 4, pattern(4, 9)),
    ]  # fmt: skip


def test_a_length_that_lies_is_bounded_by_the_record(tmp_path: Path) -> None:
    rec = recording(limit=64)
    call(rec, 10, 1, 1, 8)
    rec.add(10, "CONTENT", 1, number=1, offset=0, length=60000, content=pattern(8))
    assert read(rec, tmp_path) == [(SEND, 1, 1, 8, pattern(8))]
