# SPDX-License-Identifier: Apache-2.0
"""What benches measure, as rows of one table and as JSON with facts of the machine."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import re
import shutil
import subprocess
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from tests.bench.peers.recorders import BARECTF
from tests.support.tree import ROOT

__all__ = ["Row", "add_to_history", "facts_text", "machine_facts", "print_legend", "print_rows", "write_results"]

_TOOLS: Final = {
    "qemu": ("qemu-system-ppc", "--version"),
    "cross compiler": ("powerpc-linux-gnu-gcc", "--version"),
    "compiler": ("gcc", "--version"),
    "babeltrace2": ("babeltrace2", "--version"),
    "python3-bt2": ("/usr/bin/python3", "-c", "import bt2; print(bt2.__version__)"),
}
_WIDTH: Final = 64
_PACKAGES: Final = ("numpy", "protobuf", "nanopb", "click", "rich")


@dataclass(frozen=True, slots=True)
class Row:
    """One figure.

    Attributes:
        what: what was measured, by whom.
        value: the figure, in ``unit``.
        goal: what it should be: at most, or at least when ``more_is_better``.
        against: the peer measured in the same run on the same work; ``ratio`` is how much better the figure is.

    """

    what: str
    value: float
    unit: str
    goal: float | None = None
    more_is_better: bool = False
    against: str = ""
    ratio: float | None = None
    ratio_goal: float | None = None

    @property
    def verdict(self) -> Literal["", "reached", "not reached"]:
        """Whether the goal, or the goal of the ratio, is reached."""
        reached = []
        if self.goal is not None:
            reached.append(self.value >= self.goal if self.more_is_better else self.value <= self.goal)
        if self.ratio is not None and self.ratio_goal is not None:
            reached.append(self.ratio >= self.ratio_goal)
        return "" if not reached else "reached" if all(reached) else "not reached"


def _number(value: float) -> str:
    return f"{value:,.0f}" if abs(value) >= 1000 else f"{value:.3g}" if abs(value) < 10 else f"{value:.1f}"


def _goal(row: Row) -> str:
    if row.ratio_goal is not None:
        return f"x {_number(row.ratio_goal)}"
    if row.goal is None:
        return ""
    return f"{'>=' if row.more_is_better else '<='} {_number(row.goal)}"


def print_legend() -> None:
    """How the table is read."""
    print(
        "\ngoal: the most (<=) or least (>=) that a figure should be, or (x) how many times better than a peer;"
        "\nagainst: how many times better it is than that peer on the same work, measured in the same run\n",
        flush=True,
    )


def print_rows(rows: Iterable[Row]) -> list[Row]:
    """Print rows as they come; returns them."""
    done = []
    print(f"  {'what':{_WIDTH}} {'figure':>12} {'unit':16} {'goal':>9} {'':12} against", flush=True)
    for row in rows:
        ratio = f"x {_number(row.ratio)} of {row.against}" if row.ratio is not None else ""
        figure = f"{_number(row.value):>12} {row.unit:16}"
        print(f"  {row.what:{_WIDTH}} {figure} {_goal(row):>9} {row.verdict:12} {ratio}".rstrip(), flush=True)
        done.append(row)
    return done


# ---------------------------------------------------------------- the machine


def _version(command: tuple[str, ...]) -> str:
    if shutil.which(command[0]) is None:
        return "not installed"
    done = subprocess.run(command, capture_output=True, text=True, check=False, timeout=30)
    if done.returncode:
        return "not installed"
    return (done.stdout or done.stderr).splitlines()[0].strip() if done.stdout or done.stderr else "unknown"


def _processor() -> str:
    found = re.search(r"^model name\s*: (.*)$", Path("/proc/cpuinfo").read_text(), re.MULTILINE)
    return found[1] if found else platform.machine()


def _memory_mib() -> int:
    return os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") >> 20


def _commit() -> str:
    done = subprocess.run(
        ["git", "describe", "--always", "--dirty"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    return done.stdout.strip()


def machine_facts(busy: int = 0) -> dict[str, Any]:
    """What figures depend on; the load is that of the moment, ``busy`` the processes that are kept busy beside."""
    return {
        "processor": _processor(),
        "processors": os.cpu_count(),
        "memory_mib": _memory_mib(),
        "system": f"{platform.system()} {platform.release()}",
        "python": platform.python_version(),
        "packages": {name: importlib.metadata.version(name) for name in _PACKAGES},
        "tools": {name: _version(command) for name, command in _TOOLS.items()} | {"barectf": BARECTF},
        "commit": _commit(),
        "load": [round(load, 2) for load in os.getloadavg()],
        "busy_beside": busy,
    }


def facts_text(facts: Mapping[str, Any]) -> str:
    """What a reader of the table must know."""
    busy = f", {facts['busy_beside']} processes kept busy beside" if facts["busy_beside"] else ""
    tools = facts["tools"] | {name: facts["packages"][name] for name in ("numpy", "nanopb")}
    return (
        f"{facts['processor']}, {facts['processors']} processors, load {facts['load'][0]}{busy}; {facts['commit']}\n"
        + "\n".join(f"  {name}: {version}" for name, version in tools.items())
    )


def write_results(path: Path, facts: dict[str, Any], results: dict[str, list[Row]]) -> None:
    """Write results of benches as JSON."""
    document = {
        "version": 1,
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": facts,
        "load_at_end": [round(load, 2) for load in os.getloadavg()],
        "benches": {name: [{**asdict(row), "verdict": row.verdict} for row in rows] for name, rows in results.items()},
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(json.dumps(document, indent=2) + "\n")


def add_to_history(path: Path, facts: Mapping[str, Any], results: Mapping[str, list[Row]]) -> None:
    """Add a line with the figures that have a goal: the ratio where it is that which should be reached."""
    line = {
        "ended": datetime.now(UTC).isoformat(timespec="seconds"),
        **{name: facts[name] for name in ("commit", "processor", "processors", "load", "busy_beside")},
        "figures": {
            f"{name}: {row.what}": round(row.value if row.ratio_goal is None else row.ratio or 0.0, 4)
            for name, rows in results.items()
            for row in rows
            if row.verdict
        },
    }
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("a") as file:
        file.write(json.dumps(line) + "\n")
