# SPDX-License-Identifier: Apache-2.0
"""Rules against figures. Of a range the bad end counts: the upper one for a max, the lower one for a min."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from typing import Final, Literal

from vxmon.analysis.figures import NOT_RECORDED, Figure
from vxmon.analysis.gate.gather import is_selected
from vxmon.analysis.named import NamedFigure, Unit
from vxmon.config.limits import Dimension, Limit, Limits, Rule, Severity, Side
from vxmon.errors import InputError

__all__ = ["GateResult", "Judged", "RuleResult", "Verdict", "judge"]

Verdict = Literal["passed", "failed", "incomplete", "not recorded", "nothing observed", "no share", "matches nothing"]
"""Of one figure: passed; past its limit; without a bound at its bad end; its events were not recorded; there was no
observation in a session that recorded them; it is no share of anything, as the response of a process without time
capacity. Of a rule also that no figure has such a name."""

# By unit of figures: the dimension of a limit that fits, and how many of the figure's units are one of the limit's.
_FITS: Final[dict[Unit, tuple[Dimension, int, str]]] = {
    "ns": ("time", 1, '"400 us"'),
    "bytes": ("size", 1, '"4 KiB" or "100 bytes"'),
    "count": ("count", 1, "3"),
    "millionths": ("share", 10**6, '"10 %"'),
    "bytes_per_s": ("size_rate", 1, '"16 bytes/s"'),
    "per_s_thousandths": ("rate", 1000, '"2 /s"'),
}


@dataclass(frozen=True, slots=True)
class Judged:
    """One figure against one bound of a rule, in the figure's unit.

    ``limit`` is the bound, ``value`` the end of the figure that was held against it, ``room`` how far that is on the
    good side; below zero it fails by so much.
    """

    figure: NamedFigure
    side: Side
    limit: Fraction | None
    verdict: Verdict
    value: int | None = None
    room: Fraction | None = None


@dataclass(frozen=True, slots=True)
class RuleResult:
    """A rule, and every figure that it means, in the order of the analyses."""

    rule: Rule
    verdict: Verdict
    judged: tuple[Judged, ...]

    @property
    def passed(self) -> bool:
        """True when it holds."""
        return self.verdict == "passed"

    @property
    def failures(self) -> list[Judged]:
        """What did not pass, and made the rule fail."""
        if self.passed:
            return []
        real = [judged for judged in self.judged if judged.verdict in ("failed", "incomplete", "not recorded")]
        return real or [judged for judged in self.judged if judged.verdict != "passed"]

    @property
    def closest(self) -> Judged | None:
        """The judgement with the least room, as a share of the limit; of those that fail the worst."""
        judged = [j for j in self.judged if j.room is not None]
        return min(judged, key=_nearness, default=None)


@dataclass(frozen=True, slots=True)
class GateResult:
    """All rules of a file against a session."""

    limits: Limits
    rules: tuple[RuleResult, ...]

    def failed(self, fail_on: Severity) -> list[RuleResult]:
        """The rules that do not hold, of the severity asked for or above."""
        severities = ("warn", "error") if fail_on == "warn" else ("error",)
        return [result for result in self.rules if not result.passed and result.rule.severity in severities]


def judge(limits: Limits, figures: Sequence[NamedFigure]) -> GateResult:
    """Hold figures against limits.

    Raises:
        InputError: a limit has a unit that does not fit a figure that its rule means.

    """
    return GateResult(limits, tuple(_judge_rule(rule, figures) for rule in limits.rules))


def _judge_rule(rule: Rule, figures: Sequence[NamedFigure]) -> RuleResult:
    # A name with a star in it means itself.
    itself = [figure for figure in figures if figure.name == rule.pattern.text and "*" in figure.name]
    meant = itself or [figure for figure in figures if is_selected(rule.pattern, figure)]
    judged = tuple(j for figure in meant for j in _judge_figure(rule, figure))
    return RuleResult(rule, _verdict(judged), judged)


def _verdict(judged: Sequence[Judged]) -> Verdict:
    """The worst verdict."""
    verdicts = {j.verdict for j in judged}
    for verdict in _WORST_FIRST:
        if verdict in verdicts:
            return verdict
    return "matches nothing"


# The last ones do not count beside a figure that could be judged.
_WORST_FIRST: Final[tuple[Verdict, ...]] = (
    "failed", "incomplete", "not recorded", "passed", "nothing observed", "no share",
)  # fmt: skip


def _judge_figure(rule: Rule, figure: NamedFigure) -> Iterator[Judged]:
    for side, limit in rule.bounds:
        parts = figure.parts if limit.dimension == "share" and figure.unit != "millionths" else ()
        for part in parts or (figure,):
            yield _judge_end(part, side, _bound(rule, side, limit, part))


def _bound(rule: Rule, side: Side, limit: Limit, figure: NamedFigure) -> Fraction | None:
    """A limit in the unit of a figure, None for a share of nothing; raises InputError where the unit does not fit."""
    dimension, factor, example = _FITS[figure.unit]
    if limit.dimension == dimension:
        return limit.value * factor
    if limit.dimension == "count" and not limit.value:
        return limit.value
    if limit.dimension == "share" and figure.unit in ("ns", "bytes", "count"):
        return None if figure.whole is None else limit.value * figure.whole
    also = ' or "10 %"' if figure.whole is not None else ""
    raise InputError(
        f"{rule.places[side]}: rule.{side} is {limit.text!r}, which does not fit {figure.name}; "
        f"write for example {example}{also}"
    )


def _judge_end(named: NamedFigure, side: Side, limit: Fraction | None) -> Judged:
    figure = named.figure
    if figure.status == NOT_RECORDED:
        return Judged(named, side, limit, "not recorded")
    if _is_nothing(figure):
        return Judged(named, side, limit, "nothing observed")
    if limit is None:
        return Judged(named, side, limit, "no share")
    value = figure.hi if side == "max" else figure.lo
    if value is None:
        return Judged(named, side, limit, "incomplete")
    room = limit - value if side == "max" else value - limit
    return Judged(named, side, limit, "failed" if room < 0 else "passed", value, room)


def _is_nothing(figure: Figure) -> bool:
    return figure.value is None and figure.lo is None and figure.hi is None


def _nearness(judged: Judged) -> Fraction:
    room = judged.room or Fraction(0)
    return room / abs(judged.limit) if judged.limit else room
