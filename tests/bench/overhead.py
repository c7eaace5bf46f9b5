# SPDX-License-Identifier: Apache-2.0
"""What monitoring takes inside partition windows of the demo target, in instructions.

QEMU executes one instruction in eight ns of target time and the applications do the same work in every run, so what the
idle processes of the partitions lose is what the monitor took. Compared are the kernel without a monitor, the monitor
with nothing recorded, with everything but content, and with everything and content.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.table import Row
from tests.support.qemu import BARE, KERNEL, NO_INPUT, STATIC_PEER, Run, run

__all__ = ["measure"]

_FRAMES: Final = 250
_TICKS_AN_INSTRUCTION: Final = 3.2  # 8 ns at 400 MHz
_GOAL: Final = 0.5
_PEER: Final = STATIC_PEER.replace("config=oneway:1", "config={}")
CASES: Final = {
    "no monitor": (BARE, ""),
    "monitor, nothing recorded": (KERNEL, "entropy=1"),
    "everything but content": (KERNEL, _PEER.format("oneway:1")),
    "everything, content of 64 bytes": (KERNEL, _PEER.format("oneway:1,payload:2,content:64")),
}


def _idle_ticks(done: Run) -> int:
    """Ticks of the idle processes of all partitions but the module OS."""
    return sum(
        int(task["ticks"])
        for task in done.books("task")
        if task["name"].endswith("idle") and task["partition"] != "MODULE_OS"
    )  # fmt: skip


def _measure(name: str, kernel: Path, parameters: str, folder: Path) -> tuple[int, int, int]:
    """Idle ticks, ticks inside partition windows, records."""
    dump = NO_INPUT(folder / "dump.pcap")
    done = run(f"overhead-{name}", f"run={_FRAMES}f scenario=nominal {parameters}", *dump, kernel=kernel)
    if done.status:
        raise RuntimeError(f"the demo target ended with status {done.status}")
    inside = sum(int(p["ticks"]) for p in done.books("partition") if p["index"] != "0")
    monitor = done.books("monitor")
    return _idle_ticks(done), inside, int(monitor[0]["recorded"]) if monitor else 0


def measure() -> Iterator[Row]:
    """Rows of the table."""
    with tempfile.TemporaryDirectory(prefix="vxmon-") as folder:
        base: int | None = None
        for number, (name, (kernel, parameters)) in enumerate(CASES.items()):
            idle, inside, records = _measure(str(number), kernel, parameters, Path(folder))
            base = idle if base is None else base
            lost = base - idle
            goal = _GOAL if name == "everything but content" else None
            yield Row(f"{name}: of window time", 100 * lost / inside, "%", goal)
            yield Row(f"{name}: a frame", lost / _TICKS_AN_INSTRUCTION / _FRAMES, "instructions")
            yield Row(f"{name}: recorded", records / _FRAMES, "records a frame")
