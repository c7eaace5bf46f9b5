# SPDX-License-Identifier: Apache-2.0
"""Pairs of entries and exits, against a stack for each context."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.trace.state_pairs import ENTRY, EXIT, GAP, Pairing

Row = tuple[int, int, int]
CALL, RETURN = ENTRY, EXIT


def paired(rows: list[Row], chunks: int = 1) -> tuple[list[tuple[int, int, int, int]], int, int]:
    """(context, start, end, what) in order, unpaired entries and exits; row i is at time i."""
    pairing = Pairing()
    found: list[tuple[int, int, int, int]] = []
    for part in np.array_split(np.arange(len(rows)), chunks):
        columns = np.array([(*rows[i], i) for i in part], np.int64).reshape(-1, 4)
        pairs = pairing.feed(columns[:, 0], columns[:, 1], columns[:, 3], columns[:, 2])
        found += zip(pairs.context.tolist(), pairs.start.tolist(), pairs.end.tolist(), pairs.what.tolist(), strict=True)
    pairing.finish()
    return found, pairing.unpaired_entries, pairing.unpaired_exits


def by_stack(rows: list[Row]) -> tuple[list[tuple[int, int, int, int]], int, int]:
    stacks: dict[int, list[tuple[int, int]]] = {}
    found, entries, exits = [], 0, 0
    for time, (kind, context, what) in enumerate(rows):
        stack = stacks.setdefault(context, [])
        if kind == ENTRY:
            stack.append((time, what))
        elif kind == GAP:
            entries += len(stack)
            stack.clear()
        elif not stack:
            exits += 1
        else:
            start, entered = stack.pop()
            if entered == what:
                found.append((context, start, time, what))
            else:
                entries += 1
                exits += 1
    return found, entries + sum(map(len, stacks.values())), exits


def test_calls_of_two_tasks_that_overlap_are_paired_by_task() -> None:
    """A calls, B calls, A returns, B returns."""
    rows = [(CALL, 1, 17), (CALL, 2, 17), (RETURN, 1, 17), (RETURN, 2, 17)]
    assert paired(rows) == ([(1, 0, 2, 17), (2, 1, 3, 17)], 0, 0)


def test_nested_interrupts_are_paired_innermost_first() -> None:
    rows = [(ENTRY, 0, 5), (ENTRY, 0, 6), (EXIT, 0, 6), (EXIT, 0, 5)]
    assert paired(rows) == ([(0, 1, 2, 6), (0, 0, 3, 5)], 0, 0)


def test_nothing_is_paired_across_a_gap() -> None:
    """Enter A, lost, exit B."""
    rows = [(ENTRY, 0, 1), (GAP, 0, 0), (EXIT, 0, 1), (ENTRY, 0, 2), (EXIT, 0, 2)]
    assert paired(rows) == ([(0, 3, 4, 2)], 1, 1)


def test_an_exit_without_entry_at_the_begin_is_counted() -> None:
    assert paired([(EXIT, 0, 1), (ENTRY, 0, 1), (EXIT, 0, 1)]) == ([(0, 1, 2, 1)], 0, 1)


ROWS = st.lists(st.tuples(st.sampled_from([ENTRY, ENTRY, EXIT, EXIT, GAP]), st.integers(0, 2), st.integers(0, 2)))


@settings(deadline=None)
@given(ROWS, st.integers(1, 6))
def test_as_with_a_stack_whatever_the_chunks(rows: list[Row], chunks: int) -> None:
    assert paired(rows, chunks) == by_stack(rows)
