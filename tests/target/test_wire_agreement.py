# SPDX-License-Identifier: Apache-2.0
"""The agent and the host speak the same wire: two implementations, one of C and nanopb, one of Python and protobuf."""

from __future__ import annotations

import re
import socket
import subprocess
import time
from collections.abc import Iterator

import pytest

from tests.support.tree import ROOT
from vxmon.wire.block import decode_block, encode_block
from vxmon.wire.control import decode_reply, encode_command
from vxmon.wire.datagram import decode_datagram, encode_datagram
from vxmon.wire.events import TABLES
from vxmon.wire.reassembly import Reassembler
from vxmon.wire.status import decode_target_heartbeat
from vxmon.wire.tables import decode_table
from vxmon.wire.types import (
    Channel,
    Command,
    Datagram,
    End,
    EventTable,
    Header,
    Hello,
    ObjectTable,
    Reply,
    Request,
    Result,
    RunConfig,
    Start,
    Started,
    Stop,
    TargetInfo,
)

PROGRAM = ROOT / "build/posix/vxm-posix-target"
PATIENCE_S = 20.0
ALL_EVENTS = frozenset(event.id for event in TABLES["2.4"].events)


class Peer:
    """A host without any protocol: sends commands, keeps all that comes."""

    def __init__(self, port: int) -> None:
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self.socket.settimeout(0.1)
        self.socket.connect(("127.0.0.1", port))
        self.raw: list[bytes] = []
        self.messages: list[tuple[Datagram, bytes]] = []
        self.requests = 0
        self._reassembler = Reassembler()

    def command(self, body: Request) -> Reply:
        self.requests += 1
        payload = encode_command(Command(self.requests, body))
        self.socket.send(encode_datagram(Header(Channel.COMMAND, 0, self.requests), payload))
        deadline = time.monotonic() + PATIENCE_S
        while time.monotonic() < deadline:
            self.receive()
            for reply in self.replies():
                if reply.request == self.requests:
                    return reply
        raise AssertionError(f"no reply to {body}")

    def replies(self) -> list[Reply]:
        return [
            decode_reply(payload) for datagram, payload in self.messages if datagram.header.channel == Channel.REPLY
        ]

    def receive(self) -> None:
        try:
            data = self.socket.recv(2048)
        except TimeoutError:
            return
        datagram = decode_datagram(data)
        self.raw.append(data)
        payload = self._reassembler.add(datagram, time.monotonic_ns())
        if payload is not None:
            self.messages.append((datagram, payload))

    def payloads(self, channel: Channel) -> list[bytes]:
        return [payload for datagram, payload in self.messages if datagram.header.channel == channel]


@pytest.fixture(scope="module")
def run() -> Iterator[Peer]:
    """A short run of the posix target: everything that it said."""
    command = [str(PROGRAM), "--port", "0", "--run", "60", "--release", "2.4"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as target:
        try:
            assert target.stdout is not None
            found = re.search(r"listening on 127\.0\.0\.1:(\d+)", target.stdout.readline())
            assert found
            peer = Peer(int(found[1]))
            talk(peer)
            yield peer
            peer.socket.close()
        finally:
            target.kill()


def talk(peer: Peer) -> None:
    cookie = peer.command(Hello())
    assert cookie.result == Result.COOKIE
    assert isinstance(cookie.body, int)
    assert peer.command(Hello(cookie.body)).result == Result.OK
    assert peer.command(Start(RunConfig(ALL_EVENTS))).result == Result.OK
    deadline = time.monotonic() + PATIENCE_S
    wanted = {Channel.BLOCK, Channel.TABLE, Channel.HEARTBEAT}
    while time.monotonic() < deadline and not (wanted <= {d.header.channel for d, _ in peer.messages} and tables(peer)):
        peer.receive()
    assert peer.command(Stop()).result == Result.OK


def tables(peer: Peer) -> bool:
    """True when all three tables have come."""
    kinds = {type(decode_table(payload)) for payload in peer.payloads(Channel.TABLE)}
    return kinds == {TargetInfo, EventTable, ObjectTable}


def test_blocks_of_the_agent_are_encoded_the_same_by_the_host(run: Peer) -> None:
    blocks = [data for data in run.raw if data[6] == Channel.BLOCK]
    assert blocks
    assert [encode_block(decode_block(decode_datagram(data))) for data in blocks] == blocks


def test_event_table_of_the_agent_is_the_shipped_one(run: Peer) -> None:
    sent = [decode_table(payload) for payload in run.payloads(Channel.TABLE)]
    event_tables = [table for table in sent if isinstance(table, EventTable)]
    assert event_tables
    assert all(table == TABLES["2.4"] for table in event_tables)
    (info, *_) = [table for table in sent if isinstance(table, TargetInfo)]
    assert info.table_fingerprint == TABLES["2.4"].fingerprint
    assert info.offered == ALL_EVENTS


def test_heartbeats_name_the_table(run: Peer) -> None:
    beats = [decode_target_heartbeat(payload) for payload in run.payloads(Channel.HEARTBEAT)]
    assert {beat.table_fingerprint for beat in beats} == {TABLES["2.4"].fingerprint}


def test_replies_have_their_bodies(run: Peer) -> None:
    bodies = {type(reply.body) for reply in run.replies()}
    assert {int, Started, End} <= bodies


def test_every_record_of_the_run_is_counted(run: Peer) -> None:
    (end,) = [reply.body for reply in run.replies() if isinstance(reply.body, End)]
    blocks = [decode_block(decode_datagram(data)) for data in run.raw if data[6] == Channel.BLOCK]
    last = max(blocks, key=lambda block: block.sequence)
    # No block is lost on the loopback before the stop, so the indices are contiguous from 0.
    ordered = sorted({block.sequence: block for block in blocks}.values(), key=lambda block: block.sequence)
    index = 0
    for block in ordered:
        assert block.first_index == index
        index += block.count
    assert last.first_index + last.count <= end.streams[0].recorded
