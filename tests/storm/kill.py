# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.storm.kill``: captures killed at random moments. What they leave reads, and nothing is lost.

Each file holds all that had arrived a second before the kill; a cut tail is told; a capture that resumes fetches what
the target still held, so that both files together hold every record of the target's own list.
"""

from __future__ import annotations

import argparse
import itertools
import random
import re
import sys
import tempfile
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np

from tests.support.commands import finish, posix_target, start_vxmon, vxmon
from vxmon.trace import StoredTrace, open_trace

__all__ = ["kill_once", "main"]

# The arena of 4 MiB covers 40 s of it, so whatever a busy machine does, the target still holds what was not stored.
_RATE = 10_000
_LATEST_S = 1.2
_PATIENCE_S = 60.0
_FLUSH_S = 1.0


def _wait_for(path: Path) -> None:
    end = time.monotonic() + _PATIENCE_S
    while not path.exists() or not path.stat().st_size:
        if time.monotonic() > end:
            raise TimeoutError("the capture does not begin")
        time.sleep(0.005)


def _left(path: Path, killed_ns: int, flush_s: float) -> Iterator[str]:
    """What is wrong with the file that a killed capture left."""
    done = vxmon("session", "verify", str(path))
    if done.status not in (0, 1) or "Traceback" in done.err:
        yield f"the file cannot be read: {done.err}"
        return
    with open_trace([str(path)]) as trace:
        facts = trace.facts
    (file,) = facts.files
    if file.damaged_bytes:
        yield f"{file.damaged_bytes} bytes inside are damaged"
    if file.cut_bytes and "the end is cut" not in done.out.decode():
        yield "the cut tail is not told"
    if facts.open_runs and "INCOMPLETE" not in done.err:
        yield "the missing end is not told"
    missing_s = (killed_ns - (file.last_ns or 0)) / 1e9
    if facts.delivered and missing_s > flush_s:
        yield f"the last {missing_s:.1f} s are not in the file"


def _together(paths: list[Path], listed: Path, recorded: int) -> Iterator[str]:
    """What is wrong with both files as one session, beside the target's list."""
    with open_trace([str(path) for path in paths]) as trace:
        assert isinstance(trace, StoredTrace)
        rows = trace.index[trace.index["count"] > 0]
        (stream,) = [stream for stream in trace.facts.streams if stream.recorded]
    got = np.zeros(recorded, bool)
    for first, count in zip(rows["first_index"].tolist(), rows["count"].tolist(), strict=True):
        got[first : first + count] = True
    truth = np.fromfile(listed, np.uint32).reshape(-1, 4)[:, 0]
    missing = int((~got[truth]).sum())
    if missing or not got.all():
        yield f"{missing} records of the target's list are missing, {int((~got).sum())} in all"
    if (stream.recorded, stream.lost_records) != (recorded, 0):
        yield f"recorded {stream.recorded}, lost {stream.lost}; the target says {recorded} recorded"


def kill_once(folder: Path, seed: int, *, resume: bool = True, flush_s: float = _FLUSH_S) -> list[str]:
    """One capture, killed; returns what is wrong. Without ``resume`` only the file that is left is looked at.

    What arrived ``flush_s`` before must be in it; on a busy machine the capture itself may be late.
    """
    first, second, listed = (folder / f"{seed}-{name}" for name in ("a.pcapng", "b.pcapng", "list"))
    dice, console, wrong = random.Random(f"kill {seed}"), list[str](), list[str]()
    with posix_target("--no-module", "--rate", str(_RATE), "--list", str(listed), console=console) as target:
        options = ["--sync"] if seed % 4 == 0 else []
        capture = start_vxmon("capture", target.address, *options, "-o", str(first))
        _wait_for(first)
        time.sleep(dice.uniform(0, _LATEST_S))
        capture.kill()
        killed_ns = time.time_ns()
        finish(capture)
        wrong += _left(first, killed_ns, flush_s)
        if not resume:
            return wrong
        done = vxmon("capture", target.address, "--resume", "-d", "0.3", "-o", str(second))
        wrong += [f"resume: status {done.status}: {done.err}"] if done.status or "Traceback" in done.err else []
    found = re.search(r"recorded (\d+)", "".join(console))
    assert found, console
    begun = "goes on with this one" in done.err
    return wrong + (list(_together([first, second], listed, int(found[1]))) if begun else [])


def main() -> int:
    parser = argparse.ArgumentParser(prog="kill", description=__doc__)
    parser.add_argument("--count", type=int, default=200)
    parser.add_argument("--at-once", type=int, default=4)
    options = parser.parse_args()
    bad = 0
    with tempfile.TemporaryDirectory(prefix="vxmon-kill-") as name, ThreadPoolExecutor(options.at_once) as pool:
        seeds = range(options.count)
        for seed, wrong in zip(seeds, pool.map(kill_once, itertools.repeat(Path(name)), seeds), strict=True):
            bad += bool(wrong)
            for text in wrong:
                print(f"kill {seed}: {text}", flush=True)
    print(f"kills={options.count} wrong={bad}")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
