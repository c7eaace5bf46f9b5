# SPDX-License-Identifier: Apache-2.0
"""Makes large sessions with known content: ``python -m tests.bench.make_session --events 5000000 -o FILE``."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from typing import Final

import numpy as np

from tests.bench.frames import CLOCK_HZ, TABLE, FrameLoad, Records, object_table, target_info
from vxmon.session.packets import Endpoint
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter
from vxmon.wire.block import encode_block
from vxmon.wire.control import encode_reply
from vxmon.wire.datagram import DEFAULT_DATAGRAM, DEFAULT_PORT, encode_datagram, split_message
from vxmon.wire.status import encode_end
from vxmon.wire.tables import encode_table
from vxmon.wire.types import (
    Block,
    Channel,
    Context,
    End,
    Flag,
    Header,
    Losses,
    Reply,
    Result,
    RunConfig,
    Started,
    StreamState,
    Table,
)

__all__ = ["BOOT", "main", "make_session"]

BOOT: Final = 0xC0FFEE
TARGET: Final = Endpoint(0x0A000001, DEFAULT_PORT)
HOST: Final = Endpoint(0x0A000002, 50000)
_FRAMES_AT_ONCE: Final = 2000
_BEGAN_NS: Final = 1_700_000_000 * 10**9
# Bytes of a block's message around its slots and start bits, at most.
_AROUND: Final = 110


def _cut(records: Records, room: int) -> Iterator[tuple[int, int]]:
    """Ranges of records that fit a datagram; each slot needs 8 bytes and a bit."""
    ends = np.append(records.at[1:], len(records.words) // 2)
    limit = room * 8 // 65
    begin = 0
    while begin < len(ends):
        end = int(np.searchsorted(ends, records.at[begin] + limit, side="right"))
        yield begin, end
        begin = end


class _Stream:
    """Blocks of one stream of records."""

    def __init__(self, stream: int, datagram: int, load: str) -> None:
        self._stream = stream
        self._room = datagram - 32 - _AROUND
        self.load = FrameLoad(seed=stream + 1, load=load)
        self.sequence = self.index = self.last_time = 0

    def blocks(self, first: int, count: int, limit: int) -> Iterator[Block]:
        """Blocks of some frames, up to ``limit`` records of the stream in all."""
        records = self.load.frames(first, count)
        marks = np.zeros(len(records.words) // 2, np.uint8)
        marks[records.at] = 1
        data = records.words.astype(">u4").tobytes()
        ends = [*records.at[1:].tolist(), len(marks)]
        for begin, fits in _cut(records, self._room):
            end = min(fits, begin + limit - self.index)
            if end <= begin:
                return
            low, high = int(records.at[begin]), ends[end - 1]
            yield Block(
                boot=BOOT, run=1, stream=self._stream, sequence=self.sequence, first_index=self.index,
                count=end - begin, first_time=int(records.time[begin]), last_time=int(records.time[end - 1]),
                context=Context(), losses=Losses(), starts=np.packbits(marks[low:high], bitorder="little").tobytes(),
                slots=data[8 * low : 8 * high], big_endian=True,
            )  # fmt: skip
            self.sequence += 1
            self.index += end - begin
            self.last_time = int(records.time[end - 1])


def _arrival(time: int) -> int:
    return _BEGAN_NS + time * 5 // 2


def _write_tables(writer: SessionWriter, streams: int) -> None:
    tables: list[Table] = [target_info(streams, BOOT), TABLE, object_table()]
    for number, table in enumerate(tables):
        header = Header(Channel.TABLE, BOOT, number, Flag.BIG_ENDIAN, message=number)
        for datagram in split_message(header, encode_table(table)):
            writer.add(_BEGAN_NS, TARGET, HOST, datagram)


def _control(channel: Channel, payload: bytes) -> bytes:
    return encode_datagram(Header(channel, BOOT, 0, Flag.BIG_ENDIAN), payload)


def make_session(
    path: str,
    events: int,
    streams: int = 1,
    datagram: int = DEFAULT_DATAGRAM,
    drop: int = 0,
    load: str = "mixed",
) -> dict[str, int]:
    """Write a session with ``events`` records in all; every ``drop``-th block is left out.

    Returns:
        how often each event occurs, in all blocks, left out or not.

    """
    sources = [_Stream(i, datagram, load) for i in range(streams)]
    share = [events // streams + (i < events % streams) for i in range(streams)]
    writer = SessionWriter(FileSink.open(path), {"command": ["make_session", str(events)]})
    _write_tables(writer, streams)
    started = Started(1, 0, RunConfig())
    writer.add(_BEGAN_NS, TARGET, HOST, _control(Channel.REPLY, encode_reply(Reply(1, Result.OK, "", started))))
    count = written = 0
    frame = 0
    while any(source.index < limit for source, limit in zip(sources, share, strict=True)):
        blocks = [b for s, n in zip(sources, share, strict=True) for b in s.blocks(frame, _FRAMES_AT_ONCE, n)]
        for block in sorted(blocks, key=lambda b: b.last_time):
            count += 1
            if not drop or count % drop:
                writer.add(_arrival(block.last_time), TARGET, HOST, encode_block(block))
                written += 1
        writer.flush()
        frame += _FRAMES_AT_ONCE
    states = tuple(
        StreamState(i, s.index, cut_index=s.index, cut_time=s.last_time, blocks=s.sequence)
        for i, s in enumerate(sources)
    )
    last = max(s.last_time for s in sources)
    end = _control(Channel.END, encode_end(End(1, last, 0, states)))
    writer.add(_arrival(last), TARGET, HOST, end)
    writer.finish(written, 0)
    totals: dict[str, int] = {}
    for source, limit in zip(sources, share, strict=True):
        for name, number in source.load.counts(limit).items():
            totals[name] = totals.get(name, 0) + number
    return totals


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=5_000_000)
    parser.add_argument("--streams", type=int, default=1)
    parser.add_argument("--datagram", type=int, default=DEFAULT_DATAGRAM)
    parser.add_argument("--drop", type=int, default=0, help="leave out every N-th block")
    parser.add_argument("--load", choices=["mixed", "short", "memory"], default="mixed", help="what the records are")
    parser.add_argument("-o", dest="output", required=True)
    given = parser.parse_args()
    counts = make_session(given.output, given.events, given.streams, given.datagram, given.drop, given.load)
    print(f"{given.output}: {sum(counts.values())} events, {CLOCK_HZ} Hz")


if __name__ == "__main__":
    main()
