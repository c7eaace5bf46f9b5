# SPDX-License-Identifier: Apache-2.0
"""Finds UDP datagrams in packets of any supported link type, by columns: link header, IPv4, UDP. Pure: no I/O."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.session.formats import LINK_TYPES
from vxmon.session.framing import Bytes, Ints, Packets
from vxmon.wire.distinct import distinct
from vxmon.wire.gather import gather

__all__ = ["Udp", "find_udp", "select"]

_ETHERTYPE_IPV4: Final = 0x0800
_VLAN_TAGS: Final = (0x8100, 0x88A8, 0x9100)
_MAX_TAGS: Final = 3
_UDP: Final = 17
_IP_HEADER: Final = 20
_UDP_HEADER: Final = 8

Bools = NDArray[np.bool_]


@dataclass(frozen=True, slots=True)
class Udp:
    """UDP payloads as columns: place in the piece, bytes captured, bytes on the link, arrival in ns, endpoints.

    An endpoint is the IPv4 address << 16 | port.
    """

    offsets: Ints
    lengths: Ints
    sent: Ints
    times: Ints
    sources: Ints
    destinations: Ints


def find_udp(data: Bytes, packets: Packets, skipped: Counter[str]) -> Udp:
    """The datagrams in packets; what is none is counted in ``skipped`` by reason."""
    ip_at, is_ip = _ip_headers(data, packets, skipped)
    ip_at, end, times = _those(is_ip, ip_at, packets.at + packets.captured, packets.times)
    heads = _Heads(data, ip_at)
    udp_at = ip_at + heads.size
    reasons = (
        ("not IPv4", (heads.bytes[:, 0] >> 4 != 4) | (heads.size < _IP_HEADER)),
        ("not UDP", heads.bytes[:, 9] != _UDP),
        ("IP fragments", heads.words[3] & 0x3FFF != 0),
        ("cut before their UDP header", udp_at + _UDP_HEADER > end),
    )
    good = _sift(reasons, skipped, ip_at + _IP_HEADER > end)
    if not good.all():
        ip_at, end, times, udp_at = _those(good, ip_at, end, times, udp_at)
        heads = _Heads(data, ip_at)
    ports = heads.ports(data, udp_at)
    broken = (ports[2] < _UDP_HEADER) | (heads.words[1] < heads.size + ports[2])
    sources, destinations = (
        (heads.words[at] << 16 | heads.words[at + 1]) << 16 | port for at, port in ((6, ports[0]), (8, ports[1]))
    )
    offsets, sent = udp_at + _UDP_HEADER, ports[2] - _UDP_HEADER
    lengths = np.minimum(sent, end - offsets)
    fine = _sift((("malformed", broken),), skipped, np.zeros(len(broken), bool))
    return Udp(*_those(fine, offsets, lengths, sent, times, sources, destinations))


class _Heads:
    """IPv4 headers, and their 16-bit words as columns; ``size`` is the length of each in bytes as it says."""

    def __init__(self, data: Bytes, at: Ints) -> None:
        self.bytes = gather(data, at, _IP_HEADER + _UDP_HEADER)
        self.words = _columns(self.bytes)
        self.size: Ints = (self.bytes[:, 0] & 15).astype(np.int64) * 4

    def ports(self, data: Bytes, udp_at: Ints) -> Ints:
        """Columns of the UDP headers: source port, destination port, length, checksum."""
        if (self.size == _IP_HEADER).all():
            return self.words[_IP_HEADER >> 1 :]
        return _columns(gather(data, udp_at, _UDP_HEADER))


def _columns(table: Bytes) -> Ints:
    """The 16-bit words of rows of bytes, in network order, as columns."""
    return np.ascontiguousarray(table.view(">u2").T, np.int64)


def _those(which: Bools, *columns: Ints) -> tuple[Ints, ...]:
    """The rows for which it is true; not copied when it is so for all."""
    return columns if which.all() else tuple(column[which] for column in columns)


def _sift(reasons: tuple[tuple[str, Bools], ...], skipped: Counter[str], cut: Bools) -> Bools:
    """Rows without a reason against them. The first reason counts; ``cut`` goes before all."""
    left = ~cut
    if cut.any():
        skipped["cut before their UDP header"] += int(cut.sum())
    for name, wrong in reasons:
        here = wrong & left
        if here.any():
            skipped[name] += int(here.sum())
            left &= ~here
    return left


def _ip_headers(data: Bytes, packets: Packets, skipped: Counter[str]) -> tuple[Ints, Bools]:
    """Where the IP header of each packet begins, and whether it has one."""
    at = packets.at.copy()
    known = np.zeros(len(at), bool)
    for link_type in distinct(packets.link_types):
        here = packets.link_types == link_type
        if link_type not in LINK_TYPES:
            skipped[f"of link type {link_type}"] += int(here.sum())
            continue
        ether, header = LINK_TYPES[link_type]
        known |= here
        if ether >= 0:
            which = np.flatnonzero(here)
            known[which], at[which] = _ether(data, packets.at[which], ether, header)
    if not known.all():
        other = ~known & np.isin(packets.link_types, list(LINK_TYPES))
        if other.any():
            skipped["not IPv4"] += int(other.sum())
    return at, known


def _ether(data: Bytes, begins: Ints, ether: int, header: int) -> tuple[Bools, Ints]:
    """Follow VLAN tags to the EtherType; returns which are IPv4, and where it begins."""
    kind_at, ip_at = begins + ether, begins + header
    kinds = _columns(gather(data, kind_at, 2))[0]
    if ether + 2 == header:
        kind_at = ip_at - 2
    tagged = np.isin(kinds, _VLAN_TAGS)
    for _ in range(_MAX_TAGS):
        if not tagged.any():
            break
        # The tag is followed by the next EtherType, whatever the link header before it.
        kind_at = np.where(tagged, ip_at + 2, kind_at)
        ip_at = np.where(tagged, ip_at + 4, ip_at)
        kinds = np.where(tagged, _columns(gather(data, kind_at, 2))[0], kinds)
        tagged &= np.isin(kinds, _VLAN_TAGS)
    return kinds == _ETHERTYPE_IPV4, ip_at


def select(udp: Udp, which: Bools) -> Udp:
    """Some of the datagrams."""
    return Udp(*_those(which, udp.offsets, udp.lengths, udp.sent, udp.times, udp.sources, udp.destinations))
