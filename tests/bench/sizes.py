# SPDX-License-Identifier: Apache-2.0
"""Whether time is linear in the size of a session and memory flat: from a hundred thousand events to ten million.

tests.bench.large goes on to a hundred million. Each figure is that of the fastest of some runs, with start-up, and the
memory that of the largest process. What an event more costs from one size to the next says whether time is linear.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from itertools import pairwise
from pathlib import Path
from typing import Final

from tests.bench.reading import DECODE, Rate, make_session_of, run
from tests.bench.table import Row
from vxmon.trace.store import index_name

__all__ = ["MOST_MIB", "linear_rows", "measure", "measure_size"]

MOST_MIB: Final = 300
_SIZES: Final = (100_000, 1_000_000, 10_000_000)
_TURNS: Final = 3
# From one size to the next an event may cost so much more: what is above is not noise.
_LINEAR: Final = 1.25
# Less is nothing but noise of a machine that does something else, too.
_LEAST_NS: Final = 1.0
_VXMON: Final = (sys.executable, "-m", "vxmon_cli")
_COMMANDS: Final = {
    "decode and sort, no index kept": ("env", "VXMON_INDEX=off", *DECODE),
    "decode and sort, index kept": DECODE,
    "print": (*_VXMON, "print"),
    "analyze time": (*_VXMON, "analyze", "time"),
}


def measure_size(session: Path, turns: int = _TURNS) -> dict[str, tuple[float, float]]:
    """Seconds and MiB of each command on a session, and of the first pass that keeps its index."""
    found = {"decode and sort, index made": _first(session)}
    for _ in range(turns):
        for name, command in _COMMANDS.items():
            seconds, memory = run([*command, str(session)])
            before = found.get(name, (seconds, memory))
            found[name] = min(seconds, before[0]), max(memory, before[1])
    return found


def _first(session: Path) -> tuple[float, float]:
    index_name(session).unlink(missing_ok=True)
    return run([*DECODE, str(session)])


def rows_of(events: int, found: dict[str, tuple[float, float]]) -> Iterator[Row]:
    """Time and memory at one size."""
    for name, (seconds, memory) in found.items():
        yield Row(f"{events:,} events: {name}", seconds, "s")
        yield Row(f"{events:,} events: {name}, memory", memory, "MiB", MOST_MIB)


def linear_rows(found: dict[int, dict[str, tuple[float, float]]]) -> Iterator[Row]:
    """What an event more costs at the last step, beside the step before."""
    sizes = sorted(found)
    for name in _COMMANDS:
        rates = [Rate({size: found[size][name][0] for size in step}).events_per_s for step in pairwise(sizes)]
        before, last = (1e9 / rate for rate in rates[-2:])
        yield Row(f"an event more, {name}", last, "ns")
        if before > _LEAST_NS:
            yield Row(f"an event more, {name}: of a smaller session", last / before, "times", _LINEAR)


def measure(sizes: Sequence[int] = _SIZES) -> Iterator[Row]:
    """Rows of the table."""
    found: dict[int, dict[str, tuple[float, float]]] = {}
    for events in sizes:
        found[events] = measure_size(make_session_of("mixed", events))
        yield from rows_of(events, found[events])
    yield from linear_rows(found)
