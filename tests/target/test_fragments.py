# SPDX-License-Identifier: Apache-2.0
"""Missing fragments of large messages, and what a host that takes over gets (SPEC sections 5 and 7)."""

from __future__ import annotations

import pytest

from tests.support.hosting import HZ, USER_POINT, ended, records, refused, started
from tests.support.sim import SimHost, Simulation
from vxmon.wire.block import decode_block
from vxmon.wire.control import encode_command
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.events import TABLES
from vxmon.wire.resend import FragmentRequest, encode_fragment_request
from vxmon.wire.status import decode_end, decode_target_heartbeat, encode_ack, encode_host_heartbeat
from vxmon.wire.types import (
    Ack,
    Channel,
    Command,
    Datagram,
    HostHeartbeat,
    InfoRequest,
    Range,
    Result,
    RunConfig,
    Start,
    Stop,
    StreamAck,
    TablesRequest,
)


def want(host: SimHost, channel: int, message: int, *missing: int) -> list[Datagram]:
    """Asks for fragments; what comes of that channel."""
    before = len(host.received)
    boot = host.received[0].header.boot
    host.send(Channel.RESEND, encode_fragment_request(FragmentRequest(channel, message, missing)), boot)
    for _ in range(80):
        host.sim.step(1000)
    host.collect()
    return [datagram for datagram in host.received[before:] if datagram.header.channel == channel]


def messages(host: SimHost, channel: Channel) -> dict[int, list[Datagram]]:
    """Fragments by message number, those of one fragment left out."""
    found: dict[int, list[Datagram]] = {}
    for datagram in host.of(channel):
        if datagram.header.fragments > 1:
            found.setdefault(datagram.header.message, []).append(datagram)
    return found


@pytest.fixture(name="tables")
def sent_tables(sim: Simulation, host: SimHost) -> dict[int, list[Datagram]]:
    """Table messages that the target has sent, in 512-byte datagrams."""
    for at in range(100):
        sim.create("task", f"task_{at}", 1, at)
    for at in range(500):
        sim.create("object", f"o{at}", 2, 1, 0)
    every = frozenset(event.id for event in TABLES["2.4"].events)
    for at in range(10):
        sim.create("partition", f"p{at}", 0)
    # All that makes a reply with the configuration long.
    config = RunConfig(
        every, 512, unit_slots=1000, units=4, max_ticks=1 << 61, max_records=1 << 61, memory_ms=3_600_000,
        stack_ms=3_600_000, operations_ms=3_600_000, hidden_partitions=frozenset({10}), hidden_objects=frozenset({499}),
        grow_units=200, high_water=99, flush_ms=60_000,
    )  # fmt: skip
    assert host.ask(Start(config)).result == Result.OK
    assert host.ask(TablesRequest()).result == Result.OK
    for _ in range(200):
        sim.step(100_000)
    host.collect()
    return messages(host, Channel.TABLE)


def test_the_newest_table_messages_are_sent_again_piece_by_piece(
    host: SimHost, tables: dict[int, list[Datagram]]
) -> None:
    number, fragments = list(tables.items())[-1]
    again = want(host, Channel.TABLE, number, 0, len(fragments) - 1)
    assert [datagram.header.fragment for datagram in again] == [0, len(fragments) - 1]
    assert [datagram.payload for datagram in again] == [fragments[0].payload, fragments[-1].payload]
    assert {datagram.header.message for datagram in again} == {number}
    assert {datagram.header.fragments for datagram in again} == {len(fragments)}


def test_an_old_message_is_not_kept_and_asking_for_it_is_no_error(
    host: SimHost, tables: dict[int, list[Datagram]]
) -> None:
    before = refused(host)
    assert host.ask(TablesRequest()).result == Result.OK
    for _ in range(200):
        host.sim.step(100_000)
    host.collect()
    assert want(host, Channel.TABLE, next(iter(tables)), 0) == []
    assert want(host, Channel.TABLE, 0xFFFFFFFF, 0, 63) == []
    assert want(host, Channel.BLOCK, list(tables)[-1], 0) == []
    assert refused(host) == before


def test_fragments_that_a_message_does_not_have_are_not_sent(host: SimHost, tables: dict[int, list[Datagram]]) -> None:
    number, fragments = list(tables.items())[-1]
    assert len(fragments) < 60
    again = want(host, Channel.TABLE, number, *range(len(fragments) - 1, 64))
    assert [datagram.header.fragment for datagram in again] == [len(fragments) - 1]


def test_a_stranger_gets_no_fragments(sim: Simulation, host: SimHost, tables: dict[int, list[Datagram]]) -> None:
    stranger = SimHost(sim, 5000)
    stranger.received = host.received[:1]
    assert want(stranger, Channel.TABLE, list(tables)[-1], 0) == []


def test_a_repeated_reply_has_the_number_of_the_first(host: SimHost, tables: dict[int, list[Datagram]]) -> None:
    """So the fragments of both copies fit together, and each can be asked for."""
    assert tables
    assert host.ask(InfoRequest()).result == Result.OK
    number, first = list(messages(host, Channel.REPLY).items())[-1]
    host.send(Channel.COMMAND, encode_command(Command(host.requests, InfoRequest())))
    host.sim.step(100_000)
    host.collect()
    both = messages(host, Channel.REPLY)[number]
    assert len(first) > 1
    assert [d.payload for d in both] == [d.payload for d in first] * 2
    assert [d.payload for d in want(host, Channel.REPLY, number, 1)] == [first[1].payload]


def test_a_malformed_request_is_refused(host: SimHost) -> None:
    before = refused(host)
    host.send(Channel.RESEND, b"\xff\xff\xff", host.received[0].header.boot)
    host.sim.step(1000)
    assert refused(host) == before + 1


# -------------------------------------------------------------------- taking over


def lose_host(sim: Simulation) -> None:
    for _ in range(40):
        sim.advance(HZ // 10)
        sim.step(1000)


def test_who_takes_over_gets_all_that_is_held_whatever_the_one_before_had(sim: Simulation, host: SimHost) -> None:
    """A unit of which the first host lacks one block is held whole, and sent whole to the next one."""
    started(host, RunConfig(events=frozenset({USER_POINT}), datagram_bytes=512, unit_slots=1000))
    for at in range(900):
        sim.record(USER_POINT, at)
    sim.advance(HZ // 5)
    sim.step(100_000)
    host.collect()
    blocks = len(host.of(Channel.BLOCK))
    assert blocks > 3
    acknowledged = StreamAck(0, blocks - 1, blocks - 1)
    host.send(Channel.ACK, encode_ack(Ack(1, (acknowledged,))), host.received[0].header.boot)
    lose_host(sim)
    other = SimHost(sim, 5000)
    assert other.hello().result == Result.OK
    sim.step(1000)
    other.collect()
    boot = other.received[0].header.boot
    beat = decode_target_heartbeat(other.of(Channel.HEARTBEAT)[-1].payload)
    assert (beat.run, beat.running, beat.streams[0].held) == (1, True, 0)
    for _ in range(20):
        sim.advance(HZ // 20)
        missing = StreamAck(0, 0, 0, (Range(0, blocks),))
        other.send(Channel.ACK, encode_ack(Ack(1, (missing,))), boot)
        sim.step(100_000)
    other.collect()
    got = {decode_block(datagram).sequence for datagram in other.of(Channel.BLOCK)}
    assert set(range(blocks)) <= got
    assert [arg for event, arg, _ in sorted(records(other), key=lambda r: r[1]) if event == USER_POINT][-1] == 899


def test_the_end_of_a_run_that_was_not_fetched_is_told_to_the_next_host(sim: Simulation, host: SimHost) -> None:
    started(host)
    sim.record(USER_POINT, 1)
    ended(host.ask(Stop()))
    lose_host(sim)
    other = SimHost(sim, 5000)
    assert other.hello().result == Result.OK
    lose = [decode_end(datagram.payload).run for datagram in other.of(Channel.END)]
    for _ in range(5):
        sim.advance(HZ // 20)
        sim.step(1000)
    other.collect()
    assert lose or other.of(Channel.END)
    assert {decode_end(datagram.payload).run for datagram in other.of(Channel.END)} == {1}


def test_heartbeats_say_when_the_hosts_was_received(sim: Simulation, host: SimHost) -> None:
    sim.advance(HZ // 2)
    sim.step(1000)
    host.collect()
    boot = host.received[0].header.boot
    now = decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload).time
    host.send(Channel.HEARTBEAT, encode_host_heartbeat(HostHeartbeat(77)), boot)
    sim.step(1000)
    sim.advance(2 * HZ)
    sim.step(1000)
    host.collect()
    beat = decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload)
    assert beat.echo == 77
    assert now <= beat.echo_time <= beat.time - 2 * HZ
    assert beat.time - beat.echo_time < 3 * HZ


def test_datagrams_are_byte_equal_when_sent_again(host: SimHost, tables: dict[int, list[Datagram]]) -> None:
    """But for their sequence number, which counts datagrams."""
    number = list(tables)[-1]
    first = next(
        raw for raw in host.raw if raw[6] == Channel.TABLE and decode_datagram(raw).header.message == number
    )  # fmt: skip
    want(host, Channel.TABLE, number, 0)
    again = host.raw[-1]
    assert (again[:12], again[16:28], again[32:]) == (first[:12], first[16:28], first[32:])
