# SPDX-License-Identifier: Apache-2.0
"""The most events a second that the demo target records and sends with nothing lost.

Applications record user events of 16 bytes, the agent sends them in the SPARE windows, a tenth of the time. Captures of
repeatable runs, with units for a third of a second, so that what the SPARE windows cannot take is lost within the run.
The rate found does not depend on this machine; one more capture at that rate has acknowledgements and real time.
"""

from __future__ import annotations

import re
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.table import Row
from tests.support.commands import vxmon

__all__ = ["measure"]

_SECONDS: Final = 4
_UNITS: Final = 64
_GOAL: Final = 250_000
_LOWEST, _HIGHEST, _STEP = 100_000, 320_000, 2_500
_EVENTS: Final = re.compile(r"recorded ([\d,]+), delivered ([\d,]+), lost ([\d,]+)")


def _capture(rate: int, path: Path, *options: str) -> tuple[int, int]:
    """Records delivered and lost. Raises RuntimeError when there was no session."""
    chatter = ("--qemu", "--scenario", "chatter", "--parameter", f"rate={rate}", "-E", "USER")
    done = vxmon("capture", *chatter, "-d", str(_SECONDS), "-o", str(path), *options)
    found = _EVENTS.search(done.err)
    if found is None:
        raise RuntimeError(f"vxmon capture: {done.err.strip()}")
    _, delivered, lost = (int(number.replace(",", "")) for number in found.groups())
    return delivered, lost


def _highest(path: Path) -> tuple[int, int, int]:
    """The highest rate of which nothing is lost, what was delivered then, and how many captures it took."""
    low, high, delivered, captures = _LOWEST, _HIGHEST, 0, 0
    while high - low > _STEP:
        rate = (low + high) // (2 * _STEP) * _STEP
        arrived, lost = _capture(rate, path, "--deterministic", "--units", str(_UNITS))
        captures += 1
        if lost:
            high = rate
        else:
            low, delivered = rate, arrived
    return low, delivered, captures


def measure() -> Iterator[Row]:
    """Rows of the table."""
    with tempfile.TemporaryDirectory(prefix="vxmon-") as folder:
        path = Path(folder) / "session.pcapng"
        rate, delivered, captures = _highest(path)
        print(f"  {captures} captures", file=sys.stderr)
        what = "user events of 16 bytes, nothing lost, a tenth of the time SPARE"
        yield Row(what, delivered / _SECONDS, "events/s", _GOAL, more_is_better=True)
        arrived, lost = _capture(rate, path)
        yield Row("the same with acknowledgements, in real time", arrived / _SECONDS, "events/s")
        yield Row("the same: lost", lost, "events", 0)
