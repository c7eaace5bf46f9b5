# SPDX-License-Identifier: Apache-2.0
"""Any bytes at the host's wire decoders give a value or a WireError, never anything else."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st

from vxmon.errors import WireError
from vxmon.wire.block import decode_block
from vxmon.wire.control import decode_command, decode_reply
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.notes import decode_note
from vxmon.wire.reassembly import Reassembler
from vxmon.wire.resend import decode_fragment_request
from vxmon.wire.status import decode_ack, decode_end, decode_host_heartbeat, decode_target_heartbeat
from vxmon.wire.tables import decode_table
from vxmon.wire.types import Channel, Datagram

VECTORS = sorted((Path(__file__).parents[2] / "proto" / "vectors").glob("v*/*.bin"))
SEEDS = [data[:1472] for data in (path.read_bytes() for path in VECTORS)]
DECODERS: dict[int, list[Callable[[bytes], object]]] = {
    Channel.COMMAND: [decode_command],
    Channel.REPLY: [decode_reply],
    Channel.TABLE: [decode_table],
    Channel.HEARTBEAT: [decode_host_heartbeat, decode_target_heartbeat],
    Channel.ACK: [decode_ack],
    Channel.END: [decode_end],
    Channel.RESEND: [decode_fragment_request],
    Channel.NOTE: [decode_note],
}


def receive(data: bytes) -> None:
    """What a receiver does with a datagram, whatever it is."""
    try:
        datagram = decode_datagram(data)
    except WireError:
        return
    if datagram.header.channel == Channel.BLOCK:
        decode(lambda _: decode_block(datagram), b"")
    for decoder in DECODERS.get(datagram.header.channel, []):
        decode(decoder, datagram.payload)


def decode(decoder: Callable[[bytes], object], payload: bytes) -> None:
    try:
        decoder(payload)
    except WireError as error:
        assert "\n" not in str(error)


def with_right_crc(data: bytes) -> bytes:
    """Mutations behind the CRC would never get past it."""
    if len(data) < 32:
        return data
    header = data[7]
    covered = int.from_bytes(data[22:24], "big")
    crc = zlib.crc32(data[header : header + covered], zlib.crc32(data[:28]))
    return data[:28] + crc.to_bytes(4, "big") + data[32:]


@settings(max_examples=2000, deadline=None)
@given(st.binary(max_size=1500))
def test_random_bytes(data: bytes) -> None:
    receive(data)
    for decoders in DECODERS.values():
        for decoder in decoders:
            decode(decoder, data)


@settings(max_examples=4000, deadline=None)
@given(
    st.sampled_from(SEEDS), st.lists(st.tuples(st.integers(0, 1471), st.integers(0, 255)), max_size=8), st.booleans()
)
def test_mutated_vectors(seed: bytes, changes: list[tuple[int, int]], repair: bool) -> None:
    data = bytearray(seed)
    for at, value in changes:
        data[at % len(data)] = value
    receive(with_right_crc(bytes(data)) if repair else bytes(data))


@settings(max_examples=500, deadline=None)
@given(st.sampled_from(SEEDS), st.integers(0, 1472))
def test_truncated_vectors(seed: bytes, length: int) -> None:
    data = seed[:length]
    if len(data) >= 32:
        payload = len(data) - 32
        data = (
            data[:20]
            + payload.to_bytes(2, "big")
            + min(payload, int.from_bytes(data[22:24], "big")).to_bytes(2, "big")
            + data[24:]
        )
    receive(with_right_crc(data))


@settings(max_examples=300, deadline=None)
@given(
    st.lists(st.tuples(st.integers(0, 5), st.integers(0, 70), st.integers(0, 70), st.binary(max_size=99)), max_size=300)
)
def test_hostile_fragments(pieces: list[tuple[int, int, int, bytes]]) -> None:
    reassembler = Reassembler()
    head = decode_datagram(SEEDS[0]).header
    for now, (message, fragment, fragments, payload) in enumerate(pieces):
        fields = {"message": message, "fragment": fragment, "fragments": fragments, "channel": Channel.TABLE}
        header = type(head)(**{"boot": 1, "sequence": 0, **fields})
        if not 0 < fragments <= 64 or fragment >= fragments:
            continue  # decode_datagram refuses these
        try:
            reassembler.add(Datagram(header, payload), now)
        except WireError as error:
            assert error.kind == "fragment"
    assert len(reassembler.close()) <= len(pieces)
