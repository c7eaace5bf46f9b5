# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.fuzz.host``: hostile datagrams and session files into the host's readers.

Inputs are the golden vectors and small sessions, changed by a seeded mutator, with the CRC put right again most of the
time, so that they get past it. Everything must end in a value or an error of ours, within a second and 256 MiB.
"""

from __future__ import annotations

import argparse
import random
import resource
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from tests.fuzz.test_wire_fuzz import SEEDS, receive, with_right_crc
from tests.support.sessions import Target, write_session
from vxmon.errors import VxmonError
from vxmon.link.machine import HostLink
from vxmon.trace import open_trace
from vxmon.wire.bulk import block_datagrams, scan_blocks

__all__ = ["datagrams", "main", "mutate", "sessions"]

_LONGEST_S = 1.0
_MOST_MEMORY_KB = 256 << 10
_BATCH = 64
_MS = 1_000_000
_NUMBERS = (0, 1, 0x7F, 0x80, 0xFF)


def mutate(data: bytes, dice: random.Random) -> bytes:
    """One to six changes: a bit, a byte, a piece repeated, taken out or put elsewhere, an end cut off."""
    changed = bytearray(data)
    for _ in range(dice.randrange(1, 7)):
        if not changed:
            return b"\0"
        at, length = dice.randrange(len(changed)), dice.randrange(1, 9)
        match dice.randrange(7):
            case 0:
                changed[at] ^= 1 << dice.randrange(8)
            case 1:
                changed[at] = dice.choice(_NUMBERS)
            case 2:
                changed[at:at] = changed[at : at + length]
            case 3:
                del changed[at : at + length]
            case 4:
                changed[at : at + length] = dice.randbytes(length)
            case 5:
                other = dice.randrange(len(changed))
                changed[at : at + length] = changed[other : other + length]
            case _:
                del changed[at + 1 :]
    return bytes(changed)


def _framed(data: bytes) -> bytes:
    """Lengths of the header and the CRC as they must be for what follows."""
    if len(data) < 32:
        return data
    size = (len(data) - 32).to_bytes(2, "big")
    return with_right_crc(data[:7] + b"\x20" + data[8:20] + size + size + data[24:])


def _hostile(dice: random.Random) -> bytes:
    data = mutate(dice.choice(SEEDS), dice)
    return (data, with_right_crc(data), _framed(data), _framed(data))[dice.randrange(4)]


def datagrams(count: int, seed: int) -> Iterator[str]:
    """So many datagrams, one by one, by the batch, and into the machine of a host; yields what is wrong."""
    dice, link, now = random.Random(seed), HostLink(1, 0), 0
    link.connect(0)
    for _ in range(0, count, _BATCH):
        batch = [_hostile(dice) for _ in range(_BATCH)]
        begin = time.monotonic()
        now += dice.randrange(50) * _MS
        for data in batch:
            receive(data)
            link.receive(data, now)
        _in_bulk(batch, link, now)
        link.poll(now)
        link.notes.clear()
        if time.monotonic() - begin > _LONGEST_S * _BATCH:
            yield f"{_BATCH} datagrams took {time.monotonic() - begin:.1f} s"


def _in_bulk(batch: list[bytes], link: HostLink, now: int) -> None:
    lengths = np.array([len(data) for data in batch], np.int64)
    offsets = np.cumsum(lengths) - lengths
    flat = np.frombuffer(b"".join(batch) + bytes(64), np.uint8)
    which = np.flatnonzero(block_datagrams(flat, offsets, lengths))
    if len(which):
        scan = scan_blocks(flat, offsets[which], lengths[which])
        link.stored(scan.rows[scan.kind == 0], now)


def _session_seeds(folder: Path) -> list[bytes]:
    target = Target()
    whole = [*target.started(), *target.tables(), *(target.points(range(100 * n, 100 * n + 50)) for n in range(4))]
    small = folder / "seed.pcapng"
    write_session(small, [*whole, *target.heartbeat(900), *target.end(1000)])
    return [small.read_bytes()]


def _read(path: Path, kinds: Counter[str]) -> None:
    try:
        with open_trace([str(path)]) as trace:
            for chunk in trace.chunks():
                len(chunk.columns)
        kinds["read"] += 1
    except VxmonError as error:
        kinds[type(error).__name__] += 1
        if "\n" in str(error):
            raise ValueError(f"an error of several lines: {error}") from error


def sessions(count: int, seed: int, kinds: Counter[str]) -> Iterator[str]:
    """So many files; yields what is wrong."""
    dice = random.Random(seed)
    with tempfile.TemporaryDirectory(prefix="vxmon-fuzz-") as name:
        seeds, path = _session_seeds(Path(name)), Path(name) / "hostile.pcapng"
        for number in range(count):
            path.write_bytes(mutate(dice.choice(seeds), dice))
            begin = time.monotonic()
            _read(path, kinds)
            if time.monotonic() - begin > _LONGEST_S:
                yield f"session {number} of seed {seed} took {time.monotonic() - begin:.1f} s"


def main() -> int:
    parser = argparse.ArgumentParser(prog="fuzz-host", description=__doc__)
    parser.add_argument("--datagrams", type=int, default=1_000_000)
    parser.add_argument("--sessions", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    kinds: Counter[str] = Counter()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    wrong = [*datagrams(options.datagrams, options.seed), *sessions(options.sessions, options.seed, kinds)]
    grown = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
    if grown > _MOST_MEMORY_KB:
        wrong.append(f"memory grew by {grown} KiB")
    for text in wrong:
        print(text)
    figures = f"datagrams={options.datagrams} sessions={options.sessions} {dict(kinds)} memory=+{grown}KiB"
    print(f"fuzz-host: {figures} wrong={len(wrong)}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
