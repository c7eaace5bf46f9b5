# SPDX-License-Identifier: Apache-2.0
"""Reads logs page by page, newest first, while new entries may come; and the heaps of partitions."""

from __future__ import annotations

from dataclasses import dataclass, field, replace

from vxmon.errors import TargetError
from vxmon.link.client import Client
from vxmon.wire.acquired import LogEntry, LogPage, LogRequest, MemoryEntry, MemoryPage, MemoryRequest

__all__ = ["LogReading", "read_log", "read_memory"]


@dataclass(slots=True)
class LogReading:
    """What was read. ``missed`` and the range ``oldest`` ... ``next`` - 1 are those of the first page.

    ``unreadable`` counts entries that were overwritten while they were read.
    """

    oldest: int = 0
    next: int = 0
    missed: int = 0
    boot_cycle: int = 0
    unreadable: int = 0
    entries: list[LogEntry] = field(default_factory=list)


def read_log(client: Client, wanted: LogRequest) -> LogReading:
    """Read the newest ``wanted.count`` (0: all) entries that fit the request.

    Raises:
        TargetError: the target does not answer, refuses, or made its log anew meanwhile.

    """
    reading = LogReading()
    first: LogPage | None = None
    before = wanted.before
    while True:
        left = wanted.count - len(reading.entries) if wanted.count else 0
        page = client.demand(replace(wanted, before=before, count=left)).body
        if not isinstance(page, LogPage) or page.log != wanted.log:
            raise TargetError(f"{client.name}: no page of the log in the reply")
        if first is None:
            first = page
            reading.oldest, reading.next = page.oldest, page.next
            reading.missed, reading.boot_cycle = page.missed, page.boot_cycle
        elif page.generation != first.generation:
            raise TargetError(f"{client.name}: the log was made anew while it was read; read it again")
        reading.entries += page.entries
        reading.unreadable += page.unreadable
        if not page.before or (wanted.count and len(reading.entries) >= wanted.count):
            return reading
        if before and page.before >= before:
            raise TargetError(f"{client.name}: the pages of the log do not go on")
        before = page.before


def read_memory(client: Client) -> list[MemoryEntry]:
    """Read the heaps of all partitions that have one.

    Raises:
        TargetError: the target does not answer, or cannot tell.

    """
    entries: list[MemoryEntry] = []
    first = 0
    while True:
        page = client.demand(MemoryRequest(first)).body
        if not isinstance(page, MemoryPage):
            raise TargetError(f"{client.name}: no page of memory in the reply")
        entries += page.entries
        if page.next <= first:
            return entries
        first = page.next
