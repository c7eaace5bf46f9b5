# SPDX-License-Identifier: Apache-2.0
"""What monitoring takes of the demo target's time: inside partition windows, in a system call, of the SPARE windows.

QEMU executes one instruction in eight ns of target time and the applications do the same work in every run, so what the
idle processes of the partitions lose is what the monitor took. Compared are the kernel without a monitor, the monitor
with nothing recorded, with everything but content, and with everything and content. What a user event of an application
costs is what idle processes lose to many of them. All figures are of the kernel's own books.
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


_EVENTS_A_SECOND: Final = 150_000
# What the agent takes when nothing is recorded is its looking about, and no part of the upload.
SHARES: Final = {
    "nominal, nothing recorded": "scenario=nominal entropy=1",
    "nominal": f"scenario=nominal {_PEER.format('oneway:1')}",
    "chatter, 50000 user events a second": f"scenario=chatter rate=50000 {_PEER.format('oneway:1')}",
}


def _idle_ticks(done: Run) -> int:
    """Ticks of the idle processes of all partitions but the module OS."""
    return sum(
        int(task["ticks"])
        for task in done.books("task")
        if task["name"].endswith("idle") and task["partition"] != "MODULE_OS"
    )  # fmt: skip


def _run(name: str, kernel: Path, parameters: str, folder: Path) -> Run:
    dump = NO_INPUT(folder / "dump.pcap")
    done = run(f"overhead-{name}", f"run={_FRAMES}f {parameters}", *dump, kernel=kernel)
    if done.status:
        raise RuntimeError(f"the demo target ended with status {done.status}")
    return done


def _measure(name: str, kernel: Path, parameters: str, folder: Path) -> tuple[int, int, int]:
    """Idle ticks, ticks inside partition windows, records."""
    done = _run(name, kernel, f"scenario=nominal {parameters}", folder)
    inside = sum(int(p["ticks"]) for p in done.books("partition") if p["index"] != "0")
    monitor = done.books("monitor")
    return _idle_ticks(done), inside, int(monitor[0]["recorded"]) if monitor else 0


def _windows(folder: Path) -> Iterator[Row]:
    base: int | None = None
    for number, (name, (kernel, parameters)) in enumerate(CASES.items()):
        idle, inside, records = _measure(str(number), kernel, parameters, folder)
        base = idle if base is None else base
        lost = base - idle
        goal = _GOAL if name == "everything but content" else None
        yield Row(f"{name}: of window time", 100 * lost / inside, "%", goal)
        yield Row(f"{name}: a frame", lost / _TICKS_AN_INSTRUCTION / _FRAMES, "instructions")
        yield Row(f"{name}: recorded", records / _FRAMES, "records a frame")


def _user_event(name: str, kernel: Path, parameters: str, folder: Path) -> float:
    """Instructions that idle processes lose for each of many user events of applications."""
    few, many = (
        _run(f"{name}-{rate}", kernel, f"scenario=chatter rate={rate} {parameters}", folder)
        for rate in (0, _EVENTS_A_SECOND)
    )
    events = _EVENTS_A_SECOND * _FRAMES // 50  # frames of 20 ms
    return (_idle_ticks(few) - _idle_ticks(many)) / _TICKS_AN_INSTRUCTION / events


def _calls(folder: Path) -> Iterator[Row]:
    """The loop around the call is in both figures."""
    for name, kernel, parameters in (
        ("switched off", BARE, ""),
        ("through the system call", KERNEL, _PEER.format("oneway:1")),
    ):
        cost = _user_event(name.split()[0], kernel, parameters, folder)
        yield Row(f"user event of an application, {name}", cost, "instructions")


def _shares(folder: Path) -> Iterator[Row]:
    for number, (name, parameters) in enumerate(SHARES.items()):
        done = _run(f"share-{number}", KERNEL, parameters, folder)
        spare = next(int(p["ticks"]) for p in done.books("partition") if p["name"] == "MODULE_OS")
        yield Row(f"{name}: the agent of SPARE time", 100 * int(done.tasks()["mos_monitor"]["ticks"]) / spare, "%")


def measure() -> Iterator[Row]:
    """Rows of the table."""
    with tempfile.TemporaryDirectory(prefix="vxmon-") as folder:
        yield from _windows(Path(folder))
        yield from _calls(Path(folder))
        yield from _shares(Path(folder))
