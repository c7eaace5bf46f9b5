# SPDX-License-Identifier: Apache-2.0
"""How long commands take to start, as wall time: the fastest of some runs, caches warm."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.reading import make
from tests.bench.table import Row

__all__ = ["measure"]

_RUNS: Final = 10
_EVENTS: Final = 1000
_VXMON: Final = str(Path(sys.executable).with_name("vxmon"))


def _fastest_ms(*arguments: str) -> float:
    best = float("inf")
    for _ in range(_RUNS):
        begin = time.perf_counter()
        subprocess.run([_VXMON, *arguments], stdout=subprocess.DEVNULL, check=True, timeout=60)
        best = min(best, time.perf_counter() - begin)
    return best * 1000


def measure() -> Iterator[Row]:
    """Rows of the table."""
    session, _ = make("mixed", _EVENTS)
    yield Row("vxmon --help", _fastest_ms("--help"), "ms", 100)
    yield Row(f"vxmon print, {_EVENTS} events", _fastest_ms("print", str(session)), "ms", 250)
    yield Row(f"vxmon info, {_EVENTS} events", _fastest_ms("info", str(session)), "ms")
    yield Row(f"vxmon analyze time, {_EVENTS} events", _fastest_ms("analyze", "time", str(session)), "ms")
