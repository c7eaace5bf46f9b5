# SPDX-License-Identifier: Apache-2.0
"""The slope and its interval against the definition, written out with Python's own integers and fractions."""

from __future__ import annotations

import math
import random
from fractions import Fraction
from itertools import combinations
from statistics import median

import numpy as np
import pytest

from vxmon.analysis.memory.growth import LEAST_POINTS, Points, Slope, theil_sen
from vxmon.analysis.memory.series import MOST_BINS, Bins, Series


def exact(x: list[int], y: list[int]) -> Points:
    return Points.exact(np.array(x, np.int64), np.array(y, np.int64))


def slope_of(points: Points) -> Slope:
    found = theil_sen(points)
    assert found is not None
    return found


def by_definition(x: list[int], y: list[int]) -> tuple[float, float, float]:
    """Median of the pair slopes, and those of rank (N - C) / 2 and (N + C) / 2 + 1."""
    slopes = sorted(Fraction(y[j] - y[i], x[j] - x[i]) for i, j in combinations(range(len(x)), 2))
    n, count = len(x), len(slopes)
    ties = sum(t * (t - 1) * (2 * t + 5) for t in (y.count(value) for value in set(y)))
    reach = 1.959963984540054 * math.sqrt((n * (n - 1) * (2 * n + 5) - ties) / 18)
    low, high = math.floor((count - reach) / 2), count + 1 - math.floor((count - reach) / 2)
    return float(median(slopes)), float(slopes[low - 1]), float(slopes[high - 1])


def test_a_line_is_found_exactly() -> None:
    x = [3, 4, 7, 8, 9, 12, 20, 21]
    assert slope_of(exact(x, [5 + 64 * v for v in x])) == Slope(64.0, 64.0, 64.0, 8)


def test_what_rests_has_no_slope_and_no_doubt() -> None:
    assert slope_of(exact(list(range(10)), [7] * 10)) == Slope(0.0, 0.0, 0.0, 10)


def test_an_example_by_hand() -> None:
    """Eight points on y = x but for the last, which is 0. Of 28 pairs 21 have slope 1.

    The others: -6/1, -5/2, -4/3, -3/4, -2/5, -1/6 and 0/7. The median is 1. Variance of S without ties but the two
    zeros: (8*7*21 - 2*1*9) / 18 = 64.33, C = 1.96 * 8.02 = 15.72, ranks 6 and 23: -1/6 and 1.
    """
    found = slope_of(exact(list(range(8)), [0, 1, 2, 3, 4, 5, 6, 0]))
    assert (found.value, found.hi) == (1.0, 1.0)
    assert found.lo == pytest.approx(-1 / 6)


@pytest.mark.parametrize("seed", range(20))
def test_random_points_as_the_definition_says(seed: int) -> None:
    rng = random.Random(seed)
    x = sorted(rng.sample(range(1000), rng.randrange(LEAST_POINTS, 40)))
    y = [rng.randrange(-50, 50) + rng.choice((0, 3)) * v for v in x]
    found = slope_of(exact(x, y))
    assert (found.value, found.lo, found.hi) == pytest.approx(by_definition(x, y))


def test_too_few_points_have_no_slope() -> None:
    assert theil_sen(exact([1, 2, 3], [1, 2, 3])) is None


def test_a_quarter_of_the_points_may_be_anywhere() -> None:
    """The median stands up to 29 % of wild points."""
    y = [64 * v for v in range(40)]
    for at in range(0, 40, 4):
        y[at] = 10**6 if at % 8 else 0
    assert slope_of(exact(list(range(40)), y)).value == 64.0


@pytest.mark.parametrize("seed", range(40))
def test_doubtful_points_widen_the_interval_around_the_truth(seed: int) -> None:
    rng = random.Random(1000 + seed)
    x = np.array(sorted(rng.sample(range(0, 4000, 8), rng.randrange(20, 60))), np.int64)
    y = np.array([rng.randrange(30) + rng.choice((0, 1, 9)) * v for v in x.tolist()], np.int64)
    truth = slope_of(Points.exact(x, y))
    kept = np.array([rng.random() > 0.1 for _ in x])
    doubt = np.array([rng.random() < 0.15 for _ in x])[kept]
    seen_y = y[kept] + np.where(doubt, np.array([rng.randrange(40) for _ in x])[kept], 0)
    seen_x = x[kept] + np.where(doubt, rng.randrange(8), 0)
    found = slope_of(
        Points(
            seen_x,
            seen_y,
            np.where(doubt, x[kept], seen_x),
            np.where(doubt, x[kept] + 7, seen_x),
            np.where(doubt, 0, seen_y),
            seen_y,
            missing=int((~kept).sum()),
        )
    )
    lo, hi = (-math.inf if found.lo is None else found.lo), (math.inf if found.hi is None else found.hi)
    assert truth.lo is not None
    assert truth.hi is not None
    assert lo <= truth.lo <= truth.hi <= hi


def test_bins_are_bounded_and_keep_the_lowest_of_each() -> None:
    """In parts and at once gives the same; of 5000 frames bins of 16 remain."""
    rng = random.Random(5)
    frame = np.sort(np.array([rng.randrange(5000) for _ in range(20_000)], np.int64))
    use = np.array([rng.randrange(10_000) for _ in range(20_000)], np.int64)
    whole, parts = Series(), Series()
    whole.add(frame, use)
    for begin in range(0, 20_000, 777):
        parts.add(frame[begin : begin + 777], use[begin : begin + 777])
    assert len(whole.bins) <= MOST_BINS
    assert whole.shift == parts.shift == 4
    assert whole.frames == parts.frames == len(set(frame.tolist()))
    for name in ("number", "low", "at", "high", "last", "frames"):
        assert getattr(whole.bins, name).tolist() == getattr(parts.bins, name).tolist()
    for number, low, at, high in zip(*(getattr(whole.bins, n).tolist() for n in ("number", "low", "at", "high")),
                                     strict=True):  # fmt: skip
        own = frame >> 4 == number
        assert (low, high) == (int(use[own].min()), int(use[own].max()))
        assert at == int(frame[own][use[own] == low][0])


def test_a_leak_in_a_long_series_is_as_exact_as_in_a_short_one() -> None:
    """In 100,000 frames 8 bytes each leak, and 3 come and go every seventh; bins are 256 frames wide."""
    series = Series()
    frame = np.arange(100_000, dtype=np.int64)
    use = 8 * frame + 3 * (frame % 7 == 0)
    for begin in range(0, len(frame), 9_999):
        series.add(frame[begin : begin + 9_999], use[begin : begin + 9_999])
    doubtful, missing = series.doubtful(np.zeros(0, np.int64), np.zeros(0, np.int64))
    slope = slope_of(series.points(doubtful, missing))
    assert (series.shift, slope.value, slope.lo, slope.hi) == (8, 8.0, 8.0, 8.0)


def test_losses_are_found_in_bins_and_beside_them() -> None:
    series = Series()
    series.add(np.array([10, 11, 15], np.int64), np.array([1, 2, 3], np.int64))
    # A loss in frame 11 to 13: bin 11 is in doubt, 12 and 13 had no value. One in 2 to 4: three more before.
    doubtful, missing = series.doubtful(np.array([2, 11], np.int64), np.array([4, 13], np.int64))
    assert doubtful.tolist() == [False, True, False]
    assert missing == 2 + 3


def test_no_bins_no_doubt() -> None:
    doubtful, missing = Series().doubtful(np.array([1], np.int64), np.array([1], np.int64))
    assert (len(doubtful), missing, len(Bins())) == (0, 0, 0)
