# SPDX-License-Identifier: Apache-2.0
"""Runs the vxmon command and the posix target as a user does, in processes of their own."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from tests.support.tree import ROOT

__all__ = [
    "POSIX_TARGET",
    "VXMON",
    "Done",
    "Posix",
    "events",
    "finish",
    "free_port",
    "info",
    "kill_started",
    "posix_target",
    "start_vxmon",
    "vxmon",
]

VXMON = [sys.executable, "-m", "vxmon_cli"]
POSIX_TARGET = ROOT / "build/posix/vxm-posix-target"
TIMEOUT_S = 90
_started: list[subprocess.Popen[bytes]] = []


@dataclass(frozen=True)
class Done:
    """How a command ended."""

    status: int
    out: bytes
    err: str

    def figure(self, name: str) -> int:
        """A number of the closing summary."""
        found = re.search(rf"{name} (\d[\d,]*)", self.err) or re.search(rf"(\d[\d,]*) {name}", self.err)
        assert found, self.err
        return int(found[1].replace(",", ""))


def free_port() -> int:
    """A UDP port of 127.0.0.1 that nothing listens on now."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        return int(sock.getsockname()[1])


def start_vxmon(*arguments: str, **how: Any) -> subprocess.Popen[bytes]:
    """Begin a command; its output is collected unless ``how`` says otherwise."""
    how = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, **how}
    process = subprocess.Popen([*VXMON, *arguments], stdin=subprocess.DEVNULL, **how)
    _started.append(process)
    return process


def kill_started() -> None:
    """End what a failed test has left running."""
    while _started:
        process = _started.pop()
        if process.poll() is None:
            process.kill()
        for stream in (process.stdout, process.stderr):
            if stream is not None:
                stream.close()
        process.wait(timeout=10)


def finish(process: subprocess.Popen[bytes]) -> Done:
    """Wait for a command."""
    try:
        out, err = process.communicate(timeout=TIMEOUT_S)
    except subprocess.TimeoutExpired:
        process.kill()
        process.communicate()
        raise
    return Done(process.returncode, out or b"", (err or b"").decode())


def vxmon(*arguments: str, **how: Any) -> Done:
    """Run a command to its end."""
    return finish(start_vxmon(*arguments, **how))


def info(path: Path) -> dict[str, Any]:
    """``vxmon info --format json``."""
    done = vxmon("info", "--format", "json", str(path))
    assert done.status == 0, done.err
    document: dict[str, Any] = json.loads(done.out)
    return document


def events(path: Path) -> list[str]:
    """Event lines of ``vxmon print``."""
    done = vxmon("print", str(path))
    assert done.status == 0, done.err
    return [line for line in done.out.decode().splitlines() if line.startswith("t:")]


@dataclass(frozen=True)
class Posix:
    """A running posix target."""

    port: int
    pid: int

    @property
    def address(self) -> str:
        """For the command line."""
        return f"127.0.0.1:{self.port}"


@contextmanager
def posix_target(*arguments: str, port: int = 0, console: list[str] | None = None) -> Iterator[Posix]:
    """The posix target on a port, by default a free one.

    With ``console`` it does not wait for anybody to take what it holds, and what it says at its end is added there.
    """
    if not POSIX_TARGET.exists():
        pytest.fail(f"{POSIX_TARGET} is not built: make build")
    command = [str(POSIX_TARGET), "--port", str(port), *arguments]
    environment = {**os.environ, "ASAN_OPTIONS": "detect_leaks=0"}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as process:
        try:
            assert process.stdout is not None
            line = process.stdout.readline()
            found = re.search(r"127\.0\.0\.1:(\d+)", line)
            assert found, line
            yield Posix(int(found[1]), process.pid)
        finally:
            process.send_signal(signal.SIGCONT)
            process.terminate()
            if console is not None:
                console.append(_end_at_once(process))
            process.communicate(timeout=30)


def _end_at_once(process: subprocess.Popen[str]) -> str:
    """Signal a target that was asked to end again, until it does; returns what it says."""
    while True:
        try:
            said, _ = process.communicate(timeout=0.2)
        except subprocess.TimeoutExpired:
            process.terminate()
        else:
            return said
