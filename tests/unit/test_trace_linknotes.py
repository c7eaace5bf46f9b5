# SPDX-License-Identifier: Apache-2.0
"""What happened on the link, among the records and in reports: hand-made sessions, times worked out by hand."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path

import pytest

from tests.support.commands import VXMON
from tests.support.sessions import BOOT, HOST, HZ, TARGET, Target, record
from tests.unit.test_cli_print import print_to, run
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter
from vxmon.trace import open_trace
from vxmon.trace.linkevents import KINDS, endpoint_text
from vxmon.trace.linknotes import NOTE_IDS, with_link_events
from vxmon.trace.names import LOSS_ID
from vxmon.wire.datagram import encode_datagram
from vxmon.wire.notes import Note, NoteKind, encode_note
from vxmon.wire.status import encode_host_heartbeat, encode_target_heartbeat
from vxmon.wire.types import Channel, Header, HostHeartbeat, TargetHeartbeat

S = 1_000_000_000
# 2025-06-01T00:00:00Z, when the target's clock was 0.
EPOCH = 1_748_736_000 * S


class Session:
    """A session file of one target; host times in seconds from EPOCH, which is 0 of the target's clock."""

    def __init__(self, path: Path, boot: int = BOOT) -> None:
        self.target = Target(boot=boot)
        self.writer = SessionWriter(FileSink.open(str(path)), {})
        self.count = 0

    def put(self, second: float, data: bytes, *, outgoing: bool = False) -> None:
        ends = (HOST, TARGET) if outgoing else (TARGET, HOST)
        self.writer.add(EPOCH + round(second * S), *ends, data)

    def header(self, channel: Channel) -> Header:
        self.count += 1
        return Header(channel, self.target.boot, self.count)

    def beat(self, second: float) -> None:
        """A heartbeat each way: 100 us on the way, the host's first."""
        host = HostHeartbeat(1 + round(second * 1000))
        data = encode_datagram(self.header(Channel.HEARTBEAT), encode_host_heartbeat(host))
        self.put(second - 0.0002, data, outgoing=True)
        ticks = round(second * HZ)
        beat = TargetHeartbeat(ticks, HZ, "2.4", 0, run=1, running=True, echo=host.time, echo_time=ticks - HZ // 10_000)
        self.put(second + 0.0001, encode_datagram(self.header(Channel.HEARTBEAT), encode_target_heartbeat(beat)))

    def note(self, second: float, note: Note) -> None:
        self.put(second, encode_datagram(self.header(Channel.NOTE), encode_note(note)), outgoing=True)

    def points(self, *seconds: float) -> None:
        """A block of user events."""
        records = [record("USER_POINT", n, round(at * HZ)) for n, at in enumerate(seconds, 1)]
        data = self.target.block(records, round(seconds[0] * HZ), round(seconds[-1] * HZ))
        self.put(seconds[-1] + 0.1, data)

    def close(self) -> None:
        self.writer.finish(self.count, 0)


@pytest.fixture(name="path")
def cut_link(tmp_path: Path) -> Path:
    """User events each second; the link is lost from 2.25 s to 5.75 s."""
    path = tmp_path / "s.pcapng"
    session = Session(path)
    session.beat(0.5)
    session.points(1.0, 2.0)
    session.beat(2.1)
    session.note(2.25, Note(NoteKind.LINK_LOST, "the target has not been heard for 3 s", 1, 0, 3 * S))
    session.note(5.75, Note(NoteKind.LINK_BACK, "the target is heard again", 1, 0, 3_650_000_000))
    session.beat(5.8)
    session.points(3.0, 4.0, 6.0)
    session.note(9.0, Note(NoteKind.CANCELLED, "command stop was cancelled", 1))
    session.close()
    return path


def test_notes_stand_where_they_belong_in_time(tmp_path: Path, path: Path) -> None:
    status, text, _ = print_to(tmp_path, str(path), "-p", "%z")
    assert status == 0
    names = [line.split()[0] for line in text.splitlines() if line.split()[0] in ("USER_POINT", *map(str.upper, KINDS))]
    assert names == [
        "USER_POINT", "USER_POINT", "LINK_LOST", "USER_POINT", "USER_POINT", "LINK_BACK", "USER_POINT", "CANCELLED",
    ]  # fmt: skip
    assert "LINK_LOST host:2025-06-01T00:00:02.250000000Z run:1 silence_ms:3000 text:the target has not" in text


def test_wall_clock_times_of_events(tmp_path: Path, path: Path) -> None:
    """The bounds lie 100 us around the truth, so their middle is the truth but for what a line may lean."""
    status, text, _ = print_to(tmp_path, str(path), "--wall")
    assert status == 0
    assert "\n2025-06-01T00:00:0" in text
    seconds = [float(line.split("T00:00:")[1].split("Z")[0]) for line in text.splitlines() if ":USER_POINT" in line]
    assert seconds == pytest.approx([1.0, 2.0, 3.0, 4.0, 6.0], abs=0.0001)


def test_info_lists_them(path: Path) -> None:
    status, out, _ = run("info", "--format", "json", str(path))
    assert status == 0
    document = json.loads(out)
    events = document["link_events"]
    assert [(event["kind"], event["by"]) for event in events] == [
        ("link_lost", "host"), ("link_back", "host"), ("cancelled", "host"),
    ]  # fmt: skip
    assert [event["silence_ns"] for event in events] == [3 * S, 3_650_000_000, None]
    assert events[0]["host_time"] == "2025-06-01T00:00:02.250000000Z"
    assert events[0]["time_ns"] == pytest.approx(2_250_000_000, abs=100_000)
    clock = document["boots"][0]["clock"]
    assert abs(clock["offset_ns"] - EPOCH) <= clock["uncertainty_ns"] < 200_000
    assert abs(clock["drift_ppm"]) <= clock["drift_uncertainty_ppm"] < 100
    _, text, _ = run("info", str(path))
    assert "Link events" in text
    assert "the target is heard again" in text
    assert "clock drift" in text


def test_the_same_from_a_pipe(path: Path, tmp_path: Path) -> None:
    stored = print_to(tmp_path, str(path), "-p", "%z")[1]
    with path.open("rb") as source:
        command = [*VXMON, "print", "-p", "%z", "-"]
        piped = subprocess.run(command, stdin=source, capture_output=True, check=True, timeout=60)

    def named(text: str) -> list[str]:
        return sorted(line for line in text.splitlines() if line.split()[0] in map(str.upper, KINDS))

    assert named(piped.stdout.decode()) == named(stored)


def test_a_reboot_that_nobody_noted_is_found(tmp_path: Path) -> None:
    path = tmp_path / "two.pcapng"
    session = Session(path)
    session.points(1.0)
    session.target = Target(boot=BOOT + 1)
    session.points(1.5)
    session.close()
    with open_trace([str(path)]) as trace:
        chunks = list(with_link_events(trace.chunks(), trace.facts))
    ids = [identity for chunk in chunks for identity in chunk.columns.id.tolist()]
    assert ids.index(NOTE_IDS["reboot"]) < len(ids) - 1
    (event,) = [event for chunk in chunks for event in chunk.notes]
    assert (event.kind, event.boot_before) == ("reboot", BOOT)


def test_a_selection_of_time_has_no_notes(tmp_path: Path, path: Path) -> None:
    _, text, _ = print_to(tmp_path, str(path), "--window", "..500ms", "-p", "%z")
    assert "LINK_LOST" not in text


def test_every_kind_has_an_id_of_its_own_that_no_event_has() -> None:
    assert len(set(NOTE_IDS.values())) == len(NoteKind) == len(KINDS)
    assert min(NOTE_IDS.values()) > LOSS_ID
    assert endpoint_text(0x7F000001 << 16 | 4000) == "127.0.0.1:4000"
