# SPDX-License-Identifier: Apache-2.0
"""A session with losses passes no rule that the complete session fails, whatever the figure."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.scheduling import random_session
from vxmon.analysis.gate.gather import GateRequest, gather
from vxmon.analysis.gate.judge import RuleResult, judge
from vxmon.analysis.named import NamedFigure, Unit
from vxmon.config.limits import Dimension, Limit, Limits, Pattern, Rule
from vxmon.config.place import Place
from vxmon.trace import StoredTrace, open_trace

PATTERNS = (Pattern("partition.*"), Pattern("quality.*"))
DIMENSIONS: dict[Unit, Dimension] = {"ns": "time", "count": "count", "bytes": "size"}


def figures(path: str) -> dict[str, NamedFigure]:
    with open_trace([path]) as trace:
        assert isinstance(trace, StoredTrace)
        return {figure.name: figure for figure in gather(trace, PATTERNS, GateRequest())}


def strictest(figure: NamedFigure) -> Rule | None:
    """A rule that the figure just holds: anything worse fails it."""
    value = figure.figure.value
    if value is None or figure.unit not in DIMENSIONS:
        return None
    limit = Limit(Fraction(value), DIMENSIONS[figure.unit], str(value))
    low, high = (None, limit) if figure.high_is_bad else (limit, None)
    return Rule(Pattern(figure.name), low, high, "error", "", Place("limits.toml"), {})


@pytest.mark.parametrize("seed", range(6))
def test_what_a_lossy_session_passes_is_true(seed: int, tmp_path: Path) -> None:
    rng = random.Random(seed)
    session = random_session(seed)
    truth = figures(session.write(tmp_path / "whole.pcapng"))
    blocks = len(session.blocks())
    drop = rng.sample(range(blocks), rng.randrange(1, max(blocks // 2, 2)))
    found = list(figures(session.write(tmp_path / "lossy.pcapng", drop)).values())
    of_target = [figure for name, figure in truth.items() if not name.startswith("quality.")]
    rules = [rule for rule in map(strictest, of_target) if rule is not None]
    assert len(rules) > 50
    for result in judge(Limits("limits.toml", tuple(rules)), list(truth.values())).rules:
        assert result.passed, result.rule.pattern
    harder = [harder_than(rule) for rule in rules]
    for result in judge(Limits("limits.toml", tuple(harder)), found).rules:
        assert not result.passed, explained(result)


def harder_than(rule: Rule) -> Rule:
    """A rule that the truth fails by one."""
    low, high = (
        None if b is None else Limit(b.value + d, b.dimension, "") for b, d in ((rule.low, 1), (rule.high, -1))
    )
    return Rule(rule.pattern, low, high, rule.severity, "", rule.place, {})


def explained(result: RuleResult) -> str:
    return "; ".join(f"{j.figure.name} {j.figure.figure} against {j.side} {j.limit}" for j in result.judged)
