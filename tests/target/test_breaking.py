# SPDX-License-Identifier: Apache-2.0
"""Captures that are killed, and disks that run full: what is left reads, and a resumed capture loses nothing.

`python -m tests.storm.kill` kills 200.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.storm.kill import kill_once
from tests.support.commands import VXMON, Done, info, kill_started, posix_target, vxmon
from vxmon.trace import open_trace

# Room for a second of events or two; the target's arena covers twenty.
SMALL = 256 << 10
# The campaign asks for what arrived a second before; a test must not fail because the machine is busy.
BUSY_S = 30.0


@pytest.fixture(autouse=True)
def _nothing_left_running() -> Iterator[None]:
    yield
    kill_started()


def test_killed_captures_leave_files_that_read(tmp_path: Path) -> None:
    """Five at random moments; the first one is resumed, too, and both files have all of the target's list."""

    def killed(seed: int) -> list[str]:
        return kill_once(tmp_path, seed, resume=seed == 0, flush_s=BUSY_S)

    with ThreadPoolExecutor(5) as pool:
        assert list(pool.map(killed, range(5))) == [[]] * 5


@contextmanager
def small_disk(folder: Path) -> Iterator[str]:
    """A file on a small tmpfs; where that cannot be mounted, one that must not grow. Gives the words before vxmon."""
    folder.mkdir()
    command = ["mount", "-t", "tmpfs", "-o", f"size={SMALL}", "tmpfs", str(folder)]
    try:
        mounted = subprocess.run(command, capture_output=True, check=False).returncode == 0
    except OSError:
        mounted = False
    try:
        yield "" if mounted else f"trap '' XFSZ; ulimit -f {SMALL >> 10}; "
    finally:
        if mounted:
            subprocess.run(["umount", str(folder)], check=True)


def limited(before: str, *arguments: str) -> Done:
    """A vxmon command under those limits."""
    words = " ".join([before, "exec", *VXMON, *arguments])
    done = subprocess.run(["bash", "-c", words], capture_output=True, timeout=90, check=False)
    return Done(done.returncode, done.stdout, done.stderr.decode())


def test_a_full_disk_is_told_once_and_the_target_goes_on(tmp_path: Path) -> None:
    full, second = tmp_path / "disk" / "a.pcapng", tmp_path / "b.pcapng"
    with small_disk(full.parent) as before, posix_target("--no-module", "--rate", "20000") as target:
        done = limited(before, "capture", target.address, "-d", "60", "-o", str(full))
        assert done.status == 3
        assert done.err.count("no room for more") == 1
        assert "the target goes on recording; make room and go on with --resume" in done.err
        assert "Traceback" not in done.err
        verified = vxmon("session", "verify", str(full))
        assert verified.status == 1, "the end of the run is missing"
        assert "whole ends" in verified.out.decode(), "the tail is cut back to a whole packet"
        assert info(full)["streams"][0]["delivered"] > 10_000
        rest = vxmon("capture", target.address, "--resume", "-d", "0.3", "-o", str(second))
        assert rest.status == 0, rest.err
        with open_trace([str(full), str(second)]) as trace:
            (stream,) = [stream for stream in trace.facts.streams if stream.recorded]
        assert stream.recorded == stream.delivered
        assert stream.lost_records == 0
