# SPDX-License-Identifier: Apache-2.0
"""A pipe against the same session as a file: same lines when nothing is too late, same account always."""

from __future__ import annotations

import os
import random
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.sessions import Target, record, write_session
from tests.unit.test_cli_print import command_line, event_lines, print_to, run, whole_session
from tests.unit.test_trace_columns import random_load
from vxmon.errors import InputError
from vxmon.report.lines import LinePrinter
from vxmon.session.reader import open_session
from vxmon.trace import Trace, open_trace
from vxmon.trace.live import LiveTrace

TIMEOUT = 60


@contextmanager
def piped(path: str) -> Iterator[str]:
    """A FIFO that a thread fills with the file."""
    fifo = f"{path}.fifo"
    os.mkfifo(fifo)
    data = Path(path).read_bytes()

    def feed() -> None:
        # A reader that wants no more is fine.
        with suppress(BrokenPipeError), Path(fifo).open("wb", buffering=0) as pipe:
            pipe.writelines(data[at : at + 700] for at in range(0, len(data), 700))

    thread = threading.Thread(target=feed)
    thread.start()
    try:
        yield fifo
    finally:
        thread.join(TIMEOUT)
        Path(fifo).unlink()


def lines(trace: Trace) -> list[str]:
    printer = LinePrinter()
    return b"".join(printer.lines(chunk) for chunk in trace.chunks()).decode().splitlines()


def figures(trace: Trace) -> list[tuple[int, ...]]:
    return [
        (run.number, s.stream, s.recorded, s.before_attach, s.delivered, s.blocks, *s.lost.values())
        for boot in trace.facts.boots
        for run in boot.runs.values()
        for _, s in sorted(run.streams.items())
    ]


def both(path: str, window: int = 4096) -> tuple[LiveTrace, list[str], Trace, list[str]]:
    with open_trace([path]) as stored:
        expected = lines(stored)
    with piped(path) as fifo, LiveTrace(open_session(fifo), window) as live:
        return live, lines(live), stored, expected


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 40))
def test_a_pipe_gives_the_lines_of_the_file(tmp_path: Path, seed: int) -> None:
    """Drops, repeats and any order: the window is larger than the session."""
    rng = random.Random(seed)
    load, target, _ = random_load(rng)
    sent = [d for d, _, _ in load.blocks for _ in range(rng.choice([0, 1, 1, 1, 2]))]
    rng.shuffle(sent)
    datagrams = [*target.tables(streams=3), *load.datagrams, *sent, *load.end]
    live, got, stored, expected = both(write_session(tmp_path / "s", datagrams))
    assert got == expected
    assert figures(live) == figures(stored)
    assert live.facts.late == 0


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 40), window=st.integers(1, 6))
def test_with_a_small_window_nothing_is_missing_and_late_records_are_marked(
    tmp_path: Path, seed: int, window: int
) -> None:  # fmt: skip
    rng = random.Random(seed)
    load, target, _ = random_load(rng)
    sent = [d for d, _, _ in load.blocks]
    rng.shuffle(sent)
    datagrams = [*target.tables(streams=3), *load.datagrams, *sent, *load.end]
    live, got, stored, expected = both(write_session(tmp_path / "s", datagrams), window)
    events = [line for line in got if ":LOSS " not in line]
    assert sorted(line.removesuffix(" late:yes") for line in events) == sorted(
        line for line in expected if ":LOSS " not in line
    )
    times = [int(line.split()[0].removeprefix("t:0x"), 16) for line in events]
    marked = [line.endswith(" late:yes") for line in events]
    assert marked == [t < max(times[:i], default=-1) for i, t in enumerate(times)]
    assert live.facts.late == sum(marked)
    assert [f[2:5] for f in figures(live)] == [f[2:5] for f in figures(stored)]
    assert all(f[2] == f[3] + f[4] + sum(f[6:]) for f in figures(live))


def test_records_come_before_the_pipe_ends(tmp_path: Path) -> None:
    """What is complete is handed out at once; the writer waits for it before it goes on."""
    target = Target()
    path = write_session(tmp_path / "s", [*target.tables(), *target.started(), target.points([1, 2])], finish=False)
    rest = write_session(tmp_path / "t", [target.points([3, 4]), *target.end(9)])
    reader, writer = os.pipe()
    os.write(writer, Path(path).read_bytes())
    with open_session(f"/proc/self/fd/{reader}") as session, LiveTrace(session) as live:
        chunks = live.chunks()
        assert next(chunks).columns.time.tolist() == [1, 2]
        os.write(writer, Path(rest).read_bytes())
        os.close(writer)
        assert [t for chunk in chunks for t in chunk.columns.time.tolist()] == [3, 4]
    os.close(reader)


def test_a_silent_stream_does_not_hold_up_the_others(tmp_path: Path) -> None:
    target = Target()
    first = target.points([1], 1)
    target.index[0] = 0
    beat = target.heartbeat(500, (target.state(0, cut_time=400), target.state(1, cut_time=400)))
    datagrams = [*target.tables(streams=2), *target.started(), first, target.points([390], 1), *beat]
    path = write_session(tmp_path / "s", datagrams, finish=False)
    reader, writer = os.pipe()
    os.write(writer, Path(path).read_bytes())
    with open_session(f"/proc/self/fd/{reader}") as session, LiveTrace(session) as live:
        assert next(live.chunks()).columns.time.tolist() == [1, 390]
        os.close(writer)
    os.close(reader)


def test_a_stream_of_which_nothing_came_is_accounted_for(tmp_path: Path) -> None:
    target = Target()
    target.points([3, 4, 5])
    live, got, stored, expected = both(write_session(tmp_path / "s", [*target.started(2), *target.end(9)]))
    assert got == expected
    assert figures(live) == figures(stored)
    assert stored.facts.lost == 3


def test_runs_and_boots_follow_each_other(tmp_path: Path) -> None:
    target, again, other = Target(), Target(run=2, _sequence=100), Target(boot=77, big_endian=False)
    datagrams = [*target.tables(), *target.started(), target.points([1, 2]), *target.end(5)]
    datagrams += [*again.started(9), again.points([11, 12]), *again.end(20)]
    datagrams += [*other.tables(), *other.started(), other.points([1]), *other.end(3)]
    live, got, stored, expected = both(write_session(tmp_path / "s", datagrams))
    assert got == expected
    assert figures(live) == figures(stored)


def test_a_damaged_block_in_a_pipe_is_corrupt(tmp_path: Path) -> None:
    target = Target()
    a, b, c = (target.points([10 * i, 10 * i + 1]) for i in range(3))
    bad = b[:-1] + bytes([b[-1] ^ 1])
    live, got, stored, expected = both(
        write_session(tmp_path / "s", [*target.tables(), *target.started(), a, bad, c, *target.end(99)])
    )
    assert got == expected
    assert figures(live) == figures(stored)
    assert live.facts.incomplete


def test_the_command_reads_standard_input(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng", lose=True, blocks=50)
    expected = event_lines(print_to(tmp_path, path)[1])
    with Path(path).open("rb") as file:
        done = subprocess.run(
            command_line("print", "-", "--strict"), stdin=file, capture_output=True, timeout=TIMEOUT, check=False
        )
    assert done.returncode == 1
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        piped_run = subprocess.run(
            command_line("print", "-"), stdin=cat.stdout, capture_output=True, timeout=TIMEOUT, check=False
        )
    assert piped_run.returncode == 0
    assert event_lines(piped_run.stdout.decode()) == event_lines(done.stdout.decode()) == expected
    assert b"INCOMPLETE: 2 of 101 records lost" in piped_run.stderr
    # What is not known yet is not in the header.
    assert b"TRACE_LOST::" in done.stdout
    assert b"TRACE_LOST::" not in piped_run.stdout
    assert b"TRACE_FILE_NAME:: standard input\n" in piped_run.stdout


def test_a_pipe_must_be_the_only_session(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    with piped(path) as fifo, pytest.raises(InputError, match="only session"):
        open_trace([fifo, path])


def test_info_of_a_pipe(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    _, out, _ = run("info", "--format", "json", path)
    with subprocess.Popen(["cat", path], stdout=subprocess.PIPE) as cat:
        done = subprocess.run(
            command_line("info", "--format", "json", "-"), stdin=cat.stdout, capture_output=True, timeout=TIMEOUT,
            check=True,
        )  # fmt: skip
    for line, other in zip(out.splitlines(), done.stdout.decode().splitlines(), strict=True):
        assert line == other or '"name"' in line or '"size_bytes"' in line


def test_late_lines_are_marked_by_a_word(tmp_path: Path) -> None:
    target = Target()
    blocks = [target.block([record("USER_POINT", i, 10 * i)], 10 * i, 10 * i) for i in range(10)]
    pieces = ([*target.tables(), *target.started(), blocks[0]], blocks[2:], [blocks[1], *target.end(999)])
    reader, writer = os.pipe()
    os.write(writer, session_bytes(tmp_path, pieces[0]))
    printer, printed = LinePrinter(), []
    with open_session(f"/proc/self/fd/{reader}") as session, LiveTrace(session, window=2) as live:
        chunks = live.chunks()
        printed.append(printer.lines(next(chunks)).decode())
        os.write(writer, session_bytes(tmp_path, pieces[1]))
        printed.append(printer.lines(next(chunks)).decode())
        os.write(writer, session_bytes(tmp_path, pieces[2]))
        os.close(writer)
        printed += [printer.lines(chunk).decode() for chunk in chunks]
    os.close(reader)
    lines_printed = "".join(printed).splitlines()
    assert [line for line in lines_printed if "late" in line or "LOSS" in line] == [
        "t:0x00000014 CPU:00 CONTROL         :LOSS              records:1 from:0x00000000 to:0x00000014 link:1",
        "t:0x0000000a CPU:00 USER            :USER_POINT        number:1 late:yes",
    ]
    assert live.facts.lost == 0
    assert live.facts.problems == ["1 record came too late to be shown in order"]


def session_bytes(tmp_path: Path, datagrams: list[bytes]) -> bytes:
    return Path(write_session(tmp_path / "piece", datagrams, finish=False)).read_bytes()
