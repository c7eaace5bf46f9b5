# SPDX-License-Identifier: Apache-2.0
"""Ticks of the target's clock to nanoseconds, without overflow."""

from __future__ import annotations

from typing import overload

import numpy as np
from numpy.typing import NDArray

__all__ = ["NS_PER_S", "instant_text", "ticks_to_ns"]

NS_PER_S = 1_000_000_000


@overload
def ticks_to_ns(ticks: int, hz: int) -> int: ...
@overload
def ticks_to_ns(ticks: NDArray[np.int64], hz: int) -> NDArray[np.int64]: ...
def ticks_to_ns(ticks: int | NDArray[np.int64], hz: int) -> int | NDArray[np.int64]:
    """Whole nanoseconds of a number of ticks, rounded down. ``hz`` is at most 2^32-1.

    The naive product ticks * 10^9 overflows 64 bits after 2^63 / 10^9 ticks, which is 24 s at 400 MHz.
    """
    whole, rest = divmod(ticks, hz)
    return whole * NS_PER_S + rest * NS_PER_S // hz


def instant_text(ticks: int, hz: int) -> str:
    """An instant in seconds to the nanosecond; in ticks where the clock's rate is not known (0)."""
    if not hz:
        return f"{ticks} ticks"
    ns = ticks_to_ns(ticks, hz)
    return f"{ns // NS_PER_S}.{ns % NS_PER_S:09d} s"
