# SPDX-License-Identifier: Apache-2.0
"""Blocks of records (SPEC section 3): decoding with all checks, and encoding."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Final

import numpy as np
from google.protobuf.message import DecodeError
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.wire.convert import MAX_STREAMS, check_numbers, context_from, context_to, losses_from, losses_to
from vxmon.wire.datagram import encode_datagram
from vxmon.wire.generated import vxmon_pb2 as pb
from vxmon.wire.slots import MAX_DATA_SLOTS, SLOT_BYTES, slot_words
from vxmon.wire.types import Block, Channel, Context, Datagram, Flag, Header, Losses

__all__ = ["MAX_STREAMS", "decode_block", "encode_block", "fletcher64", "make_block", "record_starts"]

# With more words the sum in fletcher64 could overflow; a datagram holds 368.
_FLETCHER_CHUNK: Final = 4096


def fletcher64(slots: bytes | memoryview, big_endian: bool) -> int:
    """Fletcher-64 over the 32-bit words of whole slots, as numbers of the target's byte order.

    Raises:
        WireError: the length is no multiple of 4.

    """
    if len(slots) % 4:
        raise WireError("payload", f"Fletcher-64 of {len(slots)} bytes")
    words = slot_words(slots, big_endian).astype(np.uint64)
    first = second = 0
    for start in range(0, len(words), _FLETCHER_CHUNK):
        chunk = words[start : start + _FLETCHER_CHUNK]
        weights = np.arange(len(chunk), 0, -1, dtype=np.uint64)
        second = (second + first * len(chunk) + int((weights * chunk).sum())) % 0xFFFFFFFF
        first = (first + int(chunk.sum())) % 0xFFFFFFFF
    return second << 32 | first


def record_starts(starts: bytes, slots: int) -> NDArray[np.intp]:
    """Indices of the header slots among ``slots`` slots, from the bits of ``starts``."""
    bits = np.unpackbits(np.frombuffer(starts, dtype=np.uint8), count=slots, bitorder="little")
    return np.flatnonzero(bits)


def decode_block(datagram: Datagram) -> Block:
    """Decode the block in a datagram and make every check that makes it valid.

    Raises:
        WireError: kind "payload", "checksum" or "starts"; the block is corrupt.

    """
    if datagram.header.channel != Channel.BLOCK:
        raise WireError("payload", f"channel {datagram.header.channel} carries no blocks")
    message = pb.Block()
    try:
        message.ParseFromString(datagram.payload)
    except DecodeError as error:
        raise WireError("payload", "a block is not a protobuf message") from error
    _check_message(datagram, message)
    big_endian = datagram.header.big_endian
    if fletcher64(message.slots, big_endian) != message.checksum:
        raise WireError("checksum", f"checksum of block {message.sequence} of stream {message.stream} is wrong")
    _check_starts(message.starts, slot_words(message.slots, big_endian), message.count)
    return Block(
        boot=datagram.header.boot,
        run=message.run,
        stream=message.stream,
        sequence=message.sequence,
        first_index=message.first_index,
        count=message.count,
        first_time=message.first_time,
        last_time=message.last_time,
        context=context_from(message.context),
        losses=losses_from(message.losses),
        starts=message.starts,
        slots=message.slots,
        big_endian=big_endian,
    )


def _check_message(datagram: Datagram, message: pb.Block) -> None:
    header, size = datagram.header, len(message.slots)
    if not size or size % SLOT_BYTES:
        raise WireError("payload", f"a block with {size} bytes of slots")
    if header.covered + size != header.length or datagram.payload[header.covered :] != message.slots:
        raise WireError("payload", "the slots of a block are not its end, as the header says")
    if message.stream >= MAX_STREAMS:
        raise WireError("payload", f"stream {message.stream}")
    if header.sequence != message.sequence & 0xFFFFFFFF:
        raise WireError("payload", f"block {message.sequence} in a datagram numbered {header.sequence}")
    last_index = message.first_index + message.count
    check_numbers("block", message.sequence, last_index, message.first_time, message.last_time)


def _check_starts(starts: bytes, words: NDArray[np.uint32], count: int) -> None:
    """Every header slot's n must reach exactly the next start, or the end."""
    slots = len(words) // 2
    if len(starts) != (slots + 7) // 8:
        raise WireError("starts", f"{len(starts)} bytes of starts for {slots} slots")
    if slots % 8 and starts[-1] >> slots % 8:
        raise WireError("starts", "a start behind the last slot")
    at = record_starts(starts, slots)
    if len(at) != count or not count or at[0] != 0:
        raise WireError("starts", f"{len(at)} starts for {count} records")
    heads = words[2 * at]
    lengths = heads >> np.uint32(16) & np.uint32(0x3F)
    ends = np.append(at[1:], slots)
    if not np.array_equal(at + lengths + 1, ends):
        raise WireError("starts", "the lengths of the records contradict their starts")
    if lengths.max() > MAX_DATA_SLOTS or (heads >> np.uint32(22)).min() == 0:
        raise WireError("starts", "a record without an event id, or too long")


def make_block(
    records: Sequence[bytes],
    first_time: int,
    last_time: int,
    *,
    boot: int = 1,
    run: int = 1,
    stream: int = 0,
    sequence: int = 0,
    first_index: int = 0,
    context: Context | None = None,
    losses: Losses | None = None,
    big_endian: bool = True,
) -> Block:
    """Make a block from packed records (see :func:`vxmon.wire.slots.encode_record`); times in ticks."""
    return Block(
        boot=boot,
        run=run,
        stream=stream,
        sequence=sequence,
        first_index=first_index,
        count=len(records),
        first_time=first_time,
        last_time=last_time,
        context=context or Context(),
        losses=losses or Losses(),
        starts=_mark(len(record) // SLOT_BYTES for record in records),
        slots=b"".join(records),
        big_endian=big_endian,
    )


def _mark(lengths: Iterable[int]) -> bytes:
    bits = [bit for length in lengths for bit in (1, *[0] * (length - 1))]
    return np.packbits(np.array(bits, dtype=np.uint8), bitorder="little").tobytes()


def encode_block(block: Block) -> bytes:
    """Make the datagram of a block, as the target does.

    Raises:
        WireError: it does not fit a datagram.

    """
    message = pb.Block(
        run=block.run,
        stream=block.stream,
        sequence=block.sequence,
        first_index=block.first_index,
        count=block.count,
        first_time=block.first_time,
        last_time=block.last_time,
        context=context_to(block.context),
        losses=losses_to(block.losses),
        starts=block.starts,
        checksum=fletcher64(block.slots, block.big_endian),
        slots=block.slots,
    )
    payload = message.SerializeToString(deterministic=True)
    header = Header(
        channel=Channel.BLOCK,
        boot=block.boot,
        sequence=block.sequence & 0xFFFFFFFF,
        flags=Flag.BIG_ENDIAN if block.big_endian else 0,
        covered=len(payload) - len(block.slots),
        message=block.sequence & 0xFFFF,
    )
    return encode_datagram(header, payload)
