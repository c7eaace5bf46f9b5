# SPDX-License-Identifier: Apache-2.0
"""What the records of a chunk say of tasks and frames, as columns."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.batches import present
from vxmon.trace.columns import Columns
from vxmon.trace.fields import FieldReader
from vxmon.trace.names import LOSS_ID
from vxmon.trace.state_frames import FrameRows
from vxmon.wire.events import DeadlineKind, EventId, HmCode, Reason, TaskState

__all__ = [
    "Activations",
    "LossRows",
    "TaskEvents",
    "frame_rows",
    "hm_misses",
    "hm_rows",
    "loss_rows",
    "mode_rows",
    "task_events",
]

# A deadline from here on is none; ARINC 653's INFINITE_TIME_VALUE is -1 and comes as a very large number.
_NO_DEADLINE: Final = 1 << 62

Ints = NDArray[np.int64]


@dataclass(slots=True)
class LossRows:
    """Losses that ended in a chunk: when, and how many records."""

    time: Ints
    records: Ints


@dataclass(slots=True)
class Activations:
    """Releases, completions and deadlines of one task, each in order of time. ``missed`` counts DEADLINE missed.

    ``stopped`` are the instants at which the task went dormant or was deleted, which ends an activation without
    completion.
    """

    release_time: Ints
    number: Ints
    nominal: Ints
    deadline: Ints
    complete_time: Ints
    complete_number: Ints
    set_number: Ints
    set_deadline: Ints
    stopped: Ints
    missed: int


@dataclass(slots=True)
class _Group:
    """Rows of one kind, sorted by task, in order of time within one; ``columns`` of equal length."""

    task: Ints
    columns: tuple[Ints, ...]
    _ends: Ints

    @staticmethod
    def of(task: NDArray[np.uint16], *columns: Ints) -> _Group:
        order = np.argsort(task, kind="stable")
        ends = np.cumsum(np.bincount(task, minlength=1))
        return _Group(task.take(order).astype(np.int64), tuple(column.take(order) for column in columns), ends)

    def rows(self, task: int) -> tuple[Ints, ...]:
        begin, end = (int(self._ends[min(at, len(self._ends) - 1)]) if at >= 0 else 0 for at in (task - 1, task))
        return tuple(column[begin:end] for column in self.columns)


@dataclass(slots=True)
class TaskEvents:
    """The task events of a chunk, over all streams."""

    releases: _Group
    completions: _Group
    deadlines: _Group
    misses: _Group
    stops: _Group
    switched_to: NDArray[np.uint16]
    preempted: Ints
    preempted_by: NDArray[np.uint16]
    losses: LossRows

    def by_task(self) -> Iterator[tuple[int, Activations]]:
        """The activations of each task that has any rows."""
        groups = (self.releases, self.completions, self.deadlines, self.misses, self.stops)
        for task in present(np.concatenate([group.task for group in groups])):
            release_time, number, nominal, deadline = self.releases.rows(task)
            complete_time, completed = self.completions.rows(task)
            set_number, new_deadline = self.deadlines.rows(task)
            (stopped,) = self.stops.rows(task)
            missed = len(self.misses.rows(task)[0])
            own = Activations(
                release_time, number, nominal, deadline, complete_time, completed, set_number, new_deadline, stopped,
                missed,
            )  # fmt: skip
            yield task, own


def task_events(columns: Columns, reader: FieldReader, losses: NDArray[np.void], kept: NDArray[np.bool_]) -> TaskEvents:
    """Read a chunk's task events; ``kept`` says which records are inside the observation window."""
    whole = bool(kept.all())

    def inside(which: NDArray[np.intp]) -> NDArray[np.intp]:
        return which if whole else which[kept[which]]

    def fields(event: EventId, *names: str) -> tuple[NDArray[np.intp], list[Ints]]:
        which = inside(reader.having(columns, event, names))
        return which, [reader.values(columns, event, name, which) for name in names]

    def task(which: NDArray[np.intp]) -> NDArray[np.uint16]:
        return columns.arg.take(which)

    release, (nominal, deadline, number) = fields(EventId.RELEASE, "release", "deadline", "activation")
    complete, (completed,) = fields(EventId.COMPLETE, "activation")
    set_rows, (new_deadline, kind, of) = fields(EventId.DEADLINE, "deadline", "kind", "activation")
    is_set, is_missed = kind == DeadlineKind.SET, kind == DeadlineKind.MISSED
    switch = inside(reader.having(columns, EventId.TASK_SWITCH, ("reason", "previous")))
    preempted = switch[reader.values(columns, EventId.TASK_SWITCH, "reason", switch) == Reason.PREEMPTED]
    states, (state,) = fields(EventId.TASK_STATE, "state")
    deleted = inside(reader.of(columns, EventId.TASK_DELETE))
    stops = np.sort(np.concatenate([states[state == TaskState.DORMANT], deleted]))
    return TaskEvents(
        releases=_Group.of(task(release), columns.time.take(release), number, nominal, _finite(deadline)),
        completions=_Group.of(task(complete), columns.time.take(complete), completed),
        deadlines=_Group.of(task(set_rows)[is_set], of[is_set], _finite(new_deadline)[is_set]),
        misses=_Group.of(task(set_rows)[is_missed], of[is_missed]),
        stops=_Group.of(task(stops), columns.time.take(stops)),
        switched_to=task(inside(reader.of(columns, EventId.TASK_SWITCH))),
        preempted=reader.values(columns, EventId.TASK_SWITCH, "previous", preempted),
        preempted_by=task(preempted),
        losses=loss_rows(columns, losses, kept),
    )


def _finite(deadline: Ints) -> Ints:
    return np.where(deadline >= _NO_DEADLINE, 0, deadline)


def loss_rows(columns: Columns, losses: NDArray[np.void], kept: NDArray[np.bool_]) -> LossRows:
    """The losses of a chunk."""
    which = np.flatnonzero(columns.id == LOSS_ID)
    which = which[kept[which]]
    return LossRows(columns.time[which], losses["records"][columns.at[which]].astype(np.int64))


def frame_rows(columns: Columns, reader: FieldReader, stream: int) -> FrameRows:
    """The MAJOR_FRAME records of a stream."""
    which = reader.having(columns, EventId.MAJOR_FRAME, ("start", "frame"))
    which = which[columns.stream[which] == stream]
    start = reader.values(columns, EventId.MAJOR_FRAME, "start", which)
    frame = reader.values(columns, EventId.MAJOR_FRAME, "frame", which)
    sane = start < _NO_DEADLINE
    return FrameRows(start[sane], frame[sane], columns.arg[which][sane].astype(np.int64))


def mode_rows(columns: Columns, reader: FieldReader) -> tuple[Ints, Ints, Ints, Ints]:
    """The changes of mode of a chunk: time, partition, mode and the mode before."""
    which = reader.having(columns, EventId.PARTITION_MODE, ("mode", "previous"))
    mode = reader.values(columns, EventId.PARTITION_MODE, "mode", which)
    previous = reader.values(columns, EventId.PARTITION_MODE, "previous", which)
    return columns.time[which], columns.arg[which].astype(np.int64), mode, previous


def hm_rows(columns: Columns, reader: FieldReader, code: int) -> tuple[NDArray[np.intp], Ints]:
    """The records of an HM code, and the task of each."""
    which = reader.having(columns, EventId.HM_EVENT, ("code", "task"))
    which = which[reader.values(columns, EventId.HM_EVENT, "code", which) == code]
    return which, reader.values(columns, EventId.HM_EVENT, "task", which)


def hm_misses(columns: Columns, reader: FieldReader, kept: NDArray[np.bool_]) -> dict[int, int]:
    """How many missed deadlines the health monitor reported, by task."""
    which, task = hm_rows(columns, reader, HmCode.DEADLINE_MISSED)
    found, counts = np.unique(task[kept[which]], return_counts=True)
    return dict(zip(found.tolist(), counts.tolist(), strict=True))
