# SPDX-License-Identifier: Apache-2.0
"""A repeatable run of the demo target and the records it sent, read without the product's decoder of records."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.support.qemu import KERNEL, NO_INPUT, STATIC_PEER, Run, pcap_frames, run
from tests.support.records import Record, record_list
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.types import Block, Channel

__all__ = ["Recording", "record"]


@dataclass(frozen=True)
class Recording:
    """What the console said, and what was recorded, in the order in which it was sent."""

    done: Run
    blocks: list[Block]
    records: list[Record]

    def of(self, *events: int) -> list[Record]:
        return [record for record in self.records if record[0] in events]


def record(
    folder: Path, name: str, parameters: str, frames: int = 50, *, config: str = "", kernel: Path = KERNEL
) -> Recording:
    """Run for some frames. ``config`` is added to the boot parameter of that name."""
    dump = folder / f"{name}.pcap"
    peer = STATIC_PEER.replace("config=oneway:1", f"config=oneway:1{',' if config else ''}{config}")
    done = run(f"trace-{name}", f"run={frames}f {parameters} {peer}", *NO_INPUT(dump), kernel=kernel)
    assert done.status == 0
    datagrams = [decode_datagram(frame[42:]) for frame in pcap_frames(dump.read_bytes())]
    blocks = [decode_block(datagram) for datagram in datagrams if datagram.header.channel == Channel.BLOCK]
    return Recording(done, blocks, [item for block in blocks for item in record_list(block)])
