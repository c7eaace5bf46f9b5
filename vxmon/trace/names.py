# SPDX-License-Identifier: Apache-2.0
"""Names of a boot: the parts of its object table, merged by index."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

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
        """Take a part of an object table. ``revision`` counts these."""
        self.revision += 1
        self.version = max(self.version, part.version)
        for schedule in part.schedules:
            if self._newer("schedule", schedule.id, part.version):
                self.schedules[schedule.id] = schedule
        for partition in part.partitions:
            if self._newer("partition", partition.index, part.version):
                self.partitions[partition.index] = partition
        for task in part.tasks:
            if self._newer("task", task.index, part.version):
                self.tasks[task.index] = task
        for entry in part.objects:
            if self._newer("object", entry.index, part.version):
                self.objects[entry.index] = entry

    def _newer(self, kind: str, index: int, version: int) -> bool:
        if version < self._versions.get((kind, index), 0):
            return False
        self._versions[kind, index] = version
        return True

    def named(self, kind: str) -> dict[int, str]:
        """Names of the indices of a kind of field: "partition", "task" or "object"; empty for others."""
        entries: dict[str, dict[int, PartitionEntry] | dict[int, TaskEntry] | dict[int, ObjectEntry]] = {
            "partition": self.partitions,
            "task": self.tasks,
            "object": self.objects,
        }
        return {index: entry.name for index, entry in entries.get(kind, {}).items() if entry.name}
