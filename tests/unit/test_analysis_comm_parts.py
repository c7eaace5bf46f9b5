# SPDX-License-Identifier: Apache-2.0
"""Random traffic: figures do not depend on how a session is cut into chunks, and ranges hold the truth under loss.

The traffic is that of a small kernel written here, which has its own queues; a complete session is the truth for the
same session with blocks left out.
"""

from __future__ import annotations

import random
from collections import deque
from pathlib import Path

import numpy as np
import pytest

from tests.support.messaging import BOARD, BUFFER, DST_Q, DST_S, DST_S2, SRC_Q, SRC_S, Messages, configuration
from vxmon.analysis.comm.analyze import BootBooks
from vxmon.analysis.comm.named import named_figures
from vxmon.analysis.comm.result import BootComm, CommResultSet
from vxmon.analysis.named import NamedFigure
from vxmon.analysis.scene import Scope
from vxmon.trace import Chunk, StoredTrace, open_trace
from vxmon.wire.events import CommResult

STEPS = 120


class _Kernel:
    """Queues with room for 4 and 2, a blackboard, and a sampling channel to two ports."""

    def __init__(self, messages: Messages, random_: random.Random) -> None:
        self.m, self.random = messages, random_
        self.sent = {BUFFER: 0, SRC_Q: 0, SRC_S: 0, BOARD: 0}
        self.waiting: dict[int, deque[tuple[int, int]]] = {BUFFER: deque(), DST_Q: deque()}
        self.latest: dict[int, tuple[int, int, int]] = {}

    def step(self, time: int) -> None:
        action = self.random.choice((self.send_buffer, self.get, self.send_port, self.write, self.read, self.show))
        action(time)

    def next(self, index: int) -> tuple[int, int]:
        self.sent[index] += 1
        return self.sent[index], self.random.randint(1, 16)

    def send_buffer(self, time: int) -> None:
        queue = self.waiting[BUFFER]
        if len(queue) == 4:
            self.m.send(time, BUFFER, 0, 4, CommResult.FULL)
            return
        queue.append(self.next(BUFFER))
        self.m.send(time, BUFFER, queue[-1][0], len(queue), size=queue[-1][1])

    def get(self, time: int) -> None:
        index = self.random.choice((BUFFER, DST_Q))
        queue = self.waiting[index]
        if not queue:
            self.m.receive(time, index, 0, 0, CommResult.EMPTY, size=0)
            return
        number, size = queue.popleft()
        self.m.receive(time, index, number, len(queue), size=size)

    def send_port(self, time: int) -> None:
        number, size = self.next(SRC_Q)
        self.m.send(time, SRC_Q, number, 0, size=size)
        queue = self.waiting[DST_Q]
        if len(queue) == 2:
            self.m.send(time + 1, DST_Q, number, 2, CommResult.FULL, size=size)
        else:
            queue.append((number, size))

    def write(self, time: int) -> None:
        number, size = self.next(SRC_S)
        self.latest[DST_S] = self.latest[DST_S2] = (number, size, time)
        self.m.send(time, SRC_S, number, 1, size=size)

    def read(self, time: int) -> None:
        index = self.random.choice((DST_S, DST_S2))
        if index not in self.latest:
            self.m.receive(time, index, 0, 0, CommResult.EMPTY, size=0)
            return
        number, size, at = self.latest[index]
        stale = time - at > {DST_S: 50, DST_S2: 100}[index]
        self.m.receive(time, index, number, 1, CommResult.STALE if stale else CommResult.OK, size=size)

    def show(self, time: int) -> None:
        if BOARD not in self.latest or self.random.random() < 0.5:
            number, size = self.next(BOARD)
            self.latest[BOARD] = (number, size, time)
            self.m.send(time, BOARD, number, 1, size=size)
        else:
            number, size, _ = self.latest[BOARD]
            self.m.receive(time, BOARD, number, 1, size=size, task=self.random.choice((1, 4)))


def traffic(seed: int) -> Messages:
    chance = random.Random(seed)
    messages = Messages(block_records=chance.choice((2, 3, 5)))
    kernel, time = _Kernel(messages, chance), 10
    for _ in range(STEPS):
        time += chance.choice((2, 5, 10, 40))
        kernel.step(time)
    messages.stop(time + 20)
    return messages


def figures(boot: BootComm) -> dict[str, NamedFigure]:
    return {named.name: named for named in named_figures(CommResultSet([boot]))}


@pytest.mark.parametrize("records", [1, 7])
def test_figures_do_not_depend_on_the_chunks(tmp_path: Path, records: int) -> None:
    scope = Scope(module=configuration(tmp_path))
    for seed in range(3):
        path = traffic(seed).recording.write(tmp_path / f"{seed}.pcapng", drop=(3, 4, 9))
        with open_trace([path]) as trace:
            assert isinstance(trace, StoredTrace)
            whole, parts = (BootBooks(trace.facts.boots[0], trace.facts, scope) for _ in range(2))
            for chunk in trace.chunks():
                whole.feed(chunk)
                for at in range(0, len(chunk.columns), records):
                    some = chunk.columns.take(np.arange(at, min(at + records, len(chunk.columns))))
                    parts.feed(Chunk(chunk.boot, some, chunk.losses))
            assert figures(parts.finish()) == figures(whole.finish())


def test_ranges_hold_the_truth_whatever_is_lost(tmp_path: Path) -> None:
    wrong = []
    for seed in range(30):
        messages, chance = traffic(seed), random.Random(1000 + seed)
        blocks = -(-len(messages.recording.records) // messages.recording.block_records)
        drop = chance.sample(range(blocks), chance.choice((1, 2, 5)))
        truth = figures(messages.analyzed(tmp_path))
        lossy = figures(messages.analyzed(tmp_path, tuple(drop)))
        for name, named in truth.items():
            true, seen = named.figure, lossy[name].figure if name in lossy else None
            assert not true.in_doubt, name
            # How many have no other end seen is about the session, not about the target.
            if true.value is None or seen is None or seen.lo is None or "orphan" in name:
                continue
            if not (seen.lo <= true.value and (seen.hi is None or true.value <= seen.hi)):
                wrong.append((seed, name, true.value, (seen.lo, seen.value, seen.hi)))
    assert wrong == []
