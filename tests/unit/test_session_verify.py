# SPDX-License-Identifier: Apache-2.0
"""``vxmon session verify``: what is sound, what is told, what is wrong; exit status, JSON by its schema."""

from __future__ import annotations

import json
import random
from collections.abc import Callable
from pathlib import Path

import jsonschema
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.commands import vxmon
from tests.support.sessions import Target, write_session
from tests.support.tree import ROOT
from tests.unit.test_session_rotate import parts, record
from vxmon.analysis.integrity import verify_session
from vxmon.session.packets import Endpoint, encode_packet, wrong_checksums
from vxmon.trace import StoredTrace, open_trace

SCHEMA = ROOT / "vxmon/report/schemas/session-verify-1.json"


def whole(blocks: int = 10, change: Callable[[list[bytes]], list[bytes]] = list) -> list[bytes]:
    """A session of so many blocks of 100 records; ``change`` is done to the blocks."""
    target = Target()
    head = [*target.started(), *target.tables()]
    made = [target.points(range(100 * n, 100 * n + 100)) for n in range(blocks)]
    return [*head, *change(made), *target.end(100 * blocks)]


def verdicts(*paths: Path) -> dict[str, tuple[str, str]]:
    with open_trace([str(path) for path in paths]) as trace:
        assert isinstance(trace, StoredTrace)
        return {check.name: (check.status, check.text) for check in verify_session(trace)}


def test_a_whole_session_is_sound(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    write_session(path, whole())
    found = verdicts(path)
    assert {status for status, _ in found.values()} == {"ok"}
    assert found["records"] == ("ok", "1000 records decoded")
    assert found["checksums"] == ("ok", "10 distinct blocks valid, 0 duplicates")
    done = vxmon("session", "verify", str(path))
    assert (done.status, done.err) == (0, "")
    assert done.out.decode().startswith("sound\n")


def test_losses_and_damage_on_the_link_are_told(tmp_path: Path) -> None:
    def spoil(blocks: list[bytes]) -> list[bytes]:
        return [*blocks[:3], *blocks[4:6], blocks[6][:-1] + bytes([blocks[6][-1] ^ 1]), *blocks[7:], blocks[7]]

    path = tmp_path / "s.pcapng"
    write_session(path, whole(change=spoil))
    found = verdicts(path)
    assert found["checksums"] == ("told", "8 distinct blocks valid, 1 duplicate; 1 corrupt block")
    assert found["identity"][0] == "told"
    assert found["identity"][1].endswith("200 records lost (link 100, corrupt 100)")
    assert {status for name, (status, _) in found.items() if name not in ("checksums", "identity")} == {"ok"}
    assert vxmon("session", "verify", str(path)).status == 0
    assert vxmon("session", "verify", "--strict", str(path)).status == 1


@pytest.mark.parametrize("place", [4, 40, 200, 801])
def test_a_bit_that_flips_in_the_file_is_no_damage_of_the_link(tmp_path: Path, place: int) -> None:
    """What the link damages was stored with the checksum of what came; in the test above it is only told."""
    path = tmp_path / "s.pcapng"
    write_session(path, whole())
    assert verdicts(path)["as stored"][0] == "ok"
    data = bytearray(path.read_bytes())
    data[data.index(b"VXMN", len(data) // 2) + place] ^= 4
    path.write_bytes(data)
    assert verdicts(path)["as stored"] == ("wrong", "1 datagram was changed after being stored")
    assert vxmon("session", "verify", str(path)).status == 1


@settings(max_examples=100, deadline=None)
@given(payloads=st.lists(st.binary(max_size=40), min_size=1, max_size=8), start=st.integers(8, 11), seed=st.integers(0))
def test_checksums_of_many_datagrams_are_those_of_each(payloads: list[bytes], start: int, seed: int) -> None:
    """Against packets made one by one, at even and odd places; a change of one byte is seen."""
    ends = Endpoint(0x7F000001, 6530), Endpoint(0x0A000203, 40000)
    data, offsets = bytearray(start), []
    for payload in payloads:
        data += encode_packet(0, *ends, payload)[48:56]
        offsets.append(len(data))
        data += payload
    lengths = np.array([len(payload) for payload in payloads])
    source, destination = (np.full(len(payloads), end.address << 16 | end.port) for end in ends)

    def wrong() -> list[int]:
        found = wrong_checksums(np.frombuffer(bytes(data), np.uint8), np.array(offsets), lengths, source, destination)
        return [int(number) for number in np.flatnonzero(found)]

    assert wrong() == []
    changed = random.Random(seed).randrange(len(payloads))
    if lengths[changed]:
        data[offsets[changed]] ^= 0x10
        assert wrong() == [changed]


def test_a_cut_tail_is_wrong_and_says_how_much(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    write_session(path, whole(), finish=False)
    path.write_bytes(path.read_bytes()[:-7])
    found = verdicts(path)
    assert found["end of file"][0] == "wrong"
    assert "bytes left over" in found["end of file"][1]
    assert found["ends of runs"][0] == "wrong"
    done = vxmon("session", "verify", str(path))
    assert done.status == 1
    assert "the end is cut" in done.out.decode()


def test_skipped_bytes_are_wrong(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    write_session(path, whole())
    data = bytearray(path.read_bytes())
    at = data.index(b"VXMN", len(data) // 2) - 56
    data[at + 4 : at + 8] = b"\xff" * 4
    path.write_bytes(data)
    assert verdicts(path)["framing"][0] == "wrong"


def test_a_block_that_begins_too_early_is_wrong(tmp_path: Path) -> None:
    def earlier(blocks: list[bytes]) -> list[bytes]:
        early = Target(blocks={0: 5}, index={0: 500})
        return [*blocks[:5], early.points(range(450, 550)), *blocks[6:]]

    path = tmp_path / "s.pcapng"
    write_session(path, whole(change=earlier))
    status, text = verdicts(path)["order"]
    assert status == "wrong"
    assert "1 block begins before the one before ends" in text


def test_without_tables_names_are_missing(tmp_path: Path) -> None:
    path, target = tmp_path / "s.pcapng", Target()
    write_session(path, [*target.started(), target.points(range(100)), *target.end(100)])
    status, text = verdicts(path)["tables"]
    assert status == "wrong"
    assert "no names" in text


def test_parts_are_one_session(tmp_path: Path) -> None:
    record(tmp_path, 400)
    files = parts(tmp_path)
    assert {status for status, _ in verdicts(*files).values()} == {"ok"}
    first = verdicts(files[0])
    assert first["ends of runs"] == ("told", "part 1 of r.pcapng, which goes on in another file")
    without = verdicts(files[0], files[2])
    assert without["parts"] == ("wrong", "parts 1, 3; not given: 2")
    told = vxmon("info", str(files[0]), str(files[2])).out.decode().splitlines()
    assert told[1] == "part 1 and part 3 of r.pcapng, which goes on in another file", "what is between counts as lost"


def test_a_part_alone_says_that_the_rest_is_elsewhere_and_not_lost(tmp_path: Path) -> None:
    record(tmp_path, 400)
    files = parts(tmp_path)
    with open_trace([str(files[1])]) as trace:
        (stream,) = trace.facts.streams
        assert not trace.facts.incomplete
        assert (stream.lost_records, stream.before_attach) == (0, 0)
        assert stream.cut_away == stream.recorded - stream.delivered > 0
    with open_trace([str(file) for file in files[1:3]]) as trace:
        assert trace.facts.problems == []
        assert not trace.facts.incomplete
    with open_trace([str(files[0]), str(files[2])]) as trace:
        assert trace.facts.problems == ["part 2 is not among the files given; what is in there counts as lost"]
    with open_trace([str(file) for file in (files[0], files[3], files[-1])]) as trace:
        problems = [problem for problem in trace.facts.problems if "not among" in problem]
        assert problems == [
            f"{len(files) - 3} parts (2, 3) are not among the files given; what is in there counts as lost"
        ]


@pytest.mark.parametrize("form", ["json", "csv"])
def test_the_other_formats(tmp_path: Path, form: str) -> None:
    path = tmp_path / "s.pcapng"
    write_session(path, whole())
    done = vxmon("session", "verify", "--format", form, str(path))
    assert done.status == 0
    if form == "json":
        document = json.loads(done.out)
        jsonschema.validate(document, json.loads(SCHEMA.read_text(encoding="utf-8")))
        assert document["sound"] is True
    else:
        assert done.out.decode().splitlines()[0] == "check,status,text"


def test_what_is_no_session_is_unreadable(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    path.write_bytes(b"nothing of ours")
    done = vxmon("session", "verify", str(path))
    assert done.status == 2
    assert "Traceback" not in done.err
