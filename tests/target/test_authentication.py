# SPDX-License-Identifier: Apache-2.0
"""A target with a key (SPEC section 10): who is served, what is counted, and what a replay is worth.

The HMACs of this side are Python's, those of the target BearSSL's.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import fields

import pytest

from tests.support.hosting import HZ, started
from tests.support.keyed import KEY, KeyedHost
from tests.support.sim import SimHost, Simulation
from vxmon.wire.authentication import Challenge, boot_nonce
from vxmon.wire.control import encode_command
from vxmon.wire.datagram import decode_datagram, encode_datagram
from vxmon.wire.status import decode_target_heartbeat, encode_host_heartbeat
from vxmon.wire.types import (
    Bye,
    Channel,
    Command,
    Flag,
    Header,
    Hello,
    HostHeartbeat,
    InfoRequest,
    LinkCounters,
    Result,
    Stop,
    TargetInfo,
)

ENTROPY = 0x1122334455667788
REASONS = ("malformed", "no_key", "wrong_key", "replayed", "stranger", "unchecked")


@pytest.fixture(name="sim")
def keyed_simulation() -> Iterator[Simulation]:
    with Simulation() as sim:
        boot(sim)
        yield sim


def boot(sim: Simulation, entropy: int = ENTROPY) -> None:
    assert sim.key(KEY.hex())
    assert sim.init(hz=HZ, clock=5 * HZ, cost=0, entropy=entropy) == 0


@pytest.fixture(name="host")
def controlling_host(sim: Simulation) -> KeyedHost:
    host = KeyedHost(sim)
    assert host.hello().result == Result.OK
    return host


def counters(host: KeyedHost) -> LinkCounters:
    """The next heartbeat's. The host tells that it lives, so that the target goes on."""
    host.sim.step(100_000)
    host.collect()
    host.received.clear()
    host.send(Channel.HEARTBEAT, encode_host_heartbeat(HostHeartbeat(1)))
    for _ in range(5):  # ends of a run go before it
        host.sim.advance(HZ // 2)
        host.sim.step(100_000)
    host.collect()
    return decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload).link


def refusals(host: KeyedHost) -> dict[str, int]:
    """What was refused by reason, without zeros."""
    link = counters(host)
    found = {name: getattr(link, name) for name in REASONS}
    assert sum(found.values()) == link.refused
    return {name: count for name, count in found.items() if count}


def test_reasons_are_all_that_refused_is_made_of() -> None:
    names = [field.name for field in fields(LinkCounters)]
    assert tuple(names[names.index("malformed") :]) == REASONS


# -------------------------------------------------------------------- the handshake


def test_the_challenge_is_the_nonce_of_the_boot_and_the_next_session(sim: Simulation) -> None:
    host = KeyedHost(sim)
    reply = host.greet()
    assert reply.challenge is not None
    assert reply.challenge.nonce == boot_nonce(KEY, ENTROPY)
    assert reply.challenge.session == 1
    assert len(host.raw[0]) <= 32 + len(encode_command(Command(1, Hello())))


def test_a_host_with_the_key_is_served_and_answers_are_sealed(host: KeyedHost) -> None:
    reply = host.ask(InfoRequest())
    assert isinstance(reply.body, TargetInfo)
    assert reply.body.has_key
    host.sim.advance(2 * HZ)
    host.sim.step(100_000)
    host.collect()
    assert {d.header.channel for d in host.received} == {Channel.REPLY, Channel.HEARTBEAT}
    numbers = [d.trailer.number for d in host.received if d.trailer is not None]
    assert len(numbers) == len(host.received) - 1
    assert numbers == list(range(len(numbers)))
    assert refusals(host) == {}


def test_large_replies_are_sealed_fragment_by_fragment(host: KeyedHost) -> None:
    started(host)
    host.sim.step(100_000)
    host.collect()
    before = len(host.received)
    assert host.ask(InfoRequest()).result == Result.OK
    sizes = [len(data) for data in host.raw[before:]]
    assert max(sizes) <= 1472


def test_a_host_without_a_key_is_told_so(sim: Simulation) -> None:
    stranger = SimHost(sim, 5000)
    reply = stranger.hello()
    assert (reply.result, reply.text) == (Result.KEY, "a key is needed")
    assert refusals(served(sim)) == {"no_key": 1}


def test_a_host_with_another_key_is_told_so(sim: Simulation) -> None:
    stranger = KeyedHost(sim, 5000, key=bytes(32))
    reply = stranger.hello()
    assert (reply.result, reply.text) == (Result.KEY, "the key is not that of this target")
    assert refusals(served(sim)) == {"wrong_key": 1}


def served(sim: Simulation, port: int = 4000) -> KeyedHost:
    host = KeyedHost(sim, port)
    assert host.hello().result == Result.OK
    return host


def test_nobody_gets_more_bytes_than_it_sent_before_it_has_shown_its_key(sim: Simulation) -> None:
    stranger = KeyedHost(sim, 5000, key=bytes(32))
    for hello in (Hello(), Hello(cookie=1)):
        sent = stranger.send(Channel.COMMAND, encode_command(Command(1, hello)))
        assert stranger.reply() is not None
        assert len(stranger.raw[-1]) <= len(sent)
    stranger.hello()
    assert len(stranger.raw[-1]) <= 32 + len(encode_command(Command(1, Hello(cookie=1 << 63))))


def test_without_a_key_a_sealed_hello_is_refused() -> None:
    with Simulation() as sim:
        assert sim.init(hz=HZ, clock=5 * HZ, cost=0) == 0
        host = KeyedHost(sim)
        first = host.greet()
        assert first.challenge is None
        assert isinstance(first.body, int)
        host.challenge, host.sealed = Challenge(1, 1), True
        host.send(Channel.COMMAND, encode_command(Command(9, Hello(cookie=first.body))))
        assert host.reply() is None


def test_a_busy_target_says_so_to_another_host_with_the_key(host: KeyedHost) -> None:
    other = KeyedHost(host.sim, 4001)
    assert other.hello().result == Result.BUSY
    assert host.ask(InfoRequest()).result == Result.OK


def test_a_lost_welcome_is_repeated_within_the_session(sim: Simulation) -> None:
    host = KeyedHost(sim)
    cookie = host.greet().body
    assert isinstance(cookie, int)
    assert host.ask(Hello(cookie=cookie)).result == Result.OK
    host.requests -= 1
    assert host.ask(Hello(cookie=cookie)).result == Result.OK
    assert host.ask(InfoRequest()).result == Result.OK
    assert refusals(host) == {}


def test_a_host_that_begins_anew_at_the_same_port_gets_the_next_session(host: KeyedHost) -> None:
    again = KeyedHost(host.sim)
    again.requests = host.requests
    assert again.hello().result == Result.OK
    assert again.challenge is not None
    assert again.challenge.session == 2


# -------------------------------------------------------------------- what is refused


def test_plain_commands_in_a_session_are_refused(host: KeyedHost) -> None:
    host.sim.inject(encode_datagram(Header(Channel.COMMAND, 0, 77), encode_command(Command(99, Stop()))), host.port)
    assert host.reply() is None
    assert refusals(host) == {"no_key": 1}


def test_any_changed_bit_of_a_sealed_datagram_is_refused(host: KeyedHost) -> None:
    """Of the trailer, that is, which the CRC does not cover."""
    data = host.sealed_command(Command(50, InfoRequest()))
    for place in range(len(data) - 24, len(data)):
        changed = bytearray(data)
        changed[place] ^= 1
        host.sim.advance(HZ // 40)
        host.sim.inject(bytes(changed), host.port)
        assert host.reply() is None
    # Another session, or the number of the hello, need no HMAC to be refused.
    assert refusals(host) == {"replayed": 5, "wrong_key": 19}


def test_a_changed_payload_with_a_right_crc_is_refused(host: KeyedHost) -> None:
    data = host.sealed_command(Command(50, InfoRequest()))
    other = encode_datagram(
        Header(Channel.COMMAND, 0, host.sequence, flags=Flag.AUTHENTICATED), encode_command(Command(50, Stop()))
    )
    host.sim.inject(other + data[-24:], host.port)
    assert host.reply() is None
    assert refusals(host) == {"wrong_key": 1}


def test_the_targets_own_datagrams_are_worth_nothing_when_they_come_back(host: KeyedHost) -> None:
    for _ in range(4):
        counters(host)
    beat = [data for data in host.raw if data[6] == Channel.HEARTBEAT][-1]
    trailer = decode_datagram(beat).trailer
    assert trailer is not None
    assert trailer.number >= host.number
    host.sim.inject(beat, host.port)
    host.sim.step(100_000)
    assert refusals(host) == {"wrong_key": 1}


def test_a_datagram_that_comes_again_is_refused(host: KeyedHost) -> None:
    data = host.send(Channel.COMMAND, encode_command(Command(7, InfoRequest())))
    assert host.reply() is not None
    host.sim.inject(data, host.port)
    assert host.reply() is None
    assert refusals(host) == {"replayed": 1}


def test_datagrams_may_overtake_each_other_by_63(host: KeyedHost) -> None:
    late = [host.sealed_command(Command(10 + i, InfoRequest())) for i in range(70)]
    host.sim.inject(late[69], host.port)
    assert host.reply() is not None
    for data in late[:69]:
        host.sim.advance(HZ // 40)
        host.sim.inject(data, host.port)
        assert host.reply() is None  # overtaken requests are not served
    found = refusals(host)
    # 69 is the highest: 6 ... 68 are within the window, but requests grow; 0 ... 5 are not.
    assert found == {"replayed": 69}


def test_commands_of_another_host_with_the_key_are_refused(host: KeyedHost) -> None:
    data = host.sealed_command(Command(50, Stop()))
    host.sim.inject(data, 4001)
    assert host.reply() is None
    assert refusals(host) == {"stranger": 1}


# -------------------------------------------------------------------- replays of a whole session


def recorded_session(sim: Simulation) -> list[bytes]:
    """What a host sent from its first hello to its bye, as a capture has it."""
    host = KeyedHost(sim)
    sent: list[bytes] = []
    inject = sim.inject

    def listen(data: bytes, port: int, address: int = 0x7F000001) -> None:
        sent.append(data)
        inject(data, port, address)

    sim.inject = listen  # type: ignore[method-assign]
    assert host.hello().result == Result.OK
    started(host)
    assert host.ask(Stop()).result == Result.OK
    assert host.ask(Bye()).result == Result.OK
    sim.inject = inject  # type: ignore[method-assign]
    return sent


def replay(sim: Simulation, sent: list[bytes], port: int) -> SimHost:
    """Sends it all again from the same address; the answers."""
    thief = SimHost(sim, port)
    while sim.step(100_000) or sim.sent():
        pass  # what was on its way to the host before
    for data in sent:
        sim.advance(HZ // 40)
        sim.inject(data, port)
        thief.reply()
    return thief


def test_a_replayed_session_does_nothing_in_the_same_boot(sim: Simulation) -> None:
    sent = recorded_session(sim)
    recorded = sim.totals().recorded
    thief = replay(sim, sent, 4000)
    assert {d.header.channel for d in thief.received} == {Channel.REPLY}  # two challenges, nothing else
    assert len(thief.received) == 2
    assert sim.totals().recorded == recorded
    assert refusals(served(sim)) == {"replayed": len(sent) - 1}


def test_a_replayed_session_does_nothing_in_the_next_boot() -> None:
    with Simulation() as before:
        boot(before)
        sent = recorded_session(before)
    with Simulation() as sim:
        boot(sim, entropy=ENTROPY + 1)
        thief = replay(sim, sent, 4000)
        assert {d.header.channel for d in thief.received} == {Channel.REPLY}
        assert sim.totals().recorded == 0
        found = refusals(served(sim))
        # The hello with yesterday's cookie is answered like a first one; what is for any boot is of no session.
        assert found == {"replayed": len(sent) - 2}


def test_a_replay_while_another_host_controls_does_nothing(sim: Simulation) -> None:
    sent = recorded_session(sim)
    host = served(sim, 4002)
    thief = replay(sim, sent, 4000)
    assert {d.header.channel for d in thief.received} == {Channel.REPLY}
    assert host.ask(InfoRequest()).result == Result.OK
    found = refusals(host)
    assert set(found) == {"stranger", "replayed"}


# -------------------------------------------------------------------- bounds


def test_at_most_8_hmacs_are_computed_in_20_ms(host: KeyedHost) -> None:
    data = bytearray(host.sealed_command(Command(50, InfoRequest())))
    data[-1] ^= 1
    host.sim.advance(HZ // 40)
    for _ in range(20):
        host.sim.inject(bytes(data), host.port)
    host.sim.step(10_000)
    assert refusals(host) == {"wrong_key": 8, "unchecked": 12}


def test_hellos_leave_hmacs_for_the_controlling_host(host: KeyedHost) -> None:
    other = KeyedHost(host.sim, 4001, key=bytes(32))
    cookie = other.greet().body
    assert isinstance(cookie, int)
    host.sim.advance(HZ // 40)
    for i in range(20):
        other.send(Channel.COMMAND, encode_command(Command(20 + i, Hello(cookie=cookie))))
    assert host.ask(InfoRequest()).result == Result.OK
    found = refusals(host)
    assert found == {"wrong_key": 6, "unchecked": 14}


def test_a_key_of_a_wrong_length_is_none(sim: Simulation) -> None:
    assert not sim.key("00" * 15)
    assert not sim.key("00" * 65)
    assert not sim.key("zz" * 32)
