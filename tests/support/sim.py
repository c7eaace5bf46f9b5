# SPDX-License-Identifier: Apache-2.0
"""Drives build/posix/vxm-sim: the agent with a clock, a network and interrupts that a test commands.

The program is built with the address and undefined-behaviour sanitizers; a finding ends it, and the next
question to it fails with what they said.
"""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from types import TracebackType
from typing import IO, Self

from tests.support.tree import ROOT
from vxmon.wire.control import decode_reply, encode_command
from vxmon.wire.datagram import decode_datagram, encode_datagram
from vxmon.wire.reassembly import Reassembler
from vxmon.wire.types import Channel, Command, Datagram, Header, Hello, Reply, Request, Result

__all__ = ["LOOPBACK", "Sent", "SimHost", "Simulation", "Totals"]

PROGRAMS = ROOT / "build/posix"
LOOPBACK = 0x7F000001
PATIENCE_S = 60.0


@dataclass(frozen=True)
class Sent:
    """A datagram that the agent gave to the network."""

    address: int
    port: int
    data: bytes


@dataclass(frozen=True)
class Totals:
    """Counters of a stream as vxm_agent_totals gives them."""

    recorded: int
    overwritten: int
    full: int
    exhausted: int
    blocks: int
    busy: bool

    @property
    def lost(self) -> int:
        return self.overwritten + self.full + self.exhausted


class Simulation:
    """One boot of the agent."""

    def __init__(self, program: str = "vxm-sim") -> None:
        self._errors: IO[bytes] = tempfile.TemporaryFile()  # noqa: SIM115 - closed with the program
        self._process = subprocess.Popen(
            [str(PROGRAMS / program)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
            bufsize=1 << 16,
        )

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.close()
            status = self._process.wait(PATIENCE_S)
        except BrokenPipeError:
            status = self._process.wait(PATIENCE_S)
        finally:
            self._process.kill()
            self._process.stdout.close()
            said = self.errors()
            self._errors.close()
        if kind is None:
            assert status == 0, said

    def errors(self) -> str:
        self._errors.seek(0)
        return self._errors.read().decode(errors="replace")

    def tell(self, line: str) -> None:
        assert self._process.stdin is not None
        try:
            self._process.stdin.write(line.encode() + b"\n")
        except BrokenPipeError:
            raise AssertionError(self.errors()) from None

    def ask(self, line: str) -> str:
        """The first line of the answer."""
        self.tell(line)
        return self._read()

    def _read(self) -> str:
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        try:
            self._process.stdin.flush()
        except BrokenPipeError:
            raise AssertionError(self.errors()) from None
        line = self._process.stdout.readline().decode()
        if not line:
            self._process.wait(PATIENCE_S)
            raise AssertionError(self.errors())
        return line.rstrip("\n")

    # ---------------------------------------------------------------- what the program can do

    def init(self, **settings: int) -> int:
        answer = self.ask("init " + " ".join(f"{name}={int(value)}" for name, value in settings.items()))
        return int(answer.removeprefix("init "))

    def advance(self, ticks: int) -> None:
        self.tell(f"advance {ticks}")

    def clock(self, ticks: int) -> None:
        self.tell(f"clock {ticks}")

    def record(self, event: int, arg: int, words: Iterable[int] = ()) -> None:
        self.tell(f"record {event} {arg} " + " ".join(map(str, words)))

    def interrupt(self, nth: int, event: int, arg: int, words: Iterable[int] = ()) -> None:
        self.tell(f"interrupt {nth} {event} {arg} " + " ".join(map(str, words)))

    def fired(self) -> list[tuple[int, int]]:
        """Index and time of the interrupts' records, in order of coming; the others are forgotten."""
        numbers = [int(word) for word in self.ask("fired").split()[1:]]
        return list(zip(numbers[::2], numbers[1::2], strict=True))

    def key(self, digits: str) -> bool:
        """Before init: the text of a key file; false when the port takes none from it."""
        return self.ask(f"key {digits}") == "key 1"

    def step(self, ticks: int) -> bool:
        return self.ask(f"step {ticks}") == "step 1"

    def network(self, datagrams: int) -> None:
        self.tell(f"network {datagrams}")

    def inject(self, data: bytes, port: int, address: int = LOOPBACK) -> None:
        self.tell(f"inject {address} {port} {data.hex()}")

    def sent(self) -> list[Sent]:
        answers = []
        line = self.ask("sent")
        while line != "end":
            _, address, port, data = line.split()
            answers.append(Sent(int(address), int(port), bytes.fromhex(data)))
            line = self._read()
        return answers

    def totals(self, stream: int = 0) -> Totals:
        numbers = [int(word) for word in self.ask(f"totals {stream}").split()[1:]]
        recorded, overwritten, full, exhausted, blocks, busy = numbers
        return Totals(recorded, overwritten, full, exhausted, blocks, busy != 0)

    def create(self, kind: str, name: str, *numbers: int) -> int:
        return int(self.ask(f"create {kind} {name} " + " ".join(map(str, numbers))).split()[1])

    def stop(self, reason: int) -> int:
        return int(self.ask(f"stop {reason}").split()[1])


class SimHost:
    """A host of a simulation, on a network that loses nothing: commands and their replies."""

    def __init__(self, sim: Simulation, port: int = 4000) -> None:
        self.sim = sim
        self.port = port
        self.requests = 0
        self.sequence = 0
        self.received: list[Datagram] = []
        self.raw: list[bytes] = []
        self._reassembler = Reassembler()

    def send(self, channel: Channel, payload: bytes, boot: int = 0) -> bytes:
        """Sends one datagram; returns its bytes."""
        self.sequence += 1
        data = encode_datagram(Header(channel, boot, self.sequence), payload)
        self.sim.inject(data, self.port)
        return data

    def collect(self) -> list[Datagram]:
        """Takes what the agent sent to this host since."""
        raw = [sent.data for sent in self.sim.sent() if sent.port == self.port]
        found = [decode_datagram(data) for data in raw]
        self.raw += raw
        self.received += found
        return found

    def ask(self, body: Request, ticks: int = 100_000) -> Reply:
        """Sends a command and lets the agent work until it has answered."""
        self.requests += 1
        self.send(Channel.COMMAND, encode_command(Command(self.requests, body)))
        reply = self.reply(ticks)
        assert reply is not None
        assert reply.request == self.requests
        return reply

    def reply(self, ticks: int = 100_000) -> Reply | None:
        """Lets the agent work; the last reply it sent, if any."""
        found = None
        self.sim.step(ticks)
        for datagram in self.collect():
            payload = self._reassembler.add(datagram, 0) if datagram.header.channel == Channel.REPLY else None
            if payload is not None:
                found = decode_reply(payload)
        return found

    def hello(self) -> Reply:
        """The whole handshake."""
        first = self.ask(Hello())
        assert first.result == Result.COOKIE
        assert isinstance(first.body, int)
        return self.ask(Hello(cookie=first.body))

    def of(self, channel: Channel) -> list[Datagram]:
        return [datagram for datagram in self.received if datagram.header.channel == channel]
