# SPDX-License-Identifier: Apache-2.0
"""Commands, control and the link, as SPEC sections 1, 5, 6 and 7 say."""

from __future__ import annotations

import struct
import zlib

import pytest

from tests.support.hosting import HZ, USER_POINT, ended, raw_command, records, refused, started
from tests.support.records import record_list
from tests.support.sim import SimHost, Simulation
from vxmon.wire.block import decode_block
from vxmon.wire.control import encode_command
from vxmon.wire.datagram import encode_datagram
from vxmon.wire.status import (
    decode_end,
    decode_target_heartbeat,
    encode_host_heartbeat,
)
from vxmon.wire.types import (
    Bye,
    Channel,
    Command,
    Filter,
    Header,
    Hello,
    HostHeartbeat,
    InfoRequest,
    Policy,
    Result,
    RunConfig,
    Scenario,
    Start,
    Started,
    Stop,
    TargetInfo,
    Trigger,
)

OBJECT_DELETE, STACK_SAMPLE = 196, 163
START, STOP, FILTER, MARK, SNAPSHOT, LINK = 1, 2, 3, 5, 6, 7
CONTROL_ALWAYS = {START, STOP, FILTER, SNAPSHOT, LINK}
LOST, UP, MOVED = 0, 1, 2


# -------------------------------------------------------------------- handshake


def test_a_stranger_gets_a_cookie_and_not_more_than_it_sent(sim: Simulation) -> None:
    stranger = SimHost(sim, 5000)
    sent = stranger.send(Channel.COMMAND, encode_command(Command(1, Hello())))
    assert stranger.reply() is not None
    assert len(stranger.raw[0]) <= len(sent)


def test_a_hello_shorter_than_its_reply_gets_none(sim: Simulation) -> None:
    stranger = SimHost(sim, 5000)
    stranger.send(Channel.COMMAND, encode_command(Command(1, Hello(pad=0))))
    assert stranger.reply() is None
    assert stranger.raw == []


def test_a_cookie_serves_only_its_address(sim: Simulation) -> None:
    reply = SimHost(sim, 5000).ask(Hello())
    assert isinstance(reply.body, int)
    thief = SimHost(sim, 5001)
    answer = thief.ask(Hello(cookie=reply.body))
    assert answer.result == Result.COOKIE
    assert answer.body != reply.body


def test_a_cookie_expires(sim: Simulation) -> None:
    host = SimHost(sim, 5000)
    reply = host.ask(Hello())
    assert isinstance(reply.body, int)
    sim.advance(33 * HZ)
    assert host.ask(Hello(cookie=reply.body)).result == Result.COOKIE


def test_one_host_controls_at_a_time(sim: Simulation, host: SimHost) -> None:
    other = SimHost(sim, 5000)
    assert other.hello().result == Result.BUSY
    assert host.ask(Bye()).result == Result.OK
    assert other.hello().result == Result.OK


def test_strangers_commands_are_not_answered(sim: Simulation, host: SimHost) -> None:
    stranger = SimHost(sim, 5000)
    for body in (InfoRequest(), Start(RunConfig()), Stop(), Bye(), Filter(1, True)):
        stranger.send(Channel.COMMAND, encode_command(Command(9, body)))
        assert stranger.reply() is None
    assert stranger.raw == []


# -------------------------------------------------------------------- at most once


def test_a_repeated_request_runs_once_and_is_answered_alike(sim: Simulation, host: SimHost) -> None:
    started(host)
    before = host.raw[-1]
    host.requests -= 1
    again = host.ask(Start(RunConfig()))
    assert again.result == Result.OK
    assert isinstance(again.body, Started)
    assert again.body.run == 1
    assert sim.totals().recorded > 0
    assert before


def test_an_overtaken_request_does_not_run(sim: Simulation, host: SimHost) -> None:
    started(host)
    host.send(Channel.COMMAND, encode_command(Command(1, Stop())))
    assert host.reply() is None
    host.requests += 1
    assert host.ask(Start(RunConfig())).result == Result.STATE


# -------------------------------------------------------------------- refusals in words


@pytest.mark.parametrize(
    ("config", "result", "words"),
    [
        (RunConfig(datagram_bytes=511), Result.LIMIT, "datagram_bytes 511 is outside 512-1472"),
        (RunConfig(datagram_bytes=1473), Result.LIMIT, "datagram_bytes 1473 is outside 512-1472"),
        (RunConfig(datagram_bytes=70_000), Result.LIMIT, "datagram_bytes 65535 is outside 512-1472"),
        (RunConfig(unit_slots=127), Result.LIMIT, "unit_slots 127 is outside 128-4096"),
        (RunConfig(unit_slots=4097), Result.LIMIT, "unit_slots 4097 is outside 128-4096"),
        (RunConfig(unit_slots=4096, datagram_bytes=512), Result.LIMIT, "more than 32 datagrams of 512 bytes"),
        (RunConfig(units=1), Result.LIMIT, "units 1 is outside 2-65535"),
        (RunConfig(units=60_000), Result.MEMORY, "the buffer memory holds"),
        (RunConfig(high_water=101), Result.LIMIT, "high_water 101 is outside 1-100"),
        (RunConfig(flush_ms=60_001), Result.LIMIT, "flush_ms 60001 is outside 1-60000"),
        (RunConfig(events=frozenset({500})), Result.UNSUPPORTED, "EVENT_500 is not offered by release 2.4"),
    ],
)
def test_a_start_outside_the_limits_is_refused(host: SimHost, config: RunConfig, result: Result, words: str) -> None:
    reply = host.ask(Start(config))
    assert reply.result == result
    assert words in reply.text
    assert host.ask(Stop()).result == Result.STATE


def test_an_event_of_another_release_is_refused_by_name() -> None:
    with Simulation() as sim:
        sim.init(hz=HZ, release=22)
        host = SimHost(sim)
        host.hello()
        reply = host.ask(Start(RunConfig(events=frozenset({OBJECT_DELETE}))))
        assert (reply.result, reply.text) == (
            Result.UNSUPPORTED,
            "event OBJECT_DELETE (196) is not offered by release 2.2",
        )
        started(host)
        reply = host.ask(Filter(STACK_SAMPLE, True))
        assert (reply.result, reply.text) == (
            Result.UNSUPPORTED,
            "event STACK_SAMPLE (163) is not offered by release 2.2",
        )


def test_an_unknown_policy_is_refused(host: SimHost) -> None:
    config = b"\x28\x07"  # RunConfig.policy = 7
    reply = raw_command(host, 5, b"\x0a" + bytes([len(config)]) + config)
    assert (reply.result, reply.text) == (Result.LIMIT, "policy 7 is outside 0-1")


def test_an_unknown_command_is_answered(host: SimHost) -> None:
    reply = raw_command(host, 31, b"")
    assert reply.result == Result.UNKNOWN
    assert reply.text == "this target does not know the command"


def test_a_text_that_is_too_long_is_answered(host: SimHost) -> None:
    started(host)
    reply = raw_command(host, 7, b"\x12\x41" + b"x" * 65)
    assert (reply.result, reply.text) == (
        Result.LIMIT,
        "the command is malformed or longer than this target takes",
    )


def test_start_while_recording_and_stop_while_not(host: SimHost) -> None:
    assert host.ask(Stop()).text == "not recording"
    started(host)
    reply = host.ask(Start(RunConfig()))
    assert (reply.result, reply.text) == (Result.STATE, "already recording run 1")


def test_defaults_are_told(host: SimHost) -> None:
    config = started(host).config
    assert (config.datagram_bytes, config.unit_slots, config.high_water, config.flush_ms) == (1400, 1024, 70, 100)
    assert config.policy == Policy.RING
    assert config.events == {USER_POINT} | CONTROL_ALWAYS
    assert config.units >= 2


def test_info(host: SimHost) -> None:
    info = host.ask(InfoRequest()).body
    assert isinstance(info, TargetInfo)
    assert (info.os_name, info.os_release, info.board, info.clock_hz) == ("simulation", "2.4", "none", HZ)
    assert info.boot == host.received[0].header.boot


# -------------------------------------------------------------------- runs


def test_start_is_the_first_record_and_stop_the_last(sim: Simulation, host: SimHost) -> None:
    started(host)
    sim.record(USER_POINT, 77)
    end = ended(host.ask(Stop())).streams[0]
    sim.advance(HZ // 5)
    sim.step(100_000)
    host.collect()
    found = records(host)
    assert [event for event, _, _ in found][:2] == [START, SNAPSHOT]
    assert found[0][2][1] == 1  # run
    assert (USER_POINT, 77, ()) in found
    assert found[-1] == (STOP, 0, ())
    assert end.recorded == len(found)


def test_runs_are_numbered_and_begin_anew(sim: Simulation, host: SimHost) -> None:
    for run in (1, 2, 3):
        assert started(host).run == run
        for at in range(50 * run):
            sim.record(USER_POINT, at)
        assert ended(host.ask(Stop())).streams[0].recorded >= 50 * run + 3
    sim.advance(HZ // 5)
    sim.step(100_000)
    host.collect()
    blocks = [decode_block(datagram) for datagram in host.of(Channel.BLOCK)]
    assert next(block.sequence for block in blocks if block.run == 3) == 0


def test_a_record_after_stop_is_no_attempt(sim: Simulation, host: SimHost) -> None:
    started(host)
    recorded = ended(host.ask(Stop())).streams[0].recorded
    sim.record(USER_POINT, 1)
    assert sim.totals().recorded == recorded


def test_a_filter_is_a_record_and_begins_a_block(sim: Simulation, host: SimHost) -> None:
    started(host)
    sim.record(USER_POINT, 1)
    assert host.ask(Filter(USER_POINT, False)).result == Result.OK
    sim.record(USER_POINT, 2)
    assert host.ask(Filter(USER_POINT, True)).result == Result.OK
    sim.record(USER_POINT, 3)
    host.ask(Stop())
    sim.step(100_000)
    host.collect()
    blocks = [decode_block(datagram) for datagram in host.of(Channel.BLOCK)]
    firsts = [record_list(block)[0][:3] for block in blocks]
    assert firsts[1:] == [(FILTER, USER_POINT, (0, 0)), (FILTER, USER_POINT, (1, 0))]
    assert [arg for event, arg, _ in records(host) if event == USER_POINT] == [1, 3]


def test_a_filter_that_changes_nothing_records_nothing(sim: Simulation, host: SimHost) -> None:
    started(host)
    before = sim.totals().recorded
    assert host.ask(Filter(USER_POINT, True)).result == Result.OK
    assert host.ask(Filter(START, False)).text == "event START (1) is part of every run"
    assert sim.totals().recorded == before


def test_a_mark_carries_its_text(sim: Simulation, host: SimHost) -> None:
    assert host.ask(Trigger(1)).text == "not recording"
    started(host, RunConfig(events=frozenset({MARK})))
    assert host.ask(Trigger(65_536)).result == Result.LIMIT
    assert host.ask(Trigger(9, "engine start")).result == Result.OK
    host.ask(Stop())
    sim.step(100_000)
    host.collect()
    (mark,) = [record for record in records(host) if record[0] == MARK]
    assert mark[1] == 9
    assert struct.pack(f"<{len(mark[2])}I", *mark[2]).rstrip(b"\0") == b"engine start"


def test_a_mark_that_is_switched_off_is_refused(host: SimHost) -> None:
    started(host)
    assert host.ask(Trigger(1)).text == "event MARK is switched off in this run"


def test_an_unknown_scenario_is_refused_by_name(host: SimHost) -> None:
    reply = host.ask(Scenario("none"))
    assert (reply.result, reply.text) == (Result.UNSUPPORTED, "no scenario is called 'none'")
    reply = raw_command(host, 8, b"\x0a\x04a\nb\x7f")
    assert (reply.result, reply.text) == (Result.UNSUPPORTED, "no scenario is called 'a?b?'")


def test_a_run_ends_by_itself(sim: Simulation, host: SimHost) -> None:
    started(host, RunConfig(events=frozenset({USER_POINT}), max_ticks=HZ, one_way=True))
    for _ in range(60):
        sim.advance(HZ // 50)
        sim.step(100_000)
    host.collect()
    assert records(host)[-1] == (STOP, 1, ())
    ends = [decode_end(datagram.payload) for datagram in host.of(Channel.END)]
    assert [end.reason for end in ends] == [1, 1, 1]
    assert ends[0].streams[0].recorded == len(records(host))


# -------------------------------------------------------------------- the link


def test_a_host_that_is_not_heard_gets_no_blocks_until_it_is(sim: Simulation, host: SimHost) -> None:
    started(host)
    boot = host.received[0].header.boot
    for second in range(6):
        sim.record(USER_POINT, second)
        sim.advance(HZ)
        sim.step(100_000)
    host.collect()
    assert [arg for event, arg, _ in records(host) if event == USER_POINT] == [0, 1]
    host.send(Channel.HEARTBEAT, encode_host_heartbeat(HostHeartbeat(1)), boot)
    sim.step(100_000)
    sim.advance(HZ // 5)
    sim.step(100_000)
    host.collect()
    assert [arg for event, arg, _ in records(host) if event == USER_POINT] == list(range(6))
    assert [arg for event, arg, _ in records(host) if event == LINK] == [LOST, UP]


def test_another_port_takes_over_a_lost_link(sim: Simulation, host: SimHost) -> None:
    started(host)
    sim.advance(4 * HZ)
    sim.step(100_000)
    sim.record(USER_POINT, 5)
    other = SimHost(sim, 5000)
    assert other.hello().result == Result.OK
    sim.advance(HZ // 5)
    sim.step(100_000)
    other.collect()
    assert [arg for event, arg, _ in records(other) if event == USER_POINT] == [5]
    moved = [record for record in records(other) if record[0] == LINK][-1]
    assert moved == (LINK, MOVED, (0x7F000001, 5000))


def test_heartbeats_come_each_second_and_echo(sim: Simulation, host: SimHost) -> None:
    sim.step(1)
    host.collect()
    before = len(host.of(Channel.HEARTBEAT))
    boot = host.received[0].header.boot
    for second in range(1, 11):
        host.send(Channel.HEARTBEAT, encode_host_heartbeat(HostHeartbeat(second)), boot)
        for _ in range(10):
            sim.advance(HZ // 10)
            sim.step(1000)
    host.collect()
    beats = [decode_target_heartbeat(datagram.payload) for datagram in host.of(Channel.HEARTBEAT)][before:]
    assert len(beats) == 10
    assert beats[-1].echo == 10


def test_a_silent_stream_is_complete_up_to_now(sim: Simulation, host: SimHost) -> None:
    started(host)
    for _ in range(5):
        sim.advance(HZ // 5)
        sim.step(100_000)
    sim.advance(HZ)
    sim.step(100_000)
    host.collect()
    beat = decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload)
    assert beat.streams[0].cut_index == beat.streams[0].recorded
    assert beat.time - beat.streams[0].cut_time < HZ // 100


# -------------------------------------------------------------------- datagrams


def with_header(data: bytes, at: int, value: bytes) -> bytes:
    """A datagram with other header bytes, and the CRC that then is right."""
    changed = data[:at] + value + data[at + len(value) :]
    crc = zlib.crc32(changed[32:], zlib.crc32(changed[:28]))
    return changed[:28] + struct.pack(">I", crc) + changed[32:]


@pytest.mark.parametrize(
    ("at", "value"),
    [(0, b"VXMO"), (4, b"\2"), (5, b"\2"), (6, b"\3"), (6, b"\x63"), (7, b"\x1f"), (7, b"\xff"), (8, b"\0\0\0\7"),
     (16, b"\0\1"), (18, b"\0\0"), (18, b"\0\2"), (20, b"\0\0"), (22, b"\0\1")],
)  # fmt: skip
def test_a_wrong_header_is_refused(sim: Simulation, host: SimHost, at: int, value: bytes) -> None:
    good = encode_datagram(Header(Channel.COMMAND, 0, 1), encode_command(Command(50, InfoRequest())))
    before = refused(host)
    sim.inject(with_header(good, at, value), host.port)
    assert host.reply() is None
    assert refused(host) == before + 1


def test_a_wrong_crc_and_every_truncation_is_refused(sim: Simulation, host: SimHost) -> None:
    good = encode_datagram(Header(Channel.COMMAND, 0, 1), encode_command(Command(50, InfoRequest())))
    before = refused(host)
    for length in range(1, len(good)):
        sim.inject(good[:length], host.port)
    sim.inject(good[:-1] + bytes([good[-1] ^ 1]), host.port)
    sim.step(100_000)
    assert refused(host) == before + len(good)
    sim.inject(good, host.port)
    assert host.reply() is not None
