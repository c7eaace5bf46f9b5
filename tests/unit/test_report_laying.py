# SPDX-License-Identifier: Apache-2.0
"""Lines laid one after the other, against the same joined row by row."""

from __future__ import annotations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.report.cells import listed, packed_cells
from vxmon.report.laying import Heads, Kinds, alike, lay
from vxmon.trace import Columns

TEXT = st.text("abc", max_size=30).map(str.encode)
# The kind of a row and what its cells say.
ROWS = st.lists(st.tuples(st.integers(0, 2), TEXT, TEXT), min_size=1, max_size=40)


def kinds_of(numbers: list[int]) -> Kinds:
    keys = np.array(numbers, np.uint16)
    zero = np.zeros(len(keys), np.int64)
    small = zero.astype(np.uint8)
    return alike(Columns(zero, small, keys, keys, small, zero, np.zeros(0, np.uint32), True))


@settings(max_examples=200, deadline=None)
@given(ROWS, st.integers(0, 9))
def test_lines_are_those_joined_row_by_row(rows: list[tuple[int, bytes, bytes]], width: int) -> None:
    """Whatever the width of the fronts: what is behind a text must not reach into other lines."""
    kinds = kinds_of([kind for kind, _, _ in rows])
    fronts = np.array([b"\n" + b"%0*d" % (width, at) if width else b"\n" for at in range(len(rows))])
    fronts = fronts.view(f"V{fronts.dtype.itemsize}")
    groups = [(some, [listed([rows[at][part] for at in some.tolist()]) for part in (1, 2)]) for some in kinds.rows]
    expected = b"".join(b"%b%b%b\n" % (bytes(fronts[at])[1:], *rows[at][1:]) for at in range(len(rows)))
    assert bytes(lay(fronts, groups)) == expected


@settings(max_examples=100, deadline=None)
@given(ROWS)
def test_what_heads_have_in_common_is_in_front(rows: list[tuple[int, bytes, bytes]]) -> None:
    numbers = [kind for kind, _, _ in rows]
    kinds = kinds_of(numbers)
    names = [[b"zero", b"one", b"two2"][number] for number in sorted(set(numbers))]
    same = listed([b"<%b>" % bytes([97 + kind]) for kind in numbers])
    heads = Heads.of([b"t:", same, names, listed([text for _, text, _ in rows])], kinds)
    groups = [(some, packed_cells(len(some), heads.behind(kind, some))) for kind, some in enumerate(kinds.rows)]
    expected = [
        b"t:<%c>%b%b\n" % (97 + kind, [b"zero", b"one", b"two2"][kind], text) for kind, text, _ in rows
    ]  # fmt: skip
    assert bytes(lay(heads.fronts, groups)) == b"".join(expected)
    even = len({len(name) for name in names}) == 1
    assert heads.fronts.dtype.itemsize >= len(b"\nt:<a>") + (len(names[0]) if even else 0)


def test_no_rows_make_no_text() -> None:
    assert lay(np.zeros(0, "V3"), []) == b""
    assert kinds_of([]).rows == []
