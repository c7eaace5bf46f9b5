# SPDX-License-Identifier: Apache-2.0
"""The figure all analyses share, and the statistics that make it: exact where possible, honest ranges elsewhere.

Values are whole numbers of one unit (ticks, bytes, records); a report converts them. Count, sum, minimum and maximum
are exact. Percentiles are exact up to 4096 values and from a log-linear histogram beyond, whose buckets are less
than 0.8 % wide. Statistics of parts of a session can be merged.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["ESTIMATED", "EXACT_VALUES", "MEASURED", "NOT_RECORDED", "Extreme", "Figure", "Range", "Statistic", "Status"]

Status = Literal["measured", "estimated", "not_recorded"]
MEASURED: Final[Status] = "measured"
ESTIMATED: Final[Status] = "estimated"
NOT_RECORDED: Final[Status] = "not_recorded"

EXACT_VALUES: Final = 4096
# A power of two has this many buckets; a bucket's upper edge is less than 1/128 above its lower edge.
_STEPS: Final = 128
_STEP_BITS: Final = 7

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Figure:
    """One number of a report.

    ``value`` is what was measured, ``lo`` and ``hi`` hold the truth between them; None: nothing is known, or no
    bound. ``n`` is how many observations it is made of. Of figures with equal ``lo`` and ``hi`` nothing is in doubt.
    """

    value: int | None
    lo: int | None
    hi: int | None
    n: int
    status: Status = MEASURED

    @staticmethod
    def exact(value: int, n: int = 1) -> Figure:
        """A figure without doubt."""
        return Figure(value, value, value, n)

    @staticmethod
    def between(value: int | None, lo: int | None, hi: int | None, n: int = 1) -> Figure:
        """A measured figure of which the truth is between two bounds."""
        return Figure(value, lo, hi, n)

    @staticmethod
    def none(status: Status = NOT_RECORDED) -> Figure:
        """Nothing to tell: the events were not recorded, or there was no observation."""
        return Figure(None, None, None, 0, status)

    @property
    def in_doubt(self) -> bool:
        """True when the truth may be another number than ``value``."""
        return self.status != NOT_RECORDED and not self.lo == self.value == self.hi

    def mapped(self, function: Callable[[int], int]) -> Figure:
        """The same figure in another unit; ``function`` must be monotone."""
        value, lo, hi = (None if x is None else function(x) for x in (self.value, self.lo, self.hi))
        return replace(self, value=value, lo=lo, hi=hi)


@dataclass(frozen=True, slots=True)
class Extreme:
    """A minimum or maximum, and which observation it was: a number (of a frame, an activation) and a time in ticks."""

    value: int
    number: int = -1
    time: int = -1


@dataclass(slots=True)
class Statistic:
    """Count, sum, extremes and distribution of whole numbers, made part by part."""

    count: int = 0
    total: int = 0
    least: Extreme | None = None
    most: Extreme | None = None
    _values: list[Ints] = field(default_factory=list)
    _buckets: Ints | None = None
    _below: Ints | None = None

    def add(self, values: Ints, numbers: Ints | None = None, times: Ints | None = None) -> None:
        """Take values, with the number and time of each observation where the extremes shall have them."""
        if not len(values):
            return
        self.count += len(values)
        low, high = int(values.argmin()), int(values.argmax())
        least, most = int(values[low]), int(values[high])
        # Sums of int64 wrap silently; half of the range is far beyond what a session can hold.
        self.total += int(values.sum()) if len(values) * max(-least, most) < 1 << 62 else sum(values.tolist())
        if self.least is None or least < self.least.value:
            self.least = _extreme(values, numbers, times, low)
        if self.most is None or most > self.most.value:
            self.most = _extreme(values, numbers, times, high)
        self._spread(values)

    def add_equal(self, count: int, value: int) -> None:
        """Take the same value many times."""
        if count <= 0:
            return
        self.count += count
        self.total += count * value
        one = Extreme(value)
        self.least = one if self.least is None or value < self.least.value else self.least
        self.most = one if self.most is None or value > self.most.value else self.most
        if count <= EXACT_VALUES:
            self._spread(np.full(count, value, np.int64))
            return
        self._to_buckets()
        bucket = np.zeros(int(_bucket_of(np.array([abs(value)]))[0]) + 1, np.int64)
        bucket[-1] = count
        if value < 0:
            self._below = _summed(self._below, bucket)
        else:
            self._buckets = _summed(self._buckets, bucket)

    def merge(self, other: Statistic) -> None:
        """Take all that another statistic holds; of equal extremes the earlier one stays."""
        self.count += other.count
        self.total += other.total
        self.least = _chosen(self.least, other.least, lambda a, b: (a.value, a.time) <= (b.value, b.time))
        self.most = _chosen(self.most, other.most, lambda a, b: (-a.value, a.time) <= (-b.value, b.time))
        if other._buckets is None:
            for values in other._values:
                self._spread(values)
            return
        self._to_buckets()
        self._buckets = _summed(self._buckets, other._buckets)
        self._below = _summed(self._below, other._below)

    def copy(self) -> Statistic:
        """A statistic that can go its own way."""
        other = Statistic()
        other.merge(self)
        return other

    @property
    def mean(self) -> int | None:
        """The mean, rounded down to a whole number."""
        return self.total // self.count if self.count else None

    @property
    def exact(self) -> bool:
        """True while percentiles are exact."""
        return self._buckets is None

    def percentile(self, thousandths: int) -> tuple[int, int] | None:
        """Lower and upper bound of a percentile by nearest rank; equal when it is exact. None: no values.

        Args:
            thousandths: 10 for the 1st percentile, 990 for the 99th.

        """
        if not self.count:
            return None
        rank = max(-(-thousandths * self.count // 1000), 1)
        if self._buckets is None:
            values = np.sort(np.concatenate(self._values))
            return (int(values[rank - 1]),) * 2
        low, high = self._bucket_at(rank)
        least, most = self.least, self.most
        if least is None or most is None:
            return low, high
        return max(low, least.value), min(high, most.value)

    def histogram(self) -> list[tuple[int, int, int]]:
        """(lowest, highest value, count) of each bucket that holds anything, in order; powers of two apart."""
        if self._buckets is None:
            values = np.concatenate(self._values) if self._values else np.zeros(0, np.int64)
            above = np.bincount(_bucket_of(values[values >= 0]))
            below = np.bincount(_bucket_of(-values[values < 0]))
        else:
            above, below = self._buckets, self._below if self._below is not None else np.zeros(0, np.int64)
        found = [(-_edges(b)[1], -_edges(b)[0], int(below[b])) for b in reversed(np.flatnonzero(below).tolist())]
        return found + [(*_edges(b), int(above[b])) for b in np.flatnonzero(above).tolist()]

    # ------------------------------------------------------------ the distribution

    def _spread(self, values: Ints) -> None:
        if self._buckets is None:
            self._values.append(values)
            held = sum(map(len, self._values))
            if held > EXACT_VALUES:
                self._to_buckets()
            elif len(self._values) > 64:
                self._values = [np.concatenate(self._values)]
            return
        self._count_in(values)

    def _to_buckets(self) -> None:
        if self._buckets is None:
            held, self._values = self._values, []
            self._buckets = np.zeros(0, np.int64)
            for values in held:
                self._count_in(values)

    def _count_in(self, values: Ints) -> None:
        below = values < 0
        if below.any():
            self._below = _summed(self._below, np.bincount(_bucket_of(-values[below])))
            values = values[~below]
        self._buckets = _summed(self._buckets, np.bincount(_bucket_of(values)))

    def _bucket_at(self, rank: int) -> tuple[int, int]:
        below = self._below if self._below is not None else np.zeros(0, np.int64)
        negative = int(below.sum())
        if rank <= negative:
            bucket = len(below) - 1 - int(np.searchsorted(np.cumsum(below[::-1]), rank))
            low, high = _edges(bucket)
            return -high, -low
        above = self._buckets if self._buckets is not None else np.zeros(0, np.int64)
        return _edges(int(np.searchsorted(np.cumsum(above), rank - negative)))


def _extreme(values: Ints, numbers: Ints | None, times: Ints | None, at: int) -> Extreme:
    return Extreme(
        int(values[at]), -1 if numbers is None else int(numbers[at]), -1 if times is None else int(times[at])
    )


def _chosen(a: Extreme | None, b: Extreme | None, first: Callable[[Extreme, Extreme], bool]) -> Extreme | None:
    if a is None or b is None:
        return a or b
    return a if first(a, b) else b


def _summed(a: Ints | None, b: Ints | None) -> Ints | None:
    if a is None or b is None:
        return a if b is None else b
    long, short = (a, b) if len(a) >= len(b) else (b, a)
    total = long.copy()
    total[: len(short)] += short
    return total


def _bucket_of(values: Ints) -> Ints:
    """Number of the bucket of values >= 0: exact below 256, then 128 a power of two.

    From 128 on that is exponent and top 7 bits of the mantissa, as a float64 has them side by side.
    """
    if len(values) and int(values.max()) >= 1 << 53:
        return _bucket_of_large(values)
    bits = values.astype(np.float64).view(np.int64)
    bits >>= 52 - _STEP_BITS
    bits -= (1023 + _STEP_BITS - 1) << _STEP_BITS
    small = values < _STEPS
    if small.any():
        bits[small] = values[small]
    return bits


def _bucket_of_large(values: Ints) -> Ints:
    """The same for numbers that a float64 would round."""
    bits = np.array([value.bit_length() for value in values.tolist()], np.int64)
    shift = np.maximum(bits - _STEP_BITS - 1, 0)
    bucket: Ints = (shift << _STEP_BITS) + (values >> shift)
    return bucket


def _edges(bucket: int) -> tuple[int, int]:
    """Lowest and highest value of a bucket."""
    shift = max((bucket >> _STEP_BITS) - 1, 0)
    low = (bucket - (shift << _STEP_BITS)) << shift
    return low, low + (1 << shift) - 1


@dataclass(slots=True)
class Range:
    """A statistic of values of which some are only known to lie between two bounds.

    ``sure`` holds the values that are known. Once something is in doubt, two more statistics hold the lower and the
    upper bounds of all values. ``extra`` counts observations of which it is not even known whether they were,
    ``unbounded`` is true when one of them has no upper bound.
    """

    sure: Statistic = field(default_factory=Statistic)
    extra: int = 0
    unbounded: bool = False
    _bounds: tuple[Statistic, Statistic] | None = None
    _extra_total: int = 0
    _extra_most: int = 0
    _extra_least: int = 0
    _ends: tuple[Statistic, Statistic] | None = None

    @property
    def certain(self) -> bool:
        """True while all values are known."""
        return self._bounds is None and not self.extra

    @property
    def n(self) -> int:
        """Observations that were, whether their values are known or not."""
        return self.sure.count if self._bounds is None else self._bounds[0].count

    def add(self, low: Ints, high: Ints | None = None, numbers: Ints | None = None, times: Ints | None = None) -> None:
        """Take values; ``high`` where the upper bounds may be others."""
        self._ends = None
        known = np.ones(len(low), bool) if high is None else low == high
        if not known.all() and self._bounds is None:
            self._bounds = (self.sure.copy(), self.sure.copy())
        if self._bounds is not None:
            self._bounds[0].add(low, numbers, times)
            self._bounds[1].add(low if high is None else high, numbers, times)
        if known.all():
            self.sure.add(low, numbers, times)
        else:
            self.sure.add(
                low[known], None if numbers is None else numbers[known], None if times is None else times[known]
            )

    def add_extra(self, count: int, low: int, high: int | None) -> None:
        """Take observations that may have been, each within bounds; ``high`` None: without upper bound."""
        if count <= 0:
            return
        self._ends = None
        self.unbounded |= high is None
        most = low if high is None else high
        self._extra_most = most if not self.extra else max(self._extra_most, most)
        self._extra_least = low if not self.extra else min(self._extra_least, low)
        self._extra_total += count * most
        self.extra += count

    def merge(self, other: Range) -> None:
        """Take all that another range holds."""
        self._ends = None
        if self._bounds is not None or other._bounds is not None:
            mine = self._bounds or (self.sure.copy(), self.sure.copy())
            for own, theirs in zip(mine, other._bounds or (other.sure, other.sure), strict=True):
                own.merge(theirs)
            self._bounds = mine
        self.sure.merge(other.sure)
        if other.extra:
            self.unbounded |= other.unbounded
            self._extra_most = max(self._extra_most, other._extra_most) if self.extra else other._extra_most
            self._extra_least = min(self._extra_least, other._extra_least) if self.extra else other._extra_least
            self._extra_total += other._extra_total
            self.extra += other.extra

    def ends(self) -> tuple[Statistic, Statistic]:
        """Statistics that are as low and as high as the truth can be.

        An extra observation counts at the lower end of everything in the one and at the upper end in the other:
        where it never was, the truth lies between.
        """
        if self._ends is None:
            low, high = self._bounds or (self.sure, self.sure)
            if self.extra:
                low, high = low.copy(), high.copy()
                least, most = low.least, high.most
                low.add_equal(self.extra, self._extra_least if least is None else min(self._extra_least, least.value))
                high.add_equal(self.extra, self._extra_most if most is None else max(self._extra_most, most.value))
            self._ends = (low, high)
        return self._ends

    # ------------------------------------------------------------ figures

    def count(self) -> Figure:
        """How many observations."""
        return Figure(self.n, self.n, self.n + self.extra, self.n)

    def total(self) -> Figure:
        """The sum; what is known of it, and what it may be."""
        low, high = (statistic.total for statistic in self._bounds or (self.sure, self.sure))
        low += min(self._extra_least, 0) * self.extra
        return Figure(low, low, None if self.unbounded else high + max(self._extra_total, 0), self.n)

    def mean(self) -> Figure:
        """The mean, rounded down."""
        low, high = self.ends()
        most = high.mean if high.mean is None or self.certain else high.mean + 1
        return self._figure(self.sure.mean, low.mean, None if self.unbounded else most)

    def least(self) -> Figure:
        """The minimum; observations that may have been cannot make it larger."""
        low, high = self.ends()
        most = None if self.unbounded and not self.n else _value(high.least)
        return self._figure(_value(self.sure.least), _value(low.least), most)

    def most(self) -> Figure:
        """The maximum."""
        low, high = self.ends()
        return self._figure(_value(self.sure.most), _value(low.most), None if self.unbounded else _value(high.most))

    def percentile(self, thousandths: int, *, high_is_bad: bool) -> Figure:
        """A percentile; ``value`` is the pessimistic edge where it is estimated from a histogram."""
        low, high = self.ends()
        known, lower, upper = (statistic.percentile(thousandths) for statistic in (self.sure, low, high))
        status = MEASURED if low.exact and high.exact else ESTIMATED
        value = None if known is None else known[1 if high_is_bad else 0]
        # The upper bound is one of the certain observations as long as its rank is not among the extra ones.
        rank = -(-thousandths * (self.n + self.extra) // 1000)
        most = None if upper is None or (self.unbounded and rank > self.n) else upper[1]
        return self._figure(value, None if lower is None else lower[0], most, status)

    def worst(self, *, high_is_bad: bool) -> Extreme | None:
        """The known observation at the bad end; of those in doubt the bound at that end counts."""
        low, high = self._bounds or (self.sure, self.sure)
        return high.most if high_is_bad else low.least

    def _figure(self, value: int | None, lo: int | None, hi: int | None, status: Status = MEASURED) -> Figure:
        """What is known, moved between the bounds where they say that the unknown observations change it."""
        if lo is None:
            return Figure(None, None, None, 0)
        if value is not None:
            value = max(lo, value if hi is None else min(value, hi))
        return Figure(value, lo, hi, self.n, status)


def _value(extreme: Extreme | None) -> int | None:
    return None if extreme is None else extreme.value
