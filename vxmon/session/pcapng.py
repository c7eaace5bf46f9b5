# SPDX-License-Identifier: Apache-2.0
"""The pcapng format (draft-ietf-opsawg-pcapng): sections of either byte order, several interfaces, options."""

from __future__ import annotations

import contextlib
import struct
from collections import Counter
from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.session.formats import (
    BYTE_ORDER_MAGIC,
    ENHANCED_PACKET,
    INTERFACE,
    LINK_TYPES,
    MAX_BLOCK,
    PACKET,
    SECTION,
    SIMPLE_PACKET,
    STATISTICS,
)
from vxmon.session.framing import (
    NO_PACKETS,
    Bytes,
    Hops,
    Interface,
    Ints,
    Packets,
    Scan,
    Statistics,
    find_magic,
    plausible,
    read_words,
)
from vxmon.wire.distinct import distinct

__all__ = ["PcapngFraming"]

_COMMENT: Final = 1
_TIME_RESOLUTION: Final = 9
_TIME_OFFSET: Final = 14
_RECEIVED: Final = 4
_DROPPED: Final = 5
_MIN_BLOCK: Final = 12
# Of a packet block, up to its lengths.
_HEAD_WORDS: Final = 7
# Types in use: ours, name resolution, journal, secrets, process events, custom.
_KNOWN: Final = (
    SECTION, INTERFACE, PACKET, SIMPLE_PACKET, STATISTICS, ENHANCED_PACKET, 4, 9, 10, 0x204, 0x210, 0xBAD, 0x40000BAD,
)  # fmt: skip
_SMALLEST: Final = {SECTION: 28, INTERFACE: 20, STATISTICS: 24, ENHANCED_PACKET: 32, PACKET: 32}
# Kept of a section, so that a hostile file cannot fill the memory.
_MAX_INTERFACES: Final = 4096
_MAX_COMMENTS: Final = 64
_NO_LINK: Final = -1
# What our own sessions have (SPEC section 8), for those whose description is damaged.
_OWN_INTERFACE: Final = Interface(228, 9)
_LONGEST_INTERFACE: Final = 1 << 16
# Where the next packet is looked for first: most often it is not far.
_NEAR: Final = 1 << 17
_FAR: Final = (1 << 63) - 1


class PcapngFraming:
    """Walks pcapng blocks. The first block told must be a section header."""

    name = "pcapng"

    def __init__(self) -> None:
        self.statistics = Statistics()
        self.comments: list[str] = []
        self.skipped: Counter[str] = Counter()
        self._order = "<"
        self._interfaces: list[Interface] = []
        self._hops = Hops(28)

    def scan(self, data: Bytes) -> Scan:
        """Walk blocks up to the next section; see :class:`vxmon.session.framing.Framing`."""
        if len(data) < _MIN_BLOCK:
            return Scan(NO_PACKETS, 0)
        if data[:4].tobytes() == SECTION.to_bytes(4, "little") and not self._enter_section(data):
            return Scan(NO_PACKETS, 0, "a section header with a wrong byte-order magic")
        words = data[: len(data) & ~3].view(f"{self._order}u4")
        begins = self._walk(words)
        heads = np.ascontiguousarray(read_words(data, begins << 2, _HEAD_WORDS, self._order).T, np.uint32)
        begins, used, damage = _whole(begins, heads, len(words))
        if not len(begins):
            return Scan(NO_PACKETS, used, damage)
        heads = heads[:, : len(begins)]
        wrong = np.flatnonzero(_unsound(words, begins, heads))
        if len(wrong):
            used, damage = int(begins[wrong[0]]) << 2, "a block contradicts itself"
            begins, heads = begins[: wrong[0]], heads[:, : wrong[0]]
        return self._read(data, begins, heads, used, damage)

    def _enter_section(self, data: Bytes) -> bool:
        magic = data[8:12].tobytes()
        if magic not in (BYTE_ORDER_MAGIC.to_bytes(4, "little"), BYTE_ORDER_MAGIC.to_bytes(4, "big")):
            return False
        self._order = "<" if magic[0] == BYTE_ORDER_MAGIC & 0xFF else ">"
        self._interfaces = []
        return True

    @staticmethod
    def _walk(words: NDArray[np.uint32]) -> Ints:
        """Places that the chain of lengths leads to, in words; what is behind one that is wrong means nothing."""
        # The length is the second word of each block. Behind damage words may lie anywhere; of such a view Python reads
        # none.
        sizes = np.require(words[1:], "<u4", "A").data
        begins: list[int] = []
        append = begins.append
        at = 0
        # So many blocks at most: a length of 0 leads nowhere.
        with contextlib.suppress(IndexError):
            for _ in range(len(words) // (_MIN_BLOCK >> 2) + 1):
                size = sizes[at]
                append(at)
                at += size >> 2
        return np.array(begins, np.int64)

    def _read(self, data: Bytes, begins: Ints, heads: NDArray[np.uint32], used: int, damage: str) -> Scan:
        kinds = heads[0]
        is_packet = (kinds == ENHANCED_PACKET) | (kinds == PACKET)
        if not is_packet.all():
            for number in np.flatnonzero(~is_packet).tolist():
                begin = int(begins[number]) << 2
                self._read_other(data[begin : begin + int(heads[1, number])].tobytes(), int(kinds[number]))
            self._count_skipped(kinds)
            begins, heads = begins[is_packet], heads[:, is_packet]
        packets, fine = self._packets(begins, heads)
        if not fine.all():
            first = int(np.flatnonzero(~fine)[0])
            used, damage = int(begins[first]) << 2, "the lengths or the interface of a packet cannot be right"
            columns = (packets.at, packets.captured, packets.original, packets.times, packets.link_types)
            packets = Packets(*(column[:first] for column in columns))
        return Scan(packets, used, damage)

    def _count_skipped(self, kinds: NDArray[np.uint32]) -> None:
        """Packets without a time, and blocks that may be damaged packets."""
        for reason, which in (
            ("without a time stamp", kinds == SIMPLE_PACKET),
            ("blocks of unknown type", ~np.isin(kinds, _KNOWN)),
        ):
            if which.any():
                self.skipped[reason] += int(which.sum())

    def _packets(self, begins: Ints, heads: NDArray[np.uint32]) -> tuple[Packets, NDArray[np.bool_]]:
        """Packets of packet blocks, and which of them make sense."""
        interface = heads[2].astype(np.int64)
        obsolete = heads[0] == PACKET
        if obsolete.any():
            # The obsolete block has 16 bits of interface and 16 of drops, in the order of the file.
            short = interface & 0xFFFF if self._order == "<" else interface >> 16
            interface = np.where(obsolete, short, interface)
        stamps = heads[3].astype(np.uint64) << np.uint64(32) | heads[4]
        captured, original = heads[5].astype(np.int64), heads[6].astype(np.int64)
        fine = plausible(captured, original) & (interface < len(self._interfaces))
        fine &= captured + 32 <= heads[1]
        times, links = np.zeros(len(begins), np.int64), np.full(len(begins), _NO_LINK, np.int64)
        numbers = distinct(interface[fine])
        for number in numbers:
            here = slice(None) if len(numbers) == 1 and fine.all() else fine & (interface == number)
            times[here] = _nanoseconds(stamps[here], self._interfaces[number])
            links[here] = self._interfaces[number].link_type
        return Packets((begins << 2) + 28, captured, original, times, links), fine

    # ------------------------------------------------------------ blocks that are no packets

    def _read_other(self, block: bytes, kind: int) -> None:
        if kind == SECTION:
            self._read_section(block)
        elif kind == INTERFACE and len(self._interfaces) < _MAX_INTERFACES:
            self._interfaces.append(self._read_interface(block))
        elif kind == STATISTICS:
            self._read_statistics(block)

    def _options(self, block: bytes, start: int) -> Iterator[tuple[int, bytes]]:
        at, end = start, len(block) - 4
        while at + 4 <= end:
            code, length = struct.unpack_from(f"{self._order}HH", block, at)
            at += 4
            if code == 0 or at + length > end:
                return
            yield code, block[at : at + length]
            at += length + -length % 4

    def _read_section(self, block: bytes) -> None:
        major, minor = struct.unpack_from(f"{self._order}HH", block, 12)
        if major != 1:
            raise InputError(f"pcapng format {major}.{minor} is newer than what this vxmon reads (1.x)")
        for code, value in self._options(block, 24):
            if code == _COMMENT:
                self._keep_comment(value)

    def _keep_comment(self, value: bytes) -> None:
        if len(self.comments) < _MAX_COMMENTS:
            self.comments.append(value.decode("utf-8", "replace"))

    def _read_interface(self, block: bytes) -> Interface:
        (link_type,) = struct.unpack_from(f"{self._order}H", block, 8)
        resolution, offset = 6, 0
        for code, value in self._options(block, 16):
            if code == _TIME_RESOLUTION and len(value) == 1:
                resolution = value[0]
            elif code == _TIME_OFFSET and len(value) == 8:
                (offset,) = struct.unpack(f"{self._order}q", value)
        return Interface(link_type, resolution, max(-_FAR, min(offset * 1_000_000_000, _FAR)))

    def _read_statistics(self, block: bytes) -> None:
        statistics = self.statistics
        for code, value in self._options(block, 20):
            if code == _COMMENT:
                self._keep_comment(value)
            if len(value) != 8 or code not in (_RECEIVED, _DROPPED):
                continue
            (number,) = struct.unpack(f"{self._order}Q", value)
            if code == _RECEIVED:
                statistics.received = (statistics.received or 0) + number
            else:
                statistics.dropped = (statistics.dropped or 0) + number

    def resume(self, data: Bytes, start: int) -> int | None:
        """See :class:`vxmon.session.framing.Framing`."""
        found = self._next_packet(data[: start + _NEAR], data, start)
        if found is None:
            found = self._next_packet(data, data, start)
        if self._interfaces:
            return found
        # The section's beginning was damaged: its interface if that is there, else as our own writer's.
        described = self._next_interface(data[: len(data) if found is None else found], start)
        if described is None and found is not None:
            self._interfaces.append(_OWN_INTERFACE)
        return found if described is None else described

    def _next_packet(self, part: Bytes, data: Bytes, start: int) -> int | None:
        """A sound packet of a datagram that begins in ``part``, the first piece of ``data``."""
        candidates = find_magic(part, start, self._hops)
        if not len(candidates):
            return None
        fields = read_words(data, candidates, 7, self._order).astype(np.int64)
        sizes = fields[:, 1]
        ends = candidates + sizes
        good = (fields[:, 0] == ENHANCED_PACKET) & (sizes & 3 == 0) & (sizes >= 32) & (sizes <= MAX_BLOCK)
        good &= plausible(fields[:, 5], fields[:, 6]) & (fields[:, 5] + 32 <= sizes) & (ends <= len(data))
        good &= fields[:, 2] < max(len(self._interfaces), 1)
        good[good] = read_words(data, ends[good] - 4, 1, self._order)[:, 0] == sizes[good]
        first = np.flatnonzero(good)
        return int(candidates[first[0]]) if len(first) else None

    def _next_interface(self, data: Bytes, start: int) -> int | None:
        """A sound interface description of a link type that can carry datagrams of ours."""
        mark = INTERFACE.to_bytes(4, "little" if self._order == "<" else "big")
        raw = data.tobytes()
        at = raw.find(mark, start)
        while 0 <= at <= len(raw) - _SMALLEST[INTERFACE]:
            size, link_type, reserved = struct.unpack_from(f"{self._order}IHH", raw, at + 4)
            sound = not size & 3 and _SMALLEST[INTERFACE] <= size <= _LONGEST_INTERFACE and not reserved
            if sound and link_type in LINK_TYPES and raw[at + size - 4 : at + size] == raw[at + 4 : at + 8]:
                return at
            at = raw.find(mark, at + 1)
        return None


def _whole(begins: Ints, heads: NDArray[np.uint32], end: int) -> tuple[Ints, int, str]:
    """Whole blocks of those that the walk found in ``end`` words; bytes used; damage. A later section ends the walk."""
    kinds, sizes = heads[0], heads[1]
    following = begins + (sizes >> 2)
    section = kinds == SECTION
    section[:1] = False
    wrong = (sizes & 3 != 0) | (sizes < _MIN_BLOCK) | (sizes > MAX_BLOCK)
    stop = np.flatnonzero(section | wrong | (following > end))
    if not len(stop):
        return begins, int(following[-1]) << 2 if len(begins) else 0, ""
    first = int(stop[0])
    damage = f"a block of {sizes[first]} bytes" if wrong[first] and not section[first] else ""
    return begins[:first], int(begins[first]) << 2, damage


def _unsound(words: NDArray[np.uint32], begins: Ints, heads: NDArray[np.uint32]) -> NDArray[np.bool_]:
    """Blocks whose two lengths differ, or that are too short for their type."""
    kinds, sizes = heads[0], heads[1]
    wrong: NDArray[np.bool_] = words[begins + (sizes >> 2) - 1] != sizes
    for kind, smallest in _SMALLEST.items():
        wrong |= (kinds == kind) & (sizes < smallest)
    return wrong


def _nanoseconds(stamps: NDArray[np.uint64], interface: Interface) -> Ints:
    """Time stamps of an interface as ns since the epoch; those beyond the range become its end."""
    power = interface.resolution & 0x7F
    if interface.resolution & 0x80:
        times = _from_binary(stamps, power)
    elif power <= 9:
        factor = 10 ** (9 - power)
        times = np.minimum(stamps, np.uint64(_FAR // factor)).astype(np.int64) * factor
    else:
        times = np.minimum(stamps // np.uint64(10 ** min(power - 9, 19)), np.uint64(_FAR)).astype(np.int64)
    if interface.offset_ns:
        return np.array([max(-_FAR, min(t + interface.offset_ns, _FAR)) for t in times.tolist()], np.int64)
    return times


def _from_binary(stamps: NDArray[np.uint64], power: int) -> Ints:
    """Units of 2 ** -power seconds. Rare, so exact by Python's integers."""
    return np.array([min((stamp * 1_000_000_000) >> power, _FAR) for stamp in stamps.tolist()], np.int64)
