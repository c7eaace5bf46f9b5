# SPDX-License-Identifier: Apache-2.0
"""The demo target is reset while it is captured: by itself, in good order, and from outside without a word."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support import qemu
from tests.support.commands import Done, events, finish, free_port, info, kill_started, start_vxmon
from vxmon.link.qemu import forward_options


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    kill_started()


def wait_for_size(path: Path, size: int) -> None:
    end = time.monotonic() + 60
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < end, "the capture does not begin"
        time.sleep(0.02)


def stop(capture: subprocess.Popen[bytes]) -> Done:
    capture.send_signal(signal.SIGINT)
    return finish(capture)


def reset(control: Path) -> None:
    """The machine's reset button, by the QEMU Machine Protocol."""
    with socket.socket(socket.AF_UNIX) as sock:
        sock.settimeout(30)
        sock.connect(str(control))
        answers = sock.makefile("r")
        for command in ("qmp_capabilities", "system_reset"):
            sock.sendall(json.dumps({"execute": command}).encode() + b"\n")
        while "RESET" not in answers.readline():
            pass


def test_a_hard_reset_is_one_session_of_two_boots(tmp_path: Path) -> None:
    """No word is said: the host misses three heartbeats, greets, finds another boot, and records on."""
    path, control, port = tmp_path / "s.pcapng", tmp_path / "qmp", free_port()
    options = [*forward_options(port), "-qmp", f"unix:{control},server=on,wait=off"]
    with qemu.boot("hard_reset", "entropy=0x1234567890abcdef", *options):
        capture = start_vxmon("capture", f"127.0.0.1:{port}", "-d", "600", "-o", str(path))
        wait_for_size(path, 200_000)
        reset(control)
        size = path.stat().st_size
        wait_for_size(path, size + 200_000)
        done = stop(capture)
    assert done.status == 0, done.err
    assert "the target has not been heard for 3 s" in done.err
    assert "the target was restarted" in done.err
    assert "INCOMPLETE" in done.err, "what the first boot recorded last is not known"
    document = info(path)
    first, second = document["boots"]
    assert [first["runs"][0]["end_seen"], second["runs"][0]["end_seen"]] == [False, True]
    assert second["runs"][0]["config"]["max_ticks"] < 600 * second["clock_hz"], "what is left of the time"
    before, after = (stream for stream in document["streams"] if stream["recorded"])
    assert {name for name, count in before["lost"].items() if count} <= {"pending"}
    assert after["recorded"] == after["delivered"] > 1000
    kinds = [event["kind"] for event in document["link_events"] if event["by"] == "host"]
    assert kinds[-2:] == ["link_lost", "reboot"]
    lines = events(path)
    (at,) = [number for number, line in enumerate(lines) if ":REBOOT " in line]
    assert f"before:{first['boot']}" in lines[at]
    assert ":START " in lines[at + 1]


def test_a_module_reset_does_not_end_a_capture(tmp_path: Path) -> None:
    """Scenario faults: the power supply fails in frame 450, the module resets itself (target_c/kernel/README.md)."""
    path = tmp_path / "s.pcapng"
    capture = start_vxmon("capture", "--qemu", "--scenario", "faults", "-d", "600", "-o", str(path))
    assert capture.stderr is not None
    while b"was restarted" not in (line := capture.stderr.readline()):
        assert line, "it has ended"
    size = path.stat().st_size
    wait_for_size(path, size + 100_000)
    done = stop(capture)
    assert done.status == 0, done.err
    assert "INCOMPLETE" not in done.err
    document = info(path)
    assert [boot["runs"][0]["end_reason"] for boot in document["boots"]] == ["shutdown", "host"]
    assert document["lost"] == 0
    assert "reboot" in [event["kind"] for event in document["link_events"]]
    assert sum(":REBOOT " in line for line in events(path)) == 1
