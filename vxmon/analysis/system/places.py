# SPDX-License-Identifier: Apache-2.0
"""In which window occurrence each fault of a stream was, and what margin that occurrence had."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.scene import Scene
from vxmon.trace.columns import Columns
from vxmon.trace.state import UNKNOWN, Segments
from vxmon.trace.state_events import frame_rows
from vxmon.trace.state_frames import FrameRows, FrameTrack, Occurrences
from vxmon.trace.state_modes import BRIDGE, DOUBTFUL, NORMAL, NOT_NORMAL, Modes, Verdicts
from vxmon.trace.state_windows import PARTS, Windows, WindowTable, unknown_part

__all__ = ["CUT", "DOUBT", "OFF", "OPEN", "SURE", "Places"]

SURE: Final = 0
"""The occurrence's margin is known, or a range."""
OFF: Final = 1
"""The partition was not in NORMAL mode: there is no margin."""
DOUBT: Final = 2
"""Records were lost that may have told another mode."""
CUT: Final = 3
"""The begin or end of what is observed cuts the occurrence."""
OPEN: Final = 4
"""Not decided yet."""

_MARGIN: Final = PARTS.index("margin")
# Major frames of segments that are held for faults to come.
_HELD: Final = 3

Ints = NDArray[np.int64]


@dataclass(slots=True)
class _Waiting:
    """Faults whose window's margin is not decided: row numbers, when it began, and the verdict on the mode."""

    row: int
    partition: int
    verdict: int
    stretch: int
    before: int


@dataclass(slots=True)
class Places:
    """The occurrences of faults of one stream, in rows of ``start``, ``end``, ``place``, ``frame`` and the margin.

    ``status`` says whether there is a margin. Rows are numbered in the order in which faults were given.
    """

    scene: Scene
    stream: int
    start: list[int] = field(default_factory=list)
    end: list[int] = field(default_factory=list)
    place: list[int] = field(default_factory=list)
    frame: list[int] = field(default_factory=list)
    margin: list[tuple[int, int]] = field(default_factory=list)
    status: list[int] = field(default_factory=list)
    windows: Windows = field(init=False)
    modes: dict[int, Modes] = field(default_factory=dict)
    _track: FrameTrack = field(init=False)
    _held: tuple[list[Segments], FrameRows] = field(init=False)
    _live: bool = False
    _planned: Occurrences = field(default_factory=Occurrences.none)
    _seeking: list[tuple[int, int, int]] = field(default_factory=list)
    _placed: list[int] = field(default_factory=list)
    _waiting: list[_Waiting] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.windows = self._new_windows()
        self._held = ([], FrameRows(*(np.zeros(0, np.int64) for _ in _FRAME_COLUMNS)))
        self._track = FrameTrack(self.scene.schedules)

    def feed(self, columns: Columns, segments: list[Segments], time: Ints, window: Ints) -> None:
        """Take a chunk: its records, the stream's segments, and when and in which running window faults were."""
        for some in zip(time.tolist(), window.tolist(), strict=True):
            self._seeking.append((len(self.start), *some))
            for column in (self.start, self.end, self.place, self.frame):
                column.append(UNKNOWN)
            self.margin.append((UNKNOWN, UNKNOWN))
            self.status.append(OPEN)
        frames = frame_rows(columns, self.scene.reader, self.stream)
        self.scene.add_modes(self.modes, columns)
        asked = bool(self._seeking or self._placed)
        self._plan(self._track.add(frames))
        if asked:
            self._account(segments, frames)
        self._live = asked
        self._hold(segments, frames, int(columns.time[-1]))

    def finish(self, segments: list[Segments]) -> None:
        """Take the rest, and decide what is open."""
        nothing = np.zeros(0, np.int64)
        if self._placed:
            self._account(segments, FrameRows(nothing, nothing, nothing))
            self._enter(self.windows.finish())
        for row in self._placed:
            self.status[row] = CUT
        for some in self._waiting:
            normal = self._normal(some)
            hidden = self.modes[some.partition].hidden if some.partition in self.modes else False
            # Never told, and nothing hid it, nor is there more from before: a partition at work is NORMAL.
            doubt = normal is None and (hidden or self.scene.cut)
            self.status[some.row] = DOUBT if doubt else OFF if normal is False else SURE
        self._placed, self._waiting = [], []

    # ------------------------------------------------------------ what faults ask for

    def _new_windows(self) -> Windows:
        return Windows(self.scene.schedules, self.scene.people, self.scene.stream_losses(self.stream))

    def _account(self, segments: list[Segments], frames: FrameRows) -> None:
        """Look into windows: into those of what is held first, where that was not done yet."""
        if not self._live:
            self.windows, self._live = self._new_windows(), True
            self._enter(self.windows.feed(*self._held))
        self._enter(self.windows.feed(segments, frames))

    def _hold(self, segments: list[Segments], frames: FrameRows, until: int) -> None:
        """A later fault will ask for the window that it is in, or for the one before, at most."""
        longest = max((s.major_frame for s in self.scene.schedules.values()), default=0)
        held = _behind(until - _HELD * longest, [*self._held[0], *segments])
        columns = [np.concatenate([getattr(f, name) for f in (self._held[1], frames)]) for name in _FRAME_COLUMNS]
        first = int(np.searchsorted(columns[0], until - 2 * _HELD * longest))
        # Of frames that a loss hides the last one before them tells where they were.
        first = max(min(first, len(columns[0]) - 1), 0)
        self._held = (held, FrameRows(*(column[first:].copy() for column in columns)))

    # ------------------------------------------------------------ occurrences
    def _plan(self, made: Occurrences) -> None:
        self._planned = Occurrences.join([self._planned, made])
        covered = self._track.covered
        if covered is None:
            return
        ready = [fault for fault in self._seeking if fault[1] < covered]
        self._seeking = [fault for fault in self._seeking if fault[1] >= covered]
        for row, time, window in ready:
            self._place_fault(row, time, window)
        longest = max((s.major_frame for s in self.scene.schedules.values()), default=0)
        self._planned = self._planned.take(self._planned.end > covered - 2 * longest)

    def _place_fault(self, row: int, time: int, window: int) -> None:
        """The occurrence of the window that ran: the nominal one, or the one before where that ran too long."""
        planned = self._planned
        at = int(np.searchsorted(planned.start, time, "right")) - 1
        for candidate in (at, at - 1):
            if candidate < 0 or self.windows.places[int(planned.place[candidate])].window != window:
                continue
            if candidate == at or int(planned.end[candidate]) == int(planned.start[at]):
                self.start[row], self.end[row] = int(planned.start[candidate]), int(planned.end[candidate])
                self.place[row], self.frame[row] = int(planned.place[candidate]), int(planned.frame[candidate])
                self._placed.append(row)
                return

    # ------------------------------------------------------------ margins

    def _enter(self, table: WindowTable) -> None:
        if len(table) and self._placed:
            starts = table.occurrences.start
            rows = np.array(self._placed, np.int64)
            wanted = np.array([self.start[row] for row in self._placed], np.int64)
            at = np.minimum(np.searchsorted(starts, wanted), len(starts) - 1)
            found = starts[at] == wanted
            self._take(rows[found].tolist(), table, at[found])
            self._placed = rows[~found].tolist()
        self._settle()

    def _take(self, rows: list[int], table: WindowTable, at: Ints) -> None:
        low = table.parts[_MARGIN, at]
        high = low + unknown_part(table.parts[:, at])
        starts, ends = table.occurrences.start[at], table.occurrences.end[at]
        far = self._reaching_out(starts, ends)
        for number, row in enumerate(rows):
            self.margin[row] = (int(low[number]), int(high[number]))
            partition = self.windows.places[self.place[row]].partition
            modes = self.modes.get(partition)
            if not partition or modes is None:
                # The module OS has no operating mode.
                self.status[row] = SURE
                continue
            some = slice(number, number + 1)
            self._judge(row, partition, modes.judge(starts[some], ends[some], far[some]))

    def _judge(self, row: int, partition: int, verdicts: Verdicts) -> None:
        verdict = int(verdicts.verdict[0])
        decided = {NORMAL: SURE, NOT_NORMAL: OFF, DOUBTFUL: DOUBT}
        if verdict in decided:
            self.status[row] = decided[verdict]
            return
        self._waiting.append(_Waiting(row, partition, verdict, int(verdicts.stretch[0]), int(verdicts.before[0])))

    def _settle(self) -> None:
        """Decide about modes as soon as something tells them."""
        still = []
        for some in self._waiting:
            normal = self._normal(some)
            if normal is None:
                still.append(some)
            else:
                self.status[some.row] = SURE if normal else OFF
        self._waiting = still

    def _normal(self, some: _Waiting) -> bool | None:
        modes = self.modes[some.partition]
        behind = modes.at_begin(some.stretch)
        if some.verdict != BRIDGE or behind is not True:
            return behind if some.verdict != BRIDGE else None
        return True if modes.at_end(some.before) else None

    def _reaching_out(self, start: Ints, end: Ints) -> NDArray[np.bool_]:
        """Occurrences with a loss that is not wholly inside."""
        lost_from, lost_to = self.windows.losses
        first = np.searchsorted(lost_to, start, "left")
        behind = np.searchsorted(lost_from, end, "right")
        touched = behind > first
        if not len(lost_to):
            return touched
        first, last = np.minimum(first, len(lost_to) - 1), np.maximum(behind - 1, 0)
        out: NDArray[np.bool_] = touched & ((lost_from[first] < start) | (lost_to[last] > end))
        return out


_FRAME_COLUMNS: Final = ("start", "frame", "schedule")


def _behind(time: int, parts: list[Segments]) -> list[Segments]:
    """Segments that end behind an instant, as columns of their own."""
    few = [segments.take(np.flatnonzero(segments.end > time)) for segments in parts if int(segments.end[-1]) > time]
    return [segments for segments in few if len(segments)]
