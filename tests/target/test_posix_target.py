# SPDX-License-Identifier: Apache-2.0
"""vxm-posix-target as a program: options, its end, a port that is taken."""

from __future__ import annotations

import signal
import socket
import subprocess

import pytest

from tests.support.tree import ROOT

PROGRAM = ROOT / "build/posix/vxm-posix-target"
LIMIT_S = 60


def run(*options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([str(PROGRAM), *options], capture_output=True, text=True, timeout=LIMIT_S, check=False)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        (["--port"], "--port"),
        (["--port", "65536"], "--port"),
        (["--port", "-1"], "--port"),
        (["--port", "x"], "--port"),
        (["--run", "nan"], "--run"),
        (["--run", "-1"], "--run"),
        (["--no-such-option", "1"], "unknown option: --no-such-option"),
        (["--release", "1.0", "--port", "0"], "no event table for --release: 1.0"),
        (["--clock-hz", "10"], "--clock-hz must be at least 1000000"),
        (["--arena", "1000", "--port", "0", "--autostart", "9"], "does not take this configuration"),
    ],
)
def test_a_wrong_option_is_one_message_and_status_2(options: list[str], words: str) -> None:
    done = run(*options)
    assert done.returncode == 2
    assert words in done.stderr
    assert len(done.stderr.splitlines()) == 1
    assert done.stdout == ""


def test_a_port_that_is_taken_is_told() -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken:
        taken.bind(("127.0.0.1", 0))
        done = run("--port", str(taken.getsockname()[1]))
    assert done.returncode == 2
    assert "cannot bind the port" in done.stderr


def test_it_ends_by_itself_and_says_what_it_recorded() -> None:
    """One-way, to a port where nobody listens: everything is sent, nothing lost on the target."""
    done = run("--port", "0", "--run", "0.3", "--autostart", "9", "--one-way", "--rate", "10000")
    assert done.returncode == 0
    listening, totals = done.stdout.splitlines()
    assert listening.startswith("vxm-posix-target: listening on 127.0.0.1:")
    assert ", overwritten 0, full 0, exhausted 0, blocks " in totals
    assert int(totals.split("recorded ")[1].split(",")[0]) > 3


def test_a_signal_is_a_normal_end() -> None:
    with subprocess.Popen([str(PROGRAM), "--port", "0"], stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        assert "listening" in process.stdout.readline()
        process.send_signal(signal.SIGTERM)
        assert process.wait(LIMIT_S) == 0
