# SPDX-License-Identifier: Apache-2.0
"""Statistics against sorted lists: exact where promised, and within 0.8 % where estimated."""

from __future__ import annotations

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.analysis.figures import ESTIMATED, EXACT_VALUES, Figure, Range, Statistic

THOUSANDTHS = (10, 500, 950, 990, 1000)
VALUES = st.lists(st.integers(-(10**12), 10**15), min_size=1, max_size=300)


def nearest_rank(values: list[int], thousandths: int) -> int:
    """The smallest value that at least so many thousandths of all values do not exceed."""
    ordered = sorted(values)
    return ordered[max(math.ceil(thousandths * len(values) / 1000), 1) - 1]


def statistic(values: list[int], parts: int = 1) -> Statistic:
    made = Statistic()
    for part in np.array_split(np.array(values, np.int64), parts):
        made.add(part)
    return made


@given(VALUES, st.integers(1, 5))
def test_few_values_are_exact(values: list[int], parts: int) -> None:
    made = statistic(values, parts)
    assert (made.count, made.total) == (len(values), sum(values))
    assert made.least is not None
    assert made.most is not None
    assert (made.least.value, made.most.value) == (min(values), max(values))
    for p in THOUSANDTHS:
        assert made.percentile(p) == (nearest_rank(values, p),) * 2


@settings(max_examples=20)
@given(st.integers(0, 2**32), st.sampled_from([50, 300, 10**5, 10**9, 10**15]))
def test_many_values_are_estimated_within_0_8_per_cent(seed: int, largest: int) -> None:
    values = np.random.default_rng(seed).integers(-largest // 10, largest, EXACT_VALUES + 1000)
    made = Statistic()
    for part in np.array_split(values, 7):
        made.add(part)
    assert not made.exact
    assert (made.count, made.total) == (len(values), int(values.sum()))
    for p in THOUSANDTHS:
        found = made.percentile(p)
        truth = nearest_rank(values.tolist(), p)
        assert found is not None
        assert found[0] <= truth <= found[1]
        assert found[1] - found[0] <= 0.008 * abs(truth)


@given(VALUES, VALUES)
def test_merged_parts_are_the_whole(a: list[int], b: list[int]) -> None:
    merged, whole = statistic(a), statistic(a + b)
    merged.merge(statistic(b))
    for p in THOUSANDTHS:
        assert merged.percentile(p) == whole.percentile(p)
    assert (merged.count, merged.total, merged.mean) == (whole.count, whole.total, whole.mean)


def test_merging_with_a_histogram() -> None:
    many, few = np.arange(10_000), np.array([5, 20_000])
    a, b, whole = Statistic(), Statistic(), Statistic()
    a.add(few)
    b.add(many)
    whole.add(np.concatenate([few, many]))
    a.merge(b)
    assert a.percentile(990) == whole.percentile(990)
    assert sum(count for *_, count in a.histogram()) == 10_002
    assert a.histogram() == whole.histogram()


def test_a_sum_beyond_64_bits_is_right() -> None:
    made = Statistic()
    made.add(np.full(4, 2**62, np.int64))
    assert made.total == 2**64


def test_an_extreme_says_which_observation_it_was() -> None:
    made = Statistic()
    made.add(np.array([5, 9, 2]), np.array([10, 11, 12]), np.array([100, 110, 120]))
    made.add(np.array([9, 2]), np.array([13, 14]), np.array([130, 140]))
    assert made.most is not None
    assert made.least is not None
    # Of equal ones the first.
    assert (made.most.value, made.most.number, made.most.time) == (9, 11, 110)
    assert (made.least.value, made.least.number, made.least.time) == (2, 12, 120)


@settings(deadline=None)
@given(st.lists(st.tuples(st.integers(0, 1000), st.integers(0, 50), st.integers(0, 50), st.booleans()), min_size=1))
def test_a_range_holds_the_truth_whatever_the_unknown_values_are(
    observations: list[tuple[int, int, int, bool]],
) -> None:
    """Each observation is (truth, how far the lower and the upper bound are off, was it at all)."""
    made = Range()
    truth = []
    for value, below, above, extra in observations:
        low, high = max(value - below, 0), value + above
        if extra:
            made.add_extra(1, low, high)
            # Whether it was is anybody's guess; take every second.
            if value % 2:
                truth.append(value)
        else:
            made.add(np.array([low]), np.array([high]))
            truth.append(value)
    if not truth:
        return
    checks = [
        (made.count(), len(truth)), (made.total(), sum(truth)), (made.least(), min(truth)), (made.most(), max(truth)),
        (made.mean(), sum(truth) // len(truth)),
        *((made.percentile(p, high_is_bad=True), nearest_rank(truth, p)) for p in THOUSANDTHS),
    ]  # fmt: skip
    for figure, right in checks:
        assert figure.lo is not None
        assert figure.hi is not None
        assert figure.lo <= right <= figure.hi
        assert figure.value is None or figure.lo <= figure.value <= figure.hi


def test_an_observation_without_bound_leaves_the_upper_end_open() -> None:
    made = Range()
    made.add(np.array([5, 7]))
    made.add_extra(1, 0, None)
    assert made.most() == Figure(7, 7, None, 2)
    # It may have been smaller than the known ones, but cannot have made the minimum larger.
    assert made.least() == Figure(5, 0, 5, 2)
    assert made.percentile(300, high_is_bad=True) == Figure(5, 0, 5, 2)
    assert made.percentile(990, high_is_bad=True) == Figure(7, 7, None, 2)


def test_nothing_unknown_has_width_0() -> None:
    made = Range()
    made.add(np.array([5, 7]), np.array([5, 7]))
    assert made.certain
    assert not made.most().in_doubt
    assert not made.mean().in_doubt


@pytest.mark.parametrize(("high_is_bad", "edge"), [(True, 1), (False, 0)])
def test_an_estimate_shows_its_pessimistic_edge(high_is_bad: bool, edge: int) -> None:
    made = Range()
    made.add(np.arange(100_000) + 1_000_000)
    figure = made.percentile(500, high_is_bad=high_is_bad)
    assert figure.status == ESTIMATED
    assert figure.value == (figure.lo, figure.hi)[edge]
