# SPDX-License-Identifier: Apache-2.0
"""How long interrupts lasted, from entry to exit, nested ones included."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.figures import Range
from vxmon.trace.batches import present
from vxmon.trace.columns import Columns
from vxmon.trace.fields import FieldReader
from vxmon.trace.names import LOSS_ID
from vxmon.trace.state import UNKNOWN, Segments
from vxmon.trace.state_pairs import ENTRY, EXIT, GAP, Pairing
from vxmon.wire.events import EventId

__all__ = ["Durations"]

_ENTRIES: Final = (EventId.INT_ENTR, EventId.INT_EXIT)
_KINDS: Final = {EventId.INT_ENTR: ENTRY, EventId.INT_EXIT: EXIT, LOSS_ID: GAP}

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Durations:
    """Durations by interrupt, and how long one that nobody saw may have lasted.

    ``unseen`` is the longest stretch in which it is not known throughout that no interrupt was being handled.
    """

    by_number: dict[int, Range] = field(default_factory=dict)
    pairing: Pairing = field(default_factory=Pairing)
    unseen: int = 0
    _open: dict[int, tuple[int, bool]] = field(default_factory=dict)

    def feed(self, columns: Columns, reader: FieldReader, kept: NDArray[np.bool_], segments: list[Segments]) -> None:
        """Take a chunk."""
        which = np.sort(np.concatenate([reader.of(columns, event) for event in (*_ENTRIES, LOSS_ID)]))
        which = which[kept[which]]
        if len(which):
            ids = columns.id[which]
            kind = np.select([ids == event for event in _KINDS], list(_KINDS.values()))
            stream, what = columns.stream[which].astype(np.int64), columns.arg[which].astype(np.int64)
            self._take(kind, stream, columns.time[which], what)
        for some in segments:
            self._watch(some)

    def finish(self, segments: list[Segments]) -> None:
        """Recording ended."""
        for some in segments:
            self._watch(some)
            begun, unknown = self._open.get(some.stream, (0, False))
            if unknown:
                self.unseen = max(self.unseen, int(some.end[-1]) - begun)
        self.pairing.finish()

    def _take(self, kind: Ints, stream: Ints, time: Ints, what: Ints) -> None:
        pairs = self.pairing.feed(kind, stream, time, what)
        for number in present(pairs.what):
            own = pairs.what == number
            start = pairs.start[own]
            self.by_number.setdefault(number, Range()).add(pairs.end[own] - start, None, None, start)

    def _watch(self, segments: Segments) -> None:
        """Stretches in which the depth is not 0, some of it unknown."""
        busy = segments.depth != 0
        change = np.flatnonzero(np.concatenate([[True], busy[1:] != busy[:-1]]))
        start, end = segments.start[change], segments.end[np.append(change[1:], len(busy)) - 1]
        dark = np.logical_or.reduceat(segments.depth == UNKNOWN, change)
        busy = busy[change]
        begun, unknown = self._open.pop(segments.stream, (int(start[0]), False))
        if busy[0]:
            start[0], dark[0] = begun, dark[0] or unknown
        elif unknown:
            self.unseen = max(self.unseen, int(start[0]) - begun)
        if busy[-1]:
            self._open[segments.stream] = (int(start[-1]), bool(dark[-1]))
            busy[-1] = False
        if (busy & dark).any():
            self.unseen = max(self.unseen, int((end - start)[busy & dark].max()))
