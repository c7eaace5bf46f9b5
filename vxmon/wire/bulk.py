# SPDX-License-Identifier: Apache-2.0
"""Blocks by the batch: the checks of SPEC sections 1 and 3 on many datagrams at once, without a loop per record.

Says the same as :func:`decode_datagram` and :func:`decode_block` do for one datagram (a test holds them
together) and is what makes long sessions fast. A block whose message is not in canonical field order, or has
fields this version does not know, is handed to those two.
"""

from __future__ import annotations

import zlib
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.wire.block import MAX_STREAMS, decode_block
from vxmon.wire.contents import Bools, look_at_contents
from vxmon.wire.convert import MAX_NUMBER
from vxmon.wire.datagram import HEADER_BYTES, MAGIC, MAX_DATAGRAM, MAX_FRAGMENTS, VERSION, decode_datagram
from vxmon.wire.distinct import distinct
from vxmon.wire.events import EventId
from vxmon.wire.gather import Bytes, Ints, gather, raw
from vxmon.wire.types import Block, Channel, Flag
from vxmon.wire.varints import Cursor

__all__ = ["BLOCK_ROW", "KINDS", "BlockScan", "block_datagrams", "scan_blocks"]

# What is known of a block, 96 bytes. ``slots_at`` is where the slots begin in the buffer that was scanned,
# ``starts_back`` how many bytes before that the start bits begin. ``switches`` is 1 where a record tells that events
# were switched on or off. ``file`` is left for the caller.
BLOCK_ROW: Final = np.dtype(
    [
        ("first_time", "<i8"), ("last_time", "<i8"), ("sequence", "<i8"), ("first_index", "<i8"),
        ("overwritten", "<i8"), ("full", "<i8"), ("exhausted", "<i8"), ("slots_at", "<i8"),
        ("boot", "<u4"), ("run", "<u4"), ("count", "<u2"), ("slots", "<u2"), ("starts_back", "<u2"),
        ("partition", "<u2"), ("window", "<u2"), ("task", "<u2"), ("depth", "<u2"), ("file", "<u2"),
        ("stream", "u1"), ("flags", "u1"), ("switches", "u1"), ("spare", "u1"), ("room", "<u4"),
    ]
)  # fmt: skip

# Verdicts; the index is what BlockScan.kind holds. 0 is a valid block.
KINDS: Final = (
    "ok", "short", "magic", "version", "header", "length", "fragment", "crc", "payload", "checksum", "starts",
    "truncated",
)  # fmt: skip
_KIND: Final = {name: number for number, name in enumerate(KINDS)}

_HEADER: Final = np.dtype(
    {
        "names": ["magic", "version", "flags", "channel", "size", "boot", "sequence", "fragment", "fragments",
                  "length", "covered", "crc"],
        "formats": [">u4", "u1", "u1", "u1", "u1", ">u4", ">u4", ">u2", ">u2", ">u2", ">u2", ">u4"],
        "offsets": [0, 4, 5, 6, 7, 8, 12, 16, 18, 20, 22, 28],
        "itemsize": HEADER_BYTES,
    }
)  # fmt: skip
# Longest prefix (all before the slots) that the columns handle; a known message needs less.
_PREFIX: Final = 224
# The first five numbers of a message are no longer.
_LONGEST_LEADING: Final = 5 * 11
# What of the header the CRC covers: all before itself.
_CRC_AT: Final = HEADER_BYTES - 4
# Blocks whose slots are looked at together: so many make the fixed costs of numpy small, and stay in the cache.
_AT_ONCE: Final = 512


@dataclass(slots=True)
class BlockScan:
    """One row and one verdict a datagram, in the order given.

    Rows are to be trusted where ``kind`` is 0, and, except for the slots, where ``exact`` is true. Where only
    ``claims`` is true, run, stream, sequence, first index and count are what a damaged datagram says.
    """

    rows: NDArray[np.void]
    kind: Bytes
    exact: Bools
    claims: Bools


def block_datagrams(data: Bytes, offsets: Ints, lengths: Ints) -> Bools:
    """Which of the datagrams look like blocks: whole header, magic, version and channel BLOCK."""
    heads = _headers(data, offsets, lengths)
    known = (heads["magic"] == MAGIC) & (heads["version"] == VERSION) & (heads["channel"] == Channel.BLOCK)
    whole: Bools = known & (lengths >= HEADER_BYTES)
    return whole


def scan_blocks(data: Bytes, offsets: Ints, lengths: Ints, sent: Ints | None = None) -> BlockScan:
    """Check datagrams of channel BLOCK, at ``offsets`` of ``data``.

    ``lengths`` are their sizes in bytes as captured, ``sent`` as they were on the link; a datagram that was cut
    by a snapshot length is of kind "truncated".
    """
    heads = _headers(data, offsets, lengths)
    cut = np.zeros(len(offsets), bool) if sent is None else lengths < sent
    kind = _header_kinds(heads, lengths if sent is None else sent)
    covered = lengths >= heads["size"].astype(np.int64) + heads["covered"]
    good = np.flatnonzero((kind == 0) & covered)
    columns = (offsets, heads["size"], heads["covered"], heads["crc"])
    wrong = _crc_wrong(data, *(columns if len(good) == len(kind) else (column[good] for column in columns)))
    kind[good[wrong]] = _KIND["crc"]
    kind[cut & ((kind == 0) | ~covered)] = _KIND["truncated"]
    rows = np.zeros(len(offsets), BLOCK_ROW)
    parsed, claims = _parse(data, offsets, lengths, heads, rows)
    scan = BlockScan(rows, kind, parsed & (kind == _KIND["truncated"]) & covered, claims)
    _by_hand(scan, data, offsets, lengths, np.flatnonzero(~parsed & (kind == 0)))
    _check_slots(scan, data, np.flatnonzero(parsed & (kind == 0)))
    scan.claims &= scan.kind != 0
    return scan


def _headers(data: Bytes, offsets: Ints, lengths: Ints) -> NDArray[np.void]:
    """Headers of the datagrams; all zero for one that is too short."""
    if not len(data):
        return np.zeros(len(offsets), _HEADER)
    spans = gather(data, offsets, HEADER_BYTES)
    spans[lengths < HEADER_BYTES] = 0
    return spans.reshape(-1).view(_HEADER)


def _header_kinds(heads: NDArray[np.void], lengths: Ints) -> Bytes:
    """The checks before the CRC, the cheapest first: an earlier one decides."""
    rest = lengths - heads["size"]
    checks = (
        ("short", lengths < HEADER_BYTES),
        ("length", lengths > MAX_DATAGRAM),
        ("magic", heads["magic"] != MAGIC),
        ("version", heads["version"] != VERSION),
        ("header", (heads["size"] < HEADER_BYTES) | (rest < 0) | (heads["flags"] & ~np.uint8(Flag.BIG_ENDIAN) != 0)),
        ("length", (heads["length"] != rest) | (heads["covered"] > heads["length"])),
        ("fragment", (heads["fragments"] < 1) | (heads["fragments"] > MAX_FRAGMENTS)),
        ("fragment", (heads["fragments"] != 1) | (heads["fragment"] != 0)),
        ("header", heads["boot"] == 0),
    )
    kind = np.zeros(len(heads), np.uint8)
    for name, wrong in reversed(checks):
        kind[wrong] = _KIND[name]
    return kind


def _crc_wrong(
    data: Bytes, offsets: Ints, sizes: Bytes, covered: NDArray[np.uint16], told: NDArray[np.uint32]
) -> Bools:
    """Where the CRC over header and covered payload is wrong; datagrams that cover as much together."""
    wrong = np.zeros(len(offsets), bool)
    payloads = offsets + sizes
    for length in distinct(covered):
        some = np.flatnonzero(covered == length)
        table = np.empty((len(some), _CRC_AT + length), np.uint8)
        table[:, :_CRC_AT] = gather(data, offsets[some], _CRC_AT)
        table[:, _CRC_AT:] = gather(data, payloads[some], length)
        spans: list[bytes] = table.view(f"V{table.shape[1]}")[:, 0].tolist()
        wrong[some] = np.fromiter(map(zlib.crc32, spans), np.uint32, len(some)) != told[some]
    return wrong


# ---------------------------------------------------------------- the message before its slots


_LEADING: Final = (
    ("run", 0x08), ("stream", 0x10), ("sequence", 0x18), ("first_index", 0x20), ("count", 0x28),
    ("first_time", 0x30), ("last_time", 0x38),
)  # fmt: skip
_CONTEXT: Final = ("partition", "window", "task", "depth")
_LOSSES: Final = ("overwritten", "full", "exhausted")


def _parse(
    data: Bytes, offsets: Ints, lengths: Ints, heads: NDArray[np.void], rows: NDArray[np.void]
) -> tuple[Bools, Bools]:
    """Fill ``rows`` from the messages; returns where all of one was understood, and where its first five numbers."""
    fit = (heads["covered"] <= _PREFIX) & (heads["magic"] == MAGIC)
    if fit.all():
        return _parse_all(data, offsets, lengths, heads, rows)
    done, leading = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    which = np.flatnonzero(fit)
    part = np.zeros(len(which), BLOCK_ROW)
    done[which], leading[which] = _parse_all(data, offsets[which], lengths[which], heads[which], part)
    raw(rows)[which] = raw(part)
    return done, leading


def _parse_all(
    data: Bytes, offsets: Ints, lengths: Ints, heads: NDArray[np.void], rows: NDArray[np.void]
) -> tuple[Bools, Bools]:
    payloads = offsets + heads["size"]
    covered = heads["covered"].astype(np.int64)
    cursor = Cursor(gather(data, payloads, max(int(covered.max(initial=0)), _LONGEST_LEADING) + 1))
    for name, tag in _LEADING[:5]:
        cursor.store(rows, name, tag)
    cursor.ok &= (rows["sequence"] & 0xFFFFFFFF) == heads["sequence"]
    leading = cursor.ok & (payloads + cursor.places <= offsets + lengths)
    _parse_rest(cursor, rows, covered, heads["length"].astype(np.int64))
    rows["slots_at"] = payloads + covered
    rows["boot"], rows["flags"] = heads["boot"], heads["flags"]
    return cursor.ok, leading


def _parse_rest(cursor: Cursor, rows: NDArray[np.void], covered: Ints, length: Ints) -> None:
    for name, tag in _LEADING[5:]:
        cursor.store(rows, name, tag)
    cursor.message(0x42, _CONTEXT, rows)
    cursor.message(0x4A, _LOSSES, rows)
    starts_bytes = cursor.field(0x52)[0].astype(np.int64)
    starts_at = cursor.places
    cursor.skip(np.clip(starts_bytes, 0, _PREFIX))
    cursor.ok &= cursor.tag(0x59)
    cursor.skip(8)
    slots_bytes = cursor.field(0x7A)[0].astype(np.int64)
    slots = slots_bytes >> 3
    cursor.ok &= (cursor.places == covered) & (covered + slots_bytes == length) & (slots_bytes & 7 == 0) & (slots > 0)
    cursor.ok &= (starts_bytes == (slots + 7) >> 3) & (rows["stream"] < MAX_STREAMS)
    cursor.ok &= rows["first_index"] + rows["count"] <= MAX_NUMBER
    rows["slots"], rows["starts_back"] = slots & 0xFFFF, (covered - starts_at) & 0xFFFF


# ---------------------------------------------------------------- slots


def _check_slots(scan: BlockScan, data: Bytes, which: NDArray[np.intp]) -> None:
    """Fletcher-64 and start bits; blocks of one byte order and like size together, so that little is padding."""
    rows = scan.rows
    order = rows["flags"][which] & Flag.BIG_ENDIAN
    slots = rows["slots"][which]
    for big_endian in (False, True):
        alike = np.flatnonzero(order == big_endian)
        alike = which[alike[slots[alike].argsort(kind="stable")]]
        for begin in range(0, len(alike), _AT_ONCE):
            some = alike[begin : begin + _AT_ONCE]
            at, back, size = (rows[name][some].astype(np.int64) for name in ("slots_at", "starts_back", "slots"))
            counts = rows["count"][some]
            checksum, starts, filters = look_at_contents(data, at, back, size, counts, big_endian=big_endian)
            rows["switches"][some] = filters
            scan.kind[some[starts]] = _KIND["starts"]
            scan.kind[some[checksum]] = _KIND["checksum"]
    scan.exact[which] |= scan.kind[which] != 0


# ---------------------------------------------------------------- the rest


def _by_hand(scan: BlockScan, data: Bytes, offsets: Ints, lengths: Ints, which: Ints) -> None:
    """Blocks that the columns did not understand, one by one."""
    for number in which.tolist():
        at = int(offsets[number])
        end = at + int(lengths[number])
        try:
            block = decode_block(decode_datagram(data[at:end].tobytes()))
            _fill(scan.rows[number : number + 1], block, data[at:end].tobytes(), at)
        except WireError as error:
            scan.kind[number] = _KIND[error.kind]


def _fill(row: NDArray[np.void], block: Block, datagram: bytes, at: int) -> None:
    for name in (*(name for name, _ in _LEADING), "boot"):
        _put(row, name, getattr(block, name))
    for name in _CONTEXT:
        _put(row, name, getattr(block.context, name))
    for name in _LOSSES:
        _put(row, name, getattr(block.losses, name))
    slots_at = len(datagram) - len(block.slots)
    # Any place with the same bytes serves as well.
    starts_at = datagram.rfind(block.starts, 0, slots_at)
    row["slots"], row["starts_back"] = len(block.slots) >> 3, slots_at - starts_at
    row["slots_at"], row["flags"] = at + slots_at, Flag.BIG_ENDIAN if block.big_endian else 0
    heads = np.frombuffer(block.slots, ">u4" if block.big_endian else "<u4")[::2]
    starts = np.unpackbits(np.frombuffer(block.starts, np.uint8), bitorder="little")[: len(heads)]
    row["switches"] = bool((heads[starts == 1] >> 22 == EventId.FILTER).any())


def _put(row: NDArray[np.void], name: str, value: int) -> None:
    if value > min(MAX_NUMBER, int(np.iinfo(row.dtype[name]).max)):
        raise WireError("payload", f"{name} of a block is {value}, which is out of range")
    row[name] = value
