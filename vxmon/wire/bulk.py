# SPDX-License-Identifier: Apache-2.0
"""Blocks by the batch: the checks of SPEC sections 1 and 3 on many datagrams at once, without a loop per record.

Says the same as :func:`decode_datagram` and :func:`decode_block` do for one datagram (a test holds them
together) and is what makes long sessions fast. A block whose message is not in canonical field order, or has
fields this version does not know, is handed to those two.
"""

from __future__ import annotations

import zlib
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import WireError
from vxmon.valueclass import dataclass
from vxmon.wire.block import MAX_STREAMS, decode_block
from vxmon.wire.convert import MAX_NUMBER
from vxmon.wire.datagram import HEADER_BYTES, MAGIC, MAX_DATAGRAM, MAX_FRAGMENTS, VERSION, decode_datagram
from vxmon.wire.distinct import distinct
from vxmon.wire.slots import MAX_DATA_SLOTS
from vxmon.wire.types import Block, Channel, Flag

__all__ = ["BLOCK_ROW", "KINDS", "BlockScan", "block_datagrams", "scan_blocks"]

# What is known of a block, 96 bytes. ``slots_at`` is where the slots begin in the buffer that was scanned,
# ``starts_back`` how many bytes before that the start bits begin. ``file`` is left for the caller.
BLOCK_ROW: Final = np.dtype(
    [
        ("first_time", "<i8"), ("last_time", "<i8"), ("sequence", "<i8"), ("first_index", "<i8"),
        ("overwritten", "<i8"), ("full", "<i8"), ("exhausted", "<i8"), ("slots_at", "<i8"),
        ("boot", "<u4"), ("run", "<u4"), ("count", "<u2"), ("slots", "<u2"), ("starts_back", "<u2"),
        ("partition", "<u2"), ("window", "<u2"), ("task", "<u2"), ("depth", "<u2"), ("file", "<u2"),
        ("stream", "u1"), ("flags", "u1"), ("spare", "<u2"), ("room", "<u4"),
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
_SHIFTS: Final = tuple((7 * np.arange(10)).astype(np.uint64))
_ONES: Final = np.array([number.bit_count() for number in range(256)], np.uint8)
_MODULUS: Final = np.uint64(0xFFFFFFFF)
# Blocks whose slots are looked at together: so many stay in the cache.
_AT_ONCE: Final = 256

Ints = NDArray[np.int64]
Bytes = NDArray[np.uint8]
Bools = NDArray[np.bool_]


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
    kind[good[_crc_wrong(data, offsets[good], heads[good])]] = _KIND["crc"]
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
    spans = _gather(data, offsets, HEADER_BYTES)
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


def _crc_wrong(data: Bytes, offsets: Ints, heads: NDArray[np.void]) -> Bools:
    view = data.data
    crc32 = zlib.crc32
    ends = offsets + heads["size"]
    spans = zip(offsets.tolist(), ends.tolist(), (ends + heads["covered"]).tolist(), heads["crc"].tolist(), strict=True)
    wrong = [crc32(view[start:end], crc32(view[at : at + 28])) != crc for at, start, end, crc in spans]
    return np.array(wrong, dtype=bool)


# ---------------------------------------------------------------- the message before its slots


class _Cursor:
    """Reads protobuf fields of many messages at once; ``ok`` falls where one is not as expected."""

    def __init__(self, table: Bytes, ok: Bools) -> None:
        self._flat = table.reshape(-1)
        self._width = table.shape[1]
        self._base = np.arange(len(table)) * self._width
        self.at = np.zeros(len(table), np.int64)
        self.ok = ok

    def _peek(self) -> Bytes:
        seen: Bytes = self._flat.take(self._base + np.minimum(self.at, self._width - 1))
        return seen

    def tag(self, tag: int) -> Bools:
        """Where the next field has this tag; those step behind it."""
        here: Bools = self._peek() == tag
        self.at += here
        return here

    def varint(self, present: Bools) -> NDArray[np.uint64]:
        """A number where it is present, else 0."""
        value = np.zeros(len(present), np.uint64)
        more = present
        for shift in _SHIFTS:
            if not more.any():
                break
            digit = np.where(more, self._peek(), 0)
            value |= (digit & 0x7F).astype(np.uint64) << shift
            self.at += more
            more = digit >= 0x80
        self.ok &= ~more & (value <= MAX_NUMBER)
        return value

    def field(self, tag: int) -> NDArray[np.uint64]:
        """A varint field that is 0 when absent."""
        return self.varint(self.tag(tag))

    def message(self, tag: int, names: tuple[str, ...], rows: NDArray[np.void]) -> None:
        """A message of varint fields numbered from 1; all 0 when absent."""
        present = self.tag(tag)
        length = self.varint(present).astype(np.int64)
        end = self.at + length
        for number, name in enumerate(names, 1):
            inside = present & (self.at < end)
            here = inside & (self._peek() == number << 3)
            self.at += here
            self._store(rows, name, self.varint(here))
        self.ok &= ~present | (self.at == end)

    def _store(self, rows: NDArray[np.void], name: str, value: NDArray[np.uint64]) -> None:
        kind = rows.dtype[name]
        self.ok &= value <= np.uint64(np.iinfo(kind.type).max)
        rows[name] = value.astype(kind)

    def store(self, rows: NDArray[np.void], name: str, tag: int) -> None:
        """A varint field into a column, with its bounds checked."""
        self._store(rows, name, self.field(tag))


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
    done, leading = np.zeros(len(rows), bool), np.zeros(len(rows), bool)
    which = np.flatnonzero((heads["covered"] <= _PREFIX) & (heads["magic"] == MAGIC))
    if not len(which):
        return done, leading
    payloads = offsets[which] + heads["size"][which]
    covered = heads["covered"][which].astype(np.int64)
    width = int(covered.max()) + 1
    table = _gather(data, payloads, width)
    part = np.zeros(len(which), BLOCK_ROW)
    cursor = _Cursor(table, np.ones(len(which), bool))
    for name, tag in _LEADING[:5]:
        cursor.store(part, name, tag)
    cursor.ok &= (part["sequence"] & 0xFFFFFFFF) == heads["sequence"][which]
    leading[which] = cursor.ok & (payloads + cursor.at <= offsets[which] + lengths[which])
    _parse_rest(cursor, part, covered, heads["length"][which].astype(np.int64))
    part["slots_at"] = payloads + covered
    part["boot"], part["flags"] = heads["boot"][which], heads["flags"][which]
    rows[which] = part
    done[which] = cursor.ok
    return done, leading


def _parse_rest(cursor: _Cursor, part: NDArray[np.void], covered: Ints, length: Ints) -> None:
    for name, tag in _LEADING[5:]:
        cursor.store(part, name, tag)
    cursor.message(0x42, _CONTEXT, part)
    cursor.message(0x4A, _LOSSES, part)
    starts_bytes = cursor.field(0x52).astype(np.int64)
    starts_at = cursor.at.copy()
    cursor.at += np.clip(starts_bytes, 0, _PREFIX)
    cursor.ok &= cursor.tag(0x59)
    cursor.at += 8
    slots_bytes = cursor.field(0x7A).astype(np.int64)
    slots = slots_bytes >> 3
    cursor.ok &= (cursor.at == covered) & (covered + slots_bytes == length) & (slots_bytes & 7 == 0) & (slots > 0)
    cursor.ok &= (starts_bytes == (slots + 7) >> 3) & (part["stream"] < MAX_STREAMS)
    cursor.ok &= part["first_index"] + part["count"] <= MAX_NUMBER
    part["slots"], part["starts_back"] = slots & 0xFFFF, (covered - starts_at) & 0xFFFF


# ---------------------------------------------------------------- slots


def _check_slots(scan: BlockScan, data: Bytes, which: Ints) -> None:
    """Fletcher-64 and start bits; blocks of one byte order and like size together, so that little is padding."""
    rows = scan.rows[which]
    order = (rows["flags"] & Flag.BIG_ENDIAN).astype(np.int64)
    group = 16 * order + np.frexp(rows["slots"].astype(np.float64))[1]
    for number in distinct(group):
        some = which[group == number]
        for begin in range(0, len(some), _AT_ONCE):
            _check_alike(scan, data, some[begin : begin + _AT_ONCE], big_endian=number >= 16)


def _check_alike(scan: BlockScan, data: Bytes, which: Ints, *, big_endian: bool) -> None:
    rows = scan.rows[which]
    at, slots = rows["slots_at"], rows["slots"].astype(np.int64)
    words = _gather(data, at, 8 * int(slots.max())).view(">u4" if big_endian else "<u4").astype(np.uint32)
    _clear_behind(words, 2 * slots)
    sizes = slots + 7 >> 3
    marks = _gather(data, at - rows["starts_back"], int(sizes.max()))
    _clear_behind(marks, sizes)
    sums = _gather(data, at - rows["starts_back"] + sizes + 1, 8).view("<u8")[:, 0]
    scan.kind[which[~_starts_agree(words, marks, slots, rows["count"])]] = _KIND["starts"]
    scan.kind[which[_fletcher(words, 2 * slots) != sums]] = _KIND["checksum"]
    scan.exact[which] |= scan.kind[which] != 0


def _clear_behind(table: NDArray[Any], counts: Ints) -> None:
    """Make what follows the first ``counts`` elements of each row 0."""
    short = np.flatnonzero(counts < table.shape[1])
    if len(short):
        table[short] *= np.arange(table.shape[1]) < counts[short, None]


def _fletcher(words: NDArray[np.uint32], counts: Ints) -> NDArray[np.uint64]:
    """Fletcher-64 of rows of words, 0 behind the first ``counts``.

    The sums are made as floats, by a matrix product, and are exact: a datagram has at most 368 words, of 32 bits, and
    368 * 368 * 2^32 is less than 2^53.
    """
    weights = np.ones((words.shape[1], 2))
    weights[:, 1] = np.arange(words.shape[1])
    sums, weighted = (words.astype(np.float64) @ weights).astype(np.uint64).T
    second = (counts.astype(np.uint64) * sums - weighted) % _MODULUS
    checksums: NDArray[np.uint64] = (second << np.uint64(32)) | (sums % _MODULUS)
    return checksums


def _starts_agree(words: NDArray[np.uint32], marks: Bytes, slots: Ints, told: NDArray[np.uint16]) -> Bools:
    """Where the start bits and the lengths in the header slots tell the same records, as many as the block tells."""
    bits = np.unpackbits(marks, axis=1, bitorder="little", count=words.shape[1] >> 1).view(bool)
    counts = np.count_nonzero(bits, axis=1)
    # Bits in the last byte that stand for no slot are counted too: there must be none.
    agree: Bools = (counts == told) & (_ONES[marks].sum(axis=1) == told) & bits[:, 0]
    place = np.flatnonzero(bits)
    if not len(place):
        return agree
    ends = np.arange(len(slots)) * bits.shape[1] + slots
    heads = words.reshape(-1).take(2 * place)
    data_slots = heads >> 16 & 63
    behind = np.cumsum(counts)
    following = np.append(place[1:], 0)
    some = np.flatnonzero(counts)
    following[behind[some] - 1] = ends[some]
    bad = (place + 1 + data_slots != following) | (data_slots > MAX_DATA_SLOTS) | (heads >> 22 == 0)
    if bad.any():
        agree[np.searchsorted(behind, np.flatnonzero(bad), side="right")] = False
    return agree


def _gather(data: Bytes, at: Ints, width: int) -> Bytes:
    """``width`` bytes at each place, as rows; 0 beyond the end of the data."""
    room = len(data) - width
    beyond = np.flatnonzero(at > room).tolist()
    if room < 0:
        table = np.zeros((len(at), width), np.uint8)
    else:
        # An element of the rows' width at every byte: a row is then taken by one copy.
        spots: NDArray[np.void] = np.ndarray((room + 1,), f"V{width}", data, strides=(1,))
        table = spots[np.minimum(at, room)].view(np.uint8).reshape(len(at), width)
    for row in beyond:
        piece = data[int(at[row]) :][:width]
        table[row, : len(piece)], table[row, len(piece) :] = piece, 0
    return table


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


def _put(row: NDArray[np.void], name: str, value: int) -> None:
    if value > min(MAX_NUMBER, int(np.iinfo(row.dtype[name]).max)):
        raise WireError("payload", f"{name} of a block is {value}, which is out of range")
    row[name] = value
