# SPDX-License-Identifier: Apache-2.0
"""Faults and what was known at each: collected as columns, a chunk at a time.

What came before a fault is taken from histories. A row that is older than the last loss of records is not taken: what
came after it may be among what was lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.scene import Scene
from vxmon.trace.columns import Columns
from vxmon.trace.history import History, last_of_each
from vxmon.trace.names import LOSS_ID
from vxmon.trace.state import Probes
from vxmon.wire.events import EventId
from vxmon.wire.types import NOT_KNOWN

__all__ = ["HM_FIELDS", "MOST_FAULTS", "NEAR", "FaultColumns", "FaultRows"]

MOST_FAULTS: Final = 10_000
"""Faults of which the circumstances are kept, the first ones of a boot."""

NEAR: Final = 3
"""Messages, and interrupts, that are kept of what came before a fault."""

HM_FIELDS: Final = ("code", "level", "subcode", "address", "task", "action", "entry")
_EXCEPTION: Final = ("vector", "code", "address", "ip", "partition", "task")
_MESSAGE: Final = ("result", "number", "size", "partition")
_SAMPLE: Final = ("free", "allocated", "largest")

Ints = NDArray[np.int64]
Rows = NDArray[np.intp]


@dataclass(slots=True)
class FaultRows:
    """Columns of faults in order; of ``near`` columns, which have NEAR values a fault, newest first. -1: nothing."""

    columns: dict[str, Ints] = field(default_factory=dict)
    near: dict[str, Ints] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.columns.get("time", ()))

    def take(self, which: NDArray[np.bool_] | slice) -> FaultRows:
        """Some of them."""
        return FaultRows(
            {name: column[which] for name, column in self.columns.items()},
            {name: column[which] for name, column in self.near.items()},
        )


@dataclass(slots=True)
class _Reader:
    """Fields of one chunk's records, -1 where a record is too short to have them.

    ``last`` is true where only the last records of each key are of interest, as there is no fault among them.
    """

    scene: Scene
    columns: Columns
    losses: Ints
    loss_base: int
    last: bool

    def rows(self, event: int, names: tuple[str, ...], key: str, keep: int) -> tuple[Rows, dict[str, Ints]]:
        """Records of an event that have these fields, and what every history keeps of them besides.

        ``key`` is the field, or "arg" or "stream", by which a history keeps the last ones.
        """
        which = self.scene.reader.having(self.columns, event, names)
        if self.last:
            which = which[last_of_each(self.key(event, key, which), keep)]
        values = {name: self.scene.reader.values(self.columns, event, name, which) for name in names}
        more = {"time": self.columns.time[which], "losses": self.count(which), "key": self.key(event, key, which)}
        return which, values | more

    def key(self, event: int, name: str, which: Rows) -> Ints:
        """By what a history tells rows apart."""
        if name in ("arg", "stream"):
            column: Ints = getattr(self.columns, name)[which].astype(np.int64)
            return column
        return self.scene.reader.values(self.columns, event, name, which)

    def count(self, which: Rows) -> Ints:
        """How many losses came before records, over all streams of the boot."""
        return np.searchsorted(self.losses, which) + self.loss_base


@dataclass(slots=True)
class FaultColumns:
    """Collects the faults of a boot."""

    scene: Scene
    parts: list[FaultRows] = field(default_factory=list)
    kept: int = 0
    left_out: int = 0
    _losses: int = -1
    _loss_time: int = -1
    _releases: History = field(default_factory=lambda: History(1))
    _completions: History = field(default_factory=lambda: History(1))
    _samples: History = field(default_factory=lambda: History(1))
    _messages: History = field(default_factory=lambda: History(NEAR))
    _interrupts: History = field(default_factory=lambda: History(NEAR))
    _exceptions: History = field(default_factory=lambda: History(1))
    _switches: History = field(default_factory=lambda: History(1))

    def feed(self, columns: Columns, kept: NDArray[np.bool_], probes: list[Probes]) -> list[tuple[int, FaultRows]]:
        """Take a chunk, with the state at its faults; returns the faults of each stream."""
        lost = np.flatnonzero(columns.id == LOSS_ID)
        if self._losses < 0:
            self._see_before(int(columns.time[0]))
        faults = [kept[some.at] & np.isin(columns.id[some.at], _FAULTS) for some in probes]
        reader = _Reader(self.scene, columns, lost, self._losses, last=not any(map(np.any, faults)))
        self._remember(reader)
        found = []
        for some, is_fault in zip(probes, faults, strict=True):
            room = max(MOST_FAULTS - self.kept, 0)
            self.left_out += max(int(is_fault.sum()) - room, 0)
            which = np.flatnonzero(is_fault)[:room]
            self.kept += len(which)
            if len(which):
                found.append((some.stream, self._faults(reader, some, which)))
        self.parts += [rows for _, rows in found]
        self._losses += len(lost)
        self._loss_time = int(columns.time[lost[-1]]) if len(lost) else self._loss_time
        return found

    def _see_before(self, time: int) -> None:
        """Losses from before the first record that comes."""
        ends = self.scene.own_losses["end"]
        before = ends[(ends < time) & self.scene.cut]
        self._losses, self._loss_time = len(before), int(before.max(initial=-1))

    # ------------------------------------------------------------ what came before

    def _remember(self, reader: _Reader) -> None:
        for history, event, names, key in (
            (self._releases, EventId.RELEASE, ("release", "activation"), "arg"),
            (self._completions, EventId.COMPLETE, ("activation",), "arg"),
            (self._interrupts, EventId.INT_ENTR, ("vector", "ip"), "stream"),
            (self._exceptions, EventId.EXCEPTION, _EXCEPTION, "stream"),
            (self._switches, EventId.TASK_SWITCH, (), "stream"),
        ):
            which, values = reader.rows(event, names, key, history.keep)
            if history is self._interrupts:
                values["number"] = reader.key(event, "arg", which)
            history.feed(values.pop("key"), which, values)
        self._remember_memory(reader)
        self._remember_messages(reader)

    def _remember_memory(self, reader: _Reader) -> None:
        """Samples, and what is known of the heap when a partition leaves the processor."""
        own, values = reader.rows(EventId.MEM_SAMPLE, _SAMPLE, "arg", self._samples.keep)
        left, others = reader.rows(EventId.MEM_SWITCH, _SAMPLE[:2], "arg", self._samples.keep)
        others["largest"] = np.full(len(left), -1, np.int64)
        joined = {name: np.concatenate([values[name], others[name]]) for name in values}
        self._samples.feed(joined.pop("key"), np.concatenate([own, left]), joined)

    def _remember_messages(self, reader: _Reader) -> None:
        keep = self._messages.keep
        sent, values = reader.rows(EventId.MSG_SEND, _MESSAGE, "partition", keep)
        received, others = reader.rows(EventId.MSG_RECEIVE, _MESSAGE, "partition", keep)
        which = np.concatenate([sent, received])
        joined = {name: np.concatenate([values[name], others[name]]) for name in values}
        joined |= {
            "object": reader.columns.arg[which].astype(np.int64),
            "sent": np.concatenate([np.ones(len(sent), np.int64), np.zeros(len(received), np.int64)]),
        }
        self._messages.feed(joined.pop("key"), which, joined)

    # ------------------------------------------------------------ faults

    def _faults(self, reader: _Reader, some: Probes, which: Rows) -> FaultRows:
        columns, at = reader.columns, some.at[which]
        losses = reader.count(at)
        last = np.searchsorted(reader.losses, at)
        loss_times = np.concatenate([[self._loss_time], columns.time[reader.losses]])
        rows = FaultRows({
            "time": columns.time[at], "stream": np.full(len(at), some.stream, np.int64), "losses": losses,
            "lost_at": loss_times[last], "partition": some.partition[which], "window": some.window[which],
            "task": some.task[which], "depth": some.depth[which],
        })  # fmt: skip
        self._own(reader, at, rows)
        self._before(at, rows)
        return rows

    def _own(self, reader: _Reader, at: Ints, rows: FaultRows) -> None:
        """What the record itself says: HM_EVENT its fields, EXCEPTION whom it struck."""
        columns = reader.columns
        own = rows.columns
        own["hm"] = (columns.id[at] == EventId.HM_EVENT).astype(np.int64)
        own["of_partition"] = np.where(own["hm"] == 1, columns.arg[at], -1)
        for event, names in ((EventId.HM_EVENT, HM_FIELDS), (EventId.EXCEPTION, _EXCEPTION)):
            full = self.scene.reader.having(columns, event, names)
            has = np.isin(at, full)
            for name in names:
                target = {"task": "of_task", "partition": "of_partition"}.get(name, name)
                column = own.setdefault(target, np.full(len(at), -1, np.int64))
                column[has] = self.scene.reader.values(columns, event, name, at[has])

    def _before(self, at: Ints, rows: FaultRows) -> None:
        own = rows.columns
        task = np.where(_named(own["of_task"]), own["of_task"], own["task"])
        partition = np.where(_named(own["of_partition"]), own["of_partition"], own["partition"])
        fresh = own["losses"][:, None]

        def recall(history: History, key: Ints, prefix: str, names: tuple[str, ...]) -> dict[str, Ints]:
            found = history.before(np.maximum(key, 0), at)
            found = np.where((key[:, None] >= 0) & (history.take("losses", found) == fresh), found, -1)
            return {f"{prefix}_{name}": history.take(name, found) for name in (*names, "time")}

        single = recall(self._releases, task, "release", ("release", "activation"))
        single |= recall(self._completions, task, "complete", ("activation",))
        single |= recall(self._samples, partition, "memory", _SAMPLE)
        single |= self._exceptions_of(at, own, recall(self._exceptions, own["stream"], "exception", _EXCEPTION))
        own.update({name: column[:, 0] for name, column in single.items()})
        rows.near = recall(self._messages, partition, "message", ("sent", "object", "number", "size", "result"))
        rows.near |= recall(self._interrupts, own["stream"], "interrupt", ("number", "vector", "ip"))

    def _exceptions_of(self, at: Ints, own: dict[str, Ints], found: dict[str, Ints]) -> dict[str, Ints]:
        """The exception that led to an HM event: of the same task, and nobody else ran between."""
        switched = self._switches.take("time", self._switches.before(own["stream"], at))
        fits = (own["hm"] == 1)[:, None] & (found["exception_time"] >= switched)
        for name in ("task", "partition"):
            fits &= found[f"exception_{name}"] == own[f"of_{name}"][:, None]
        return {name: np.where(fits, column, -1) for name, column in found.items()}

    def rows(self) -> Iterator[FaultRows]:
        """All faults, by part; an exception that an HM event tells of is left to that one."""
        told = {
            (int(stream), int(time))
            for part in self.parts
            for stream, time in zip(part.columns["stream"], part.columns["exception_time"], strict=True)
            if time >= 0
        }
        for part in self.parts:
            keys = zip(part.columns["stream"].tolist(), part.columns["time"].tolist(), strict=True)
            alone = np.array([key not in told for key in keys], bool)
            yield part.take((part.columns["hm"] == 1) | alone)


def _named(index: Ints) -> NDArray[np.bool_]:
    """Indices that name something; 65535 names nobody."""
    named: NDArray[np.bool_] = (index >= 0) & (index != NOT_KNOWN)
    return named


_FAULTS: Final = (EventId.HM_EVENT, EventId.EXCEPTION)
