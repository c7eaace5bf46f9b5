# SPDX-License-Identifier: Apache-2.0
"""The block before the lines, in traceprinter's style, and the word on what is missing."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import PurePath

from vxmon import __version__
from vxmon.report.digits import safe_text
from vxmon.trace import CAUSES, Boot, Facts, FileFacts, Run
from vxmon.wire.datagram import VERSION
from vxmon.words import counted

__all__ = ["header_text", "incomplete_text"]

_LIMIT_NS = 1 << 63
_LEFT_OVER = ("byte at its end is", "bytes at its end are")


def header_text(facts: Facts, *, verbose: bool = False) -> str:
    """Facts of the session as ``TRACE_<KEY>:: value`` lines; ``verbose`` adds streams, names and problems."""
    lines = [f"VXMON TRACEPRINTER version {__version__}", " -- HEADER FILE INFORMATION -- "]
    for file in facts.files:
        lines += _lines(_file(file))
    lines += _lines(_cut(facts)) if facts.cut is not None else []
    for boot in facts.boots:
        lines += _lines(_boot(boot))
        for run in boot.runs.values() if facts.complete else ():
            lines += _lines(_run(run, verbose=verbose))
        lines += _lines(_names(boot)) if verbose else []
    lines += _lines(("PROBLEM", problem) for problem in facts.problems) if verbose else []
    return "\n".join([*lines, " -- KERNEL EVENTS -- ", ""])


def _lines(facts: Iterator[tuple[str, object]]) -> list[str]:
    return [f"{'TRACE_' + key:>22}:: {safe_text(str(value)).decode()}" for key, value in facts]


def _file(file: FileFacts) -> Iterator[tuple[str, object]]:
    yield "FILE_NAME", PurePath(file.name).name or file.name
    if file.first_ns is not None and 0 <= file.first_ns < _LIMIT_NS:
        yield "DATE", f"{datetime.fromtimestamp(file.first_ns // 10**9, UTC):%a %b %e %H:%M:%S %Y} UTC"
    yield "VER_MAJOR", VERSION
    yield "VER_MINOR", "00"
    command = file.metadata.get("command")
    if isinstance(command, list):
        yield "TRACELOGGER_ARGS", " ".join(map(str, command))
    if file.cut_bytes:
        yield "CUT_BYTES", file.cut_bytes


def _cut(facts: Facts) -> Iterator[tuple[str, object]]:
    if facts.cut is not None:
        yield "CUT", facts.cut.text
    if facts.complete:
        yield "NOT_IN_THIS_FILE", facts.cut_away


def _boot(boot: Boot) -> Iterator[tuple[str, object]]:
    info = boot.info
    yield "BOOT_ID", f"0x{boot.id:08x}"
    if boot.byte_order:
        yield f"{boot.byte_order.upper()}_ENDIAN", "TRUE"
    yield "ENCODING", "8 byte slots"
    yield "CYCLES_PER_SEC", boot.clock_hz or "not known"
    if info is not None:
        yield "CPU_NUM", info.streams
        yield "SYSNAME", info.os_name
        yield "MACHINE", info.board
        yield "AGENT_VERSION", info.agent_version
    yield "SYS_RELEASE", boot.os_release or "not known"
    yield "EVENT_TABLE", f"0x{boot.table_fingerprint:08x} ({boot.table_source})"


def _run(run: Run, *, verbose: bool) -> Iterator[tuple[str, object]]:
    streams = run.streams.values()
    yield "RUN", run.number if run.complete else f"{run.number} (its end is not in the session)"
    yield "EVENTS", sum(s.delivered for s in streams)
    yield "LOST", sum(s.lost_records for s in streams)
    before = sum(s.before_attach for s in streams)
    if before:
        yield "BEFORE_ATTACH", before
    for stream in streams if verbose else ():
        lost = "".join(f" {cause}:{stream.lost[cause]}" for cause in CAUSES if stream.lost[cause])
        yield "STREAM", f"{stream.stream} recorded:{stream.recorded} delivered:{stream.delivered}{lost}"


def _names(boot: Boot) -> Iterator[tuple[str, object]]:
    for schedule in boot.names.schedules.values():
        yield "SCHEDULE", f"{schedule.id} major_frame:{schedule.major_frame} windows:{len(schedule.windows)}"
    for partition in boot.names.partitions.values():
        yield "PARTITION", f"{partition.index} {partition.name}"
    for task in boot.names.tasks.values():
        yield "TASK", f"{task.index} {task.name} partition:{task.partition} priority:{task.priority}"


def incomplete_text(facts: Facts) -> str:
    """One line on what is missing or damaged; empty when nothing is."""
    if not facts.incomplete:
        return ""
    parts = []
    if facts.lost:
        total = sum(s.expected for s in facts.streams)
        causes = {cause: sum(s.lost[cause] for s in facts.streams) for cause in CAUSES}
        named = ", ".join(f"{cause} {count}" for cause, count in causes.items() if count)
        parts.append(
            f"{facts.lost} of {counted(total, 'record')} lost in "
            f"{counted(len(facts.losses) + facts.more_losses, 'place')} ({named})"
        )
    for file in facts.files:
        if file.cut_bytes:
            parts.append(f"{file.name} is cut: {counted(file.cut_bytes, *_LEFT_OVER)} of no use")
        if file.damaged_bytes:
            parts.append(f"{file.name} is damaged: {counted(file.damaged_bytes, 'byte')} skipped")
    counters = facts.counters
    counts = (
        (counters.corrupt_blocks, "corrupt block", ""),
        (counters.truncated, "datagram cut by a snapshot length", "datagrams cut by a snapshot length"),
        (counters.newer, "datagram of a newer wire format", "datagrams of a newer wire format"),
    )
    parts += [counted(count, one, many) for count, one, many in counts if count]
    return "INCOMPLETE: " + "; ".join([*parts, *facts.absent])
