# SPDX-License-Identifier: Apache-2.0
"""All figures of the distribution of one quantity."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from vxmon.analysis.figures import Extreme, Figure, Range

__all__ = ["STATISTICS", "Spread", "spread_of"]

STATISTICS: Final[Mapping[str, str]] = {
    "total": "total", "least": "min", "mean": "mean", "p1": "p1", "p95": "p95", "p99": "p99", "most": "max",
}  # fmt: skip
"""Figures of a distribution, and what reports call them."""


@dataclass(frozen=True, slots=True)
class Spread:
    """The distribution of one quantity over its observations. ``worst`` is the observation at the bad end."""

    count: Figure
    total: Figure
    least: Figure
    mean: Figure
    p1: Figure
    p95: Figure
    p99: Figure
    most: Figure
    worst: Extreme | None
    histogram: list[tuple[int, int, int]] = field(default_factory=list)

    @staticmethod
    def none() -> Spread:
        """Not recorded."""
        none = Figure.none()
        return Spread(none, none, none, none, none, none, none, none, None)


def spread_of(values: Range, *, high_is_bad: bool = True, histogram: bool = False) -> Spread:
    """All figures of a range of values."""
    return Spread(
        count=values.count(),
        total=values.total(),
        least=values.least(),
        mean=values.mean(),
        p1=values.percentile(10, high_is_bad=high_is_bad),
        p95=values.percentile(950, high_is_bad=high_is_bad),
        p99=values.percentile(990, high_is_bad=high_is_bad),
        most=values.most(),
        worst=values.worst(high_is_bad=high_is_bad),
        histogram=values.sure.histogram() if histogram else [],
    )
