# SPDX-License-Identifier: Apache-2.0
"""Reads sessions and captures of other tools, in bounded memory: batches of datagrams as columns (SPEC section 8)."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, Self

import numpy as np

from vxmon.errors import InputError
from vxmon.session.datagrams import Bools, Udp, find_udp, select
from vxmon.session.formats import MAX_BLOCK
from vxmon.session.framing import Bytes, Framing, Ints, Scan, Statistics
from vxmon.session.source import Source, open_source, sniff
from vxmon.session.writer import COMMENT_PREFIX, FORMAT
from vxmon.wire.distinct import distinct
from vxmon.wire.gather import gather
from vxmon.words import counted

__all__ = ["Batch", "SessionReader", "open_session"]

# Bytes read at once, of a pipe and of a file; a batch holds no more (unless one block is larger).
CHUNK: Final = 1 << 20
FILE_CHUNK: Final = 1 << 22
# Damaged places that are worth going on after.
_MAX_DAMAGE: Final = 1000
# Kept while looking for the next packet after damage: longer than any of ours.
_OVERLAP: Final = 1 << 16
_MAX_TARGETS: Final = 64
_MAGIC: Final = int.from_bytes(b"VXMN", "little")
_FROM_TARGET: Final = (2, 3, 4, 7)


@dataclass(frozen=True, slots=True)
class Batch:
    """Datagrams of consecutive packets, as columns.

    ``offsets`` and ``lengths`` (bytes) say where each datagram's captured bytes lie in ``data``; ``sent`` is how long
    it was on the link (more than ``lengths``: cut by the snapshot length). ``times`` are arrivals in ns since the
    epoch. ``sources`` and ``destinations`` are endpoints: IPv4 address << 16 | port. ``base`` is the place of ``data``
    in the file, so ``base + offsets`` is where :meth:`SessionReader.read_at` finds a datagram again.
    """

    data: Bytes
    base: int
    offsets: Ints
    lengths: Ints
    sent: Ints
    times: Ints
    sources: Ints
    destinations: Ints

    def __len__(self) -> int:
        return len(self.offsets)

    def payload(self, number: int) -> bytes:
        """The captured bytes of one datagram."""
        at = int(self.offsets[number])
        return self.data[at : at + int(self.lengths[number])].tobytes()


class SessionReader:
    """An open session. Counters and metadata grow while :meth:`datagrams` runs and are whole at its end.

    ``packets`` counts packets, ``truncated`` datagrams cut by the snapshot length;
    ``cut_bytes`` are left over at the end, ``damaged_bytes`` were jumped over in between. ``first_ns`` and ``last_ns``
    are the earliest and latest arrival.
    """

    def __init__(self, source: Source, framing: Framing, head: bytes) -> None:
        self.name = source.name
        self.format = framing.name
        self.size = source.size
        self._source = source
        self._framing = framing
        self._head = head
        self._begun = False
        self._reset()

    def _reset(self) -> None:
        self.packets = 0
        self.datagrams_read = 0
        self.truncated = 0
        self.cut_bytes = 0
        self.damaged_bytes = 0
        self._framing.skipped.clear()
        self.first_ns: int | None = None
        self.last_ns: int | None = None
        self._damage: list[tuple[int, int, str]] = []
        self._targets: set[int] = set()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._source.close()

    # ------------------------------------------------------------ what the session says

    @property
    def seekable(self) -> bool:
        """True when the datagrams can be read again and :meth:`read_at` works."""
        return self._source.seekable

    @property
    def identity(self) -> tuple[int, ...]:
        """Which file it is and in what state, now; see :class:`vxmon.session.source.Source`."""
        return self._source.identity

    @property
    def opened_as(self) -> tuple[int, ...]:
        """The identity that the file had when it was opened."""
        return self._source.opened_as

    @property
    def metadata(self) -> dict[str, Any]:
        """The session's own metadata; empty for captures of other tools. What is said at its end is added."""
        found: dict[str, Any] = {}
        for comment in self._framing.comments:
            if comment.startswith(COMMENT_PREFIX):
                try:
                    value = json.loads(comment[len(COMMENT_PREFIX) :])
                except (ValueError, RecursionError):
                    continue
                if isinstance(value, dict):
                    found = value | found
        return found

    @property
    def is_own(self) -> bool:
        """True for a session written by vxmon."""
        return any(comment.startswith(COMMENT_PREFIX) for comment in self._framing.comments)

    @property
    def skipped(self) -> Counter[str]:
        """Packets (and blocks of unknown type) that were not used, by reason."""
        return self._framing.skipped

    @property
    def statistics(self) -> Statistics:
        """What the capturing side counted."""
        return self._framing.statistics

    @property
    def damage(self) -> list[tuple[int, int]]:
        """Where bytes were jumped over, and how many, in the order of the file."""
        return [(at, size) for at, size, _ in self._damage]

    @property
    def problems(self) -> list[str]:
        """What is wrong with the file, in words; each problem once."""
        found = [f"at byte {at}: {why}; {counted(size, 'byte')} skipped" for at, size, why in self._damage[:5]]
        if len(self._damage) > 5:
            found.append(f"{len(self._damage)} damaged places, {counted(self.damaged_bytes, 'byte')} skipped in all")
        if self.cut_bytes:
            found.append(f"the end is cut: {counted(self.cut_bytes, 'byte')} of an incomplete packet left over")
        if self.truncated:
            found.append(f"{counted(self.truncated, 'datagram is', 'datagrams are')} cut by a snapshot length")
        unknown = self.skipped["blocks of unknown type"]
        if unknown:
            found.append(
                f"{counted(unknown, 'block of an unknown type was', 'blocks of an unknown type were')} skipped"
            )
        if self.statistics.dropped:
            found.append(f"the capturing socket dropped {counted(self.statistics.dropped, 'datagram')}")
        version = self.metadata.get("format", FORMAT)
        if isinstance(version, int) and version > FORMAT:
            found.append(f"session metadata {version} is newer than what this vxmon knows ({FORMAT})")
        return found

    # ------------------------------------------------------------ datagrams

    def read_at(self, offset: int, size: int) -> bytes:
        """Bytes of the file, fewer at its end.

        Raises:
            InputError: a pipe, or a read error.

        """
        return self._source.read_at(offset, size)

    def read_into(self, offset: int, buffer: bytearray | memoryview) -> int:
        """Fill a buffer with bytes of the file; returns how many there are, fewer at its end.

        Raises:
            InputError: a pipe, or a read error.

        """
        return self._source.read_into(offset, buffer)

    def datagrams(self, *, reuse: bool = False) -> Iterator[Batch]:
        """All datagrams that are, or may be damaged, vxmon's, in the order of the file.

        A file may be walked again; a pipe only once.

        Args:
            reuse: a batch's ``data`` may be written over when the next batch is asked for.

        Raises:
            InputError: nothing in it is vxmon's, it is of a newer format, or it cannot be read.

        """
        if self._begun:
            if not self.seekable:
                raise InputError(f"{self.name}: a pipe can be read only once")
            self._framing = sniff(self._head, self.name)
            self._reset()
        self._begun = True
        self._source.rewind(self._head)
        try:
            for data, base, scan in self._pieces(reuse):
                batch = self._batch(data, base, scan)
                if len(batch):
                    yield batch
        except InputError as error:
            raise self._named(error) from error
        finally:
            self._source.release()
        self._check_content()

    def _named(self, error: InputError) -> InputError:
        text = str(error)
        return error if text.startswith(self.name) else InputError(f"{self.name}: {text}")

    def _check_content(self) -> None:
        if self.datagrams_read or (self.is_own and not self.packets):
            return
        if not self.packets and self.cut_bytes:
            left = counted(self.cut_bytes, "byte")
            raise InputError(f"{self.name}: is cut before its first packet ({left} left over)")
        if not self.packets:
            raise InputError(f"{self.name}: there are no packets in it")
        reasons = ", ".join(f"{count} {reason}" for reason, count in sorted(self.skipped.items()))
        what = "its one packet is no" if self.packets == 1 else f"none of its {self.packets} packets is a"
        raise InputError(f"{self.name}: {what} vxmon datagram ({reasons})")

    def _pieces(self, reuse: bool) -> Iterator[tuple[Bytes, int, Scan]]:
        """Scans of consecutive pieces. What one leaves over begins the next."""
        base = 24 if self.format == "pcap" else 0
        rest = np.zeros(0, np.uint8)
        skip = base
        wanted = limit = CHUNK
        most = FILE_CHUNK if self.seekable else CHUNK
        while True:
            data, at_end = (rest, False) if len(rest) > limit else self._source.fill(rest, wanted, reuse=reuse)
            if skip:
                data, skip = data[skip:].copy(), 0
            whole = limit >= len(data)
            scan = self._framing.scan(data[:limit])
            # After damage there may be more soon: a little at a time, or all that follows would be walked each time.
            limit = _OVERLAP if scan.damage else min(2 * limit, 2 * MAX_BLOCK)
            yield data, base, scan
            rest, base = data[scan.used :], base + scan.used
            if scan.damage:
                rest, base, at_end = self._jump(rest, base, scan.damage, at_end, reuse)
            if scan.used or scan.damage:
                wanted = max(CHUNK, min(limit, most))
            else:
                wanted = min(2 * max(len(rest), CHUNK), MAX_BLOCK + CHUNK)
            if at_end and whole and not scan.used and not scan.damage:
                rest, base = self._end(rest, base)
                if not len(rest):
                    return

    def _end(self, rest: Bytes, base: int) -> tuple[Bytes, int]:
        """What is left over at the end: a cut packet, unless another one follows inside it (a wrong length)."""
        found = self._framing.resume(rest, 1)
        if found is None:
            self.cut_bytes = len(rest)
            return rest[:0], base
        self._note_damage(base, found, "the length of a packet cannot be right")
        return rest[found:], base + found

    def _jump(self, rest: Bytes, base: int, why: str, at_end: bool, reuse: bool) -> tuple[Bytes, int, bool]:
        """Go on at the next packet of ours after damage."""
        begin = base
        start = 1
        while True:
            found = self._framing.resume(rest, start)
            if found is not None:
                self._note_damage(begin, base + found - begin, why)
                return rest[found:], base + found, at_end
            if at_end:
                self._note_damage(begin, base + len(rest) - begin, why)
                return rest[:0], base + len(rest), at_end
            drop = max(len(rest) - _OVERLAP, 0)
            rest, base, start = rest[drop:], base + drop, 1 if drop == 0 else 0
            rest, at_end = self._source.fill(rest, len(rest) + CHUNK, reuse=reuse)

    def _note_damage(self, at: int, size: int, why: str) -> None:
        self.damaged_bytes += size
        self._damage.append((at, size, why))
        if len(self._damage) > _MAX_DAMAGE:
            raise InputError(f"damaged in more than {_MAX_DAMAGE} places, the last at byte {at}")

    # ------------------------------------------------------------ picking ours

    def _batch(self, data: Bytes, base: int, scan: Scan) -> Batch:
        packets = scan.packets
        self.packets += len(packets.at)
        udp = find_udp(data, packets, self.skipped)
        ours = self._ours(data, udp)
        if not ours.all():
            self.skipped["not vxmon's"] += int((~ours).sum())
        udp = select(udp, ours)
        self.datagrams_read += len(udp.offsets)
        self.truncated += int((udp.lengths < udp.sent).sum())
        self._see_times(udp.times)
        return Batch(data, base, udp.offsets, udp.lengths, udp.sent, udp.times, udp.sources, udp.destinations)

    def _ours(self, data: Bytes, udp: Udp) -> Bools:
        """Datagrams with our magic; and those of a target's port without it, which may be damaged ones."""
        heads = gather(data, udp.offsets, 8)
        magic: Bools = (heads.view("<u4")[:, 0] == _MAGIC) & (udp.lengths >= 4)
        if magic.all():
            return magic
        told = magic & np.isin(heads[:, 6], _FROM_TARGET) & (udp.lengths >= 8)
        if len(self._targets) < _MAX_TARGETS:
            self._targets.update(distinct(udp.sources[told])[:_MAX_TARGETS])
        targets = list(self._targets)
        ours: Bools = magic | np.isin(udp.sources, targets) | np.isin(udp.destinations, targets)
        return ours

    def _see_times(self, times: Ints) -> None:
        if len(times):
            first, last = int(times.min()), int(times.max())
            self.first_ns = first if self.first_ns is None else min(self.first_ns, first)
            self.last_ns = last if self.last_ns is None else max(self.last_ns, last)


def open_session(path: str) -> SessionReader:
    """Open a session or a capture; ``-`` is standard input.

    Raises:
        InputError: it cannot be opened, or is no capture; the message says what it is.

    """
    source = open_source(path)
    try:
        head = source.read_head()
        return SessionReader(source, sniff(head, source.name), head)
    except InputError:
        source.close()
        raise
