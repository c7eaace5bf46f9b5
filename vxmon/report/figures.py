# SPDX-License-Identifier: Apache-2.0
"""Figures in reports: as JSON values with the unit in the key, as text that shows a range for what it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Final

from vxmon.analysis.figures import NOT_RECORDED, Figure
from vxmon.analysis.quality import headline
from vxmon.analysis.spread import STATISTICS, Spread
from vxmon.trace.facts import CAUSES, Facts
from vxmon.trace.span import Span
from vxmon.trace.ticks import instant_text, ticks_to_ns

__all__ = [
    "NOTHING", "envelope", "figure_json", "figure_row", "loss_json", "micros", "plain", "shown",
    "span_line", "spread_json",
]  # fmt: skip

Json = dict[str, Any]

NOTHING: Final = "-"
"""What stands for a figure that was not recorded, or of which there is no observation."""


def figure_json(figure: Figure, hz: int | None = None) -> Json:
    """A figure as a JSON object; in ns when ``hz`` is given, in its own unit else."""
    figure = figure if hz is None else _in_ns(figure, hz)
    return {"value": figure.value, "lo": figure.lo, "hi": figure.hi, "n": figure.n, "status": figure.status}


def figure_row(figure: Figure, hz: int | None = None) -> tuple[str, str, str, str, str]:
    """A figure as cells: value, lo, hi, n, status; empty where there is none."""
    figure = figure if hz is None else _in_ns(figure, hz)
    value, lo, hi = ("" if x is None else str(x) for x in (figure.value, figure.lo, figure.hi))
    return value, lo, hi, str(figure.n), figure.status


def spread_json(spread: Spread, hz: int | None) -> Json:
    """A distribution as a JSON object; keys end in ``_ns`` when ``hz`` is given."""
    unit = "" if hz is None else "_ns"
    value: Json = {"count": figure_json(spread.count)}
    value |= {f"{key}{unit}": figure_json(getattr(spread, name), hz) for name, key in STATISTICS.items()}
    worst = spread.worst
    value["worst"] = None if worst is None or worst.time < 0 else {"number": worst.number, "time_ticks": worst.time}
    if spread.histogram and hz != 0:
        value[f"histogram{unit}"] = [
            [low if hz is None else ticks_to_ns(low, hz), high if hz is None else ticks_to_ns(high, hz), count]
            for low, high, count in spread.histogram
        ]
    return value


def _in_ns(figure: Figure, hz: int) -> Figure:
    """Where the session does not tell the clock's rate, there are no times."""
    return figure.mapped(lambda ticks: ticks_to_ns(ticks, hz)) if hz else Figure.none()


def loss_json(facts: Facts) -> Json:
    """The summary of what is missing that every JSON report carries."""
    streams = facts.streams
    return {
        "headline": headline(facts),
        "incomplete": facts.incomplete,
        "recorded": sum(s.recorded for s in streams),
        "delivered": facts.delivered,
        "lost": facts.lost,
        "before_attach": sum(s.before_attach for s in streams),
        "not_in_this_file": facts.cut_away,
        "causes": {cause: sum(s.lost[cause] for s in streams) for cause in CAUSES},
        "places": len(facts.losses),
    }


def envelope(schema: str, version: int, facts: Facts) -> Json:
    """What every JSON report begins with."""
    return {
        "schema": schema,
        "version": version,
        "files": [file.name for file in facts.files],
        "loss": loss_json(facts),
    }


def span_line(span: Span, facts: Facts) -> str:
    """What a report says that is about a time window only, and where that is on the clock of its instants."""
    begin, end = (None if t is None else f"{t // 10**9}.{t % 10**9:09d} s" for t in (span.begin, span.end))
    firsts = [
        instant_text(boot.first_time, boot.clock_hz)
        for boot in facts.boots
        if boot.first_time is not None and boot.clock_hz
    ]
    where = f", which is at {' and '.join(firsts)}" if firsts else ""
    return f"only from {begin or 'the begin'} to {end or 'the end'} after the first record{where}"


def shown(figure: Figure, text: Callable[[int], str]) -> str:
    """One cell: the value, or the range that holds it, or - for nothing."""
    if figure.status == NOT_RECORDED or (figure.value is None and figure.lo is None):
        return NOTHING
    mark = "~" if figure.status == "estimated" else ""
    if figure.hi is None:
        return f">= {text(figure.lo or 0)}"
    if figure.lo != figure.hi and figure.lo is not None and figure.status != "estimated":
        low, high = text(figure.lo), text(figure.hi)
        return low if low == high else f"{low}..{high}"
    return mark + text(figure.value if figure.value is not None else figure.hi)


def plain(figure: Figure) -> str:
    """A count."""
    return shown(figure, str)


def micros(figure: Figure, hz: int, *, floor: bool = False) -> str:
    """A time in microseconds with one decimal, rounded towards the bad side: down for margins, else up."""

    def text(ticks: int) -> str:
        tenths, rest = divmod(ticks * 10**7, hz)
        tenths += 0 if floor else rest > 0
        sign, tenths = ("-", -tenths) if tenths < 0 else ("", tenths)
        return f"{sign}{tenths // 10}.{tenths % 10}"

    return shown(figure, text) if hz else NOTHING
