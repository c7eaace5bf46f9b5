# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.support.coverage``: which events the demo target offers, and in which scenario each is seen.

Runs every scenario with every OS release, and once beside a host that gives commands, and writes the tables in
target_c/README.md between their marks.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from tests.support.qemu import KERNEL
from tests.support.recorded import record
from tests.support.tree import ROOT
from vxmon.link.client import Client
from vxmon.link.learning import learn_target
from vxmon.link.qemu import LIVE, Boot, DemoTarget, forward_options, free_port
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter
from vxmon.trace import open_trace
from vxmon.wire.events import TABLES, EventId
from vxmon.wire.types import Event, EventTable, Filter, Payload, RunConfig, Scenario, Start, Stop, Trigger

__all__ = ["COMMANDS", "DOCUMENT", "SCENARIOS", "document_tables", "seen_events"]

DOCUMENT: Final = ROOT / "target_c/README.md"
BEGIN, END = "<!-- events: begin -->", "<!-- events: end -->"
# Frames of 20 ms each; the clock's lower half rolls over after 10.7 s, errors come in the first seconds.
SCENARIOS: Final = {"nominal": 560, "overload": 100, "leak": 100, "faults": 560, "chatter": 60, "bursty": 100}
# Column for what only a host's commands bring about.
COMMANDS: Final = "commands"
_SILENCE_S: Final = 4.5
_BOOT_S: Final = 30.0

Seen = Mapping[str, frozenset[int]]


def seen_events(release: str) -> Seen:
    """Ids of the events recorded in each scenario, and beside commands of a host."""
    with tempfile.TemporaryDirectory(prefix="vxmon-") as folder:
        seen = {name: _scenario(Path(folder), release, name, frames) for name, frames in SCENARIOS.items()}
        return {**seen, COMMANDS: _commands(Path(folder) / "commands.pcapng", release)}


def _scenario(folder: Path, release: str, name: str, frames: int) -> frozenset[int]:
    recording = record(folder, f"coverage-{release}-{name}", f"scenario={name} release={release}", frames)
    return frozenset(event for event, *_ in recording.records)


def _commands(path: Path, release: str) -> frozenset[int]:
    """A host switches an event and the schedule, sets a mark, takes content, falls silent so that buffers grow."""
    port = free_port()
    boot = Boot(0x5EED, release=release)
    with DemoTarget(KERNEL, boot, forward_options(port), LIVE) as demo:
        client = Client("127.0.0.1", port, demo.check)
        try:
            client.connect(_BOOT_S)
            info = learn_target(client, names=False).info
            client.record(SessionWriter(FileSink.open(str(path)), {}, "coverage"))
            client.demand(Start(_config(info.offered)))
            client.demand(Filter(EventId.KER_CALL, on=False))
            client.demand(Trigger(1, "here"))
            client.demand(Scenario("schedule:1"))
            client.wait(lambda: False, 1.0)
            time.sleep(_SILENCE_S)
            client.wait(lambda: False, 2.0)
            client.demand(Stop())
            client.wait(lambda: client.link.drained, 10.0)
            client.leave()
        finally:
            client.close()
    with open_trace([str(path)]) as trace:
        (counts,) = trace.count_events().values()
    return frozenset(event for event, count in enumerate(counts.tolist()) if count)


def _config(offered: frozenset[int]) -> RunConfig:
    return RunConfig(
        events=offered, payload=Payload.CONTENT, content_bytes=64, unit_slots=256, units=8, max_units=128, grow_units=8
    )


def document_tables(seen: Mapping[str, Seen]) -> str:
    """The tables of the document, by release."""
    parts = [_table(release, seen[release]) for release in seen]
    return "\n".join([BEGIN, "<!-- Made by python -m tests.support.coverage; do not edit. -->", "", *parts, END])


def _table(release: str, seen: Seen) -> str:
    own: EventTable = TABLES[release]
    offered = {event.id for event in own.events}
    every = {event.id: event for table in TABLES.values() for event in table.events}
    rows = [_row(event, event.id in offered, seen) for _, event in sorted(every.items())]
    head = ["| event | class | fields | offered | seen in |", "|---|---|---|---|---|"]
    return "\n".join([f"### Release {release}", "", *head, *rows, ""])


def _row(event: Event, offered: bool, seen: Seen) -> str:
    fields = ", ".join([event.arg.name, *(field.name for field in event.fields)])
    where = [name for name, ids in seen.items() if event.id in ids]
    places = "all" if len(where) == len(seen) else ", ".join(where)
    return f"| {event.name} | {event.klass} | {fields} | {'yes' if offered else 'no'} | {places} |"


def main() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    tables = document_tables({release: seen_events(release) for release in TABLES})
    DOCUMENT.write_text(before + tables + after, encoding="utf-8")


if __name__ == "__main__":
    main()
