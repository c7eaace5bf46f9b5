# SPDX-License-Identifier: Apache-2.0
"""Hand-made sessions for tests: what a target would send, datagram by datagram, in a session file."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from vxmon.session.packets import Endpoint
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter
from vxmon.wire.block import encode_block, make_block
from vxmon.wire.control import encode_reply
from vxmon.wire.datagram import DEFAULT_PORT, encode_datagram, split_message
from vxmon.wire.events import TABLES
from vxmon.wire.slots import Value, encode_record
from vxmon.wire.status import encode_end, encode_target_heartbeat
from vxmon.wire.tables import encode_table
from vxmon.wire.types import (
    Block,
    Channel,
    Context,
    End,
    Event,
    Flag,
    Header,
    Losses,
    ObjectEntry,
    ObjectTable,
    PartitionEntry,
    Reply,
    Result,
    RunConfig,
    Started,
    StreamState,
    Table,
    TargetHeartbeat,
    TargetInfo,
    TaskEntry,
)

__all__ = ["BOOT", "EVENTS", "HZ", "NAMES", "TABLE", "Target", "record", "write_session"]

BOOT = 0x1234ABCD
HZ = 400_000_000
TABLE = TABLES["2.4"]
EVENTS: dict[str, Event] = {event.name: event for event in TABLE.events}
NAMES = ObjectTable(
    version=1,
    partitions=(PartitionEntry(0, "MODULE"), PartitionEntry(1, "NAV"), PartitionEntry(2, "FMS")),
    tasks=(TaskEntry(0, 1, "nav_filter"), TaskEntry(1, 2, "fms_plan")),
    objects=(ObjectEntry(0, 4, 1, "nav_out"),),
)

TARGET = Endpoint(0x0A000001, DEFAULT_PORT)
HOST = Endpoint(0x0A000002, 50000)


def record(
    name: str, arg: int, time: int, values: Mapping[str, Value] | None = None, *, big_endian: bool = True
) -> bytes:  # fmt: skip
    """A record of the 2.4 table."""
    return encode_record(EVENTS[name], arg, time, values or {}, big_endian)


@dataclass
class Target:
    """Makes datagrams of one boot. A block's sequence, first index and losses follow from those made before."""

    boot: int = BOOT
    run: int = 1
    big_endian: bool = True
    hz: int = HZ
    table: Table | None = TABLE
    release: str = "2.4"
    blocks: dict[int, int] = field(default_factory=dict)
    index: dict[int, int] = field(default_factory=dict)
    losses: dict[int, Losses] = field(default_factory=dict)
    _sequence: int = 0

    def message(self, channel: Channel, payload: bytes) -> list[bytes]:
        """Datagrams of a message."""
        self._sequence += 1
        flags = Flag.BIG_ENDIAN if self.big_endian else 0
        header = Header(channel, self.boot, self._sequence, flags, message=self._sequence & 0xFFFF)
        return split_message(header, payload)

    def info(self, streams: int = 1) -> list[bytes]:
        fingerprint = getattr(self.table, "fingerprint", 0)
        return self.message(
            Channel.TABLE,
            encode_table(
                TargetInfo(
                    os_name="demo", os_release=self.release, board="ppce500", agent_version="0.1.0", clock_hz=self.hz,
                    big_endian=self.big_endian, streams=streams, table_fingerprint=fingerprint, boot=self.boot,
                )
            ),
        )  # fmt: skip

    def tables(self, names: ObjectTable = NAMES, streams: int = 1) -> list[bytes]:
        """Target information, event table and object table."""
        datagrams = self.info(streams)
        for table in (self.table, names):
            if table is not None:
                datagrams += self.message(Channel.TABLE, encode_table(table))
        return datagrams

    def started(self, time: int = 0) -> list[bytes]:
        reply = Reply(1, Result.OK, "", Started(self.run, time, RunConfig()))
        return self.message(Channel.REPLY, encode_reply(reply))

    def lose(self, stream: int = 0, *, overwritten: int = 0, full: int = 0, exhausted: int = 0) -> None:
        """Lose records before the next block, as the target counts them."""
        known = self.losses.get(stream, Losses())
        self.losses[stream] = Losses(known.overwritten + overwritten, known.full + full, known.exhausted + exhausted)
        self.index[stream] = self.index.get(stream, 0) + overwritten + full + exhausted

    def block(self, records: list[bytes], first: int, last: int, stream: int = 0) -> bytes:
        """The next block of a stream; first and last are the times of its first and last record."""
        return encode_block(self.block_value(records, first, last, stream))

    def block_value(self, records: list[bytes], first: int, last: int, stream: int = 0) -> Block:
        sequence, index = self.blocks.get(stream, 0), self.index.get(stream, 0)
        self.blocks[stream], self.index[stream] = sequence + 1, index + len(records)
        return make_block(
            records, first, last, boot=self.boot, run=self.run, stream=stream, sequence=sequence, first_index=index,
            context=Context(), losses=self.losses.get(stream), big_endian=self.big_endian,
        )  # fmt: skip

    def points(self, times: Iterable[int], stream: int = 0) -> bytes:
        """A block of USER_POINT records that are numbered by their index."""
        times = list(times)
        at = self.index.get(stream, 0)
        records = [
            record("USER_POINT", (at + i) & 0xFFFF, time, big_endian=self.big_endian) for i, time in enumerate(times)
        ]
        return self.block(records, times[0], times[-1], stream)

    def state(self, stream: int = 0, *, recorded: int | None = None, cut_time: int = 0) -> StreamState:
        """The figures of a stream; all that was recorded is cut unless ``recorded`` says more."""
        index = self.index.get(stream, 0)
        return StreamState(
            stream=stream,
            recorded=index if recorded is None else recorded,
            cut_index=index,
            cut_time=cut_time,
            blocks=self.blocks.get(stream, 0),
            losses=self.losses.get(stream, Losses()),
        )

    def states(self) -> tuple[StreamState, ...]:
        return tuple(self.state(stream) for stream in sorted(set(self.index) | {0}))

    def heartbeat(
        self, time: int, states: tuple[StreamState, ...] | None = None, run: int | None = None, *, running: bool = True
    ) -> list[bytes]:  # fmt: skip
        beat = TargetHeartbeat(
            time=time, clock_hz=self.hz, os_release=self.release,
            table_fingerprint=getattr(self.table, "fingerprint", 0), run=self.run if run is None else run,
            running=running, streams=self.states() if states is None else states,
        )  # fmt: skip
        return self.message(Channel.HEARTBEAT, encode_target_heartbeat(beat))

    def end(self, time: int, states: tuple[StreamState, ...] | None = None) -> list[bytes]:
        end = End(self.run, time, 0, self.states() if states is None else states)
        return self.message(Channel.END, encode_end(end))


def write_session(
    path: Path, datagrams: Iterable[bytes], *, finish: bool = True, start_ns: int = 1_000_000_000_000_000_000
) -> str:  # fmt: skip
    """Write datagrams, one ms apart, and return the path as text. Without ``finish`` it has no statistics block."""
    writer = SessionWriter(FileSink.open(str(path)), {"command": ["test"]})
    count = 0
    for count, datagram in enumerate(datagrams, 1):
        writer.add(start_ns + count * 1_000_000, TARGET, HOST, datagram)
    if finish:
        writer.finish(count, 0)
    else:
        writer.flush()
        writer.close()
    return str(path)


def host_datagram(channel: Channel, payload: bytes) -> bytes:
    """A datagram of the host."""
    return encode_datagram(Header(channel, 0, 1), payload)
