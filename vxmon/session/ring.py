# SPDX-License-Identifier: Apache-2.0
"""A session that keeps only the newest: segments on disk, the oldest deleted, joined at the end."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import OutputError, WireError
from vxmon.session.packets import Endpoint, encode_packet
from vxmon.session.reader import Batch, open_session
from vxmon.session.rooms import Rooms
from vxmon.session.sink import FileSink
from vxmon.session.tablekeeper import TableKeeper
from vxmon.session.writer import SessionWriter
from vxmon.wire.bulk import block_datagrams, scan_blocks
from vxmon.wire.control import decode_reply
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.types import Channel, Started

__all__ = ["RingRecorder"]

_SEGMENTS: Final = 16
_CHANNEL_AT: Final = 6


class RingRecorder:
    """Keeps the newest ``size`` bytes of a session; implements :class:`vxmon.session.Recorder`.

    The segments lie in the folder ``<path>.ring`` until :meth:`finish` joins them to ``path``; each can be read by
    itself, should it never come to that. Tables are kept apart, so that names are never lost.

    Raises:
        OutputError: the folder or a segment cannot be written, or segments of an earlier ring are there.

    """

    def __init__(
        self, path: str, size: int, metadata: Mapping[str, Any], application: str = "", *, sync: bool = False
    ) -> None:
        self._path = path
        self._limit = size
        self._metadata = metadata
        self._application = application
        self._sync = sync
        self._folder = Path(f"{path}.ring")
        self._segments: list[tuple[Path, int]] = []
        self._number = 0
        self._joined = 0
        self._tables = TableKeeper()
        self._ends: tuple[Endpoint, Endpoint] | None = None
        # Boot, run and stream -> the last block discarded.
        self._gone: dict[tuple[int, int, int], int] = {}
        try:
            self._folder.mkdir(exist_ok=True)
            kept = any(self._folder.iterdir())
        except OSError as error:
            raise OutputError(f"{self._folder}: cannot be used for segments: {error.strerror}") from error
        if kept:
            raise OutputError(
                f"{self._folder}: an earlier ring was not joined and is kept there: see vxmon print {self._folder}/*, "
                "then delete it, or choose another name"
            )
        self._writer = self._open_segment()

    def _open_segment(self) -> SessionWriter:
        self._number += 1
        self._current = self._folder / f"{self._number:08d}.pcapng"
        writer = SessionWriter(FileSink.open(str(self._current)), self._metadata, self._application, sync=self._sync)
        self._head = writer.size
        return writer

    @property
    def folder(self) -> Path:
        """Where the segments lie; gone when they are joined."""
        return self._folder

    @property
    def size(self) -> int:
        """Bytes kept so far."""
        if self._joined:
            return self._joined
        return self._writer.size + sum(size for _, size in self._segments)

    # ------------------------------------------------------------ recording

    def add(self, time: int, source: Endpoint, destination: Endpoint, payload: bytes) -> None:
        """Take one datagram; see :class:`vxmon.session.Recorder`."""
        self._writer.add(time, source, destination, payload)

    def add_batch(self, rooms: Rooms, source: Endpoint, destination: Endpoint) -> None:
        """Take and write datagrams; see :class:`vxmon.session.Recorder`."""
        self._writer.add_batch(rooms, source, destination)
        self._ends = (source, destination)
        self._tables.take_batch(rooms)
        self._turn()

    def flush(self) -> None:
        """Write everything taken so far."""
        self._writer.flush()

    def _turn(self) -> None:
        """Begin a new segment when this one is full; delete the oldest when all are too much."""
        if self._writer.size < self._limit // _SEGMENTS:
            return
        self._writer.flush()
        self._writer.close()
        self._segments.append((self._current, self._writer.size))
        self._writer = self._open_segment()
        while self._segments and self.size > self._limit - self._limit // _SEGMENTS:
            path, _ = self._segments.pop(0)
            self._note_gone(path)
            path.unlink(missing_ok=True)

    def _note_gone(self, path: Path) -> None:
        """Remember up to where each stream is discarded."""
        with open_session(str(path)) as session:
            for batch in session.datagrams():
                rows = _block_rows(batch)[1]
                keys = rows[["boot", "run", "stream"]]
                for key in np.unique(keys):
                    last = int(rows["sequence"][keys == key].max())
                    place = (int(key["boot"]), int(key["run"]), int(key["stream"]))
                    self._gone[place] = max(last, self._gone.get(place, last))

    # ------------------------------------------------------------ joining

    def finish(self, received: int, dropped: int) -> None:
        """Join the segments; see :class:`vxmon.session.Recorder`."""
        self._writer.flush()
        self._writer.close()
        self._segments.append((self._current, self._writer.size))
        writer = SessionWriter(FileSink.open(self._path), self._metadata, self._application, sync=self._sync)
        if self._gone and self._ends:
            for stamp, data in self._tables.datagrams():
                writer.add_packets(encode_packet(stamp, *self._ends, data))
        for path, _ in self._segments:
            self._join(path, writer)
            path.unlink(missing_ok=True)
        writer.finish(received, dropped)
        self._joined = writer.size
        shutil.rmtree(self._folder, ignore_errors=True)

    def _join(self, path: Path, writer: SessionWriter) -> None:
        """Copy a segment, but no block from before what was discarded: it would look like a loss of those between."""
        with open_session(str(path)) as session:
            if not any(self._stale(batch).any() for batch in session.datagrams()):
                writer.add_file(path, self._head)
                return
            for batch in session.datagrams():
                for number in np.flatnonzero(~self._stale(batch)).tolist():
                    ends = (_endpoint(int(batch.sources[number])), _endpoint(int(batch.destinations[number])))
                    writer.add(int(batch.times[number]), *ends, batch.payload(number))
                writer.flush()

    def _stale(self, batch: Batch) -> NDArray[np.bool_]:
        """Blocks from before what was discarded, and replies that say a run was seen from its start."""
        stale = np.zeros(len(batch), bool)
        if not self._gone:
            return stale
        which, rows = _block_rows(batch)
        for (boot, run, stream), last in self._gone.items():
            of_stream = (rows["boot"] == boot) & (rows["run"] == run) & (rows["stream"] == stream)
            stale[which[of_stream & (rows["sequence"] <= last)]] = True
        channels = batch.data.take(batch.offsets + _CHANNEL_AT, mode="clip")
        for number in np.flatnonzero((channels == Channel.REPLY) & (batch.lengths > _CHANNEL_AT)).tolist():
            stale[number] = self._is_old_start(batch.payload(number))
        return stale

    def _is_old_start(self, data: bytes) -> bool:
        try:
            datagram = decode_datagram(data)
            body = decode_reply(datagram.payload).body
        except WireError:
            return False
        return isinstance(body, Started) and any(key[:2] == (datagram.header.boot, body.run) for key in self._gone)

    def close(self) -> None:
        """Close without joining; the segments stay."""
        self._writer.close()


def _block_rows(batch: Batch) -> tuple[NDArray[np.intp], NDArray[np.void]]:
    """Valid blocks of a batch: their places in it, and what is known of them."""
    which = np.flatnonzero(block_datagrams(batch.data, batch.offsets, batch.lengths))
    scan = scan_blocks(batch.data, batch.offsets[which], batch.lengths[which])
    valid = scan.kind == 0
    return which[valid], scan.rows[valid]


def _endpoint(value: int) -> Endpoint:
    return Endpoint(value >> 16, value & 0xFFFF)
