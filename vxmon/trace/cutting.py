# SPDX-License-Identifier: Apache-2.0
"""Cuts a time window or some streams out of a trace, as a smaller session of whole datagrams.

Kept are the blocks that have records, or border losses, of the selection; everything that came while these came, such
as damaged datagrams, which explain losses, and the host's; and from the whole trace the tables, replies, notes, ends,
and the first and last heartbeat of each run. What was kept of each stream stands in the metadata (vxmon.trace.cuts).
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import PurePath
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError, WireError
from vxmon.session.packets import Endpoint, encode_packet
from vxmon.session.reader import Batch
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter
from vxmon.trace.criteria import Selection
from vxmon.trace.cuts import Cut, Kept, write_cut
from vxmon.trace.facts import Facts
from vxmon.trace.rowtable import is_in_order
from vxmon.trace.selection import rows_within
from vxmon.trace.trace import StoredTrace
from vxmon.wire.bulk import block_datagrams, scan_blocks
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.status import decode_target_heartbeat
from vxmon.wire.types import Channel, Datagram
from vxmon.words import counted

__all__ = ["CutSummary", "cut_session"]

_TAIL: Final = np.iinfo(np.int64).max
_APPLICATION: Final = "vxmon session cut"
# A comment of a pcapng file holds 65535 bytes.
_MOST_METADATA: Final = 65_000
# Distinct tables that are remembered; a session has some dozens.
_MOST_TABLES: Final = 10_000


@dataclass(frozen=True, slots=True)
class CutSummary:
    """What was kept, of how much."""

    records: int
    of_records: int
    blocks: int
    of_blocks: int
    size: int


def cut_session(trace: StoredTrace, selection: Selection, path: str) -> CutSummary:
    """Write what a time window and CPUs select as a session.

    Raises:
        InputError: nothing lies in the selection.
        OutputError: the file cannot be written.

    """
    rows, streams = _choose(trace, selection)
    facts = trace.facts
    names = tuple(PurePath(file.name).name for file in facts.files)
    cut = Cut(_words(selection), names, streams, more=facts.cut is not None and facts.cut.more)
    metadata = {**_metadata(facts), **write_cut(cut)}
    if len(json.dumps(metadata)) > _MOST_METADATA:
        raise InputError(f"{counted(len(streams), 'stream')} of runs are too many for one cut; give one file at a time")
    sink = FileSink.open(path)
    writer = SessionWriter(sink, metadata, _APPLICATION)
    received = 0
    for batch, which in _Chooser(trace, rows).batches():
        _write(writer, batch, which)
        received += len(which)
    writer.finish(received, facts.counters.socket_drops)
    return CutSummary(
        int(rows["count"].sum(dtype=np.int64)), facts.delivered, len(rows), int((trace.index["slots"] > 0).sum()),
        sink.written,
    )  # fmt: skip


def _words(selection: Selection) -> str:
    cpus = f"CPU {', '.join(map(str, sorted(selection.cpus)))}" if selection.cpus else ""
    span = str(selection.span) if selection.span.begin is not None or selection.span.end is not None else ""
    return " ".join(part for part in (span, cpus) if part)


def _metadata(facts: Facts) -> dict[str, Any]:
    """What the first file says of its capture; a cut is no part of a session in several files."""
    told = facts.files[0].metadata if facts.files else {}
    return {name: value for name, value in told.items() if name != "part"}


# ---------------------------------------------------------------- which blocks


def _choose(trace: StoredTrace, selection: Selection) -> tuple[NDArray[np.void], dict[tuple[int, int, int], Kept]]:
    """Rows of the index that are kept, and what of each stream is thus kept."""
    touched = rows_within(trace, selection.span, selection.cpus)
    chosen: list[NDArray[np.void]] = []
    streams: dict[tuple[int, int, int], Kept] = {}
    for boot in trace.facts.boots:
        for run in boot.runs.values():
            for stream in run.streams.values():
                own = _of_stream(trace.index, boot.number, run.number, stream.stream)
                inside = _of_stream(touched, boot.number, run.number, stream.stream)
                place = (boot.id, run.number, stream.stream)
                edge = _edge_of(trace.facts, place, stream.before_attach, stream.recorded)
                streams[place] = Kept(edge.attach, edge.attach, edge.attach, edge.recorded)
                if not len(inside):
                    continue
                some, streams[place] = _run_of_blocks(own, inside, edge, trace, selection)
                chosen.append(some)
    kept = np.concatenate(chosen) if chosen else trace.index[:0]
    if not len(kept):
        raise InputError(f"there are no records in {_words(selection)}: {_extent(trace.facts)}")
    return kept, streams


def _extent(facts: Facts) -> str:
    seconds = [
        f"{(boot.last_time - boot.first_time) / boot.clock_hz:.6f} s"
        for boot in facts.boots
        if boot.first_time is not None and boot.last_time is not None and boot.clock_hz
    ]
    return f"the session lasts {' and '.join(seconds) or 'no time'}"


def _of_stream(rows: NDArray[np.void], boot: int, run: int, stream: int) -> NDArray[np.void]:
    """Rows of a stream in order of sequence; not copied where they are all there are, and in order."""
    which = (rows["boot"] == boot) & (rows["run"] == run) & (rows["stream"] == stream)
    mine: NDArray[np.void] = rows if which.all() else rows[which]
    return mine if is_in_order(mine, ("sequence",)) else mine[np.argsort(mine["sequence"], kind="stable")]


def _edge_of(facts: Facts, place: tuple[int, int, int], attach: int, recorded: int) -> Kept:
    """What the trace itself has of a stream, which may be a cut already."""
    known = None if facts.cut is None else facts.cut.kept(*place)
    return Kept(attach, attach, recorded, recorded) if known is None else known


def _run_of_blocks(
    own: NDArray[np.void], inside: NDArray[np.void], edge: Kept, trace: StoredTrace, selection: Selection
) -> tuple[NDArray[np.void], Kept]:
    """Consecutive blocks of a stream: those in the selection, and the neighbours of losses in it.

    ``own`` are all rows of the stream, ``inside`` those of the selection, both in order of sequence.
    """
    first, last = (int(np.searchsorted(own["sequence"], inside["sequence"][at])) for at in (0, -1))
    real = int((own["sequence"] != _TAIL).sum())
    begin, end = edge.begin, edge.end
    if own["room"][first] and first > 0 and _loss_inside(own[first], trace, selection):
        first -= 1
    if first > 0 or (own["room"][0] and not _loss_inside(own[0], trace, selection)):
        begin = int(own["first_index"][first])
    if last < real and (last < real - 1 or real < len(own)):
        end = int(own["first_index"][last]) + int(own["count"][last])
    return own[first : min(last + 1, real)], Kept(edge.attach, begin, end, edge.recorded)


def _loss_inside(row: np.void, trace: StoredTrace, selection: Selection) -> bool:
    """True when the loss before a block touches the window."""
    loss = trace.facts.losses[int(row["room"]) - 1]
    boot = trace.facts.boots[int(row["boot"])]
    begin, end = selection.span.ticks(boot.first_time or 0, boot.clock_hz)
    start, stop = int(loss["start"]), int(row["first_time"])
    return (begin is None or stop >= begin) and (end is None or min(start, stop) < end)


# ---------------------------------------------------------------- which datagrams


@dataclass(slots=True)
class _Chooser:
    """Walks the files again and picks datagrams."""

    trace: StoredTrace
    rows: NDArray[np.void]
    _tables: set[bytes] = field(default_factory=set)
    _parts: dict[tuple[int, int, int], dict[int, tuple[Batch, bytes]]] = field(default_factory=dict)
    _beats: dict[tuple[int, int], Batch | None] = field(default_factory=dict)
    _ready: list[Batch] = field(default_factory=list)

    def batches(self) -> Iterator[tuple[Batch, list[int]]]:
        """Datagrams to keep, by batch, in the order of the files; the last heartbeats at the end."""
        for file, reader in enumerate(self.trace.readers):
            wanted = self._places(self.rows, file)
            known = self._places(self.trace.index, file)
            for batch in reader.datagrams():
                chosen = self._pick(batch, wanted, known)
                yield from ((table, [0]) for table in self._ready)
                self._ready.clear()
                yield batch, chosen
        yield from ((beat, [0]) for beat in self._beats.values() if beat is not None)

    @staticmethod
    def _places(rows: NDArray[np.void], file: int) -> NDArray[np.int64]:
        return np.sort(rows["slots_at"][(rows["file"] == file) & (rows["slots"] > 0)])

    def _pick(self, batch: Batch, wanted: NDArray[np.int64], known: NDArray[np.int64]) -> list[int]:
        keep = _holding(batch, wanted)
        other = np.flatnonzero(~_holding(batch, known))
        blocks = block_datagrams(batch.data, batch.offsets[other], batch.lengths[other])
        at = batch.base + batch.offsets
        near = (at >= wanted[0]) & (at <= wanted[-1]) if len(wanted) else np.zeros(len(batch), bool)
        keep[other[blocks]] = near[other[blocks]] & _damaged(batch, other[blocks])
        for number in other[~blocks].tolist():
            keep[number] = self._other(batch, number, near=bool(near[number]))
        return np.flatnonzero(keep).tolist()

    def _other(self, batch: Batch, number: int, *, near: bool) -> bool:
        try:
            datagram = decode_datagram(batch.payload(number))
        except WireError:
            return near
        header = datagram.header
        if header.channel in (Channel.REPLY, Channel.END, Channel.NOTE):
            return True
        if header.channel == Channel.TABLE:
            self._table(batch, number, datagram)
            return False
        if header.channel == Channel.HEARTBEAT and header.boot:
            return self._heartbeat(batch, number, datagram, near=near)
        return near

    def _table(self, batch: Batch, number: int, datagram: Datagram) -> None:
        """Tables are repeated; one is written when it is whole and says something new."""
        header = datagram.header
        key = (header.boot, header.message, header.fragments)
        parts = self._parts.setdefault(key, {})
        parts[header.fragment] = _alone(batch, number), datagram.payload
        if len(parts) < header.fragments:
            return
        del self._parts[key]
        whole = [part for _, part in sorted(parts.items())]
        content = b"".join([header.boot.to_bytes(4, "big"), *(payload for _, payload in whole)])
        if content not in self._tables and len(self._tables) < _MOST_TABLES:
            self._tables.add(content)
            self._ready += [batch for batch, _ in whole]

    def _heartbeat(self, batch: Batch, number: int, datagram: Datagram, *, near: bool) -> bool:
        """The first of each run at once, the last at the end; those between only where records are kept."""
        try:
            run = decode_target_heartbeat(datagram.payload).run
        except WireError:
            return near
        key = (datagram.header.boot, run)
        written = key not in self._beats or near
        self._beats[key] = None if written else _alone(batch, number)
        return written


def _damaged(batch: Batch, which: NDArray[np.intp]) -> NDArray[np.bool_]:
    """Blocks that are no use, not those that are only repeated."""
    if not len(which):
        return np.zeros(0, bool)
    return scan_blocks(batch.data, batch.offsets[which], batch.lengths[which], batch.sent[which]).kind > 0


def _alone(batch: Batch, number: int) -> Batch:
    """One datagram, without the memory of those around it."""
    data = np.frombuffer(batch.payload(number), np.uint8)
    one = slice(number, number + 1)
    return Batch(
        data, 0, np.zeros(1, np.int64), batch.lengths[one].copy(), batch.sent[one].copy(), batch.times[one].copy(),
        batch.sources[one].copy(), batch.destinations[one].copy(),
    )  # fmt: skip


def _holding(batch: Batch, places: NDArray[np.int64]) -> NDArray[np.bool_]:
    """Which datagrams have one of the places, which are in order, inside them."""
    begin = batch.base + batch.offsets
    held: NDArray[np.bool_] = np.searchsorted(places, begin) < np.searchsorted(places, begin + batch.lengths)
    return held


def _write(writer: SessionWriter, batch: Batch, which: list[int]) -> None:
    for number in which:
        source, destination = (
            Endpoint(end >> 16, end & 0xFFFF) for end in (int(batch.sources[number]), int(batch.destinations[number]))
        )
        time, sent = int(batch.times[number]), int(batch.sent[number])
        writer.add_packets(encode_packet(time, source, destination, batch.payload(number), sent))
    writer.flush()
