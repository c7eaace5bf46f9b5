# SPDX-License-Identifier: Apache-2.0
"""A host of a simulation that has a key: seals what it sends, checks what it gets (SPEC section 10)."""

from __future__ import annotations

from tests.support.sim import SimHost, Simulation
from vxmon.wire.authentication import HOST, TARGET, Challenge, Seal
from vxmon.wire.control import encode_command
from vxmon.wire.datagram import decode_datagram, encode_datagram, seal_datagram
from vxmon.wire.types import Channel, Command, Datagram, Header, Hello, Reply, Result

__all__ = ["KEY", "KeyedHost"]

KEY = bytes(range(32))


class KeyedHost(SimHost):
    """``number`` is that of the next sealed datagram; ``sealed`` False sends plain ones."""

    def __init__(self, sim: Simulation, port: int = 4000, key: bytes = KEY) -> None:
        super().__init__(sim, port)
        self.key = key
        self.challenge: Challenge | None = None
        self.number = 0
        self.sealed = False

    def send(self, channel: Channel, payload: bytes, boot: int = 0) -> bytes:
        self.sequence += 1
        header = Header(channel, boot, self.sequence)
        if not self.sealed:
            data = encode_datagram(header, payload)
        else:
            data = seal_datagram(header, payload, self.seal(HOST), self.number)
            self.number += 1
        self.sim.inject(data, self.port)
        return data

    def seal(self, label: bytes) -> Seal:
        assert self.challenge is not None
        return Seal(self.key, label, self.challenge.nonce, self.challenge.session)

    def collect(self) -> list[Datagram]:
        before = len(self.raw)
        found = super().collect()
        for data in self.raw[before:]:
            trailer = decode_datagram(data).trailer
            # A host that begins anew still gets what is sealed for the one before it.
            if trailer is not None and self.challenge is not None and trailer.session == self.challenge.session:
                assert self.seal(TARGET).verifies(data)
        return found

    def greet(self) -> Reply:
        """The first, plain hello; its answer has the challenge."""
        self.sealed = False
        reply = self.ask(Hello())
        assert reply.result == Result.COOKIE
        self.challenge = reply.challenge
        self.sealed = reply.challenge is not None
        self.number = 0
        return reply

    def hello(self) -> Reply:
        reply = self.greet()
        assert isinstance(reply.body, int)
        return self.ask(Hello(cookie=reply.body))

    def sealed_command(self, command: Command) -> bytes:
        """A sealed command that is not sent yet."""
        self.sequence += 1
        header = Header(Channel.COMMAND, 0, self.sequence)
        data = seal_datagram(header, encode_command(command), self.seal(HOST), self.number)
        self.number += 1
        return data
