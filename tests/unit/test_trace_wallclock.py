# SPDX-License-Identifier: Apache-2.0
"""Host time of target ticks: the truth, which the test makes, lies within what is said."""

from __future__ import annotations

import random
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.trace.wallclock import ClockBounds, WallClock

EPOCH = 1_700_000_000_000_000_000
HZ = 400_000_000


class Truth:
    """A target clock that is ``ppm`` slower than the host's and had ``start`` ticks at EPOCH + ``offset``."""

    def __init__(self, hz: int, ppm: int, start: int, offset: int) -> None:
        self.hz, self.start, self.offset = hz, start, offset
        self.rate = 1 + Fraction(ppm, 1_000_000)

    def host(self, ticks: int) -> Fraction:
        return EPOCH + self.offset + Fraction((ticks - self.start) * 10**9, self.hz) * self.rate

    def beat(self, bounds: ClockBounds, number: int, at: int, answered: int, delays: tuple[int, int]) -> None:
        """A heartbeat at ``at`` that answers one received at ``answered`` ticks; delays in ns."""
        bounds.sent(number, int(self.host(answered)) - delays[0])
        bounds.received(at, int(self.host(at)) + delays[1], number, answered, self.hz)


@settings(deadline=None)
@given(
    hz=st.sampled_from([1_000_000, HZ, 10**9]),
    ppm=st.integers(-400, 400),
    start=st.integers(0, 2**50),
    offset=st.integers(0, 10**10),
    beats=st.integers(1, 40),
    seed=st.integers(0, 2**32),
)
def test_the_truth_is_within_what_is_said(hz: int, ppm: int, start: int, offset: int, beats: int, seed: int) -> None:
    truth, chance, bounds = Truth(hz, ppm, start, offset), random.Random(seed), ClockBounds()
    for number in range(1, beats + 1):
        at = start + number * hz + chance.randrange(hz // 4)
        delays = (chance.randrange(3_000_000), chance.choice([0, 1000, 200_000, 80_000_000]))
        truth.beat(bounds, number, at, at - chance.randrange(hz // 2), delays)
    wall = WallClock.of(bounds, hz)
    assert wall is not None
    assert wall.steps == 0
    assert wall.bounded
    assert abs(wall.drift.ppm - ppm) <= wall.drift.uncertainty_ppm + 0.001
    ticks = np.array([start, start + hz, start + beats * hz // 2, start + (beats + 1) * hz], np.int64)
    low, high = wall.span(ticks)
    for at, earliest, latest in zip(ticks.tolist(), low.tolist(), high.tolist(), strict=True):
        # Ticks are whole, and as long as 1 us.
        assert earliest - 2 <= truth.host(at) <= latest + 2
    middle = wall.host_ns(ticks)
    most = wall.uncertainty_ns(int(ticks[0]), int(ticks[-1]))
    assert most is not None
    assert all(abs(m - truth.host(t)) <= most + 2 for m, t in zip(middle.tolist(), ticks.tolist(), strict=True))
    assert abs(wall.host_at(wall.ticks(EPOCH + offset + 5 * 10**8)) - (EPOCH + offset + 5 * 10**8)) < 2 * 10**9 / hz + 2


def test_by_hand() -> None:
    """1 ms each way at first, no delay ten seconds later.

    A line not below 0 at 10.5 s and not above 0 at 11 s does not rise; not above 1 ms at 1 s, it falls by no more than
    1 ms in 9.5 s, 105.263 ppm. So at 0.5 s it is between 0 and 10 / 9.5 ms, and at 11 s between -0.5 / 9.5 ms and 0.
    """
    truth, bounds = Truth(HZ, 0, 0, 0), ClockBounds()
    truth.beat(bounds, 1, HZ, HZ // 2, (1_000_000, 1_000_000))
    truth.beat(bounds, 2, 11 * HZ, 21 * HZ // 2, (0, 0))
    wall = WallClock.of(bounds, HZ)
    assert wall is not None
    assert wall.drift.ppm == pytest.approx(-52.632, abs=0.01)
    assert wall.drift.uncertainty_ppm == pytest.approx(52.632, abs=0.01)
    low, high = wall.span(np.array([HZ // 2, 11 * HZ]))
    assert (low - EPOCH).tolist() == pytest.approx([500_000_000, 11_000_000_000 - 52_632], abs=50)
    assert (high - EPOCH).tolist() == pytest.approx([501_052_632, 11_000_000_000], abs=50)
    assert wall.host_at(11 * HZ) - EPOCH == pytest.approx(11_000_000_000 - 26_316, abs=50)
    assert wall.uncertainty_ns(HZ // 2, 11 * HZ) == pytest.approx(526_316, abs=50)


def test_a_clock_that_stood_still_makes_a_step_and_stays_within() -> None:
    """As an emulator on a busy host: 3 s pass while the target's clock stands at 20 s."""
    before, after, bounds = Truth(HZ, 0, 0, 0), Truth(HZ, 0, 0, 3 * 10**9), ClockBounds()
    for number in range(1, 41):
        truth = before if number <= 20 else after
        truth.beat(bounds, number, number * HZ, number * HZ - HZ // 3, (50_000, 50_000))
    wall = WallClock.of(bounds, HZ)
    assert wall is not None
    assert wall.steps == 1
    for at, truth in ((10 * HZ, before), (30 * HZ, after)):
        earliest, latest = (int(side[0]) for side in wall.span(np.array([at])))
        assert earliest <= truth.host(at) <= latest
        assert latest - earliest < 1_000_000
    low, high = wall.span(np.array([20 * HZ + HZ // 4]))
    assert low[0] <= before.host(20 * HZ + HZ // 4) < after.host(20 * HZ + HZ // 4) <= high[0]


def test_without_heartbeats_of_a_host_there_is_no_uncertainty() -> None:
    bounds = ClockBounds()
    for number in range(5):
        bounds.received(number * HZ, EPOCH + number * 10**9 + 500, 0, 0, HZ)
    wall = WallClock.of(bounds, HZ)
    assert wall is not None
    assert not wall.bounded
    assert wall.uncertainty_ns(0, HZ) is None
    assert wall.host_at(2 * HZ) == EPOCH + 2 * 10**9 + 500


def test_replies_with_a_time_are_bounds() -> None:
    bounds = ClockBounds()
    bounds.asked(7, EPOCH)
    bounds.asked(7, EPOCH + 9000)  # the same command again
    bounds.answered(7, 100, EPOCH + 2000, HZ)
    wall = WallClock.of(bounds, HZ)
    assert wall is not None
    assert [int(side[0]) for side in wall.span(np.array([100]))] == [EPOCH, EPOCH + 2000]


def test_no_heartbeat_no_clock() -> None:
    assert WallClock.of(ClockBounds(), HZ) is None


def test_memory_is_bounded_and_the_tight_bounds_stay() -> None:
    bounds = ClockBounds()
    for number in range(1, 50_000):
        delay = 0 if number % 1000 == 0 else 1_000_000
        bounds.sent(number, EPOCH + number * 10**9 - delay - 1000)
        bounds.received(number * HZ, EPOCH + number * 10**9 + delay, number, number * HZ - HZ // 10**6, HZ)
    assert len(bounds) <= 2 * 8192
    wall = WallClock.of(bounds, HZ)
    assert wall is not None
    most = wall.uncertainty_ns(HZ, 49_999 * HZ)
    assert most is not None
    assert most < 20_000


@settings(deadline=None)
@given(
    st.lists(
        st.tuples(st.booleans(), st.integers(0, 2**62 - 1), st.integers(0, 2**62), st.integers(0, 5)), max_size=60
    ),
    st.sampled_from([1, HZ, 2**32 - 1]),
)
def test_nothing_that_a_session_says_does_harm(said: list[tuple[bool, int, int, int]], hz: int) -> None:
    bounds = ClockBounds()
    for sent, ticks, host, echo in said:
        if sent:
            bounds.sent(echo, host)
        else:
            bounds.received(ticks, host, echo, ticks // 2, hz)
    wall = WallClock.of(bounds, hz)
    if wall is not None:
        wall.host_ns(np.array([0, 1, 2**62 - 1], np.int64))
        wall.uncertainty_ns(0, 2**62 - 1)
        wall.ticks(2**62)


@settings(deadline=None)
@given(seed=st.integers(0, 2**32), beats=st.integers(2, 30))
def test_host_time_never_runs_back(seed: int, beats: int) -> None:
    """Also where the target's clock stands still or hurries, as an emulator's does on a busy host."""
    chance, bounds, at, late = random.Random(seed), ClockBounds(), HZ, 0
    for number in range(1, beats + 1):
        at += chance.randrange(HZ // 2, 2 * HZ)
        late += chance.choice([0, 0, 0, 300_000_000, 40_000_000])
        truth = Truth(HZ, chance.choice([0, 0, -300, 300]), 0, late)
        truth.beat(
            bounds, number, at, at - chance.randrange(HZ // 2), (chance.randrange(10**6), chance.randrange(10**7))
        )
    wall = WallClock.of(bounds, HZ)
    assert wall is not None
    ticks = np.linspace(0, at + HZ, 4001).astype(np.int64)
    assert (np.diff(wall.host_ns(ticks)) >= 0).all()
