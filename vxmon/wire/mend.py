# SPDX-License-Identifier: Apache-2.0
"""Which block a damaged datagram was.

For the loss account it is enough to know run, stream, indices and count of a block; its records stay lost. The CRC
covers all of those, and tells whether a guess at the damage is right: one wrong byte, or fields of the header that are
known in advance. A wrong guess passes with a chance of about 10^-5.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterable, Iterator
from functools import cache
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.bulk import KINDS, BlockScan, scan_blocks
from vxmon.wire.datagram import HEADER_BYTES, MAGIC, MAX_DATAGRAM, VERSION
from vxmon.wire.types import Channel, Flag

__all__ = ["mend_block"]

_CRC_AT: Final = 28
# Covered bytes of a block that this looks at; what comes before the slots is shorter.
_MOST_COVERED: Final = 224
_LEAST_COVERED: Final = 12
_POLYNOMIAL: Final = 0xEDB88320


def mend_block(datagram: bytes, boots: Iterable[int] = ()) -> BlockScan | None:
    """The block that a refused datagram was, or None when that cannot be known.

    ``boots`` are boot ids it may have had. The verdict of the scan is "header", as the datagram stays corrupt.
    """
    if not HEADER_BYTES < len(datagram) <= MAX_DATAGRAM:
        return None
    for guess in _guesses(datagram, boots):
        size = np.full(1, len(guess), np.int64)
        scan = scan_blocks(np.frombuffer(bytes(guess), np.uint8), np.zeros(1, np.int64), size)
        if scan.kind[0] == 0 or scan.exact[0]:
            scan.kind[0], scan.exact[0] = KINDS.index("header"), True
            return scan
    return None


def _guesses(datagram: bytes, boots: Iterable[int]) -> Iterator[bytearray]:
    """Datagrams whose CRC is right."""
    covered = int.from_bytes(datagram[22:24], "big")
    if covered <= len(datagram) - HEADER_BYTES and not _syndrome(datagram, covered):
        return  # as it was sent; what is wrong with it was wrong from the start
    if covered <= min(len(datagram) - HEADER_BYTES, _MOST_COVERED):
        yield from _one_byte(datagram, covered)
    for length in range(_LEAST_COVERED, min(_MOST_COVERED, len(datagram) - HEADER_BYTES)):
        data = bytearray(datagram)
        data[22:24] = length.to_bytes(2, "big")
        if not _syndrome(data, length):
            yield data
    yield from _known_fields(datagram, covered, boots)


def _syndrome(data: bytes | bytearray, covered: int) -> int:
    """CRC as it is, exclusive-or CRC as it should be; 0 when right."""
    crc = zlib.crc32(data[HEADER_BYTES : HEADER_BYTES + covered], zlib.crc32(data[:_CRC_AT]))
    return crc ^ int.from_bytes(data[_CRC_AT:HEADER_BYTES], "big")


@cache
def _effects() -> NDArray[np.uint32]:
    """What a wrong byte does to the CRC: by number of bytes behind it, and by the bits that are wrong."""
    table = np.arange(256, dtype=np.uint32)
    for _ in range(8):
        table = np.where(table & 1, table >> 1 ^ np.uint32(_POLYNOMIAL), table >> 1)
    effects = np.empty((_CRC_AT + _MOST_COVERED, 256), np.uint32)
    effects[0] = table
    for behind in range(1, len(effects)):
        effects[behind] = table[effects[behind - 1] & 0xFF] ^ effects[behind - 1] >> 8
    return effects


def _one_byte(datagram: bytes, covered: int) -> Iterator[bytearray]:
    """The datagram with one byte changed so that the CRC holds."""
    syndrome = _syndrome(datagram, covered)
    total = _CRC_AT + covered
    for behind, bits in np.argwhere(_effects()[:total] == syndrome).tolist():
        at = total - 1 - behind
        data = bytearray(datagram)
        data[at if at < _CRC_AT else at + 4] ^= bits
        yield data
    if sum(byte != 0 for byte in syndrome.to_bytes(4, "big")) == 1:
        data = bytearray(datagram)
        crc = int.from_bytes(data[_CRC_AT:HEADER_BYTES], "big") ^ syndrome
        data[_CRC_AT:HEADER_BYTES] = crc.to_bytes(4, "big")
        yield data


def _known_fields(datagram: bytes, covered: int, boots: Iterable[int]) -> Iterator[bytearray]:
    """The datagram with everything put right that is the same in all blocks, for each boot."""
    if covered > len(datagram) - HEADER_BYTES:
        return
    data = bytearray(datagram)
    data[:5] = MAGIC.to_bytes(4, "big") + bytes([VERSION])
    data[5] &= Flag.BIG_ENDIAN
    data[6:8] = bytes([Channel.BLOCK, HEADER_BYTES])
    data[16:20] = bytes([0, 0, 0, 1])
    data[20:22] = (len(data) - HEADER_BYTES).to_bytes(2, "big")
    data[26:28] = bytes(2)
    for boot in dict.fromkeys((int.from_bytes(data[8:12], "big"), *boots)):
        data[8:12] = boot.to_bytes(4, "big")
        if not _syndrome(data, covered):
            yield data
