# SPDX-License-Identifier: Apache-2.0
"""How long commands take to start, as wall time: the fastest of some runs.

Files are in memory and modules are compiled, as in an installed wheel, also where Python is told to keep no bytecode.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.reading import BUILT, make
from tests.bench.table import Row

__all__ = ["measure"]

_RUNS: Final = 10
_EVENTS: Final = 1000
_VXMON: Final = str(Path(sys.executable).with_name("vxmon"))
_ENVIRONMENT: Final = {
    **{name: value for name, value in os.environ.items() if name != "PYTHONDONTWRITEBYTECODE"},
    "PYTHONPYCACHEPREFIX": str(BUILT / "bytecode"),
}
# What is started with a small session, and within how many ms.
_READERS: Final = {
    "print": 250, "info": None, "check --list": None, "hm-log": None, "analyze time": None, "analyze memory": None,
    "analyze comm": None, "analyze system": None, "analyze quality": None,
}  # fmt: skip


def _fastest_ms(*arguments: str) -> float:
    best = float("inf")
    for _ in range(_RUNS):
        begin = time.perf_counter()
        # Without a limit: who waits for a process with one looks only each 50 ms whether it has ended.
        subprocess.run([_VXMON, *arguments], stdout=subprocess.DEVNULL, check=True, env=_ENVIRONMENT)
        best = min(best, time.perf_counter() - begin)
    return best * 1000


def measure() -> Iterator[Row]:
    """Rows of the table."""
    session, _ = make("mixed", _EVENTS)
    yield Row("vxmon --help", _fastest_ms("--help"), "ms", 100)
    for command, goal in _READERS.items():
        yield Row(f"vxmon {command}, {_EVENTS} events", _fastest_ms(*command.split(), str(session)), "ms", goal)
