# SPDX-License-Identifier: Apache-2.0
"""Operations that cost memory: how often each partition did which, since it started and while it was observed."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.figures import Figure
from vxmon.analysis.memory.lost import Lost
from vxmon.analysis.memory.result import OperationMemory
from vxmon.trace.columns import Columns
from vxmon.trace.fields import FieldReader
from vxmon.wire.events import EventId, Operation
from vxmon.wire.types import EventTable

__all__ = ["MOST_KINDS", "OperationBook", "OperationCount", "operation_names"]

MOST_KINDS: Final = 16384
"""Partitions times operations times sizes that are kept; only damaged sessions have more."""

Ints = NDArray[np.int64]


@dataclass(slots=True)
class OperationCount:
    """One operation of one partition and size class: the counters of the first and last record, and the growth."""

    partition: int
    operation: int
    size_class: int
    first_time: int
    time: int = 0
    count: int = 0
    total: int = 0
    grown: int = 0
    records: int = 0


class OperationBook:
    """The counts of one boot."""

    def __init__(self) -> None:
        self.kinds: dict[int, OperationCount] = {}
        self.left_out = 0

    def feed(self, columns: Columns, reader: FieldReader, kept: NDArray[np.bool_]) -> dict[int, int]:
        """Take a chunk; returns the time of the last record of each partition in it."""
        which = reader.having(columns, EventId.OP_COUNT, ("operation", "size_class", "count", "total"))
        which = which[kept[which]]
        if not len(which):
            return {}
        names = ("operation", "size_class", "count", "total")
        operation, size, count, total = (reader.values(columns, EventId.OP_COUNT, name, which) for name in names)
        partition = columns.arg[which].astype(np.int64)
        key = partition << 32 | operation << 16 | size
        order = np.argsort(key, kind="stable")
        key, time = key[order], columns.time[which][order]
        begins = np.flatnonzero(np.concatenate([[True], key[1:] != key[:-1]]))
        ends = np.append(begins[1:], len(key)) - 1
        grown = _steps(count[order], begins)
        sums = np.add.reduceat(grown, begins)
        rows = (key[begins], time[begins], time[ends], count[order][begins], count[order][ends], total[order][ends])
        for kind, first_time, last_time, first, last, bytes_, step, records in zip(
            *(row.tolist() for row in rows), sums.tolist(), (ends - begins + 1).tolist(), strict=True
        ):
            self._take(kind, first_time, last_time, first, last, bytes_, step, records)
        numbers, back = np.unique(partition[::-1], return_index=True)
        return dict(zip(numbers.tolist(), columns.time[which[len(which) - 1 - back]].tolist(), strict=True))

    def _take(
        self, kind: int, first_time: int, last_time: int, first: int, last: int, total: int, step: int, records: int
    ) -> None:
        entry = self.kinds.get(kind)
        if entry is None:
            if len(self.kinds) >= MOST_KINDS:
                self.left_out += records
                return
            entry = OperationCount(kind >> 32, kind >> 16 & 0xFFFF, kind & 0xFFFF, first_time)
            self.kinds[kind] = entry
        else:
            # A counter that is smaller than before began anew: the partition was restarted.
            entry.grown += first - entry.count if first >= entry.count else first
        entry.grown += step
        entry.time, entry.count, entry.total = last_time, last, total
        entry.records += records

    def more_blocks(self, partition: int) -> Figure:
        """By how many the blocks in use have grown: allocate - free, between the first and last sample."""
        own = [k for k in self.kinds.values() if k.partition == partition and k.records > 1]
        if not any(k.operation == Operation.ALLOCATE for k in own):
            return Figure.none()
        sign: dict[int, int] = {Operation.ALLOCATE: 1, Operation.FREE: -1}
        return Figure.exact(sum(sign.get(k.operation, 0) * k.grown for k in own))

    def finish(self, table: EventTable, hz: int, lost: Lost) -> Iterator[OperationMemory]:
        """Figures in order of partition, operation and size."""
        names = operation_names(table)
        for _, kind in sorted(self.kinds.items()):
            late = lost.after(kind.time)
            grown = Figure.between(
                kind.grown, kind.grown, None if late or lost.before(kind.first_time) else kind.grown, kind.records
            )
            elapsed = kind.time - kind.first_time
            yield OperationMemory(
                partition=kind.partition,
                operation=names.get(kind.operation, f"operation {kind.operation}"),
                size_class=kind.size_class,
                count=Figure.between(kind.count, kind.count, None if late else kind.count, kind.records),
                total=Figure.between(kind.total, kind.total, None if late else kind.total, kind.records),
                grown=grown if kind.records > 1 else Figure.none(),
                per_second=_rate(kind.grown, elapsed, hz, kind.records, doubt=bool(lost)),
            )


def _steps(count: Ints, begins: Ints) -> Ints:
    """By how much each counter grew since the record before of its kind; 0 for the first of each."""
    step = np.diff(count, prepend=0)
    step = np.where(step < 0, count, step)
    step[begins] = 0
    return step


def operation_names(table: EventTable) -> Mapping[int, str]:
    """Names of operations by number, as the session's own table has them, else as shipped."""
    shipped = {operation.value: operation.name.lower() for operation in Operation}
    own = next((dict(enum.values) for enum in table.enums if enum.name == "operation"), {})
    return {**shipped, **own}


def _rate(grown: int, ticks: int, hz: int, records: int, *, doubt: bool) -> Figure:
    if not hz or ticks <= 0:
        return Figure.none()
    value = grown * hz * 1000 // ticks
    return Figure.between(value, 0, None, records) if doubt else Figure.exact(value, records)
