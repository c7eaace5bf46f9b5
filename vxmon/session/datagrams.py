# SPDX-License-Identifier: Apache-2.0
"""Finds UDP datagrams in packets of any supported link type, by columns: link header, IPv4, UDP. Pure: no I/O."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.session.formats import LINK_TYPES
from vxmon.session.framing import Bytes, Ints, Packets
from vxmon.valueclass import dataclass
from vxmon.wire.distinct import distinct

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
    which = np.flatnonzero(is_ip)
    ip_at, end = ip_at[which], (packets.at + packets.captured)[which]
    heads = data.take(ip_at[:, None] + np.arange(_IP_HEADER), mode="clip")
    header = (heads[:, 0] & 15).astype(np.int64) * 4
    udp_at = ip_at + header
    reasons = (
        ("not IPv4", (heads[:, 0] >> 4 != 4) | (header < _IP_HEADER)),
        ("not UDP", heads[:, 9] != _UDP),
        ("IP fragments", (heads[:, 6] & 0x3F | heads[:, 7]) != 0),
        ("cut before their UDP header", udp_at + _UDP_HEADER > end),
    )
    good = _sift(reasons, skipped, ip_at + _IP_HEADER > end)
    which, heads, udp_at, end = which[good], heads[good], udp_at[good], end[good]
    udp = _words16(data, udp_at, 4)
    sent = udp[:, 2] - _UDP_HEADER
    total = heads[:, 2].astype(np.int64) << 8 | heads[:, 3]
    broken = (sent < 0) | (total < udp_at - ip_at[good] + udp[:, 2])
    fine = _sift((("malformed", broken),), skipped, np.zeros(len(broken), bool))
    sources, destinations = _addresses(heads, 12) << 16 | udp[:, 0], _addresses(heads, 16) << 16 | udp[:, 1]
    offsets = udp_at + _UDP_HEADER
    lengths = np.minimum(sent, end - offsets)
    times = packets.times[which]
    return Udp(*(column[fine] for column in (offsets, lengths, sent, times, sources, destinations)))


def _sift(reasons: tuple[tuple[str, Bools], ...], skipped: Counter[str], cut: Bools) -> Ints:
    """Places without a reason against them. The first reason counts; ``cut`` goes before all."""
    left = ~cut
    if cut.any():
        skipped["cut before their UDP header"] += int(cut.sum())
    for name, wrong in reasons:
        here = wrong & left
        if here.any():
            skipped[name] += int(here.sum())
            left &= ~here
    return np.flatnonzero(left)


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
    kinds = _words16(data, kind_at, 1)[:, 0]
    if ether + 2 == header:
        kind_at = ip_at - 2
    tagged = np.isin(kinds, _VLAN_TAGS)
    for _ in range(_MAX_TAGS):
        if not tagged.any():
            break
        # The tag is followed by the next EtherType, whatever the link header before it.
        kind_at = np.where(tagged, ip_at + 2, kind_at)
        ip_at = np.where(tagged, ip_at + 4, ip_at)
        kinds = np.where(tagged, _words16(data, kind_at, 1)[:, 0], kinds)
        tagged &= np.isin(kinds, _VLAN_TAGS)
    return kinds == _ETHERTYPE_IPV4, ip_at


def _words16(data: Bytes, at: Ints, count: int) -> Ints:
    words = data.take(at[:, None] + np.arange(2 * count), mode="clip").astype(np.int64)
    return words[:, 0::2] << 8 | words[:, 1::2]


def _addresses(heads: Bytes, at: int) -> Ints:
    words: Ints = np.ascontiguousarray(heads[:, at : at + 4]).view(">u4")[:, 0].astype(np.int64)
    return words


def select(udp: Udp, which: Bools) -> Udp:
    """Some of the datagrams."""
    if which.all():
        return udp
    columns = (udp.offsets, udp.lengths, udp.sent, udp.times, udp.sources, udp.destinations)
    return Udp(*(column[which] for column in columns))
