# SPDX-License-Identifier: Apache-2.0
"""Datagrams: the fixed header, its checks, and cutting messages into fragments (SPEC section 1)."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from typing import Final

from vxmon.errors import WireError
from vxmon.wire.authentication import TRAILER_BYTES, Seal, decode_trailer
from vxmon.wire.types import Channel, Datagram, Flag, Header

__all__ = [
    "DEFAULT_DATAGRAM",
    "DEFAULT_PORT",
    "HEADER_BYTES",
    "MAGIC",
    "MAX_DATAGRAM",
    "MAX_FRAGMENTS",
    "MAX_MESSAGE",
    "MIN_DATAGRAM",
    "VERSION",
    "decode_datagram",
    "encode_datagram",
    "looks_like_datagram",
    "seal_datagram",
    "split_message",
]

DEFAULT_PORT: Final = 6530
MAGIC: Final = 0x56584D4E
VERSION: Final = 1
HEADER_BYTES: Final = 32
MIN_DATAGRAM: Final = 512
MAX_DATAGRAM: Final = 1472
DEFAULT_DATAGRAM: Final = 1400
MAX_FRAGMENTS: Final = 64
# Largest message that may be put together from fragments, in bytes.
MAX_MESSAGE: Final = 65536

_HEADER: Final = struct.Struct(">IBBBBIIHHHHHHI")
_MAGIC_BYTES: Final = MAGIC.to_bytes(4, "big")
_CRC_OFFSET: Final = 28
_FRAGMENTED: Final = frozenset({Channel.REPLY, Channel.TABLE})
# Nothing is authenticated on these: SPEC section 10 says why.
_PLAIN: Final = frozenset({Channel.BLOCK, Channel.TABLE, Channel.NOTE})
_FROM_TARGET: Final = frozenset({Channel.REPLY, Channel.BLOCK, Channel.TABLE, Channel.END})


def looks_like_datagram(data: bytes | memoryview) -> bool:
    """True when the bytes begin with the magic; the cheap test that tells strangers apart."""
    return data[:4] == _MAGIC_BYTES


def decode_datagram(data: bytes | memoryview) -> Datagram:
    """Check the header and the CRC of a datagram.

    The channel may be an unknown one; the caller skips and counts those. What the CRC does not
    cover (a block's slots) is checked when the block is decoded.

    Raises:
        WireError: with the kind of the first check that failed, in the order of SPEC section 1.

    """
    if not HEADER_BYTES <= len(data) <= MAX_DATAGRAM:
        raise WireError("short" if len(data) < HEADER_BYTES else "length", f"a datagram of {len(data)} bytes")
    fields = _HEADER.unpack_from(data)
    _, version, flags, channel, header_bytes, boot, sequence, fragment, fragments, length, covered, message, _, crc = (
        fields
    )
    _check_identity(data, version, header_bytes, flags)
    end = len(data) - (TRAILER_BYTES if flags & Flag.AUTHENTICATED else 0)
    if length != end - header_bytes or covered > length:
        raise WireError("length", f"header says {length} bytes ({covered} covered), there are {end - header_bytes}")
    header = Header(channel, boot, sequence, flags, fragment, fragments, length, covered, message, version)
    _check_header(header)
    payload = bytes(data[header_bytes:end])
    if zlib.crc32(memoryview(payload)[:covered], zlib.crc32(data[:_CRC_OFFSET])) != crc:
        raise WireError("crc", f"CRC of a datagram on channel {channel} is wrong")
    return Datagram(header, payload, decode_trailer(bytes(data[end:])) if end < len(data) else None)


def _check_identity(data: bytes | memoryview, version: int, header_bytes: int, flags: int) -> None:
    if data[:4] != _MAGIC_BYTES:
        raise WireError("magic", "not a vxmon datagram")
    if version != VERSION:
        raise WireError("version", f"wire format {version} is not known, this is vxmon for format {VERSION}")
    if not HEADER_BYTES <= header_bytes <= len(data):
        raise WireError("header", f"header of {header_bytes} bytes")
    if flags & ~int(Flag.BIG_ENDIAN | Flag.AUTHENTICATED):
        raise WireError("header", f"unknown flags 0x{flags:02x}")


def _check_header(header: Header) -> None:
    channel, fragments = header.channel, header.fragments
    if channel != Channel.BLOCK and header.covered != header.length:
        raise WireError("length", f"the CRC covers {header.covered} of {header.length} bytes on channel {channel}")
    if not 1 <= fragments <= MAX_FRAGMENTS or header.fragment >= fragments:
        raise WireError("fragment", f"fragment {header.fragment} of {fragments}")
    if fragments > 1 and channel not in _FRAGMENTED:
        raise WireError("fragment", f"{fragments} fragments on channel {channel}")
    if header.flags & Flag.AUTHENTICATED and channel in _PLAIN:
        raise WireError("header", f"an authenticated datagram on channel {channel}")
    if header.boot == 0 and channel in _FROM_TARGET:
        raise WireError("header", f"no boot id on channel {channel}")


def encode_datagram(header: Header, payload: bytes) -> bytes:
    """Make a datagram; ``length`` and the CRC are filled in.

    ``header.covered`` is used for BLOCK; on other channels the CRC covers the whole payload. With the flag
    AUTHENTICATED the trailer is still missing: :func:`seal_datagram` puts it there.

    Raises:
        WireError: the datagram would break a rule that :func:`decode_datagram` checks.

    """
    covered = header.covered if header.channel == Channel.BLOCK else len(payload)
    if len(payload) > _room(header, MAX_DATAGRAM) or covered > len(payload):
        raise WireError("length", f"a payload of {len(payload)} bytes ({covered} covered) does not fit a datagram")
    _check_header(
        Header(
            header.channel, header.boot, header.sequence, header.flags, header.fragment, header.fragments,
            len(payload), covered, header.message, header.version,
        )
    )  # fmt: skip
    head = _HEADER.pack(
        MAGIC, header.version, header.flags, header.channel, HEADER_BYTES, header.boot, header.sequence & 0xFFFFFFFF,
        header.fragment, header.fragments, len(payload), covered, header.message & 0xFFFF, 0, 0,
    )[:_CRC_OFFSET]  # fmt: skip
    crc = zlib.crc32(payload[:covered], zlib.crc32(head))
    return head + crc.to_bytes(4, "big") + payload


def _room(header: Header, datagram_bytes: int) -> int:
    """Bytes for the payload in a datagram of that size."""
    return datagram_bytes - HEADER_BYTES - (TRAILER_BYTES if header.flags & Flag.AUTHENTICATED else 0)


def seal_datagram(header: Header, payload: bytes, seal: Seal, number: int) -> bytes:
    """Make an authenticated datagram, like :func:`encode_datagram`; ``number`` counts those of the session."""
    data = encode_datagram(replace(header, flags=header.flags | Flag.AUTHENTICATED), payload)
    return data + seal.trailer(data, number)


def split_message(header: Header, payload: bytes, datagram_bytes: int = DEFAULT_DATAGRAM) -> list[bytes]:
    """Cut a message into datagrams of at most ``datagram_bytes``; sequence numbers count up from the header's.

    With the flag AUTHENTICATED there is room left for the trailers, which are still missing.

    Raises:
        WireError: the message needs more fragments than its channel may have.

    """
    room = _room(header, datagram_bytes)
    pieces = [payload[i : i + room] for i in range(0, len(payload), room)] or [b""]
    if len(pieces) > MAX_FRAGMENTS or len(payload) > MAX_MESSAGE:
        raise WireError("fragment", f"a message of {len(payload)} bytes is too long")
    return [
        encode_datagram(
            Header(
                header.channel, header.boot, header.sequence + i, header.flags,
                fragment=i, fragments=len(pieces), message=header.message,
            ),
            piece,
        )
        for i, piece in enumerate(pieces)
    ]  # fmt: skip
