# SPDX-License-Identifier: Apache-2.0
"""Capture files made by hand from the formats' documents, apart from the product's writer and reader."""

from __future__ import annotations

import struct
from collections.abc import Iterable

__all__ = ["LINKS", "datagram", "frame", "internet_sum", "pcap", "pcapng", "udp_packet"]

# Link type -> bytes before the IP header (link-layer header documents of tcpdump.org).
LINKS = {
    1: bytes(12) + b"\x08\x00",
    113: struct.pack(">HHH8sH", 0, 1, 6, bytes(8), 0x0800),
    276: struct.pack(">HHIHBB8s", 0x0800, 0, 1, 1, 0, 6, bytes(8)),
    101: b"",
    12: b"",
    14: b"",
    228: b"",
}


def internet_sum(data: bytes) -> int:
    """RFC 1071, word by word: 0 for data with a right checksum."""
    total = 0
    for at in range(0, len(data), 2):
        total += int.from_bytes(data[at : at + 2].ljust(2, b"\0"), "big")
        total = (total & 0xFFFF) + (total >> 16)
    return ~total & 0xFFFF


def datagram(channel: int = 3, size: int = 64, fill: int = 0) -> bytes:
    """Bytes that begin like a vxmon datagram (SPEC section 1)."""
    return (b"VXMN\x01\x01" + bytes([channel, 32]) + bytes([fill & 255]) * size)[:size]


def udp_packet(
    payload: bytes, *, ports: tuple[int, int] = (6530, 40000), options: bytes = b"", fragment: int = 0
) -> bytes:
    """An IPv4 packet (RFC 791, RFC 768), checksum of UDP left out."""
    head = 5 + len(options) // 4
    length = 4 * head + 8 + len(payload)
    ends = bytes([10, 0, 0, 1, 10, 0, 0, 2])
    ip = struct.pack(">BBHHHBBH8s", 0x40 | head, 0, length, 7, fragment, 64, 17, 0, ends)
    return ip + options + struct.pack(">4H", *ports, 8 + len(payload), 0) + payload


def frame(payload: bytes, link: int = 1, vlans: int = 0) -> bytes:
    """A datagram in a packet of a link type, with VLAN tags where it can have them."""
    head = LINKS[link]
    if vlans:
        tags = b"".join(struct.pack(">HH", 0x8100, 5 + i) for i in range(vlans))
        head = head[:-2] + tags + b"\x08\x00"
    return head + udp_packet(payload)


def pcap(
    packets: Iterable[tuple[int, bytes]],
    link: int = 1,
    *,
    order: str = "<",
    nanoseconds: bool = False,
    snaplen: int = 65535,
) -> bytes:
    """A pcap file of (ns, packet)."""
    magic = 0xA1B23C4D if nanoseconds else 0xA1B2C3D4
    out = struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, snaplen, link)
    for stamp, packet in packets:
        seconds, rest = divmod(stamp, 10**9)
        unit = rest if nanoseconds else rest // 1000
        kept = packet[:snaplen]
        out += struct.pack(f"{order}4I", seconds, unit, len(kept), len(packet)) + kept
    return out


def _block(order: str, kind: int, body: bytes) -> bytes:
    body += bytes(-len(body) % 4)
    size = 12 + len(body)
    return struct.pack(f"{order}II", kind, size) + body + struct.pack(f"{order}I", size)


def pcapng(
    packets: Iterable[tuple[int, bytes]],
    link: int = 1,
    *,
    order: str = "<",
    resolution: int | None = None,
    offset: int = 0,
    obsolete: bool = False,
) -> bytes:
    """A pcapng section of (ticks of the interface's resolution, packet)."""
    out = _block(order, 0x0A0D0D0A, struct.pack(f"{order}IHHq", 0x1A2B3C4D, 1, 0, -1))
    options = b"" if resolution is None else struct.pack(f"{order}HHB3x", 9, 1, resolution)
    options += struct.pack(f"{order}HHq", 14, 8, offset) if offset else b""
    out += _block(order, 1, struct.pack(f"{order}HHI", link, 0, 0) + options)
    for stamp, packet in packets:
        head = struct.pack(f"{order}HH" if obsolete else f"{order}I", *((0, 3) if obsolete else (0,)))
        head += struct.pack(f"{order}4I", stamp >> 32, stamp & 0xFFFFFFFF, len(packet), len(packet))
        out += _block(order, 2 if obsolete else 6, head + packet)
    return out
