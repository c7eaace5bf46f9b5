# SPDX-License-Identifier: Apache-2.0
"""Finds the packets in a piece of a capture file, with as little work per packet as possible. Pure: no I/O.

A framing is told consecutive pieces of a file. It walks the chain of lengths in a tight loop and checks and reads
everything else by columns. What does not fit is *damage*: the walk stops before it and says so.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from vxmon.session.formats import LINK_TYPES, MAX_PACKET
from vxmon.wire.gather import Bytes, Ints, gather

__all__ = [
    "NO_PACKETS",
    "Bytes",
    "Framing",
    "Hops",
    "Interface",
    "Ints",
    "Packets",
    "Scan",
    "Statistics",
    "find_magic",
    "plausible",
    "read_words",
]

_MAGIC: Final = b"VXMN"


@dataclass(frozen=True, slots=True)
class Packets:
    """Packets as columns: place in the piece, bytes captured and on the link, arrival in ns, link type."""

    at: Ints
    captured: Ints
    original: Ints
    times: Ints
    link_types: Ints


_NONE: Final = np.zeros(0, np.int64)
NO_PACKETS: Final = Packets(_NONE, _NONE, _NONE, _NONE, _NONE)


@dataclass(frozen=True, slots=True)
class Scan:
    """Outcome for one piece: its packets, the bytes used, and what is wrong with the next ones ("" when nothing)."""

    packets: Packets
    used: int
    damage: str = ""


@dataclass(frozen=True, slots=True)
class Interface:
    """An interface of a pcapng section; ``resolution`` is the value of if_tsresol."""

    link_type: int
    resolution: int = 6
    offset_ns: int = 0


@dataclass(slots=True)
class Statistics:
    """What the capturing side says: datagrams received, and dropped by its socket; None: it does not say."""

    received: int | None = None
    dropped: int | None = None


class Framing(Protocol):
    """One capture format."""

    name: str
    statistics: Statistics
    comments: list[str]
    skipped: Counter[str]

    def scan(self, data: Bytes) -> Scan:
        """Walk ``data``, which begins where the last walk ended."""

    def resume(self, data: Bytes, start: int) -> int | None:
        """Where, at or behind ``start``, a record with a vxmon datagram begins; None when there is none."""


@dataclass(slots=True)
class Hops:
    """How many bytes before a datagram its record may begin: record header, link header, IPv4 and UDP headers."""

    record: int
    distances: Ints = field(init=False)

    def __post_init__(self) -> None:
        links = {at + vlan for ether, at in LINK_TYPES.values() for vlan in ((0, 4) if ether >= 0 else (0,))}
        self.distances = np.array(sorted(self.record + link + 28 for link in links), np.int64)


def find_magic(data: Bytes, start: int, hops: Hops) -> Ints:
    """Candidates for beginnings of records at or behind ``start``, ascending."""
    view = data[start:]
    if len(view) < len(_MAGIC):
        return _NONE
    here = np.ones(len(view) - 3, bool)
    for number, byte in enumerate(_MAGIC):
        here &= view[number : len(view) - 3 + number] == byte
    magic = np.flatnonzero(here) + start
    candidates = (magic[:, None] - hops.distances).reshape(-1)
    return np.unique(candidates[candidates >= start])


def read_words(data: Bytes, at: Ints, count: int, order: str) -> NDArray[np.uint32]:
    """``count`` 32-bit words at each place, as rows; places must lie inside."""
    return gather(data, at, 4 * count).view(f"{order}u4")


def plausible(captured: Ints, original: Ints) -> NDArray[np.bool_]:
    """Packet lengths that can be: what was captured is bounded and no more than what was there."""
    fine: NDArray[np.bool_] = (captured <= MAX_PACKET) & (captured <= original)
    return fine
