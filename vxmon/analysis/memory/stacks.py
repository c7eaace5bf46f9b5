# SPDX-License-Identifier: Apache-2.0
"""Stacks of tasks: how deep they were, by fill pattern and by stack pointer. Arrays by task, no loop per record."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.figures import Figure
from vxmon.analysis.memory.lost import Lost
from vxmon.analysis.memory.result import StackMemory
from vxmon.trace.batches import present
from vxmon.trace.columns import Columns
from vxmon.trace.facts import Boot
from vxmon.trace.fields import FieldReader
from vxmon.trace.state import NOBODY
from vxmon.wire.events import EventId

__all__ = ["StackBook"]

_TASKS: Final = NOBODY + 1

Ints = NDArray[np.int64]
Which = NDArray[np.intp]


def _column(value: int = 0) -> Ints:
    return np.full(_TASKS, value, np.int64)


class StackBook:
    """The stacks of one boot."""

    def __init__(self) -> None:
        self.switches, self.deepest, self.deepest_time = _column(), _column(-1), _column(-1)
        self.samples, self.pattern, self.first_pattern = _column(), _column(-1), _column(-1)
        self.size, self.last_sample, self.owner = _column(), _column(-1), _column(-1)

    def feed(self, columns: Columns, reader: FieldReader, kept: NDArray[np.bool_]) -> None:
        """Take a chunk; ``kept`` are the records that count. Sizes and owners are taken from all."""
        made = reader.having(columns, EventId.TASK_CREATE, ("partition", "stack_size"))
        if len(made):
            task = columns.arg[made]
            self.owner[task] = reader.values(columns, EventId.TASK_CREATE, "partition", made)
            self.size[task] = reader.values(columns, EventId.TASK_CREATE, "stack_size", made)
        which = reader.having(columns, EventId.STACK_SWITCH, ("used",))
        which = which[kept[which]]
        if len(which):
            self._switches(columns, which, reader.values(columns, EventId.STACK_SWITCH, "used", which))
        which = reader.having(columns, EventId.STACK_SAMPLE, ("high_water", "size"))
        which = which[kept[which]]
        if len(which):
            high_water = reader.values(columns, EventId.STACK_SAMPLE, "high_water", which)
            self._samples(columns, which, high_water, reader.values(columns, EventId.STACK_SAMPLE, "size", which))

    def _switches(self, columns: Columns, which: Which, used: Ints) -> None:
        task = columns.arg[which].astype(np.int64)
        self.switches += np.bincount(task, minlength=_TASKS)
        # Sorted by task, then depth, the latest first: the last of each task is its deepest, at its first instant.
        order = np.lexsort((-columns.time[which], used, task))
        last = order[np.append(task[order][1:] != task[order][:-1], True)]
        deeper = last[used[last] > self.deepest[task[last]]]
        self.deepest[task[deeper]] = used[deeper]
        self.deepest_time[task[deeper]] = columns.time[which[deeper]]

    def _samples(self, columns: Columns, which: Which, high_water: Ints, size: Ints) -> None:
        task = columns.arg[which].astype(np.int64)
        new = self.samples[task] == 0
        # Of several values for one place numpy keeps the last: backwards, that is the first.
        self.first_pattern[task[new][::-1]] = high_water[new][::-1]
        self.samples += np.bincount(task, minlength=_TASKS)
        np.maximum.at(self.pattern, task, high_water)
        self.size[task] = size
        self.last_sample[task] = columns.time[which]

    # ------------------------------------------------------------ figures

    def finish(self, boot: Boot, lost: Lost) -> Iterator[StackMemory]:
        """The stacks of which anything is known, tasks of one name in one partition together."""
        tasks: dict[tuple[int | None, str], list[int]] = {}
        for index, entry in sorted(boot.names.tasks.items()):
            tasks.setdefault((entry.partition, entry.name or f"task {index}"), []).append(index)
            self.size[index] = self.size[index] or entry.stack_size
        for index in present(np.flatnonzero(self.switches + self.samples)):
            if index not in boot.names.tasks and index != NOBODY:
                owner = int(self.owner[index])
                tasks.setdefault((None if owner < 0 else owner, f"task {index}"), []).append(index)
        deleted = {index for index, entry in boot.names.tasks.items() if entry.deleted}
        for (partition, name), own in tasks.items():
            stack = self._stack(partition, name, np.array(own, np.int64), lost)
            nothing = not stack.high_water.n + stack.at_switch.n
            yield replace(stack, gone=nothing and deleted.issuperset(own))

    def _stack(self, partition: int | None, name: str, own: Ints, lost: Lost) -> StackMemory:
        sizes = self.size[own]
        size = int(sizes.max())
        high_water, at_switch = self._high_water(own, size, lost), self._at_switch(own, size, lost)
        at = own[int(np.argmax(self.deepest[own]))]
        return StackMemory(
            partition=partition,
            task=name,
            size=Figure.exact(size) if size else Figure.none(),
            high_water=high_water,
            at_switch=at_switch,
            margin=_margin(high_water, at_switch, size),
            rises=self._rises(own, lost),
            deepest_time=int(self.deepest_time[at]) if self.switches[at] else None,
            indices=tuple(own.tolist()),
        )

    def _high_water(self, own: Ints, size: int, lost: Lost) -> Figure:
        """A pattern is never mended, so a sample tells of all before it; only what comes behind it is in doubt."""
        n = int(self.samples[own].sum())
        if not n:
            return Figure.none()
        most = int(self.pattern[own].max())
        # Each task's last sample must lie behind the losses; one that was never sampled may have been.
        doubt = any(lost.after(time) for time in self.last_sample[own].tolist())
        return Figure.between(most, most, max(size, most), n) if doubt else Figure.exact(most, n)

    def _at_switch(self, own: Ints, size: int, lost: Lost) -> Figure:
        n = int(self.switches[own].sum())
        if not n:
            return Figure.none()
        most = int(self.deepest[own].max())
        if not lost:
            return Figure.exact(most, n)
        return Figure.between(most, most, max(size, most) if size else None, n)

    def _rises(self, own: Ints, lost: Lost) -> Figure:
        if len(own) != 1 or self.samples[own[0]] < 2:
            return Figure.none()
        task = int(own[0])
        value = int(self.pattern[task] - self.first_pattern[task])
        if not lost:
            return Figure.exact(value, int(self.samples[task]))
        most = int(self.size[task]) if lost.after(int(self.last_sample[task])) else int(self.pattern[task])
        return Figure.between(value, value, max(most, value), int(self.samples[task]))


def _margin(high_water: Figure, at_switch: Figure, size: int) -> Figure:
    """What was never used; between switches a stack may have been deeper than the stack pointer says at them.

    What a task has room for on its stack and never writes shows in the stack pointer alone.
    """
    seen = [f.value for f in (high_water, at_switch) if f.value is not None]
    if not size or not seen:
        return Figure.none()
    n = max(high_water.n, at_switch.n)
    if high_water.value is None:
        return Figure.between(None, 0, size - max(seen), n)
    most = [size if f.hi is None else f.hi for f in (high_water, at_switch) if f.value is not None]
    return Figure.between(size - max(seen), size - max(most), size - max(seen), n)
