# SPDX-License-Identifier: Apache-2.0
"""Host and target against each other over a modelled network, with a clock that the test drives.

The host is vxmon.link.machine, fed as the UDP client feeds it; the target is the real agent in vxm-sim. The model keeps
the truth: which record has which index, which blocks are stored, and which marks were asked for.
"""

from __future__ import annotations

import heapq
import random
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import numpy as np

from tests.support.records import record_list
from tests.support.sim import LOOPBACK, Simulation
from vxmon.link.commands import BACK_OFF_MS, Pending
from vxmon.link.machine import Control, HostLink
from vxmon.wire.block import decode_block
from vxmon.wire.bulk import block_datagrams, scan_blocks
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.status import decode_ack
from vxmon.wire.types import Block, Channel, Policy, Result, RunConfig, Start, Started, Stop, StreamAck, Trigger

__all__ = ["EVENTS", "HZ", "Model", "Weather"]

HZ = 1_000_000
MS = HZ // 1000
MARK, USER_POINT = 5, 256
EVENTS = frozenset({MARK, USER_POINT})
NS_A_TICK = 1000
_PORT = 4000
# A step of the world: what the agent works, and then time that passes.
_WORK, _PAUSE = 400, 4 * MS
_HEAL_STEPS = 4000


@dataclass
class Weather:
    """What the network does, in percent of the datagrams; ``delay`` in ms at most."""

    drop: int = 0
    duplicate: int = 0
    delay_share: int = 0
    delay: int = 0
    corrupt: int = 0


@dataclass
class Model:
    """The world. All times in ticks."""

    seed: int = 0
    clock: int = HZ
    host_type: type[HostLink] = HostLink
    key: bytes | None = None  # of both
    now: int = 0
    weather: Weather = field(default_factory=Weather)
    truth: dict[int, int] = field(default_factory=dict)  # index -> argument, of USER_POINT in this run
    stored: dict[tuple[int, int, int], Block] = field(default_factory=dict)  # boot, run, sequence
    marks: dict[int, Pending] = field(default_factory=dict)
    marked: Counter[int] = field(default_factory=Counter)
    boots: int = 0
    serial: int = 0

    def __post_init__(self) -> None:
        self.now = self.clock
        self.chance = random.Random(self.seed)
        self.queue: list[tuple[int, int, bool, bytes]] = []
        self.number = 0
        self.policy = Policy.RING
        self.sim = self._boot()
        self.link = self.host_type(1, self.now * NS_A_TICK, self.key)
        self.starting: Pending | None = None
        self.link.connect(self.now * NS_A_TICK)

    @contextmanager
    def closing(self) -> Iterator[None]:
        """End the target's process behind the last checks; whatever they found is what is told."""
        with self.sim:
            yield

    def _boot(self) -> Simulation:
        self.boots += 1
        sim = Simulation()
        assert self.key is None or sim.key(self.key.hex())
        assert sim.init(hz=HZ, clock=self.now, arena=1 << 16, cost=1, entropy=self.seed * 1000 + self.boots) == 0
        return sim

    def reboot(self) -> None:
        """Another boot; what was on its way stays there."""
        with self.sim:
            self.truth.clear()
        self.sim = self._boot()

    # ---------------------------------------------------------------- what the world does

    def record(self, count: int) -> None:
        before = self.sim.totals().recorded
        for _ in range(count):
            self.serial += 1
            self.sim.record(USER_POINT, self.serial & 0xFFFF)
        made = self.sim.totals().recorded - before
        assert made in (0, count), "the event is on, or it is off"
        self.truth |= {before + at: (self.serial - made + 1 + at) & 0xFFFF for at in range(made)}

    def start(self, policy: Policy, units: int) -> None:
        if self.link.control is Control.HELD and (self.starting is None or self.starting.done):
            config = RunConfig(EVENTS, unit_slots=128, units=units, policy=policy, datagram_bytes=512)
            self.starting = self.link.request(Start(config), self.now * NS_A_TICK)

    def stop(self) -> None:
        if self.link.control is Control.HELD:
            self.link.request(Stop(), self.now * NS_A_TICK)

    def mark(self) -> None:
        if self.link.control is Control.HELD:
            number = len(self.marks) + 1
            self.marks[number] = self.link.request(Trigger(number), self.now * NS_A_TICK)

    def step(self) -> None:
        """The agent works, the host takes its turn, time passes, datagrams arrive."""
        self.sim.step(_WORK)
        for sent in self.sim.sent():
            if sent.port == _PORT:
                self._send(sent.data, to_host=True)
        self.now += _WORK + _PAUSE
        self.sim.clock(self.now)
        self._arrive()
        for data in self.link.poll(self.now * NS_A_TICK):
            self._check_acknowledgement(data)
            self._send(data, to_host=False)

    def steps(self, count: int) -> None:
        for _ in range(count):
            self.step()

    # ---------------------------------------------------------------- the network

    def _send(self, data: bytes, *, to_host: bool) -> None:
        weather, chance = self.weather, self.chance
        if chance.randrange(100) < weather.drop:
            return
        if chance.randrange(100) < weather.corrupt:
            at = chance.randrange(len(data))
            data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        for _ in range(2 if chance.randrange(100) < weather.duplicate else 1):
            late = chance.randrange(weather.delay * MS + 1) if chance.randrange(100) < weather.delay_share else 0
            self.number += 1
            heapq.heappush(self.queue, (self.now + late, self.number, to_host, data))

    def _arrive(self) -> None:
        batch = []
        while self.queue and self.queue[0][0] <= self.now:
            _, _, to_host, data = heapq.heappop(self.queue)
            if to_host:
                batch.append(data)
            else:
                self.sim.inject(data, _PORT, LOOPBACK)
        if batch:
            self._deliver(batch)

    def _deliver(self, batch: list[bytes]) -> None:
        """As the UDP client does: replies, then the blocks, which are stored first, then the rest."""
        lengths = np.array([len(data) for data in batch], np.int64)
        offsets = np.cumsum(lengths) - lengths
        flat = np.frombuffer(b"".join(batch) + bytes(64), np.uint8)
        blocks = block_datagrams(flat, offsets, lengths)
        others = [data for data, is_block in zip(batch, blocks.tolist(), strict=True) if not is_block]
        replies = [data for data in others if data[6:7] == bytes([Channel.REPLY])]
        now = self.now * NS_A_TICK
        for data in replies:
            self.link.receive(data, now)
        which = np.flatnonzero(blocks)
        if len(which):
            scan = scan_blocks(flat, offsets[which], lengths[which])
            valid = scan.kind == 0
            for number in which[valid].tolist():
                self._store(batch[number])
            self.link.stored(scan.rows[valid], now)
        for data in others:
            if data not in replies:
                self.link.receive(data, now)

    def _store(self, data: bytes) -> None:
        block = decode_block(decode_datagram(data))
        key = (block.boot, block.run, block.sequence)
        known = self.stored.setdefault(key, block)
        assert known == block, "a block came again with another content"
        if known is block:
            self._check_block(block)

    # ---------------------------------------------------------------- what must hold

    def _check_block(self, block: Block) -> None:
        current = block.boot == self.link.boot and block.run == self.link.run
        for index, (event, arg, words, _) in enumerate(record_list(block), block.first_index):
            if event == USER_POINT and current and index in self.truth:
                assert arg == self.truth[index], "a record is not the one of its index"
            if event == MARK:
                self.marked[arg] += 1
                assert self.marked[arg] == 1, f"command {arg} was executed more than once"
            del words

    def _check_acknowledgement(self, data: bytes) -> None:
        """Only what is stored, or is told to be gone, is acknowledged."""
        datagram = decode_datagram(data)
        if datagram.header.channel != Channel.ACK:
            return
        ack = decode_ack(datagram.payload)
        for stream in ack.streams:
            self._check_stream(ack.run, stream)

    def _check_stream(self, run: int, ack: StreamAck) -> None:
        missing = {at for some in ack.missing for at in range(some.first, some.first + some.count)}
        state = self.link.states.get(ack.stream)
        held = state.held if state is not None else 0
        for at in range(ack.seen):
            told = at < ack.next or at not in missing
            have = (self.link.boot, run, at) in self.stored or at < held
            assert not told or have, f"block {at} is acknowledged and not stored"

    def delivered(self) -> int:
        """Records of the followed run in distinct stored blocks."""
        at = (self.link.boot, self.link.run)
        return sum(block.count for key, block in self.stored.items() if key[:2] == at)

    def check(self) -> None:
        """What holds at any time."""
        if self.link.run:
            assert self.link.delivered == self.delivered(), "a record is counted twice, or not at all"
        for number, pending in self.marks.items():
            assert self.marked[number] <= 1, f"command {number} was executed more than once"
            assert pending.tries <= len(BACK_OFF_MS) + 1 or pending.done

    def heal(self) -> None:
        """On a network that loses nothing the host finds the target, gets control and its answers."""
        self.weather = Weather()
        for _ in range(_HEAL_STEPS):
            self.step()
            if self.link.control in (Control.SILENT, Control.BUSY):
                self.link.connect(self.now * NS_A_TICK)
            found = self.link.control is Control.HELD and not self.link.lost and self.link.reboots == self.boots - 1
            if found and self._is_quiet():
                return
        raise AssertionError(f"stuck: {self.link.control}, lost {self.link.lost}, waiting {self._waiting()}")

    def _waiting(self) -> list[Pending]:
        return [pending for pending in (*self.marks.values(), self.starting) if pending and not pending.done]

    def _is_quiet(self) -> bool:
        return not self._waiting() and not self.queue

    def finish(self) -> None:
        """Heal, stop, and fetch the rest; then recorded = delivered + lost, and linear buffers lose nothing sent."""
        self.heal()
        if not self.link.run:
            return
        self.stop()
        for _ in range(_HEAL_STEPS):
            self.step()
            if self.link.drained and not self.sim.totals().busy:
                break
        else:
            raise AssertionError(f"not drained: {self.link.end}, {self.link.states}, {self.sim.totals()}")
        self._check_identity()

    def _check_identity(self) -> None:
        end = self.link.end
        assert end is not None
        state, totals = end.streams[0], self.sim.totals()
        assert state.recorded == totals.recorded
        at = (self.link.boot, self.link.run)
        blocks = [block for key, block in self.stored.items() if key[:2] == at]
        indices = [index for b in blocks for index in range(b.first_index, b.first_index + b.count)]
        assert len(indices) == len(set(indices)) == self.link.delivered, "a record is counted twice"
        in_transit = totals.recorded - len(indices) - totals.lost
        assert in_transit >= 0
        held = self.link.states[0].held
        sequences = {k[2] for k in self.stored if k[:2] == at}
        gone = [at for at in range(totals.blocks) if at not in sequences]
        assert all(at < held for at in gone), "a block is missing that the target has"
        if self.config_policy() is Policy.LINEAR:
            assert not gone, "the target gave away what was never stored"
            assert in_transit == 0

    def config_policy(self) -> Policy:
        """The buffers of the run."""
        reply = self.starting.reply if self.starting else None
        assert reply is not None
        assert reply.result == Result.OK
        assert isinstance(reply.body, Started)
        return Policy(reply.body.config.policy)
