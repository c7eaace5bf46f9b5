# SPDX-License-Identifier: Apache-2.0
"""Communication of the demo in one repeatable run: against the kernel's own books, and content against its source.

The kernel prints at the end how often each object was sent to and received from, by result, which number the last
message had and how many wait. Latencies are calculated here once more, message by message, from the records as
tests/support/records.py reads them. What applications write is in target_c/partitions/*/main.c: fill_message() writes
a counter and byte i of the message as counter + i; flight_control() computes its commands.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from tests.support.handmade import certain
from tests.support.recorded import Recording, record
from tests.support.tree import ROOT
from vxmon.analysis.comm.analyze import analyze_comm
from vxmon.analysis.comm.result import BootComm, ObjectComm
from vxmon.analysis.fields import decoded_messages
from vxmon.analysis.scene import Scope
from vxmon.config.module import load_module
from vxmon.icd.decoded import DecodedFields
from vxmon.icd.icd import Icd
from vxmon.icd.loading import load_icd
from vxmon.trace import StoredTrace, open_trace
from vxmon.wire.events import CommResult, EventId

FRAMES = 60
PARTITIONS = ROOT / "target_c" / "partitions"
IMAGES = ROOT / "build" / "ppce500"
# Destination -> source of the channels in module.xml.
CHANNELS = {
    "flt_position": "nav_position", "dsp_position": "nav_position", "io_surfaces": "flt_surfaces",
    "mnt_reports": "io_reports", "dsp_health": "mnt_health",
}  # fmt: skip
# Object -> the type that its application's source gives to its messages.
TYPES = {
    "nav_position": "nav.elf:struct position", "dsp_position": "display.elf:struct position",
    "flt_surfaces": "flight.elf:struct surfaces", "io_surfaces": "io.elf:struct surfaces",
    "io_reports": "io.elf:struct report", "mnt_reports": "maint.elf:struct report",
    "mnt_health": "maint.elf:struct health", "dsp_health": "display.elf:struct health",
    "flt_position": "flight.elf:struct position", "display_lines": "display.elf:struct line",
    "flight_commands": "flight.elf:struct command",
}  # fmt: skip


@dataclass(frozen=True)
class Demo:
    recording: Recording
    path: Path
    boot: BootComm

    @property
    def objects(self) -> dict[str, ObjectComm]:
        return {one.label: one for one in self.boot.objects}

    def decoded(self, icd: Icd) -> dict[str, list[DecodedFields]]:
        """The fields of each object's messages, in order."""
        names = {one.index: one.label for one in self.boot.objects}
        found: dict[str, list[DecodedFields]] = defaultdict(list)
        with open_trace([str(self.path)]) as trace:
            assert isinstance(trace, StoredTrace)
            for _, some in decoded_messages(trace, icd):
                if some.decoded is not None:
                    found[names[some.object]].append(some.decoded)
        return found


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Demo:
    folder = tmp_path_factory.mktemp("comm")
    recording = record(folder, "comm", "scenario=nominal", FRAMES, config="payload:2,content:64")
    path = folder / "comm.pcap"
    with open_trace([str(path)]) as trace:
        assert isinstance(trace, StoredTrace)
        assert not trace.facts.incomplete
        boot = analyze_comm(trace, Scope(module=load_module(PARTITIONS / "module.xml"))).boots[0]
    return Demo(recording, path, boot)


def test_counts_are_those_of_the_kernels_books(demo: Demo) -> None:
    compared = 0
    for book in demo.recording.done.books("object"):
        one = next((o for o in demo.boot.objects if o.index == int(book["index"])), None)
        if one is None:
            assert book["sent"] == "0", book["name"]
            continue
        for direction in ("send", "receive"):
            told = {
                CommResult(int(key.removeprefix(direction))).name.lower(): int(count)
                for key, count in book.items()
                if key.startswith(direction) and key != "sent"
            }
            assert one.results[direction] == told, book["name"]
            compared += len(told)
        if one.sending is not None:
            assert certain(one.sending.sent) == int(book["sent"])
        if one.receiving is not None:
            ok, stale = (int(book.get(f"receive{int(r)}", 0)) for r in (CommResult.OK, CommResult.STALE))
            assert certain(one.receiving.received) == ok + stale
            if one.receiving.depth is None:
                assert certain(one.receiving.stale) == stale
        assert certain(one.overflow) == int(book.get(f"send{int(CommResult.FULL)}", 0))
    assert compared > 15


def test_what_waits_at_the_end_is_what_the_kernel_says(demo: Demo) -> None:
    queues = {b["name"]: int(b["depth"]) for b in demo.recording.done.books("object") if b["type"] in ("0", "2", "4")}
    checked = 0
    for one in demo.boot.objects:
        if one.receiving is not None and one.receiving.depth is not None:
            assert sum(one.orphan_sends.values()) == queues[one.label], one.label
            assert one.orphan_receives == {}
            checked += 1
    assert checked == 4


def times(recording: Recording, event: int, index: int) -> list[tuple[int, int]]:
    """(number, time) of every call on an object that had a message."""
    good = (CommResult.OK, CommResult.STALE)
    return [
        (data[1], time) for _, number, data, time in recording.of(event) if number == index and data[0] % 65536 in good
    ]


def test_latencies_are_those_of_every_message(demo: Demo) -> None:
    objects = demo.objects
    for name, one in objects.items():
        if one.receiving is None:
            continue
        source = objects[CHANNELS.get(name, name)]
        sent = dict(times(demo.recording, EventId.MSG_SEND, source.index))
        first: dict[int, int] = {}
        for number, time in times(demo.recording, EventId.MSG_RECEIVE, one.index):
            first.setdefault(number, time)
        expected = [time - sent[number] for number, time in first.items()]
        latency = one.receiving.latency
        assert certain(latency.count) == len(expected) > 0, name
        assert certain(latency.total) == sum(expected), name
        assert (certain(latency.least), certain(latency.most)) == (min(expected), max(expected)), name
        assert one.source == CHANNELS.get(name)


def test_periods_are_those_of_the_source(demo: Demo) -> None:
    """NAV's filter runs each 20 ms, IO's poll each 10 ms, MAINT's statistics each 100 ms; the clock has 400 MHz."""
    for name, milliseconds in (("nav_position", 20), ("io_reports", 10), ("mnt_health", 100)):
        one = demo.objects[name]
        assert one.sending is not None
        sent = [time for _, time in times(demo.recording, EventId.MSG_SEND, one.index)]
        steps = np.diff(sent)
        assert certain(one.sending.period.total) == sent[-1] - sent[0]
        assert certain(one.sending.period.most) == steps.max()
        assert certain(one.sending.jitter.most) == np.abs(np.diff(steps)).max()
        assert certain(one.sending.period.mean) == pytest.approx(milliseconds * 400_000, rel=0.02)


def test_flows_between_partitions_add_up(demo: Demo) -> None:
    names = demo.boot.partition_names
    flows = {(names[f.sender or 0], names[f.receiver or 0]): certain(f.count) for f in demo.boot.flows}
    books = {b["name"]: int(b.get("receive0", 0)) for b in demo.recording.done.books("object")}
    assert flows["FLIGHT", "IO"] == books["io_surfaces"]
    assert flows["IO", "MAINT"] == books["mnt_reports"]
    assert flows["NAV", "DISPLAY"] == books["dsp_position"]
    # A sampling port is read several times; each message counts once.
    assert flows["MAINT", "DISPLAY"] == len(
        dict(times(demo.recording, EventId.MSG_RECEIVE, demo.objects["dsp_health"].index))
    )
    assert flows["FLIGHT", "FLIGHT"] == books["flight_commands"]


def test_fields_are_what_the_applications_wrote(demo: Demo) -> None:
    found = demo.decoded(load_icd([str(PARTITIONS / "icd.toml")]))
    assert set(found) == {*TYPES, "maint_orders"}
    for name, parts in found.items():
        for decoded in parts:
            assert not decoded.fit.any()
            assert not any(column.reason.any() for column in decoded.columns.values()), name
            if name in ("flight_commands", "maint_orders"):
                continue
            counters = decoded["counter"].values
            size = 4 + decoded["pattern"].values.shape[1]
            pattern = (counters[:, None] + np.arange(4, size)) % 256
            assert (decoded["pattern"].values == pattern).all(), name
    counters = np.concatenate([d["counter"].values for d in found["nav_position"]])
    assert counters.tolist() == list(range(1, len(counters) + 1))
    assert len(counters) >= FRAMES - 1
    commands = np.unique(np.concatenate([
        np.stack([d[field].values for field in ("number", "elevator", "aileron", "rudder")], axis=1)
        for d in found["flight_commands"]
    ]).astype(np.int64), axis=0)  # fmt: skip
    elevators = [n * 37 % 2001 - 1000 for n in range(1, len(commands) + 1)]
    # C divides towards 0.
    assert commands.tolist() == [[n, e, int(-e / 2), 0] for n, e in enumerate(elevators, 1)]


@pytest.mark.parametrize("name", TYPES)
def test_the_applications_types_say_the_same_as_the_icd(demo: Demo, name: str) -> None:
    by_icd = demo.decoded(load_icd([str(PARTITIONS / "icd.toml")]))[name]
    by_type = demo.decoded(load_icd([f"{name}={IMAGES}/{TYPES[name]}"]))[name]
    assert len(by_icd) == len(by_type) > 0
    for a, b in zip(by_icd, by_type, strict=True):
        assert list(a.columns) == list(b.columns)
        assert not b.fit.any()
        for field in a.columns:
            assert (a[field].values == b[field].values).all()
            assert a[field].values.dtype == b[field].values.dtype
