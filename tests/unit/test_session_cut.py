# SPDX-License-Identifier: Apache-2.0
"""Cut sessions: what lies in the window is as in the larger session, the rest is neither lost nor forgotten."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.recording import Recording
from tests.support.sessions import Target, write_session
from tests.unit.test_cli_print import command_line, event_lines, print_to, run
from vxmon.analysis.quality import headline
from vxmon.errors import InputError
from vxmon.report.figures import loss_json
from vxmon.trace import LOSS_ID, Facts, StoredTrace, open_trace
from vxmon.trace.criteria import Selection
from vxmon.trace.cutting import cut_session
from vxmon.trace.span import Span
from vxmon.wire.types import PartitionEntry, TaskEntry

Row = tuple[object, ...]
PARTITIONS = (PartitionEntry(0, "MODULE"), PartitionEntry(1, "NAV"))
TASKS = (TaskEntry(0, 0, "idle"), TaskEntry(1, 1, "nav"))


def read(path: str) -> tuple[list[Row], Facts]:
    """Every record, every loss with its figures; and the facts."""
    rows: list[Row] = []
    with open_trace([path]) as trace:
        assert isinstance(trace, StoredTrace)
        for chunk in trace.chunks():
            c = chunk.columns
            for at in range(len(c)):
                start = int(c.time[at])
                what: Row = (int(c.arg[at]),)
                if c.id[at] == LOSS_ID:
                    loss = trace.facts.losses[c.at[at]]
                    start = int(loss["start"])
                    what = tuple(loss.tolist())[1:]
                rows.append((start, int(c.time[at]), int(c.stream[at]), int(c.id[at]), *what))
    return rows, trace.facts


def cut(path: str, target: Path, selection: Selection) -> str:
    with open_trace([path]) as trace:
        assert isinstance(trace, StoredTrace)
        cut_session(trace, selection, str(target))
    return str(target)


def whole(facts: Facts) -> None:
    """Every record of every stream is accounted for."""
    for s in facts.streams:
        assert s.recorded == s.before_attach + s.cut_away + s.delivered + s.lost_records
        assert min(s.before_attach, s.cut_away, s.delivered, s.lost_records) >= 0


@st.composite
def sessions(draw: st.DrawFn) -> tuple[Recording, list[int]]:
    """A recording of one or two CPUs and the blocks of it that get lost."""
    made = Recording(TASKS, (), PARTITIONS, block_records=draw(st.integers(1, 4)), start_seen=draw(st.booleans()))
    for stream in range(draw(st.integers(1, 2))):
        time = draw(st.integers(0, 40))
        made.add(time, "START", 1, stream=stream, window=0, task=1, run=1)
        for number in range(draw(st.integers(1, 25))):
            time += draw(st.sampled_from([1, 3, 20]))
            name = draw(st.sampled_from(["USER_POINT", "PARTITION_SWITCH", "TASK_SWITCH"]))
            made.add(time, name, number if name == "USER_POINT" else number % 2, stream=stream)
    blocks = len(made.blocks())
    return made, draw(st.lists(st.integers(0, blocks - 1), max_size=3, unique=True)) if blocks > 1 else []


def window(first: int, begin: int, end: int) -> Selection:
    """Of ticks, which are microseconds, since the first record of the session."""
    return Selection(span=Span((begin - first) * 1000, (end - first) * 1000))


def within(rows: list[Row], begin: int, end: int) -> list[Row]:
    """What touches the window, where losses are intervals."""
    return [row for row in rows if int(str(row[1])) >= begin and int(str(row[0])) < end]


def first_time(facts: Facts) -> int:
    first = facts.boots[0].first_time
    assert first is not None
    return first


@given(sessions(), st.integers(0, 300), st.integers(1, 200), st.integers(0, 100), st.integers(1, 100))
@settings(max_examples=50, deadline=None)
def test_a_cut_has_what_the_session_has_in_the_window(
    tmp_path_factory: pytest.TempPathFactory, made: tuple[Recording, list[int]], begin: int, size: int, inner: int,
    inner_size: int,
) -> None:  # fmt: skip
    folder = tmp_path_factory.mktemp("s")
    path = made[0].write(folder / "s.pcapng", made[1])
    rows, facts = read(path)
    if facts.boots[0].first_time is None:
        return  # all of it was lost
    begin += first_time(facts)
    try:
        small = cut(path, folder / "cut.pcapng", window(first_time(facts), begin, begin + size))
    except InputError:
        assert not within(rows, begin, begin + size)
        return
    kept, kept_facts = read(small)
    assert within(kept, begin, begin + size) == within(rows, begin, begin + size)
    assert set(kept) <= set(rows)
    assert {(s.stream, s.recorded, s.before_attach) for s in kept_facts.streams} == {
        (s.stream, s.recorded, s.before_attach) for s in facts.streams
    }
    whole(facts)
    whole(kept_facts)
    assert kept_facts.absent == facts.absent == []
    # A cut of the cut, at a place of its own.
    at = min(begin + inner, begin + size - 1)
    until = min(at + inner_size, begin + size)
    try:
        smaller = cut(small, folder / "again.pcapng", window(first_time(kept_facts), at, until))
    except InputError:
        assert not within(rows, at, until)
        return
    again, again_facts = read(smaller)
    assert within(again, at, until) == within(rows, at, until)
    whole(again_facts)
    assert {(s.stream, s.recorded) for s in again_facts.streams} == {(s.stream, s.recorded) for s in facts.streams}


def two_cpus(tmp_path: Path) -> str:
    target = Target()
    made = [target.points(range(100 * n, 100 * n + 40, 10), stream=n % 2) for n in range(20)]
    del made[7]
    return write_session(
        tmp_path / "s.pcapng",
        [
            *target.tables(streams=2), *target.started(), *made, *target.heartbeat(2000), *target.tables(),
            *target.end(2001),
        ],
    )  # fmt: skip


def test_streams_are_cut_out(tmp_path: Path) -> None:
    path = two_cpus(tmp_path)
    small = cut(path, tmp_path / "cut.pcapng", Selection(cpus=(1,)))
    rows, _ = read(path)
    kept, facts = read(small)
    assert kept == [row for row in rows if row[2] == 1]
    assert [(s.stream, s.cut_away, s.delivered, s.lost_records) for s in facts.streams] == [
        (0, 40, 0, 0),
        (1, 0, 36, 4),
    ]
    assert headline(facts) == (
        "INCOMPLETE: 4 of 40 records lost (10.0 %) in 1 place (link 4); "
        "40 records are not in this file (cut CPU 1 of s.pcapng)"
    )


def test_tables_are_kept_once(tmp_path: Path) -> None:
    _, facts = read(cut(two_cpus(tmp_path), tmp_path / "cut.pcapng", Selection(cpus=(0,))))
    assert facts.counters.channels["TABLE"] < 2 * len(Target().tables())
    assert facts.boots[0].table_source == "session"
    assert facts.boots[0].names.named("partition") == {0: "MODULE", 1: "NAV", 2: "FMS"}


def test_a_cut_is_read_from_a_pipe_as_from_a_file(tmp_path: Path) -> None:
    for number, (begin, end) in enumerate(((400, 900), (0, 2000), (1300, 1311))):
        selection = Selection(span=Span(begin * 5 // 2, end * 5 // 2), cpus=(1,) if number == 1 else ())
        small = cut(two_cpus(tmp_path), tmp_path / f"cut{number}", selection)
        with Path(small).open("rb") as file:
            piped = subprocess.run(command_line("print", "-"), stdin=file, capture_output=True, timeout=60, check=True)
        status, text, err = print_to(tmp_path, small)
        assert status == 0
        assert sorted(event_lines(piped.stdout.decode())) == sorted(event_lines(text))
        assert piped.stderr.decode() == err


def test_every_reader_says_that_it_is_a_part(tmp_path: Path) -> None:
    small = str(tmp_path / "cut.pcapng")
    status, out, err = run("session", "cut", two_cpus(tmp_path), "--cpu", "0", "-o", small)
    assert (status, out) == (0, "")
    assert err.startswith("vxmon: 40 of 76 records in 10 of 19 blocks kept, ")
    for words in (["info"], ["print"], ["analyze", "quality"]):
        status, out, err = run(*words, small)
        assert (status, err) == (0, "")
        assert "cut CPU 0 of s.pcapng" in out
    document = json.loads(run("info", small, "--format", "json")[1])
    assert (document["not_in_this_file"], document["lost"], document["incomplete"]) == (40, 0, False)
    assert document["cut"] == {"what": "CPU 0", "of": ["s.pcapng"], "goes_on": False, "text": "cut CPU 0 of s.pcapng"}
    loss = loss_json(read(small)[1])
    assert loss["not_in_this_file"] == 40
    assert "40 records are not in this file" in loss["headline"]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="needs tshark")
def test_other_tools_read_a_cut(tmp_path: Path) -> None:
    small = cut(two_cpus(tmp_path), tmp_path / "cut.pcapng", Selection(cpus=(0,)))
    done = subprocess.run(["tshark", "-r", small, "-T", "fields", "-e", "udp.length", "-o", "udp.check_checksum:TRUE",
                           "-Y", "udp && !_ws.malformed && udp.checksum.status == 1"],
                          capture_output=True, timeout=60, check=True)  # fmt: skip
    with open_trace([small]) as trace:
        assert len(done.stdout.split()) == sum(trace.facts.counters.channels.values())


def test_an_empty_window_is_one_message_with_what_there_is(tmp_path: Path) -> None:
    status, _, err = run("session", "cut", two_cpus(tmp_path), "--window", "5s..6s", "-o", str(tmp_path / "cut"))
    assert (status, err) == (2, "vxmon: the session is 0.000005 s long; nothing of it is in 5s..6s\n")
    assert not (tmp_path / "cut").exists()
    assert run("session", "cut", two_cpus(tmp_path), "-o", str(tmp_path / "cut"))[0] == 2
    path = two_cpus(tmp_path)
    assert run("session", "cut", path, "--cpu", "0", "-o", path)[0] == 2


@pytest.mark.parametrize(
    ("before", "after", "problem"),
    [
        (b'"what": "CPU 0"', b'"what": 1234567', "makes no sense"),
        (b", 0, 0, 40, 40]", b", 0, 0, 99, 40]", "makes no sense"),
        (b", 0, 0, 40, 40]", b", 0, 0, 12, 40]", "7 blocks outside of what the session says"),
    ],
)
def test_a_wrong_word_on_the_cut_hides_nothing(tmp_path: Path, before: bytes, after: bytes, problem: str) -> None:
    """Without a sound word everything that is not there counts as lost; with a wrong one it is told."""
    small = Path(cut(two_cpus(tmp_path), tmp_path / "cut.pcapng", Selection(cpus=(0,))))
    data = small.read_bytes()
    assert before in data
    small.write_bytes(data.replace(before, after))
    _, facts = read(str(small))
    assert any(problem in text for text in facts.problems)
    assert (facts.lost == 40) == (problem == "makes no sense")
    whole(facts)


def test_damaged_blocks_are_kept_for_they_explain_losses(tmp_path: Path) -> None:
    target = Target()
    made = [bytearray(target.points(range(100 * n, 100 * n + 40, 10))) for n in range(6)]
    made[2][-1] ^= 1
    datagrams = [*target.tables(), *target.started(), *map(bytes, made), *target.end(900)]
    path = write_session(tmp_path / "s.pcapng", datagrams)
    small = cut(path, tmp_path / "cut.pcapng", Selection(span=Span(200 * 5 // 2, 210 * 5 // 2)))
    _, facts = read(small)
    assert facts.losses["corrupt"].tolist() == [4]
    assert np.array_equal(facts.losses["first_index"], [8])
    whole(facts)


def test_a_cut_of_a_part_knows_that_it_goes_on_elsewhere(tmp_path: Path) -> None:
    """The end of the run is in the next file, so it is not missing."""
    small = Path(cut(two_cpus(tmp_path), tmp_path / "cut.pcapng", Selection(cpus=(0,))))
    data = small.read_bytes()
    before = b'"what": "CPU 0", "of": ["s.pcapng"], '
    assert before in data
    small.write_bytes(data.replace(before, b'"what": "C", "of": [], "more": true,'.ljust(len(before))))
    _, facts = read(cut(str(small), tmp_path / "again.pcapng", Selection(span=Span(0, 1500))))
    assert facts.cut is not None
    assert facts.cut.more
    assert facts.cut.text == "0s..1.5us of cut.pcapng, which goes on in another file"
