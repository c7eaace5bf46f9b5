# SPDX-License-Identifier: Apache-2.0
"""Where knowledge of a stream begins, is interrupted and ends: runs, losses, and what block heads say there."""

from __future__ import annotations

from dataclasses import dataclass, field
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.batches import present
from vxmon.trace.facts import Boot, Facts, Run
from vxmon.wire.events import EventId
from vxmon.wire.types import NOT_KNOWN

__all__ = ["UNKNOWN", "Begin", "Gap", "Head", "StreamEdges", "boot_edges"]

UNKNOWN: Final = -1
"""Value of a level about which nothing is known: records are missing, or its event was not recorded."""

_TAIL: Final = np.iinfo(np.int64).max
_EVENTS: Final = {"partition": EventId.PARTITION_SWITCH, "window": EventId.WINDOW, "task": EventId.TASK_SWITCH}


@dataclass(frozen=True, slots=True)
class Head:
    """Who ran just before a block's first record; UNKNOWN where the run did not record it."""

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


@dataclass(frozen=True, slots=True)
class Begin:
    """The begin of a run in this session: its first block, the end of the run before, the loss in front of it.

    ``unrecorded`` are the levels whose switches the run does not record.
    """

    time: int
    before: int | None
    head: Head | None
    gap: Gap | None
    unrecorded: frozenset[str]


@dataclass(slots=True)
class StreamEdges:
    """Edges of a stream of a boot: runs in order of time, and losses inside and behind runs by their number."""

    begins: list[Begin] = field(default_factory=list)
    gaps: dict[int, Gap] = field(default_factory=dict)
    last_time: int = 0

    def unrecorded(self, time: int) -> frozenset[str]:
        """Levels that the run of that instant does not record."""
        begun = [begin for begin in self.begins if begin.time <= time]
        return begun[-1].unrecorded if begun else frozenset()


def boot_edges(boot: Boot, facts: Facts, index: NDArray[np.void]) -> dict[int, StreamEdges]:
    """The edges of each stream of a boot; ``index`` is what will be read of it."""
    begin, end = np.searchsorted(index["boot"], [boot.number, boot.number + 1]).tolist()
    rows = index[begin:end]
    stream_of = rows["stream"].copy()
    return {
        stream: _stream_edges(rows, np.flatnonzero(stream_of == stream), boot, facts) for stream in present(stream_of)
    }


def _stream_edges(rows: NDArray[np.void], own: NDArray[np.intp], boot: Boot, facts: Facts) -> StreamEdges:
    """``own`` says which of the rows are the stream's; large sessions have so many that they are not copied."""
    own = own[np.lexsort((rows["sequence"][own], rows["run"][own]))]
    run, room = rows["run"][own].astype(np.int64), rows["room"][own]
    cuts = [0, *(np.flatnonzero((np.diff(run) != 0) | _holes(rows, own, room, facts)) + 1).tolist(), len(own)]
    edges = StreamEdges()
    before: int | None = None
    for begin, end in pairwise(cuts):
        if begin and run[begin] == run[begin - 1] and before is not None:
            # The last record before blocks that are not read has an instant of its own.
            before = min(before + 1, int(rows["first_time"][own[begin]]))
        lost = rows[own[begin:end][room[begin:end] > 0]]
        last_time = int(rows["last_time"][own[begin:end]].max())
        before = _run_edges(edges, rows[own[begin]], lost, last_time, before, boot, facts)
    edges.last_time = before or 0
    edges.begins.sort(key=lambda b: b.time)
    return edges


def _holes(rows: NDArray[np.void], own: NDArray[np.intp], room: NDArray[np.uint32], facts: Facts) -> NDArray[np.bool_]:
    """Between which rows there are blocks that will not be read: what follows begins with its block's head."""
    first, count = rows["first_index"][own], rows["count"][own]
    follows = first[1:].copy()
    lost = np.flatnonzero(room[1:])
    follows[lost] = facts.losses["first_index"][room[1:][lost].astype(np.int64) - 1]
    holes: NDArray[np.bool_] = first[:-1] + count[:-1] != follows
    return holes


def _run_edges(
    edges: StreamEdges, first: np.void, lost: NDArray[np.void], last_time: int, before: int | None, boot: Boot,
    facts: Facts,
) -> int:  # fmt: skip
    """Add the edges of a run, or of a part of it that is read; returns when it ends.

    ``first`` is its first block, ``lost`` are those with a loss before them.
    """
    unrecorded = _unrecorded(boot.runs.get(int(first["run"])))
    for row in lost:
        number = int(row["room"]) - 1
        edges.gaps[number] = _gap(row, facts.losses[number], unrecorded)
    head_gap = edges.gaps.pop(int(first["room"]) - 1, None)
    if first["sequence"] == _TAIL and head_gap is not None:
        edges.begins.append(Begin(head_gap.start, before, None, head_gap, unrecorded))
        return head_gap.end
    edges.begins.append(Begin(int(first["first_time"]), before, _head(first, unrecorded), head_gap, unrecorded))
    return last_time


def _unrecorded(run: Run | None) -> frozenset[str]:
    """Levels that a run is known not to record; it is not known when the session does not hold its start."""
    events = run.config.events if run is not None and run.config is not None else frozenset()
    return frozenset(name for name, event in _EVENTS.items() if events and event not in events)


def _gap(row: np.void, loss: np.void, unrecorded: frozenset[str]) -> Gap:
    end = int(row["first_time"])
    start = int(loss["start"])
    start = min(start, end) if start >= 0 else end
    tail = row["sequence"] == _TAIL
    return Gap(start, end, int(loss["records"]), None if tail else _head(row, unrecorded))


def _head(row: np.void, unrecorded: frozenset[str]) -> Head:
    """A task of 65535 is nobody; a partition or window of 65535 is not known."""
    partition, window, task = (int(row[name]) for name in ("partition", "window", "task"))
    return Head(
        partition=UNKNOWN if partition == NOT_KNOWN or "partition" in unrecorded else partition,
        window=UNKNOWN if window == NOT_KNOWN or "window" in unrecorded else window,
        task=UNKNOWN if "task" in unrecorded else task,
        depth=int(row["depth"]),
    )
