# SPDX-License-Identifier: Apache-2.0
"""Sessions written as data, event by event: what a target would record and send, without a target.

    recording = Recording(tasks=[...], schedules=[...])
    recording.add(100, "TASK_SWITCH", 1, reason=1, previous=0)
    recording.write(path)

Contexts of blocks follow the rules of target_c/include/vxm/hooks.h: the state just before a block's first record.
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Final

from vxmon.session.packets import Endpoint
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter
from vxmon.wire.block import encode_block, make_block
from vxmon.wire.control import encode_reply
from vxmon.wire.datagram import DEFAULT_PORT, encode_datagram, split_message
from vxmon.wire.events import TABLES
from vxmon.wire.slots import encode_record
from vxmon.wire.status import encode_end
from vxmon.wire.tables import encode_table
from vxmon.wire.types import (
    NOT_KNOWN,
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
    Schedule,
    Started,
    StreamState,
    Table,
    TargetInfo,
    TaskEntry,
)

__all__ = ["BOOT", "EVENTS", "HZ", "Record", "Recording"]

BOOT: Final = 0x5EED
HZ: Final = 1_000_000
TABLE: Final = TABLES["2.4"]
EVENTS: Final[dict[str, Event]] = {event.name: event for event in TABLE.events}
_TARGET: Final = Endpoint(0x0A000001, DEFAULT_PORT)
_HOST: Final = Endpoint(0x0A000002, 50000)
_ARRIVAL: Final = 1_700_000_000 * 10**9


@dataclass(frozen=True, slots=True)
class Record:
    """One event of one run and stream."""

    time: int
    name: str
    arg: int
    values: dict[str, int | str | bytes]
    stream: int = 0
    run: int = 1


@dataclass(slots=True)
class Recording:
    """What one boot of a target recorded. Times in ticks of ``hz``, by default microseconds."""

    tasks: Sequence[TaskEntry] = ()
    schedules: Sequence[Schedule] = ()
    partitions: Sequence[PartitionEntry] = ()
    hz: int = HZ
    big_endian: bool = True
    block_records: int = 4
    events: frozenset[int] = frozenset()
    start_seen: bool = True
    end_seen: bool = True
    boot: int = BOOT
    tables: bool = True
    records: list[Record] = field(default_factory=list)
    objects: Sequence[ObjectEntry] = ()
    config: RunConfig = RunConfig()  # noqa: RUF009
    told_at: int | None = None
    replies: list[Reply] = field(default_factory=list)

    def add(
        self, time: int, name: str, arg: int = 0, *, stream: int = 0, run: int = 1, **values: int | str | bytes
    ) -> None:
        """Record an event; fields that are not given are 0."""
        fields: dict[str, int | str | bytes] = {f.name: values.pop(f.name, 0) for f in EVENTS[name].fields}
        if values:
            raise ValueError(f"{name} has no field {', '.join(values)}")
        self.records.append(Record(time, name, arg, fields, stream, run))

    def rows(
        self, rows: Iterable[tuple[int, str, int, dict[str, int]] | tuple[int, str, int]], stream: int = 0
    ) -> None:
        """Record several events, each (time, name, argument[, fields])."""
        for time, name, arg, *rest in rows:
            self.add(time, name, arg, stream=stream, **(rest[0] if rest else {}))

    def without(self, *names: str) -> Recording:
        """The same, recorded with some events switched off."""
        kept = [record for record in self.records if record.name not in names]
        return Recording(
            self.tasks, self.schedules, self.partitions, self.hz, self.big_endian, self.block_records,
            frozenset(e.id for e in TABLE.events) - {EVENTS[n].id for n in names}, self.start_seen, self.end_seen,
            self.boot, self.tables, kept, self.objects, self.config,
        )  # fmt: skip

    def blocks(self) -> list[tuple[int, int, bytes]]:
        """(last time, stream, datagram) of every block of every run, in order of sending."""
        made = []
        for run, stream in sorted({(r.run, r.stream) for r in self.records}):
            mine = [r for r in self.records if (r.run, r.stream) == (run, stream)]
            made += self._stream_blocks(mine, run, stream)
        return sorted(made, key=lambda block: block[0])

    def _stream_blocks(self, records: list[Record], run: int, stream: int) -> list[tuple[int, int, bytes]]:
        made = []
        context = _State()
        for sequence, first in enumerate(range(0, len(records), self.block_records)):
            some = records[first : first + self.block_records]
            head = context.context()
            data = [encode_record(EVENTS[r.name], r.arg, r.time, r.values, self.big_endian) for r in some]
            for record in some:
                context.take(record)
            block = encode_block(make_block(
                data, boot=self.boot, run=run, stream=stream, sequence=sequence, first_index=first,
                first_time=some[0].time, last_time=some[-1].time, context=head, losses=Losses(),
                big_endian=self.big_endian,
            ))  # fmt: skip
            made.append((some[-1].time, stream, block))
        return made

    def write(self, path: Path, drop: Collection[int] = ()) -> str:
        """Write the session, leaving out the blocks of those numbers; returns its name."""
        writer = SessionWriter(FileSink.open(str(path)), {})
        for number, table in enumerate(self._tables() if self.tables else []):
            for datagram in split_message(self._header(Channel.TABLE, number), encode_table(table)):
                writer.add(_ARRIVAL, _TARGET, _HOST, datagram)
        runs = sorted({r.run for r in self.records})
        blocks = self.blocks()
        for run in runs if self.start_seen else []:
            began = min(r.time for r in self.records if r.run == run)
            reply = Reply(run, Result.OK, "", Started(run, began, replace(self.config, events=self.events)))
            writer.add(_ARRIVAL, _TARGET, _HOST, encode_datagram(self._header(Channel.REPLY, run), encode_reply(reply)))
        for number, (time, _, block) in enumerate(blocks):
            if number not in drop:
                writer.add(self._arrival(time), _TARGET, _HOST, block)
        for run in runs if self.end_seen else []:
            end = self._end(run)
            writer.add(
                self._arrival(end.time),
                _TARGET,
                _HOST,
                encode_datagram(self._header(Channel.END, run), encode_end(end)),
            )
        for number, reply in enumerate(self.replies):
            header = self._header(Channel.REPLY, 1000 + number)
            writer.add(self._arrival(blocks[-1][0]), _TARGET, _HOST, encode_datagram(header, encode_reply(reply)))
        writer.finish(len(blocks), 0)
        return str(path)

    def _end(self, run: int) -> End:
        states = []
        for stream in sorted({r.stream for r in self.records if r.run == run}):
            mine = [r for r in self.records if (r.run, r.stream) == (run, stream)]
            blocks = -(-len(mine) // self.block_records)
            states.append(
                StreamState(stream, len(mine), cut_index=len(mine), cut_time=mine[-1].time, blocks=blocks, held=0)
            )
        return End(run, max(r.time for r in self.records if r.run == run), 0, tuple(states))

    def _tables(self) -> list[Table]:
        info = TargetInfo(
            os_name="synthetic", os_release="2.4", board="none", agent_version="0", clock_hz=self.hz,
            big_endian=self.big_endian, table_fingerprint=TABLE.fingerprint, boot=self.boot,
            offered=frozenset(e.id for e in TABLE.events), running=self.told_at is not None, time=self.told_at or 0,
            config=None if self.told_at is None else replace(self.config, events=self.events),
        )  # fmt: skip
        objects = ObjectTable(1, tuple(self.schedules), tuple(self.partitions), tuple(self.tasks), tuple(self.objects))
        return [info, TABLE, objects]

    def _header(self, channel: Channel, message: int) -> Header:
        return Header(channel, self.boot, message, Flag.BIG_ENDIAN if self.big_endian else Flag(0), message=message)

    def _arrival(self, time: int) -> int:
        return _ARRIVAL + min(time * 10**9 // self.hz, 10**18)


@dataclass(slots=True)
class _State:
    """What the hooks keep."""

    partition: int = NOT_KNOWN
    window: int = NOT_KNOWN
    task: int = NOT_KNOWN
    depth: int = 0

    def context(self) -> Context:
        return Context(self.partition, self.window, self.task, self.depth)

    def take(self, record: Record) -> None:
        if record.name == "START":
            self.partition = record.arg
            self.window, self.task = int(record.values["window"]), int(record.values["task"])
        names = {"PARTITION_SWITCH": "partition", "WINDOW": "window", "TASK_SWITCH": "task"}
        if record.name in names:
            setattr(self, names[record.name], record.arg)
        self.depth = max(self.depth + {"INT_ENTR": 1, "INT_EXIT": -1}.get(record.name, 0), 0)
