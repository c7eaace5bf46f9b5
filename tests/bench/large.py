# SPDX-License-Identifier: Apache-2.0
"""A session of a hundred million events: time, memory, and how fast a second of it is shown and analyzed.

Not among the benches that are run when none is named: the session is 1.8 GB and takes minutes to make. It is made once
and kept in build/bench.
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from typing import Final

from tests.bench.reading import make_session_of, run
from tests.bench.sizes import MOST_MIB, linear_rows, measure_size, rows_of
from tests.bench.table import Row

__all__ = ["measure"]

_EVENTS: Final = 100_000_000
_SMALLER: Final = (1_000_000, 10_000_000)
_TURNS: Final = 2
_WINDOW_TURNS: Final = 3
# In the middle of some six hours.
_WINDOW: Final = "10000..10001"
_MOST_S: Final = 1.0
_QUESTIONS: Final = (
    ("print",), ("analyze", "time"), ("analyze", "memory"), ("analyze", "comm"), ("analyze", "system"),
)  # fmt: skip


def measure() -> Iterator[Row]:
    """Rows of the table."""
    found = {}
    for events in (*_SMALLER, _EVENTS):
        session = make_session_of("mixed", events)
        found[events] = measure_size(session, _TURNS)
    yield from rows_of(_EVENTS, found[_EVENTS])
    yield from linear_rows(found)
    for question in _QUESTIONS:
        command = [sys.executable, "-m", "vxmon_cli", *question, "--window", _WINDOW, str(session)]
        runs = [run(command) for _ in range(_WINDOW_TURNS)]
        name = f"1 s of {_EVENTS:,} events: {' '.join(question)}"
        yield Row(name, min(seconds for seconds, _ in runs), "s", _MOST_S)
        yield Row(f"{name}, memory", max(memory for _, memory in runs), "MiB", MOST_MIB)
