# SPDX-License-Identifier: Apache-2.0
"""How fast each analysis is, from the raw file: ``python -m tests.bench.analyses``.

Rates are slopes between a large and a larger session, as in tests.bench.reading; memory is the largest of a run. Where
python3-bt2 is installed, a loop that reads the fields of the switches from the same events stands beside it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import time
from pathlib import Path
from typing import Final

from tests.bench.reading import SIZES, Rate, _make, _run

__all__ = ["main", "measure_analyses"]

_TURNS: Final = 2
_QUESTIONS: Final = ("time", "quality")
# python3-bt2 is so slow that a part of the trace must do.
_BT2_EVENTS: Final = 100_000
_GOAL: Final = 100
_BT2_LOOP: Final = """
import sys, time, bt2
left, began, total = int(sys.argv[2]), time.process_time(), 0
for message in bt2.TraceCollectionMessageIterator(sys.argv[1]):
    if type(message) is bt2._EventMessageConst:
        event = message.event
        payload = event.payload_field
        total += message.default_clock_snapshot.value + sum(int(payload[name]) for name in payload)
        left -= 1
        if not left:
            break
print(time.process_time() - began)
"""


def measure_analyses(load: str = "mixed") -> dict[str, Rate]:
    """Rates of all analyses."""
    rates: dict[str, Rate] = {}
    made = [(events, _make(load, events)[0]) for events in SIZES]
    for _ in range(_TURNS):
        for events, session in made:
            for question in _QUESTIONS:
                command = [sys.executable, "-m", "vxmon_cli", "analyze", question, str(session)]
                rates.setdefault(question, Rate()).take(events, *_run(command))
    return rates


def _bt2_rate(trace: Path) -> float | None:
    """Events a second of a loop in Python over babeltrace2's messages; None: python3-bt2 is not there."""
    for python in (sys.executable, "/usr/bin/python3"):
        if python == sys.executable and importlib.util.find_spec("bt2") is None:
            continue
        command = [python, "-c", _BT2_LOOP, str(trace), str(_BT2_EVENTS)]
        done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=600)
        if not done.returncode:
            return _BT2_EVENTS / float(done.stdout)
    return None


def main() -> None:
    """Measure and print a table."""
    began = time.monotonic()
    rates = measure_analyses()
    loop = _bt2_rate(_make("mixed", SIZES[0])[1])
    print(f"analyses from the raw file, slope between {SIZES[0]:,} and {SIZES[-1]:,} events:")
    print(f"  {'':26} {'M events/s':>10} {'start-up s':>10} {'MiB':>6}")
    for name, rate in rates.items():
        ratio = f"   x {rate.events_per_s / loop:.0f} of a python3-bt2 loop" if loop else ""
        ratio += f" (goal {_GOAL})" if loop and name == "time" else ""
        figures = f"{rate.events_per_s / 1e6:10.2f} {rate.start_up_s:10.2f} {rate.memory:6.0f}"
        print(f"  vxmon analyze {name:12} {figures}{ratio}")
    print(f"  {'python3-bt2 loop':26} {loop / 1e6:10.3f}" if loop else "  python3-bt2 is not installed")
    print(f"  measured in {time.monotonic() - began:.0f} s")


if __name__ == "__main__":
    main()
