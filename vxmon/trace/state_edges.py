# SPDX-License-Identifier: Apache-2.0
"""Where knowledge of a stream begins, is interrupted and ends: runs, losses, and what block heads say there."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.facts import Boot, Facts

__all__ = ["Gap", "Head", "StreamEdges", "boot_edges"]

_TAIL: Final = np.iinfo(np.int64).max


@dataclass(frozen=True, slots=True)
class Head:
    """Who ran just before a block's first record."""

    partition: int
    window: int
    task: int
    depth: int


@dataclass(frozen=True, slots=True)
class Gap:
    """A loss of a stream: from ``start`` to ``end`` nothing is known; ``head`` is the state at ``end``.

    ``head`` is None where the stream ends with the loss.
    """

    start: int
    end: int
    records: int
    head: Head | None


@dataclass(slots=True)
class StreamEdges:
    """Edges of a stream of a boot.

    ``begins`` are, in order of time, (time, end of the run before or None, state, loss before it or None) of each
    run; ``gaps`` are the losses inside and behind runs by their number.
    """

    begins: list[tuple[int, int | None, Head | None, Gap | None]] = field(default_factory=list)
    gaps: dict[int, Gap] = field(default_factory=dict)
    last_time: int = 0


def boot_edges(boot: Boot, facts: Facts, index: NDArray[np.void]) -> dict[int, StreamEdges]:
    """The edges of each stream of a boot; ``index`` is what will be read of it."""
    rows = index[index["boot"] == boot.number]
    edges: dict[int, StreamEdges] = {}
    for stream in np.unique(rows["stream"]).tolist():
        edges[stream] = _stream_edges(rows[rows["stream"] == stream], facts)
    return edges


def _stream_edges(rows: NDArray[np.void], facts: Facts) -> StreamEdges:
    rows = rows[np.lexsort((rows["sequence"], rows["run"]))]
    cuts = [0, *(np.flatnonzero(np.diff(rows["run"].astype(np.int64))) + 1).tolist(), len(rows)]
    edges = StreamEdges()
    before: int | None = None
    for begin, end in pairwise(cuts):
        before = _run_edges(edges, rows[begin:end], before, facts)
    edges.last_time = before or 0
    edges.begins.sort(key=lambda b: b[0])
    return edges


def _run_edges(edges: StreamEdges, rows: NDArray[np.void], before: int | None, facts: Facts) -> int:
    """Add a run's edges; returns when it ends."""
    first = rows[0]
    marked = rows[rows["room"] > 0]
    for row in marked:
        number = int(row["room"]) - 1
        edges.gaps[number] = _gap(row, facts.losses[number])
    head_gap = edges.gaps.pop(int(first["room"]) - 1, None)
    time = int(first["first_time"])
    if first["sequence"] == _TAIL and head_gap is not None:
        edges.begins.append((head_gap.start, before, None, head_gap))
        return head_gap.end
    edges.begins.append((time, before, _head(first), head_gap))
    return int(rows["last_time"].max())


def _gap(row: np.void, loss: np.void) -> Gap:
    end = int(row["first_time"])
    start = int(loss["start"])
    start = min(start, end) if start >= 0 else end
    tail = row["sequence"] == _TAIL
    return Gap(start, end, int(loss["records"]), None if tail else _head(row))


def _head(row: np.void) -> Head:
    return Head(int(row["partition"]), int(row["window"]), int(row["task"]), int(row["depth"]))
