# SPDX-License-Identifier: Apache-2.0
"""``analyze memory``: walks a trace once and keeps the books of heaps, stacks and operations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.memory.estimate import Costs, charge, compared
from vxmon.analysis.memory.frames import FrameClock
from vxmon.analysis.memory.heaps import HeapBook, HeapRows, ModeRows
from vxmon.analysis.memory.leak import judge_growth, no_growth_known
from vxmon.analysis.memory.lost import Lost
from vxmon.analysis.memory.measured import MeasuredUse
from vxmon.analysis.memory.operations import MOST_KINDS, OperationBook, operation_names
from vxmon.analysis.memory.result import BootMemory, HeapMemory, MemoryResult
from vxmon.analysis.memory.series import Series
from vxmon.analysis.memory.stacks import StackBook
from vxmon.analysis.scene import Scope, window_rows
from vxmon.analysis.schedules import choose_schedules
from vxmon.analysis.walk import BootWalker, Walker, walk
from vxmon.config.accounting import AccountingRules
from vxmon.config.model import ModuleConfig
from vxmon.trace.batches import present
from vxmon.trace.columns import Chunk, Columns, within
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.fields import FieldReader
from vxmon.trace.names import LOSS_ID
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import EventId
from vxmon.words import counted

__all__ = ["MOST_HEAPS", "MemoryRequest", "analyze_memory", "memory_walk"]

MOST_HEAPS: Final = 256
"""Heaps that are kept; only damaged sessions have more."""

_SAMPLE_FIELDS: Final = ("free", "allocated", "blocks", "largest", "high_water")

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """What to analyze.

    ``per_frame`` keeps a row of every frame, ``rules`` estimate what was not measured, ``module`` has the schedule of
    a session that does not tell its own.
    """

    span: Span = EVERYTHING
    per_frame: bool = False
    rules: AccountingRules | None = None
    module: ModuleConfig | None = None


def memory_walk(trace: StoredTrace, request: MemoryRequest) -> tuple[Walker, MemoryResult]:
    """What the analysis does with the records, and the result that is whole behind the walk."""
    result = MemoryResult([], request.span)
    walker = BootWalker(
        window_rows(trace, Scope(request.span, request.module)),
        lambda boot: _BootBooks(boot, trace.facts, request),
        lambda books, chunk, _: books.feed(chunk),
        lambda books, _: result.boots.append(books.finish()),
    )
    return walker, result


def analyze_memory(trace: StoredTrace, request: MemoryRequest | None = None) -> MemoryResult:
    """The figures of every boot of a trace."""
    walker, result = memory_walk(trace, request or MemoryRequest())
    walk(trace, [walker])
    return result


class _BootBooks:
    """The books of one boot while its chunks come."""

    def __init__(self, boot: Boot, facts: Facts, request: MemoryRequest) -> None:
        self.boot = boot
        self.request = request
        self.reader = FieldReader(boot.table)
        schedules, _, self.notes = choose_schedules(boot, request.module)
        self.frames = FrameClock(boot, schedules)
        self.limits = request.span.ticks(boot.first_time or 0, boot.clock_hz)
        own = facts.losses[facts.losses["boot"] == boot.number]
        self.lost = Lost.of(own, self.limits[0] or boot.first_time or 0, self.limits[1])
        self.heaps: dict[int, HeapBook] = {}
        self.stacks = StackBook()
        self.operations = OperationBook()
        self.measured = MeasuredUse()
        self.counts: Ints = np.zeros(LOSS_ID + 1, np.int64)
        self.left_out = 0
        self._loss_frames: list[tuple[Ints, Ints]] = []
        self._placed = 0

    def feed(self, chunk: Chunk) -> None:
        """Take a chunk."""
        columns = chunk.columns
        self.frames.learn(columns, self.reader)
        self._place_losses(int(columns.time[-1]))
        kept = within(columns.time, self.limits)
        self.counts += np.bincount(columns.id[kept], minlength=LOSS_ID + 1)
        told = self.operations.feed(columns, self.reader, kept)
        self.stacks.feed(columns, self.reader, kept)
        rows, modes = self._heap_rows(columns, kept), self._mode_rows(columns, kept)
        self.measured.take(told, rows, self.heaps)
        for index in sorted(rows.keys() | (modes.keys() & self.heaps.keys())):
            book = self._heap(index)
            if book is None:
                self.left_out += 1
            else:
                book.feed(rows.get(index) or _no_rows(), modes.get(index) or ModeRows.none())

    def finish(self) -> BootMemory:
        """Close the books and make the figures."""
        self._place_losses(None)
        if self._loss_frames:
            first, last = (np.concatenate(part) for part in zip(*self._loss_frames, strict=True))
            self.lost.first, self.lost.last = first, np.maximum(first, last)
        again = _created_again(self.boot)
        result = BootMemory(self.boot.id, self.boot.number, self.boot.clock_hz, self.frames.length)
        result.begin, result.end = self.boot.first_time or 0, self.boot.last_time or 0
        result.partition_names = self.boot.names.named("partition")
        result.notes += self.notes
        costs = self._costs(result)
        for index in sorted({*self.heaps, *self.boot.names.partitions, *costs}):
            result.heaps.append(self._finished(index, again, costs.get(index)))
        result.stacks = list(self.stacks.finish(self.boot, self.lost))
        result.operations = list(self.operations.finish(self.boot.table, self.boot.clock_hz, self.lost))
        result.notes += self._notes(result)
        return result

    # ------------------------------------------------------------ parts

    def _place_losses(self, until: int | None) -> None:
        """Find the frames of losses while the frames around them are known."""
        end = len(self.lost.start) if until is None else int(np.searchsorted(self.lost.start, until, side="right"))
        if end > self._placed:
            some = slice(self._placed, end)
            self._loss_frames.append((self.frames.of(self.lost.start[some]), self.frames.of(self.lost.end[some])))
            self._placed = end

    def _heap(self, index: int) -> HeapBook | None:
        if index not in self.heaps:
            if len(self.heaps) >= MOST_HEAPS:
                return None
            self.heaps[index] = HeapBook(index, Series(None) if self.request.per_frame else None)
        return self.heaps[index]

    def _heap_rows(self, columns: Columns, kept: NDArray[np.bool_]) -> dict[int, HeapRows]:
        """Rows of each heap in this chunk."""
        reader = self.reader
        switch = reader.having(columns, EventId.MEM_SWITCH, ("free", "allocated"))
        sample = reader.having(columns, EventId.MEM_SAMPLE, _SAMPLE_FIELDS)
        switch, sample = switch[kept[switch]], sample[kept[sample]]
        which = np.concatenate([switch, sample])
        if not len(which):
            return {}
        free, used = (
            np.concatenate([
                reader.values(columns, EventId.MEM_SWITCH, name, switch),
                reader.values(columns, EventId.MEM_SAMPLE, name, sample),
            ])
            for name in ("free", "allocated")
        )  # fmt: skip
        more = {name: reader.values(columns, EventId.MEM_SAMPLE, name, sample) for name in _SAMPLE_FIELDS[2:]}
        owner = columns.arg[which]
        order = np.lexsort((which, owner))
        edges = np.searchsorted(owner[order], np.arange(int(owner.max()) + 2))
        frame = self.frames.of(columns.time[which])
        found = {}
        for index in present(owner):
            mine = order[edges[index] : edges[index + 1]]
            sampled = np.flatnonzero(mine >= len(switch))
            own = mine[sampled] - len(switch)
            found[index] = HeapRows(
                columns.time[which[mine]], frame[mine], free[mine], used[mine], sampled, more["largest"][own],
                more["blocks"][own], more["high_water"][own],
            )  # fmt: skip
        return found

    def _mode_rows(self, columns: Columns, kept: NDArray[np.bool_]) -> dict[int, ModeRows]:
        which = self.reader.having(columns, EventId.PARTITION_MODE, ("mode", "previous"))
        which = which[kept[which]]
        owner = columns.arg[which]
        mode, previous = (
            self.reader.values(columns, EventId.PARTITION_MODE, name, which) for name in ("mode", "previous")
        )
        return {
            index: ModeRows(columns.time[which[owner == index]], mode[owner == index], previous[owner == index])
            for index in present(owner)
            if index in self.heaps or len(self.heaps) < MOST_HEAPS
        }

    def _costs(self, result: BootMemory) -> dict[int, Costs]:
        """What the rules charge, by heap."""
        if self.request.rules is None:
            return {}
        rules = self.request.rules.of_release(self.boot.os_release)
        if not rules:
            result.notes.append(f"{self.request.rules.path} has no rule for OS release {self.boot.os_release or '?'}")
        names = operation_names(self.boot.table)
        done = {names.get(kind.operation, "") for kind in self.operations.kinds.values()}
        without = sorted(done - rules.keys() - {""})
        if rules and without:
            result.notes.append(f"no rule for {', '.join(without)}: taken to cost nothing")
        return charge(self.operations.kinds.values(), names, rules)

    def _finished(self, index: int, again: set[int], costs: Costs | None) -> HeapMemory:
        book = self.heaps.get(index) or HeapBook(index)
        book.restartable = index in again
        book.finish(self.lost)
        recorded = index in self.heaps
        heap = book.figures(self.lost, no_growth_known(), recorded=recorded)
        if recorded:
            more = heap.blocks_grown
            more = more if more.value is not None else self.operations.more_blocks(index)
            growth = judge_growth(book, self.lost, self.frames.length, self.frames.unit, self.boot.clock_hz, more)
            heap = replace(heap, growth=growth)
        if costs is not None:
            heap = replace(heap, estimate=compared(costs, self.measured.of(index)))
        return heap

    def _notes(self, result: BootMemory) -> Iterator[str]:
        if not self.boot.clock_hz:
            yield "the session does not tell the clock's rate: no rates"
        if self.frames.length is None and self.heaps:
            yield "neither tables nor MAJOR_FRAME tell frames: growth by time only"
        for event in (EventId.MEM_SWITCH, EventId.MEM_SAMPLE, EventId.STACK_SAMPLE, EventId.OP_COUNT):
            if not self.counts[event]:
                yield f"{event.name} was not recorded: {_MISSING[event]}"
        for heap in result.heaps:
            if heap.restarts:
                name = result.partition_names.get(heap.index, f"partition {heap.index}")
                yield f"{name} left NORMAL mode {counted(heap.restarts, 'time')}: growth is of its longest stretch"
        if self.left_out:
            yield f"more than {MOST_HEAPS} heaps: the others are left out"
        if self.operations.left_out:
            yield f"more than {MOST_KINDS} kinds of operations: the others are left out"


_MISSING: Final = {
    EventId.MEM_SWITCH: "heaps are known at samples only",
    EventId.MEM_SAMPLE: "no largest blocks, no fragmentation, and peaks are lower bounds",
    EventId.STACK_SAMPLE: "stacks are known by their pointers at switches only, margins are upper bounds",
    EventId.OP_COUNT: "no operation counts",
}


def _created_again(boot: Boot) -> set[int]:
    """Partitions that have two tasks of one name: they were restarted, for a task is created once in a life."""
    names = Counter((task.partition, task.name) for task in boot.names.tasks.values() if task.name)
    return {partition for (partition, _), count in names.items() if count > 1}


def _no_rows() -> HeapRows:
    nothing = np.zeros(0, np.int64)
    return HeapRows(nothing, nothing, nothing, nothing, np.zeros(0, np.intp), nothing, nothing, nothing)
