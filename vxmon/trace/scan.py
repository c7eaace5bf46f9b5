# SPDX-License-Identifier: Apache-2.0
"""The first pass: walks the datagrams once, finds the valid blocks and keeps what the target told."""

from __future__ import annotations

import contextlib
from dataclasses import dataclass, field
from itertools import takewhile
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.session.reader import Batch
from vxmon.trace.examine import TRUNCATED, Examined, examine, unknown
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.linkevents import MOST_EVENTS, LinkEvent, endpoint_text
from vxmon.trace.losses import SUSPECT
from vxmon.wire.acquired import LogPage
from vxmon.wire.bulk import BLOCK_ROW, KINDS, BlockScan
from vxmon.wire.control import decode_command, decode_reply
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.gather import raw
from vxmon.wire.mend import mend_block
from vxmon.wire.notes import decode_note
from vxmon.wire.reassembly import Reassembler
from vxmon.wire.status import decode_end, decode_host_heartbeat, decode_target_heartbeat
from vxmon.wire.tables import decode_table
from vxmon.wire.types import (
    Channel,
    Datagram,
    End,
    EventTable,
    ObjectTable,
    RunConfig,
    Started,
    StreamState,
    TargetInfo,
)
from vxmon.words import counted

__all__ = ["Scanner"]

_CHANNELS: Final = {channel.value: channel.name for channel in Channel}
# Times and indices above cannot be right and would not fit 64-bit columns.
_LIMIT: Final = 1 << 62
# Entries of logs of which a boot keeps the texts; logs on a target are much shorter.
_MOST_TEXTS: Final = 4096
# Damaged datagrams that are looked at closely, and the boots each may be of.
_MOST_MENDED: Final = 2000
_BOOTS_TRIED: Final = 4
# 35 MB: the C library gives no smaller arrays back to the system when they are freed (mallopt(3), M_MMAP_THRESHOLD),
# and a session of a hundred million events would have its rows twice. What is not filled takes no memory.
_ROWS_TOGETHER: Final = 360_000
_FIRST_ROWS: Final = 1 << 12
# Of a target that repeats its configuration each 5 s.
_MOST_CONFIGS: Final = 1000


@dataclass(slots=True)
class Scanner:
    """Collects facts and block rows, batch by batch.

    ``rows`` are valid blocks in order of arrival, duplicates included, with ``boot`` still the target's id and
    ``slots_at`` a position in file number ``file``. ``sightings`` are (file, boot id, run), ``configs`` by boot id
    (time, configuration) as a running target told it.
    """

    facts: Facts = field(default_factory=Facts)
    rows: list[NDArray[np.void]] = field(default_factory=list)
    suspects: list[NDArray[np.void]] = field(default_factory=list)
    boots: dict[int, Boot] = field(default_factory=dict)
    tables: dict[int, dict[int, EventTable]] = field(default_factory=dict)
    sightings: set[tuple[int, int, int]] = field(default_factory=set)
    configs: dict[int, list[tuple[int, RunConfig]]] = field(default_factory=dict)
    newest: int = 0
    _filling: NDArray[np.void] = field(default_factory=lambda: np.empty(0, BLOCK_ROW))
    _filled: int = 0
    _file: int = 0
    _mended: int = 0
    _now: int = 0
    _ends: tuple[int, int] = (0, 0)
    _hosts: dict[int, int] = field(default_factory=dict)
    _reassembler: Reassembler = field(default_factory=Reassembler)

    def scan(self, file: int, batch: Batch) -> NDArray[np.void]:
        """Take a batch of file number ``file``; returns the rows of its valid blocks."""
        outcome = examine(batch)
        self.take(file, outcome)
        return outcome.rows

    def take(self, file: int, batch: Examined) -> None:
        """Take what is known of a batch of file number ``file``; batches come in their order."""
        self._file = file
        self._take_blocks(batch)
        for other, payload in zip(batch.others, batch.payloads, strict=True):
            self._take_other(other, payload)

    def finish(self) -> None:
        """Tell what never got complete."""
        self.settle()
        for dropped in self._reassembler.close():
            self.facts.problems.append(
                f"message {dropped.message} on channel {_CHANNELS.get(dropped.channel, dropped.channel)} "
                f"lacks {counted(len(dropped.missing), 'fragment')}"
            )

    # ------------------------------------------------------------ blocks

    def _take_blocks(self, batch: Examined) -> None:
        counters, refused = self.facts.counters, batch.refused
        if batch.blocks:
            counters.channels["BLOCK"] += batch.blocks
        batch.rows["file"] = self._file
        self._see_runs(batch.firsts)
        self._see_starts(batch.rows[batch.openings])
        if len(batch.rows):
            self._keep(batch.rows)
        for kind in refused.kind.tolist():
            counters.refused[KINDS[kind]] += 1
        cut = int((refused.kind == TRUNCATED).sum())
        counters.truncated += cut
        counters.corrupt_blocks += len(refused.kind) - cut
        for number, data in zip(np.flatnonzero(unknown(refused)).tolist(), batch.damaged, strict=True):
            mended = self._mend(data)
            if mended is not None:
                refused.rows[number], refused.exact[number] = mended.rows[0], True
        self._suspect(refused)

    def _keep(self, rows: NDArray[np.void]) -> None:
        """Put small parts together: large ones go back to the operating system when they are freed."""
        while len(rows):
            if self._filled == len(self._filling):
                self.settle()
                self._filling = np.empty(_ROWS_TOGETHER if self.rows else _FIRST_ROWS, BLOCK_ROW)
            room = self._filling[self._filled : self._filled + len(rows)]
            raw(room)[:] = raw(rows[: len(room)])
            self._filled += len(room)
            rows = rows[len(room) :]

    def forget(self) -> None:
        """Let go of the rows: who takes those that :meth:`scan` returns needs them no more."""
        self.rows.clear()
        self._filled = 0

    def settle(self) -> None:
        """Put what is together so far into ``rows``."""
        if self._filled:
            self.rows.append(self._filling[: self._filled])
            self._filling, self._filled = self._filling[:0], 0

    def _see_runs(self, firsts: NDArray[np.void]) -> None:
        for first in firsts:
            boot = self._boot(int(first["boot"]), int(first["time"]))
            boot.byte_order = boot.byte_order or ("big" if first["flags"] & 1 else "little")
            self._sight(boot, int(first["run"]))

    def _see_starts(self, openings: NDArray[np.void]) -> None:
        """Runs whose START, the record of index 0, is here; a one-way session has no reply that would say it."""
        for row in openings:
            run = self.boots[int(row["boot"])].run(int(row["run"]))
            run.seen_from_start = True
            run.started = int(row["first_time"]) if run.started is None else run.started

    def _suspect(self, refused: BlockScan) -> None:
        some = np.flatnonzero(refused.exact | refused.claims)
        if not len(some):
            return
        suspects = np.zeros(len(some), SUSPECT)
        for name in ("boot", "run", "stream", "sequence", "first_index", "count"):
            suspects[name] = refused.rows[name][some]
        suspects["truncated"] = refused.kind[some] == TRUNCATED
        suspects["exact"] = refused.exact[some]
        self.suspects.append(suspects)

    def _mend(self, data: bytes) -> BlockScan | None:
        """What a damaged datagram was; not asked of too many, as guessing takes time."""
        self._mended += 1
        return mend_block(data, list(self.boots)[-_BOOTS_TRIED:]) if self._mended <= _MOST_MENDED else None

    # ------------------------------------------------------------ everything else

    def _take_other(self, other: np.void, data: bytes) -> None:
        counters = self.facts.counters
        if len(data) < other["sent"]:
            counters.truncated += 1
            return
        try:
            datagram = decode_datagram(data)
            counters.channels[_CHANNELS.get(datagram.header.channel, "unknown")] += 1
            self._ends = (int(other["source"]), int(other["destination"]))
            self._dispatch(datagram, int(other["time"]))
        except WireError as error:
            self._refuse(error, data)

    def _refuse(self, error: WireError, data: bytes) -> None:
        """Count a datagram that breaks the format; one that is a block but for its first bytes is a corrupt block."""
        counters = self.facts.counters
        scan = self._mend(data)
        if scan is not None:
            counters.corrupt_blocks += 1
            counters.refused[error.kind] += 1
            self._suspect(scan)
        elif error.kind in ("magic", "short"):
            counters.foreign += 1
        else:
            counters.refused[error.kind] += 1
        if error.kind == "version" and scan is None:
            counters.newer += 1
            self.newest = max(self.newest, data[4])

    def _dispatch(self, datagram: Datagram, now: int) -> None:
        channel = datagram.header.channel
        handlers = {
            Channel.REPLY: self._reply,
            Channel.TABLE: self._table,
            Channel.HEARTBEAT: self._heartbeat,
            Channel.END: self._end,
            Channel.NOTE: self._note,
            Channel.COMMAND: self._command,
        }
        if channel not in _CHANNELS:
            self.facts.counters.unknown_channels += 1
        handler = handlers.get(Channel(channel)) if channel in _CHANNELS else None
        if handler is None or not datagram.header.boot:
            return
        self._now = now
        payload = self._reassembler.add(datagram, now)
        self._reassembler.expire(now)
        if payload is not None:
            handler(self._boot(datagram.header.boot, now), payload)

    def _boot(self, number: int, now: int) -> Boot:
        boot = self.boots.get(number)
        if boot is None:
            boot = self.boots[number] = Boot(number, first_seen_ns=now)
        # Blocks of a batch are taken before its other datagrams, which may have come earlier.
        boot.first_seen_ns = min(boot.first_seen_ns, now)
        return boot

    def _sight(self, boot: Boot, run: int) -> None:
        self.sightings.add((self._file, boot.id, run))
        if run:
            boot.run(run)

    def _reply(self, boot: Boot, payload: bytes) -> None:
        reply = decode_reply(payload)
        body = reply.body
        if isinstance(body, TargetInfo):
            self._info(boot, body)
        if isinstance(body, TargetInfo | Started) and 0 < body.time < _LIMIT and boot.clock_hz:
            boot.clock.answered(reply.request, body.time, self._now, boot.clock_hz)
        if isinstance(body, TargetInfo):
            return
        if isinstance(body, Started) and body.run and body.time < _LIMIT:
            self._sight(boot, body.run)
            run = boot.run(body.run)
            run.started, run.config, run.seen_from_start = body.time, body.config, True
        elif isinstance(body, LogPage):
            self._take_log(boot, body)
        elif isinstance(body, End):
            self._take_end(boot, body)

    def _end(self, boot: Boot, payload: bytes) -> None:
        self._take_end(boot, decode_end(payload))

    def _take_end(self, boot: Boot, end: End) -> None:
        if not end.run or end.time >= _LIMIT:
            return
        self._sight(boot, end.run)
        run = boot.run(end.run)
        run.ended, run.end_reason = end.time, end.reason
        for state in self._sane(end.streams):
            run.hear(state)
            run.finals[state.stream] = max(state.recorded, run.finals.get(state.stream, 0))

    def _table(self, boot: Boot, payload: bytes) -> None:
        table = decode_table(payload)
        if isinstance(table, TargetInfo):
            self._info(boot, table)
        elif isinstance(table, EventTable):
            self.tables.setdefault(boot.id, {})[table.fingerprint] = table
        elif isinstance(table, ObjectTable):
            boot.names.merge(table)

    def _info(self, boot: Boot, info: TargetInfo) -> None:
        boot.info = info
        if info.running and info.config is not None and info.time < _LIMIT:
            told = self.configs.setdefault(boot.id, [])
            if len(told) < _MOST_CONFIGS:
                told.append((info.time, info.config))
        boot.clock_hz = info.clock_hz or boot.clock_hz
        boot.os_release = info.os_release or boot.os_release
        boot.table_fingerprint = info.table_fingerprint or boot.table_fingerprint

    def _heartbeat(self, boot: Boot, payload: bytes) -> None:
        beat = decode_target_heartbeat(payload)
        if not beat.clock_hz:
            boot.clock.sent(decode_host_heartbeat(payload).time, self._now)
            return
        if max(beat.time, beat.echo_time) >= _LIMIT:
            return
        boot.clock.received(beat.time, self._now, beat.echo, beat.echo_time, beat.clock_hz)
        self._see_host(boot)
        boot.clock_hz = beat.clock_hz
        boot.os_release = beat.os_release or boot.os_release
        boot.table_fingerprint = beat.table_fingerprint or boot.table_fingerprint
        boot.link = beat.link
        self.sightings.add((self._file, boot.id, beat.run))
        # A run that was over before anything else was heard of it is not this session's.
        if beat.run and (beat.running or beat.run in boot.runs):
            run = boot.run(beat.run)
            run.last_heard = max(run.last_heard or 0, beat.time)
            for state in self._sane(beat.streams):
                run.hear(state)

    def _see_host(self, boot: Boot) -> None:
        """Where the target sends to."""
        host, before = self._ends[1], self._hosts.get(boot.id)
        self._hosts[boot.id] = host
        if before is not None and before != host:
            text = f"the host is at {endpoint_text(host)} now, it was at {endpoint_text(before)}"
            self._happened(boot, LinkEvent("port_changed", self._now, text))

    def _command(self, boot: Boot, payload: bytes) -> None:
        # Of a newer host there may be commands, and notes, that are not known here.
        with contextlib.suppress(WireError):
            boot.clock.asked(decode_command(payload).request, self._now)

    def _note(self, boot: Boot, payload: bytes) -> None:
        with contextlib.suppress(WireError):
            note = decode_note(payload)
            event = LinkEvent(note.kind.name.lower(), self._now, note.text, note.run, note.boot, note.silence)
            self._happened(boot, event)

    def _happened(self, boot: Boot, event: LinkEvent) -> None:
        if len(boot.link_events) < MOST_EVENTS:
            boot.link_events.append(event)

    def _sane(self, states: tuple[StreamState, ...]) -> list[StreamState]:
        """States whose numbers can be true; others are counted."""
        sane = [
            s for s in states if max(s.recorded, s.cut_index, s.cut_time, s.blocks, s.held, s.losses.total) < _LIMIT
        ]
        self.facts.counters.refused["payload"] += len(states) - len(sane)
        return sane

    def _take_log(self, boot: Boot, page: LogPage) -> None:
        """Texts of this boot's entries, and of those of boots seen before it: the logs survive a warm reset."""
        earlier = list(takewhile(lambda other: other is not boot, self.boots.values()))
        for entry in page.entries:
            for holder in [boot] if entry.boot_cycle == page.boot_cycle else earlier:
                if len(holder.log_texts) < _MOST_TEXTS:
                    holder.log_texts[page.log, entry.number] = entry
