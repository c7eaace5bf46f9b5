# SPDX-License-Identifier: Apache-2.0
"""The plain form of report blocks: expected text written by hand."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from vxmon.report.blocks import Bar, Bars, Table, Text, Tree, bar_of, plain_lines


def test_blocks_are_apart_and_columns_aligned() -> None:
    table = Table("sizes", ("name", ">size"), [("a", "1,000"), ("long name", "2")])
    assert list(plain_lines([Text(("head",)), table])) == [
        "head",
        "",
        "sizes",
        "name        size",
        "a          1,000",
        "long name      2",
    ]


def test_a_tree() -> None:
    tree = Tree("root", (Tree("a", (Tree("b"), Tree("c"))), Tree("d", (Tree("e"),))))
    assert list(plain_lines([tree])) == ["root", "|- a", "|  |- b", "|  `- c", "`- d", "   `- e"]


def test_bars() -> None:
    bars = Bars("what", 80, [Bar("code", 60, "60"), Bar("x", 1, "1"), Bar("none", 0, "0")])
    assert list(plain_lines([bars])) == [
        "what",
        "code  " + "#" * 30 + "." * 10 + "  60",
        "x     " + "#" + "." * 39 + "  1",
        "none  " + "." * 40 + "  0",
    ]


def test_nothing() -> None:
    assert list(plain_lines([])) == []
    assert list(plain_lines([Table("", ("a",), [])])) == ["a"]
    assert list(plain_lines([Bars("", 0)])) == []


@given(st.integers(0, 2**64), st.integers(0, 2**64), st.integers(1, 200))
def test_bars_stay_in_their_width(value: int, whole: int, width: int) -> None:
    length = bar_of(Bar("", value, ""), whole, width)
    assert 0 <= length <= width
    assert (length > 0) == (value > 0 and whole > 0)
