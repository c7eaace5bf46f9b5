# SPDX-License-Identifier: Apache-2.0
"""Files of limits: what they may hold, and what is said of those that are wrong."""

from __future__ import annotations

import fnmatch
import re
from fractions import Fraction
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.support.tree import ROOT
from vxmon.config.limits import MOST_RULES, Limits, Pattern, read_limits
from vxmon.errors import InputError
from vxmon.trace.span import Span

RULE = '[[rule]]\nfigure = "a.b"\n'


def read(tmp_path: Path, text: str) -> Limits:
    (tmp_path / "limits.toml").write_text(text, encoding="utf-8")
    return read_limits(str(tmp_path / "limits.toml"))


def test_a_file_with_everything(tmp_path: Path) -> None:
    limits = read(tmp_path, (
        'format = 1\nwindow = "1.5s.."\nbackground = ["spare"]\n\n[[rule]]\nfigure = "partition.*.margin.min"\n'
        'min = "10 %"\nmax = "1 s"\nseverity = "warn"\nnote = "SRS-4711"\n\n'
        '[[rule]]\nfigure = "quality.lost"\nmax = 0\n'
    ))  # fmt: skip
    assert (limits.span, limits.background) == (Span(1_500_000_000), ("spare",))
    first, second = limits.rules
    assert first.low is not None
    assert first.high is not None
    assert (first.low.value, first.high.value) == (Fraction(1, 10), Fraction(10**9))
    assert first.low.dimension == "share"
    assert (first.severity, first.note, first.place.line, first.places["min"].line) == ("warn", "SRS-4711", 5, 7)
    assert (second.severity, second.low, second.place.line) == ("error", None, 12)


def test_the_demo_has_a_file_of_limits() -> None:
    assert len(read_limits(str(ROOT / "target_c/partitions/limits.toml")).rules) >= 10


@pytest.mark.parametrize(
    ("written", "value", "dimension"),
    [
        ("3", 3, "count"), ("0", 0, "count"), ("-2", -2, "count"), ("2.5", Fraction(5, 2), "count"),
        ('"7"', 7, "count"), ('"10 %"', Fraction(1, 10), "share"), ('"0.5%"', Fraction(1, 200), "share"),
        ('"400 us"', 400_000, "time"), ('"400us"', 400_000, "time"), ('"1.5 ms"', 1_500_000, "time"),
        ('"2 µs"', 2000, "time"), ('"9 ns"', 9, "time"), ('"2 s"', 2 * 10**9, "time"),
        ('"4 KiB"', 4096, "size"), ('"1 MiB"', 1 << 20, "size"), ('"100 bytes"', 100, "size"), ('"1 B"', 1, "size"),
        ('"2 /s"', 2, "rate"), ('"6/min"', Fraction(1, 10), "rate"), ('"16 bytes/s"', 16, "size_rate"),
        ('"36 KiB/h"', Fraction(36 * 1024, 3600), "size_rate"), ('"16 bytes / s"', 16, "size_rate"),
    ],
)  # fmt: skip
def test_bounds_and_their_units(written: str, value: Fraction, dimension: str, tmp_path: Path) -> None:
    """By the meaning of the units: KiB are 1024 bytes, an hour 3600 s."""
    (rule,) = read(tmp_path, f"format = 1\n{RULE}max = {written}\n").rules
    assert rule.high is not None
    assert (rule.high.value, rule.high.dimension) == (value, dimension)


WRONG = [
    ("", "limits needs the key format"),
    (
        "format = 2\n",
        "limits.toml:1: limits.format is 2; it must be 1, the version of the format that this program knows",
    ),
    ("format = 1\n", "there is no rule; write [[rule]] with figure and min or max"),
    ("format = 1\nrules = 3\n", ":2: limits has no key 'rules'; keys are background, format, rule, window"),
    ("format = 1\nrule = 3\n", ":2: limits.rule is 3; it must be an array of tables"),
    ("format = 1\n\n[[rule]]\nmax = 1\n", ":3: rule needs the key figure"),
    (f"format = 1\n\n{RULE}", ":3: rule for a.b needs min, max or both"),
    (f"format = 1\n{RULE}most = 1\n", ":4: rule has no key 'most'; keys are figure, max, min, note, severity"),
    (f'format = 1\n{RULE}max = "10 parsec"\n', ":4: rule.max is '10 parsec'; it must be a number, or one with a unit"),
    (f'format = 1\n{RULE}max = "%"\n', "rule.max is '%'; it must be a number"),
    (f'format = 1\n{RULE}max = "4 KB"\n', "rule.max is '4 KB'; it must be a number"),
    (f"format = 1\n{RULE}max = true\n", "rule.max is True; it must be a number"),
    (f"format = 1\n{RULE}max = inf\n", "rule.max is inf; it must be a number"),
    (f"format = 1\n{RULE}max = nan\n", "rule.max is nan; it must be a number"),
    (f"format = 1\n{RULE}max = [1]\n", "rule.max is an array; it must be a number"),
    (f"format = 1\n{RULE}max = 2026-11-30\n", "rule.max is a date; it must be a number"),
    (f"format = 1\n{RULE}max = 12345678901234567890\n", "rule.max is 12345678901234567890; it must be a number"),
    (f"format = 1\n{RULE}min = 2\nmax = 1\n", ":5: rule.max is 1, below min 2"),
    (f'format = 1\n{RULE}max = 1\nseverity = "fatal"\n', ":5: rule.severity is 'fatal'; it must be one of warn, error"),
    ('format = 1\n[[rule]]\nfigure = ""\nmax = 1\n', ":3: rule.figure is ''; it must be a name"),
    ('format = 1\nwindow = "5"\n' + RULE, ":2: limits.window is no time window: time window '5': write A..B"),
    ('format = 1\nbackground = "x"\n' + RULE, ":2: limits.background is 'x'; it must be a list of up to 1024 names"),
    ("format = 1\nbackground = [1]\n" + RULE, ":2: limits.background is an array; it must be a list"),
    ("format = 1\nthis is not TOML\n", "no TOML"),
    (
        "format = 1\n" + "[[rule]]\n" * (MOST_RULES + 1),
        f"rule has {MOST_RULES + 1:,} entries; {MOST_RULES:,} are possible",
    ),
]


@pytest.mark.parametrize(("text", "words"), WRONG, ids=range(len(WRONG)))
def test_what_is_wrong_is_said_with_its_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path, text)
    assert words in str(error.value)
    assert str(error.value).startswith(str(tmp_path / "limits.toml"))
    assert "\n" not in str(error.value)


def test_a_file_that_is_not_there(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="nowhere"):
        read_limits(str(tmp_path / "nowhere.toml"))


@pytest.mark.parametrize(
    ("pattern", "name", "fits"),
    [
        ("a.b", "a.b", True), ("a.b", "a.bc", False), ("*", "", True), ("*", "a.b", True), ("a.*", "a.", True),
        ("a.*.c", "a.b.c", True), ("a.*.c", "a.b.b.c", True), ("a.*.c", "a.c", False), ("a*a", "a", False),
        ("*.b.*.b", "a.b.b", False), ("*.b.*.b", "a.b.x.b", True), ("a**b", "ab", True), ("a?", "ab", False),
        ("[ab]", "a", False), ("[ab]", "[ab]", True), ("a.b", "A.B", False),
    ],
)  # fmt: skip
def test_a_star_stands_for_anything_and_nothing_else_is_special(pattern: str, name: str, fits: bool) -> None:
    assert Pattern(pattern).matches(name) is fits


@given(st.text("ab.*", max_size=8), st.text("ab.", max_size=12))
def test_patterns_mean_what_those_of_the_shell_mean(pattern: str, name: str) -> None:
    assert Pattern(pattern).matches(name) is bool(re.match(fnmatch.translate(pattern), name))


def test_a_pattern_of_many_stars_is_as_quick_as_any() -> None:
    assert not Pattern("*a" * 500 + "b").matches("a" * 5000)
