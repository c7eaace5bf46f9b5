# SPDX-License-Identifier: Apache-2.0
"""Numbers and times of configuration files. The expected values are the decimal numbers themselves, written out."""

from __future__ import annotations

from fractions import Fraction

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vxmon.config.model import INFINITE_TIME
from vxmon.config.values import parse_boolean, parse_integer, parse_name, parse_seconds, shown


@pytest.mark.parametrize(
    ("text", "ns"),
    [
        ("0.001", 1_000_000),
        (" 0.020", 20_000_000),
        ("0.000000001", 1),
        ("0.1", 100_000_000),  # 0.1 * 1e9 in binary floating point is exact by luck,
        ("0.0023", 2_300_000),  # 0.0023 * 1e9 is 2299999.9999999995
        ("1.0000000000", 1_000_000_000),
        (".5", 500_000_000),
        ("5E-3", 5_000_000),
        ("+2", 2_000_000_000),
        ("9223372036.854775807", 2**63 - 1),
    ],
)
def test_seconds_become_whole_nanoseconds(text: str, ns: int) -> None:
    assert parse_seconds(text) == ns


@given(st.integers(0, 2**63 - 1))
def test_every_nanosecond_survives(ns: int) -> None:
    assert parse_seconds(f"{ns // 10**9}.{ns % 10**9:09d}") == ns


@given(st.integers(0, 10**18), st.integers(-9, 0))
def test_exponents_are_exact(digits: int, exponent: int) -> None:
    value = Fraction(digits) * Fraction(10) ** exponent * 10**9
    if value < 2**63:
        assert parse_seconds(f"{digits}e{exponent}") == value


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("0.0000000001", "finer than a nanosecond"),
        ("1e-99", "finer than a nanosecond"),
        ("-1", "outside the range"),
        ("9223372036.854775808", "outside the range"),
        ("1e99", "outside the range"),
        ("1e999", "not a time"),
        ("1" * 65, "not a time"),
        ("0,020", "not a time"),
        ("20 ms", "not a time"),
        ("NaN", "not a time"),
        ("INF", "not a time"),
        ("", "not a time"),
        ("INFINITE_TIME", "makes sense"),
    ],
)
def test_what_is_no_time_is_said(text: str, words: str) -> None:
    with pytest.raises(ValueError, match=words):
        parse_seconds(text)


def test_infinite_time_where_it_is_allowed() -> None:
    assert parse_seconds("INFINITE_TIME", infinite=True) == INFINITE_TIME


@pytest.mark.parametrize(
    ("text", "value"),
    [("0xffffffff", 4294967295), ("0X10", 16), (" 42 ", 42), ("010", 10), ("18446744073709551615", 2**64 - 1)],
)
def test_integers(text: str, value: int) -> None:
    assert parse_integer(text) == value


@pytest.mark.parametrize("text", ["", "-1", "0x", "1.0", "18446744073709551616", "0x1" + "0" * 16, "1_000", "٣"])
def test_what_is_no_integer(text: str) -> None:
    with pytest.raises(ValueError, match=r"number|64 bits"):
        parse_integer(text)


def test_booleans() -> None:
    assert [parse_boolean(t) for t in ("true", "1", "false", "0")] == [True, True, False, False]
    with pytest.raises(ValueError, match="neither"):
        parse_boolean("1.0")


@pytest.mark.parametrize("text", ["", "  ", "a\nb", "a\x07", "x" * 256])
def test_names_that_are_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"is|has"):
        parse_name(text)


def test_shown_is_one_short_line() -> None:
    assert "\n" not in shown("a\nb")
    assert len(shown("x" * 1000)) < 70
