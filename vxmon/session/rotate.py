# SPDX-License-Identifier: Apache-2.0
"""A session in several files, each begun when the one before is large or old enough (SPEC section 8).

The blocks of a stream are divided by their sequence: a late block goes to the file in which it was missed, which
stays open until it has all of its blocks. So each file has a piece of each stream without overlap, and what it does
not have of the rest is in the others, not lost.
"""

from __future__ import annotations

import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import OutputError
from vxmon.link.acks import StreamTracker
from vxmon.session.packets import Endpoint, encode_packet
from vxmon.session.rooms import Rooms
from vxmon.session.sink import FileSink
from vxmon.session.tablekeeper import TableKeeper
from vxmon.session.writer import SessionWriter

__all__ = ["RotatingRecorder", "part_name"]

_NS: Final = 1_000_000_000
# A file that still misses blocks stays open for so long after the next one was begun, and so many of them do.
_PATIENCE_NS: Final = 10 * _NS
_MOST_OPEN: Final = 16
_CURRENT: Final = -1
_NOWHERE: Final = -2

# Boot id, run, stream.
Place = tuple[int, int, int]


def part_name(path: str, number: int) -> str:
    """``run.pcapng`` and 3 are ``run-0003.pcapng``."""
    whole = Path(path)
    return str(whole.with_name(f"{whole.stem}-{number:04d}{whole.suffix}"))


@dataclass(slots=True)
class _Stream:
    """How far a stream has come: blocks stored and missed, and one more than the highest record index in them."""

    tracker: StreamTracker
    end: int = 0


@dataclass(slots=True, eq=False)
class _Part:
    """One file. Of each stream it has blocks ``first`` ... ``last - 1``, with records ``begin`` ... ``end - 1``.

    ``begun`` and ``over`` are when its first datagram came and when the next file was begun, in ns.
    """

    number: int
    writer: SessionWriter
    begun: int = 0
    over: int = 0
    first: dict[Place, int] = field(default_factory=dict)
    last: dict[Place, int] = field(default_factory=dict)
    begin: dict[Place, int] = field(default_factory=dict)
    end: dict[Place, int] = field(default_factory=dict)


class RotatingRecorder:
    """Stores a session in files ``name-0001.pcapng``, ...; implements :class:`vxmon.session.Recorder`.

    A new file is begun when one has ``size`` bytes or is ``seconds`` old (0: never). Tables are repeated at its begin.

    Raises:
        OutputError: a file cannot be written, or files of an earlier session are there.

    """

    def __init__(
        self, path: str, size: int, seconds: float, metadata: Mapping[str, Any], application: str = "", *,
        sync: bool = False,
    ) -> None:  # fmt: skip
        self._path, self._limit, self._seconds = path, size, seconds
        self._metadata, self._application, self._sync = metadata, application, sync
        self._tables = TableKeeper()
        self._streams: dict[Place, _Stream] = {}
        self._ends: tuple[Endpoint, Endpoint] | None = None
        self._closed = 0
        # Files that still miss blocks, oldest first.
        self._older: list[_Part] = []
        self._check_free()
        self._part = self._open(1)

    def _check_free(self) -> None:
        whole = Path(self._path)
        found = sorted(whole.parent.glob(f"{_literal(whole.stem)}-[0-9][0-9][0-9][0-9]{_literal(whole.suffix)}"))
        if found:
            raise OutputError(
                f"{found[0]}: belongs to an earlier session, whose files would be mixed with these; "
                "delete them or choose another name"
            )

    def _open(self, number: int) -> _Part:
        sink = FileSink.open(part_name(self._path, number))
        metadata = {**self._metadata, "part": {"number": number, "of": Path(self._path).name}}
        writer = SessionWriter(sink, metadata, self._application, sync=self._sync)
        if self._ends is not None:
            for stamp, data in self._tables.datagrams():
                writer.add_packets(encode_packet(stamp, *self._ends, data))
        return _Part(number, writer)

    @property
    def size(self) -> int:
        """Bytes in all files so far."""
        return self._closed + self._part.writer.size + sum(part.writer.size for part in self._older)

    @property
    def name(self) -> str:
        """The files, in words."""
        first, last = part_name(self._path, 1), part_name(self._path, self._part.number)
        return first if self._part.number == 1 else f"{first} ... {Path(last).name}"

    # ------------------------------------------------------------ recording

    def add(self, time: int, source: Endpoint, destination: Endpoint, payload: bytes) -> None:
        """Take one datagram; see :class:`vxmon.session.Recorder`."""
        self._part.writer.add(time, source, destination, payload)

    def add_batch(self, rooms: Rooms, source: Endpoint, destination: Endpoint) -> None:
        """Take and write datagrams; see :class:`vxmon.session.Recorder`."""
        self._ends = (source, destination)
        self._tables.take_batch(rooms)
        where = self._where(rooms)
        for number, part in enumerate(self._older):
            some = where == number
            if some.any():
                part.writer.add_batch(rooms.only(some), source, destination)
        self._part.writer.add_batch(rooms.only(where == _CURRENT), source, destination)
        if len(rooms):
            self._part.begun = self._part.begun or int(rooms.times[0])
            self._turn(int(rooms.times[-1]))

    def _where(self, rooms: Rooms) -> NDArray[np.int64]:
        """The older file of each late block, and what goes nowhere: blocks of closed files that came again."""
        where = np.full(len(rooms), _CURRENT, np.int64)
        which, scan = rooms.blocks
        # A damaged block goes where it says that it belongs: elsewhere it would look like a loss.
        told = (scan.kind == 0) | scan.claims | scan.exact
        which, rows, valid = which[told], scan.rows[told], scan.kind[told] == 0
        keys = rows[["boot", "run", "stream"]]
        for key in np.unique(keys):
            place = (int(key["boot"]), int(key["run"]), int(key["stream"]))
            mine = keys == key
            sequences = rows["sequence"][mine]
            for number, part in enumerate(self._older):
                inside = (sequences >= part.first.get(place, 0)) & (sequences < part.last.get(place, 0))
                where[which[mine][inside]] = number
            good = np.flatnonzero(mine & valid)
            again = ~self._note(place, rows[good]) & (rows["sequence"][good] < self._part.first.get(place, 0))
            repeats = which[good[again]]
            where[repeats[where[repeats] == _CURRENT]] = _NOWHERE
        return where

    def _note(self, place: Place, rows: NDArray[np.void]) -> NDArray[np.bool_]:
        """Keep what a stream has; returns which of the blocks are new."""
        stream = self._streams.setdefault(place, _Stream(StreamTracker(place[2])))
        if len(rows):
            stream.end = max(stream.end, int((rows["first_index"] + rows["count"]).max()))
        return stream.tracker.store(rows["sequence"])

    def flush(self) -> None:
        """Write everything taken so far."""
        for part in self._older:
            part.writer.flush()
        self._part.writer.flush()

    # ------------------------------------------------------------ one file after the other

    def _turn(self, now: int) -> None:
        """Close the files that miss nothing more, and begin a new one when it is time."""
        for part in [part for part in self._older if self._is_whole(part) or now - part.over > _PATIENCE_NS]:
            self._conclude(part)
        part = self._part
        old = self._seconds and now - part.begun >= self._seconds * _NS
        large = self._limit and part.writer.size >= self._limit
        if not old and not large:
            return
        part.writer.flush()
        part.over = now
        part.last = {place: stream.tracker.seen for place, stream in self._streams.items()}
        part.end = {place: stream.end for place, stream in self._streams.items()}
        following = self._open(part.number + 1)
        following.first, following.begin, following.begun = part.last, part.end, now
        self._older.append(part)
        self._part = following
        if len(self._older) > _MOST_OPEN:
            self._conclude(self._older[0])

    def _is_whole(self, part: _Part) -> bool:
        return all(self._streams[place].tracker.next >= last for place, last in part.last.items())

    def _conclude(self, part: _Part) -> None:
        """Close a file that another follows: its end says which records of each stream it is about."""
        self._older.remove(part)
        streams = [
            [*place, 0, part.begin.get(place, 0), end, end]
            for place, end in part.end.items()
            if end > part.begin.get(place, 0)
        ]
        cut = {"what": f"part {part.number}", "of": [Path(self._path).name], "more": True, "streams": streams}
        part.writer.conclude({"cut": cut}, time.time_ns())
        self._closed += part.writer.size

    def finish(self, received: int, dropped: int) -> None:
        """Close the files; see :class:`vxmon.session.Recorder`."""
        for part in list(self._older):
            self._conclude(part)
        self._part.writer.finish(received, dropped)

    def close(self) -> None:
        """Close without more; see :class:`vxmon.session.Recorder`."""
        for part in self._older:
            part.writer.close()
        self._part.writer.close()


def _literal(text: str) -> str:
    """Text as a glob pattern that matches only it."""
    return "".join(f"[{c}]" if c in "*?[" else c for c in text)
