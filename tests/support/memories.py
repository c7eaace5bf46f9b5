# SPDX-License-Identifier: Apache-2.0
"""Sessions about memory, written frame by frame, for the module of tests/support/handmade.py: a frame is 1000 us.

Partition A leaves the processor at 403 of each frame, the module OS takes samples from 810 on.
"""

from __future__ import annotations

import random
from collections.abc import Iterable
from pathlib import Path

from tests.support.handmade import LOW, WORK, A, B, frame, recording, start
from tests.support.recording import Recording
from vxmon.analysis.memory.analyze import MemoryRequest, analyze_memory
from vxmon.analysis.memory.result import BootMemory, HeapMemory
from vxmon.trace import StoredTrace, open_trace

__all__ = [
    "ALLOCATE", "FRAME", "FREE", "HEAP", "MemorySession", "analyzed_memory", "counted", "heap_of", "random_memory",
    "sampled", "switched",
]  # fmt: skip

HEAP = 10_000
FRAME = 1000
ALLOCATE, FREE = 4, 5


class MemorySession:
    """A recording to which frames are added one after the other. Times are those within the frame."""

    def __init__(self, block_records: int = 4) -> None:
        self.rec = recording(block_records=block_records)
        self.rec.rows([(900, *start())])
        self.at = FRAME

    @property
    def number(self) -> int:
        """Of the frame that comes next, as the kernel counts: from 7 on."""
        return self.at // FRAME + 6

    def frame(self, *rows: tuple[int, str, int, dict[str, int]]) -> None:
        """One frame with some records, in order."""
        self.rec.rows([(self.at + 1, *frame(self.at, self.number))])
        self.rec.rows([(self.at + time, name, arg, fields) for time, name, arg, fields in rows])
        self.at += FRAME

    def uses(self, values: Iterable[int], partition: int = A) -> MemorySession:
        """One frame each, in which a partition leaves the processor with that many bytes allocated."""
        for value in values:
            self.frame(switched(value, partition=partition))
        return self

    def end(self) -> Recording:
        self.rec.rows([(self.at, "STOP", 0)])
        return self.rec


def switched(used: int, time: int = 403, partition: int = A) -> tuple[int, str, int, dict[str, int]]:
    return time, "MEM_SWITCH", partition, {"free": HEAP - used, "allocated": used}


def sampled(
    used: int, blocks: int, largest: int, high_water: int, time: int = 810, partition: int = A
) -> tuple[int, str, int, dict[str, int]]:
    fields = {"free": HEAP - used, "allocated": used, "blocks": blocks, "largest": largest, "high_water": high_water}
    return time, "MEM_SAMPLE", partition, fields


def counted(
    operation: int, count: int, total: int, size_class: int = 0, time: int = 820, partition: int = A
) -> tuple[int, str, int, dict[str, int]]:
    fields = {"operation": operation, "size_class": size_class, "count": count, "total": total}
    return time, "OP_COUNT", partition, fields


def analyzed_memory(
    rec: Recording, tmp_path: Path, drop: Iterable[int] = (), request: MemoryRequest | None = None
) -> BootMemory:
    with open_trace([rec.write(tmp_path / "s.pcapng", tuple(drop))]) as trace:
        assert isinstance(trace, StoredTrace)
        return analyze_memory(trace, request).boots[0]


def heap_of(boot: BootMemory, index: int = A) -> HeapMemory:
    return next(heap for heap in boot.heaps if heap.index == index)


def random_memory(seed: int) -> Recording:
    """A complete session of heaps that leak, swing or rest, with samples, stacks and counts now and then."""
    rng = random.Random(seed)
    session = MemorySession(block_records=rng.randrange(1, 9))
    leak, swing, period = rng.choice((0, 0, 8, 32)), rng.choice((0, 40, 300)), rng.randrange(1, 12)
    every, allocated = rng.randrange(2, 15), 0
    water = 0
    pattern = {WORK: 16, LOW: 16}
    for number in range(rng.randrange(20, 90)):
        used = leak * number + swing * (number % period)
        allocated += leak > 0
        water = max(water, used)
        rows = [switched(used), (600, "STACK_SWITCH", WORK, {"used": rng.randrange(200)}), switched(0, 780, B)]
        if number % every == 0:
            task = rng.choice((WORK, LOW))
            pattern[task] = max(pattern[task], rng.randrange(300))
            free = HEAP - used
            rows += [
                sampled(used, allocated, rng.randrange(free // 2, free + 1), water),
                counted(ALLOCATE, number + 1 + allocated, 64 * (number + 1 + allocated), 6),
                counted(FREE, number + 1, 64 * (number + 1), 6, 830),
                (840, "STACK_SAMPLE", task, {"high_water": pattern[task], "size": 1024}),
            ]
        session.frame(*rows)
    return session.end()
