# SPDX-License-Identifier: Apache-2.0
"""What a session holds and lacks: a document for machines, and the same as report blocks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon import __version__
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.config import config_document
from vxmon.report.link import clock_document, clock_rows, link_blocks, link_document
from vxmon.trace import CAUSES, LOSS_ID, Boot, Facts, FileFacts, Run, Stream, ticks_to_ns
from vxmon.trace.cuts import Cut
from vxmon.wire.refusals import REASONS, refused_text
from vxmon.wire.types import LinkCounters
from vxmon.words import counted

__all__ = ["DOCUMENT_VERSION", "info_blocks", "info_document"]

# Of the JSON document; raised when a reader of the old one would misread the new one.
DOCUMENT_VERSION: Final = 1
# Loss intervals in the document, the largest; all are counted.
_MOST_INTERVALS: Final = 1000

Json = dict[str, Any]
Counts = Mapping[int, NDArray[np.int64]]


def info_document(facts: Facts, counts: Counts) -> Json:
    """Facts as a JSON document. ``counts`` are the records of each event id, by boot number."""
    boots = facts.boots
    by_class: dict[str, int] = {}
    events: dict[str, int] = {}
    for boot in boots:
        _count(boot, counts.get(boot.number), events, by_class)
    return {
        "version": DOCUMENT_VERSION,
        "vxmon": __version__,
        "files": [_file(file) for file in facts.files],
        "target": _target(boots[-1]) if boots else None,
        "boots": [_boot(boot) for boot in boots],
        "duration_ns": _total([_duration(boot) for boot in boots]),
        "events": dict(sorted(events.items())),
        "classes": dict(sorted(by_class.items())),
        "streams": [_stream(b, r, s) for b in boots for r in b.runs.values() for s in r.streams.values()],
        "recorded": sum(stream.recorded for stream in facts.streams),
        "delivered": facts.delivered,
        "before_attach": sum(stream.before_attach for stream in facts.streams),
        "not_in_this_file": facts.cut_away,
        "cut": None if facts.cut is None else _cut_json(facts.cut),
        "lost": facts.lost,
        "incomplete": facts.incomplete,
        "loss_interval_count": len(facts.losses),
        "loss_intervals": _intervals(facts),
        "datagrams": _datagrams(facts),
        "link_events": link_document(facts),
        "problems": [*facts.problems, *_losses(facts)],
    }


def _losses(facts: Facts) -> list[str]:
    """What is lost, a sentence a stream."""
    return [
        f"boot 0x{boot.id:08x} run {run.number} stream {stream.stream}: "
        f"{stream.lost_records} of {counted(stream.recorded, 'record')} lost ("
        + ", ".join(f"{cause} {count}" for cause, count in stream.lost.items() if count)
        + ")"
        for boot in facts.boots
        for run in boot.runs.values()
        for stream in run.streams.values()
        if stream.lost_records
    ]


def _count(boot: Boot, counts: NDArray[np.int64] | None, events: dict[str, int], by_class: dict[str, int]) -> None:
    if counts is None:
        return
    known = {event.id: event for event in boot.table.events}
    for number in np.flatnonzero(counts[:LOSS_ID]).tolist():
        event = known.get(number)
        name, group = (event.name, event.klass) if event is not None else (f"EVENT_{number}", "UNKNOWN")
        events[name] = events.get(name, 0) + int(counts[number])
        by_class[group] = by_class.get(group, 0) + int(counts[number])


def _total(values: list[int | None]) -> int | None:
    known = [value for value in values if value is not None]
    return sum(known) if known else None


def _ns(boot: Boot, ticks: int | None) -> int | None:
    """Nanoseconds since the target's clock was 0; None when the clock rate is not known."""
    return ticks_to_ns(ticks, boot.clock_hz) if ticks is not None and boot.clock_hz else None


def _duration(boot: Boot) -> int | None:
    """From the first record to the last."""
    if boot.first_time is None or boot.last_time is None:
        return 0
    return _ns(boot, boot.last_time - boot.first_time)


def _file(file: FileFacts) -> Json:
    return {
        "name": file.name,
        "size_bytes": file.size,
        "format": file.format,
        "packets": file.packets,
        "skipped_packets": file.skipped,
        "cut_bytes": file.cut_bytes,
        "damaged_bytes": file.damaged_bytes,
        "first_arrival_ns": file.first_ns,
        "last_arrival_ns": file.last_ns,
        "command": file.metadata.get("command"),
        "created": file.metadata.get("created"),
        "host": file.metadata.get("host"),
    }


def _target(boot: Boot) -> Json:
    info = boot.info
    return {
        "board": info.board if info is not None else None,
        "os_name": info.os_name if info is not None else None,
        "os_release": boot.os_release or None,
        "byte_order": boot.byte_order or None,
        "clock_hz": boot.clock_hz or None,
        "agent_version": info.agent_version if info is not None else None,
        "streams": info.streams if info is not None else None,
        "arena_bytes": info.arena_bytes if info is not None else None,
        "events_offered": len(info.offered) if info is not None else None,
        "unnamed_objects": info.unnamed if info is not None else None,
        "key": info.has_key if info is not None else None,
    }


def _boot(boot: Boot) -> Json:
    link = boot.link
    return {
        "boot": f"0x{boot.id:08x}",
        **_target(boot),
        "event_table": f"0x{boot.table_fingerprint:08x}",
        "event_table_source": boot.table_source,
        "duration_ns": _duration(boot),
        "clock": clock_document(boot),
        "runs": [_run(boot, run) for run in boot.runs.values()],
        "schedules": _schedules(boot),
        "partitions": {str(p.index): p.name for _, p in sorted(boot.names.partitions.items())},
        "task_count": len(boot.names.tasks),
        "object_count": len(boot.names.objects),
        "link": None if link is None else {
            "sent": link.sent, "received": link.received, "refused": link.refused, "resent": link.resent,
            "send_failed": link.send_failed, "refused_by_reason": {name: getattr(link, name) for name in REASONS},
        },
    }  # fmt: skip


def _run(boot: Boot, run: Run) -> Json:
    reasons = next((e.values for e in boot.table.enums if e.name == "stop_reason"), {})
    return {
        "run": run.number,
        "started_ns": _ns(boot, run.started),
        "ended_ns": _ns(boot, run.ended),
        "end_reason": None if run.end_reason is None else reasons.get(run.end_reason, str(run.end_reason)),
        "seen_from_start": run.seen_from_start,
        "end_seen": run.complete,
        "config": None if run.config is None else config_document(boot.table, run.config),
    }


def _schedules(boot: Boot) -> list[Json]:
    names = boot.names.named("partition")
    return [
        {
            "schedule": schedule.id,
            "major_frame_ns": _ns(boot, schedule.major_frame),
            "windows": [
                {
                    "window": number,
                    "partition": names.get(window.partition, str(window.partition)),
                    "offset_ns": _ns(boot, window.offset),
                    "duration_ns": _ns(boot, window.duration),
                    "release_point": window.release_point,
                }
                for number, window in enumerate(schedule.windows)
            ],
        }
        for _, schedule in sorted(boot.names.schedules.items())
    ]


def _stream(boot: Boot, run: Run, stream: Stream) -> Json:
    return {
        "boot": f"0x{boot.id:08x}",
        "run": run.number,
        "stream": stream.stream,
        "recorded": stream.recorded,
        "before_attach": stream.before_attach,
        "not_in_this_file": stream.cut_away,
        "delivered": stream.delivered,
        "lost": dict(stream.lost),
        "blocks": stream.blocks,
        "first_ns": _ns(boot, stream.first_time),
        "last_ns": _ns(boot, stream.last_time),
    }


def _intervals(facts: Facts) -> list[Json]:
    """The largest loss intervals, in order."""
    losses = facts.losses
    if len(losses) > _MOST_INTERVALS:
        losses = losses[np.sort(np.argsort(-losses["records"], kind="stable")[:_MOST_INTERVALS])]
    found = []
    for loss in losses:
        boot = facts.boots[int(loss["boot"])]
        start, end = (int(loss[name]) if loss[name] >= 0 else None for name in ("start", "end"))
        found.append(
            {
                "boot": f"0x{boot.id:08x}",
                "run": int(loss["run"]),
                "stream": int(loss["stream"]),
                "first_index": int(loss["first_index"]),
                "records": int(loss["records"]),
                "from_ns": _ns(boot, start),
                "to_ns": _ns(boot, end),
                "causes": {cause: int(loss[cause]) for cause in CAUSES if loss[cause]},
            }
        )
    return found


def _datagrams(facts: Facts) -> Json:
    counters = facts.counters
    return {
        "by_channel": dict(sorted(counters.channels.items())),
        "duplicate_blocks": counters.duplicates,
        "corrupt_blocks": counters.corrupt_blocks,
        "truncated": counters.truncated,
        "refused": {kind: count for kind, count in sorted(counters.refused.items()) if count},
        "newer_format": counters.newer,
        "unknown_channel": counters.unknown_channels,
        "foreign": counters.foreign,
        "socket_drops": counters.socket_drops,
    }


# ---------------------------------------------------------------- for people


def info_blocks(document: Json) -> list[Block]:
    """The document as text."""
    blocks: list[Block] = [Text(_summary(document), important=document["incomplete"])]
    blocks.append(Table("Files", ("file", ">bytes", "format", ">packets", ">cut", "command"), _file_rows(document)))
    for boot in document["boots"]:
        blocks += _boot_blocks(boot)
    blocks.append(_streams(document))
    blocks.append(Table("Events", ("event", ">records"), [(n, str(c)) for n, c in document["events"].items()]))
    blocks.append(Table("Classes", ("class", ">records"), [(n, str(c)) for n, c in document["classes"].items()]))
    blocks += link_blocks(document["link_events"])
    blocks.append(Table("Datagrams", ("what", ">count"), _datagram_rows(document["datagrams"])))
    problems = document["problems"] or ["none found"]
    blocks.append(Text(("Problems", *(f"  {problem}" for problem in problems)), important=bool(document["problems"])))
    return blocks


def _cut_json(cut: Cut) -> Json:
    return {"what": cut.what, "of": list(cut.of), "goes_on": cut.more, "text": cut.text}


_AWAY_AT: Final = 5
_STREAM_COLUMNS: Final = (
    "boot", ">run", ">stream", ">recorded", ">before attach", ">delivered", ">lost", "causes", ">blocks",
)  # fmt: skip


def _summary(document: Json) -> tuple[str, ...]:
    word = "INCOMPLETE" if document["incomplete"] else "complete"
    events = counted(document["delivered"], "event")
    lines = [f"{events} in {_seconds(document['duration_ns'])}, {document['lost']} lost: {word}"]
    cut = document["cut"]
    if cut is not None:
        number = document["not_in_this_file"]
        away = f": {counted(number, 'record is', 'records are')} not in this file, not lost"
        # Parts with one missing between them have nothing outside of them: that one counts as lost.
        lines.append(cut["text"] + (away if number else ""))
    return tuple(lines)


def _seconds(ns: int | None) -> str:
    return "not known" if ns is None else f"{ns // 10**9}.{ns % 10**9:09} s"


def _text(value: object) -> str:
    return "not known" if value is None else str(value)


def _file_rows(document: Json) -> list[tuple[str, ...]]:
    return [
        (
            file["name"], _text(file["size_bytes"]), file["format"], str(file["packets"]), str(file["cut_bytes"]),
            " ".join(map(str, file["command"])) if isinstance(file["command"], list) else "not known",
        )
        for file in document["files"]
    ]  # fmt: skip


def _boot_blocks(boot: Json) -> list[Block]:
    names = ("board", "os_name", "os_release", "byte_order", "clock_hz", "agent_version", "streams")
    rows = [(name.replace("_", " "), _text(boot[name])) for name in names]
    rows.append(("event table", f"{boot['event_table']}, {boot['event_table_source']}"))
    rows.append(("duration", _seconds(boot["duration_ns"])))
    rows += clock_rows(boot["clock"])
    rows.append(("partitions", ", ".join(boot["partitions"].values()) or "not known"))
    rows.append(("tasks, objects", f"{boot['task_count']}, {boot['object_count']}"))
    if boot["key"] is not None:
        rows.append(("key", "needed" if boot["key"] else "none"))
    rows.append(("since boot", _link_text(boot["link"])))
    blocks: list[Block] = [Table(f"Target, boot {boot['boot']}", ("fact", "value"), rows)]
    columns = (">run", "started", "ended", "reason", "seen from start", "policy", "way")
    blocks.append(Table("Runs", columns, [_run_row(run) for run in boot["runs"]]))
    blocks += [_plan(schedule) for schedule in boot["schedules"]]
    return blocks


def _link_text(link: Json | None) -> str:
    """What the target refused."""
    if link is None:
        return "not known"
    reasons = LinkCounters(refused=link["refused"], **link["refused_by_reason"])
    return refused_text(reasons) or "no datagram refused"


def _run_row(run: Json) -> tuple[str, ...]:
    config = run["config"]
    policy, way = "not known", "not known"
    if config is not None:
        policy, way = config["policy"], "one-way" if config["one_way"] else "acknowledged"
        way += ", headers only (fast)" if config["fast"] else ""
    return (
        str(run["run"]), _seconds(run["started_ns"]), _seconds(run["ended_ns"]), _text(run["end_reason"]),
        "yes" if run["seen_from_start"] else "no", policy, way,
    )  # fmt: skip


def _plan(schedule: Json) -> Table:
    title = f"Schedule {schedule['schedule']}, major frame {_microseconds(schedule['major_frame_ns'])} us"
    rows = [
        (
            str(w["window"]), w["partition"], _microseconds(w["offset_ns"]), _microseconds(w["duration_ns"]),
            "yes" if w["release_point"] else "",
        )
        for w in schedule["windows"]
    ]  # fmt: skip
    return Table(title, (">window", "partition", ">offset us", ">duration us", "release point"), rows)


def _microseconds(ns: int | None) -> str:
    return "not known" if ns is None else f"{ns // 1000}.{ns % 1000:03}"


def _streams(document: Json) -> Table:
    """The streams; of a cut session with what is not in this file."""
    rows = [_stream_row(stream) for stream in document["streams"]]
    if document["cut"] is None:
        return Table("Streams", _STREAM_COLUMNS, rows)
    away = [str(stream["not_in_this_file"]) for stream in document["streams"]]
    columns = (*_STREAM_COLUMNS[:_AWAY_AT], ">not in this file", *_STREAM_COLUMNS[_AWAY_AT:])
    return Table(
        "Streams", columns,
        [(*row[:_AWAY_AT], number, *row[_AWAY_AT:]) for row, number in zip(rows, away, strict=True)],
    )  # fmt: skip


def _stream_row(stream: Json) -> tuple[str, ...]:
    lost = stream["lost"]
    causes = ", ".join(f"{cause} {count}" for cause, count in lost.items() if count)
    return (
        stream["boot"], str(stream["run"]), str(stream["stream"]), str(stream["recorded"]),
        str(stream["before_attach"]), str(stream["delivered"]), str(sum(lost.values())), causes or "-",
        str(stream["blocks"]),
    )  # fmt: skip


def _datagram_rows(datagrams: Json) -> list[tuple[str, str]]:
    rows = [(f"channel {name}", str(count)) for name, count in datagrams["by_channel"].items()]
    rows += [(f"refused: {kind}", str(count)) for kind, count in datagrams["refused"].items()]
    plain = ("duplicate_blocks", "corrupt_blocks", "truncated", "newer_format", "unknown_channel", "foreign")
    rows += [(name.replace("_", " "), str(datagrams[name])) for name in (*plain, "socket_drops")]
    return rows
