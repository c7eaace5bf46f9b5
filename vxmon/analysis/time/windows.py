# SPDX-License-Identifier: Apache-2.0
"""Books of windows: margin, use and its parts, start delay, overrun; streamed, no loop per event or occurrence."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.figures import Range
from vxmon.trace.batches import present
from vxmon.trace.state import Segments
from vxmon.trace.state_frames import FrameRows
from vxmon.trace.state_modes import BRIDGE, DOUBTFUL, NORMAL, NOT_NORMAL, WAITING, Modes, Verdicts
from vxmon.trace.state_windows import PARTS, People, WindowPlace, Windows, WindowTable, unknown_part
from vxmon.wire.types import Schedule

__all__ = ["QUANTITIES", "PlaceBook", "WindowBooks"]

# What is kept of every occurrence; the bad end of margins is the low one.
QUANTITIES: Final = (
    "margin", "margin_net", "used", "late", "tasks", "kernel", "other", "interrupts", "records", "delay",
)  # fmt: skip
_UNKNOWN: Final = PARTS.index("unknown")
_MOST_WAITING: Final = 1 << 20
_MOST_FRAMES: Final = 1 << 22
# Occurrences that are entered at a time; some 10 MB.
_MANY: Final = 1 << 15

Ints = NDArray[np.int64]


@dataclass(slots=True)
class PlaceBook:
    """Occurrences of one window on one stream."""

    values: dict[str, Range] = field(default_factory=lambda: {name: Range() for name in QUANTITIES})
    never_started: int = 0
    maybe_never: int = 0
    not_normal: int = 0
    unmatched: int = 0
    parts_total: int = 0
    budget_total: int = 0

    def add(self, rows: _Rows) -> None:
        """Take occurrences; where something is unknown, each part lies between two bounds."""
        unknown, unsure = unknown_part(rows.parts), rows.parts[_UNKNOWN]
        budget = rows.end - rows.start
        self.budget_total += int(budget.sum())
        self.parts_total += int(rows.parts.sum())
        for name in ("margin", "tasks", "kernel", "other"):
            self._add(name, rows.parts[PARTS.index(name)], unknown, rows)
        self._add("late", rows.parts[PARTS.index("late")], unsure, rows)
        margin = rows.parts[PARTS.index("margin")]
        self._add("used", budget - margin - unknown, unknown, rows)
        self._add("interrupts", rows.interrupts, rows.unknown_depth, rows)
        net = margin - rows.idle_interrupts
        # Idle time about whose interrupts nothing is known may be interrupt to the last tick.
        low = np.maximum(net - rows.unknown_depth, 0)
        self._add("margin_net", low, net + unknown - low, rows)
        self._add("records", rows.records, np.where(rows.touched, rows.lost, 0), rows)
        self._add_delays(rows)
        self.never_started += int((~rows.started & (unsure <= 0)).sum())
        self.maybe_never += int((~rows.started & (unsure > 0)).sum())

    def _add(self, name: str, low: Ints, doubt: Ints, rows: _Rows) -> None:
        """Take values, each of which may be larger by as much as is in doubt."""
        self.values[name].add(low, low + doubt if doubt.any() else None, rows.frame, rows.start)

    def _add_delays(self, rows: _Rows) -> None:
        seen = rows.delay >= 0
        if seen.all():
            self.values["delay"].add(rows.delay, None, rows.frame, rows.start)
            return
        hidden = ~seen & rows.touched
        bounded = hidden & (rows.delay_most >= 0)
        low = np.where(seen, rows.delay, 0)
        high = np.where(seen, rows.delay, rows.delay_most)
        some = seen | bounded
        self.values["delay"].add(low[some], high[some], rows.frame[some], rows.start[some])
        self.values["delay"].add_extra(int((hidden & ~bounded).sum()), 0, None)
        self.unmatched += int((~seen & ~hidden).sum())

    def add_doubtful(self, count: int, budget: int, recorded: int) -> None:
        """Take occurrences that may have been, or may have been in another mode; nothing is known of them."""
        for name, values in self.values.items():
            most = {"delay": None, "records": recorded}.get(name, budget)
            values.add_extra(count, 0, most)
        self.maybe_never += count

    def merge(self, other: PlaceBook) -> None:
        """Take all that another book holds."""
        for name, values in self.values.items():
            values.merge(other.values[name])
        for name in ("never_started", "maybe_never", "not_normal", "unmatched", "parts_total", "budget_total"):
            setattr(self, name, getattr(self, name) + getattr(other, name))


@dataclass(slots=True)
class _Rows:
    """Occurrences with everything that is kept of them; columns of equal length."""

    place: Ints
    frame: Ints
    start: Ints
    end: Ints
    parts: Ints
    interrupts: Ints
    idle_interrupts: Ints
    unknown_depth: Ints
    started: NDArray[np.bool_]
    records: Ints
    delay: Ints
    delay_most: Ints
    touched: NDArray[np.bool_]
    lost: int

    def take(self, which: NDArray[np.intp]) -> _Rows:
        return self._with({name: getattr(self, name).take(which, axis=-1) for name in _COLUMNS})

    def _with(self, columns: dict[str, Any]) -> _Rows:
        return replace(self, **columns)

    @staticmethod
    def join(parts: list[_Rows]) -> _Rows:
        if len(parts) == 1:
            return parts[0]
        return parts[0]._with(
            {name: np.concatenate([getattr(part, name) for part in parts], axis=-1) for name in _COLUMNS}
        )


_COLUMNS: Final = tuple(f.name for f in fields(_Rows))[:-1]


class _Own:
    """Occurrences of one partition: which rows they are."""

    def __init__(self, rows: _Rows, which: NDArray[np.intp]) -> None:
        self.rows = rows
        self.which = which
        self.start, self.end = rows.start[which], rows.end[which]

    def by_place(self, which: NDArray[np.bool_]) -> Iterator[tuple[int, NDArray[np.intp]]]:
        """The rows of some of them, apart by place."""
        some = self.which[which]
        for place, few in _by_place(self.rows.place[some]) if len(some) else ():
            yield place, some[few]


@dataclass(slots=True)
class WindowBooks:
    """The windows of one stream of a boot.

    Args:
        schedules: of the session or the module configuration, in ticks.
        people: who belongs where.
        losses: (start, end) of the stream's losses, in order.
        lost: records the stream lost.
        recorded: records the stream had, lost ones included.
        modes: of the partitions, as this stream's windows need them.

    """

    schedules: Mapping[int, Schedule]
    people: People
    losses: tuple[Ints, Ints]
    lost: int
    recorded: int
    modes: dict[int, Modes]
    per_frame: bool = False
    windows: Windows = field(init=False)
    books: dict[int, PlaceBook] = field(default_factory=dict)
    overruns: dict[int, Range] = field(default_factory=dict)
    frames: list[_Rows] = field(default_factory=list)
    frames_left_out: int = 0
    _waiting: dict[int, PlaceBook] = field(default_factory=dict)
    _reaching: dict[int, PlaceBook] = field(default_factory=dict)
    _stretch: dict[int, int] = field(default_factory=dict)
    _times: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    _window_rows: tuple[Ints, Ints] = field(default_factory=lambda: (np.zeros(0, np.int64), np.zeros(0, np.int64)))
    _reach: tuple[Ints, Ints] = field(init=False)
    _kept_frames: int = 0
    _pending: list[_Rows] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.windows = Windows(self.schedules, self.people, self.losses)
        self._reach = _distances(self.windows.places)

    @property
    def places(self) -> list[WindowPlace]:
        """The windows by place."""
        return self.windows.places

    def feed(self, segments: list[Segments], frames: FrameRows, times: Ints, window_rows: tuple[Ints, Ints]) -> None:
        """Take a chunk: the stream's segments, its frames, the times of all its records, and its WINDOW records."""
        self._times = np.concatenate([self._times, times])
        old, new = self._window_rows, window_rows
        self._window_rows = (np.concatenate([old[0], new[0]]), np.concatenate([old[1], new[1]]))
        self._take(self.windows.feed(segments, frames))
        if len(self._times) > _MOST_WAITING:
            self._times = self._times[-_MOST_WAITING // 2 :]

    def finish(self) -> None:
        """Take the rest, and decide what is still waiting."""
        self._take(self.windows.finish())
        self._enter_pending()
        for place, book in self._waiting.items():
            if not self.modes[self.places[place].partition].hidden:
                # The mode was never told and nothing hid it: it did not change, and a partition at work is NORMAL.
                self._merge(place, book)
            else:
                self._doubt(place, book.values["margin"].n)
        for place, book in self._reaching.items():
            self._doubt(place, book.values["margin"].n)
        self._waiting.clear()
        self._reaching.clear()
        for place, count in self.windows.hidden.items():
            self._doubt(place, count)
        self._hidden_overruns()

    def _hidden_overruns(self) -> None:
        """An overrun shows in the window that follows; where that is hidden, or comes first behind hidden ones."""
        hidden = self.windows.hidden
        if not hidden:
            return
        for place, window in enumerate(self.places):
            own = [at for at, p in enumerate(self.places) if p.schedule == window.schedule]
            following = own[(own.index(place) + 1) % len(own)]
            count = hidden.get(following, 0) + self.windows.regions
            self.overruns.setdefault(place, Range()).add_extra(count, 0, self.places[following].duration)

    # ------------------------------------------------------------ occurrences

    def _take(self, table: WindowTable) -> None:
        if not len(table):
            return
        rows = self._rows(table)
        self._overruns(table)
        owner = np.array([p.partition for p in self.places], np.int64)[rows.place]
        far = self._reaching_far(rows)
        good = np.ones(len(owner), bool)
        for partition in present(owner):
            which = np.flatnonzero(owner == partition)
            good[which] = self._judge(partition, _Own(rows, which), far[which])
        self._pend(rows if good.all() else rows.take(np.flatnonzero(good)))
        self._forget(int(rows.end[-1]))

    def _judge(self, partition: int, own: _Own, far: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Enter all occurrences of a partition but those that are good to be entered; returns which these are."""
        modes = self.modes.get(partition)
        if modes is None or partition == 0:
            # The module OS has no operating mode.
            self._keep_frames(own, np.ones(len(far), bool))
            return np.ones(len(far), bool)
        verdicts = modes.judge(own.start, own.end, far)
        self._keep_frames(own, verdicts.verdict != NOT_NORMAL)
        for place, some in own.by_place(verdicts.verdict == NOT_NORMAL):
            self._book(place).not_normal += len(some)
        for place, some in own.by_place(verdicts.verdict == DOUBTFUL):
            self._doubt(place, len(some))
        good = self._wait(partition, modes, own, verdicts)
        good |= verdicts.verdict == NORMAL
        return good

    def _wait(self, partition: int, modes: Modes, own: _Own, verdicts: Verdicts) -> NDArray[np.bool_]:
        """Occurrences whose mode nothing tells yet wait until something does; each stretch on its own.

        Returns which need not wait.
        """
        good = np.zeros(len(own.which), bool)
        for stretch in np.unique(verdicts.stretch).tolist():
            self._enter(partition, stretch)
            here = verdicts.stretch == stretch
            some = (verdicts.verdict == WAITING) & here
            bridges = self._bridges(modes, own, verdicts, (verdicts.verdict == BRIDGE) & here)
            # The change may also have been behind the end of an occurrence that the loss reaches beyond.
            beyond = bridges & (modes.begin_of(stretch) >= own.end)
            verdict = modes.at_begin(stretch)
            if verdict:
                self._settle(partition, normal=True)
                good |= some | bridges
                continue
            for held, which in ((self._waiting, some | (bridges & ~beyond)), (self._reaching, beyond)):
                for place, few in own.by_place(which):
                    held.setdefault(place, PlaceBook()).add(own.rows.take(few))
            if verdict is False:
                self._settle(partition, normal=False)
        return good

    def _bridges(self, modes: Modes, rows: _Own, verdicts: Verdicts, which: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Those with a loss inside in front of which the mode was NORMAL; the others are entered."""
        good = np.zeros(len(which), bool)
        for before in np.unique(verdicts.before[which]).tolist():
            own = which & (verdicts.before == before)
            normal = modes.at_end(before)
            if normal:
                good |= own
                continue
            # The change may have been ahead of the begin of an occurrence that the loss reaches into.
            unsure = own & ((normal is None) | (modes.end_of(before) <= rows.start))
            for place, few in rows.by_place(unsure):
                self._doubt(place, len(few))
            for place, few in rows.by_place(own & ~unsure):
                self._book(place).not_normal += len(few)
        return good

    def _enter(self, partition: int, stretch: int) -> None:
        if self._stretch.setdefault(partition, stretch) == stretch:
            return
        self._stretch[partition] = stretch
        for held in (self._waiting, self._reaching):
            for place in self._held_places(held, partition):
                self._doubt(place, held.pop(place).values["margin"].n)

    def _settle(self, partition: int, *, normal: bool) -> None:
        for held in (self._waiting, self._reaching):
            for place in self._held_places(held, partition):
                book = held.pop(place)
                if normal:
                    self._merge(place, book)
                elif held is self._waiting:
                    self._book(place).not_normal += book.values["margin"].n
                else:
                    self._doubt(place, book.values["margin"].n)

    def _held_places(self, held: dict[int, PlaceBook], partition: int) -> list[int]:
        return [place for place in held if self.places[place].partition == partition]

    def _book(self, place: int) -> PlaceBook:
        return self.books.setdefault(place, PlaceBook())

    def _merge(self, place: int, book: PlaceBook) -> None:
        """Enter what waited, behind what is older."""
        self._enter_pending()
        self._book(place).merge(book)

    def _pend(self, rows: _Rows) -> None:
        """Occurrences are entered many at a time: each place costs some hundred calls of numpy, however few."""
        self._pending.append(rows)
        if sum(len(some.place) for some in self._pending) >= _MANY:
            self._enter_pending()

    def _enter_pending(self) -> None:
        pending, self._pending = self._pending, []
        if pending:
            rows = _Rows.join(pending)
            for place, some in _by_place(rows.place):
                self._book(place).add(rows.take(some))

    def _doubt(self, place: int, count: int) -> None:
        self._book(place).add_doubtful(count, self.places[place].duration, self.recorded)

    # ------------------------------------------------------------ columns

    def _rows(self, table: WindowTable) -> _Rows:
        occurrences = table.occurrences
        edges, number = occurrences.edges()
        at = np.searchsorted(self._times, edges)[number]
        first, last = self._touching(occurrences.start, occurrences.end)
        touched = first <= last
        delay, most = self._delays(table, touched)
        return _Rows(
            occurrences.place, occurrences.frame, occurrences.start, occurrences.end, table.parts, table.interrupts,
            table.idle_interrupts, table.unknown_depth, table.started, at[1::2] - at[0::2], delay, most, touched,
            self.lost,
        )  # fmt: skip

    def _delays(self, table: WindowTable, touched: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """From the nominal start to the WINDOW record; -1: none. And the most it can be where a loss touches.

        That is the time of the next record.
        """
        start, place = table.occurrences.start, table.occurrences.place
        index = np.array([p.window for p in self.places], np.int64)[place]
        time, window = self._window_rows
        end = table.occurrences.end
        at = np.searchsorted(start, time, "right") - 1
        within = (at >= 0) & (time < end[at])
        fits = within & (index[at] == window)
        # So late that the next window should run already.
        late = within & ~fits & (at >= 1) & (index[at - 1] == window) & (end[at - 1] == start[at])
        at = np.where(late, at - 1, at)
        delay = np.full(len(start), -1, np.int64)
        matched = np.flatnonzero(fits | late)[::-1]
        delay[at[matched]] = time[matched] - start[at[matched]]
        most = np.full(len(start), -1, np.int64)
        some = np.flatnonzero(touched)
        following = np.searchsorted(time, start[some], "left")
        some, following = some[following < len(time)], following[following < len(time)]
        most[some] = time[following] - start[some]
        return delay, most

    def _overruns(self, table: WindowTable) -> None:
        follows = np.flatnonzero(table.after >= 0)
        for place, some in _by_place(table.after[follows]):
            which = follows[some]
            low, high = table.overrun[which], table.overrun_hi[which]
            self.overruns.setdefault(place, Range()).add(
                low, high, table.occurrences.frame[which], table.occurrences.start[which]
            )

    def _reaching_far(self, rows: _Rows) -> NDArray[np.bool_]:
        """Occurrences with a loss that reaches into another occurrence of the same partition.

        It may hide that the partition left NORMAL mode and came back: a restart takes longer than a part of one
        window.
        """
        start, end = self.losses
        if not len(start):
            return np.zeros(len(rows.place), bool)
        first, last = self._touching(rows.start, rows.end)
        touched = first <= last
        first, last = np.minimum(first, len(start) - 1), np.maximum(last, 0)
        before, behind = self._reach[0][rows.place], self._reach[1][rows.place]
        far: NDArray[np.bool_] = (start[first] < rows.start - before) | (end[last] > rows.end + behind)
        whole = rows.parts[_UNKNOWN] == rows.end - rows.start
        hidden: NDArray[np.bool_] = touched & (far | whole)
        return hidden

    def _touching(self, begin: Ints, end: Ints) -> tuple[Ints, Ints]:
        """First and last loss that touches each span; none where the first is behind the last."""
        return np.searchsorted(self.losses[1], begin, "left"), np.searchsorted(self.losses[0], end, "right") - 1

    def _forget(self, until: int) -> None:
        self._times = self._times[np.searchsorted(self._times, until) :]
        time, window = self._window_rows
        keep = slice(int(np.searchsorted(time, until)), None)
        self._window_rows = (time[keep], window[keep])

    def _keep_frames(self, own: _Own, which: NDArray[np.bool_]) -> None:
        if not self.per_frame:
            return
        rows = own.rows.take(own.which[which])
        if self._kept_frames + len(rows.place) > _MOST_FRAMES:
            self.frames_left_out += len(rows.place)
            return
        self._kept_frames += len(rows.place)
        self.frames.append(rows)


def _by_place(place: Ints) -> Iterator[tuple[int, NDArray[np.intp]]]:
    """Positions of each number, in order; numbers are from 0 to 65535."""
    order = np.argsort(place.astype(np.uint16), kind="stable")
    found = np.bincount(place)
    ends = np.cumsum(found)
    for number in np.flatnonzero(found).tolist():
        yield number, order[ends[number] - found[number] : ends[number]]


def _distances(places: list[WindowPlace]) -> tuple[Ints, Ints]:
    """By place: ticks to the nearest other occurrence of the same partition before and behind, by the schedule."""
    before, behind = np.zeros(len(places), np.int64), np.zeros(len(places), np.int64)
    for at, place in enumerate(places):
        own = [p for p in places if (p.schedule, p.partition) == (place.schedule, place.partition)]
        end, major = place.offset + place.duration, place.major_frame
        behind[at] = min((p.offset - end) % major if p is not place else place.offset + major - end for p in own)
        before[at] = min(
            (place.offset - p.offset - p.duration) % major if p is not place else place.offset + major - end
            for p in own
        )
    return before, behind
