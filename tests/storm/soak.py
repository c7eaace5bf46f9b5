# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.storm.soak``: a long capture of scenario chatter on QEMU. Memory stays flat and nothing is lost.

The host's memory is what of the capturing process is resident. Its receive buffers are apart: they are reserved once
(64 MiB), and become resident as bursts first need them. The target's memory is what the agent has in its units. Exit
status 1 when one grows, or when the session is not whole or not what the kernel's books say.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.support import qemu
from tests.support.commands import VXMON
from vxmon.link.qemu import forward_options, free_port
from vxmon.link.receiver import BATCH
from vxmon.session.rooms import ROOM
from vxmon.trace import open_trace

__all__ = ["main"]

_SAMPLE_S = 2.0
# All buffers are one mapping.
_BUFFER_BYTES = BATCH * ROOM * 8
_REPORT_S = 60.0
# After this part of the run all is allocated that ever will be, but for bursts on a busy machine.
_WARM = 0.3
# A leak of four bytes a datagram, of which there are a thousand a second.
_GROWTH_KB_A_MINUTE = 250.0


def resident_kb(pid: int) -> tuple[int, int]:
    """Resident memory of a process, and that of its receive buffers: an anonymous mapping as large as they are."""
    total = buffers = 0
    large = False
    for line in Path(f"/proc/{pid}/smaps").read_text(encoding="ascii", errors="replace").splitlines():
        key, *rest = line.split()
        if "-" in key and not key.endswith(":"):
            begin, end = (int(part, 16) for part in key.split("-"))
            large = len(rest) < 5 and rest[0].startswith("rw") and end - begin >= _BUFFER_BYTES
        elif key == "Rss:":
            total += int(rest[0])
            buffers += int(rest[0]) if large else 0
    return total - buffers, buffers


def _watch(process: subprocess.Popen[str], say: float) -> list[tuple[float, int, int]]:
    """(second, KiB, KiB of buffers) until the capture ends."""
    samples: list[tuple[float, int, int]] = []
    begin, told = time.monotonic(), 0.0
    while process.poll() is None:
        now = time.monotonic() - begin
        size, buffers = resident_kb(process.pid)
        samples += [(now, size, buffers)] if size else []
        if now - told >= say:
            told = now
            print(f"{now / 60:.0f} min: {size} KiB, and {buffers} KiB of receive buffers", flush=True)
        time.sleep(_SAMPLE_S)
    return samples


def growth(samples: list[tuple[float, int, int]]) -> float:
    """KiB a minute without the buffers, by least squares over the samples after the warm-up."""
    seconds, sizes, _ = np.array(samples, float)[int(_WARM * len(samples)) :].T
    return float(np.polyfit(seconds, sizes, 1)[0]) * 60


def _session(path: Path, console: str) -> Iterator[str]:
    """What is not as it must be in the session."""
    book = qemu.books(console, "monitor")[0]
    with open_trace([str(path)]) as trace:
        facts = trace.facts
    (run,) = [run for boot in facts.boots for run in boot.runs.values()]
    first, last = run.first_states[0], run.states[0]
    print(f"recorded {facts.delivered + facts.lost}, delivered {facts.delivered}, lost {facts.lost}")
    print(f"the agent has {first.units} units at the begin and {last.units} at the end")
    if facts.incomplete:
        yield f"incomplete: {facts.problems}, lost {facts.lost}"
    if facts.delivered != int(book["recorded"]):
        yield f"the kernel says {book['recorded']} recorded, the session {facts.delivered}"
    if first.units != last.units:
        yield "the agent's memory has grown"


def soak(minutes: float, rate: int, folder: Path) -> list[str]:
    """One run; returns what is wrong."""
    path, port, seconds = folder / "soak.pcapng", free_port(), minutes * 60
    parameters = f"entropy=15 scenario=chatter rate={rate} run={round(seconds + 20)}s"
    with qemu.boot("soak", parameters, *forward_options(port)) as log:
        command = [*VXMON, "capture", f"127.0.0.1:{port}", "-d", str(seconds), "-o", str(path)]
        time.sleep(2.0)
        with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) as process:
            samples = _watch(process, _REPORT_S)
            assert process.stderr is not None
            print(process.stderr.read().strip())
        console = qemu.wait_for_books(log, 300)
    rise = growth(samples)
    most, last = max(size for _, size, _ in samples), samples[-1]
    print(f"host memory: {most} KiB at most, {last[1]} last, and {last[2]} KiB of receive buffers")
    print(f"host memory grows by {rise:.1f} KiB a minute (allowed {_GROWTH_KB_A_MINUTE:.0f})")
    wrong = list(_session(path, console))
    wrong += [f"capture ended with status {process.returncode}"] if process.returncode else []
    return wrong + (["the host's memory grows"] if rise > _GROWTH_KB_A_MINUTE else [])


def main() -> int:
    parser = argparse.ArgumentParser(prog="soak", description=__doc__)
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--rate", type=int, default=60_000, help="user events a second")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="vxmon-soak-") as folder:
        wrong = soak(options.minutes, options.rate, Path(folder))
    print(f"soak: {'; '.join(wrong) or 'nothing lost, memory flat'}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
