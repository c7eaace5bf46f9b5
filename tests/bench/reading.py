# SPDX-License-Identifier: Apache-2.0
"""How fast sessions are decoded, beside babeltrace2 on the same events; tests.bench.text is on printing them.

A rate is the slope between a large and a larger trace, so that start-up does not count; it is told apart. Every command
runs several times, in turns with the others, and the fastest run of each counts. Time is wall time, as vxmon may use
two processors: the machine must be quiet. Decoding is measured without a kept index, and once more with it.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from tests.bench.ctf import make_ctf
from tests.bench.make_session import make_session
from tests.bench.table import Row
from tests.support.tree import ROOT
from vxmon.trace import open_trace
from vxmon_cli.allocator import keep_memory

__all__ = ["BUILT", "DECODE", "SIZES", "Rate", "make", "make_session_of", "measure", "measure_load", "run"]

SIZES: Final = (1_000_000, 5_000_000)
BUILT: Final = ROOT / "build" / "bench"
# With what the command line sets before numpy is loaded.
DECODE: Final = ("env", "OPENBLAS_NUM_THREADS=1", sys.executable, "-m", "tests.bench.reading")
_TURNS: Final = 3
# A small process between: what a process had before it became another one counts to its memory.
_WATCH: Final = """
import os, sys, time
begin, pid = time.perf_counter(), os.fork()
if pid == 0:
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    os.execvp(sys.argv[1], sys.argv[1:])
_, status, usage = os.wait4(pid, 0)
print(time.perf_counter() - begin, usage.ru_maxrss)
sys.exit(os.waitstatus_to_exitcode(status))
"""
_PEER: Final = "babeltrace2, dummy sink"
# What babeltrace2's rate is multiplied by to get the goal.
_GOAL: Final = 5


@dataclass
class Rate:
    """Fastest times in s by number of events, and the most memory in MiB."""

    seconds: dict[int, float] = field(default_factory=dict)
    memory: float = 0.0

    def take(self, events: int, seconds: float, memory: float) -> None:
        """Keep a run if it was the fastest."""
        self.seconds[events] = min(seconds, self.seconds.get(events, seconds))
        self.memory = max(memory, self.memory)

    @property
    def events_per_s(self) -> float:
        """Slope between the smallest and the largest."""
        small, large = min(self.seconds), max(self.seconds)
        return (large - small) / max(self.seconds[large] - self.seconds[small], 1e-9)

    @property
    def start_up_s(self) -> float:
        """What is left of the smaller run."""
        small = min(self.seconds)
        return self.seconds[small] - small / self.events_per_s


def _commands(session: Path, trace: Path) -> dict[str, list[str]]:
    decode = [*DECODE, str(session)]
    found = {
        "vxmon: decode and sort": ["env", "VXMON_INDEX=off", *decode],
        "vxmon: decode and sort, index kept": decode,
    }
    if shutil.which("babeltrace2"):
        found[_PEER] = ["babeltrace2", str(trace), "-c", "sink.utils.dummy"]
    return found


def run(command: list[str]) -> tuple[float, float]:
    """Seconds and largest memory in MiB of a command whose output is thrown away."""
    done = subprocess.run(
        [sys.executable, "-S", "-E", "-c", _WATCH, *command], capture_output=True, text=True, cwd=ROOT, check=False
    )
    if done.returncode:
        raise RuntimeError(f"{command[0]} ended with {done.returncode}: {done.stderr[-200:]}")
    seconds, kib = done.stdout.split()
    return float(seconds), int(kib) / 1024


def measure_load(load: str, sizes: Iterable[int] = SIZES, turns: int = _TURNS) -> dict[str, Rate]:
    """Rates of all commands on a load of tests.bench.frames."""
    rates: dict[str, Rate] = {}
    made = [(events, *make(load, events)) for events in sizes]
    for _ in range(turns):
        for events, session, trace in made:
            for name, command in _commands(session, trace).items():
                rates.setdefault(name, Rate()).take(events, *run(command))
    return rates


def make(load: str, events: int) -> tuple[Path, Path]:
    """A session and a CTF trace of the same events; kept in build/bench."""
    trace = BUILT / f"{load}-{events}.ctf"
    _once(trace, lambda path: make_ctf(path, events, load))
    return make_session_of(load, events), trace


def make_session_of(load: str, events: int) -> Path:
    """A session of so many events; kept in build/bench."""
    session = BUILT / f"{load}-{events}.pcapng"
    _once(session, lambda path: make_session(str(path), events, load=load))
    return session


def _once(path: Path, make: Callable[[Path], object]) -> None:
    if not path.exists():
        BUILT.mkdir(parents=True, exist_ok=True)
        unfinished = path.with_suffix(".unfinished")
        make(unfinished)
        unfinished.rename(path)


def _decode(path: str) -> None:
    """As a command does it, before it makes anything of the events."""
    keep_memory()
    with open_trace([path]) as trace:
        for _ in trace.chunks():
            pass


def _rows(load: str, rates: dict[str, Rate]) -> Iterator[Row]:
    for name, rate in rates.items():
        ratio = rate.events_per_s / rates[_PEER].events_per_s if name != _PEER and _PEER in rates else None
        yield Row(
            f"{load}: {name}", rate.events_per_s / 1e6, "M events/s", against=_PEER if ratio else "", ratio=ratio,
            ratio_goal=_GOAL if ratio else None,
        )  # fmt: skip
        yield Row(f"{load}: {name}, start-up", rate.start_up_s, "s")
        yield Row(f"{load}: {name}, memory", rate.memory, "MiB")


def measure() -> Iterator[Row]:
    """Rows of the table."""
    for load in ("mixed", "short"):
        yield from _rows(load, measure_load(load))


if __name__ == "__main__":
    _decode(sys.argv[1])
