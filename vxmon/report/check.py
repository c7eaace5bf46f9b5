# SPDX-License-Identifier: Apache-2.0
"""``vxmon check`` as text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator
from fractions import Fraction
from typing import Any, Final

from vxmon.analysis.gate.judge import GateResult, Judged, RuleResult
from vxmon.analysis.quality import headline
from vxmon.config.limits import Rule, Severity
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.figures import NOTHING, envelope, figure_json, figure_row, span_line
from vxmon.report.units import amount, figure_text, named_text
from vxmon.trace.facts import Facts
from vxmon.trace.span import EVERYTHING
from vxmon.words import counted

__all__ = [
    "SCHEMA",
    "VERSION",
    "check_blocks",
    "check_json",
    "check_rows",
    "limit_text",
    "sentences",
    "several_boots",
    "verdict_text",
]

SCHEMA: Final = "vxmon.check"
VERSION: Final = 1
"""Grows when something is renamed or removed; additions do not change it."""

# Failures of one rule that text tells one by one; JSON and CSV have all.
_SHOWN: Final = 20

Json = dict[str, Any]


def verdict_text(result: GateResult, fail_on: Severity) -> str:
    """One line: whether the session passed, and how many rules did not."""
    failed = result.failed(fail_on)
    others = [r for r in result.rules if not r.passed and r not in failed]
    warned = f", {counted(len(others), 'warning')}" if others else ""
    if failed:
        return f"FAILED: {len(failed)} of {counted(len(result.rules), 'rule')}{warned} ({result.limits.path})"
    figures = sum(len(r.judged) for r in result.rules)
    return (
        f"PASSED: {counted(len(result.rules), 'rule')} on {counted(figures, 'figure')}{warned} ({result.limits.path})"
    )


def limit_text(rule: Rule) -> str:
    """``min 10 %, max 20 %``."""
    return ", ".join(f"{side} {limit.text}" for side, limit in rule.bounds)


# ---------------------------------------------------------------- text


def check_blocks(result: GateResult, facts: Facts, fail_on: Severity) -> Iterator[Block]:
    """The report as text blocks: the loss, the verdict, the rules, and each failure in words."""
    yield Text((headline(facts),), important=facts.incomplete)
    yield Text((verdict_text(result, fail_on),), important=bool(result.failed(fail_on)))
    if result.limits.span != EVERYTHING:
        yield Text((span_line(result.limits.span, facts),))
    columns = (">line", "severity", "verdict", "rule", "limit", ">figures", ">value", ">room", "nearest to its limit")
    yield Table("", columns, [_rule_row(r, several_boots(facts)) for r in result.rules])
    lines = [line for r in result.rules for line in _failure_lines(r, several_boots(facts))]
    if lines:
        yield Text(tuple(lines))


def several_boots(facts: Facts) -> bool:
    """True when figures must tell of which boot they are."""
    return len(facts.boots) > 1


def _rule_row(result: RuleResult, boots: bool) -> tuple[str, ...]:
    rule, nearest = result.rule, result.closest
    row = (str(rule.place.line), rule.severity, result.verdict, rule.pattern.text, limit_text(rule))
    if nearest is None or nearest.room is None:
        return (*row, str(len(result.judged)), NOTHING, NOTHING, NOTHING)
    unit = nearest.figure.unit
    name = "" if nearest.figure.name == rule.pattern.text else named_text(nearest.figure, boots=boots)
    return (*row, str(len(result.judged)), figure_text(nearest.figure), amount(nearest.room, unit), name)


def _failure_lines(result: RuleResult, boots: bool) -> list[str]:
    said = sentences(result, boots=boots)
    more = [f"and {len(said) - _SHOWN} more"] if len(said) > _SHOWN else []
    head = f"{result.rule.place}: {'warning' if result.rule.severity == 'warn' else 'error'}: "
    return [head + line for line in [*said[:_SHOWN], *more]]


def sentences(result: RuleResult, *, boots: bool) -> list[str]:
    """Why a rule does not hold: one sentence for each figure, the worst first; none when it holds."""
    note = f" ({result.rule.note})" if result.rule.note else ""
    if result.verdict == "matches nothing":
        return [f"no figure has a name like {result.rule.pattern.text}; vxmon check --list shows them{note}"]
    failures = sorted(result.failures, key=lambda j: (j.room is None, j.room or Fraction(0)))
    return [_sentence(judged, result.rule, boots) + note for judged in failures]


def _sentence(judged: Judged, rule: Rule, boots: bool) -> str:
    named = judged.figure
    name = named_text(named, boots=boots)
    if judged.verdict == "not recorded":
        return f"{name} was not recorded"
    if judged.verdict == "nothing observed":
        return f"{name} has no value: there was nothing to observe"
    if judged.verdict == "no share":
        return f"{name} is no share of anything; give its limit a unit"
    if judged.verdict == "incomplete":
        end = "upper" if judged.side == "max" else "lower"
        return f"{name} is incomplete: {figure_text(named)}, and the loss leaves no {end} bound to judge"
    return f"{name} is {_measured(judged)}, {_excess(judged, rule)}{_place(judged)}"


def _measured(judged: Judged) -> str:
    """The value; of a range all of it, and the end that counts."""
    text = figure_text(judged.figure)
    if judged.value is None or not judged.figure.figure.in_doubt:
        return text
    return f"{text} (judged by {amount(judged.value, judged.figure.unit)})"


def _excess(judged: Judged, rule: Rule) -> str:
    unit, room = judged.figure.unit, judged.room or Fraction(0)
    limit = dict(rule.bounds)[judged.side]
    same = limit.dimension == "share" and unit != "millionths"
    bound = f" = {amount(judged.limit, unit)}" if same and judged.limit is not None else ""
    way = "below" if judged.side == "min" else "above"
    return f"{amount(abs(room), unit)} {way} {judged.side} {limit.text}{bound}"


def _place(judged: Judged) -> str:
    where = judged.figure.where
    # Of a count there is no worst, only where it began.
    return f"; {'' if where.startswith('first ') else 'worst: '}{where}" if where else ""


# ---------------------------------------------------------------- JSON


def check_json(result: GateResult, facts: Facts, fail_on: Severity) -> Json:
    """The report as a JSON object. Values, limits and rooms of a figure are in the unit that it names."""
    value = envelope(SCHEMA, VERSION, facts)
    span = result.limits.span
    value["limits"] = result.limits.path
    value["window"] = {"begin_ns": span.begin, "end_ns": span.end}
    value["fail_on"] = fail_on
    value["passed"] = not result.failed(fail_on)
    value["rules"] = [_rule_json(r, several_boots(facts)) for r in result.rules]
    return value


def _rule_json(result: RuleResult, boots: bool) -> Json:
    rule = result.rule
    return {
        "line": rule.place.line,
        "figure": rule.pattern.text,
        "min": None if rule.low is None else rule.low.text,
        "max": None if rule.high is None else rule.high.text,
        "severity": rule.severity,
        "note": rule.note,
        "verdict": result.verdict,
        "messages": sentences(result, boots=boots),
        "results": [_judged_json(judged) for judged in result.judged],
    }


def _judged_json(judged: Judged) -> Json:
    named = judged.figure
    return {
        "boot": named.boot,
        "figure": named.name,
        "unit": named.unit,
        **figure_json(named.figure),
        "side": judged.side,
        "limit": _number(judged.limit),
        "room": _number(judged.room),
        "verdict": judged.verdict,
        "where": named.where,
    }


def _number(value: Fraction | None) -> int | float | None:
    if value is None:
        return None
    return value.numerator if value.denominator == 1 else float(value)


# ---------------------------------------------------------------- CSV


def check_rows(result: GateResult) -> Iterator[tuple[str, ...]]:
    """CSV: a row for each figure and bound; a rule that matches nothing has one without a figure."""
    yield ("line", "rule", "severity", "rule_verdict", "boot", "figure", "unit", "value", "lo", "hi", "n", "status",
           "side", "limit", "room", "verdict", "where")  # fmt: skip
    for r in result.rules:
        head = (str(r.rule.place.line), r.rule.pattern.text, r.rule.severity, r.verdict)
        for judged in r.judged:
            yield (*head, *_judged_row(judged))
        if not r.judged:
            yield (*head, *[""] * 11, r.verdict, "")


def _judged_row(judged: Judged) -> tuple[str, ...]:
    named = judged.figure
    numbers = (named.boot, _number(judged.limit), _number(judged.room))
    boot, limit, room = ("" if number is None else str(number) for number in numbers)
    bounds = (judged.side, limit, room)
    return (boot, named.name, named.unit, *figure_row(named.figure), *bounds, judged.verdict, named.where)
