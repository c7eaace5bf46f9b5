# SPDX-License-Identifier: Apache-2.0
"""``hm-log``: entries of the health monitor's log and of the ED&R log, from a session or from pages of the target."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.edr import FACILITIES, FACILITY_MASK, SEVERITIES, SEVERITY_MASK
from vxmon.errors import InputError
from vxmon.link.selection import TargetView
from vxmon.trace.around import Collector, Surroundings
from vxmon.trace.columns import Chunk
from vxmon.trace.facts import Boot
from vxmon.trace.fields import FieldReader
from vxmon.trace.ticks import ticks_to_ns
from vxmon.trace.trace import Trace
from vxmon.wire.acquired import Log, LogEntry
from vxmon.wire.events import EventId
from vxmon.wire.types import EventTable

__all__ = ["HmLog", "LogFilter", "LogRow", "log_from_entries", "log_from_trace", "type_number"]

_EVENTS: Final = {Log.HM: EventId.HM_EVENT, Log.EDR: EventId.EDR_EVENT}
_FIELDS: Final = {
    Log.HM: ("code", "level", "subcode", "address", "task", "action", "entry"),
    Log.EDR: ("kind", "entry", "address", "task", "boot_cycle"),
}
# An event comes this soon after its entry; a number alone is not enough where a log was cleared between two boots.
_LATEST_S: Final = 1


@dataclass(frozen=True, slots=True)
class LogFilter:
    """Which entries are wanted: a type (see :func:`type_number`), a partition by name, newest so many, from a time on.

    ``since`` is in seconds of the target's clock; ``newest`` 0: all. ``around``: so many events before and after each.
    """

    type: int | None = None
    partition: str | None = None
    newest: int = 0
    since: float | None = None
    around: int = 0


@dataclass(frozen=True, slots=True)
class LogRow:
    """An entry, its numbers beside its names; a name is "" where it is not known. ``boot`` is 0 when it is not known.

    ``message`` is None where it was not recorded: it is in the log, not in the events. ``time`` is in ticks since the
    entry's boot.
    ``around`` are the events around the entry's, where they were asked for.
    """

    log: Log
    entry: LogEntry
    time_ns: int | None
    boot: int = 0
    code_name: str = ""
    level_name: str = ""
    action_name: str = ""
    severity: str = ""
    facility: str = ""
    message: str | None = None
    around: Surroundings | None = None


@dataclass(slots=True)
class HmLog:
    """Entries, newest first. ``recorded`` is False when the session's runs did not record them at all."""

    log: Log
    rows: list[LogRow] = field(default_factory=list)
    recorded: bool = True


def type_number(log: Log, name: str, table: EventTable) -> int:
    """Return the number of a type by name or number: an HM code; of ED&R a severity, a facility or both with ``+``.

    Raises:
        InputError: there is none of that name; the message lists them.

    """
    if name.isascii() and name.isdigit() and len(name) <= 9:
        return int(name)
    if log is Log.HM:
        known = {text.upper(): number for number, text in _enum(table, "hm_code").items()}
    else:
        known = {text: number for names in (SEVERITIES, FACILITIES) for number, text in names.items()}
    parts = [name.upper()] if log is Log.HM else name.upper().split("+")
    for part in parts:
        if part not in known:
            raise InputError(f"'{name}' is no type of the log; there are: {', '.join(sorted(known))}")
    return sum({known[part] for part in parts})


def _enum(table: EventTable, name: str) -> Mapping[int, str]:
    return next((enum.values for enum in table.enums if enum.name == name), {})


def _is_type(log: Log, entry: LogEntry, wanted: int | None) -> bool:
    if wanted is None:
        return True
    if log is Log.HM:
        return entry.code == wanted
    return all(not wanted & mask or entry.kind & mask == wanted & mask for mask in (SEVERITY_MASK, FACILITY_MASK))


def _row(log: Log, entry: LogEntry, table: EventTable, hz: int, boot: int, *, message: bool) -> LogRow:
    hm = log is Log.HM
    return LogRow(
        log=log,
        entry=entry,
        time_ns=ticks_to_ns(entry.time, hz) if hz else None,
        boot=boot,
        code_name=_enum(table, "hm_code").get(entry.code, "") if hm else "",
        level_name=_enum(table, "hm_level").get(entry.level, "") if hm else "",
        action_name=_enum(table, "hm_action").get(entry.action, "") if hm else "",
        severity="" if hm else SEVERITIES.get(entry.kind & SEVERITY_MASK, ""),
        facility="" if hm else FACILITIES.get(entry.kind & FACILITY_MASK, ""),
        message=entry.message if message else None,
    )


# ------------------------------------------------------------------ from the target


def log_from_entries(log: Log, entries: Iterable[LogEntry], view: TargetView, boot_cycle: int) -> HmLog:
    """Make rows of entries as the target gave them, newest first.

    Entries of this boot (``boot_cycle``) that do not bring names get them from the object table.
    """
    named = (_with_names(entry, view) if entry.boot_cycle == boot_cycle else entry for entry in entries)
    return HmLog(log, [_row(log, entry, view.table, view.info.clock_hz, 0, message=True) for entry in named])


def _with_names(entry: LogEntry, view: TargetView) -> LogEntry:
    return replace(
        entry,
        partition_name=entry.partition_name or view.partitions.get(entry.partition, ""),
        task_name=entry.task_name or view.tasks.get(entry.task, ""),
    )


# ------------------------------------------------------------------ from a session


def log_from_trace(trace: Trace, log: Log, wanted: LogFilter) -> HmLog:
    """Collect the entries whose events are in a session.

    Raises:
        InputError: the session has no partition of the wanted name.

    """
    found: list[LogRow] = []
    near = Collector(wanted.around)
    for chunk in trace.chunks():
        rows, at = _rows_of(chunk, log, wanted)
        found += rows
        if wanted.around:
            near.feed(chunk, at)
        if wanted.newest:
            found, near.found = found[-wanted.newest :], near.found[-wanted.newest :]
    if wanted.around:
        found = [replace(row, around=around) for row, around in zip(found, near.found, strict=True)]
    if wanted.partition is not None:
        _check_partition(trace, wanted.partition)
    configs = [run.config for boot in trace.facts.boots for run in boot.runs.values()]
    recorded = any(config is None or _EVENTS[log] in config.events for config in configs) or not configs
    return HmLog(log, found[::-1], recorded or bool(found))


def _check_partition(trace: Trace, name: str) -> None:
    known = {text for boot in trace.facts.boots for text in boot.names.named("partition").values()}
    if name not in known:
        raise InputError(f"the session has no partition '{name}'; there are: {', '.join(sorted(known)) or 'none'}")


def _rows_of(chunk: Chunk, log: Log, wanted: LogFilter) -> tuple[list[LogRow], NDArray[np.intp]]:
    """The entries of a chunk that are wanted, and where their events are in it."""
    columns, boot, event = chunk.columns, chunk.boot, _EVENTS[log]
    reader = FieldReader(boot.table)
    which = reader.having(columns, event, _FIELDS[log])
    if wanted.since is not None and boot.clock_hz:
        which = which[columns.time[which] >= round(wanted.since * boot.clock_hz)]
    if not len(which):
        return [], which
    values = {name: reader.values(columns, event, name, which).tolist() for name in _FIELDS[log]}
    times, partitions = columns.time[which].tolist(), columns.arg[which].astype(np.int64).tolist()
    entries = [
        _entry(boot, time, partition, {name: numbers[i] for name, numbers in values.items()})
        for i, (time, partition) in enumerate(zip(times, partitions, strict=True))
    ]
    chosen = np.array([
        _is_type(log, entry, wanted.type) and wanted.partition in (None, entry.partition_name) for entry in entries
    ])  # fmt: skip
    rows = [
        _row(log, _with_text(boot, log, entry), boot.table, boot.clock_hz, boot.id, message=_told(boot, log, entry))
        for entry, is_chosen in zip(entries, chosen, strict=True)
        if is_chosen
    ]
    return rows, which[chosen]


def _told(boot: Boot, log: Log, entry: LogEntry) -> bool:
    """The session holds the entry as the target's log has it, too; the log is written before the event."""
    told = boot.log_texts.get((log, entry.number))
    if told is None or (boot.clock_hz and not 0 <= entry.time - told.time <= _LATEST_S * boot.clock_hz):
        return False
    return (told.code, told.kind, told.partition) == (entry.code, entry.kind, entry.partition)


def _with_text(boot: Boot, log: Log, entry: LogEntry) -> LogEntry:
    """What the event does not carry, from the log, where a host read it while the session was recorded."""
    if not _told(boot, log, entry):
        return entry
    told = boot.log_texts[log, entry.number]
    return replace(entry, message=told.message, boot_cycle=told.boot_cycle)


def _entry(boot: Boot, time: int, partition: int, values: Mapping[str, int]) -> LogEntry:
    task = values["task"]
    return LogEntry(
        number=values["entry"],
        time=time,
        boot_cycle=values.get("boot_cycle", 0),
        kind=values.get("kind", 0),
        code=values.get("code", 0),
        level=values.get("level", 0),
        subcode=values.get("subcode", 0),
        address=values["address"],
        action=values.get("action", 0),
        partition=partition,
        task=task,
        partition_name=boot.names.named("partition").get(partition, ""),
        task_name=boot.names.named("task").get(task, ""),
    )
