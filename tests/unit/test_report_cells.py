# SPDX-License-Identifier: Apache-2.0
"""Text by columns, against what Python's own formatting makes of each value."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.report.cells import (
    Cell,
    aligned,
    chosen,
    decimal_cells,
    fixed_cells,
    hexadecimal_parts,
    item_bytes,
    listed,
    one_cell,
    padded,
    signed_cells,
    squeezed,
)
from vxmon.report.texts import NUMBERS, Texts, TextsOfSeveral

# The edges of tables and types, and anything between.
NUMBERS_64 = st.one_of(
    st.integers(0, (1 << 64) - 1), st.integers(0, 20_000), st.integers(0, (1 << 32) + 5),
    st.sampled_from([0, 9, 10, 9999, 10**4, 10**8 - 1, 10**8, 10**12, 10**16, (1 << 32) - 1, 1 << 32]),
)  # fmt: skip
TEXTS = st.lists(st.binary(max_size=12).map(lambda text: text.replace(b"\0", b"x")), min_size=1, max_size=30)
PROPERTY = settings(max_examples=60, deadline=None)


def shown(cell: Cell) -> list[bytes]:
    lengths = np.zeros(len(cell.items), np.int64) + cell.lengths
    return [bytes(row[:length]) for row, length in zip(item_bytes(cell.items), lengths, strict=True)]


@PROPERTY
@given(st.lists(NUMBERS_64, min_size=1, max_size=40))
def test_numbers_are_those_of_python(values: list[int]) -> None:
    column = np.array(values, np.uint64)
    assert shown(one_cell(len(values), decimal_cells(column))) == [b"%d" % value for value in values]
    for digits in (1, 5, 8, 16, 19):
        found = shown(one_cell(len(values), hexadecimal_parts(column, digits)))
        assert found == [b"%0*x" % (digits, value) for value in values]


@PROPERTY
@given(st.integers(0, (1 << 64) - 1), st.lists(st.integers(0, (1 << 18) - 1), min_size=1, max_size=20))
def test_what_numbers_begin_with_may_be_the_same(base: int, more: list[int]) -> None:
    values = [min(base + step, (1 << 64) - 1) for step in more]
    column = np.array(values, np.uint64)
    for digits in (1, 8, 11, 20):
        found = shown(one_cell(len(values), hexadecimal_parts(column, digits)))
        assert found == [b"%0*x" % (digits, value) for value in values]


@PROPERTY
@given(st.lists(st.integers(-(1 << 31), (1 << 31) - 1), min_size=1, max_size=40))
def test_signed_numbers_are_those_of_python(values: list[int]) -> None:
    cells = signed_cells(np.array(values, np.int32))
    assert shown(one_cell(len(values), cells)) == [b"%d" % value for value in values]


@PROPERTY
@given(st.integers(1, 12), st.data())
def test_numbers_of_a_fixed_width_have_leading_zeros(digits: int, data: st.DataObject) -> None:
    values = data.draw(st.lists(st.integers(0, 10**digits - 1), min_size=1, max_size=20))
    cells = fixed_cells(np.array(values, np.int64), digits)
    assert shown(one_cell(len(values), cells)) == [b"%0*d" % (digits, value) for value in values]


def test_nothing_to_show_is_no_cell() -> None:
    none = np.zeros(0, np.uint32)
    assert decimal_cells(none) == signed_cells(none.view(np.int32)) == []
    assert hexadecimal_parts(none) == []


@PROPERTY
@given(TEXTS, st.integers(0, 20), st.booleans(), st.sampled_from([b"0", b" "]))
def test_texts_are_aligned_as_python_does(texts: list[bytes], width: int, left: bool, fill: bytes) -> None:
    expected = [text.ljust(width, fill) if left else text.rjust(width, fill) for text in texts]
    assert shown(aligned(listed(texts), width, left=left, fill=fill)) == expected


@PROPERTY
@given(TEXTS, st.lists(st.integers(0, 11), min_size=3, max_size=3))
def test_padding_may_be_anywhere(texts: list[bytes], gaps: list[int]) -> None:
    """NUL is put where it may be, and taken out again."""
    spread = [b"\0".join([text[:gap], text[gap:]]) for text, gap in zip(texts, gaps * len(texts), strict=False)]
    block = np.array([list(text.ljust(15, b"\0")) for text in spread], np.uint8)
    assert shown(squeezed(block)) == texts
    assert bytes(padded(listed(texts)).reshape(-1)).replace(b"\0", b"") == b"".join(texts)


@PROPERTY
@given(TEXTS, TEXTS)
def test_parts_are_put_side_by_side(first: list[bytes], second: list[bytes]) -> None:
    rows = min(len(first), len(second))
    one, other = listed(first[:rows]), listed(second[:rows])
    cell = one_cell(rows, [b"<", one, b"|", Cell(np.full(rows, b"fix"), 3), other, b">"])
    assert shown(cell) == [b"<%b|fix%b>" % pair for pair in zip(first[:rows], second[:rows], strict=True)]


def test_rows_are_chosen_from_two_cells() -> None:
    which = np.array([True, False, True])
    assert shown(chosen(which, listed([b"a", b"b", b"c"]), listed([b"", b"long", b""]))) == [b"a", b"long", b"c"]


def test_a_cell_is_settled_when_its_lengths_are_the_same() -> None:
    same = Cell(np.full(2, b"abcdef"), np.array([3, 3]))
    assert same.settled().lengths == same.settled().width == 3
    other = Cell(np.full(2, b"abcdef"), np.array([3, 4]))
    assert other.settled() is other


# ---------------------------------------------------------------- texts made once


def number_text(number: int) -> bytes:
    return b"none" if number == NUMBERS - 1 else b"n%d" % number


def test_each_text_is_made_once_and_grows_with_the_longest() -> None:
    made: list[int] = []

    def text(number: int) -> bytes:
        made.append(number)
        return b"x" * number

    texts = Texts(text)
    assert shown(texts.cell(np.array([2, 3, 2], np.uint16))) == [b"xx", b"xxx", b"xx"]
    assert shown(texts.cell(np.array([40, 2, 3], np.uint32))) == [b"x" * 40, b"xx", b"xxx"]
    assert made == [2, 3, 40]


@pytest.mark.parametrize("different", [3, 300, NUMBERS])
def test_all_numbers_have_texts(different: int) -> None:
    numbers = np.arange(NUMBERS - different, NUMBERS)[::-1]
    texts = Texts(number_text)
    assert shown(texts.cell(numbers)) == [number_text(number) for number in numbers.tolist()]


@PROPERTY
@given(st.lists(st.lists(st.tuples(*[st.integers(0, NUMBERS - 1)] * 3), min_size=1, max_size=20), max_size=6))
def test_texts_side_by_side_are_those_of_each(chunks: list[list[tuple[int, int, int]]]) -> None:
    texts = TextsOfSeveral([number_text] * 3)
    for rows in chunks:
        cells = texts.cells([np.array(column) for column in zip(*rows, strict=True)])
        assert shown(one_cell(len(rows), cells)) == [b"".join(map(number_text, row)) for row in rows]


def test_with_too_many_different_numbers_texts_are_made_one_by_one() -> None:
    texts = TextsOfSeveral([number_text] * 2)
    few, many = np.array([1, NUMBERS - 1]), np.arange(1000)
    assert [shown(cell) for cell in texts.cells([few, few])] == [[b"n1n1", b"nonenone"]]
    assert len(texts.cells([many, many])) == 2
    assert [shown(cell) for cell in texts.cells([few, few])] == [[b"n1", b"none"]] * 2
