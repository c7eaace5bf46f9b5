# SPDX-License-Identifier: Apache-2.0
"""Acknowledgement, repetition and the window of blocks, as SPEC section 6 says."""

from __future__ import annotations

import pytest

from tests.support.hosting import HZ, USER_POINT, ended, refused, started
from tests.support.sim import SimHost, Simulation
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.status import decode_target_heartbeat, encode_ack
from vxmon.wire.types import (
    Ack,
    Channel,
    Range,
    RunConfig,
    Stop,
    StreamAck,
)


def fill(sim: Simulation, host: SimHost, count: int = 2000) -> int:
    """Records and lets all blocks be sent; returns their number."""
    started(host, RunConfig(events=frozenset({USER_POINT}), unit_slots=256, units=20))
    for at in range(count):
        sim.record(USER_POINT, at & 0xFFFF)
    sim.advance(HZ // 5)
    sim.step(100_000)
    sim.advance(HZ // 5)
    sim.step(100_000)
    host.collect()
    return len(host.of(Channel.BLOCK))


def acknowledge(host: SimHost, *streams: StreamAck, run: int = 1) -> None:
    host.send(Channel.ACK, encode_ack(Ack(run, streams)), host.received[0].header.boot)
    host.sim.step(100_000)


BIG = 2**63 - 1


@pytest.mark.parametrize(
    "stream",
    [
        StreamAck(0, 0, BIG),
        StreamAck(0, BIG, BIG),
        StreamAck(0, 5, 4),
        StreamAck(1, 0, 0),
        StreamAck(0, 0, 4, (Range(3, BIG),)),
        StreamAck(0, 0, 4, (Range(BIG, 1),)),
        StreamAck(0, 0, 4, (Range(2, 0),)),
        StreamAck(0, 0, 9, (Range(4, 2), Range(1, 2))),
        StreamAck(0, 0, 9, (Range(1, 3), Range(2, 3))),
        StreamAck(0, 5, 9, (Range(1, 2),)),
    ],
)
def test_an_acknowledgement_that_cannot_be_is_refused(sim: Simulation, host: SimHost, stream: StreamAck) -> None:
    assert fill(sim, host) > 9
    before = refused(host)
    acknowledge(host, stream)
    assert refused(host) == before + 1
    assert sim.totals().busy


def test_acknowledgements_of_another_run_change_nothing(sim: Simulation, host: SimHost) -> None:
    blocks = fill(sim, host)
    ended(host.ask(Stop()))
    sim.step(100_000)
    acknowledge(host, StreamAck(0, blocks, blocks), run=2)
    assert sim.totals().busy


def test_what_is_missing_is_sent_again_alike_and_not_too_often(sim: Simulation, host: SimHost) -> None:
    blocks = fill(sim, host)
    first = {decode_block(datagram).sequence: raw for datagram, raw in zip(host.received, host.raw, strict=True)
             if datagram.header.channel == Channel.BLOCK}  # fmt: skip
    missing = StreamAck(0, 3, blocks, (Range(3, 2), Range(7, 1)))
    host.raw.clear()
    acknowledge(host, missing)
    acknowledge(host, missing)
    host.collect()
    again = [raw for raw in host.raw if decode_datagram(raw).header.channel == Channel.BLOCK]
    assert again == [first[3], first[4], first[7]]
    sim.advance(HZ // 50)
    host.raw.clear()
    acknowledge(host, missing)
    host.collect()
    assert [raw for raw in host.raw if decode_datagram(raw).header.channel == Channel.BLOCK] == again


def test_a_block_that_was_sent_just_now_is_not_sent_again(sim: Simulation, host: SimHost) -> None:
    started(host)
    for at in range(400):
        sim.record(USER_POINT, at)
    sim.advance(HZ // 5)
    sim.step(100_000)
    host.collect()
    blocks = len(host.of(Channel.BLOCK))
    assert blocks > 1
    missing = StreamAck(0, 0, blocks, (Range(0, 1),))
    sim.advance(HZ // 50 - 1)
    acknowledge(host, missing)
    host.collect()
    assert len(host.of(Channel.BLOCK)) == blocks
    sim.advance(HZ // 50)
    acknowledge(host, missing)
    host.collect()
    assert len(host.of(Channel.BLOCK)) == blocks + 1


def test_units_are_free_when_all_their_blocks_are_acknowledged(sim: Simulation, host: SimHost) -> None:
    blocks = fill(sim, host)
    used = decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload).streams[0]
    acknowledge(host, StreamAck(0, blocks, blocks))
    sim.advance(HZ)
    sim.step(100_000)
    host.collect()
    after = decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload).streams[0]
    assert after.held == blocks
    assert used.units == after.units == 20
    assert after.units_used == 0


def test_a_host_that_acknowledges_nothing_is_not_overrun() -> None:
    """1024 blocks beyond the highest seen, then one each 100 ms, until the host says that it has some."""
    with Simulation() as large:
        large.init(hz=HZ, arena=1 << 21, cost=0)
        host = SimHost(large)
        host.hello()
        started(host, RunConfig(events=frozenset({USER_POINT}), datagram_bytes=512))
        for at in range(60_000):
            large.record(USER_POINT, at & 0xFFFF)
        for _ in range(3):
            large.advance(1000)
            large.step(100_000)
        host.collect()
        assert len(host.of(Channel.BLOCK)) == 1024
        for more in (1, 2):
            large.advance(HZ // 10)
            large.step(100_000)
            host.collect()
            assert len(host.of(Channel.BLOCK)) == 1024 + more
        acknowledge(host, StreamAck(0, 0, 10))
        host.collect()
        assert len(host.of(Channel.BLOCK)) == 1024 + 10


def test_stop_while_uploading_keeps_everything_until_it_is_acknowledged(sim: Simulation, host: SimHost) -> None:
    started(host, RunConfig(events=frozenset({USER_POINT}), unit_slots=256, units=20))
    for at in range(2000):
        sim.record(USER_POINT, at & 0xFFFF)
    sim.network(3)
    sim.step(100_000)
    sim.network(-1)
    end = ended(host.ask(Stop())).streams[0]
    for _ in range(10):
        sim.step(100_000)
    host.collect()
    assert sum(decode_block(datagram).count for datagram in host.of(Channel.BLOCK)) == end.recorded
    assert sim.totals().busy
    blocks = len(host.of(Channel.BLOCK))
    acknowledge(host, StreamAck(0, blocks, blocks))
    assert not sim.totals().busy
