# SPDX-License-Identifier: Apache-2.0
"""What tests of the agent ask a host for."""

from __future__ import annotations

from tests.support.records import record_list
from tests.support.sim import SimHost
from vxmon.wire.block import decode_block
from vxmon.wire.status import decode_target_heartbeat
from vxmon.wire.types import (
    Channel,
    End,
    Reply,
    Result,
    RunConfig,
    Start,
    Started,
)

HZ = 1_000_000
USER_POINT = 256


def started(host: SimHost, config: RunConfig | None = None) -> Started:
    reply = host.ask(Start(config or RunConfig(events=frozenset({USER_POINT}))))
    assert reply.result == Result.OK, reply.text
    assert isinstance(reply.body, Started)
    return reply.body


def ended(reply: Reply) -> End:
    assert isinstance(reply.body, End), reply.text
    return reply.body


def records(host: SimHost) -> list[tuple[int, int, tuple[int, ...]]]:
    blocks = [decode_block(datagram) for datagram in host.of(Channel.BLOCK)]
    return [record[:3] for block in blocks for record in record_list(block)]


def refused(host: SimHost) -> int:
    host.sim.advance(HZ)
    host.sim.step(100_000)
    host.collect()
    return decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload).link.refused


def raw_command(host: SimHost, field: int, body: bytes) -> Reply:
    """A command that no well-made host sends: body as the field of this number of message Command."""
    host.requests += 1
    tag = bytes([field << 3 & 0x7F | 2 | (0x80 if field > 15 else 0)]) + (bytes([field >> 4]) if field > 15 else b"")
    host.send(Channel.COMMAND, b"\x08" + bytes([host.requests]) + tag + bytes([len(body)]) + body)
    reply = host.reply()
    assert reply is not None
    assert reply.request == host.requests
    return reply
