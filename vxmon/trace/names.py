# SPDX-License-Identifier: Apache-2.0
"""Names of a boot: the parts of its object table, merged by index."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, TypeVar

from vxmon.wire.types import (
    EventTable,
    ObjectEntry,
    ObjectTable,
    PartitionEntry,
    Schedule,
    TaskEntry,
)

__all__ = ["LOSS_ID", "LOSS_NAME", "NO_TABLE", "Names"]

# Where records are missing, columns hold a row of this id, which no event of a target can have.
LOSS_ID: Final = 1024
LOSS_NAME: Final = "LOSS"

E = TypeVar("E")

NO_TABLE: Final = EventTable("", 0, (), ())


@dataclass(slots=True)
class Names:
    """What the target told of its schedules, partitions, tasks and objects, by index.

    Parts may come in any order and several times; of one index the highest table version wins, and of
    equal versions the later part. An index is never used again within a boot, so a later table is right
    for earlier records too.
    """

    schedules: dict[int, Schedule] = field(default_factory=dict)
    partitions: dict[int, PartitionEntry] = field(default_factory=dict)
    tasks: dict[int, TaskEntry] = field(default_factory=dict)
    objects: dict[int, ObjectEntry] = field(default_factory=dict)
    version: int = 0
    revision: int = 0
    _versions: dict[tuple[str, int], int] = field(default_factory=dict)

    def merge(self, part: ObjectTable) -> None:
        """Take a part of an object table. ``revision`` grows when it says something new."""
        self.version = max(self.version, part.version)
        for schedule in part.schedules:
            self._put(self.schedules, "schedule", schedule.id, schedule, part.version)
        for partition in part.partitions:
            self._put(self.partitions, "partition", partition.index, partition, part.version)
        for task in part.tasks:
            self._put(self.tasks, "task", task.index, task, part.version)
        for entry in part.objects:
            self._put(self.objects, "object", entry.index, entry, part.version)
        self.revision = max(self.revision, 1)

    def _put(self, entries: dict[int, E], kind: str, index: int, entry: E, version: int) -> None:
        if version < self._versions.get((kind, index), 0):
            return
        self._versions[kind, index] = version
        if entries.get(index) != entry:
            entries[index] = entry
            self.revision += 1

    def named(self, kind: str) -> dict[int, str]:
        """Names of the indices of a kind of field: "partition", "task" or "object"; empty for others."""
        entries: dict[str, dict[int, PartitionEntry] | dict[int, TaskEntry] | dict[int, ObjectEntry]] = {
            "partition": self.partitions,
            "task": self.tasks,
            "object": self.objects,
        }
        return {index: entry.name for index, entry in entries.get(kind, {}).items() if entry.name}
