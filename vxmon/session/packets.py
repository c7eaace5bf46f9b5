# SPDX-License-Identifier: Apache-2.0
"""Makes pcapng packet blocks: datagrams with synthesised IPv4 and UDP headers (RFC 791, RFC 768), checksums right."""

from __future__ import annotations

import struct
from typing import Final, NamedTuple

import numpy as np
from numpy.typing import NDArray

from vxmon.session.formats import ENHANCED_PACKET
from vxmon.session.rooms import AT, ROOM, Rooms

__all__ = ["Endpoint", "encode_packet", "frame_packets", "wrong_checksums"]


class Endpoint(NamedTuple):
    """IPv4 address, as a number, and UDP port."""

    address: int
    port: int


# Packet block of 28 bytes before the packet, IPv4 header of 20, UDP header of 8.
_BLOCK: Final = struct.Struct("<7I")
_IP: Final = struct.Struct(">BBHHHBBHII")
_UDP: Final = struct.Struct(">4H")
_PREFIX: Final = AT
_BEFORE_UDP: Final = _BLOCK.size + _IP.size
_HEADERS: Final = _IP.size + _UDP.size
_DONT_FRAGMENT: Final = 0x4000
_TTL: Final = 64
_UDP_PROTOCOL: Final = 17
# Sums of 16-bit words with end-around carry are sums modulo 2^16 - 1; swapping bytes is a factor of 2^8.
_ONES: Final = 0xFFFF
# Of the word in which a datagram ends so many bytes, by its length modulo 4, are its own.
_KEPT: Final = np.array([0, 0xFF, 0xFFFF, 0xFFFFFF], np.uint32)

_PREFIX_ROW: Final = np.dtype(
    {
        "names": ["type", "size", "interface", "high", "low", "captured", "original",
                  "version", "total", "fragment", "ttl", "ip_sum", "source", "destination",
                  "source_port", "destination_port", "udp_length"],
        "formats": ["<u4"] * 7 + [">u2", ">u2", ">u2", ">u2", ">u2", ">u4", ">u4", ">u2", ">u2", ">u2"],
        "offsets": [0, 4, 8, 12, 16, 20, 24, 28, 30, 34, 36, 38, 40, 44, 48, 50, 52],
        "itemsize": _PREFIX,
    }
)  # fmt: skip


def _ip_sum(total: int, source: Endpoint, destination: Endpoint) -> int:
    """Sum of the words of an IPv4 header, without its checksum."""
    return 0x4500 + total + _DONT_FRAGMENT + (_TTL << 8 | _UDP_PROTOCOL) + _address_sum(source, destination)


def _address_sum(source: Endpoint, destination: Endpoint) -> int:
    words = (source.address, destination.address)
    return sum((word >> 16) + (word & _ONES) for word in words)


def encode_packet(time: int, source: Endpoint, destination: Endpoint, payload: bytes, sent: int = 0) -> bytes:
    """Packet block of one datagram; ``time`` in ns since the epoch.

    ``sent`` is the datagram's length on the link when more than ``payload`` was captured of it; what is missing
    counts as 0 in the checksum.
    """
    missing = max(sent - len(payload), 0)
    if missing:
        return _cut_short(encode_packet(time, source, destination, payload + bytes(missing)), len(payload))
    total = _HEADERS + len(payload)
    udp = total - _IP.size
    ip_sum = _ip_sum(total, source, destination) % _ONES
    udp_sum = _address_sum(source, destination) + _UDP_PROTOCOL + 2 * udp + source.port + destination.port
    udp_sum = (udp_sum + int.from_bytes(payload + b"\0" * (len(payload) & 1), "big")) % _ONES
    pad = -total % 4
    size = _PREFIX + len(payload) + pad + 4
    return b"".join(
        (
            _BLOCK.pack(ENHANCED_PACKET, size, 0, time >> 32, time & 0xFFFFFFFF, total, total),
            _IP.pack(
                0x45, 0, total, 0, _DONT_FRAGMENT, _TTL, _UDP_PROTOCOL, _ONES - ip_sum if ip_sum else 0,
                source.address, destination.address,
            ),
            _UDP.pack(source.port, destination.port, udp, _ONES - udp_sum),
            payload,
            bytes(pad),
            size.to_bytes(4, "little"),
        )
    )  # fmt: skip


def _cut_short(packet: bytes, payload: int) -> bytes:
    """A packet block of which only the first bytes of the datagram were captured."""
    kind, _, interface, high, low, _, original = _BLOCK.unpack_from(packet)
    captured = _HEADERS + payload
    size = _BLOCK.size + captured + -captured % 4 + 4
    head = _BLOCK.pack(kind, size, interface, high, low, captured, original)
    body = packet[_BLOCK.size : _BLOCK.size + captured]
    return b"".join((head, body, bytes(-captured % 4), size.to_bytes(4, "little")))


def frame_packets(rooms: Rooms, source: Endpoint, destination: Endpoint) -> NDArray[np.int64]:
    """Make packet blocks of datagrams of one direction in their rooms, as :func:`encode_packet` makes them.

    Returns:
        The sizes of the blocks; each begins with its room.

    """
    lengths = rooms.lengths
    prefix = _prefixes(rooms.times, source, destination, lengths)
    sizes = prefix["size"].astype(np.int64)
    rooms.memory[:, :AT] = prefix.view(np.uint8).reshape(-1, AT)
    words = rooms.flat.view("<u4")
    ends = np.arange(len(rooms), dtype=np.int64) * (ROOM >> 2) + (sizes >> 2) - 1
    # The word in which a datagram ends is the last one before the block's last, or, when it fills it, that one.
    words[ends - (-lengths % 4 > 0)] &= _KEPT[lengths % 4]
    words[ends] = sizes
    # From the UDP header (its checksum still 0) to the padding; the block's last word is left out.
    spans = np.stack((ends - (sizes - _BEFORE_UDP >> 2) + 1, ends), axis=1).reshape(-1)
    swapped = np.add.reduceat(words, spans, dtype=np.uint64)[::2] % _ONES
    pseudo = _address_sum(source, destination) + _UDP_PROTOCOL + lengths + _UDP.size
    sums = _ONES - (swapped.astype(np.int64) * 256 + pseudo) % _ONES
    rooms.memory[:, AT - 2 : AT] = sums.astype(">u2").view(np.uint8).reshape(-1, 2)
    return sizes


def _prefixes(
    times: NDArray[np.int64], source: Endpoint, destination: Endpoint, lengths: NDArray[np.int64]
) -> NDArray[np.void]:
    rows = np.zeros(len(times), _PREFIX_ROW)
    total = lengths + _HEADERS
    rows["type"] = ENHANCED_PACKET
    rows["size"] = _PREFIX + lengths + -total % 4 + 4
    rows["high"], rows["low"] = times >> 32, times & 0xFFFFFFFF
    rows["captured"] = rows["original"] = rows["total"] = total
    rows["version"], rows["fragment"], rows["ttl"] = 0x4500, _DONT_FRAGMENT, _TTL << 8 | _UDP_PROTOCOL
    rows["source"], rows["destination"] = source.address, destination.address
    rows["source_port"], rows["destination_port"] = source.port, destination.port
    rows["udp_length"] = lengths + _UDP.size
    sums = (_ip_sum(0, source, destination) + total) % _ONES
    rows["ip_sum"] = np.where(sums, _ONES - sums, 0)
    return rows


def wrong_checksums(
    data: NDArray[np.uint8],
    offsets: NDArray[np.int64],
    lengths: NDArray[np.int64],
    sources: NDArray[np.int64],
    destinations: NDArray[np.int64],
) -> NDArray[np.bool_]:
    """Which datagrams are not what the UDP checksum before them says (RFC 768).

    Datagram i is ``lengths[i]`` bytes at ``offsets[i]`` of ``data``, behind its UDP header; endpoints are IPv4 address
    << 16 | port. Bytes of even and odd places are summed apart, so that any number of datagrams costs two passes.
    """
    even, odd = (np.concatenate(([0], np.cumsum(data[side::2], dtype=np.int64))) for side in (0, 1))
    starts_odd = offsets & 1 == 1
    begin, half = offsets >> 1, lengths >> 1
    more = half + (lengths & 1)
    upper = np.where(starts_odd, _between(odd, begin, more), _between(even, begin, more))
    lower = np.where(starts_odd, _between(even, begin + 1, half), _between(odd, begin, half))
    told = data[offsets - 2].astype(np.int64) * 256 + data[offsets - 1]
    ends = sum((end >> 32) + (end >> 16 & _ONES) + (end & _ONES) for end in (sources, destinations))
    total = upper * 256 + lower + told + ends + _UDP_PROTOCOL + 2 * (lengths + _UDP.size)
    wrong: NDArray[np.bool_] = total % _ONES != 0
    return wrong


def _between(sums: NDArray[np.int64], begin: NDArray[np.int64], count: NDArray[np.int64]) -> NDArray[np.int64]:
    """Sum of ``count`` elements from ``begin`` on, of which ``sums`` are the running sums."""
    last = len(sums) - 1
    between: NDArray[np.int64] = sums[np.minimum(begin + count, last)] - sums[np.minimum(begin, last)]
    return between
