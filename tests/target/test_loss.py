# SPDX-License-Identifier: Apache-2.0
"""Loss is exact: whatever happens to buffers and datagrams, every record is delivered or counted by cause.

The truth is the test's own list of everything it recorded. Records that the agent makes of its own (START,
SNAPSHOT, LINK, STOP) come only while it works, so their places in the list follow from its counter, which is
compared with the length of the list before each step.
"""

from __future__ import annotations

import os
import random
from dataclasses import dataclass, field, replace

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.support.records import record_list
from tests.support.sim import SimHost, Simulation
from vxmon.errors import WireError
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.status import decode_target_heartbeat, encode_ack, encode_host_heartbeat
from vxmon.wire.types import (
    Ack,
    Block,
    Channel,
    Datagram,
    End,
    HostHeartbeat,
    Losses,
    Policy,
    Range,
    Result,
    RunConfig,
    Start,
    Started,
    Stop,
    StreamAck,
)

HZ = 1_000_000
MS = HZ // 1000
# Words of the records that the test makes, by event; 300 is no event of the table, so it is never on.
USER_POINT, USER, USER_TEXT, RELEASE, DEADLINE = 256, 257, 258, 65, 67
EVENTS = frozenset({USER_POINT, USER, USER_TEXT, RELEASE, DEADLINE})
FIRST_OWN_EVENT = 32
SIZES = {USER_POINT: (0,), USER: (2,), DEADLINE: (4,), RELEASE: (6,), USER_TEXT: (2, 8, 16)}


@dataclass(frozen=True)
class Truth:
    """A record that the test made."""

    event: int
    arg: int
    words: tuple[int, ...]
    time: int


@dataclass
class Impairment:
    """What the network does to datagrams of either direction, in percent."""

    drop: int
    duplicate: int
    delay: int
    corrupt: int


@dataclass
class Bench:
    """A target, the network and a host that acknowledges; the truth beside them."""

    sim: Simulation
    host: SimHost
    network: Impairment
    chance: random.Random
    now: int = 0
    truth: list[Truth | None] = field(default_factory=list)  # None: made by the agent
    tapped: dict[int, bytes] = field(default_factory=dict)  # each block as it was sent first
    stored: dict[int, Block] = field(default_factory=dict)
    delayed: list[bytes] = field(default_factory=list)
    cut: int = 0  # blocks, as the target's heartbeat says
    held: int = 0
    serial: int = 0

    def invent(self, event: int, size: int) -> Truth:
        self.serial += 1
        words = tuple((self.serial * 0x9E3779B1 + i) & 0xFFFFFFFF for i in range(size))
        return Truth(event, self.serial & 0xFFFF, words, self.now)

    def record(self, event: int, size: int) -> None:
        made = self.invent(event, size)
        self.sim.record(event, made.arg, made.words)
        self.truth.append(made)

    def advance(self, ticks: int) -> None:
        self.now += ticks
        self.sim.clock(self.now)

    def work(self, ticks: int) -> None:
        """One agent step of so many datagrams; what the agent records of its own is added to the truth."""
        assert self.sim.totals().recorded == len(self.truth)
        self.sim.step(ticks)
        self.truth += [None] * (self.sim.totals().recorded - len(self.truth))
        self.advance(ticks + 100)
        self.exchange()

    def work_interrupted(self, ticks: int, nth: int) -> None:
        """The same while interrupts record, from the nth end of a masked section on."""
        before = len(self.truth)
        assert self.sim.totals().recorded == before
        made = []
        together = self.chance.choice([1, 8, 60])
        for at in range(self.chance.randrange(1, 60)):
            event = self.chance.choice([USER_POINT, USER_TEXT])
            made.append(self.invent(event, max(SIZES[event])))
            self.sim.interrupt(nth + at // together, event, made[-1].arg, made[-1].words)
        self.sim.step(ticks)
        fired = self.sim.fired()
        self.truth += [None] * (self.sim.totals().recorded - before)
        for (index, time), record in zip(fired, made, strict=False):
            self.truth[index] = replace(record, time=time)
        self.advance(ticks + 100)
        self.exchange()

    def exchange(self) -> None:
        """Datagrams of the target go through the network to the host."""
        arriving = self.delayed
        self.delayed = []
        for sent in self.sim.sent():
            datagram = decode_datagram(sent.data)
            self.tap(datagram, sent.data)
            arriving += self.impair(sent.data)
        for data in arriving:
            self.receive(data)

    def tap(self, datagram: Datagram, data: bytes) -> None:
        if datagram.header.channel == Channel.BLOCK:
            sequence = decode_block(datagram).sequence
            assert self.tapped.setdefault(sequence, data) == data, "a block was sent again with other bytes"

    def impair(self, data: bytes) -> list[bytes]:
        network, chance = self.network, self.chance
        if chance.randrange(100) < network.drop:
            return []
        if chance.randrange(100) < network.corrupt:
            at = chance.randrange(len(data))
            data = data[:at] + bytes([data[at] ^ 1 << chance.randrange(8)]) + data[at + 1 :]
        if chance.randrange(100) < network.delay:
            self.delayed.append(data)
            return []
        return [data, data] if chance.randrange(100) < network.duplicate else [data]

    def receive(self, data: bytes) -> None:
        try:
            datagram = decode_datagram(data)
            if datagram.header.channel == Channel.BLOCK:
                block = decode_block(datagram)
                self.stored.setdefault(block.sequence, block)
            elif datagram.header.channel == Channel.HEARTBEAT:
                self.take_heartbeat(datagram)
        except WireError:
            return

    def take_heartbeat(self, datagram: Datagram) -> None:
        beat = decode_target_heartbeat(datagram.payload)
        if beat.streams:
            self.cut = max(self.cut, beat.streams[0].blocks)
            self.held = max(self.held, beat.streams[0].held)
            state = beat.streams[0]
            assert state.recorded <= len(self.truth)
            assert state.cut_index <= state.recorded

    def answer(self) -> None:
        """The host's acknowledgement and heartbeat, through the same network."""
        boot = self.host.received[0].header.boot
        for channel, payload in (
            (Channel.ACK, encode_ack(Ack(1, (self.acknowledgement(),)))),
            (Channel.HEARTBEAT, encode_host_heartbeat(HostHeartbeat(self.now))),
        ):
            data = self.host.send(channel, payload, boot)
            if self.chance.randrange(100) < self.network.duplicate:
                self.sim.inject(data, self.host.port)

    def acknowledgement(self) -> StreamAck:
        """SPEC section 6: blocks below held are gone, up to 16 missing ranges, then seen is lowered."""
        top = max(max(self.stored, default=-1) + 1, self.cut)
        missing = [at for at in range(self.held, top) if at not in self.stored]
        ranges: list[Range] = []
        for at in missing:
            if ranges and ranges[-1].first + ranges[-1].count == at:
                ranges[-1] = Range(ranges[-1].first, ranges[-1].count + 1)
            else:
                ranges.append(Range(at, 1))
        first = missing[0] if missing else top
        seen = max(self.stored, default=-1) + 1
        if len(ranges) > 16:
            seen = min(seen, ranges[16].first)
            ranges = ranges[:16]
        first = min(first, max(seen, self.held))
        return StreamAck(0, first, max(seen, first), tuple(ranges))

    # ---------------------------------------------------------------- checks

    def check_contents(self, blocks: list[Block]) -> None:
        """Every record of every block is the one that has its index, with its time."""
        for block in blocks:
            for index, found in enumerate(record_list(block), block.first_index):
                made = self.truth[index]
                event, arg, words, time = found
                if made is None:
                    assert event < FIRST_OWN_EVENT
                else:
                    assert (event, arg, words, time) == (made.event, made.arg, made.words, made.time)
            assert record_list(block)[-1][3] == block.last_time

    def check_gaps(self, end: Losses) -> None:
        """Between blocks that were cut one after the other only counted losses lie, and nothing else."""
        blocks = [decode_block(decode_datagram(self.tapped[at])) for at in range(len(self.tapped))]
        index, losses = 0, Losses()
        for block in blocks:
            assert block.first_index - index == block.losses.total - losses.total
            assert block.losses.overwritten >= losses.overwritten
            assert block.losses.full >= losses.full
            assert block.losses.exhausted >= losses.exhausted
            index, losses = block.first_index + block.count, block.losses
        assert len(self.truth) - index == end.total - losses.total


@dataclass(frozen=True)
class Plan:
    """A run."""

    config: RunConfig
    actions: tuple[tuple[str, int], ...]
    network: Impairment
    seed: int
    clock: int


CONFIGS = st.builds(
    RunConfig,
    events=st.just(EVENTS),
    datagram_bytes=st.sampled_from([512, 513, 700, 1400, 1472]),
    unit_slots=st.sampled_from([128, 129, 200, 512, 1000]),
    units=st.integers(2, 6),
    policy=st.sampled_from(Policy),
    high_water=st.sampled_from([1, 50, 70, 100]),
    flush_ms=st.sampled_from([1, 20, 100]),
    one_way=st.booleans(),
    no_upload=st.sampled_from([False, False, False, True]),
)
ACTIONS = st.lists(
    st.one_of(
        st.tuples(st.just("burst"), st.integers(1, 400)),
        st.tuples(st.just("advance"), st.integers(1, 200 * MS)),
        st.tuples(st.just("silence"), st.integers(1, 5)),
        st.tuples(st.just("work"), st.integers(1, 40)),
        st.tuples(st.just("stall"), st.integers(0, 3)),
        st.tuples(st.just("interrupt"), st.integers(1, 60)),
        st.tuples(st.just("answer"), st.just(0)),
    ),
    min_size=3,
    max_size=40,
).map(tuple)
RATES = st.sampled_from([0, 0, 5, 30])
PLANS = st.builds(
    Plan,
    config=CONFIGS,
    actions=ACTIONS,
    network=st.builds(Impairment, drop=RATES, duplicate=RATES, delay=RATES, corrupt=RATES),
    seed=st.integers(0, 2**32),
    clock=st.sampled_from([0, 2**32 - 50, 2**33 - 1_000_000, 2**48]),
)


def burst(bench: Bench, count: int) -> None:
    for _ in range(count):
        event = bench.chance.choice(sorted(EVENTS))
        bench.record(event, bench.chance.choice(SIZES[event]))
        if bench.chance.randrange(4) == 0:
            bench.advance(bench.chance.randrange(50))


def silence(bench: Bench, quarters: int) -> None:
    """Long silence: the window hook is called, as it is in each window, and nothing is recorded."""
    for _ in range(quarters):
        bench.advance(2**30 - 1)
        bench.sim.tell("age")


def act(bench: Bench, action: str, amount: int) -> None:
    match action:
        case "burst":
            burst(bench, amount)
        case "advance":
            bench.advance(amount)
        case "silence":
            silence(bench, amount)
        case "work":
            bench.work(amount)
        case "stall":
            bench.sim.network(amount)
            bench.work(10)
            bench.sim.network(-1)
        case "interrupt":
            bench.work_interrupted(20, amount)
        case _:
            bench.answer()


def start(plan: Plan, sim: Simulation) -> Bench:
    host = SimHost(sim)
    assert sim.init(hz=HZ, clock=plan.clock, arena=1 << 16, cost=1) == 0
    assert host.hello().result == Result.OK
    reply = host.ask(Start(plan.config))
    assert reply.result == Result.OK, reply.text
    assert isinstance(reply.body, Started)
    bench = Bench(sim, host, plan.network, random.Random(plan.seed), plan.clock + HZ // 10)
    sim.clock(bench.now)
    bench.truth = [None] * sim.totals().recorded
    for data in host.raw:
        bench.tap(decode_datagram(data), data)
        bench.receive(data)
    return bench


def finish(bench: Bench, plan: Plan) -> End:
    """Stop, on a network that loses nothing any more, until all is uploaded."""
    bench.network = Impairment(0, 0, 0, 0)
    reply = bench.host.ask(Stop())
    assert isinstance(reply.body, End)
    end = reply.body
    bench.truth += [None] * (end.streams[0].recorded - len(bench.truth))
    for data in bench.host.raw:
        bench.tap(decode_datagram(data), data)
        bench.receive(data)
    for _ in range(500):
        if not bench.sim.totals().busy:
            break
        bench.work(1000)
        bench.advance(30 * MS)
        bench.answer()
    assert not bench.sim.totals().busy
    bench.exchange()
    return end


@settings(
    max_examples=int(os.environ.get("VXMON_EXAMPLES", "60")), deadline=None, suppress_health_check=list(HealthCheck)
)
@given(PLANS)
def test_every_record_is_delivered_or_counted_by_cause(plan: Plan) -> None:
    with Simulation() as sim:
        bench = start(plan, sim)
        for action, amount in plan.actions:
            act(bench, action, amount)
        end = finish(bench, plan).streams[0]
        assert end.recorded == len(bench.truth)
        bench.check_contents([decode_block(decode_datagram(data)) for data in bench.tapped.values()])
        bench.check_contents(list(bench.stored.values()))
        bench.check_gaps(end.losses)
        not_stored = sorted(set(bench.tapped) - set(bench.stored))
        in_transit = sum(decode_block(decode_datagram(bench.tapped[at])).count for at in not_stored)
        delivered = sum(block.count for block in bench.stored.values())
        assert end.recorded == delivered + end.losses.total + in_transit
        check_causes(plan, bench, end.losses, not_stored)


def check_causes(plan: Plan, bench: Bench, losses: Losses, not_stored: list[int]) -> None:
    if plan.config.policy == Policy.LINEAR:
        assert losses.overwritten == losses.exhausted == 0
    else:
        assert losses.full == 0
    if all(action != "interrupt" for action, _ in plan.actions):
        assert losses.exhausted == 0, "units are only read while the agent works"
    if plan.config.one_way:
        return
    if plan.config.policy == Policy.LINEAR:
        assert not_stored == []
    assert all(at < bench.held for at in not_stored), "a block is missing that the target says it holds"
