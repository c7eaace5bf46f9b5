# SPDX-License-Identifier: Apache-2.0
"""The pcap format (draft-ietf-opsawg-pcap): both byte orders, microseconds and nanoseconds."""

from __future__ import annotations

import struct
from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.session.formats import MAX_PACKET, PCAP_MAGICS
from vxmon.session.framing import NO_PACKETS, Hops, Packets, Scan, Statistics, find_magic, plausible, read_words

__all__ = ["HEADER", "PcapFraming"]

HEADER: Final = 24
_RECORD: Final = 16


class PcapFraming:
    """Walks pcap records; ``head`` is the file header of 24 bytes.

    Raises:
        InputError: the file header is of a version that is not known.

    """

    name = "pcap"

    def __init__(self, head: bytes) -> None:
        self.statistics = Statistics()
        self.comments: list[str] = []
        self.skipped: Counter[str] = Counter()
        self._order, self._unit = PCAP_MAGICS[head[:4]]
        major, minor, _, _, _, link = struct.unpack(f"{self._order}HHiIII", head[4:HEADER])
        if major != 2:
            raise InputError(f"pcap format {major}.{minor} is not known, only 2.x")
        self._link_type = link & 0xFFFF
        self._length = struct.Struct(f"{self._order}I")
        self._hops = Hops(_RECORD)

    def scan(self, data: NDArray[np.uint8]) -> Scan:
        """Walk records; see :class:`vxmon.session.framing.Framing`."""
        at, used, damage = self._walk(data)
        if not at:
            return Scan(NO_PACKETS, used, damage)
        begins = np.array(at, np.int64)
        fields = read_words(data, begins, 4, self._order).astype(np.int64)
        wrong = np.flatnonzero(~self._sound(fields))
        if len(wrong):
            used = int(begins[wrong[0]])
            damage = "the lengths or the time of a packet cannot be right"
            begins, fields = begins[: wrong[0]], fields[: wrong[0]]
        times = fields[:, 0] * 1_000_000_000 + fields[:, 1] * self._unit
        links = np.full(len(begins), self._link_type, np.int64)
        return Scan(Packets(begins + _RECORD, fields[:, 2], fields[:, 3], times, links), used, damage)

    def _walk(self, data: NDArray[np.uint8]) -> tuple[list[int], int, str]:
        view, unpack = data.data, self._length.unpack_from
        at, end = 0, len(data)
        begins: list[int] = []
        while at + _RECORD <= end:
            (captured,) = unpack(view, at + 8)
            if captured > MAX_PACKET:
                return begins, at, f"a packet of {captured} bytes"
            following = at + _RECORD + captured
            if following > end:
                break
            begins.append(at)
            at = following
        return begins, at, ""

    def _sound(self, fields: NDArray[np.int64]) -> NDArray[np.bool_]:
        return plausible(fields[:, 2], fields[:, 3]) & (fields[:, 1] * self._unit < 1_000_000_000)

    def resume(self, data: NDArray[np.uint8], start: int) -> int | None:
        """See :class:`vxmon.session.framing.Framing`."""
        candidates = find_magic(data, start, self._hops)
        if not len(candidates):
            return None
        fields = read_words(data, candidates, 4, self._order).astype(np.int64)
        ends = candidates + _RECORD + fields[:, 2]
        good = np.flatnonzero(self._sound(fields) & (ends <= len(data)) & (fields[:, 2] > 0))
        return int(candidates[good[0]]) if len(good) else None
