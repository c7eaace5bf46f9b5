# SPDX-License-Identifier: Apache-2.0
"""Which major frame an instant lies in, by the kernel's own numbers; across losses by arithmetic."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Columns
from vxmon.trace.facts import Boot
from vxmon.trace.fields import FieldReader
from vxmon.wire.events import EventId
from vxmon.wire.types import Schedule

__all__ = ["FrameClock"]

# Where no frame is known, stretches of this many a second stand for frames.
_STRETCHES_A_SECOND: Final = 100
_TICKS_WITHOUT_CLOCK: Final = 1 << 22

Ints = NDArray[np.int64]


class FrameClock:
    """Numbers of frames of a boot, by its schedules.

    ``length`` is that of a major frame in ticks, None while nothing tells it: then numbers count stretches of
    ``unit`` ticks.
    """

    def __init__(self, boot: Boot, schedules: Mapping[int, Schedule]) -> None:
        self._majors = {s.id: s.major_frame for s in schedules.values() if s.major_frame > 0}
        self.length: int | None = min(self._majors.values()) if len(set(self._majors.values())) == 1 else None
        self._stretch = max(boot.clock_hz // _STRETCHES_A_SECOND, 1) if boot.clock_hz else _TICKS_WITHOUT_CLOCK
        self._stream: int | None = None
        self._start = np.zeros(0, np.int64)
        self._number = np.zeros(0, np.int64)
        self._major = np.zeros(0, np.int64)
        self._origin = boot.first_time or 0

    @property
    def unit(self) -> int:
        """Ticks from one number to the next."""
        return self.length or self._stretch

    def learn(self, columns: Columns, reader: FieldReader) -> None:
        """Take the MAJOR_FRAME records of a chunk; those of the first stream that has any."""
        which = reader.having(columns, EventId.MAJOR_FRAME, ("start", "frame"))
        if not len(which):
            return
        if self._stream is None:
            self._stream = int(columns.stream[which[0]])
        which = which[columns.stream[which] == self._stream]
        schedule = columns.arg[which].astype(np.int64)
        if self.length is None and len(which):
            # Of several schedules the first in use gives the unit; each frame still has its own length.
            self.length = self._majors.get(int(schedule[0]))
        if self.length is None:
            return
        major = np.full(len(which), self.length, np.int64)
        for number, length in self._majors.items():
            major[schedule == number] = length
        start = reader.values(columns, EventId.MAJOR_FRAME, "start", which)
        number_of = reader.values(columns, EventId.MAJOR_FRAME, "frame", which)
        # The last one known goes before: a record may be older than the first frame of its chunk.
        order = np.argsort(start, kind="stable")
        self._start = np.concatenate([self._start[-1:], start[order]])
        self._number = np.concatenate([self._number[-1:], number_of[order]])
        self._major = np.concatenate([self._major[-1:], major[order]])

    def of(self, time: Ints) -> Ints:
        """Numbers of the frames in which instants lie."""
        if not len(self._start):
            numbers: Ints = (time - self._origin) // self.unit
            return numbers
        at = np.maximum(np.searchsorted(self._start, time, side="right") - 1, 0)
        frame: Ints = self._number[at] + (time - self._start[at]) // self._major[at]
        return frame
