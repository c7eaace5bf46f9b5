# SPDX-License-Identifier: Apache-2.0
"""Figures under the names by which limits and other programs refer to them: ``partition.NAV.margin.min``.

Each analysis offers ``named_figures(result, facts)``. A name is made of parts with dots between them: what it is about,
its name in the session, the quantity and the statistic. A part that itself holds a dot is written as it is.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from vxmon.analysis.figures import Figure

__all__ = ["NamedFigure", "Unit"]

Unit = Literal["ns", "bytes", "count", "millionths", "bytes_per_s", "per_s_thousandths"]
"""Units of figures, which are integers: shares in millionths, rates of bytes and thousandths of a rate per second."""


@dataclass(frozen=True, slots=True)
class NamedFigure:
    """One figure of one analysis.

    Attributes:
        name: ``partition.NAV.margin.min``; no two figures of one boot share it. Where things share a name, all but the
            first have their number behind it: ``task.NAV.worker#12.execution.max``.
        figure: value and range in ``unit``; not recorded when the session cannot tell.
        whole: what 100 % of it are, in ``unit``, so that a limit may be a share; None where shares make no sense.
        where: where the worst case is, in words: window, frame and time; empty when there is no such place.
        high_is_bad: whether limits are as a rule upper ones; this chooses the side of the slack in a new limits file.
        boot: number of the boot in the session; None for what concerns all of it.
        parts: where this figure stands for several things of which each has a whole of its own, their figures. A limit
            that is a share is for each of them.

    """

    name: str
    figure: Figure
    unit: Unit
    whole: int | None = None
    where: str = ""
    high_is_bad: bool = True
    boot: int | None = None
    parts: tuple[NamedFigure, ...] = ()
