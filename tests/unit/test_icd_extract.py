# SPDX-License-Identifier: Apache-2.0
"""Bits out of bytes, against a reference that goes bit by bit as the definition in vxmon.icd.model says."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.icd.extract import bcd_digits, byte_block, float_bits, signed, unsigned
from vxmon.icd.model import Order


def reference(data: bytes, position: int, length: int, order: Order) -> int:
    """Bit n is in byte n // 8: from the most significant one on (big), from the least significant one on (little)."""
    value = 0
    for n in range(position, position + length):
        if order == "big":
            value = value << 1 | data[n // 8] >> (7 - n % 8) & 1
        else:
            value |= (data[n // 8] >> n % 8 & 1) << (n - position)
    return value


def rows(data: bytes, count: int) -> np.ndarray[tuple[int, int], np.dtype[np.uint8]]:
    return np.frombuffer(data, np.uint8).reshape(count, -1)


@pytest.mark.parametrize("order", ["big", "little"])
@pytest.mark.parametrize("length", range(1, 65))
def test_every_length_at_every_bit(order: Order, length: int) -> None:
    data = np.random.default_rng(length).integers(0, 256, (4, 10), np.uint8)
    for position in range(17):
        if position + length > 80:
            continue
        wanted = [reference(bytes(row), position, length, order) for row in data]
        assert unsigned(data, position, length, order).tolist() == wanted, position


@settings(max_examples=300, deadline=None)
@given(st.binary(min_size=24, max_size=24), st.integers(0, 127), st.integers(1, 64), st.sampled_from(["big", "little"]))
def test_any_place(data: bytes, position: int, length: int, order: Order) -> None:
    assert unsigned(rows(data, 1), position, length, order)[0] == reference(data, position, length, order)


@pytest.mark.parametrize(("order", "mark"), [("big", ">"), ("little", "<")])
def test_whole_numbers_are_those_of_struct(order: Order, mark: str) -> None:
    data = bytes.fromhex("8001fffe7f00000080")
    for code, size in (("B", 1), ("H", 2), ("I", 4), ("Q", 8)):
        for at in (0, 1):
            number = unsigned(rows(data, 1), 8 * at, 8 * size, order)
            assert number[0] == struct.unpack_from(mark + code, data, at)[0]
            assert signed(number, 8 * size)[0] == struct.unpack_from(mark + code.lower(), data, at)[0]


@pytest.mark.parametrize(("number", "length", "value"), [(0b111, 3, -1), (0b100, 3, -4), (0b011, 3, 3), (1, 1, -1)])
def test_twos_complement_of_few_bits(number: int, length: int, value: int) -> None:
    assert signed(np.array([number], np.uint64), length)[0] == value


@pytest.mark.parametrize(("code", "length"), [("e", 16), ("f", 32), ("d", 64)])
def test_floats_are_those_of_struct(code: str, length: int) -> None:
    for value in (0.0, -1.5, 0.1, 1e4, float("inf")):
        bits = int.from_bytes(struct.pack(">" + code, value), "big")
        assert (
            float_bits(np.array([bits], np.uint64), length)[0]
            == struct.unpack(">" + code, struct.pack(">" + code, value))[0]
        )


def test_decimal_digits() -> None:
    value, good = bcd_digits(np.array([0x25786, 0x7_9999, 0x1A, 0], np.uint64), 19)
    assert value[[0, 1, 3]].tolist() == [25786, 79999, 0]
    assert good.tolist() == [True, True, False, True]


def test_whole_bytes() -> None:
    assert byte_block(rows(b"abcdefgh", 2), 8, 16).tolist() == [list(b"bc"), list(b"fg")]


def test_no_messages() -> None:
    assert unsigned(np.zeros((0, 4), np.uint8), 3, 9, "big").shape == (0,)
    assert unsigned(np.zeros((0, 4), np.uint8), 0, 32, "little").shape == (0,)
