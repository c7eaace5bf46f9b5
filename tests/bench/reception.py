# SPDX-License-Identifier: Apache-2.0
"""How many datagrams a second are received, stored and acknowledged without loss.

``vxmon capture`` records, as a user runs it, from a sender in C on 127.0.0.1 that behaves as a target and tells what
was true (flood.py): at fixed rates, whatever happens, and as fast as acknowledgements allow. What the socket dropped
is the kernel's own count. *Floor* is what the kernel alone costs: a receiver in C that throws datagrams away, or
writes them. *Whole path* is the posix target that records as fast as it can.

Sender and receiver share this machine, which no target and its host do: so the sender gives the kernel many datagrams
at a time, which it cuts before they reach the socket; the receiver has the same to do. What the sender takes is told,
and also how it is when it sends each by itself.
"""

from __future__ import annotations

import json
import os
import re
import socket
import subprocess
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.bench.board import BUILT
from tests.bench.flood import Flood, FloodTarget, build, program, send, template
from tests.bench.table import Row
from tests.support.commands import Done, finish, posix_target, start_vxmon, vxmon

__all__ = ["Reception", "measure", "receive"]

_RATES: Final = (50_000, 100_000, 150_000, 200_000, 250_000, 300_000, 350_000, 400_000)
_GOAL: Final = 300_000
_SECONDS: Final = 2.0
_BY_ITSELF: Final = 250_000
_REFINEMENTS: Final = 2
_REACHED: Final = 0.9
_LONG_SECONDS: Final = 12.0
_WARM: Final = 0.25
_FLOOR_RATE: Final = 150_000
_SAMPLE_S: Final = 0.05
_TICK_S: Final = 1 / os.sysconf("SC_CLK_TCK")


@dataclass(frozen=True, slots=True)
class Sample:
    """A process at an instant (monotonic s): processor time so far in s, resident memory in MiB."""

    at: float
    user: float
    system: float
    memory: float


@dataclass(frozen=True, slots=True)
class Reception:
    """One flood. ``rate`` is what was really sent a second; ``acknowledged`` and ``sent`` are the sender's figures.

    Times are processor s: of the receiver, as long as datagrams came, and of the sender.
    """

    rate: float
    sent: int
    stored: int
    lost: int
    dropped: int
    acknowledged: int
    user: float
    system: float
    sender: float
    samples: tuple[Sample, ...]

    @property
    def is_whole(self) -> bool:
        """Nothing was lost, nothing had to be sent again, and the sender knows."""
        return self.dropped == 0 and self.lost == 0 and self.sent == self.stored == self.acknowledged

    def each(self, seconds: float) -> float:
        """Processor time in us a datagram."""
        return seconds / max(self.stored, 1) * 1e6


def _sample(pid: int) -> Sample | None:
    """None when the process has ended."""
    try:
        stat = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
        memory = re.search(r"VmRSS:\s+(\d+)", Path(f"/proc/{pid}/status").read_text())
    except OSError:
        return None
    return (
        Sample(time.monotonic(), int(stat[11]) * _TICK_S, int(stat[12]) * _TICK_S, int(memory[1]) / 1024)
        if memory
        else None
    )


def _watch(process: subprocess.Popen[bytes]) -> list[Sample]:
    samples: list[Sample] = []
    while process.poll() is None and (sample := _sample(process.pid)) is not None:
        samples.append(sample)
        time.sleep(_SAMPLE_S)
    return samples


def receive(flood: Flood, *options: str) -> Reception:
    """Record a flood into a session in build/bench. Raises RuntimeError when that fails."""
    path = BUILT / "flood.pcapng"
    with FloodTarget(flood) as target:
        process = start_vxmon("capture", f"127.0.0.1:{target.port}", "-o", str(path), *options)
        samples = _watch(process)
        done = finish(process)
    path.unlink(missing_ok=True)
    if done.status or not target.figures:
        raise RuntimeError(f"the capture of a flood failed: {done.err}")
    return _told(target, done, samples)


def _told(target: FloodTarget, done: Done, samples: list[Sample]) -> Reception:
    figures, sent = target.figures, sum(target.figures["sent"])
    before = [sample for sample in samples if sample.at <= target.begun][-1]
    after = samples[-1]
    return Reception(
        sent / figures["seconds"], sent, done.figure("blocks"), done.figure("lost"), done.figure("dropped"),
        figures["acknowledged"], after.user - before.user, after.system - before.system,
        figures["user_s"] + figures["system_s"],
        tuple(sample for sample in samples if target.begun <= sample.at <= target.ended),
    )  # fmt: skip


# ---------------------------------------------------------------- rows


def _floor(*options: str) -> float:
    """Processor us a datagram of the receiver in C."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        sock.bind(("127.0.0.1", 0))
        command = [str(program("flood_floor")), str(sock.getsockname()[1]), *options]
        with subprocess.Popen(command, stdout=subprocess.PIPE) as process:
            sock.connect(sock.recvfrom(16)[1])
            send(sock, Flood(_FLOOR_RATE, _SECONDS, window=0), template(1, 1))
            figures = json.loads(process.communicate(timeout=30)[0])
    return float((figures["user_s"] + figures["system_s"]) / figures["received"] * 1e6)


def _floors() -> Iterator[Row]:
    build("flood_sender")
    build("flood_floor")
    path = BUILT / "floor.bin"
    yield Row("floor, receiver in C: throws away", _floor(), "us a datagram")
    yield Row("floor, receiver in C: writes", _floor(str(path)), "us a datagram")
    path.unlink(missing_ok=True)


def _rows(what: str, result: Reception) -> Iterator[Row]:
    yield Row(f"{what}: sent", result.rate, "datagrams/s")
    yield Row(f"{what}: stored and acknowledged", min(result.stored, result.acknowledged), "datagrams")
    yield Row(f"{what}: dropped by the socket", result.dropped, "datagrams")
    yield Row(f"{what}: receiver, Python and libraries", result.each(result.user), "us a datagram")
    yield Row(f"{what}: receiver, kernel", result.each(result.system), "us a datagram")
    yield Row(f"{what}: sender", result.each(result.sender), "us a datagram")


def _fixed(rate: float) -> Reception:
    """A rate at which something is lost is tried once more: the machine may have had something else to do."""
    flood = Flood(rate, _SECONDS, window=0)
    result = receive(flood)
    return result if result.is_whole else receive(flood)


def _search() -> Iterator[Row]:
    """Rates in steps until something is lost, then nearer to the limit."""
    best, worst = 0.0, 0.0
    for rate in _RATES:
        result = _fixed(rate)
        yield from _rows(f"at {rate:,} datagrams/s", result)
        if not result.is_whole:
            worst = rate
            break
        best = max(best, result.rate)
        if result.rate < _REACHED * rate:
            break  # the sender gives no more
    for _ in range(_REFINEMENTS if worst else 0):
        between = (best + worst) / 2
        result = _fixed(between)
        best, worst = (max(best, result.rate), worst) if result.is_whole else (best, between)
    yield Row("the most stored and acknowledged without loss", best, "datagrams/s", _GOAL, more_is_better=True)


def _one_by_one() -> Iterator[Row]:
    yield from _rows(f"each by itself, {_BY_ITSELF:,}/s", receive(Flood(_BY_ITSELF, _SECONDS, window=0, together=1)))


def _as_acknowledged() -> Iterator[Row]:
    for streams in (8, 1):
        result = receive(Flood(0, _SECONDS, streams=streams))
        what = f"as fast as acknowledged, {streams} stream{'s' * (streams > 1)}"
        yield from _rows(what, result)
        yield Row(f"{what}: lost", result.lost, "events", 0)


def _memory(rate: float) -> Iterator[Row]:
    """Resident memory of a longer capture."""
    result = receive(Flood(rate, _LONG_SECONDS, window=0))
    warm = result.samples[int(len(result.samples) * _WARM) :]
    what = f"{_LONG_SECONDS:.0f} s at {rate:,.0f} datagrams/s"
    yield Row(f"{what}: memory after {_LONG_SECONDS * _WARM:.0f} s", warm[0].memory, "MiB")
    yield Row(f"{what}: memory at the end", warm[-1].memory, "MiB")


def whole_path(*options: str, one_way: bool) -> tuple[float, float]:
    """Capture 3 s from the posix target that records as fast as it can; events a second recorded and delivered.

    When the end of the run was lost too, what was recorded is not known and comes as what was delivered and lost.
    """
    BUILT.mkdir(parents=True, exist_ok=True)
    path = BUILT / "path.pcapng"
    with posix_target(*options) as target:
        done = vxmon("capture", target.address, "-d", "3", "-o", str(path), *(["--one-way"] if one_way else []))
    path.unlink(missing_ok=True)
    delivered, lost = done.figure("delivered"), done.figure("lost")
    return (delivered + lost) / 3, delivered / 3


def _whole_paths() -> Iterator[Row]:
    for options in (("--rate", "1000000"), ("--rate", "2000000"), ("--flood",)):
        for one_way in (False, True):
            recorded, delivered = whole_path(*options, one_way=one_way)
            what = f"posix target {' '.join(options)}, {'one way' if one_way else 'acknowledged'}"
            yield Row(f"{what}: recorded", recorded, "events/s")
            yield Row(f"{what}: delivered", delivered, "events/s")


def measure() -> Iterator[Row]:
    """Rows of the table."""
    yield from _floors()
    yield from _search()
    yield from _one_by_one()
    yield from _as_acknowledged()
    yield from _memory(_RATES[1])
    yield from _whole_paths()
