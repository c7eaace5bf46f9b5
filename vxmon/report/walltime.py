# SPDX-License-Identifier: Apache-2.0
"""Host time as ISO 8601 in UTC with nanoseconds, and what happened on the link as a line's arguments."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.report.cells import Cell, Part, fixed_cells, listed
from vxmon.report.digits import safe_text
from vxmon.trace import NS_PER_S, Boot
from vxmon.trace.linkevents import LinkEvent

__all__ = ["UNKNOWN_TIME", "iso_time", "note_text", "wall_time"]

# As wide as a time.
UNKNOWN_TIME: Final = "????-??-??T??:??:??.?????????Z"
_LAST_SECOND: Final = 253_402_300_799


def _second_text(second: int) -> str:
    """Up to the second; a second of no year with four digits is not known."""
    if not 0 <= second <= _LAST_SECOND:
        return UNKNOWN_TIME[:19]
    return f"{datetime.fromtimestamp(second, UTC):%Y-%m-%dT%H:%M:%S}"


def iso_time(ns: int) -> str:
    """ISO 8601 of ns since the epoch, in UTC."""
    return f"{_second_text(ns // NS_PER_S)}.{ns % NS_PER_S:09}Z"


def wall_time(boot: Boot, ticks: NDArray[np.int64]) -> list[Part]:
    """Host time of records, as parts of a line; of one length in all."""
    wall = boot.wall
    if wall is None:
        return [UNKNOWN_TIME.encode()]
    seconds, rest = np.divmod(wall.host_ns(ticks), NS_PER_S)
    return [_second_cell(seconds), b".", *fixed_cells(rest, 9), b"Z"]


def _second_cell(seconds: NDArray[np.int64]) -> Cell:
    first, last = (int(edge) for edge in (seconds.min(), seconds.max()))
    # Seconds that follow one another need not be searched for which are different.
    close = last - first < len(seconds)
    different, which = (
        (np.arange(first, last + 1), seconds - first) if close else np.unique(seconds, return_inverse=True)
    )
    return listed([_second_text(second).encode() for second in different.tolist()]).take(which).settled()


def note_text(event: LinkEvent) -> bytes:
    """Arguments of the line of a link event."""
    words = [f"host:{iso_time(event.host_ns)}"]
    words += [f"run:{event.run}"] if event.run else []
    words += [f"before:0x{event.boot_before:08x}"] if event.boot_before else []
    words += [f"silence_ms:{event.silence_ns // 1_000_000}"] if event.silence_ns else []
    return safe_text(" ".join([*words, f"text:{event.text}"]))
