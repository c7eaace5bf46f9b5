# SPDX-License-Identifier: Apache-2.0
"""Golden frames: what is in them, as Python values, JSON and bytes.

A vector is one or more datagrams in a file ``<name>.bin`` (each tells its own length) and their meaning in
``<name>.json``. Vectors of a wire version are only ever added: a decoder must go on reading them, and an
encoder must go on making them.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import fields, is_dataclass
from enum import IntEnum
from pathlib import Path

from vxmon.wire.authentication import HOST, TARGET, TRAILER_BYTES, Seal, boot_nonce
from vxmon.wire.block import decode_block, encode_block
from vxmon.wire.control import decode_command, decode_reply, encode_command, encode_reply
from vxmon.wire.datagram import decode_datagram, split_message
from vxmon.wire.events import TABLES
from vxmon.wire.notes import Note, decode_note, encode_note
from vxmon.wire.reassembly import Reassembler
from vxmon.wire.resend import FragmentRequest, decode_fragment_request, encode_fragment_request
from vxmon.wire.slots import SLOT_BYTES, decode_record
from vxmon.wire.status import (
    decode_ack,
    decode_end,
    decode_host_heartbeat,
    decode_target_heartbeat,
    encode_ack,
    encode_end,
    encode_host_heartbeat,
    encode_target_heartbeat,
)
from vxmon.wire.tables import decode_table, encode_table
from vxmon.wire.types import (
    Ack,
    Block,
    Channel,
    Command,
    Datagram,
    End,
    EventTable,
    Flag,
    Header,
    HostHeartbeat,
    ObjectTable,
    Reply,
    TargetHeartbeat,
    TargetInfo,
)

__all__ = ["ENTROPY", "KEY", "NUMBER", "SESSION", "VECTORS", "Message", "cut", "decode", "encode", "seal_of", "to_json"]

VECTORS = Path(__file__).parents[2] / "proto" / "vectors" / "v1"
Message = (
    Ack | Block | Command | End | EventTable | FragmentRequest | HostHeartbeat | Note | ObjectTable | Reply
    | TargetHeartbeat | TargetInfo
)  # fmt: skip

_FLAGS_AT, _HEADER_SIZE_AT, _LENGTH_AT = 5, 7, 20
# Of the authenticated vectors; the entropy is the one their boot nonce is made of.
KEY, ENTROPY, SESSION, NUMBER = bytes(range(0x10, 0x30)), 0x0123456789ABCDEF, 3, 0x01020304
# Fields that came after the first vectors; where they have their default the vector does not name them.
_LATER = {
    "RunConfig": {
        "hidden_partitions", "hidden_objects", "payload", "content_bytes", "fast", "memory_ms", "stack_ms",
        "operations_ms", "grow_units", "max_units", "max_records", "stop_when_full",
    },
    "StreamState": {"grow_failures"},
    "TargetHeartbeat": {"echo_time"},
    "TargetInfo": {
        "min_period_ms", "max_period_ms", "max_content_bytes", "hm_log", "edr_log", "running", "config",
        "partition_count", "object_count", "has_key",
    },
    "LinkCounters": {"malformed", "no_key", "wrong_key", "replayed", "stranger", "unchecked"},
    "Reply": {"challenge"},
}  # fmt: skip


def cut(data: bytes) -> list[bytes]:
    """Cut the content of a .bin file into its datagrams."""
    datagrams = []
    while data:
        size = data[_HEADER_SIZE_AT] + int.from_bytes(data[_LENGTH_AT : _LENGTH_AT + 2], "big")
        size += TRAILER_BYTES if data[_FLAGS_AT] & Flag.AUTHENTICATED else 0
        datagrams.append(data[:size])
        data = data[size:]
    return datagrams


def encode(message: Message, header: Header) -> bytes:
    """Bytes of the .bin file. The header gives boot, sequence, flags and message number."""
    if isinstance(message, Block):
        return encode_block(message)
    pieces = split_message(header, _payload(message))
    if header.flags & Flag.AUTHENTICATED:
        seal = seal_of(message)
        pieces = [piece + seal.trailer(piece, NUMBER + i) for i, piece in enumerate(pieces)]
    return b"".join(pieces)


def seal_of(message: Message) -> Seal:
    """What makes the trailers of the authenticated vectors."""
    label = HOST if isinstance(message, Command | Ack | HostHeartbeat | FragmentRequest) else TARGET
    return Seal(KEY, label, boot_nonce(KEY, ENTROPY), SESSION)


def _payload(message: Message) -> bytes:
    match message:
        case Command():
            return encode_command(message)
        case Reply():
            return encode_reply(message)
        case Ack():
            return encode_ack(message)
        case End():
            return encode_end(message)
        case HostHeartbeat():
            return encode_host_heartbeat(message)
        case TargetHeartbeat():
            return encode_target_heartbeat(message)
        case FragmentRequest():
            return encode_fragment_request(message)
        case Note():
            return encode_note(message)
        case TargetInfo() | EventTable() | ObjectTable():
            return encode_table(message)
    raise AssertionError(message)


def decode(data: bytes, kind: str) -> tuple[Header, Message]:
    """The first header and the message of a .bin file; ``kind`` is the message's class (for heartbeats)."""
    datagrams = [decode_datagram(piece) for piece in cut(data)]
    reassembler = Reassembler()
    done = [payload for datagram in datagrams if (payload := reassembler.add(datagram, 0)) is not None]
    assert len(done) == 1
    return datagrams[0].header, _message(datagrams[0], done[0], kind)


def _message(datagram: Datagram, payload: bytes, kind: str) -> Message:
    if datagram.header.channel == Channel.BLOCK:
        return decode_block(datagram)
    if kind == "HostHeartbeat":
        return decode_host_heartbeat(payload)
    decoders: dict[int, Callable[[bytes], Message]] = {
        Channel.COMMAND: decode_command,
        Channel.REPLY: decode_reply,
        Channel.TABLE: decode_table,
        Channel.HEARTBEAT: decode_target_heartbeat,
        Channel.ACK: decode_ack,
        Channel.END: decode_end,
        Channel.RESEND: decode_fragment_request,
        Channel.NOTE: decode_note,
    }
    return decoders[datagram.header.channel](payload)


def to_json(header: Header, message: Message) -> dict[str, object]:
    """What the .json file holds."""
    result: dict[str, object] = {
        "kind": type(message).__name__,
        "header": {
            "channel": Channel(header.channel).name,
            "version": header.version,
            "flags": header.flags,
            "boot": header.boot,
            "sequence": header.sequence,
            "message": header.message,
            "fragments": header.fragments,
        },
        "message": _plain(message),
    }
    if isinstance(message, Block):
        result["records"] = _records(message)
    return result


def _records(block: Block) -> list[dict[str, object]]:
    """Every record of a block, with the fields that the event table of release 2.4 gives it."""
    events = {event.id: event for event in TABLES["2.4"].events}
    order = "big" if block.big_endian else "little"
    records, at = [], 0
    while at < len(block.slots):
        word = int.from_bytes(block.slots[at : at + 4], "big" if block.big_endian else "little")
        size = SLOT_BYTES * (1 + (word >> 16 & 0x3F))
        record = block.slots[at : at + size]
        event = events[word >> 22]
        records.append(
            {
                "event": event.name,
                "arg": word & 0xFFFF,
                "time": int.from_bytes(record[4:8], "big" if order == "big" else "little"),
                "fields": _plain(decode_record(event, record, block.big_endian)),
            }
        )
        at += size
    return records


def _plain(value: object) -> object:
    """Nothing but JSON: bytes as hex strings, sets as sorted lists."""
    match value:
        case bytes():
            return value.hex()
        case IntEnum():
            return value.name
        case frozenset():
            return sorted(value)
        case tuple() | list():
            return [_plain(item) for item in value]
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
    if is_dataclass(value) and not isinstance(value, type):
        kind = type(value).__name__
        later = _LATER.get(kind, set())
        content = {
            field.name: _plain(getattr(value, field.name))
            for field in fields(value)
            if field.name not in later or getattr(value, field.name) != field.default
        }
        return {"kind": kind, **content}
    return value
