# SPDX-License-Identifier: Apache-2.0
"""How fast events become text, beside babeltrace2 on the same events: lines, bytes, and through ``| grep -c``.

Lines of the two differ: both are measured by the line and by the byte, and how long a line is stands beside it. Rates
are slopes, as in tests.bench.reading.
"""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.reading import SIZES, Rate, make, run
from tests.bench.table import Row
from tests.support.tree import ROOT

__all__ = ["GOAL", "Text", "measure", "measure_load", "rows"]

GOAL: Final = 5
"""What babeltrace2's rate is multiplied by to get the goal."""
_TURNS: Final = 3
_PEER: Final = "babeltrace2, text"
# Events of this name are in both loads, and in the lines of both programs.
_SOUGHT: Final = "PARTITION_SWITCH"
_MIB: Final = 1 << 20


@dataclass
class Text:
    """How fast lines come, to nowhere and to a program that counts some of them; bytes of a line."""

    alone: Rate
    counted: Rate
    line: float

    @property
    def bytes_per_s(self) -> float:
        """Text to nowhere."""
        return self.alone.events_per_s * self.line


# What is compared: how it is called, in which unit, and the figure.
_RATES: Final[tuple[tuple[str, str, Callable[[Text], float]], ...]] = (
    ("", "M lines/s", lambda text: text.alone.events_per_s / 1e6),
    (" | grep -c", "M lines/s", lambda text: text.counted.events_per_s / 1e6),
    (", by the byte", "MiB/s", lambda text: text.bytes_per_s / _MIB),
)


def _commands(session: Path, trace: Path) -> dict[str, list[str]]:
    vxmon = [sys.executable, "-c", "from vxmon_cli.main import main; main()", "print", str(session)]
    found = {"vxmon print": vxmon, "vxmon print -p": [*vxmon, "-p", "%t %C %Z %z "]}
    if shutil.which("babeltrace2"):
        found[_PEER] = ["babeltrace2", str(trace)]
    return found


def _counting(command: list[str]) -> list[str]:
    return ["sh", "-c", f'"$@" | grep -c {_SOUGHT}', "sh", *command]


def _line_bytes(command: list[str]) -> float:
    """Bytes of a line in the mean."""
    counted = subprocess.run(
        ["sh", "-c", '"$@" | wc -lc', "sh", *command], capture_output=True, text=True, cwd=ROOT, check=True
    )
    lines, size = map(int, counted.stdout.split())
    return size / max(lines, 1)


def measure_load(load: str, sizes: Iterable[int] = SIZES, turns: int = _TURNS) -> dict[str, Text]:
    """What each program does with a load of tests.bench.frames."""
    made = [(events, *make(load, events)) for events in sizes]
    _, *smallest = made[0]
    texts = {name: Text(Rate(), Rate(), _line_bytes(command)) for name, command in _commands(*smallest).items()}
    for _ in range(turns):
        for events, session, trace in made:
            for name, command in _commands(session, trace).items():
                texts[name].alone.take(events, *run(command))
                texts[name].counted.take(events, *run(_counting(command)))
    return texts


def rows(load: str, texts: dict[str, Text]) -> Iterator[Row]:
    """Rows of the table on a load; without babeltrace2 there are no ratios."""
    peer = texts.get(_PEER)
    for name, text in texts.items():
        what = f"{load}: {name}"
        compared = None if text is peer or peer is None else peer
        for suffix, unit, figure in _RATES:
            yield _row(what + suffix, figure(text), unit, None if compared is None else figure(compared))
        yield Row(f"{what}, a line", text.line, "bytes")
        yield Row(f"{what}, start-up", text.alone.start_up_s, "s")
        yield Row(f"{what}, memory", text.alone.memory, "MiB")


def _row(what: str, value: float, unit: str, peer: float | None) -> Row:
    if peer is None:
        return Row(what, value, unit)
    return Row(what, value, unit, against=_PEER, ratio=value / peer, ratio_goal=GOAL)


def measure() -> Iterator[Row]:
    """Rows of the table."""
    for load in ("mixed", "short"):
        yield from rows(load, measure_load(load))
