# SPDX-License-Identifier: Apache-2.0
"""Pages of memory and logs: generated messages to types and back, with their bounds."""

from __future__ import annotations

from typing import Final

from vxmon.errors import WireError
from vxmon.wire.acquired import Log, LogEntry, LogPage, LogRequest, MemoryEntry, MemoryPage
from vxmon.wire.convert import MAX_NAME, check_count, check_numbers, check_text, enum_from
from vxmon.wire.generated import vxmon_pb2 as pb

__all__ = [
    "log_page_from",
    "log_page_to",
    "log_request_from",
    "log_request_to",
    "memory_page_from",
    "memory_page_to",
]

_MEMORY_PAGE: Final = 16
_LOG_PAGE: Final = 8
_MAX_MESSAGE: Final = 63


def memory_page_from(message: pb.MemoryPage) -> MemoryPage:
    """A page of heaps; raises WireError."""
    check_count(len(message.entries), _MEMORY_PAGE, "memory page")
    check_numbers("memory page", message.time)
    entries = tuple(
        MemoryEntry(e.partition, e.free, e.allocated, e.blocks, e.largest, e.high_water) for e in message.entries
    )
    return MemoryPage(message.time, entries, message.next)


def memory_page_to(page: MemoryPage) -> pb.MemoryPage:
    """The reverse of :func:`memory_page_from`."""
    entries = (
        pb.MemoryEntry(
            partition=e.partition, free=e.free, allocated=e.allocated, blocks=e.blocks, largest=e.largest,
            high_water=e.high_water,
        )
        for e in page.entries
    )  # fmt: skip
    return pb.MemoryPage(time=page.time, entries=entries, next=page.next)


def log_request_from(message: pb.LogRequest) -> LogRequest:
    """A request for log entries; raises WireError."""
    check_numbers("log request", message.before)
    return LogRequest(
        log=enum_from(Log, message.log, "log request: log"),
        before=message.before,
        count=message.count,
        type=message.type if message.HasField("type") else None,
        partition=message.partition if message.HasField("partition") else None,
    )


def log_request_to(request: LogRequest) -> pb.LogRequest:
    """The reverse of :func:`log_request_from`."""
    return pb.LogRequest(
        log=request.log, before=request.before, count=request.count, type=request.type, partition=request.partition
    )


def log_page_from(message: pb.LogPage) -> LogPage:
    """A page of a log; raises WireError."""
    check_count(len(message.entries), _LOG_PAGE, "log page")
    check_numbers("log page", message.oldest, message.next, message.missed, message.before)
    entries = tuple(map(_entry_from, message.entries))
    numbers = [entry.number for entry in entries]
    if numbers != sorted(set(numbers), reverse=True) or (numbers and message.before > numbers[-1]):
        raise WireError("payload", "log page: its entries are not in order")
    return LogPage(
        log=enum_from(Log, message.log, "log page: log"),
        oldest=message.oldest,
        next=message.next,
        missed=message.missed,
        generation=message.generation,
        boot_cycle=message.boot_cycle,
        before=message.before,
        entries=entries,
        unreadable=message.unreadable,
    )


def _entry_from(message: pb.LogEntry) -> LogEntry:
    check_numbers("log entry", message.number, message.time)
    if max(message.partition, message.task) > 0xFFFF:
        raise WireError("payload", "log entry: an index is larger than 65535")
    return LogEntry(
        number=message.number,
        time=message.time,
        boot_cycle=message.boot_cycle,
        kind=message.kind,
        code=message.code,
        level=message.level,
        subcode=message.subcode,
        address=message.address,
        action=message.action,
        partition=message.partition,
        task=message.task,
        partition_name=check_text(message.partition_name, MAX_NAME, "log entry: partition"),
        task_name=check_text(message.task_name, MAX_NAME, "log entry: task"),
        message=check_text(message.message, _MAX_MESSAGE, "log entry: message"),
    )


def log_page_to(page: LogPage) -> pb.LogPage:
    """The reverse of :func:`log_page_from`."""
    return pb.LogPage(
        log=page.log,
        oldest=page.oldest,
        next=page.next,
        missed=page.missed,
        generation=page.generation,
        boot_cycle=page.boot_cycle,
        before=page.before,
        entries=map(_entry_to, page.entries),
        unreadable=page.unreadable,
    )


def _entry_to(entry: LogEntry) -> pb.LogEntry:
    return pb.LogEntry(
        number=entry.number,
        time=entry.time,
        boot_cycle=entry.boot_cycle,
        kind=entry.kind,
        code=entry.code,
        level=entry.level,
        subcode=entry.subcode,
        address=entry.address,
        action=entry.action,
        partition=entry.partition,
        task=entry.task,
        partition_name=entry.partition_name,
        task_name=entry.task_name,
        message=entry.message,
    )
