# SPDX-License-Identifier: Apache-2.0
"""The figures that rules can name, as text, JSON and CSV; and a file of limits made from them."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Sequence
from typing import Any, Final

from vxmon.analysis.gate.gather import GateRequest
from vxmon.analysis.gate.propose import Proposal
from vxmon.analysis.named import NamedFigure
from vxmon.analysis.quality import headline
from vxmon.config.limits import FORMAT
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.check import several_boots
from vxmon.report.digits import safe_text
from vxmon.report.figures import NOTHING, envelope, figure_json, figure_row, span_line
from vxmon.report.units import amount, figure_text, named_text
from vxmon.trace.facts import Facts
from vxmon.trace.span import EVERYTHING
from vxmon.words import counted

__all__ = ["SCHEMA", "VERSION", "figures_blocks", "figures_json", "figures_rows", "limits_file"]

SCHEMA: Final = "vxmon.check.figures"
VERSION: Final = 1
"""Grows when something is renamed or removed; additions do not change it."""

Json = dict[str, Any]


def figures_blocks(figures: Sequence[NamedFigure], facts: Facts, request: GateRequest) -> Iterator[Block]:
    """The figures as a table."""
    yield Text((headline(facts),), important=facts.incomplete)
    if request.span != EVERYTHING:
        yield Text((span_line(request.span, facts),))
    boots = several_boots(facts)
    rows = [(named_text(f, boots=boots), figure_text(f), _whole(f), _status(f), f.where or NOTHING) for f in figures]
    yield Table("", ("figure", ">value", ">100 %", "status", "worst"), rows)


def _whole(figure: NamedFigure) -> str:
    """What a limit in percent is a share of."""
    if figure.parts:
        return "each window"
    return NOTHING if figure.whole is None else amount(figure.whole, figure.unit)


def _status(named: NamedFigure) -> str:
    figure = named.figure
    if figure.status != "measured":
        return figure.status.replace("_", " ")
    return "nothing observed" if figure.value is None and figure.lo is None and figure.hi is None else "measured"


def figures_json(figures: Sequence[NamedFigure], facts: Facts, request: GateRequest) -> Json:
    """The figures as a JSON object; each in the unit that it names."""
    value = envelope(SCHEMA, VERSION, facts)
    value["window"] = {"begin_ns": request.span.begin, "end_ns": request.span.end}
    value["figures"] = [
        {
            "boot": f.boot, "figure": f.name, "unit": f.unit, **figure_json(f.figure), "whole": f.whole,
            "where": f.where, "high_is_bad": f.high_is_bad,
        }
        for f in figures
    ]  # fmt: skip
    return value


def figures_rows(figures: Iterable[NamedFigure]) -> Iterator[tuple[str, ...]]:
    """CSV: a figure a row."""
    yield "boot", "figure", "unit", "value", "lo", "hi", "n", "status", "whole", "where"
    for f in figures:
        boot, whole = ("" if number is None else str(number) for number in (f.boot, f.whole))
        yield boot, f.name, f.unit, *figure_row(f.figure), whole, f.where


# ---------------------------------------------------------------- a file of limits


def limits_file(proposals: Iterable[Proposal], facts: Facts, request: GateRequest, slack: int) -> str:
    """A file of limits, with a comment for each figure that has none."""
    names = safe_text(", ".join(file.name for file in facts.files)).decode()
    lines = [
        "# Limits for `vxmon check FILE --limits THIS`, made by `vxmon check --init` from:",
        f"#   {names}",
        f"#   {headline(facts)}",
        f"# A session may be {slack} % worse than that one. Read every limit before you rely on it.",
        f"format = {FORMAT}",
    ]
    if request.background:
        lines.append(f"background = {json.dumps(list(request.background), ensure_ascii=False)}")
    if request.span != EVERYTHING:
        lines.append(f'window = "{_seconds(request.span.begin)}..{_seconds(request.span.end)}"')
    without = []
    for proposal in proposals:
        if proposal.bound is None:
            without.append(f"#   {proposal.figure.name}: {proposal.why_not}")
        else:
            lines += _rule(proposal, proposal.bound)
    if without:
        lines += ["", f"# No limit for {counted(len(without), 'figure')}:", *without]
    return "\n".join(lines) + "\n"


def _seconds(ns: int | None) -> str:
    return "" if ns is None else f"{ns // 10**9}.{ns % 10**9:09d}s"


def _rule(proposal: Proposal, bound: int) -> list[str]:
    figure = proposal.figure
    limit = str(bound) if figure.unit == "count" else json.dumps(amount(bound, figure.unit))
    name = json.dumps(figure.name, ensure_ascii=False)
    return ["", "[[rule]]", f"figure = {name}", f"{proposal.side} = {limit}  # here {figure_text(figure)}"]
