# SPDX-License-Identifier: Apache-2.0
"""Runs the demo target on QEMU, to its end or for as long as a test wants."""

from __future__ import annotations

import re
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path

from tests.support.tree import ROOT

__all__ = [
    "BARE", "CHECK", "CHECK_MONITORED", "KERNEL", "NO_INPUT", "STATIC_PEER", "Run", "books", "boot", "pcap_frames",
    "run", "wait_for_books",
]  # fmt: skip

KERNEL = ROOT / "build/ppce500/kernel.elf"
BARE = ROOT / "build/ppce500-bare/kernel.elf"
CHECK = ROOT / "build/ppce500-check/kernel.elf"
CHECK_MONITORED = ROOT / "build/ppce500-check/monitored.elf"
LOGS = ROOT / "build/qemu-logs"
TIMEOUT_S = 120

MACHINE = "qemu-system-ppc -M ppce500 -cpu e500mc -m 128 -display none -monitor none -nodefaults".split()
MACHINE += "-device pvpanic-pci -action panic=exit-failure".split()
STATIC_PEER = "autostart=1 peer=10.0.2.2:6530@52:55:0a:00:02:02 config=oneway:1 entropy=0x0123456789abcdef"


def NO_INPUT(dump: Path) -> list[str]:  # noqa: N802
    """A network on which nobody else is, recorded in a pcap file."""
    return [
        *"-netdev hubport,id=n0,hubid=0 -device eTSEC,netdev=n0 -object".split(),
        f"filter-dump,id=f0,netdev=n0,file={dump}",
    ]


@dataclass(frozen=True)
class Run:
    """How a run ended and what the console said."""

    status: int
    console: str

    def books(self, what: str) -> list[dict[str, str]]:
        return books(self.console, what)

    def tasks(self) -> dict[str, dict[str, str]]:
        return {entry["name"]: entry for entry in self.books("task")}

    def partitions(self) -> dict[str, dict[str, str]]:
        return {entry["name"]: entry for entry in self.books("partition")}


def books(console: str, what: str) -> list[dict[str, str]]:
    """The kernel's ``book <what> key=value ...`` lines."""
    lines = re.findall(rf"^book {what} (.*)$", console, re.MULTILINE)
    return [dict(item.split("=", 1) for item in line.split()) for line in lines]


def pcap_frames(pcap: bytes) -> list[bytes]:
    """The frames of a pcap file that QEMU wrote on this machine. Its stamps begin at the host's clock: left out."""
    at, found = 24, []
    while at < len(pcap):
        length = int.from_bytes(pcap[at + 8 : at + 12], sys.byteorder)
        found.append(pcap[at + 16 : at + 16 + length])
        at += 16 + length
    return found


def _command(kernel: Path, parameters: str, log: Path, extra: list[str], icount: str | None) -> list[str]:
    if not kernel.exists():
        raise FileNotFoundError(f"{kernel} is not built: make build")
    clock = ["-icount", icount] if icount is not None else []
    return [*MACHINE, *clock, "-serial", f"file:{log}", "-kernel", str(kernel), "-append", parameters, *extra]


def _log(name: str) -> Path:
    LOGS.mkdir(parents=True, exist_ok=True)
    return LOGS / f"{name}.log"


def run(
    name: str,
    parameters: str,
    *extra: str,
    kernel: Path = KERNEL,
    icount: str | None = "shift=3,sleep=off",
    timeout: float = TIMEOUT_S,
) -> Run:
    """Run until the target ends by itself; the console stays in build/qemu-logs/<name>.log."""
    log = _log(name)
    command = _command(kernel, parameters, log, list(extra), icount)
    done = subprocess.run(command, check=False, capture_output=True, text=True, timeout=timeout)
    console = log.read_text(encoding="latin-1").replace("\r\n", "\n")
    log.write_text(console + done.stderr, encoding="utf-8")
    return Run(done.returncode, console)


@contextmanager
def boot(
    name: str, parameters: str, *extra: str, kernel: Path = KERNEL, icount: str | None = "shift=3,align=on"
) -> Iterator[Path]:
    """Run the target beside the test, paced to real time; gives the console's file."""
    log = _log(name)
    command = _command(kernel, parameters, log, list(extra), icount)
    with subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL) as process:
        try:
            yield log
        finally:
            process.kill()
            process.wait(timeout=10)


def wait_for_books(log: Path, timeout: float = TIMEOUT_S) -> str:
    """The console of a target that runs beside the test, when it has ended and printed the agent's books."""
    end = time.monotonic() + timeout
    while "end of run" not in (console := log.read_text(encoding="latin-1")):
        if time.monotonic() > end:
            raise TimeoutError(f"the target does not end: {console[-500:]}")
        time.sleep(0.1)
    return console.replace("\r\n", "\n")
