# SPDX-License-Identifier: Apache-2.0
"""The HM and ED&R logs: a document for machines, CSV, and report blocks. Numbers stand beside their names."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from vxmon import __version__
from vxmon.analysis.hm_log import HmLog, LogRow
from vxmon.icd.decoded import DecodedFields
from vxmon.icd.icd import Icd
from vxmon.icd.layout import Layout
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.icd_data import decoded_json
from vxmon.report.icd_values import message_lines
from vxmon.report.lines import LinePrinter
from vxmon.report.message_fields import MessageFields
from vxmon.trace.around import Surroundings
from vxmon.wire.acquired import Log, LogEntry
from vxmon.wire.types import NOT_KNOWN
from vxmon.words import counted

__all__ = ["DOCUMENT_VERSION", "SCHEMA", "hm_log_blocks", "hm_log_csv", "hm_log_document"]

SCHEMA: Final = "vxmon.hm-log"
DOCUMENT_VERSION: Final = 1

_NO_ENTRY: Final = LogEntry(0, 0)

Json = dict[str, Any]


def hm_log_document(log: HmLog, facts: Json, icd: Icd | None = None) -> Json:
    """Entries as a JSON document.

    Args:
        log: the entries.
        facts: where they come from; of sessions ``files`` and ``loss`` as in all reports.
        icd: what messages mean.

    """
    printer = _printer(icd)
    return {
        "schema": SCHEMA,
        "version": DOCUMENT_VERSION,
        "vxmon": __version__,
        "log": log.log.name.lower(),
        **facts,
        "recorded": log.recorded,
        "entries": [_plain(row) | _around_json(row, printer) | _fields_json(row, icd) for row in log.rows],
    }


def _printer(icd: Icd | None) -> LinePrinter:
    return LinePrinter(fields=None if icd is None else MessageFields(icd, apart=True))


def _fields_json(row: LogRow, icd: Icd | None) -> Json:
    """The fields of an entry's own message, where the ICD describes it."""
    layout, decoded = _decoded(row, icd)
    if layout is None or decoded is None:
        return {}
    found = decoded_json(layout, decoded)
    return {"fields": {"message": found["message"], **found["messages"][0]}}


def _decoded(row: LogRow, icd: Icd | None) -> tuple[Layout | None, DecodedFields | None]:
    """The message of an entry by the layout that is bound to the name of its code, in its partition."""
    layout = None if icd is None else icd.layout_for(row.code_name, row.entry.partition_name or None)
    if layout is None or not row.message:
        return None, None
    return layout, layout.decode(np.frombuffer(row.message.encode(), np.uint8).reshape(1, -1))


def _with_fields(row: LogRow, icd: Icd | None) -> LogRow:
    """The entry with the fields of its message behind the message, as ``print`` writes them."""
    _, decoded = _decoded(row, icd)
    if decoded is None:
        return row
    text = message_lines(decoded).decode("utf-8", "backslashreplace").rstrip("\n")
    return replace(row, message=f"{row.message}{text}")


def _plain(row: LogRow) -> Json:
    entry = row.entry
    common = {
        "entry": entry.number,
        "boot": f"0x{row.boot:08x}" if row.boot else None,
        "boot_cycle": None if row.log is Log.HM and row.message is None else entry.boot_cycle,
        "time_ticks": entry.time,
        "time_ns": row.time_ns,
        "partition": None if entry.partition == NOT_KNOWN else entry.partition,
        "partition_name": entry.partition_name or None,
        "task": None if entry.task == NOT_KNOWN else entry.task,
        "task_name": entry.task_name or None,
        "address": f"0x{entry.address:08x}",
        "message": row.message,
    }
    if row.log is Log.HM:
        return common | {
            "code": entry.code,
            "code_name": row.code_name or None,
            "level": entry.level,
            "level_name": row.level_name or None,
            "subcode": entry.subcode,
            "action": entry.action,
            "action_name": row.action_name or None,
        }
    return common | {
        "kind": f"0x{entry.kind:x}",
        "severity": row.severity or None,
        "facility": row.facility or None,
    }


def _around_json(row: LogRow, printer: LinePrinter) -> Json:
    """The events around an entry, as lines; ``line`` is the entry's own among them."""
    if row.around is None:
        return {}
    return {"around": {"lines": _lines(row.around, printer), "line": row.around.at, "lost_records": row.around.lost}}


def _lines(around: Surroundings, printer: LinePrinter) -> list[str]:
    return printer.lines(around.chunk).decode("utf-8", "backslashreplace").split("\n")[:-1]


def hm_log_csv(log: HmLog) -> str:
    """Entries as CSV with a line of names; empty: not known or not recorded."""
    out = io.StringIO()
    empty = _plain(LogRow(log.log, _NO_ENTRY, None))
    writer = csv.DictWriter(out, list(empty), lineterminator="\n")
    writer.writeheader()
    writer.writerows(_plain(row) for row in log.rows)
    return out.getvalue()


def hm_log_blocks(log: HmLog, icd: Icd | None = None) -> list[Block]:
    """Entries as a table, newest first; the events around each where there are any. ``icd``: what messages mean."""
    log = replace(log, rows=[_with_fields(row, icd) for row in log.rows])
    if any(row.around is not None for row in log.rows):
        return list(_around_blocks(log, icd))
    if not log.rows:
        return [Text(("no entries" if log.recorded else "not recorded: the runs left this event out",))]
    return [_table(log.log, log.rows, "HM log, newest first" if log.log is Log.HM else "ED&R log, newest first")]


def _around_blocks(log: HmLog, icd: Icd | None) -> Iterator[Block]:
    """Each entry with the events around it; its own is marked."""
    printer = _printer(icd)
    kept = 0
    for row in log.rows:
        yield _table(log.log, [row], "")
        if row.around is None:
            continue
        kept += 1
        lines = [("> " if at == row.around.at else "  ") + line for at, line in enumerate(_lines(row.around, printer))]
        if row.around.lost:
            lines.append(f"INCOMPLETE: {counted(row.around.lost, 'record')} missing among these events")
        yield Text(tuple(lines))
    if kept < len(log.rows):
        yield Text((f"events are shown around the newest {kept} entries only",))


def _table(log: Log, rows: list[LogRow], title: str) -> Table:
    if log is Log.HM:
        columns = (
            ">entry",
            ">time s",
            "code",
            "level",
            ">subcode",
            "partition",
            "process",
            "address",
            "action",
            "message",
        )
        return Table(title, columns, [_hm_cells(row) for row in rows])
    columns = (
        ">entry",
        ">cycle",
        ">time s",
        "severity",
        "facility",
        "kind",
        "partition",
        "process",
        "address",
        "message",
    )
    return Table(title, columns, [_edr_cells(row) for row in rows])


def _seconds(row: LogRow) -> str:
    if row.time_ns is None:
        return f"{row.entry.time} ticks"
    seconds, rest = divmod(row.time_ns, 1_000_000_000)
    return f"{seconds}.{rest:09d}"


def _named(number: int, name: str) -> str:
    return f"{name} ({number})" if name else str(number)


def _owner(number: int, name: str) -> str:
    return "-" if number == NOT_KNOWN else _named(number, name)


def _hm_cells(row: LogRow) -> tuple[str, ...]:
    entry = row.entry
    return (
        f"{entry.number}", _seconds(row), _named(entry.code, row.code_name), _named(entry.level, row.level_name),
        f"{entry.subcode}", _owner(entry.partition, entry.partition_name), _owner(entry.task, entry.task_name),
        f"0x{entry.address:08x}", _named(entry.action, row.action_name), row.message or "",
    )  # fmt: skip


def _edr_cells(row: LogRow) -> tuple[str, ...]:
    entry = row.entry
    return (
        f"{entry.number}", f"{entry.boot_cycle}", _seconds(row), row.severity, row.facility, f"0x{entry.kind:x}",
        _owner(entry.partition, entry.partition_name), _owner(entry.task, entry.task_name),
        f"0x{entry.address:08x}", row.message or "",
    )  # fmt: skip
