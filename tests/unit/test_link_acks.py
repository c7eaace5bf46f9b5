# SPDX-License-Identifier: Apache-2.0
"""Acknowledgements against plain sets of numbers, and against the rules by which the target reads them."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.link.acks import StreamTracker
from vxmon.link.ranges import RangeSet
from vxmon.wire.types import StreamAck

SPANS = st.tuples(st.integers(0, 60), st.integers(0, 12)).map(lambda t: (t[0], t[0] + t[1]))


def members(ranges: RangeSet) -> set[int]:
    return {n for first, end in ranges.ranges for n in range(first, end)}


@given(steps=st.lists(st.tuples(st.booleans(), SPANS), max_size=40))
def test_a_range_set_is_a_set(steps: list[tuple[bool, tuple[int, int]]]) -> None:
    ranges, expected = RangeSet(), set[int]()
    for put, (first, end) in steps:
        if put:
            ranges.add(first, end)
            expected |= set(range(first, end))
        else:
            ranges.remove(first, end)
            expected -= set(range(first, end))
        assert members(ranges) == expected
        assert len(ranges) == len(expected)
        assert ranges.ranges == sorted(ranges.ranges)
        assert all(a[1] < b[0] for a, b in zip(ranges.ranges, ranges.ranges[1:], strict=False)), "apart"
    numbers = np.arange(80)
    assert ranges.contains(numbers).tolist() == [n in expected for n in numbers.tolist()]


def acknowledged(ack: StreamAck) -> set[int]:
    """SPEC section 6: below next, or below seen and in no missing range."""
    missing = {n for r in ack.missing for n in range(r.first, r.first + r.count)}
    return {n for n in range(ack.seen) if n < ack.next or n not in missing}


def check_rules(ack: StreamAck, cut: int) -> None:
    """What the agent demands of an acknowledgement before it looks at it."""
    assert ack.next <= ack.seen <= max(cut, ack.seen)
    assert len(ack.missing) <= 16
    at = ack.next
    for entry in ack.missing:
        assert entry.first >= at
        assert entry.count > 0
        at = entry.first + entry.count


BATCHES = st.lists(st.lists(st.integers(0, 120), min_size=1, max_size=15), max_size=25)


@settings(deadline=None)
@given(batches=BATCHES, held=st.integers(0, 60), at=st.integers(0, 25), tail=st.integers(0, 130))
def test_exactly_what_is_stored_or_gone_is_acknowledged(
    batches: list[list[int]], held: int, at: int, tail: int
) -> None:
    tracker, stored, gone = StreamTracker(0), set[int](), set[int]()
    for number, batch in enumerate(batches):
        if number == at:
            tracker.give_up_below(held)
            gone |= set(range(held)) - stored
        new = tracker.store(np.array(batch, np.int64))
        fresh = [n for i, n in enumerate(batch) if n not in stored and n not in batch[:i]]
        assert [n for n, is_new in zip(batch, new.tolist(), strict=True) if is_new] == fresh
        stored |= set(batch)
        gone -= stored
        assert members(tracker.gone) == gone
        ack = tracker.acknowledgement(0)
        check_rules(ack, tracker.seen)
        told = acknowledged(ack)
        assert told <= stored | gone, "never what was not stored"
        if len(tracker.gaps.ranges) <= 16:
            assert told == {n for n in stored | gone if n < tracker.seen}
        longer = tracker.acknowledgement(tail)
        check_rules(longer, max(tail, tracker.seen))
        asked = {n for r in longer.missing for n in range(r.first, r.first + r.count)}
        assert not asked & stored
        assert not asked & gone
        if len(tracker.gaps.ranges) < 16:
            assert asked == set(range(max(tail, tracker.seen))) - stored - gone


def test_more_gaps_than_fit_lower_what_was_seen() -> None:
    tracker = StreamTracker(3)
    tracker.store(np.arange(0, 100, 2))
    ack = tracker.acknowledgement(0)
    assert (ack.stream, ack.next, len(ack.missing)) == (3, 1, 16)
    assert ack.seen == 33, "the seventeenth gap"


def test_gaps_without_end_take_no_memory() -> None:
    tracker = StreamTracker(0)
    for at in range(0, 240_000, 20_000):
        tracker.store(np.arange(at, at + 20_000, 2))
    assert len(tracker.gaps.ranges) <= 4096
    assert tracker.acknowledgement(0).next == 1


def test_numbers_of_any_size() -> None:
    tracker = StreamTracker(0)
    assert tracker.store(np.array([0, 1 << 61], np.int64)).tolist() == [True, True]
    assert tracker.acknowledgement(0).missing[0].count == (1 << 61) - 1


def test_blocks_that_were_named_missing_and_came_are_counted_once() -> None:
    tracker = StreamTracker(0)
    tracker.store(np.array([0, 1, 4, 5, 8]))
    tracker.store(np.array([2]))
    assert tracker.recovered == 0, "late, but not asked for"
    tracker.acknowledgement(0)
    tracker.store(np.array([3, 6]))
    tracker.store(np.array([3, 6]))
    assert tracker.recovered == 2
    tracker.give_up_below(8)
    tracker.store(np.array([7]))
    assert tracker.recovered == 2, "given up, so it was not asked for any more"
    tracker.acknowledgement(20)
    tracker.store(np.arange(9, 12))
    assert tracker.recovered == 2, "the tail may just have been on its way"
