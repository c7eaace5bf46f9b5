# SPDX-License-Identifier: Apache-2.0
"""``vxmon print`` and ``vxmon info`` as commands: exit status, messages, pipes, damaged and cut files."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import os
import signal
import subprocess
import sys
import tempfile
import zlib
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from tests.support.sessions import NAMES, Target, record, write_session
from vxmon.wire.types import StreamState
from vxmon_cli.main import main

TIMEOUT = 60


@contextlib.contextmanager
def standard_output() -> Iterator[IO[bytes]]:
    """Standard output, below Python, in a file."""
    sys.stdout.flush()
    keep = os.dup(1)
    with tempfile.TemporaryFile() as file:
        os.dup2(file.fileno(), 1)
        try:
            yield file
        finally:
            os.dup2(keep, 1)
            os.close(keep)


def run(*arguments: str) -> tuple[int, str, str]:
    """Exit status, standard output and standard error of the command, in this process."""
    err = io.StringIO()
    before = signal.getsignal(signal.SIGPIPE)
    with pytest.MonkeyPatch.context() as patch, standard_output() as out, contextlib.redirect_stderr(err):
        patch.setattr(sys, "argv", ["vxmon", *arguments])
        try:
            with pytest.raises(SystemExit) as stop:
                main()
        finally:
            # The command lets a closed pipe end the process; this one shall go on.
            signal.signal(signal.SIGPIPE, before)
        sys.stdout.flush()
        out.seek(0)
        text = out.read().decode("ascii")
    assert isinstance(stop.value.code, int)
    return stop.value.code, text, err.getvalue()


def print_to(tmp_path: Path, *arguments: str) -> tuple[int, str, str]:
    target = tmp_path / "printed"
    target.unlink(missing_ok=True)
    status, out, err = run("print", *arguments, "-o", str(target))
    assert out == ""
    return status, target.read_text("ascii") if target.exists() else "", err


def whole_session(path: Path, *, lose: bool = False, blocks: int = 3) -> str:
    target = Target()
    made = [target.points([10 * i, 10 * i + 1]) for i in range(blocks)]
    made.append(target.block([record("PARTITION_SWITCH", 1, 900)], 900, 900))
    if lose:
        del made[1]
    datagrams = [*target.tables(), *target.started(), *made, *target.heartbeat(901), *target.end(902)]
    return write_session(path, datagrams)


def event_lines(text: str) -> list[str]:
    _, _, events = text.partition(" -- KERNEL EVENTS -- \n")
    return events.splitlines()


def test_a_session_is_printed_with_its_header(tmp_path: Path) -> None:
    status, text, err = print_to(tmp_path, whole_session(tmp_path / "run.pcapng"))
    assert (status, err) == (0, "")
    header, _, _ = text.partition(" -- KERNEL EVENTS -- ")
    assert "\n       TRACE_FILE_NAME:: run.pcapng\n" in header
    assert "\n  TRACE_CYCLES_PER_SEC:: 400000000\n" in header
    assert "\n      TRACE_BIG_ENDIAN:: TRUE\n" in header
    assert "\n     TRACE_SYS_RELEASE:: 2.4\n" in header
    assert all(line.startswith("t:0x") for line in event_lines(text))
    assert len(event_lines(text)) == 7
    assert text.count("PARTITION_SWITCH") == 1


def test_a_loss_makes_it_incomplete_and_strict_makes_it_fail(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng", lose=True)
    expected = "vxmon: INCOMPLETE: 2 of 7 records lost in 1 place (link 2)\n"
    assert print_to(tmp_path, path)[::2] == (0, expected)
    assert print_to(tmp_path, path, "--strict")[::2] == (1, expected)
    assert run("info", path)[::2] == (0, expected)
    assert run("info", path, "--strict", "--format", "json")[::2] == (1, expected)


def test_strict_is_content_with_a_whole_session(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    assert print_to(tmp_path, path, "--strict")[::2] == (0, "")


def test_files_come_as_arguments_or_by_f_and_are_read_as_one(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    one = event_lines(print_to(tmp_path, path)[1])
    assert event_lines(print_to(tmp_path, "-n", "-f", path)[1]) == one
    assert event_lines(print_to(tmp_path, "-nv", "-f", path, path)[1])[0].startswith(one[0])
    assert event_lines(print_to(tmp_path, path, path)[1]) == one


def test_a_session_without_events_is_one_and_not_complete(tmp_path: Path) -> None:
    target = Target()
    path = write_session(tmp_path / "s", [*target.tables(), *target.started(), *target.end(5)])
    assert print_to(tmp_path, path)[::2] == (0, "vxmon: INCOMPLETE: there is no block of records\n")
    status, out, _ = run("info", "--format", "json", path)
    assert (status, json.loads(out)["events"], json.loads(out)["incomplete"]) == (0, {}, True)


@pytest.mark.parametrize("start", [True, False])
def test_a_run_without_its_end_is_incomplete_everywhere(tmp_path: Path, start: bool) -> None:
    """All that was sent is here, but nobody can know whether more was recorded."""
    target = Target()
    begin = [*target.tables(), *(target.started() if start else [])]
    path = write_session(tmp_path / "s", [*begin, target.points([10, 11])])
    expected = "vxmon: INCOMPLETE: the end of run 1 is not in the file\n"
    assert print_to(tmp_path, path, "--strict")[::2] == (1, expected)
    status, out, err = run("info", "--strict", path)
    assert (status, err) == (1, expected)
    assert "0 lost: INCOMPLETE" in out.splitlines()[0]
    assert "run 1: its end is not in the file; how many records followed is not known" in out
    document = json.loads(run("info", "--format", "json", path)[1])
    assert document["incomplete"]
    assert [run["end_seen"] for run in document["boots"][0]["runs"]] == [False]
    status, out, err = run("analyze", "quality", "--strict", path)
    assert (status, err) == (1, expected)
    assert out.startswith("INCOMPLETE: the end of run 1 is not in the file")


def test_of_several_boots_the_one_of_the_run_without_end_is_named(tmp_path: Path) -> None:
    first, second = Target(), Target(boot=77)
    begun = [*first.tables(), *first.started(), first.points([10, 11])]
    path = write_session(tmp_path / "s", [*begun, *second.tables(), *second.started(), *second.end(0)])
    _, err = print_to(tmp_path, path)[1:]
    assert err == f"vxmon: INCOMPLETE: the end of run 1 of boot 0x{first.boot:08x} is not in the file\n"


def test_metadata_of_a_newer_format_is_a_problem(tmp_path: Path) -> None:
    path = Path(whole_session(tmp_path / "s"))
    path.write_bytes(path.read_bytes().replace(b'{"format": 1', b'{"format": 7'))
    assert "session metadata 7 is newer than what this vxmon knows (1)" in run("info", str(path))[1]


@pytest.mark.parametrize(
    ("content", "word"),
    [
        (b"", "empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "PNG"),
        (os.urandom(5000), "no session"),
        (b"\x0a\x0d\x0d\x0a" + os.urandom(500), "pcapng"),
        (b"hello, world\n" * 40, "text"),
    ],
    ids=["empty", "png", "noise", "pcapng-noise", "text"],
)
@pytest.mark.parametrize("verb", ["print", "info"])
def test_what_is_no_session_gets_one_message_and_2(tmp_path: Path, content: bytes, word: str, verb: str) -> None:
    path = tmp_path / "x"
    path.write_bytes(content)
    status, out, err = run(verb, str(path))
    assert (status, out) == (2, "")
    assert err.count("\n") == 1
    assert err.startswith("vxmon: ")
    assert word in err


@pytest.mark.parametrize("verb", ["print", "info"])
def test_a_directory_and_a_missing_file_get_2(tmp_path: Path, verb: str) -> None:
    for path in (str(tmp_path), str(tmp_path / "none")):
        status, out, err = run(verb, path)
        assert (status, out, err.count("\n")) == (2, "", 1)


def test_usage_errors_get_2_and_nothing_on_standard_output(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    for arguments in (("print",), ("info",), ("print", "--dialect", "5", path), ("print", "-p", "%q", path), ("frob",)):
        status, out, err = run(*arguments)
        assert (status, out) == (2, "")
        assert err


def test_a_newer_wire_format_is_named_with_ours(tmp_path: Path) -> None:
    block = bytearray(Target().points([1]))
    block[4] = 9
    covered = 32 + int.from_bytes(block[22:24], "big")
    block[28:32] = zlib.crc32(bytes(block[32:covered]), zlib.crc32(bytes(block[:28]))).to_bytes(4, "big")
    status, out, err = run("print", write_session(tmp_path / "s", [bytes(block)]))
    assert (status, out, err.count("\n")) == (2, "", 1)
    assert "format 9" in err
    assert "format 1" in err


def packet_ends(session: bytes) -> set[int]:
    """Where the blocks of a pcapng file end."""
    at, ends = 0, set()
    while at < len(session):
        at += int.from_bytes(session[at + 4 : at + 8], "little")
        ends.add(at)
    return ends


def test_every_cut_of_a_session_prints_what_is_there(tmp_path: Path) -> None:
    """2 while nothing can be used, then 0, and INCOMPLETE unless the cut is behind the end of the run."""
    target = Target()
    datagrams = [*target.heartbeat(1), target.points([10, 11]), target.points([20]), *target.end(30)]
    path = write_session(tmp_path / "run.pcapng", datagrams)
    whole = Path(path).read_bytes()
    lines = event_lines(print_to(tmp_path, path)[1])
    behind_end = sorted(packet_ends(whole))[-2]  # only the statistics block follows
    cut = tmp_path / "cut.pcapng"
    seen = set()
    for size in range(len(whole)):
        cut.write_bytes(whole[:size])
        status, text, err = print_to(tmp_path, str(cut))
        seen.add(status)
        assert status in {0, 2}
        assert "Traceback" not in err
        if status == 2:
            assert err.count("\n") == 1
            continue
        there = [line for line in event_lines(text) if "LOSS" not in line]
        assert there == lines[: len(there)]
        assert ("INCOMPLETE" in err) == (size != behind_end)
    assert seen == {0, 2}


def test_a_cut_session_says_how_many_bytes_and_strict_fails(tmp_path: Path) -> None:
    path = Path(whole_session(tmp_path / "run.pcapng"))
    target = Target()
    made = [target.points([10 * i, 10 * i + 1]) for i in range(3)]
    path = Path(write_session(tmp_path / "s", [*target.tables(), *target.started(), *made], finish=False))
    path.write_bytes(path.read_bytes()[:-10])
    status, text, err = print_to(tmp_path, str(path))
    assert status == 0
    assert len(event_lines(text)) == 4
    assert "INCOMPLETE" in err
    assert "bytes at its end" in err
    assert print_to(tmp_path, str(path), "--strict")[0] == 1


def test_noise_in_the_middle_is_told_and_the_rest_printed(tmp_path: Path) -> None:
    path = Path(whole_session(tmp_path / "run.pcapng", blocks=40))
    data = bytearray(path.read_bytes())
    middle = len(data) // 2
    data[middle : middle + 300] = os.urandom(300)
    path.write_bytes(bytes(data))
    status, text, err = print_to(tmp_path, str(path))
    assert status == 0
    assert "INCOMPLETE" in err
    assert len(event_lines(text)) > 40


def command_line(*arguments: str) -> list[str]:
    return [sys.executable, "-c", "from vxmon_cli.main import main; main()", *arguments]


@pytest.mark.parametrize("unbuffered", ["", "1"])
def test_head_ends_it_silently(tmp_path: Path, unbuffered: str) -> None:
    path = whole_session(tmp_path / "run.pcapng", blocks=3000)
    environment = {**os.environ, "PYTHONUNBUFFERED": unbuffered}
    with subprocess.Popen(
        command_line("print", path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as process:
        assert process.stdout is not None
        assert process.stderr is not None
        assert process.stdout.readline().startswith(b"VXMON TRACEPRINTER")
        process.stdout.close()
        assert process.stderr.read() == b""
        assert process.wait(TIMEOUT) == -signal.SIGPIPE


def test_an_output_that_cannot_be_written_gets_3(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    status, _, err = run("print", path, "-o", str(tmp_path / "no" / "such"))
    assert (status, err.count("\n")) == (3, 1)
    status, _, err = run("print", path, "-o", "/dev/full")
    assert (status, err.count("\n")) == (3, 1)


def test_a_session_is_never_written_over(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    before = Path(path).read_bytes()
    (tmp_path / "link").symlink_to(path)
    for output in (path, str(tmp_path / "link")):
        status, _, err = run("print", path, "-o", output)
        assert (status, err.count("\n")) == (2, 1)
        assert Path(path).read_bytes() == before


def test_info_tells_what_the_session_holds(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng", lose=True)
    status, out, _ = run("info", "--format", "json", path)
    document = json.loads(out)
    assert status == 0
    assert document["version"] == 1
    target = document["target"]
    assert (target["board"], target["os_release"], target["byte_order"], target["clock_hz"]) == (
        "ppce500", "2.4", "big", 400_000_000,
    )  # fmt: skip
    # From the first record at 0 to the last at 900 ticks of 2.5 ns.
    assert document["duration_ns"] == 2250
    assert document["events"] == {"USER_POINT": 4, "PARTITION_SWITCH": 1}
    assert document["classes"] == {"USER": 4, "SCHED": 1}
    (stream,) = document["streams"]
    assert (stream["stream"], stream["recorded"], stream["delivered"], stream["lost"]["link"]) == (0, 7, 5, 2)
    assert set(stream["lost"]) == {"overwritten", "full", "exhausted", "link", "corrupt", "truncated", "pending"}
    assert document["loss_intervals"] == [
        {
            "boot": "0x1234abcd", "run": 1, "stream": 0, "first_index": 2, "records": 2, "from_ns": 2, "to_ns": 50,
            "causes": {"link": 2},
        }
    ]  # fmt: skip
    assert document["incomplete"] is True
    assert document["boots"][0]["partitions"] == {str(p.index): p.name for p in NAMES.partitions}
    assert any("2 of 7 records lost" in problem for problem in document["problems"])


def test_info_is_text_without_colour_in_a_pipe(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    status, out, err = run("info", path)
    assert (status, err) == (0, "")
    assert "\x1b" not in out
    assert "7 events in 0.000002250 s, 0 lost: complete" in out


def test_mad_figures_of_the_target_do_not_harm(tmp_path: Path) -> None:
    target = Target()
    mad = StreamState(0, recorded=(1 << 62) - 1, cut_index=5, blocks=1 << 60, cut_time=1 << 61)
    path = write_session(tmp_path / "s", [*target.started(), target.points([1]), *target.heartbeat(5, (mad,))])
    status, out, _ = run("info", "--format", "json", path)
    assert status == 0
    stream = json.loads(out)["streams"][0]
    assert stream["recorded"] == (1 << 62) - 1 == stream["delivered"] + sum(stream["lost"].values())


# ---------------------------------------------------------------- selecting


def test_what_is_selected_is_printed_and_the_share_is_told(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng", lose=True)
    status, text, err = print_to(tmp_path, path, "--class", "sched")
    lines = event_lines(text)
    assert (status, [line.split(":")[3].split()[0] for line in lines]) == (0, ["LOSS", "PARTITION_SWITCH"])
    assert err == (
        "vxmon: 1 of 5 events selected\nvxmon: INCOMPLETE: 2 of 7 records lost in 1 place (link 2)\n"
    )  # fmt: skip
    assert "TRACE_BOOT_ID" in text


def test_the_same_is_selected_from_a_pipe_as_from_a_file(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng", blocks=30)
    for options in (["--event", "USER_POINT", "--window", "50ns..200ns"], ["--partition", "NAV"], ["--cpu", "0"]):
        with Path(path).open("rb") as file:
            piped = subprocess.run(
                command_line("print", "-", *options), stdin=file, capture_output=True, timeout=TIMEOUT, check=True
            )
        status, text, _ = print_to(tmp_path, path, *options)
        assert status == 0
        assert event_lines(piped.stdout.decode()) == event_lines(text)
        assert b" events selected" in piped.stderr


def test_a_name_that_is_not_there_gets_2(tmp_path: Path) -> None:
    path = whole_session(tmp_path / "run.pcapng")
    status, text, err = run("print", path, "--partition", "NEV")
    assert (status, text) == (2, "")
    assert err == "vxmon: the session has no partition NEV; its partitions are FMS, MODULE, NAV\n"
    with Path(path).open("rb") as file:
        piped = subprocess.run(
            command_line("print", "-", "--partition", "NEV"), stdin=file, capture_output=True, timeout=TIMEOUT,
            check=False,
        )  # fmt: skip
    assert (piped.returncode, piped.stderr.decode()) == (2, err)


def test_events_are_exported_as_csv(tmp_path: Path) -> None:
    """Rows by hand; 400 MHz, so a tick is 2.5 ns. The quotes of a text field come twice (RFC 4180)."""
    target = Target()
    records = [
        record("START", 1, 1000, {"window": 0, "task": 0, "run": 1}),
        record("USER_TEXT", 7, 1010, {"text": 'a "b", c'}),
        record("PARTITION_SWITCH", 2, 1020),
        record("TASK_SWITCH", 65535, 1020, {"reason": 0, "previous": 0}),
        record("USER_POINT", 8, 1030),
    ]
    datagrams = [*target.tables(), *target.started(1000), target.block(records, 1000, 1030), *target.end(1030)]
    status, text, err = print_to(tmp_path, write_session(tmp_path / "s", datagrams), "--format", "csv")
    assert (status, err) == (0, "")
    assert text.splitlines() == [
        "time_ns,cpu,class,event,partition,task,arguments,boot",
        '0,0,CONTROL,START,NAV,nav_filter,"partition:NAV window:0 task:nav_filter run:1",0',
        '25,0,USER,USER_TEXT,NAV,nav_filter,"number:7 text:""a ""b"", c""",0',
        '50,0,SCHED,PARTITION_SWITCH,FMS,none,"partition:FMS",0',
        '50,0,TASK,TASK_SWITCH,FMS,none,"task:none reason:blocked previous:nav_filter",0',
        '75,0,USER,USER_POINT,FMS,none,"number:8",0',
    ]
    parsed = list(csv.reader(io.StringIO(text)))
    assert parsed[2][6] == 'number:7 text:"a "b", c"'


def test_too_little_memory_is_said_in_one_line() -> None:
    script = "import vxmon_cli.application as a\ndef full(**_): raise MemoryError\na.vxmon.main = full\na.run()"
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 3
    assert done.stderr == "vxmon: not enough memory; a part of a session (--window A..B) needs less\n"
