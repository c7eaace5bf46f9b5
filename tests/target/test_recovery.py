# SPDX-License-Identifier: Apache-2.0
"""What happens when the link is cut, a host is killed, its port changes, or the target goes away and comes back.

Each ends in a session that says what happened, in print and in info, and in which every record is delivered or counted.
"""

from __future__ import annotations

import contextlib
import os
import re
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Done, events, finish, info, kill_started, posix_target, start_vxmon, vxmon
from tests.support.proxy import Proxy


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    kill_started()


def wait_for_size(path: Path, size: int) -> None:
    end = time.monotonic() + 30
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < end, "the capture does not begin"
        time.sleep(0.02)


def happened(document: dict[str, Any], by: str = "host") -> list[str]:
    return [event["kind"] for event in document["link_events"] if event["by"] == by]


def lines(path: Path, name: str) -> list[str]:
    return [line for line in events(path) if f":{name} " in line]


def whole(document: dict[str, Any]) -> list[dict[str, Any]]:
    """Streams; everything since the attach is delivered."""
    streams: list[dict[str, Any]] = [stream for stream in document["streams"] if stream["recorded"]]
    assert streams
    for stream in streams:
        assert stream["recorded"] == stream["before_attach"] + stream["delivered"], stream
    return streams


def stop(capture: subprocess.Popen[bytes]) -> Done:
    capture.send_signal(signal.SIGINT)
    return finish(capture)


def test_a_link_that_is_cut_and_comes_back_loses_nothing_that_the_target_held(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target, Proxy(target.port) as wire:
        capture = start_vxmon("capture", wire.address, "-o", str(path))
        wait_for_size(path, 60_000)
        wire.is_cut = True
        time.sleep(3.6)
        wire.is_cut = False
        size = path.stat().st_size
        wait_for_size(path, size + 150_000)
        done = stop(capture)
    assert done.status == 0, done.err
    assert "the target has not been heard for 3 s" in done.err
    assert "the target is heard again" in done.err
    document = info(path)
    whole(document)
    # On a busy machine there may be more of both.
    kinds, recorded = happened(document), happened(document, "target")
    assert (kinds[0], kinds[-1], set(kinds)) == ("link_lost", "link_back", {"link_lost", "link_back"})
    assert (recorded[0], recorded[-1], set(recorded)) == ("lost", "up", {"lost", "up"})
    assert max(e["silence_ns"] or 0 for e in document["link_events"] if e["kind"] == "link_back") > 3e9
    lost, back = lines(path, "LINK_LOST")[0], lines(path, "LINK_BACK")[-1]
    assert "text:the target has not been heard for 3 s" in lost
    assert re.search(r"silence_ms:\d", back)
    shown = events(path)
    assert shown.index(lost) < shown.index(back) < len(shown) - 1, "in order of time"


def test_a_port_that_changes_is_taken_over_by_the_same_host(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target, Proxy(target.port) as wire:
        capture = start_vxmon("capture", wire.address, "-o", str(path))
        wait_for_size(path, 60_000)
        wire.change_port()
        size = path.stat().st_size
        wait_for_size(path, size + 150_000)
        done = stop(capture)
    assert done.status == 0, done.err
    document = info(path)
    whole(document)
    assert {"link_lost", "link_back"} == set(happened(document))
    assert "moved" in happened(document, "target")
    assert any("state:moved" in line for line in lines(path, "LINK"))


def test_a_killed_host_is_followed_by_one_that_resumes(tmp_path: Path) -> None:
    first, second = tmp_path / "a.pcapng", tmp_path / "b.pcapng"
    with posix_target("--rate", "20000") as target:
        capture = start_vxmon("capture", target.address, "-o", str(first))
        wait_for_size(first, 100_000)
        capture.kill()
        finish(capture)
        done = vxmon("capture", target.address, "--resume", "-d", "1", "-o", str(second))
    assert done.status == 0, done.err
    assert "run 1, which another host began, goes on with this one" in done.err
    assert "lost 0" in done.err
    document = info(second)
    (stream,) = whole(document)
    assert (stream["run"], stream["delivered"]) == (1, done.figure("delivered"))
    assert stream["before_attach"] > 0
    assert done.figure("recorded") == stream["delivered"]
    assert happened(document)[0] == "resumed"
    assert lines(second, "RESUMED")
    both = vxmon("info", "--format", "json", str(first), str(second))
    assert b'"lost": 0' in both.out
    joined = events_of(first, second)
    assert joined[0].endswith("run:1")
    assert "reason:host" in joined[-1]
    assert any(":PORT_CHANGED " in line for line in joined)


def events_of(*paths: Path) -> list[str]:
    done = vxmon("print", *map(str, paths))
    assert "INCOMPLETE" not in done.err
    return [line for line in done.out.decode().splitlines() if line.startswith("t:")]


def test_what_a_finished_run_left_behind_is_fetched_too(tmp_path: Path) -> None:
    """The killed host had asked for 2 s; the target ended the run by its own clock and holds the rest."""
    first, second = tmp_path / "a.pcapng", tmp_path / "b.pcapng"
    with posix_target("--rate", "20000") as target:
        capture = start_vxmon("capture", target.address, "-d", "2", "-o", str(first))
        wait_for_size(first, 60_000)
        os.kill(capture.pid, signal.SIGKILL)
        finish(capture)
        time.sleep(3.2)
        done = vxmon("capture", target.address, "--resume", "-o", str(second))
    assert done.status == 0, done.err
    document = info(second)
    whole(document)
    assert document["boots"][0]["runs"][0]["end_reason"] == "autostop"
    assert [line for line in events_of(first, second) if ":RESUMED " not in line][-1].endswith("reason:autostop")


def test_without_a_run_to_resume_a_new_one_begins(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target() as target:
        done = vxmon("capture", target.address, "--resume", "-d", "0.5", "-o", str(path))
    assert done.status == 0, done.err
    assert "the target holds no run to go on with; a new one begins" in done.err
    document = info(path)
    whole(document)
    assert "resumed" not in happened(document)


def test_a_target_that_goes_down_in_good_order_and_comes_back_is_one_session(tmp_path: Path) -> None:
    """The time counts over the restart: the second boot is told to record for what is left."""
    path = tmp_path / "s.pcapng"
    with contextlib.ExitStack() as first:
        target = first.enter_context(posix_target("--rate", "20000"))
        capture = start_vxmon("capture", target.address, "-d", "60", "-o", str(path))
        wait_for_size(path, 60_000)
        first.close()
        size = path.stat().st_size
        with posix_target("--rate", "20000", port=target.port):
            wait_for_size(path, size + 60_000)
            done = stop(capture)
    assert done.status == 0, done.err
    assert "the target ended the run: shutdown; waiting for its return" in done.err
    assert "INCOMPLETE" not in done.err
    document = info(path)
    assert len({stream["boot"] for stream in whole(document)}) == 2
    assert "reboot" in happened(document)
    (line,) = lines(path, "REBOOT")
    assert "before:0x" in line
    runs = [boot["runs"][0] for boot in document["boots"]]
    assert [run["end_reason"] for run in runs] == ["shutdown", "host"]
    assert runs[0]["config"]["max_ticks"] == 60_000_000_000
    assert runs[1]["config"]["max_ticks"] <= 60_000_000_000 - (runs[0]["ended_ns"] - runs[0]["started_ns"])


def test_the_clocks_are_tied(tmp_path: Path) -> None:
    """The posix target's clock is CLOCK_MONOTONIC: what it is off by is known from this side."""
    path = tmp_path / "s.pcapng"
    with posix_target() as target:
        before = time.time_ns() - time.monotonic_ns()
        done = vxmon("capture", target.address, "-d", "2.5", "-o", str(path))
        after = time.time_ns() - time.monotonic_ns()
    assert done.status == 0, done.err
    clock = info(path)["boots"][0]["clock"]
    assert clock["steps"] == 0
    low, high = sorted((before, after))
    # The difference of two readings is taken one after the other.
    assert low - 1_000_000 <= clock["offset_ns"] + clock["uncertainty_ns"]
    assert clock["offset_ns"] - clock["uncertainty_ns"] <= high + 1_000_000
    assert abs(clock["drift_ppm"]) <= clock["drift_uncertainty_ppm"] + 100
    shown = vxmon("print", "--wall", str(path)).out.decode().splitlines()
    wall = [line.split(" ")[0] for line in shown if re.match(r"\d{4}-\d\d-\d\dT", line)]
    assert len(wall) > 100
    assert wall == sorted(wall)
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{9}Z", text) for text in wall[:10])
