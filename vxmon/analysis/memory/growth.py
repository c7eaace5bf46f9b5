# SPDX-License-Identifier: Apache-2.0
"""How fast something grows: the Theil-Sen slope with Sen's interval, also where points are known only within bounds.

The slope is the median of the slopes of all pairs of points (H. Theil, "A rank-invariant method of linear and
polynomial regression analysis", 1950; P. K. Sen, "Estimates of the regression coefficient based on Kendall's tau",
JASA 63, 1968). Up to 29 % of the points may lie anywhere. The interval holds the slope with 95 % confidence: its ends
are the pair slopes whose ranks are (N - C) / 2 and (N + C) / 2 + 1 of N, with C = 1.96 * sqrt(Var S) and the variance
of Kendall's S with its correction for ties (R. O. Gilbert, "Statistical Methods for Environmental Pollution
Monitoring", 1987, section 16.5). Nothing is assumed about how the points scatter.

A median and every rank can only move up when a value moves up. So with points that are known within bounds, the ranks
of the lowest slopes that each pair can have bound the truth from below, and those of the highest from above; a point of
which it is not known whether it was there adds pairs at minus and at plus infinity.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["LEAST_POINTS", "Points", "Slope", "theil_sen"]

LEAST_POINTS: Final = 8
"""Fewer points have no interval that means anything."""

_Z: Final = 1.959963984540054  # of the standard normal distribution, two-sided 95 %

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]


@dataclass(slots=True)
class Points:
    """Points in order of x; each x and y lies between two bounds, and is known to be ``seen``.

    Spans of x do not overlap. ``missing`` points may have been there besides; nothing is known of them.
    """

    x: Ints
    y: Ints
    x_low: Ints
    x_high: Ints
    y_low: Ints
    y_high: Ints
    missing: int = 0

    @staticmethod
    def exact(x: Ints, y: Ints) -> Points:
        """Points that are known."""
        return Points(x, y, x, x, y, y)


@dataclass(frozen=True, slots=True)
class Slope:
    """Slope in units of y for one of x, and its interval; None: no bound. ``n`` points were seen."""

    value: float
    lo: float | None
    hi: float | None
    n: int


def theil_sen(points: Points) -> Slope | None:
    """The slope; None where there are too few points. Takes n^2 / 2 numbers of memory."""
    n = len(points.x)
    if n < LEAST_POINTS:
        return None
    i, j = np.triu_indices(n, 1)
    value = float(np.median((points.y[j] - points.y[i]) / (points.x[j] - points.x[i])))
    lowest, highest = _bounds(points, i, j)
    everything = n + points.missing
    pairs = everything * (everything - 1) // 2
    unknown = pairs - len(i)
    exact = not points.missing and bool((points.y_low == points.y_high).all())
    reach = _Z * math.sqrt(_variance(everything, points.y if exact else None))
    first = math.floor((pairs - reach) / 2)  # counted from 1
    lo = _ranked(np.sort(lowest), first - 1 - unknown)
    # The same rank from the other end.
    hi = _ranked(-np.sort(-highest), first - 1 - unknown)
    return Slope(value, lo, hi, n)


def _ranked(values: Floats, at: int) -> float | None:
    return float(values[at]) if 0 <= at < len(values) else None


def _bounds(points: Points, i: NDArray[np.intp], j: NDArray[np.intp]) -> tuple[Floats, Floats]:
    """The lowest and the highest slope of each pair."""
    short, long = points.x_low[j] - points.x_high[i], points.x_high[j] - points.x_low[i]
    least, most = points.y_low[j] - points.y_high[i], points.y_high[j] - points.y_low[i]
    return least / np.where(least < 0, short, long), most / np.where(most < 0, long, short)


def _variance(n: int, y: Ints | None) -> float:
    """Variance of Kendall's S for n points; with the correction for ties where y is known."""
    ties = 0
    if y is not None:
        _, count = np.unique(y, return_counts=True)
        ties = int((count * (count - 1) * (2 * count + 5)).sum())
    return max(n * (n - 1) * (2 * n + 5) - ties, 0) / 18
