# SPDX-License-Identifier: Apache-2.0
"""Figures of the bench of text, from rates given by hand."""

from __future__ import annotations

from tests.bench.reading import Rate
from tests.bench.text import GOAL, Text, rows


def text(lines_per_s: float, counted_per_s: float, line: float) -> Text:
    """A second of start-up before the lines."""
    alone, counted = Rate(), Rate()
    for lines in (1_000_000, 2_000_000):
        alone.take(lines, 1 + lines / lines_per_s, 10)
        counted.take(lines, 1 + lines / counted_per_s, 10)
    return Text(alone, counted, line)


def test_programs_are_compared_by_the_line_and_by_the_byte() -> None:
    found = {"vxmon print": text(8e6, 6e6, 100.0), "babeltrace2, text": text(2e6, 1e6, 50.0)}
    figures = {row.what: row for row in rows("mixed", found)}
    ratios = {what: round(row.ratio, 6) for what, row in figures.items() if row.ratio is not None}
    assert ratios == {
        "mixed: vxmon print": 4.0, "mixed: vxmon print | grep -c": 6.0, "mixed: vxmon print, by the byte": 8.0,
    }  # fmt: skip
    assert {row.ratio_goal for row in figures.values() if row.ratio is not None} == {GOAL}
    assert round(figures["mixed: vxmon print, by the byte"].value, 3) == round(8e8 / (1 << 20), 3)
    assert round(figures["mixed: vxmon print, start-up"].value, 6) == 1
    assert figures["mixed: babeltrace2, text, a line"].value == 50


def test_without_the_peer_there_are_figures_and_no_ratios() -> None:
    assert {row.ratio for row in rows("short", {"vxmon print": text(8e6, 6e6, 100.0)})} == {None}
