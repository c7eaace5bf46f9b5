# SPDX-License-Identifier: Apache-2.0
"""Growth of a heap, and what must be shown before it is called a leak.

``leak?`` is said only when all of this holds of the longest stretch without a restart:

1. enough frames: at least 32 with a value;
2. the whole 95 % interval of the growth is above 0 (see growth.py);
3. the lowest use of each quarter of the stretch is above that of the quarter before: nothing was given back;
4. so is the highest use, so that the high-water rises;
5. more blocks are allocated than freed between the first and the last sample.

Use that swings without growing keeps 3 from holding, use that grows while it warms up and then stays likewise.
``growing`` means that 2 holds and not all of the rest, ``in doubt`` that it would perhaps, had nothing been lost.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator
from typing import Final

from vxmon.analysis.figures import ESTIMATED, Figure
from vxmon.analysis.memory.growth import Slope, theil_sen
from vxmon.analysis.memory.heaps import HeapBook, slices_of
from vxmon.analysis.memory.lost import Lost
from vxmon.analysis.memory.result import Evidence, Growth, Slice, Verdict

__all__ = ["LEAST_FRAMES", "judge_growth", "no_growth_known"]

LEAST_FRAMES: Final = 32
_QUARTERS: Final = 4


def no_growth_known(verdict: Verdict = "not recorded") -> Growth:
    """Nothing to judge by."""
    return Growth(Figure.none(), Figure.none(), 0, 0, 0, verdict)


def judge_growth(book: HeapBook, lost: Lost, frame_ticks: int | None, unit: int, hz: int, more: Figure) -> Growth:
    """Growth of one heap.

    Args:
        book: the finished book.
        lost: what is missing.
        frame_ticks: length of a major frame, None: the series counts stretches of ``unit`` ticks instead.
        unit: ticks of one step of the series.
        hz: of the target's clock, 0 where it is not known.
        more: by how many the blocks in use have grown.

    """
    series = book.best
    doubtful, missing = series.doubtful(lost.first, lost.last)
    slope = theil_sen(series.points(doubtful, missing))
    frames = series.frames
    first, last = (0, 0) if not frames else (int(series.bins.number[0]) << series.shift, int(series.bins.at[-1]))
    if slope is None:
        return no_growth_known("too short")
    if lost and (book.restarts or book.restartable):
        # The stretch may be another one, and a restart inside a loss is not seen.
        slope = Slope(slope.value, None, None, slope.n)
    evidence = tuple(_evidence(book, slope, frames, more, "a frame" if frame_ticks else "in 10 ms"))
    per_second = _scaled(slope, hz / unit) if hz else Figure.none()
    return Growth(
        per_1000_frames=_scaled(slope, 1000) if frame_ticks else Figure.none(),
        per_second=per_second,
        frames=frames,
        first=first,
        last=last,
        verdict=_verdict(evidence, slope, lossy=bool(missing or doubtful.any())),
        evidence=evidence,
        full_in_s=_full_in(book, slope, per_second),
    )


def _scaled(slope: Slope, factor: float) -> Figure:
    """The slope in whole numbers of a finer unit; bounds are rounded outwards."""
    lo, hi = (None if bound is None else bound * factor for bound in (slope.lo, slope.hi))
    return Figure(
        value=round(slope.value * factor),
        lo=None if lo is None else math.floor(lo),
        hi=None if hi is None else math.ceil(hi),
        n=slope.n,
        status=ESTIMATED,
    )


def _evidence(book: HeapBook, slope: Slope, frames: int, more: Figure, step: str) -> Iterator[Evidence]:
    yield Evidence("frames", frames >= LEAST_FRAMES, f"{frames} frames with a value, {LEAST_FRAMES} are needed")
    bounds = " to ".join("no bound" if bound is None else f"{bound:.3f}" for bound in (slope.lo, slope.hi))
    text = f"95 % interval of the growth: {bounds} B {step}; all of it must be above 0"
    yield Evidence("interval", slope.lo is not None and slope.lo > 0, text)
    quarters = slices_of(book.best.bins, book.best.shift, _QUARTERS)
    lows, highs = [q.low for q in quarters], [q.high for q in quarters]
    yield Evidence("lowest_rises", _rises(quarters, lows), f"lowest use of each quarter: {_listed(lows)} B")
    yield Evidence("highest_rises", _rises(quarters, highs), f"highest use of each quarter: {_listed(highs)} B")
    if more.lo is None or more.value is None:
        yield Evidence("blocks", None, "how many blocks are in use was not recorded twice")
    else:
        yield Evidence("blocks", more.lo > 0, f"{more.value:+,} blocks in use between the first and the last sample")


def _rises(quarters: tuple[Slice, ...], values: list[int]) -> bool:
    return len(quarters) == _QUARTERS and all(a < b for a, b in itertools.pairwise(values))


def _listed(values: list[int]) -> str:
    return ", ".join(f"{value:,}" for value in values)


def _verdict(evidence: tuple[Evidence, ...], slope: Slope, *, lossy: bool) -> Verdict:
    held = {e.name: e.holds for e in evidence}
    if not held["frames"]:
        return "too short"
    if held["interval"]:
        return "leak?" if all(held.values()) else "growing"
    return "in doubt" if lossy and (slope.hi is None or slope.hi > 0) else "no growth"


def _full_in(book: HeapBook, slope: Slope, per_second: Figure) -> int | None:
    if slope.lo is None or slope.lo <= 0 or not per_second.value or book.last is None or book.sizes is None:
        return None
    return (book.sizes[1] - book.last[1]) // per_second.value
