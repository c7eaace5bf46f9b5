# SPDX-License-Identifier: Apache-2.0
"""Limits from a session that is known to be good: what was measured, and some slack."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Final

from vxmon.analysis.figures import NOT_RECORDED
from vxmon.analysis.named import NamedFigure
from vxmon.config.limits import Pattern, Side

__all__ = ["DEFAULT_SLACK", "PROPOSED", "Proposal", "propose"]

DEFAULT_SLACK: Final = 20
"""Percent."""
_STEP_NS: Final = 100

_PROPOSED: Final = """
partition.*.margin.min task.*.execution.max task.*.response.max task.*.deadline_misses
hm.count edr.FATAL.count exception.count memory.*.growth comm.*.overflow.count comm.*.latency.max
quality.lost quality.unknown_events quality.corrupt_blocks
"""
PROPOSED: Final = tuple(map(Pattern, _PROPOSED.split()))
"""The figures that a new file of limits is about, where the user does not say."""


@dataclass(frozen=True, slots=True)
class Proposal:
    """A bound for the figures of a name, in their unit. Without one ``why_not`` says why there is none."""

    figure: NamedFigure
    side: Side
    bound: int | None
    why_not: str = ""


def propose(figures: Iterable[NamedFigure], slack: int = DEFAULT_SLACK) -> Iterator[Proposal]:
    """A bound for each name: of several boots the worst counts, of a range the bad end.

    Args:
        figures: those to limit.
        slack: percent of the value by which a session may be worse.

    """
    by_name: dict[str, list[NamedFigure]] = {}
    for figure in figures:
        by_name.setdefault(figure.name, []).append(figure)
    for same in by_name.values():
        yield _propose(same, slack)


def _propose(same: list[NamedFigure], slack: int) -> Proposal:
    first = same[0]
    side: Side = "max" if first.high_is_bad else "min"
    seen = [f.figure for f in same if f.figure.status != NOT_RECORDED]
    seen = [f for f in seen if (f.value, f.lo, f.hi) != (None, None, None)]
    if not seen:
        unrecorded = any(f.figure.status == NOT_RECORDED for f in same)
        return Proposal(first, side, None, "not recorded" if unrecorded else "nothing was observed")
    ends = [f.hi if first.high_is_bad else f.lo for f in seen]
    known = [end for end in ends if end is not None]
    if len(known) < len(ends):
        return Proposal(first, side, None, "incomplete, as records are lost")
    worst = max(known) if first.high_is_bad else min(known)
    step = _STEP_NS if first.unit == "ns" else 1
    bound = _with_slack(worst, Fraction(slack if first.high_is_bad else -slack, 100), step, up=first.high_is_bad)
    if not first.high_is_bad and bound <= 0:
        return Proposal(first, side, None, "nothing is left of it, so there is no margin to keep")
    return Proposal(first, side, bound)


def _with_slack(worst: int, slack: Fraction, step: int, *, up: bool) -> int:
    """The value made worse, and rounded away from it to whole steps."""
    moved = (worst + abs(worst) * slack) / step
    return step * (-(-moved.numerator // moved.denominator) if up else moved.numerator // moved.denominator)
