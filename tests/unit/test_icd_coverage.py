# SPDX-License-Identifier: Apache-2.0
"""Gaps and overlaps, against sets of single bits."""

from __future__ import annotations

from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.icd.coverage import gaps, overlaps, with_padding
from vxmon.icd.model import Field, FieldType, Message

SIZE = 12
FIELDS = st.builds(
    lambda position, length, order, overlay: Field(
        f"f{position}", FieldType.UNSIGNED, position, min(length, 8 * SIZE - position), order, overlay=overlay
    ),
    st.integers(0, 8 * SIZE - 1), st.integers(1, 64), st.sampled_from(["big", "little"]), st.booleans(),
)  # fmt: skip


def bits(field: Field) -> set[tuple[int, int]]:
    """(byte, weight of the bit in it) by the definition of positions: big from weight 7 down, little from 0 up."""
    places = range(field.position, field.position + field.length)
    return {(n // 8, 7 - n % 8 if field.order == "big" else n % 8) for n in places}


@settings(max_examples=500, deadline=None)
@given(st.lists(FIELDS, max_size=8))
def test_gaps_are_the_bits_of_no_field(fields: list[Field]) -> None:
    message = Message("m", SIZE, tuple(fields), SIZE)
    free = {(n // 8, 7 - n % 8) for at, length in gaps(message) for n in range(at, at + length)}
    taken = set().union(*map(bits, fields))
    assert free == {(byte, weight) for byte in range(SIZE) for weight in range(8)} - taken
    assert gaps(with_padding(message)) == []


@settings(max_examples=500, deadline=None)
@given(st.lists(FIELDS, max_size=8))
def test_overlaps_are_shared_bits(fields: list[Field]) -> None:
    wanted = {}
    for second, field in enumerate(fields):
        for first in range(second):
            shared = bits(fields[first]) & bits(field)
            if shared and not fields[first].overlay and not field.overlay:
                wanted[first, second] = len(shared)
    found = overlaps(Message("m", SIZE, tuple(fields), SIZE))
    at = {id(field): number for number, field in enumerate(fields)}
    assert {(at[id(o.first)], at[id(o.second)]): o.bits for o in found} == wanted
    assert [at[id(o.second)] for o in found] == sorted(at[id(o.second)] for o in found)


def test_thousands_of_fields_on_one_place_are_told_quickly() -> None:
    fields = tuple(Field(f"f{n}", FieldType.BYTES, 0, 8 * 65536) for n in range(4096))
    assert len(overlaps(Message("m", 65536, fields, 65536))) >= 1000
