# SPDX-License-Identifier: Apache-2.0
"""How fast each analysis is, from the raw file.

Rates are slopes between a large and a larger session, as in tests.bench.reading; memory is the largest of a run. Where
python3-bt2 is installed, a loop that reads the fields of the switches from the same events stands beside it.
"""

from __future__ import annotations

import importlib.util
import subprocess
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from tests.bench.reading import SIZES, Rate, make, run
from tests.bench.table import Row

__all__ = ["measure", "measure_analyses"]

_TURNS: Final = 2
# Each with the load that has the events it asks for.
_QUESTIONS: Final = {"time": "mixed", "comm": "mixed", "system": "mixed", "quality": "mixed", "memory": "memory"}
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


# The same work as the loop below: all numbers of all events are added to the time.
_ARRAYS: Final = """
import sys, vxmon
with vxmon.open(sys.argv[1]) as recording:
    total = 0
    for batch in recording.batches():
        for name in batch.names:
            events = batch.of(name)
            total += int(events.ticks.sum()) + sum(int(v.sum()) for v in events.fields.values() if v.dtype != object)
"""
_CALLS: Final = """
import sys
from vxmon.trace.parser import Parser
total = 0
def add(event):
    global total
    total += event.ticks + sum(event.values)
parser = Parser()
parser.on_range(0, 1023, add)
parser.run(sys.argv[1])
"""


def _commands(questions: Mapping[str, str]) -> dict[str, tuple[str, list[str]]]:
    """What is measured: name -> (load, command without the session)."""
    vxmon = [sys.executable, "-m", "vxmon_cli", "analyze"]
    found = {f"vxmon analyze {name}": (load, [*vxmon, name]) for name, load in questions.items()}
    found["vxmon check --list"] = ("mixed", [*vxmon[:-1], "check", "--list", "--format", "csv"])
    found["scripts: arrays"] = ("mixed", [sys.executable, "-c", _ARRAYS])
    found["scripts: calls"] = ("mixed", [sys.executable, "-c", _CALLS])
    return found


def measure_analyses(questions: Mapping[str, str] = _QUESTIONS) -> dict[str, Rate]:
    """Rates of analyses, each on its load, and of scripts."""
    rates: dict[str, Rate] = {}
    commands = _commands(questions)
    loads = {load for load, _ in commands.values()}
    made = {(load, events): make(load, events)[0] for load in loads for events in SIZES}
    for _ in range(_TURNS):
        for events in SIZES:
            for name, (load, command) in commands.items():
                rates.setdefault(name, Rate()).take(events, *run([*command, str(made[load, events])]))
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


def measure() -> Iterator[Row]:
    """Rows of the table."""
    loop = _bt2_rate(make("mixed", SIZES[0])[1])
    if loop:
        yield Row("python3-bt2 loop", loop / 1e6, "M events/s")
    for name, rate in measure_analyses().items():
        ratio = rate.events_per_s / loop if loop else None
        yield Row(
            name, rate.events_per_s / 1e6, "M events/s", ratio=ratio, against="a python3-bt2 loop" if loop else "",
            ratio_goal=_GOAL if loop and name.startswith("vxmon analyze") else None,
        )  # fmt: skip
        yield Row(f"{name}, start-up", rate.start_up_s, "s")
        yield Row(f"{name}, memory", rate.memory, "MiB")
