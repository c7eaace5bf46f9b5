# SPDX-License-Identifier: Apache-2.0
"""Tells the C library to keep memory that was freed: arrays of the same sizes come and go all the time."""

from __future__ import annotations

import contextlib
import ctypes
from typing import Final

__all__ = ["keep_memory"]

# Of mallopt(3). By default glibc returns what is free at the end of its heap beyond 128 KiB to twice the largest array
# so far, and each of its pages is fetched, cleared, and mapped anew some microseconds later: a fifth of all the time
# that reading takes, half of what reception takes.
_M_TRIM_THRESHOLD: Final = -1
_M_MMAP_THRESHOLD: Final = -3
_TRIM_BYTES: Final = 128 << 20
# The most that glibc takes on 64-bit machines; larger arrays are pages of their own.
_MMAP_BYTES: Final = 32 << 20


def keep_memory() -> None:
    """Set it for this process and those it forks; nothing where the C library has no such setting."""
    with contextlib.suppress(AttributeError, OSError):
        mallopt = ctypes.CDLL(None).mallopt
        mallopt(_M_MMAP_THRESHOLD, _MMAP_BYTES)
        mallopt(_M_TRIM_THRESHOLD, _TRIM_BYTES)
