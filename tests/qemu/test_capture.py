# SPDX-License-Identifier: Apache-2.0
"""``vxmon capture --qemu`` and ``vxmon target``: the whole path, bit-equal runs, passive captures, nothing left."""

from __future__ import annotations

import contextlib
import os
import random
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import events, finish, free_port, info, kill_started, start_vxmon, vxmon
from tests.support.tree import ROOT

# From target_c/partitions/module.xml: 15 windows of a frame of 20 ms, of which one follows another of its partition.
FRAME_S = 0.020
SWITCHES_A_FRAME = 14
IMAGE = ROOT / "build/ppce500/kernel.elf"


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    kill_started()


@pytest.fixture
def mark() -> str:
    """A boot parameter that tells this test's QEMU from all others; it says nothing new to the target."""
    return f"rate={random.randrange(40_000, 60_000)}"


def processes(mark: str) -> list[int]:
    """QEMU processes with that boot parameter."""
    found = []
    for entry in Path("/proc").iterdir():
        with contextlib.suppress(OSError):
            line = (entry / "cmdline").read_bytes() if entry.name.isdigit() else b""
            if line.split(b"\0")[0].endswith(b"qemu-system-ppc") and mark.encode() in line:
                found.append(int(entry.name))
    return found


def wait_until_gone(mark: str) -> None:
    end = time.monotonic() + 20
    while processes(mark):
        assert time.monotonic() < end, "QEMU is left behind"
        time.sleep(0.05)


def wait_for_size(path: Path, size: int) -> None:
    end = time.monotonic() + 60
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < end, "the capture does not begin"
        time.sleep(0.02)


def wait_until_still(path: Path) -> None:
    """Until a file has not grown for two seconds."""
    size, since = -1, time.monotonic()
    while time.monotonic() < since + 2:
        if path.stat().st_size != size:
            size, since = path.stat().st_size, time.monotonic()
        time.sleep(0.05)


@contextlib.contextmanager
def busy() -> Iterator[None]:
    """Something else for both processors to do."""
    hogs = [subprocess.Popen(["sh", "-c", "while :; do :; done"]) for _ in range(2)]
    try:
        yield
    finally:
        for hog in hogs:
            hog.kill()
            hog.wait()


def test_the_demo_target_is_captured_whole(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "s.pcapng"
    done = vxmon("capture", "--qemu", "-d", "2", "-o", str(path), "--parameter", mark)
    assert done.status == 0, done.err
    assert not processes(mark)
    document = info(path)
    assert document["target"]["board"] == "ppce500"
    assert document["target"]["byte_order"] == "big"
    (stream,) = document["streams"]
    assert stream["recorded"] == stream["delivered"] == done.figure("recorded")
    assert not any(stream["lost"].values())
    frames = document["duration_ns"] / 1e9 / FRAME_S
    assert abs(document["events"]["PARTITION_SWITCH"] - frames * SWITCHES_A_FRAME) <= SWITCHES_A_FRAME
    assert abs(frames * FRAME_S - 2) <= FRAME_S, "two seconds of the target's clock"


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_stops_capture_and_target(tmp_path: Path, mark: str, number: int) -> None:
    path = tmp_path / "s.pcapng"
    capture = start_vxmon("capture", "--qemu", "-o", str(path), "--parameter", mark)
    wait_for_size(path, 100_000)
    capture.send_signal(number)
    done = finish(capture)
    assert done.status == 0, done.err
    assert not processes(mark)
    assert "reason:host" in events(path)[-1]


def test_ctrl_c_of_a_terminal_reaches_only_the_capture(tmp_path: Path, mark: str) -> None:
    """It goes to the whole foreground group; the target must live until it was stopped and everything fetched."""
    path = tmp_path / "s.pcapng"
    capture = start_vxmon("capture", "--qemu", "-o", str(path), "--parameter", mark, process_group=0)
    wait_for_size(path, 100_000)
    os.killpg(capture.pid, signal.SIGINT)
    done = finish(capture)
    assert done.status == 0, done.err
    assert "INCOMPLETE" not in done.err
    assert not processes(mark)


@pytest.mark.skipif(shutil.which("setpriv") is None, reason="setpriv (util-linux) is not installed")
def test_a_killed_capture_takes_the_target_with_it(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "s.pcapng"
    capture = start_vxmon("capture", "--qemu", "-o", str(path), "--parameter", mark)
    wait_for_size(path, 50_000)
    assert len(processes(mark)) == 1
    capture.kill()
    finish(capture)
    wait_until_gone(mark)
    assert events(path)


def test_a_target_that_dies_is_told(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "s.pcapng"
    capture = start_vxmon("capture", "--qemu", "-o", str(path), "--parameter", mark)
    wait_for_size(path, 50_000)
    (target,) = processes(mark)
    os.kill(target, signal.SIGKILL)
    done = finish(capture)
    assert done.status == 3
    assert "the demo target has ended (SIGKILL)" in done.err
    assert "Traceback" not in done.err
    assert events(path)


def test_a_wrong_boot_parameter_is_told_in_the_targets_words(tmp_path: Path) -> None:
    done = vxmon("capture", "--qemu", "--parameter", "rate=fast", "-o", str(tmp_path / "x"))
    assert done.status == 2
    assert done.err == "vxmon: the demo target refuses: boot parameter rate=fast is not a number\n"
    assert not (tmp_path / "x").exists()


def test_a_missing_image_is_told_with_the_cure(tmp_path: Path) -> None:
    done = vxmon("capture", "--qemu", "--image", "/nonexistent", "-o", str(tmp_path / "x"))
    assert (done.status, done.err.count("\n")) == (2, 1)
    assert "/nonexistent" in done.err
    environment = {**os.environ, "VXMON_TARGET": str(tmp_path / "nothing")}
    done = vxmon("capture", "--qemu", "-o", str(tmp_path / "x"), env=environment)
    assert "VXMON_TARGET" in done.err
    environment = {**os.environ, "VXMON_TARGET": str(IMAGE)}
    done = vxmon("capture", "--qemu", "-d", "0.2", "-o", str(tmp_path / "x"), env=environment, cwd="/")
    assert done.status == 0, done.err


# ---------------------------------------------------------------- bit-equal runs


def test_deterministic_runs_are_equal(tmp_path: Path, mark: str) -> None:
    """Three runs, one of them beside something that keeps both processors busy."""
    lines = []
    for number in range(3):
        path = tmp_path / f"{number}.pcapng"
        with busy() if number == 1 else contextlib.nullcontext():
            done = vxmon("capture", "--qemu", "--deterministic", "-d", "2", "-o", str(path), "--parameter", mark)
        assert done.status == 0, done.err
        assert "INCOMPLETE" not in done.err
        lines.append(events(path))
    assert lines[0] == lines[1] == lines[2]
    assert len(lines[0]) > 10_000
    assert "START" in lines[0][0]
    assert "reason:autostop" in lines[0][-1]
    assert not processes(mark)
    document = info(tmp_path / "0.pcapng")
    assert abs(document["duration_ns"] - 2e9) < 1e9 * FRAME_S
    assert document["streams"][0]["recorded"] == document["streams"][0]["delivered"]


def test_a_deterministic_run_of_some_events(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    done = vxmon("capture", "--qemu", "--deterministic", "-d", "0.5", "-E", "WINDOW", "-o", str(path))
    assert done.status == 0, done.err
    assert {line.split(":")[3].split()[0] for line in events(path)} == {"START", "SNAPSHOT", "WINDOW", "STOP"}


def test_ctrl_c_ends_a_deterministic_run(tmp_path: Path, mark: str) -> None:
    capture = start_vxmon(
        "capture", "--qemu", "--deterministic", "-d", "600", "-o", str(tmp_path / "x"), "--parameter", mark
    )
    end = time.monotonic() + 30
    while not processes(mark):
        assert time.monotonic() < end
        time.sleep(0.02)
    capture.send_signal(signal.SIGINT)
    assert finish(capture).status == 130
    wait_until_gone(mark)
    assert not (tmp_path / "x").exists()


# ---------------------------------------------------------------- a passive capture of the same link


def can_sniff() -> bool:
    return shutil.which("tcpdump") is not None and os.geteuid() == 0


@pytest.mark.skipif(not can_sniff(), reason="tcpdump on lo needs root")
def test_a_tcpdump_begun_later_shows_the_same_lines_with_names(tmp_path: Path, mark: str) -> None:
    own, passive = tmp_path / "own.pcapng", tmp_path / "passive.pcap"
    capture = start_vxmon("capture", "--qemu", "-o", str(own), "--parameter", mark)
    wait_for_size(own, 30_000)
    port = re.search(rb"hostfwd=udp:127\.0\.0\.1:(\d+)", Path(f"/proc/{processes(mark)[0]}/cmdline").read_bytes())
    assert port
    command = ["tcpdump", "-i", "lo", "-U", "-B", "8192", "-w", str(passive), "udp", "port", port[1].decode()]
    with subprocess.Popen(command, stderr=subprocess.DEVNULL) as sniffer:
        try:
            # Tables are repeated each 5 s.
            wait_for_size(passive, 1_500_000)
            capture.send_signal(signal.SIGINT)
            done = finish(capture)
            wait_until_still(passive)
        finally:
            sniffer.terminate()
            sniffer.wait(timeout=10)
    assert done.status == 0, done.err
    ours, theirs = events(own), events(passive)
    assert len(theirs) > 10_000
    first = ours.index(theirs[0])
    assert first > 100, "it was begun later"
    assert ours[first:] == theirs
    assert any("partition:NAV" in line for line in theirs[:2000])
    document = info(passive)
    (stream,) = document["streams"]
    assert not any(stream["lost"].values()), "what was before is no loss"
    assert stream["recorded"] == info(own)["streams"][0]["recorded"]


# ---------------------------------------------------------------- vxmon target


def test_the_target_runs_in_the_foreground(mark: str) -> None:
    done = vxmon("target", "run", "--run", "50f", "--port", str(free_port()), "--parameter", mark)
    assert done.status == 0, done.err
    assert b"end of run, pass" in done.out
    assert not processes(mark)


def test_captures_from_a_target_in_the_foreground(tmp_path: Path, mark: str) -> None:
    path = tmp_path / "s.pcapng"
    port = free_port()
    target = start_vxmon("target", "run", "--port", str(port), "--scenario", "chatter", "--parameter", mark)
    done = vxmon("capture", f"127.0.0.1:{port}", "-d", "1", "-o", str(path))
    assert done.status == 0, done.err
    counts = info(path)["events"]
    assert counts["USER_POINT"] + counts["USER"] > 10_000, counts
    target.send_signal(signal.SIGINT)
    ended = finish(target)
    assert ended.status in (0, 130)
    assert "Traceback" not in ended.err
    wait_until_gone(mark)


def test_a_target_that_panics_fails() -> None:
    done = vxmon("target", "run", "--run", "nonsense", "--port", str(free_port()))
    assert done.status == 3
    assert b"run=nonsense" in done.out
