# SPDX-License-Identifier: Apache-2.0
"""How many datagrams a second are received, stored and counted without loss.

Two measures. *Flood*: a sender process on 127.0.0.1 sends blocks of 1.4 kB at a given rate, whatever happens; what the
socket dropped is the kernel's own count. *Whole path*: ``vxmon capture`` from the posix target that records as fast as
it can, one way. Sender and receiver share this machine, so the figures are a lower bound.
"""

from __future__ import annotations

import multiprocessing
import resource
import socket
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from tests.bench.board import BUILT
from tests.bench.table import Row
from tests.support.commands import posix_target, vxmon
from vxmon.link.client import Client
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter
from vxmon.wire.block import encode_block, make_block

__all__ = ["RATES", "Flood", "flood", "measure", "whole_path"]

RATES: Final = (25_000, 50_000, 100_000, 150_000, 200_000)
_SECONDS: Final = 2.0
__GOAL: Final = 300_000
_GOAL: Final = 300_000
_RECORDS: Final = 107
_QUIET_S: Final = 1.0


@dataclass(frozen=True)
class Flood:
    """One rate: datagrams a second sent, datagrams sent, stored and dropped by the socket, processor s used."""

    rate: float
    sent: int
    stored: int
    dropped: int
    processor_s: float


def _blocks(count: int) -> list[bytes]:
    """Consecutive blocks of one run, of slots of one and two words like the demo target's."""
    head = [(64 << 22 | i % 2 << 16).to_bytes(4, "big") + bytes(4 + 8 * (i % 2)) for i in range(_RECORDS)]
    return [encode_block(make_block(head, 0, 0, sequence=i, first_index=i * len(head))) for i in range(count)]


def _send(port: int, rate: int, count: int, blocks: list[bytes]) -> None:
    """Sender process: waits for the first datagram to know where to, then keeps to the rate in steps of 1 ms."""
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sock:
        sock.bind(("127.0.0.1", port))
        sock.settimeout(30)
        sock.connect(sock.recvfrom(2048)[1])
        begin, sent = time.perf_counter(), 0
        while sent < count:
            due = min(int((time.perf_counter() - begin) * rate) + 1, count)
            for number in range(sent, due):
                sock.send(blocks[number % len(blocks)])
            sent = due
            time.sleep(0.0005)


def flood(rate: int) -> Flood:
    """Receive a flood into a session in build/bench."""
    BUILT.mkdir(parents=True, exist_ok=True)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    count = int(rate * _SECONDS)
    blocks = _blocks(2000)
    sender = multiprocessing.get_context("fork").Process(target=_send, args=(port, rate, count, blocks))
    sender.start()
    time.sleep(0.3)
    sys.setswitchinterval(0.0005)
    before = resource.getrusage(resource.RUSAGE_SELF)
    client = Client("127.0.0.1", port)
    client.link.follow(1, one_way=True)
    client.record(SessionWriter(FileSink.open(str(BUILT / "flood.pcapng")), {}))
    client.link.connect(time.monotonic_ns())
    begin = last = time.monotonic()
    seen = 0
    while sender.is_alive() or time.monotonic() - last < _QUIET_S:
        client.pump()
        if client.receiver.received != seen:
            seen, last = client.receiver.received, time.monotonic()
    after = resource.getrusage(resource.RUSAGE_SELF)
    sender.join()
    result = Flood(
        seen / max(last - begin, 1e-9), count, client.link.blocks + client.link.duplicates, client.receiver.dropped,
        after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime,
    )  # fmt: skip
    client.close()
    (BUILT / "flood.pcapng").unlink()
    return result


def whole_path(*options: str) -> tuple[float, float]:
    """Capture 3 s from the posix target that records as fast as it can; events a second recorded and delivered.

    When the end of the run was lost too, what was recorded is not known and comes as what was delivered and lost.
    """
    BUILT.mkdir(parents=True, exist_ok=True)
    path = BUILT / "path.pcapng"
    with posix_target(*options) as target:
        done = vxmon("capture", target.address, "-d", "3", "--one-way", "-o", str(path))
    path.unlink(missing_ok=True)
    delivered, lost = done.figure("delivered"), done.figure("lost")
    return (delivered + lost) / 3, delivered / 3


def measure() -> Iterator[Row]:
    """Rows of the table."""
    best = 0.0
    for rate in RATES:
        result = flood(rate)
        each = result.processor_s / max(result.stored, 1) * 1e6
        what = f"at {rate:,} datagrams/s sent"
        yield Row(f"{what}: stored", result.rate, "datagrams/s")
        yield Row(f"{what}: dropped by the socket", result.dropped, "datagrams")
        yield Row(f"{what}: processor", each, "us a datagram")
        if not result.dropped:
            best = max(best, result.rate)
    yield Row("the most without loss", best, "datagrams/s", _GOAL, more_is_better=True)
    for options in (("--rate", "1000000"), ("--rate", "2000000"), ("--flood",)):
        recorded, delivered = whole_path(*options)
        yield Row(f"posix target {' '.join(options)}: recorded", recorded, "events/s")
        yield Row(f"posix target {' '.join(options)}: delivered", delivered, "events/s")
