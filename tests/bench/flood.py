# SPDX-License-Identifier: Apache-2.0
"""A target for benches whose run is a flood of blocks, sent by a process in C (flood_sender.c).

The handshake, tables, the end of the run and its true figures are said by :class:`FloodTarget` in a thread; between
start and end the sender has the socket. It numbers what it sends, reads acknowledgements and sends again what they
name missing, as a target does.
"""

from __future__ import annotations

import json
import socket
import subprocess
import threading
import time
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.bench.board import BUILT
from tests.support.sessions import Target
from tests.support.tree import ROOT
from vxmon.errors import WireError
from vxmon.wire.block import encode_block, make_block
from vxmon.wire.control import decode_command, encode_reply
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.events import StopReason
from vxmon.wire.status import encode_end, encode_target_heartbeat
from vxmon.wire.types import (
    Body,
    Bye,
    Channel,
    Command,
    End,
    Hello,
    InfoRequest,
    LinkCounters,
    Reply,
    Result,
    RunConfig,
    Start,
    Started,
    Stop,
    StreamState,
    TablesRequest,
    TargetHeartbeat,
    TargetInfo,
)

__all__ = ["RECORDS", "Flood", "FloodTarget", "build", "program", "send", "template"]

RECORDS: Final = 109
_WINDOW: Final = 1024
_COOKIE: Final = 77
_OPTIONS: Final = ("-std=c11", "-O2", "-Wall", "-Wextra", "-Werror")
_LIMIT_S: Final = 60


@dataclass(frozen=True, slots=True)
class Flood:
    """How to send: ``rate`` in datagrams/s, 0: as fast as acknowledgements allow.

    A target keeps to ``window``, 0 does not. So many datagrams ``together`` are given to the kernel, at most 32.
    """

    rate: float
    seconds: float = 3.0
    streams: int = 8
    window: int = _WINDOW
    together: int = 32


def program(name: str) -> Path:
    """Where :func:`build` puts a program."""
    return BUILT / name.replace("_", "-")


def build(name: str) -> None:
    """Compile a program of this folder; raises CalledProcessError."""
    BUILT.mkdir(parents=True, exist_ok=True)
    source = ROOT / "tests" / "bench" / f"{name}.c"
    subprocess.run(["gcc", *_OPTIONS, "-o", str(program(name)), str(source)], check=True, timeout=_LIMIT_S)


def template(run: int, boot: int) -> bytes:
    """A block of 1400 bytes, of slots of one and two words like the demo target's."""
    head = [(64 << 22 | i % 2 << 16).to_bytes(4, "big") + bytes(4 + 8 * (i % 2)) for i in range(RECORDS)]
    return encode_block(make_block(head, 0, 0, boot=boot, run=run))


def send(sock: socket.socket, flood: Flood, block: bytes) -> dict[str, Any]:
    """Send copies of a block by the sender in C, that is built, from a connected socket; returns its figures."""
    command = [str(program("flood_sender")), str(sock.fileno()), str(flood.rate), str(flood.seconds)]
    command += [str(flood.streams), str(flood.window), str(RECORDS), str(flood.together)]
    done = subprocess.run(
        command, input=block, capture_output=True, check=True, pass_fds=(sock.fileno(),), timeout=_LIMIT_S
    )
    figures: dict[str, Any] = json.loads(done.stdout)
    return figures


@dataclass
class FloodTarget:
    """One run on a free port of 127.0.0.1. ``figures`` are the sender's, once the run is over.

    ``begun`` and ``ended`` are when the sender sent, on the monotonic clock.
    """

    flood: Flood
    figures: dict[str, Any] = field(default_factory=dict)
    port: int = 0
    begun: float = 0.0
    ended: float = 0.0
    _target: Target = field(default_factory=Target)
    _counters: LinkCounters = field(default_factory=LinkCounters)
    _end: End | None = None
    _started: bool = False
    _last: Reply | None = None

    def __post_init__(self) -> None:
        build("flood_sender")
        self._socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 4 << 20)
        self._socket.bind(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve, daemon=True)
        self._left = threading.Event()

    def __enter__(self) -> FloodTarget:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._left.set()
        self._thread.join()
        self._socket.close()

    def _serve(self) -> None:
        """Answer commands until the host has gone."""
        self._socket.settimeout(0.1)
        while not self._left.is_set():
            try:
                data, peer = self._socket.recvfrom(2048)
            except TimeoutError:
                continue
            except ConnectionRefusedError:
                return
            self._socket.connect(peer)
            for answer in self._take(data):
                self._socket.send(answer)
            if self._started and self._end is None:
                self._run()

    def _take(self, data: bytes) -> list[bytes]:
        try:
            datagram = decode_datagram(data)
            if datagram.header.channel != Channel.COMMAND:
                return []
            command = decode_command(datagram.payload)
        except WireError:
            return []
        if self._last is None or self._last.request != command.request:
            self._last = self._carry_out(command)
        return self._target.message(Channel.REPLY, encode_reply(self._last)) + self._also(command)

    def _carry_out(self, command: Command) -> Reply:
        result = Result.OK
        body: Body | None = None
        match command.body:
            case Hello(0):
                result, body = Result.COOKIE, _COOKIE
            case InfoRequest():
                body = self._info()
            case Start(RunConfig() as config):
                self._started = True
                body = Started(self._target.run, 0, config)
            case Stop():
                result, body = Result.STATE, self._end
            case Hello() | TablesRequest() | Bye():
                pass
            case _:
                result = Result.UNKNOWN
        return Reply(command.request, result, "", body)

    def _info(self) -> TargetInfo:
        return TargetInfo(
            "flood", "2.4", "none", "0.1", self._target.hz, True, self.flood.streams, boot=self._target.boot,
            offered=frozenset(range(1, 900)),
        )  # fmt: skip

    def _also(self, command: Command) -> list[bytes]:
        match command.body:
            case TablesRequest():
                return self._target.tables(streams=self.flood.streams)
            case Hello(cookie) if cookie:
                return self._heartbeat()
        return []

    def _heartbeat(self) -> list[bytes]:
        running = self._started and self._end is None
        beat = TargetHeartbeat(
            time.monotonic_ns() * self._target.hz // 1_000_000_000, self._target.hz, "2.4", 0,
            run=self._target.run if self._started else 0, running=running, link=self._counters,
        )  # fmt: skip
        return self._target.message(Channel.HEARTBEAT, encode_target_heartbeat(beat))

    def _run(self) -> None:
        """Let the sender send; then tell the end, with what is true."""
        self.begun = time.monotonic()
        self._socket.setblocking(True)
        self.figures = send(self._socket, self.flood, template(self._target.run, self._target.boot))
        self._socket.settimeout(0.1)
        self.ended = self.begun + self.figures["seconds"]
        states = tuple(
            StreamState(stream, blocks * RECORDS, blocks * RECORDS, 0, blocks)
            for stream, blocks in enumerate(self.figures["sent"])
        )
        self._counters = LinkCounters(sent=sum(self.figures["sent"]), resent=self.figures["resent"])
        self._end = End(self._target.run, 0, StopReason.AUTOSTOP, states)
        for data in (*self._target.message(Channel.END, encode_end(self._end)), *self._heartbeat()):
            self._socket.send(data)
