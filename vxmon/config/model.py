# SPDX-License-Identifier: Apache-2.0
"""A module's configuration as typed values, whatever file format it was written in.

Times are integer nanoseconds, sizes are bytes. ``None`` means that the file does not say.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Literal

from vxmon.config.place import Place

__all__ = [
    "INFINITE_TIME",
    "ApplicationConfig",
    "ChannelConfig",
    "ConfigProblem",
    "Dialect",
    "HmEntry",
    "HmTable",
    "ModuleConfig",
    "PartitionConfig",
    "PortConfig",
    "PortRef",
    "ScheduleConfig",
    "WindowConfig",
]

INFINITE_TIME = -1
"""The value of a time that is written INFINITE_TIME (ARINC 653: INFINITE_TIME_VALUE)."""

Dialect = Literal["VxWorks 653", "ARINC 653 P1"]


@dataclass(frozen=True, slots=True)
class ConfigProblem:
    """Something odd that does not keep the file from being used."""

    source: Place
    message: str

    def __str__(self) -> str:
        return f"{self.source}: {self.message}"


@dataclass(frozen=True, slots=True)
class WindowConfig:
    """One partition window.

    ``index`` counts the windows of its schedule in the order of time. ``partition`` is None in a SPARE window,
    which belongs to the core OS. ``identifier`` is the number that an ARINC 653 P1 file gives to the window.
    """

    index: int
    partition: str | None
    offset_ns: int
    duration_ns: int
    release_point: bool
    source: Place
    identifier: int | None = None

    @property
    def end_ns(self) -> int:
        """Return the offset at which the window ends."""
        return self.offset_ns + self.duration_ns


@dataclass(frozen=True, slots=True)
class ScheduleConfig:
    """One module schedule: windows in the order of time inside a repeating major frame."""

    id: int
    name: str
    initial: bool
    major_frame_ns: int
    windows: tuple[WindowConfig, ...]
    source: Place

    @property
    def spare_ns(self) -> int:
        """Return the time of a major frame in which no partition has a window."""
        return self.major_frame_ns - sum(w.duration_ns for w in self.windows if w.partition is not None)

    def windows_of(self, partition: str) -> tuple[WindowConfig, ...]:
        """Return the windows of one partition, in the order of time."""
        return tuple(w for w in self.windows if w.partition == partition)


@dataclass(frozen=True, slots=True)
class PortConfig:
    """A sampling or queuing port as its application declares it."""

    name: str
    kind: Literal["sampling", "queuing"]
    direction: Literal["SOURCE", "DESTINATION"]
    message_size: int
    source: Place
    refresh_ns: int | None = None
    queue_length: int | None = None
    protocol: str | None = None
    attribute: str | None = None
    driver: str | None = None


@dataclass(frozen=True, slots=True)
class PortRef:
    """One end of a channel. ``partition`` is the name of a partition or pseudo partition."""

    partition: str
    port: str
    pseudo: bool
    source: Place


@dataclass(frozen=True, slots=True)
class ChannelConfig:
    """A channel from one source port to its destination ports."""

    id: int
    name: str | None
    origin: PortRef | None
    destinations: tuple[PortRef, ...]
    source: Place


@dataclass(frozen=True, slots=True)
class HmEntry:
    """One line of a health monitor table: state and error to a level (system table) or an action."""

    state: str | None
    error: str
    level: str | None
    action: str | None
    source: Place


@dataclass(frozen=True, slots=True)
class HmTable:
    """A health monitor table. ``partition`` is set where the table itself names one (ARINC 653 P1)."""

    name: str
    scope: Literal["system", "module", "partition"]
    entries: tuple[HmEntry, ...]
    source: Place
    callback: str | None = None
    partition: str | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ApplicationConfig:
    """An application (VxWorks 653). ``memory`` maps text, rodata, data, bss ... to the size agreed for it."""

    name: str
    memory: Mapping[str, int]
    ports: tuple[PortConfig, ...]
    source: Place


@dataclass(frozen=True, slots=True)
class PartitionConfig:
    """A partition. ``settings`` holds the attributes of its Settings element as they are written."""

    id: int
    name: str
    source: Place
    required_memory: int | None = None
    applications: tuple[str, ...] = ()
    ports: tuple[PortConfig, ...] = ()
    hm_table: str | None = None
    period_ns: int | None = None
    duration_ns: int | None = None
    settings: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class ModuleConfig:
    """A whole module, complete and checked: every window's partition exists and no windows overlap."""

    name: str
    id: int | None
    dialect: Dialect
    partitions: tuple[PartitionConfig, ...]
    schedules: tuple[ScheduleConfig, ...]
    channels: tuple[ChannelConfig, ...]
    hm_tables: tuple[HmTable, ...]
    applications: tuple[ApplicationConfig, ...]
    problems: tuple[ConfigProblem, ...]
    files: tuple[str, ...]

    def partition(self, name: str) -> PartitionConfig | None:
        """Return the partition of that name, or None."""
        return next((p for p in self.partitions if p.name == name), None)

    @property
    def initial_schedule(self) -> ScheduleConfig:
        """Return the schedule that the module starts with."""
        return next((s for s in self.schedules if s.initial), self.schedules[0])
