# SPDX-License-Identifier: Apache-2.0
"""Histories against a plain list of what came before."""

from __future__ import annotations

import random

import numpy as np

from vxmon.analysis.system.counts import RateBook, most_lost
from vxmon.trace.history import History


def ints(values: list[int]) -> np.ndarray[tuple[int], np.dtype[np.int64]]:
    return np.array(values, np.int64)


def test_the_last_rows_of_each_key_over_chunks() -> None:
    rng = random.Random(1)
    history = History(3)
    past: dict[int, list[int]] = {}
    number = 0
    for _ in range(30):
        size = rng.randrange(12)
        places = sorted(rng.sample(range(40), size))
        keys = [rng.choice((0, 1, 65535)) for _ in places]
        history.feed(ints(keys), ints(places), {"number": np.arange(number, number + size)})
        for place in (0, 7, 40):
            rows = history.before(ints([0, 1, 2, 65535]), ints([place] * 4))
            told = history.take("number", rows).tolist()
            for key, some in zip((0, 1, 2, 65535), told, strict=True):
                here = [number + n for n, (k, p) in enumerate(zip(keys, places, strict=True)) if k == key and p < place]
                expected = (past.get(key, []) + here)[::-1][:3]
                assert some == expected + [-1] * (3 - len(expected))
        for n, key in enumerate(keys):
            past.setdefault(key, []).append(number + n)
        number += size


def test_a_history_without_rows() -> None:
    assert History(2).take("x", History(2).before(ints([3]), ints([9]))).tolist() == [[-1, -1]]


def test_the_densest_span_is_that_of_a_search_through_all() -> None:
    rng = random.Random(2)
    for _ in range(50):
        times = sorted(rng.randrange(300) for _ in range(rng.randrange(1, 40)))
        book = RateBook(width=20)
        for begin in range(0, len(times), 7):
            book.add(ints(times[begin : begin + 7]))
        counts = [sum(t <= other < t + 20 for other in times) for t in times]
        assert (book.most, book.at) == (max(counts), times[counts.index(max(counts))])


def test_the_most_that_may_be_missing_within_a_span() -> None:
    rng = random.Random(3)
    for _ in range(50):
        starts = [rng.randrange(300) for _ in range(rng.randrange(1, 10))]
        ends = [start + rng.randrange(40) for start in starts]
        records = [rng.randrange(1, 9) for _ in starts]
        touching = [
            sum(r for s, e, r in zip(starts, ends, records, strict=True) if s <= at + 20 and e >= at)
            for at in range(-20, 400)
        ]
        assert most_lost(ints(starts), ints(ends), ints(records), 20) == max(touching)
    assert most_lost(ints([]), ints([]), ints([]), 20) == 0
