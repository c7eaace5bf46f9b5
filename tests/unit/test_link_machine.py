# SPDX-License-Identifier: Apache-2.0
"""The host's state machine against a target that is written here by SPEC sections 5-7, over a network that loses,
duplicates and reorders. Time is a number, so hours pass in no time.
"""

from __future__ import annotations

import itertools
import random
from dataclasses import dataclass, field

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from vxmon.errors import WireError
from vxmon.link.machine import Control, HostLink
from vxmon.wire.block import encode_block, make_block
from vxmon.wire.bulk import scan_blocks
from vxmon.wire.control import decode_command, encode_reply
from vxmon.wire.datagram import decode_datagram, encode_datagram, split_message
from vxmon.wire.status import decode_ack, decode_host_heartbeat, encode_end, encode_target_heartbeat
from vxmon.wire.tables import encode_table
from vxmon.wire.types import (
    Ack,
    Bye,
    Channel,
    End,
    Filter,
    Header,
    Hello,
    HostHeartbeat,
    InfoRequest,
    Reply,
    Result,
    RunConfig,
    Scenario,
    Start,
    Started,
    Stop,
    StreamState,
    TargetHeartbeat,
    TargetInfo,
    Trigger,
)

MS = 1_000_000
RECORD = (33 << 22 | 7).to_bytes(4, "big") + bytes(4)


@dataclass
class ModelTarget:
    """One stream; a block holds ten records. ``executed`` are the request ids of commands carried out, in order."""

    boot: int = 5
    busy: bool = False
    deaf: bool = False
    run: int = 0
    running: bool = False
    blocks: int = 0
    held: int = 0
    executed: list[int] = field(default_factory=list)
    acks: list[Ack] = field(default_factory=list)
    heartbeats: list[HostHeartbeat] = field(default_factory=list)
    acknowledged: set[int] = field(default_factory=set)
    last: Reply | None = None
    config: RunConfig = field(default_factory=RunConfig)
    _sequence: int = 0

    def message(self, channel: Channel, payload: bytes) -> list[bytes]:
        self._sequence += 1
        return split_message(Header(channel, self.boot, self._sequence, message=self._sequence & 0xFFFF), payload, 512)

    def block(self, sequence: int) -> bytes:
        return encode_block(
            make_block([RECORD] * 10, 1, 1, boot=self.boot, run=self.run, sequence=sequence, first_index=10 * sequence)
        )

    def state(self) -> StreamState:
        return StreamState(0, 10 * self.blocks, 10 * self.blocks, 1, self.blocks, self.held)

    def heartbeat(self) -> list[bytes]:
        beat = TargetHeartbeat(1, 1000, "2.4", 0, 0, self.run, self.running, (self.state(),) if self.run else ())
        return self.message(Channel.HEARTBEAT, encode_target_heartbeat(beat))

    def take(self, data: bytes) -> list[bytes]:
        datagram = decode_datagram(data)
        if self.deaf or datagram.header.boot not in (0, self.boot):
            return []
        match datagram.header.channel:
            case Channel.COMMAND:
                return self._command(datagram.payload)
            case Channel.HEARTBEAT:
                self.heartbeats.append(decode_host_heartbeat(datagram.payload))
            case Channel.ACK:
                return self._ack(decode_ack(datagram.payload))
        return []

    def _ack(self, ack: Ack) -> list[bytes]:
        self.acks.append(ack)
        (stream,) = ack.streams
        missing = {n for r in stream.missing for n in range(r.first, min(r.first + r.count, self.blocks))}
        assert stream.next <= stream.seen <= self.blocks
        self.acknowledged |= {n for n in range(stream.seen) if n < stream.next or n not in missing}
        return [self.block(n) for n in sorted(missing) if n >= self.held][:50]

    def _command(self, payload: bytes) -> list[bytes]:
        command = decode_command(payload)
        if self.last is not None and self.last.request == command.request:
            return self.message(Channel.REPLY, encode_reply(self.last))
        if self.last is not None and command.request < self.last.request:
            return []  # overtaken by a later one
        body: TargetInfo | Started | End | None = None
        result = Result.OK
        match command.body:
            case Hello(0):
                return self.message(Channel.REPLY, encode_reply(Reply(command.request, Result.COOKIE, "", 77)))
            case Hello(77):
                result = Result.BUSY if self.busy else Result.OK
            case InfoRequest():
                body = TargetInfo(
                    "os", "2.4", "board", "1", 1000, True, boot=self.boot, offered=frozenset(range(1, 900))
                )
            case Start(RunConfig() as config):
                self.run, self.running, self.config, self.blocks, self.held = self.run + 1, True, config, 0, 0
                self.acknowledged.clear()
                body = Started(self.run, 1, config)
            case Stop():
                self.running = False
                body = End(self.run, 1, 0, (self.state(),))
        self.executed.append(command.request)
        self.last = Reply(command.request, result, "", body)
        return self.message(Channel.REPLY, encode_reply(self.last))


class Network:
    """Carries datagrams both ways with 1 ms of delay and the losses a test asks for."""

    def __init__(self, target: ModelTarget, seed: int = 0, lose: float = 0.0, repeat: float = 0.0, shuffle: int = 0):
        self.target, self.link, self.now = target, HostLink(1000, 0), 0
        self.rng, self.lose, self.repeat, self.shuffle = random.Random(seed), lose, repeat, shuffle
        self.cut = False
        self.queue: list[tuple[int, int, bool, bytes]] = []
        self.to_target: list[bytes] = []
        self._count = 0
        self._next_beat = 0

    def carry(self, data: bytes, *, to_host: bool) -> None:
        for _ in range(1 + (self.rng.random() < self.repeat)):
            if self.cut or self.rng.random() < self.lose:
                continue
            self._count += 1
            delay = 1 + self.rng.randrange(self.shuffle + 1)
            self.queue.append((self.now // MS + delay, self._count, to_host, data))

    def tick(self) -> None:
        """One ms."""
        self.now += MS
        if self.target.executed and self.now >= self._next_beat:
            self._next_beat = self.now + 1000 * MS
            for data in self.target.heartbeat():
                self.carry(data, to_host=True)
        due = sorted(entry for entry in self.queue if entry[0] <= self.now // MS)
        self.queue = [entry for entry in self.queue if entry[0] > self.now // MS]
        for _, _, to_host, data in due:
            if to_host:
                self.deliver(data)
            else:
                for answer in self.target.take(data):
                    self.carry(answer, to_host=True)
        for data in self.link.poll(self.now):
            self.to_target.append(data)
            self.carry(data, to_host=False)

    def deliver(self, data: bytes) -> None:
        if data[6] == Channel.BLOCK:
            scan = scan_blocks(np.frombuffer(data, np.uint8), np.array([0]), np.array([len(data)]))
            self.link.stored(scan.rows[scan.kind == 0], self.now)
        else:
            self.link.receive(data, self.now)

    def go(self, ms: int) -> None:
        for _ in range(ms):
            self.tick()

    def produce(self, blocks: int) -> None:
        for _ in range(blocks):
            self.target.blocks += 1
            self.carry(self.target.block(self.target.blocks - 1), to_host=True)

    def connect(self) -> None:
        self.link.connect(self.now)
        self.go(6000 if self.lose else 30 + 10 * self.shuffle)
        assert self.link.control is Control.HELD

    def start(self, *, one_way: bool = False) -> None:
        pending = self.link.request(Start(RunConfig(one_way=one_way)), self.now)
        while not pending.done:
            self.tick()
        assert pending.reply is not None
        assert self.link.run == self.target.run


def connected() -> Network:
    network = Network(ModelTarget())
    network.connect()
    return network


def test_the_handshake_shows_the_cookie_and_is_no_shorter_than_its_answer() -> None:
    network = Network(ModelTarget())
    network.connect()
    commands = [decode_command(decode_datagram(d).payload) for d in network.to_target[:2]]
    assert [c.body.cookie for c in commands if isinstance(c.body, Hello)] == [0, 77]
    answer = ModelTarget().message(Channel.REPLY, encode_reply(Reply(1000, Result.COOKIE, "", 77)))
    assert len(network.to_target[0]) >= len(answer[0])


def test_a_busy_target_is_told() -> None:
    network = Network(ModelTarget(busy=True))
    network.link.connect(0)
    network.go(30)
    assert network.link.control is Control.BUSY


def test_a_silent_target_is_told_after_the_last_try() -> None:
    network = Network(ModelTarget(deaf=True))
    network.link.connect(0)
    states = []
    for _ in range(47):
        network.go(100)
        states.append(network.link.control)
    assert states == [Control.ASKING] * 46 + [Control.SILENT]


@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32), lose=st.floats(0, 0.4), repeat=st.floats(0, 0.3), shuffle=st.integers(0, 300))
def test_commands_are_carried_out_at_most_once_and_in_order(
    seed: int, lose: float, repeat: float, shuffle: int
) -> None:
    network = Network(ModelTarget(), seed, lose, repeat, shuffle)
    pendings = [network.link.request(body, 0) for body in (InfoRequest(), Trigger(1), Filter(3, True), Scenario("x"))]
    for _ in range(20_000):
        network.tick()
        if all(p.done for p in pendings):
            break
    answered = [p.command.request for p in pendings if p.reply is not None]
    executed = network.target.executed
    assert executed == sorted(set(executed))
    assert set(answered) <= set(executed)
    assert all(p.done for p in pendings)


@settings(max_examples=20, deadline=None)
@given(seed=st.integers(0, 2**32), lose=st.floats(0, 0.3), repeat=st.floats(0, 0.2), shuffle=st.integers(0, 30))
def test_all_blocks_arrive_over_a_bad_network(seed: int, lose: float, repeat: float, shuffle: int) -> None:
    network = Network(ModelTarget(), seed, 0, repeat, shuffle)
    network.connect()
    network.start()
    network.lose = lose
    for _ in range(40):
        network.produce(network.rng.randrange(8))
        network.go(network.rng.randrange(30))
    pending = network.link.request(Stop(), network.now)
    for _ in range(60_000):
        network.tick()
        if pending.done and network.link.drained:
            break
    assert pending.reply is not None
    assert network.link.drained
    assert network.link.delivered == 10 * network.target.blocks
    assert network.link.blocks == network.target.blocks
    assert network.target.acknowledged <= set(range(network.target.blocks))


def test_acknowledgements_keep_their_pace() -> None:
    """At most one each 20 ms, at least one each 200 ms while blocks arrive, none when nothing happens."""
    network = connected()
    network.start()
    times = []
    for _ in range(500):
        network.produce(1)
        before = len(network.target.acks)
        network.tick()
        times += [network.now] * (len(network.target.acks) - before)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert min(gaps) >= 20 * MS
    assert max(gaps) <= 200 * MS
    network.go(500)
    count = len(network.target.acks)
    network.go(2000)
    assert len(network.target.acks) == count


def test_many_blocks_are_acknowledged_sooner() -> None:
    """Each 5 ms after 512 of them, so that a target that may send 1,024 without an acknowledgement need not wait."""
    network = connected()
    network.start()
    times = []
    for _ in range(60):
        network.produce(200)
        before = len(network.target.acks)
        network.tick()
        times += [network.now] * (len(network.target.acks) - before)
    gaps = [b - a for a, b in itertools.pairwise(times)]
    assert 5 * MS <= min(gaps) <= max(gaps) <= 6 * MS


def test_a_lost_tail_is_asked_for_when_the_heartbeat_tells_of_it() -> None:
    network = connected()
    network.start()
    network.lose = 1.0
    network.produce(7)
    network.lose = 0.0
    network.go(1500)
    assert network.link.blocks == 7


def test_what_the_target_no_longer_has_is_never_asked_for() -> None:
    network = connected()
    network.start()
    network.produce(5)
    network.go(50)
    network.lose = 1.0
    network.produce(20)
    network.lose = 0.0
    network.target.held = 18
    network.go(3000)
    assert {r.first for a in network.target.acks for s in a.streams for r in s.missing if r.first + r.count > 18} <= {
        18,
        5,
    }
    assert network.link.blocks == 5 + 7
    assert network.link.trackers[0].gone.ranges == [(5, 18)]
    network.link.request(Stop(), network.now)
    network.go(100)
    assert network.link.drained


def test_one_way_runs_are_never_acknowledged() -> None:
    network = connected()
    network.start(one_way=True)
    network.produce(10)
    network.go(3000)
    assert network.target.acks == []
    assert network.link.blocks == 10
    network.link.request(Stop(), network.now)
    network.lose = 1.0
    network.produce(1)
    network.lose = 0.0
    network.go(50)
    for data in network.target.message(Channel.END, encode_end(End(1, 1, 0, (network.target.state(),)))):
        network.deliver(data)
    assert network.link.drained


def test_a_heartbeat_goes_out_each_second() -> None:
    network = connected()
    network.go(10_000)
    assert len(network.target.heartbeats) in (10, 11)


def test_a_lost_link_is_told_once_and_recovers_by_itself() -> None:
    network = connected()
    network.start()
    network.produce(3)
    network.go(20)
    network.cut = True
    network.produce(4)
    network.go(10_000)
    assert network.link.lost, network.link.notes
    assert [n for n in network.link.notes if "has not been heard" in n] == ["the target has not been heard for 3 s"]
    network.cut = False
    network.go(3000)
    assert network.link.control is Control.HELD
    assert network.link.blocks == 7, "what was cut meanwhile is fetched"
    assert "the target is heard again" in network.link.notes


def test_a_reboot_is_told_and_the_host_asks_for_control_again() -> None:
    network = connected()
    network.start()
    network.produce(3)
    network.go(30)
    late = network.target.block(0)
    network.target = ModelTarget(boot=6, run=0)
    for data in network.target.message(Channel.TABLE, encode_table(TargetInfo(boot=6))):
        network.carry(data, to_host=True)
    network.go(100)
    assert network.link.reboots == 1
    assert any("was restarted (boot 00000005, now 00000006)" in note for note in network.link.notes)
    assert (network.link.control, network.link.run, network.link.boot) == (Control.HELD, 0, 6)
    network.deliver(late)
    assert network.link.reboots == 1, "a datagram of the old boot that was late"
    network.start()
    assert network.link.run == network.target.run == 1
    network.target.blocks = 1
    both = [network.target.block(0), late]
    sizes = np.array([len(data) for data in both])
    scan = scan_blocks(np.frombuffer(b"".join(both), np.uint8), np.cumsum(sizes) - sizes, sizes)
    network.link.stored(scan.rows, network.now)
    assert network.link.blocks == 1, "a late block of the old boot hides none of the new one"


def test_a_restarted_target_that_says_nothing_is_found() -> None:
    """It knows no host any more, so it is silent until it is greeted."""
    network = connected()
    network.start()
    network.target = ModelTarget(boot=6)
    network._next_beat = 1 << 62
    network.go(4000)
    assert network.link.reboots == 1
    assert (network.link.control, network.link.run, network.link.boot) == (Control.HELD, 0, 6)


def test_pending_commands_end_with_the_boot() -> None:
    network = connected()
    network.target.deaf = True
    pending = network.link.request(InfoRequest(), network.now)
    network.go(10)
    network.target = ModelTarget(boot=6)
    network.deliver(network.target.block(0))
    assert pending.failure == "the target was restarted"


def test_blocks_of_another_run_are_not_acknowledged() -> None:
    network = connected()
    network.start()
    network.deliver(encode_block(make_block([RECORD], 1, 1, boot=5, run=99, sequence=0)))
    network.go(500)
    assert network.target.acks == []
    assert network.link.blocks == 0


@settings(max_examples=300, deadline=None)
@given(data=st.binary(max_size=200), channel=st.integers(0, 9), boot=st.integers(0, 9), valid=st.booleans())
def test_nothing_that_arrives_does_harm(data: bytes, channel: int, boot: int, valid: bool) -> None:
    link = HostLink(1, 0)
    link.connect(0)
    link.poll(0)
    if valid:
        try:
            data = encode_datagram(Header(channel, boot, 1), data)
        except WireError:
            assume(False)
    link.receive(data, 1)
    link.poll(2)


def test_goodbye_ends_heartbeats_and_acknowledgements() -> None:
    network = connected()
    network.start()
    pending = network.link.bye(network.now)
    network.go(20)
    assert pending.reply is not None
    beats = len(network.target.heartbeats)
    network.produce(3)
    network.go(3000)
    assert len(network.target.heartbeats) == beats
    assert isinstance(decode_command(pending.payload).body, Bye)
