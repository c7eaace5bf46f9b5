# SPDX-License-Identifier: Apache-2.0
"""Authenticated datagrams: the trailer, its HMAC, and the window against replays (SPEC section 10). Pure."""

from __future__ import annotations

import hashlib
import hmac
import struct
from dataclasses import dataclass
from typing import Final

__all__ = [
    "HOST", "MAX_KEY", "MIN_KEY", "TARGET", "TRAILER_BYTES", "WINDOW", "Challenge", "ReplayWindow", "Seal", "Trailer",
    "boot_nonce", "decode_trailer",
]  # fmt: skip

MIN_KEY: Final = 16
MAX_KEY: Final = 64
TRAILER_BYTES: Final = 24
# Datagrams below the highest number of which it is known whether they came.
WINDOW: Final = 64
HOST: Final = b"vxm1host"
TARGET: Final = b"vxm1targ"
_BOOT: Final = b"vxm1boot"
_MAC_BYTES: Final = 16
_COUNTERS: Final = struct.Struct(">II")


@dataclass(frozen=True, slots=True)
class Challenge:
    """What a target with a key tells beside a cookie: the nonce of its boot and the session that would begin."""

    nonce: int
    session: int


@dataclass(frozen=True, slots=True)
class Trailer:
    """The end of an authenticated datagram. ``number`` counts the sender's in the session."""

    session: int
    number: int
    mac: bytes


def decode_trailer(data: bytes) -> Trailer:
    """The trailer in ``TRAILER_BYTES`` bytes."""
    session, number = _COUNTERS.unpack_from(data)
    return Trailer(session, number, data[_COUNTERS.size : TRAILER_BYTES])


def boot_nonce(key: bytes, entropy: int) -> int:
    """The nonce of a boot whose port gave 64 bits of entropy."""
    return int.from_bytes(hmac.digest(key, _BOOT + entropy.to_bytes(8, "big"), hashlib.sha256)[:8], "big")


@dataclass(frozen=True, slots=True, repr=False)
class Seal:
    """Makes and checks trailers of one direction (``HOST`` or ``TARGET``) in one session."""

    key: bytes
    label: bytes
    nonce: int
    session: int

    def trailer(self, data: bytes, number: int) -> bytes:
        """The trailer of a datagram, which is given without it."""
        counters = _COUNTERS.pack(self.session, number)
        return counters + self._mac(data + counters)

    def verifies(self, datagram: bytes) -> bool:
        """True when the HMAC of a whole datagram, trailer included, is right."""
        return hmac.compare_digest(self._mac(datagram[:-_MAC_BYTES]), datagram[-_MAC_BYTES:])

    def _mac(self, covered: bytes) -> bytes:
        return hmac.digest(self.key, self.label + self.nonce.to_bytes(8, "big") + covered, hashlib.sha256)[:_MAC_BYTES]


class ReplayWindow:
    """Tells numbers that are new from those that came before; numbers may overtake each other by ``WINDOW - 1``."""

    def __init__(self) -> None:
        self._highest = -1
        self._came = 0

    def is_new(self, number: int) -> bool:
        """True for a number that may be taken; it is not taken by asking."""
        below = self._highest - number
        return below < 0 or (below < WINDOW and not self._came >> below & 1)

    def take(self, number: int) -> None:
        """Remember a new number."""
        below = self._highest - number
        if below < 0:
            self._came = self._came << -below if -below < WINDOW else 0
            self._came = (self._came | 1) & ((1 << WINDOW) - 1)
            self._highest = number
        else:
            self._came |= 1 << below
