# SPDX-License-Identifier: Apache-2.0
"""``analyze comm``: walks a trace once and keeps the books of every object that carries messages."""

from __future__ import annotations

from collections import Counter
from typing import Final

import numpy as np

from vxmon.analysis.comm.depth import DepthBook
from vxmon.analysis.comm.destination import DestinationBook
from vxmon.analysis.comm.figures import boot_figures
from vxmon.analysis.comm.messages import LossClock, MessageRows, message_rows
from vxmon.analysis.comm.opens import Sends
from vxmon.analysis.comm.result import BootComm, CommResultSet
from vxmon.analysis.comm.routes import QUEUES, SELF_CONTAINED, make_routes
from vxmon.analysis.comm.source import SourceBook
from vxmon.analysis.scene import AROUND_NS, Scene, Scope, cut_scene, window_rows
from vxmon.analysis.walk import BootWalker, Walker, walk
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.names import LOSS_ID
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import CommResult, EventId
from vxmon.wire.types import ObjectEntry

__all__ = ["MOST_OBJECTS", "BootBooks", "analyze_comm", "comm_walk"]

MOST_OBJECTS: Final = 4096
"""Objects of one boot that are analyzed; messages of others are counted."""
_NO_LIMIT: Final = 1 << 62


def comm_walk(trace: StoredTrace, scope: Scope) -> tuple[Walker, CommResultSet]:
    """What the analysis does with the records, and the result that is whole behind the walk.

    Of a window little more than its own blocks is read: what was sent long before it is not known then, and said so.
    """
    result = CommResultSet([], scope.span)
    walker = BootWalker(
        window_rows(trace, scope, AROUND_NS),
        lambda boot: BootBooks(boot, trace.facts, scope, cut_scene(trace, boot, scope, AROUND_NS)),
        lambda books, chunk, _: books.feed(chunk),
        lambda books, _: result.boots.append(books.finish()),
    )
    return walker, result


def analyze_comm(trace: StoredTrace, scope: Scope | None = None) -> CommResultSet:
    """The figures of every boot of a trace; the module of ``scope`` says which ports are connected."""
    walker, result = comm_walk(trace, scope or Scope())
    walk(trace, [walker])
    return result


class BootBooks:
    """The books of one boot while its chunks come."""

    def __init__(self, boot: Boot, facts: Facts, scope: Scope, scene: Scene | None = None) -> None:
        self.boot = boot
        self.scene = scene or Scene(boot, facts, scope)
        self.routes = make_routes(boot.names, scope.module)
        begin, end = self.scene.limits
        self.begin = -1 if begin is None else begin
        self.end = _NO_LIMIT if end is None else end
        self.clock = LossClock()
        self.sources: dict[int, SourceBook] = {}
        self.destinations: dict[int, DestinationBook] = {}
        self.types: dict[int, int] = {}
        self.results: dict[int, Counter[tuple[bool, int]]] = {}
        self.unrouted: Counter[int] = Counter()
        self.left_out = 0
        # Of these nothing is from before the records that come.
        self.new_objects: set[int] = set()
        self.new_tasks: set[int] = set()

    def feed(self, chunk: Chunk) -> None:
        """Take a chunk."""
        self.scene.take(chunk.columns)
        for event, new in ((EventId.OBJECT_CREATE, self.new_objects), (EventId.TASK_CREATE, self.new_tasks)):
            new.update(chunk.columns.arg[self.scene.reader.of(chunk.columns, event)].tolist())
        rows = message_rows(chunk, self.scene.reader, self.scene.kept(chunk.columns), self.clock)
        own = {index: some for index, some in rows.by_object() if self._known(index, some)}
        sends: dict[int, Sends] = {}
        for index, some in own.items():
            sends |= self._send(index, some)
        nothing = rows.take(slice(0, 0))
        for index in sorted({*sends, *(i for i, some in own.items() if self._receives(i, some))}):
            self._destination(index).feed(own.get(index, nothing), sends.get(index, Sends.none()))

        self._delete(chunk.columns)

    def _delete(self, columns: Columns) -> None:
        """An object's number is never used again, so nothing comes of it any more."""
        rows = self.scene.reader.of(columns, EventId.OBJECT_DELETE)
        found, first = np.unique(columns.arg[rows], return_index=True)
        for index, at in zip(found.tolist(), rows[first].tolist(), strict=True):
            if index in self.destinations and not self.destinations[index].deleted:
                epoch = self.clock.epoch - int((columns.id[at:] == LOSS_ID).sum())
                self.destinations[index].delete(int(columns.time[at]), epoch)

    def finish(self) -> BootComm:
        """Close the books and make the figures."""
        begin, end = self.observed
        for index, destination in self.destinations.items():
            entry = self.entry(index)
            told = self.scene.cut and self.recorded(EventId.OBJECT_DELETE)
            if entry is not None and entry.deleted and not destination.deleted and not told:
                # Nobody told when; from the last call on nothing is said of it.
                destination.delete(-1, -1)
        for source in self.sources.values():
            source.close(begin, end, self.clock.lost)
        for destination in self.destinations.values():
            destination.close(end, self.clock.epoch, self.clock.lost)
        return boot_figures(self)

    @property
    def observed(self) -> tuple[int, int]:
        """Begin and end of the time that is asked for and was recorded."""
        boot, runs = self.boot, self.boot.runs.values()
        # What was lost before the first and after the last record belongs to the time, too.
        first = min([boot.first_time or 0, *(run.started for run in runs if run.started is not None)])
        last = max([boot.last_time or 0, *(run.ended for run in runs if run.ended is not None)])
        begin = max(self.begin, first)
        return begin, max(min(self.end, last), begin)

    def entry(self, index: int) -> ObjectEntry | None:
        """What the session's tables say of an object."""
        return self.boot.names.objects.get(index)

    def type_of(self, index: int) -> int:
        """The type of an object, by the tables or else by its records."""
        entry = self.entry(index)
        return entry.type if entry is not None else self.types.get(index, -1)

    def recorded(self, event: EventId, index: int | None = None) -> bool:
        """True when the session recorded this event, of this object where one is given, as far as can be known."""
        entry = None if index is None else self.entry(index)
        for config in (run.config for run in self.boot.runs.values() if run.config is not None):
            if index in config.hidden_objects or (entry is not None and entry.partition in config.hidden_partitions):
                return False
        return self.scene.recorded(event)

    # ------------------------------------------------------------ parts

    def _known(self, index: int, rows: MessageRows) -> bool:
        """Count the results of calls on an object; False where there are too many objects."""
        if index not in self.results:
            if len(self.results) >= MOST_OBJECTS:
                self.left_out += len(rows)
                return False
            self.results[index] = Counter()
            self.types[index] = int(rows.type[0])
        kept = rows.take(rows.kept)
        pairs, counts = np.unique(kept.result * 2 + kept.sent, return_counts=True)
        for pair, count in zip(pairs.tolist(), counts.tolist(), strict=True):
            self.results[index][bool(pair & 1), pair >> 1] += count
        return True

    def _send(self, index: int, rows: MessageRows) -> dict[int, Sends]:
        """Take what an object accepted; returns what each of its destinations gets."""
        ok = rows.take(rows.sent & (rows.result == CommResult.OK))
        if not len(ok):
            return {}
        whole = self._source(index).feed(ok)
        sends = Sends(whole, ok.time, ok.place, ok.partition, ok.epoch, ok.kept, np.zeros(len(ok), bool))
        targets = [index] if self.type_of(index) in SELF_CONTAINED else self.routes.destinations.get(index, [])
        if not targets:
            self.unrouted[index] += int(ok.kept.sum())
        return {target: sends.take(slice(None)) for target in targets}

    def _receives(self, index: int, rows: MessageRows) -> bool:
        known = index in self.destinations or index in self.routes.source_of
        return known or self.type_of(index) in SELF_CONTAINED or not rows.sent.all()

    def _source(self, index: int) -> SourceBook:
        if index not in self.sources:
            entry = self.entry(index)
            self.sources[index] = SourceBook(
                entry.message_size if entry is not None else 0, self.observed[0], self.boot.clock_hz
            )
        return self.sources[index]

    def _destination(self, index: int) -> DestinationBook:
        if index in self.destinations:
            return self.destinations[index]
        kind = self.type_of(index)
        own = kind in SELF_CONTAINED
        from_index = index if own else self.routes.source_of.get(index)
        sender = self.entry(from_index) if from_index is not None else None
        refresh = self.routes.refresh_ns.get(index)
        queue = kind in QUEUES
        self.destinations[index] = DestinationBook(
            source=None if from_index is None else self._source(from_index),
            own=own,
            queue=queue,
            refresh=None if refresh is None else refresh * self.boot.clock_hz // 10**9,
            sender=-1 if sender is None else sender.partition,
            depth=self._depth_book(index, blind=from_index is None) if queue else None,
            cut=self._is_cut(index),
            new_tasks=self.new_tasks,
        )
        return self.destinations[index]

    def _is_cut(self, index: int) -> bool:
        return self.scene.cut and index not in self.new_objects

    def _depth_book(self, index: int, *, blind: bool) -> DepthBook:
        entry = self.entry(index)
        capacity = entry.capacity if entry else 0
        return DepthBook(capacity, self.begin, self.end, self.observed[0], blind, self._is_cut(index))
