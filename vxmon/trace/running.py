# SPDX-License-Identifier: Apache-2.0
"""Which partition and task ran when each record was made, as columns beside a chunk's records.

A record belongs to the state from its own instant on: a switch is of the one that it switches to. STOP is of the one
that ran until then. Across a loss, and before anything was told, it is UNKNOWN.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Chunk
from vxmon.trace.facts import Facts
from vxmon.trace.names import LOSS_ID
from vxmon.trace.state import NOBODY, UNKNOWN, Segments, States
from vxmon.trace.state_edges import Begin, Gap, Head, StreamEdges
from vxmon.wire.bulk import BLOCK_ROW

__all__ = ["LiveStates", "Running", "running"]

_NOTHING_KNOWN: Final = Head(UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN)

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Running:
    """One element a record: indices of the partition and task that ran, NOBODY or UNKNOWN."""

    partition: Ints
    task: Ints


def running(states: States, chunk: Chunk) -> Running:
    """Feed a chunk to ``states`` and say of each of its records who ran."""
    columns = chunk.columns
    result = Running(np.full(len(columns), UNKNOWN, np.int64), np.full(len(columns), UNKNOWN, np.int64))
    if not len(columns):
        return result
    parts = [part for part in states.feed(chunk) if part.boot is chunk.boot]
    parts += [part for part in states.open_segments(int(columns.time[-1]) + 1) if part.boot is chunk.boot]
    for stream in {part.stream for part in parts}:
        segments = Segments.join([part for part in parts if part.stream == stream])
        which = np.flatnonzero(columns.stream == stream)
        at, inside = _segment_of(segments, columns.time[which])
        result.partition[which] = np.where(inside, segments.partition[at], NOBODY)
        result.task[which] = np.where(inside, segments.task[at], NOBODY)
    return result


def _segment_of(segments: Segments, times: Ints) -> tuple[NDArray[np.intp], NDArray[np.bool_]]:
    """The segment of each instant, the one before where it is the end of the last; and whether there is one."""
    at = np.maximum(np.searchsorted(segments.start, times, side="right") - 1, 0)
    # The last record before a loss: from its instant on nothing is known, but it was made before.
    unknown = (segments.partition == UNKNOWN) & (segments.task == UNKNOWN)
    unknown[1:] &= segments.start[1:] == segments.end[:-1]
    unknown[0] = False
    at -= unknown[at] & (times == segments.start[at])
    inside = (times >= segments.start[at]) & (times <= segments.end[at])
    return at, inside


class LiveStates(States):
    """States of a trace that is read as it comes: without block heads, so a loss leaves them unknown until a switch."""

    def __init__(self, facts: Facts) -> None:
        super().__init__(facts, np.zeros(0, BLOCK_ROW))

    def feed(self, chunk: Chunk) -> list[Segments]:
        """See :meth:`States.feed`."""
        done: list[Segments] = []
        if self._boot is not chunk.boot:
            done = self.finish()
            self._enter(chunk.boot)
        columns = chunk.columns
        for stream in np.unique(columns.stream).tolist():
            self.note_edges(stream, self._edges(chunk, stream))
        return done + super().feed(chunk)

    @staticmethod
    def _edges(chunk: Chunk, stream: int) -> StreamEdges:
        """What begins with this chunk if the stream is new, and its losses."""
        columns = chunk.columns
        own = np.flatnonzero(columns.stream == stream)
        edges = StreamEdges([Begin(int(columns.time[own[0]]), None, _NOTHING_KNOWN, None, frozenset())])
        for at in own[columns.id[own] == LOSS_ID].tolist():
            loss, time = chunk.losses[columns.at[at]], int(columns.time[at])
            start = int(loss["start"])
            start = min(start, time) if start >= 0 else time
            edges.gaps[int(columns.at[at])] = Gap(start, time, int(loss["records"]), _NOTHING_KNOWN)
        return edges
