# SPDX-License-Identifier: Apache-2.0
"""The host's state machine with a key: whom it believes, and what it says when keys do not fit."""

from __future__ import annotations

from dataclasses import dataclass, field

import pytest

from vxmon.link.machine import Control, HostLink
from vxmon.wire.authentication import HOST, TARGET, Challenge, Seal
from vxmon.wire.control import decode_command, encode_reply
from vxmon.wire.datagram import decode_datagram, encode_datagram, seal_datagram
from vxmon.wire.status import encode_target_heartbeat
from vxmon.wire.tables import encode_table
from vxmon.wire.types import (
    Channel,
    Header,
    Hello,
    InfoRequest,
    LinkCounters,
    Reply,
    Result,
    TargetHeartbeat,
    TargetInfo,
)

MS = 1_000_000
KEY = bytes(range(32))
COOKIE = 0xC00C1E
INFO = TargetInfo(os_name="keyed", os_release="2.4", clock_hz=1000)


@dataclass
class Keyed:
    """A target that answers as SPEC section 10 says; ``key`` None: one without."""

    key: bytes | None = KEY
    boot: int = 77
    nonce: int = 0x1234
    session: int = 0
    number: int = 0
    seen: list[Header] = field(default_factory=list)

    def seal(self, label: bytes, session: int) -> Seal:
        assert self.key is not None
        return Seal(self.key, label, self.nonce, session)

    def sealed(self, channel: Channel, payload: bytes) -> bytes:
        self.number += 1
        return seal_datagram(Header(channel, self.boot, 1), payload, self.seal(TARGET, self.session), self.number - 1)

    def plain(self, channel: Channel, payload: bytes) -> bytes:
        return encode_datagram(Header(channel, self.boot, 1), payload)

    def take(self, data: bytes) -> list[bytes]:
        datagram = decode_datagram(data)
        self.seen.append(datagram.header)
        if datagram.header.channel != Channel.COMMAND:
            return []
        command = decode_command(datagram.payload)
        if isinstance(command.body, Hello):
            return [self.welcome(command.request, command.body, data)]
        assert self.key is None or self.seal(HOST, self.session).verifies(data)
        reply = encode_reply(Reply(command.request, Result.OK, "", INFO))
        return [self.sealed(Channel.REPLY, reply) if self.key else self.plain(Channel.REPLY, reply)]

    def welcome(self, request: int, hello: Hello, data: bytes) -> bytes:
        if hello.cookie != COOKIE:
            challenge = Challenge(self.nonce, self.session + 1) if self.key else None
            return self.plain(Channel.REPLY, encode_reply(Reply(request, Result.COOKIE, "", COOKIE, challenge)))
        if self.key is None:
            return self.plain(Channel.REPLY, encode_reply(Reply(request, Result.OK)))
        if not self.seal(HOST, self.session + 1).verifies(data):
            return self.plain(Channel.REPLY, encode_reply(Reply(request, Result.KEY)))
        self.session, self.number = self.session + 1, 0
        return self.sealed(Channel.REPLY, encode_reply(Reply(request, Result.OK)))


def beat(run: int = 0) -> bytes:
    return encode_target_heartbeat(TargetHeartbeat(5, 1000, "2.4", 1, run=run, link=LinkCounters(sent=9)))


def exchange(link: HostLink, target: Keyed, now: int = 0) -> int:
    """Lets them talk until neither has anything to say; returns the time."""
    for _ in range(20):
        out = link.poll(now)
        for data in out:
            for answer in target.take(data):
                link.receive(answer, now)
        now += MS
    return now


def connected(key: bytes | None = KEY, target: Keyed | None = None) -> tuple[HostLink, Keyed, int]:
    link, target = HostLink(100, 0, key), target or Keyed()
    link.connect(0)
    return link, target, exchange(link, target)


def test_both_with_the_key_come_together() -> None:
    link, target, now = connected()
    assert link.control is Control.HELD
    assert link.denied == ""
    pending = link.request(InfoRequest(), now)
    exchange(link, target, now)
    assert pending.reply is not None
    assert pending.reply.body == INFO
    assert not link.refused
    assert [header.flags & 2 for header in target.seen][:2] == [0, 2]
    assert all(header.flags & 2 for header in target.seen[1:])


@pytest.mark.parametrize(
    ("ours", "theirs", "words"),
    [
        (None, KEY, "the target has a key"),
        (bytes(32), KEY, "the key is not that of this target"),
        (KEY, None, "the target has none"),
    ],
)
def test_keys_that_do_not_fit_are_told_at_once(ours: bytes | None, theirs: bytes | None, words: str) -> None:
    link, target, _ = connected(ours, Keyed(theirs))
    assert link.control is Control.DENIED
    assert words in link.denied
    assert len(target.seen) <= 2


def test_without_keys_nothing_is_different() -> None:
    link, target, _ = connected(None, Keyed(None))
    assert link.control is Control.HELD
    assert not any(header.flags & 2 for header in target.seen)


def test_a_plain_welcome_is_not_believed() -> None:
    link = HostLink(100, 0, KEY)
    link.connect(0)
    target = Keyed()
    link.receive(target.take(link.poll(0)[0])[0], 0)
    hello = decode_command(decode_datagram(link.poll(MS)[0]).payload)
    link.receive(target.plain(Channel.REPLY, encode_reply(Reply(hello.request, Result.OK))), MS)
    assert link.control is Control.ASKING
    assert link.refused["plain"] == 1


def test_plain_replies_heartbeats_and_ends_are_not_believed() -> None:
    link, target, now = connected()
    pending = link.request(InfoRequest(), now)
    request = decode_command(decode_datagram(link.poll(now)[-1]).payload).request
    link.receive(target.plain(Channel.REPLY, encode_reply(Reply(request, Result.OK, "", INFO))), now)
    link.receive(target.plain(Channel.HEARTBEAT, beat(run=4)), now)
    assert not pending.done
    assert link.heartbeat is None
    assert link.refused["plain"] == 2


def test_tables_are_plain_and_believed_of_this_boot_only() -> None:
    link, target, now = connected()
    link.receive(target.plain(Channel.TABLE, encode_table(INFO)), now)
    assert link.info == INFO
    link.info = None
    stranger = Keyed(boot=78)
    link.receive(stranger.plain(Channel.TABLE, encode_table(INFO)), now)
    assert link.info is None
    assert link.boot == 77
    assert link.reboots == 0


def test_what_came_before_is_not_believed_again() -> None:
    link, target, now = connected()
    data = target.sealed(Channel.HEARTBEAT, beat())
    link.receive(data, now)
    assert link.heartbeat is not None
    link.receive(data, now)
    assert link.refused["key"] == 1


def test_our_own_datagrams_are_not_believed_when_they_come_back() -> None:
    link, target, now = connected()
    ours = seal_datagram(Header(Channel.HEARTBEAT, 77, 9), beat(), target.seal(HOST, 1), 50)
    link.receive(ours, now)
    assert link.heartbeat is None
    assert link.refused["key"] == 1


def test_a_restarted_target_is_believed_when_it_has_shown_the_key() -> None:
    link, _, now = connected()
    again = Keyed(boot=78, nonce=0x5678)
    link.receive(again.plain(Channel.TABLE, encode_table(INFO)), now)
    assert link.boot == 77
    # Heartbeats are missed, a greeting finds it.
    later = now + 3500 * MS
    for _ in range(5):
        later = exchange(link, again, later + 100 * MS)
    assert link.boot == 78
    assert link.reboots == 1
    assert link.control is Control.HELD


def test_commands_that_are_repeated_have_new_numbers() -> None:
    link, _, now = connected()
    link.request(InfoRequest(), now)
    numbers = []
    for wait in (0, 250, 700, 1600):
        sent = [decode_datagram(data) for data in link.poll(now + wait * MS)]
        numbers += [d.trailer.number for d in sent if d.trailer is not None]
    assert len(numbers) >= 4
    assert len(set(numbers)) == len(numbers)
    assert numbers == sorted(numbers)
