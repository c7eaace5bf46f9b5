# SPDX-License-Identifier: Apache-2.0
"""Writes sessions: pcapng, append-only (SPEC section 8)."""

from __future__ import annotations

import json
import struct
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final, Protocol

from vxmon.session.formats import BYTE_ORDER_MAGIC, INTERFACE, SECTION, STATISTICS
from vxmon.session.packets import Endpoint, encode_packet, frame_packets
from vxmon.session.rooms import Rooms
from vxmon.session.sink import FileSink, copy_file

__all__ = ["COMMENT_PREFIX", "FORMAT", "Recorder", "SessionWriter", "section_head", "statistics_block"]

# Version of the session metadata.
FORMAT: Final = 1
COMMENT_PREFIX: Final = "vxmon:"
_LINK_TYPE_IPV4: Final = 228
_COMMENT: Final = 1
_USER_APPLICATION: Final = 4
_TIME_RESOLUTION: Final = 9
_RECEIVED: Final = 4
_DROPPED: Final = 5


class Recorder(Protocol):
    """What a capture stores its datagrams in. Times are ns since the epoch."""

    def add(self, time: int, source: Endpoint, destination: Endpoint, payload: bytes) -> None:
        """Take one datagram; it is written by :meth:`flush` at the latest."""

    def add_batch(self, rooms: Rooms, source: Endpoint, destination: Endpoint) -> None:
        """Take datagrams of one direction and write them: on return the operating system has them."""

    def flush(self) -> None:
        """Write everything taken so far."""

    def finish(self, received: int, dropped: int) -> None:
        """Write the statistics (datagrams received, datagrams the socket dropped) and close."""

    def close(self) -> None:
        """Close without more; for a sink that takes nothing any more."""

    @property
    def size(self) -> int:
        """Bytes of the session so far."""


def _block(kind: int, body: bytes) -> bytes:
    size = 12 + len(body)
    return struct.pack("<II", kind, size) + body + struct.pack("<I", size)


def _option(code: int, value: bytes) -> bytes:
    return struct.pack("<HH", code, len(value)) + value + bytes(-len(value) % 4)


def _text(text: str) -> bytes:
    """UTF-8, cut to what an option can hold."""
    return text.encode("utf-8", "replace")[:0xFFFF]


def section_head(metadata: Mapping[str, Any], application: str = "") -> bytes:
    """Section header with the metadata as its comment, and interface description."""
    comment = COMMENT_PREFIX + json.dumps({"format": FORMAT, **metadata}, ensure_ascii=True)
    options = _option(_COMMENT, _text(comment))
    options += _option(_USER_APPLICATION, _text(application)) if application else b""
    section = struct.pack("<IHHq", BYTE_ORDER_MAGIC, 1, 0, -1) + options + _option(0, b"")
    interface = struct.pack("<HHI", _LINK_TYPE_IPV4, 0, 0) + _option(_TIME_RESOLUTION, b"\x09") + _option(0, b"")
    return _block(SECTION, section) + _block(INTERFACE, interface)


def _closing_block(metadata: Mapping[str, Any], now: int) -> bytes:
    """Interface statistics without figures, with metadata that is known only at a file's end."""
    comment = _option(_COMMENT, _text(COMMENT_PREFIX + json.dumps(metadata, ensure_ascii=True)))
    return _block(STATISTICS, struct.pack("<III", 0, now >> 32, now & 0xFFFFFFFF) + comment + _option(0, b""))


def statistics_block(received: int, dropped: int, now: int) -> bytes:
    """Interface statistics as of ``now``, in ns since the epoch."""
    counters = _option(_RECEIVED, struct.pack("<Q", received)) + _option(_DROPPED, struct.pack("<Q", dropped))
    return _block(STATISTICS, struct.pack("<III", 0, now >> 32, now & 0xFFFFFFFF) + counters + _option(0, b""))


class SessionWriter:
    """Writes one session to a sink; implements :class:`Recorder`.

    ``metadata`` is what the session says about its capture; it must be JSON. With ``sync`` datagrams are on the
    disk, not only with the operating system, when they count as written.

    Raises:
        OutputError: from every method, when the sink takes no more.

    """

    def __init__(
        self, sink: FileSink, metadata: Mapping[str, Any], application: str = "", *, sync: bool = False
    ) -> None:
        self._sink = sink
        self._sync = sync
        self._pending: list[bytes] = []
        self._pending_bytes = 0
        sink.write(section_head(metadata, application))

    @property
    def size(self) -> int:
        """Bytes of the session so far."""
        return self._sink.written + self._pending_bytes

    def add(self, time: int, source: Endpoint, destination: Endpoint, payload: bytes) -> None:
        """Take one datagram; see :class:`Recorder`."""
        packet = encode_packet(time, source, destination, payload)
        self._pending.append(packet)
        self._pending_bytes += len(packet)

    def add_batch(self, rooms: Rooms, source: Endpoint, destination: Endpoint) -> None:
        """Take and write datagrams; see :class:`Recorder`."""
        self._take_pending()
        if len(rooms):
            self._sink.write_rows(rooms.memory, frame_packets(rooms, source, destination))
        if self._sync:
            self._sink.sync()

    def add_packets(self, packets: bytes) -> None:
        """Take ready packet blocks."""
        self._pending.append(packets)
        self._pending_bytes += len(packets)

    def add_file(self, path: Path, start: int) -> None:
        """Take the packet blocks of another session file, from byte ``start`` on, and write them."""
        self._take_pending()
        copy_file(path, self._sink, start)

    def _take_pending(self) -> None:
        if self._pending:
            data = b"".join(self._pending)
            self._pending.clear()
            self._pending_bytes = 0
            self._sink.write(data)

    def flush(self) -> None:
        """Write everything taken so far."""
        self._take_pending()
        if self._sync:
            self._sink.sync()

    def conclude(self, metadata: Mapping[str, Any], now: int) -> None:
        """Write metadata that is known only now and close: the session goes on in another file."""
        self._take_pending()
        self._sink.write(_closing_block(metadata, now))
        if self._sync:
            self._sink.sync()
        self._sink.close()

    def finish(self, received: int, dropped: int) -> None:
        """Write the statistics and close; see :class:`Recorder`."""
        self._take_pending()
        self._sink.write(statistics_block(received, dropped, time.time_ns()))
        if self._sync:
            self._sink.sync()
        self._sink.close()

    def close(self) -> None:
        """Close without more; see :class:`Recorder`."""
        self._sink.close()
