# SPDX-License-Identifier: Apache-2.0
"""``vxmon capture`` from the agent on Linux: limits, filters, pipes, signals, full disks, what is left behind."""

from __future__ import annotations

import contextlib
import os
import re
import signal
import socket
import struct
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.support.commands import VXMON, Done, events, finish, info, kill_started, posix_target, start_vxmon, vxmon
from tests.support.proxy import Faults, Proxy
from vxmon.session.reader import open_session
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.types import Channel


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    kill_started()


def datagrams(path: Path) -> list[bytes]:
    with open_session(str(path)) as session:
        return [batch.payload(i) for batch in session.datagrams() for i in range(len(batch))]


def wait_for_size(path: Path, size: int) -> None:
    """Until a session has grown to that size, so that a signal meets a capture at work."""
    end = time.monotonic() + 30
    while not path.exists() or path.stat().st_size < size:
        assert time.monotonic() < end, "the capture does not begin"
        time.sleep(0.02)


def check_complete(done: Done, path: Path) -> dict[str, int]:
    """A capture that lost nothing says so, and the session agrees with its summary."""
    assert done.status == 0, done.err
    document = info(path)
    (stream,) = [s for s in document["streams"] if s["delivered"]]
    assert stream["recorded"] == stream["delivered"] == done.figure("delivered") == done.figure("recorded")
    assert not any(stream["lost"].values())
    assert document["problems"] == []
    assert "INCOMPLETE" not in done.err
    return dict(document["events"])


def test_a_capture_for_some_seconds(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target:
        done = vxmon("capture", target.address, "-d", "1", "-o", str(path), "-v")
    counts = check_complete(done, path)
    assert (counts["START"], counts["STOP"], counts["SNAPSHOT"]) == (1, 1, 2)
    assert counts["USER_POINT"] > 1000
    assert "clock 1000000000 Hz" in done.err
    lines = events(path)
    assert "START" in lines[0]
    assert "reason:autostop" in lines[-1], "the target's clock ended the run"
    with open_session(str(path)) as session:
        list(session.datagrams())
        assert session.metadata["command"][:2] == ["vxmon", "capture"]
        assert session.metadata["target"] == target.address
        assert (session.statistics.received, session.statistics.dropped) == (done.figure("received"), 0)
        assert not session.problems


def test_both_directions_are_in_the_session_and_wireshark_agrees(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target() as target:
        done = vxmon("capture", target.address, "-d", "1.5", "-o", str(path))
    assert done.status == 0, done.err
    channels = [decode_datagram(d).header.channel for d in datagrams(path)]
    for channel in (Channel.COMMAND, Channel.REPLY, Channel.BLOCK, Channel.TABLE, Channel.HEARTBEAT, Channel.ACK):
        assert channel in channels
    out = subprocess.run(
        ["tshark", "-r", str(path), "-o", "udp.check_checksum:TRUE", "-T", "fields", "-e", "udp.checksum.status",
         "-e", "_ws.malformed", "-e", "udp.dstport"],
        capture_output=True, text=True, timeout=60, check=True,
    ).stdout.splitlines()  # fmt: skip
    assert len(out) == len(channels)
    assert {line.split("\t")[0] for line in out} == {"1"}
    assert {line.split("\t")[1] for line in out} == {""}
    assert str(target.port) in {line.split("\t")[2] for line in out}


def test_a_number_of_events(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "50000") as target:
        done = vxmon("capture", target.address, "-n", "20000", "-o", str(path))
    check_complete(done, path)
    assert done.figure("delivered") >= 20_000


def test_a_size(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "50000") as target:
        done = vxmon("capture", target.address, "-S", "500k", "-o", str(path))
    check_complete(done, path)
    assert 400 << 10 < path.stat().st_size < 700 << 10


def test_a_ring_keeps_the_newest(tmp_path: Path) -> None:
    path = tmp_path / "r.pcapng"
    with posix_target("--rate", "100000") as target:
        done = vxmon("capture", target.address, "-r", "-S", "400k", "-d", "2", "-o", str(path))
    assert done.status == 0, done.err
    assert path.stat().st_size < 430 << 10
    document = info(path)
    (stream,) = [s for s in document["streams"] if s["recorded"]]
    assert stream["delivered"] < done.figure("delivered")
    assert not any(stream["lost"].values())
    lines = events(path)
    assert "STOP" in lines[-1]
    assert any("partition:" in line and not re.search(r"partition:\d", line) for line in lines), "names are there"
    assert list(tmp_path.iterdir()) == [path]


def test_only_some_events(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target() as target:
        done = vxmon("capture", target.address, "-d", "1", "-E", "task_switch", "-E", "WINDOW", "-o", str(path))
    counts = check_complete(done, path)
    # The 32 bits of a clock that counts ns since the machine's start roll over every 4.3 s, in this second or another.
    assert set(counts) - {"TIME"} == {"START", "SNAPSHOT", "TASK_SWITCH", "WINDOW", "STOP"}


def test_what_is_told_at_its_time_is_in_the_session(tmp_path: Path) -> None:
    """Times are the host's: after the start, in order, and each about when it was asked for."""
    path = tmp_path / "s.pcapng"
    with posix_target() as target:
        done = vxmon(
            "capture", target.address, "-d", "2", "--at", "0.9=on:TASK_SWITCH", "--at", "0.3=off:TASK_SWITCH",
            "--at", "0.1=mark:7", "--at", "0.2=scenario:nosuch", "--at", "99=mark:8", "-o", str(path),
        )  # fmt: skip
    check_complete(done, path)
    assert "--at 0.2=scenario:nosuch: refused: " in done.err
    assert "the capture ended before --at 99=mark:8" in done.err
    lines = [line.split() for line in events(path)]
    told = [words[3:] for words in lines if words[3].lstrip(":") in ("FILTER", "MARK")]
    assert [words[1] for words in told] == ["number:7", "event:TASK_SWITCH", "event:TASK_SWITCH"]
    assert [words[2] for words in told[1:]] == ["state:off", "state:on"]


def test_without_classes(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "2000") as target:
        done = vxmon("capture", target.address, "-d", "1", "-F", "TASK", "-F", "sched", "-o", str(path))
    counts = check_complete(done, path)
    assert counts["USER_POINT"]
    assert not {"TASK_SWITCH", "RELEASE", "MAJOR_FRAME", "WINDOW"} & set(counts)


@pytest.mark.parametrize(("option", "name"), [("-E", "NO_SUCH"), ("-F", "TASK_SWITCH")])
def test_unknown_names_are_refused_with_the_allowed_ones(tmp_path: Path, option: str, name: str) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target() as target:
        done = vxmon("capture", target.address, option, name, "-o", str(path))
        assert done.status == 2
        assert done.err.count("\n") == 1
        assert name in done.err
        assert ("TASK_SWITCH" if option == "-E" else "its class is TASK\n") in done.err
        assert not path.exists(), "nothing was recorded, no file is touched"
        again = vxmon("capture", target.address, "-d", "0.5", "-o", str(path))
    assert again.status == 0, "the target was not left busy"


def test_one_way(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target:
        done = vxmon("capture", target.address, "-d", "1", "--one-way", "-o", str(path))
    check_complete(done, path)
    channels = [decode_datagram(d).header.channel for d in datagrams(path)]
    assert Channel.ACK not in channels
    assert channels.count(Channel.END) >= 1


def test_buffer_options_reach_the_target(tmp_path: Path) -> None:
    """Units that are too few for the rate while nothing is uploaded: the oldest go, exactly counted."""
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "100000") as target:
        done = vxmon("capture", target.address, "-d", "1", "--units", "4", "--unit-slots", "128", "--no-upload",
                     "--datagram", "600", "-o", str(path))  # fmt: skip
    assert done.status == 0, done.err
    assert "INCOMPLETE" in done.err
    (stream,) = [s for s in info(path)["streams"] if s["recorded"]]
    assert stream["lost"]["overwritten"] > 10_000
    assert stream["recorded"] == stream["delivered"] + sum(stream["lost"].values()) == done.figure("recorded")
    assert stream["delivered"] == done.figure("delivered")
    assert max(len(d) for d in datagrams(path) if d[6] == Channel.BLOCK) <= 600


def test_linear_buffers_keep_the_oldest(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "100000") as target:
        done = vxmon("capture", target.address, "-d", "1", "--units", "4", "--policy", "linear", "--no-upload",
                     "-o", str(path))  # fmt: skip
    assert done.status == 0, done.err
    (stream,) = [s for s in info(path)["streams"] if s["recorded"]]
    assert stream["lost"]["full"] > 10_000
    assert "START" in events(path)[0]


# ---------------------------------------------------------------- pipes


def test_a_pipe(tmp_path: Path) -> None:
    with posix_target() as target:
        capture = start_vxmon("capture", target.address, "-d", "1", "-o", "-")
        printed = subprocess.run(
            [*VXMON, "print", "-"], stdin=capture.stdout, capture_output=True, timeout=60, check=False
        )
        done = finish(capture)
    assert done.status == 0, done.err
    assert printed.returncode == 0, printed.stderr
    assert b"reason:autostop" in printed.stdout.splitlines()[-1]


def test_a_closed_pipe_stops_the_target_and_is_fine(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "50000") as target:
        capture = start_vxmon("capture", target.address, "-d", "60", "-o", "-")
        assert capture.stdout is not None
        assert len(capture.stdout.read(100_000)) == 100_000
        capture.stdout.close()
        capture.stdout = None
        done = finish(capture)
        assert done.status == 0, done.err
        assert "Traceback" not in done.err
        again = vxmon("capture", target.address, "-d", "0.5", "-o", str(path))
    assert "already recording" not in again.err
    check_complete(again, path)


def test_a_fifo(tmp_path: Path) -> None:
    fifo, copy = tmp_path / "fifo", tmp_path / "copy.pcapng"
    os.mkfifo(fifo)
    reader = threading.Thread(target=lambda: copy.write_bytes(fifo.read_bytes()))
    reader.start()
    with posix_target() as target:
        done = vxmon("capture", target.address, "-d", "1", "-o", str(fifo))
    reader.join(30)
    check_complete(done, copy)


def test_a_slow_reader_of_a_pipe_loses_nothing(tmp_path: Path) -> None:
    """While the pipe is full the target must wait; its buffers hold what comes meanwhile."""
    copy = tmp_path / "s.pcapng"
    with posix_target("--rate", "30000") as target:
        capture = start_vxmon("capture", target.address, "-d", "2", "-o", "-")
        assert capture.stdout is not None
        with copy.open("wb") as file:
            file.write(capture.stdout.read(50_000))
            time.sleep(1.5)
            while piece := capture.stdout.read(1 << 16):
                file.write(piece)
        done = finish(capture)
    check_complete(done, copy)


# ---------------------------------------------------------------- ends


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_a_signal_is_a_normal_stop(tmp_path: Path, number: int) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target:
        capture = start_vxmon("capture", target.address, "-o", str(path))
        wait_for_size(path, 100_000)
        capture.send_signal(number)
        done = finish(capture)
    check_complete(done, path)
    assert "reason:host" in events(path)[-1]


def test_a_second_signal_ends_at_once(tmp_path: Path) -> None:
    """The target is frozen, so that the first one has something to wait for."""
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target:
        capture = start_vxmon("capture", target.address, "-o", str(path))
        wait_for_size(path, 100_000)
        os.kill(target.pid, signal.SIGSTOP)
        capture.send_signal(signal.SIGINT)
        time.sleep(0.5)
        assert capture.poll() is None, "it waits for the target's answer"
        capture.send_signal(signal.SIGINT)
        done = finish(capture)
        assert done.status == 130
    assert any(":CANCELLED " in line and "command stop was cancelled" in line for line in events(path))


def test_a_killed_capture_leaves_a_readable_session(tmp_path: Path) -> None:
    path, again = tmp_path / "s.pcapng", tmp_path / "again.pcapng"
    with posix_target("--rate", "20000") as target:
        capture = start_vxmon("capture", target.address, "-o", str(path))
        wait_for_size(path, 100_000)
        capture.kill()
        finish(capture)
        assert len(events(path)) > 100
        done = vxmon("capture", target.address, "-d", "0.5", "-o", str(again))
    assert "already recording; that run is stopped" in done.err
    check_complete(done, again)


def test_a_full_disk(tmp_path: Path) -> None:
    """The limit on file sizes stands in for a full disk."""
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "50000") as target:
        command = f"ulimit -f 200; exec {' '.join(VXMON)} capture {target.address} -d 30 -o {path}"
        done = subprocess.run(
            ["bash", "-c", f"trap '' XFSZ; {command}"], capture_output=True, text=True, timeout=60, check=False
        )
        assert done.returncode == 3
        assert "no room for more" in done.stderr
        assert "Traceback" not in done.stderr
        assert vxmon("capture", target.address, "-d", "0.2", "-o", str(tmp_path / "x")).status == 0
    said = re.search(r"its first (\d+) bytes can be read", done.stderr)
    assert said is not None
    assert int(said[1]) == path.stat().st_size <= 200 * 1024
    delivered = re.search(r"recorded not told, delivered ([\d,]+), lost", done.stderr)
    assert delivered is not None
    (stream,) = info(path)["streams"]
    assert stream["delivered"] == int(delivered[1].replace(",", "")) > 1000
    assert len(events(path)) > 1000


def test_a_ring_on_a_full_disk_says_where_it_is(tmp_path: Path) -> None:
    path, limited = tmp_path / "r.pcapng", "ulimit -f 100; exec"
    with posix_target("--rate", "50000") as target:
        command = f"{limited} {' '.join(VXMON)} capture {target.address} -r -S 10M -d 30 -o {path}"
        done = subprocess.run(
            ["bash", "-c", f"trap '' XFSZ; {command}"], capture_output=True, text=True, timeout=60, check=False
        )
        again = vxmon("capture", target.address, "-r", "-d", "1", "-o", str(path))
    assert done.returncode == 3
    assert f"vxmon print {path}.ring/*\n" in done.stderr
    assert again.status == 3
    assert "that run is stopped" in again.err, "the target went on recording"
    assert f"vxmon print {path}.ring/*" in again.err
    assert len(events(next(Path(f"{path}.ring").iterdir()))) > 1000


def test_nobody_listens(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
    done = vxmon("capture", f"127.0.0.1:{port}", "-o", str(tmp_path / "x"))
    assert (done.status, done.out) == (3, b"")
    assert done.err == f"vxmon: 127.0.0.1:{port}: the target does not answer: nothing listens on this port\n"
    assert not (tmp_path / "x").exists()


def test_somebody_else_listens(tmp_path: Path) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", 0))
        port = sock.getsockname()[1]
        capture = start_vxmon("capture", f"127.0.0.1:{port}", "-o", str(tmp_path / "x"))
        data, peer = sock.recvfrom(2048)
        newer = data[:4] + b"\x02" + data[5:]
        for answer in (b"hello", newer, struct.pack("<40x")):
            sock.sendto(answer, peer)
        done = finish(capture)
    assert done.status == 3
    assert "no vxmon target, or of another version" in done.err
    assert "version" in done.err


def test_two_hosts(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target() as target:
        first = start_vxmon("capture", target.address, "-o", str(path))
        wait_for_size(path, 5000)
        second = vxmon("capture", target.address, "-d", "1", "-o", str(tmp_path / "x"))
        assert second.status == 3
        assert "another host, or a capture, controls this target" in second.err
        first.send_signal(signal.SIGINT)
        check_complete(finish(first), path)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["-o", "x"], "which target"),
        (["127.0.0.1"], "-o"),
        (["127.0.0.1", "--qemu", "-o", "x"], "not both"),
        (["127.0.0.1:70000", "-o", "x"], "no UDP port"),
        (["::1", "-o", "x"], "no HOST"),
        (["127.0.0.1", "-S", "12Q", "-o", "x"], "no size"),
        (["127.0.0.1", "-d", "-1", "-o", "x"], "range"),
        (["127.0.0.1", "--deterministic", "-o", "x"], "need --qemu"),
        (["--qemu", "--deterministic", "-o", "x"], "needs -d"),
        (["--qemu", "--scenario", "none", "-o", "x"], "there are: nominal, overload"),
        (["--qemu", "--parameter", "rate", "-o", "x"], "no KEY=VALUE"),
        (["--qemu", "--parameter", "none=1", "-o", "x"], "no boot parameter"),
        (["--qemu", "-r", "-o", "-"], "needs a file"),
        (["--qemu", "--deterministic", "-d", "1", "-r", "-o", "x"], "by -d alone"),
    ],
)
def test_wrong_usage_is_one_line(arguments: list[str], words: str, tmp_path: Path) -> None:
    done = vxmon("capture", *arguments, cwd=tmp_path)
    assert done.status == 2
    assert done.err.count("\n") == 1
    assert words in done.err
    assert list(tmp_path.iterdir()) == []


# ---------------------------------------------------------------- bad networks, restarts


def lossy(target: int, percent: int) -> Proxy:
    return Proxy(target, Faults(seed=1, loss=percent), at_once=True)


@pytest.mark.parametrize("percent", [5, 25])
def test_nothing_is_lost_over_a_lossy_network(tmp_path: Path, percent: int) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "10000") as target, lossy(target.port, percent) as proxy:
        done = vxmon("capture", proxy.address, "-d", "2", "-o", str(path))
    check_complete(done, path)
    assert proxy.lost > 10
    assert done.figure("resends") > 0


def test_one_way_over_a_lossy_network_counts_what_is_missing(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target, lossy(target.port, 10) as proxy:
        done = vxmon("capture", proxy.address, "-d", "2", "--one-way", "-o", str(path))
    assert done.status == 0, done.err
    assert "INCOMPLETE" in done.err
    (stream,) = info(path)["streams"]
    assert stream["lost"]["link"] > 100
    assert stream["recorded"] == stream["delivered"] + sum(stream["lost"].values()) == done.figure("recorded")
    assert stream["delivered"] == done.figure("delivered")


def test_a_restarted_target_is_told_and_recorded_on(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with contextlib.ExitStack() as first:
        target = first.enter_context(posix_target("--rate", "20000"))
        capture = start_vxmon("capture", target.address, "-o", str(path))
        wait_for_size(path, 100_000)
        os.kill(target.pid, signal.SIGKILL)
        first.close()
        size = path.stat().st_size
        with posix_target("--rate", "20000", port=target.port):
            wait_for_size(path, size + 200_000)
            capture.send_signal(signal.SIGINT)
            done = finish(capture)
    assert done.status == 0, done.err
    assert "was restarted" in done.err
    assert "INCOMPLETE" in done.err, "what the first boot recorded last is not known"
    streams = info(path)["streams"]
    assert len({stream["boot"] for stream in streams}) == 2
    assert all(stream["delivered"] for stream in streams)
    assert not any(streams[-1]["lost"].values())


def test_a_target_that_shuts_down_ends_the_capture(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target:
        capture = start_vxmon("capture", target.address, "-o", str(path))
        wait_for_size(path, 100_000)
    done = finish(capture)
    check_complete(done, path)
    assert "the target ended the run: shutdown; waiting for its return" in done.err
    assert "has not come back" in done.err
    assert "reason:shutdown" in events(path)[-1]


def test_a_target_that_is_gone_at_the_end_is_a_failure(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    with posix_target("--rate", "20000") as target:
        capture = start_vxmon("capture", target.address, "-o", str(path))
        wait_for_size(path, 100_000)
        os.kill(target.pid, signal.SIGKILL)
    capture.send_signal(signal.SIGINT)
    done = finish(capture)
    assert done.status == 3
    assert "INCOMPLETE" in done.err
    lines = events(path)
    assert len(lines) > 1000
    assert any(":UNANSWERED " in line and "command stop: no answer to 8 requests" in line for line in lines)
