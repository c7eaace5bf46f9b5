# SPDX-License-Identifier: Apache-2.0
"""Rows moved in place are those that numpy's copies would be; parts are made small, so that there are many."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray

from vxmon.trace import rowtable

KIND = np.dtype([("a", "<u4"), ("b", "<i8"), ("c", "u1"), ("spare", "V3"), ("number", "<i8"), ("more", "<i8")])
Rows = NDArray[np.void]


@pytest.fixture(autouse=True, scope="module")
def small_parts() -> object:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(rowtable, "_PART", 4)
        yield


def rows_of(pairs: list[tuple[int, int]]) -> Rows:
    rows = np.zeros(len(pairs), KIND)
    rows["a"], rows["b"] = np.array(pairs, np.int64).reshape(-1, 2).T
    rows["number"] = np.arange(len(pairs))
    return rows


PAIRS = st.lists(st.tuples(st.integers(0, 3), st.integers(-2, 2)), max_size=40)


@given(PAIRS)
def test_order_is_stable_and_by_the_first_field_first(pairs: list[tuple[int, int]]) -> None:
    rows = rows_of(pairs)
    ordered = sorted(rows.tolist(), key=lambda row: (row[0], row[1]))
    assert rowtable.is_in_order(rows, ("a", "b")) == (rows.tolist() == ordered)
    assert rowtable.in_order(rows, ("a", "b")).tolist() == ordered


@given(PAIRS, st.data())
def test_those_and_pack_are_what_masks_and_slices_give(pairs: list[tuple[int, int]], data: st.DataObject) -> None:
    rows = rows_of(pairs)
    which = np.array(data.draw(st.lists(st.booleans(), min_size=len(rows), max_size=len(rows))), bool)
    assert rowtable.those(rows.copy(), which).tolist() == rows[which].tolist()
    edges = sorted(data.draw(st.lists(st.integers(0, len(rows)), min_size=4, max_size=4)))
    views = [rows[edges[0] : edges[1]], rows[edges[2] : edges[3]]]
    expected = np.concatenate(views).tolist()
    assert rowtable.pack(rows, views).tolist() == expected


def test_gathered_parts_are_freed_and_leave_room() -> None:
    parts = [rows_of([(1, 2)]), rows_of([(3, 4), (5, 6)])]
    whole = rowtable.gather(parts, KIND, spare=2)
    assert parts == []
    assert len(whole) == 5
    assert whole["b"][:3].tolist() == [2, 4, 6]
