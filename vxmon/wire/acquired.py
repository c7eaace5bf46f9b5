# SPDX-License-Identifier: Apache-2.0
"""What acquisition commands ask for and bring: memory and the target's logs (SPEC section 5)."""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum

__all__ = ["Log", "LogEntry", "LogPage", "LogRequest", "MemoryEntry", "MemoryPage", "MemoryRequest"]


class Log(IntEnum):
    """The target's logs."""

    HM = 0
    EDR = 1


@dataclass(frozen=True, slots=True)
class MemoryRequest:
    """Asks for the heaps of partitions from ``first`` on."""

    first: int = 0


@dataclass(frozen=True, slots=True)
class MemoryEntry:
    """A heap, in bytes; partition 0 is the kernel's."""

    partition: int
    free: int
    allocated: int
    blocks: int
    largest: int
    high_water: int


@dataclass(frozen=True, slots=True)
class MemoryPage:
    """Heaps as of ``time`` (ticks); ``next`` is the first partition of the next page, 0: there is none."""

    time: int
    entries: tuple[MemoryEntry, ...] = ()
    next: int = 0


@dataclass(frozen=True, slots=True)
class LogRequest:
    """Asks for entries of a log, newest first, with a number below ``before`` (0: the newest).

    ``type`` is an HM code, or severity and facility bits of an ED&R kind. ``count`` 0: as many as fit.
    """

    log: Log
    before: int = 0
    count: int = 0
    type: int | None = None
    partition: int | None = None


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry of a log. ``time`` is in ticks since the boot that ``boot_cycle`` counts; indices 65535: none."""

    number: int
    time: int
    boot_cycle: int = 0
    kind: int = 0
    code: int = 0
    level: int = 0
    subcode: int = 0
    address: int = 0
    action: int = 0
    partition: int = 0xFFFF
    task: int = 0xFFFF
    partition_name: str = ""
    task_name: str = ""
    message: str = ""


@dataclass(frozen=True, slots=True)
class LogPage:
    """A page of a log that holds the numbers ``oldest`` ... ``next`` - 1; go on below ``before``, 0: no more."""

    log: Log
    oldest: int
    next: int
    missed: int
    generation: int
    boot_cycle: int
    before: int
    entries: tuple[LogEntry, ...] = ()
    unreadable: int = 0
