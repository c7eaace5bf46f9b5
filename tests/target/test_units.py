# SPDX-License-Identifier: Apache-2.0
"""Units at their edges. What must be lost follows from a model of units in this file, record by record."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.records import record_list
from tests.support.sim import Sent, SimHost, Simulation
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.status import decode_target_heartbeat, encode_ack
from vxmon.wire.types import Ack, Block, Channel, Range, RunConfig, Start, StreamAck

HZ = 1_000_000
USER_POINT, USER, USER_TEXT = 256, 257, 258
START, SNAPSHOT, STOP, TIME, EXCEPTION = 1, 6, 2, 4, 98
PORT = 4000
LARGEST_SLOTS = 9
# START and SNAPSHOT begin, one data slot each; STOP has none.
FIRST_SLOTS = [2, 2]
LAST_SLOTS = [1]
EVENT_OF_SLOTS = {1: USER_POINT, 2: USER}


@dataclass
class Model:
    """Units without an agent that empties them: closed when the largest record does not fit any more."""

    slots: int
    units: int
    ring: bool
    counts: list[int] = field(default_factory=list)  # records of each unit, oldest first
    used: int = 0  # slots of the last one
    open: bool = False
    overwritten: int = 0
    full: int = 0

    def record(self, slots: int) -> None:
        if not self.open and not self.take():
            self.full += 1
            return
        self.counts[-1] += 1
        self.used += slots
        self.open = self.used <= self.slots - LARGEST_SLOTS

    def take(self) -> bool:
        if len(self.counts) == self.units:
            if not self.ring:
                return False
            self.overwritten += self.counts.pop(0)
        self.counts.append(0)
        self.used = 0
        self.open = True
        return True


def blocks_of(sent: list[Sent]) -> list[Block]:
    datagrams = [decode_datagram(one.data) for one in sent]
    return [decode_block(datagram) for datagram in datagrams if datagram.header.channel == Channel.BLOCK]


def drain(sim: Simulation) -> list[Block]:
    """Lets a one-way target send all it has."""
    found = []
    for _ in range(1000):
        if not sim.totals().busy:
            break
        sim.step(1000)
        sim.advance(HZ // 50)
        found += blocks_of(sim.sent())
    assert not sim.totals().busy
    return found


def record_slots(sim: Simulation, slots: int, arg: int) -> None:
    event = EVENT_OF_SLOTS.get(slots, USER_TEXT)
    sim.record(event, arg, [arg] * (2 * (slots - 1)))


@settings(max_examples=50, deadline=None)
@given(
    slots=st.sampled_from([128, 129, 137, 300]),
    units=st.integers(2, 5),
    ring=st.booleans(),
    sizes=st.lists(st.integers(1, LARGEST_SLOTS), max_size=600),
)
def test_what_a_ring_overwrites_and_a_linear_buffer_refuses(
    slots: int, units: int, ring: bool, sizes: list[int]
) -> None:
    model = Model(slots, units, ring)
    for size in FIRST_SLOTS + sizes + LAST_SLOTS:
        model.record(size)
    with Simulation() as sim:
        assert (
            sim.init(hz=HZ, autostart=PORT, one_way=1, no_upload=1, unit_slots=slots, units=units, policy=not ring) == 0
        )
        for at, size in enumerate(sizes):
            record_slots(sim, size, at & 0xFFFF)
        assert sim.stop(0) == 0
        totals = sim.totals()
        assert (totals.recorded, totals.overwritten) == (len(sizes) + 3, model.overwritten)
        assert (totals.full, totals.exhausted) == (model.full, 0)
        blocks = drain(sim)
        assert sum(block.count for block in blocks) == totals.recorded - totals.lost
        assert blocks[0].first_index == model.overwritten


def test_the_largest_record_fills_a_unit_exactly() -> None:
    with Simulation() as sim:
        assert sim.init(hz=HZ, autostart=PORT, one_way=1, no_upload=1, unit_slots=128, units=2) == 0
        for at in range(128 - LARGEST_SLOTS - sum(FIRST_SLOTS)):
            sim.record(USER_POINT, at)
        record_slots(sim, LARGEST_SLOTS, 7)
        record_slots(sim, LARGEST_SLOTS, 8)
        sim.stop(0)
        blocks = drain(sim)
        assert len(blocks[0].slots) == 128 * 8
        assert record_list(blocks[0])[-1][:2] == (USER_TEXT, 7)
        assert record_list(blocks[1])[0][:2] == (USER_TEXT, 8)


def test_a_unit_that_is_being_read_is_not_overwritten() -> None:
    """Interrupts store two units' worth of records at each place where the agent lets them in."""
    exhausted = 0
    for nth in range(1, 30):
        with Simulation() as sim:
            assert sim.init(hz=HZ, autostart=PORT, one_way=1, unit_slots=128, units=2, datagram_bytes=512) == 0
            for at in range(100):
                sim.record(USER, at, [at, 0])
            for at in range(50):
                sim.interrupt(nth, USER_TEXT, at, [at] * 16)
            sim.step(20)
            assert len(sim.fired()) in {0, 50}
            exhausted += sim.totals().exhausted
            sim.stop(0)
            totals = sim.totals()
            blocks = blocks_of(sim.sent()) + drain(sim)
            assert totals.recorded == totals.lost + sum(block.count for block in blocks)
            index = 0
            for block in blocks:
                assert block.first_index - index >= 0
                index = block.first_index + block.count
            assert index == totals.recorded
    assert exhausted > 0, "no interrupt came while a unit was being read"


@pytest.mark.parametrize("start", [0, 2**32 - 5_000, 2**40 - 1])
def test_times_are_64_bits_across_wraps_and_long_silence(start: int) -> None:
    """One record each quarter of a wrap, and twice a silence of more than half a wrap; windows go on."""
    now, times = start, []
    with Simulation() as sim:
        assert sim.init(hz=HZ, clock=start, autostart=PORT, one_way=1) == 0
        blocks = []
        for at in range(40):
            for _ in range(9 if at % 20 == 10 else 1):
                now += 2**30 - 1
                sim.clock(now)
                sim.tell("age")
            sim.record(USER_POINT, at)
            times.append(now)
            if at % 3 == 0:
                sim.step(50)
                blocks += blocks_of(sim.sent())
                now += 50
                sim.clock(now)
        sim.stop(0)
        blocks += drain(sim)
    records = [record for block in blocks for record in record_list(block)]
    assert [time for event, _, _, time in records if event == USER_POINT] == times
    rollovers = [words for event, _, words, _ in records if event == TIME]
    assert len(rollovers) == (now >> 32) - (start >> 32)


def test_a_young_unit_survives_the_age_check() -> None:
    with Simulation() as sim:
        sim.init(hz=HZ, autostart=PORT, one_way=1, no_upload=1)
        sim.record(USER_POINT, 1)
        sim.advance(2**30 - 1)
        sim.tell("age")
        sim.record(USER_POINT, 2)
        sim.advance(1)
        sim.tell("age")
        sim.record(USER_POINT, 3)
        sim.stop(0)
        counts = [[arg for event, arg, _, _ in record_list(block) if event == USER_POINT] for block in drain(sim)]
    assert counts == [[1, 2], [3]]


def test_context_of_a_block_is_that_before_its_first_record() -> None:
    with Simulation() as sim:
        sim.init(hz=HZ, autostart=PORT, one_way=1, no_upload=1, unit_slots=256, units=8, datagram_bytes=512)
        expected = (0, 0, 0xFFFF, 0)
        contexts = {}
        for at in range(200):
            sim.advance(10)
            contexts[2 + at] = expected
            partition, window, task, depth = expected
            match at % 5:
                case 0:
                    sim.tell(f"window {at}")
                    expected = (partition, at, task, depth)
                case 1:
                    sim.tell(f"partition {at % 7}")
                    expected = (at % 7, window, task, depth)
                case 2:
                    sim.tell(f"task {at} 1 {task}")
                    expected = (partition, window, at, depth)
                case 3:
                    sim.tell("enter 5")
                    expected = (partition, window, task, depth + 1)
                case _:
                    sim.tell("exit 5")
                    expected = (partition, window, task, depth - 1)
        sim.stop(0)
        blocks = drain(sim)
    assert len(blocks) > 5
    for block in blocks[1:]:
        found = block.context
        assert (found.partition, found.window, found.task, found.depth) == contexts[block.first_index]


def test_context_that_no_record_tells_is_not_known_inside_a_unit() -> None:
    """Windows and tasks are not recorded: the hooks know them where a unit begins, nobody does behind that."""
    with Simulation() as sim:
        sim.init(hz=HZ)
        host = SimHost(sim)
        host.hello()
        config = RunConfig(events=frozenset({USER_POINT, 34}), unit_slots=256, one_way=True, datagram_bytes=512)
        host.ask(Start(config))
        sim.tell("window 9")
        sim.tell("task 5 1 4")
        sim.tell("partition 3")
        for at in range(600):
            sim.record(USER_POINT, at)
        sim.stop(0)
        blocks = [decode_block(datagram) for datagram in host.of(Channel.BLOCK)] + drain(sim)
    assert len(blocks) > 8
    for block in blocks[1:]:
        context = block.context
        inside = block.losses == blocks[0].losses and (context.window, context.task) == (0xFFFF, 0xFFFF)
        assert context.partition == 3 or block.first_index < 10
        assert inside or (context.window, context.task) == (9, 5) or block.first_index < 10
    assert any(block.context.window == 0xFFFF for block in blocks)
    assert any(block.context.window == 9 for block in blocks)


def gone_or_sent_again(sim: Simulation, host: SimHost) -> bool:
    """Asks for all blocks once more; true when each was sent again or lies below `held`."""
    host.collect()
    blocks = {decode_block(datagram).sequence for datagram in host.of(Channel.BLOCK)}
    top = max(blocks) + 1
    for _ in range(3):
        sim.advance(HZ // 20)
        host.received = host.received[:1]
        ack = Ack(1, (StreamAck(0, 0, top, (Range(0, top),)),))
        host.send(Channel.ACK, encode_ack(ack), host.received[0].header.boot)
        sim.step(100_000)
        sim.advance(HZ)
        sim.step(100_000)
        host.collect()
        again = {decode_block(datagram).sequence for datagram in host.of(Channel.BLOCK)}
        held = decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload).streams[0].held
        if all(block in again or block < held for block in range(top)):
            return True
    return False


def test_a_gap_among_the_kept_units_is_told() -> None:
    """While the oldest unit is read for a resend, interrupts overwrite the one behind it."""
    gaps = 0
    for nth in range(1, 20):
        with Simulation() as sim:
            sim.init(hz=HZ, arena=1 << 14, cost=0)
            host = SimHost(sim)
            host.hello()
            host.ask(Start(RunConfig(events=frozenset({USER_POINT, USER_TEXT}), unit_slots=128, units=4)))
            for at in range(330):
                sim.record(USER_POINT, at)
            sim.advance(HZ // 5)
            sim.step(100_000)
            sim.advance(HZ // 20)
            host.collect()
            top = len(host.of(Channel.BLOCK))
            ack = Ack(1, (StreamAck(0, 0, top, (Range(0, top),)),))
            host.send(Channel.ACK, encode_ack(ack), host.received[0].header.boot)
            for at in range(40):
                sim.interrupt(nth, USER_TEXT, at, [at] * 16)
            sim.step(100_000)
            sim.fired()
            assert gone_or_sent_again(sim, host), f"interrupts at {nth}"
            again = [decode_block(datagram).sequence for datagram in host.of(Channel.BLOCK)]
            gaps += 0 in again and 1 not in again
    assert gaps > 0, "no interrupt came while the oldest unit was read again"


def test_exceptions_that_the_mask_does_not_stop_wait_for_the_window() -> None:
    """Four are kept, the fifth and sixth are counted as lost, in their place."""
    with Simulation() as sim:
        sim.init(hz=HZ, autostart=PORT, one_way=1, no_upload=1)
        sim.record(USER_POINT, 1)
        for at in range(6):
            sim.tell(f"exception {at} 17 {at + 100} 4096")
        assert sim.totals().recorded == 3
        sim.tell("window 3")
        sim.record(USER_POINT, 2)
        sim.stop(0)
        assert sim.totals().recorded == 3 + 1 + 6 + 1 + 1
        assert sim.totals().exhausted == 2
        blocks = drain(sim)
    records = [record for block in blocks for record in record_list(block)]
    assert [(arg, words[2]) for event, arg, words, _ in records if event == EXCEPTION] == [
        (at, at + 100) for at in range(4)
    ]
    assert [block.losses.exhausted for block in blocks] == [0, 2]


def test_streams_are_apart() -> None:
    with Simulation("vxm-sim-smp") as sim:
        sim.init(hz=HZ, autostart=PORT, one_way=1, no_upload=1, unit_slots=128, units=3)
        for at in range(500):
            sim.tell(f"stream {at % 2}")
            sim.record(USER_POINT, at)
            sim.advance(3)
        sim.tell("stream 0")
        sim.stop(0)
        totals = [sim.totals(stream) for stream in (0, 1)]
        assert [one.recorded for one in totals] == [253, 250]
        blocks = drain(sim)
    for stream in (0, 1):
        records = [record for block in blocks if block.stream == stream for record in record_list(block)]
        assert len(records) == totals[stream].recorded - totals[stream].lost
        kept = [arg for event, arg, _, _ in records if event == USER_POINT]
        assert kept == list(range(stream, 500, 2))[-len(kept) :]
