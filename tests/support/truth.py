# SPDX-License-Identifier: Apache-2.0
"""``analyze time`` against the kernel's own books of a repeatable run on QEMU.

``python -m tests.support.truth`` compares every scenario and ends with the largest difference and how many figures were
compared. The kernel counts ticks from its reading of the clock at one switch to that at the next; the record of a
switch reads the clock a constant number of instructions later. Only the first and the last interval differ by what lies
between the books' begin and end (which they print) and the recording's, and by those few instructions.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from tests.support.qemu import NO_INPUT, STATIC_PEER, Run, run
from vxmon.analysis.figures import Figure
from vxmon.analysis.time.analyze import analyze_time
from vxmon.analysis.time.result import BootTime
from vxmon.trace import StoredTrace, open_trace
from vxmon.trace.state import NOBODY, Segments, States

__all__ = ["FRAMES", "SCENARIOS", "Comparison", "Truth", "compare", "main", "record_truth"]

SCENARIOS = ("nominal", "overload", "chatter", "bursty", "faults", "leak")
FRAMES = 100
# From the kernel's reading of the clock to the record's: less than 20 instructions of 3.2 ticks.
HOOK_TICKS = 64
# Units so large that the agent's step changes them and never the record of a switch, which would be late by 50
# instructions then.
LARGE_UNITS = STATIC_PEER.replace("config=oneway:1", "config=oneway:1,unit:4096")


@dataclass(frozen=True, slots=True)
class Comparison:
    """One figure: what the analysis says, what the kernel says, and how many intervals it is the sum of.

    ``edge`` is what the intervals cut by the recording's begin and end may differ by besides.
    """

    name: str
    analyzed: int
    counted: int
    intervals: int
    edge: int = 0

    @property
    def difference(self) -> int:
        """In ticks, or in events."""
        return self.analyzed - self.counted

    @property
    def agrees(self) -> bool:
        """Within one tick an interval; counts (no intervals) exactly."""
        return abs(self.difference) <= self.intervals + self.edge


@dataclass(frozen=True, slots=True)
class Truth:
    """A run: what the kernel printed and what the analysis makes of what it recorded."""

    kernel: Run
    time: BootTime
    first: tuple[int, int, int]
    last: tuple[int, int, int]


def record_truth(scenario: str, folder: Path, frames: int = FRAMES) -> Truth:
    """Run a scenario and analyze what it sent."""
    dump = folder / f"truth-{scenario}.pcap"
    kernel = run(f"truth-{scenario}", f"run={frames}f scenario={scenario} {LARGE_UNITS}", *NO_INPUT(dump))
    if kernel.status:
        raise RuntimeError(f"scenario {scenario}: the target ended with status {kernel.status}")
    with open_trace([str(dump)]) as trace:
        if not isinstance(trace, StoredTrace) or trace.facts.incomplete:
            raise RuntimeError(f"scenario {scenario}: the recording is not complete: {trace.facts.problems}")
        states = States(trace.facts, trace.index)
        segments = Segments.join([s for chunk in trace.chunks() for s in states.feed(chunk)] + states.finish())
        ends = [(int(segments.task[at]), int(segments.partition[at])) for at in (0, -1)]
        first, last = (*ends[0], int(segments.start[0])), (*ends[1], int(segments.end[-1]))
        return Truth(kernel, analyze_time(trace).boots[0], first, last)


def compare(truth: Truth) -> Iterator[Comparison]:
    """Every figure that both sides have."""
    module = truth.kernel.books("module")[0]
    # What the recording has and the books have not: before the books began, and after they ended.
    early, late = int(module["began"]) - truth.first[2], truth.last[2] - int(module["ended"])

    def edges(index: int, level: int) -> int:
        return (early if truth.first[level] == index else 0) + (late if truth.last[level] == index else 0)

    def slack(index: int, level: int) -> int:
        return HOOK_TICKS * (index in (truth.first[level], truth.last[level]))

    tasks = {task.index: task for task in truth.time.tasks}
    for book in truth.kernel.books("task"):
        index = int(book["index"])
        if index == NOBODY:
            continue
        task = tasks[index]
        name = f"{book['partition']}.{book['name']}"
        switches = int(book["switches"])
        yield Comparison(
            f"{name}.time", _value(task.total), int(book["ticks"]) + edges(index, 0), switches, slack(index, 0)
        )
        yield Comparison(f"{name}.dispatches", _value(task.dispatches), switches, 0)
        yield Comparison(f"{name}.activations", _value(task.activations), int(book["releases"]), 0)
        yield Comparison(f"{name}.completions", _value(task.completed), int(book["completions"]), 0)
        yield Comparison(f"{name}.misses", _value(task.deadline_misses), int(book["misses"]), 0)
    partitions = {partition.index: partition for partition in truth.time.partitions}
    for book in truth.kernel.books("partition"):
        index = int(book["index"])
        partition, switches = partitions[index], int(book["switches"])
        total = int(book["ticks"]) + edges(index, 1)
        yield Comparison(f"{book['name']}.time", _value(partition.total), total, switches + 1, slack(index, 1))
        yield Comparison(f"{book['name']}.switches", _value(partition.switches), switches, 0)


def _value(figure: Figure) -> int:
    """A figure that must be certain, as the recording is complete."""
    if figure.value is None or figure.in_doubt:
        raise RuntimeError(f"{figure} is in doubt")
    return figure.value


def main() -> int:
    """Compare all scenarios; returns the exit status."""
    worst, count, wrong = 0, 0, 0
    with tempfile.TemporaryDirectory(prefix="vxmon-truth-") as folder:
        for scenario in SCENARIOS:
            found = list(compare(record_truth(scenario, Path(folder))))
            for c in found:
                if not c.agrees or "-v" in sys.argv:
                    mark = "" if c.agrees else "   DIFFERS"
                    numbers = f"{c.analyzed:12} {c.counted:12} {c.difference:+6} in {c.intervals}"
                    print(f"{scenario:9} {c.name:32} {numbers}{mark}")
            largest = max(found, key=lambda c: abs(c.difference))
            per = max((max(abs(c.difference) - c.edge, 0) / c.intervals for c in found if c.intervals), default=0)
            words = f"largest difference {largest.difference:+d} ticks ({largest.name})"
            print(f"{scenario:9} {len(found)} figures, {words}, at most {per:.2f} ticks an interval")
            worst, count = max(worst, abs(largest.difference)), count + len(found)
            wrong += sum(not c.agrees for c in found)
    print(f"truth: largest difference {worst} ticks, {count} figures compared, {wrong} beyond one tick an interval")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
