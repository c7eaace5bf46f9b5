# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.fuzz.make_corpus``: seeds for fuzz-datagram from the golden vectors, in tests/fuzz/corpus/datagram.

The corpus is kept small: one input of each command and message, in the form that fuzz_datagram.c describes.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from tests.support.tree import ROOT
from vxmon.wire.control import encode_command
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.status import encode_ack, encode_host_heartbeat
from vxmon.wire.types import (
    Ack,
    Channel,
    Command,
    Hello,
    HostHeartbeat,
    Range,
    RunConfig,
    Start,
    Stop,
    StreamAck,
    Trigger,
)

__all__ = ["FOLDER", "seeds"]

FOLDER = ROOT / "tests/fuzz/corpus/datagram"
VECTORS = ROOT / "proto/vectors/v1"
CONTROLLED, RUNNING, WITH_KEY = 1, 2, 4
FIX, STRANGER, LATER, RECORDS = 1, 2, 4, 8
FROM_HOST = (Channel.COMMAND, Channel.HEARTBEAT, Channel.ACK, Channel.RESEND)


def step(how: int, data: bytes) -> bytes:
    return bytes([how]) + len(data).to_bytes(2, "little") + data


def fixed(channel: Channel, payload: bytes, how: int = 0) -> bytes:
    return step(FIX | how | channel << 4, payload)


def vectors() -> Iterator[tuple[str, bytes]]:
    """The host's messages among the vectors."""
    for path in sorted(VECTORS.glob("*.bin")):
        data = path.read_bytes()
        if data[6] in FROM_HOST and not data[5] & 2:
            yield path.stem, fixed(Channel(data[6]), decode_datagram(data).payload)
        elif data[5] & 2 and data[6] in FROM_HOST:
            yield path.stem, step(0, data[:1472])


def seeds() -> dict[str, bytes]:
    """Name -> input."""
    found = {name: bytes([CONTROLLED | RUNNING]) + data for name, data in vectors()}
    hello = fixed(Channel.COMMAND, encode_command(Command(1, Hello(0))), STRANGER)
    start = fixed(Channel.COMMAND, encode_command(Command(2, Start(RunConfig(events=frozenset({256, 257}))))))
    stop = fixed(Channel.COMMAND, encode_command(Command(3, Stop())), RECORDS | LATER)
    mark = fixed(Channel.COMMAND, encode_command(Command(4, Trigger(7, "mark"))), RECORDS)
    ack = Ack(1, (StreamAck(0, 1, 4, (Range(1, 2),)),))
    acks = fixed(Channel.ACK, encode_ack(ack), RECORDS) + fixed(
        Channel.HEARTBEAT, encode_host_heartbeat(HostHeartbeat(5))
    )
    found["handshake"] = bytes([0]) + hello + hello
    found["with-key"] = bytes([WITH_KEY]) + hello + start
    found["run"] = bytes([CONTROLLED]) + start + mark + acks + stop + acks
    return found


def main() -> None:
    FOLDER.mkdir(parents=True, exist_ok=True)
    for name, data in seeds().items():
        Path(FOLDER / f"{name}.bin").write_bytes(data)


if __name__ == "__main__":
    main()
