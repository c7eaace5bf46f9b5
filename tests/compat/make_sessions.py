# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.compat.make_sessions``: writes the golden sessions that are missing. Never changes one.

Each event of the table occurs, from a big-endian and from a little-endian boot, on two streams, with losses of several
causes, a repeated block, a damaged one, a wrap of the 32-bit clock and one event that no table has.
"""

from __future__ import annotations

from pathlib import Path

from tests.compat.make_vectors import sample_values
from tests.support.sessions import NAMES, TABLE, Target, record, write_session

__all__ = ["SESSIONS", "main"]

SESSIONS = Path(__file__).parent / "sessions" / "v1"
_WRAP = 1 << 32


def _boot(target: Target) -> list[bytes]:
    time = _WRAP - 400
    datagrams = [*target.tables(NAMES, streams=2), *target.started(time - 10)]
    blocks = []
    for number, event in enumerate(TABLE.events):
        records = [
            record(event.name, arg, time + arg % 7, sample_values(event), big_endian=target.big_endian)
            for arg in (1, 0xFFFF)
        ]
        if number == 12:
            target.lose(overwritten=1000, exhausted=7)
        blocks.append(target.block(records, time + 1, time + 0xFFFF % 7, stream=number % 2))
        time += 20
    unknown = (1000 << 22 | 1 << 16 | 5).to_bytes(4, "big" if target.big_endian else "little") + bytes(12)
    blocks.append(target.block([unknown], _WRAP * 3, _WRAP * 3))
    target.points([_WRAP * 3 + 1])  # never arrives
    damaged = bytearray(target.points([_WRAP * 3 + 2, _WRAP * 3 + 2]))
    damaged[-2] ^= 1
    blocks += [bytes(damaged), target.points([_WRAP * 3 + 3])]
    blocks.insert(9, blocks[3])
    target.lose(full=4)
    return [*datagrams, *blocks, *target.heartbeat(_WRAP * 3 + 5), *target.end(_WRAP * 3 + 9)]


def main() -> None:
    """Write what is missing."""
    SESSIONS.mkdir(parents=True, exist_ok=True)
    path = SESSIONS / "all-events.pcapng"
    if not path.exists():
        boots = (Target(boot=0x5EED0001), Target(boot=0x5EED0002, big_endian=False))
        write_session(path, [datagram for boot in boots for datagram in _boot(boot)])


if __name__ == "__main__":
    main()
