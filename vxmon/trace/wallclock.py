# SPDX-License-Identifier: Apache-2.0
"""Host time of target ticks, from heartbeats, with its uncertainty (SPEC section 12).

Each heartbeat gives a bound: host time at a target time is at most its arrival, or at least the sending of the host
heartbeat that it answers; so do replies that tell a time. A clock that runs evenly is a line through the bounds. All
lines that fit are kept, as the corners of the region they fill in the plane of slope and offset (a line through two
bounds is a corner), so that what is said of any instant holds for the true one. Where no line fits, another stretch
begins.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.ticks import NS_PER_S, ticks_to_ns
from vxmon.wire.distinct import distinct

__all__ = ["STEEPEST_PPM", "ClockBounds", "Drift", "WallClock"]

# Oscillators are within 100 ppm; a line steeper than this is no clock's.
STEEPEST_PPM: Final = 500
_STEEPEST: Final = STEEPEST_PPM * 1000.0
# What a bound may be off by rounding of ticks and stamps, in ns.
_GRAIN: Final = 1.0
# Before there is a bound from the other side: no datagram is on its way for longer, in ns.
_LONGEST_WAY: Final = 10e9
# Bounds kept of each kind; with more, of each two neighbours the looser one is left out.
_MOST_BOUNDS: Final = 8192
_MOST_SENT: Final = 64
# What a session says beyond cannot be right: 68 years in s and in ns, and any number of ticks or ns.
_FAR_S: Final = 1 << 31
_FAR_NS: Final = _FAR_S * NS_PER_S
_FAR: Final = 1 << 62

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]
Corner = tuple[float, float]


@dataclass(slots=True)
class ClockBounds:
    """What heartbeats of one boot say: (ticks, host ns) not before (``lower``) and not after (``upper``)."""

    lower: list[tuple[int, int]] = field(default_factory=list)
    upper: list[tuple[int, int]] = field(default_factory=list)
    _sent: dict[int, int] = field(default_factory=dict)
    _echoed: int = 0
    _asked: dict[int, int] = field(default_factory=dict)

    def sent(self, heartbeat: int, now: int) -> None:
        """A heartbeat of the host, by the time in it, went out at ``now`` ns since the epoch."""
        self._sent[heartbeat] = now
        while len(self._sent) > _MOST_SENT:
            del self._sent[next(iter(self._sent))]

    def received(self, time: int, now: int, echo: int, echo_time: int, hz: int) -> None:
        """A heartbeat of the target with its ``time`` in ticks arrived at ``now``; ``echo`` as in the message."""
        self.upper.append((time, now))
        if echo and echo != self._echoed and echo in self._sent:
            self._echoed = echo
            self.lower.append((echo_time or time, self._sent[echo]))
        self._keep(hz)

    def asked(self, request: int, now: int) -> None:
        """A command of the host, by its request id, went out at ``now``; only its first copy counts."""
        self._asked.setdefault(request, now)
        while len(self._asked) > _MOST_SENT:
            del self._asked[next(iter(self._asked))]

    def answered(self, request: int, time: int, now: int, hz: int) -> None:
        """A reply that arrived at ``now`` tells a time in ticks at which its command was carried out."""
        self.upper.append((time, now))
        if request in self._asked:
            self.lower.append((time, self._asked[request]))
        self._keep(hz)

    def _keep(self, hz: int) -> None:
        for bounds, sign in ((self.upper, 1), (self.lower, -1)):
            if len(bounds) > _MOST_BOUNDS:
                bounds[:] = _thinned(bounds, hz, sign)

    def __len__(self) -> int:
        return len(self.lower) + len(self.upper)


def _thinned(bounds: list[tuple[int, int]], hz: int, sign: int) -> list[tuple[int, int]]:
    """Of each two neighbours the tighter one."""
    return [
        min(pair, key=lambda bound: sign * (bound[1] - ticks_to_ns(bound[0], hz)))
        for pair in zip(bounds[::2], bounds[1::2], strict=False)
    ]


@dataclass(frozen=True, slots=True)
class Drift:
    """Host seconds per target second, less 1, in ppm; the true value is within ``uncertainty_ppm``."""

    ppm: float
    uncertainty_ppm: float


@dataclass(frozen=True, slots=True)
class _Stretch:
    """Where lines fit: from ``first`` to ``last`` in seconds, and the corners (slope in ns/s, offset in ns)."""

    first: float
    last: float
    slopes: Floats
    offsets: Floats

    def span(self, at: Floats) -> tuple[Floats, Floats]:
        """Lowest and highest of what the lines say, in ns beyond the nominal time."""
        lines = self.offsets[:, None] + self.slopes[:, None] * (at - self.first)[None, :]
        return lines.min(axis=0), lines.max(axis=0)


class WallClock:
    """Host time of one boot's ticks.

    ``bounded`` is false when the session bounds the host time from one side only, as without datagrams of a host: then
    delays on the way are not known and there is no uncertainty.
    """

    def __init__(self, hz: int, bounds: ClockBounds) -> None:
        self._hz = hz
        self._ticks, self._ns = bounds.upper[0]
        self.bounds = len(bounds)
        self.bounded = bool(bounds.lower)
        self._stretches = list(_stretches(self._points(bounds)))
        # Host time grows with target time, however unevenly: bounds hold for all before or behind them too.
        self._lower, self._earliest = _running(sorted(bounds.lower))
        backwards, latest = _running([(-t, -now) for t, now in sorted(bounds.upper, reverse=True)])
        self._upper, self._latest = -backwards[::-1], -latest[::-1]
        self._knots = self._make_knots()
        earliest, latest = self._possible(self._knots)
        self._not_before = np.maximum.accumulate(earliest)
        self._not_after = np.minimum.accumulate(latest[::-1])[::-1]

    def _points(self, bounds: ClockBounds) -> list[tuple[float, float, bool]]:
        """Bounds in order as seconds, ns beyond the nominal time, and whether it is an upper one."""
        marks = sorted([(t, False, now) for t, now in bounds.lower] + [(t, True, now) for t, now in bounds.upper])
        return [
            (
                _within((ticks - self._ticks) / self._hz, _FAR_S),
                _within(float(now - self._ns - ticks_to_ns(ticks - self._ticks, self._hz)), _FAR_NS),
                upper,
            )
            for ticks, upper, now in marks
        ]

    @staticmethod
    def of(bounds: ClockBounds, hz: int) -> WallClock | None:
        """Fit the bounds of a boot; None when there are none, or the clock rate is not known."""
        return WallClock(hz, bounds) if bounds.upper and hz else None

    # ------------------------------------------------------------ what it says

    @property
    def steps(self) -> int:
        """How often no line fitted any more."""
        return len(self._stretches) - 1

    @property
    def drift(self) -> Drift:
        """Of the longest stretch."""
        longest = max(self._stretches, key=lambda stretch: stretch.last - stretch.first)
        low, high = float(longest.slopes.min()) / 1000, float(longest.slopes.max()) / 1000
        return Drift((low + high) / 2, (high - low) / 2)

    @property
    def end(self) -> int:
        """Ticks of the last heartbeat."""
        return self._ticks + round(self._stretches[-1].last * self._hz)

    def host_ns(self, ticks: Ints) -> Ints:
        """Host time in ns since the epoch; the middle of what is possible, or without lower bounds the latest."""
        low, high = self.span(ticks)
        best: Ints = low + (high - low) // 2 if self.bounded else high
        return best

    def host_at(self, ticks: int) -> int:
        """Host time of one instant."""
        return int(self.host_ns(np.array([ticks], np.int64))[0])

    def span(self, ticks: Ints) -> tuple[Ints, Ints]:
        """Earliest and latest host time in ns since the epoch; neither runs back."""
        earliest, latest = self._possible(ticks)
        before = np.searchsorted(self._knots, ticks, side="right") - 1
        after = np.searchsorted(self._knots, ticks, side="left")
        some, others = np.flatnonzero(before >= 0), np.flatnonzero(after < len(self._knots))
        earliest[some] = np.maximum(earliest[some], self._not_before[before[some]])
        latest[others] = np.minimum(latest[others], self._not_after[after[others]])
        # A host's clock that was set back contradicts itself.
        return np.minimum(earliest, latest), np.maximum(earliest, latest)

    def _make_knots(self) -> Ints:
        """Instants between which what is possible grows evenly: bounds, and both sides of the ends of stretches."""
        edges = [round(at * self._hz) for stretch in self._stretches for at in (stretch.first, stretch.last)]
        sides = self._ticks + np.array([edge + side for edge in edges for side in (-1, 0, 1)], np.int64)
        return np.array(distinct(np.concatenate((sides, self._lower, self._upper))), np.int64)

    def _possible(self, ticks: Ints) -> tuple[Ints, Ints]:
        """What the lines and the bounds say of each instant alone."""
        away = np.clip(ticks - self._ticks, -_FAR_S * self._hz, _FAR_S * self._hz)
        low, high = self._deviation(away / self._hz)
        nominal: Ints = self._ns + ticks_to_ns(away, self._hz)
        earliest, latest = nominal + np.floor(low).astype(np.int64), nominal + np.ceil(high).astype(np.int64)
        before, after = np.searchsorted(self._lower, ticks, side="right"), np.searchsorted(self._upper, ticks)
        some, others = np.flatnonzero(before > 0), np.flatnonzero(after < len(self._upper))
        earliest[some] = np.maximum(earliest[some], self._earliest[before[some] - 1])
        latest[others] = np.minimum(latest[others], self._latest[after[others]])
        return earliest, latest

    def uncertainty_ns(self, first: int, last: int) -> int | None:
        """The largest from ``first`` to ``last`` ticks, half the span of what is possible; None: not known."""
        if not self.bounded:
            return None
        edges = [self._ticks + round(at * self._hz) for s in self._stretches for at in (s.first, s.last)]
        ticks = np.array([first, last, *(edge for edge in edges if first <= edge <= last)], np.int64)
        low, high = self.span(ticks)
        return int((high - low).max() + 1) // 2

    def ticks(self, host_ns: int) -> int:
        """Target time of a host time: about the inverse of :meth:`host_ns`."""
        ticks = self._ticks
        for _ in range(3):
            behind = host_ns - self.host_at(ticks)
            ticks = max(-_FAR, min(ticks + behind * self._hz // NS_PER_S, _FAR))
        return ticks

    def _deviation(self, at: Floats) -> tuple[Floats, Floats]:
        """What the lines say beyond the nominal time, at times in s; between two stretches what either says."""
        begins = np.array([stretch.first for stretch in self._stretches[1:]])
        ends = np.array([stretch.last for stretch in self._stretches[:-1]])
        after, before = np.searchsorted(begins, at, side="right"), np.searchsorted(ends, at, side="left")
        low, high = np.full(len(at), np.inf), np.full(len(at), -np.inf)
        for number in distinct(np.concatenate((after, before))):
            which = np.flatnonzero((after == number) | (before == number))
            some_low, some_high = self._stretches[number].span(at[which])
            low[which], high[which] = np.minimum(low[which], some_low), np.maximum(high[which], some_high)
        return np.clip(low, -_FAR_NS, _FAR_NS), np.clip(high, -_FAR_NS, _FAR_NS)


def _within(value: float, limit: int) -> float:
    return max(-float(limit), min(value, float(limit)))


# ---------------------------------------------------------------- fitting


def _running(bounds: list[tuple[int, int]]) -> tuple[Ints, Ints]:
    """Ticks, and the largest host time up to each."""
    ticks, host = np.array(bounds, np.int64).reshape(-1, 2).T
    return ticks, np.maximum.accumulate(host)


def _stretches(points: list[tuple[float, float, bool]]) -> list[_Stretch]:
    """Longest stretches of points (seconds, ns, is upper) that lines fit, in order."""
    found: list[_Stretch] = []
    first, last, corners = 0.0, 0.0, list[Corner]()
    for at, value, upper in points:
        clipped = _clip(corners, at - first, value, upper) if corners else []
        if not clipped:
            if corners:
                found.append(_stretch(first, last, corners))
            first = at
            edges = (value - _LONGEST_WAY, value + _GRAIN) if upper else (value - _GRAIN, value + _LONGEST_WAY)
            clipped = [(slope, edge) for edge, slopes in zip(edges, ((1, -1), (-1, 1)), strict=True)
                       for slope in (slopes[0] * _STEEPEST, slopes[1] * _STEEPEST)]  # fmt: skip
        corners, last = clipped, at
    found.append(_stretch(first, last, corners))
    return found


def _stretch(first: float, last: float, corners: list[Corner]) -> _Stretch:
    slopes, offsets = np.array(corners).T
    return _Stretch(first, last, slopes, offsets)


def _clip(corners: list[Corner], at: float, value: float, upper: bool) -> list[Corner]:
    """The part of a region of lines that pass below an upper bound, or above a lower one (Sutherland, Hodgman 1974)."""
    sign = 1.0 if upper else -1.0
    rooms = [sign * (value - offset - slope * at) + _GRAIN for slope, offset in corners]
    kept: list[Corner] = []
    for number, (corner, room) in enumerate(zip(corners, rooms, strict=True)):
        before, room_before = corners[number - 1], rooms[number - 1]
        if (room >= 0) != (room_before >= 0):
            part = room_before / (room_before - room)
            kept.append((before[0] + part * (corner[0] - before[0]), before[1] + part * (corner[1] - before[1])))
        if room >= 0:
            kept.append(corner)
    return kept
