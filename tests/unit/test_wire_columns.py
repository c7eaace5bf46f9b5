# SPDX-License-Identifier: Apache-2.0
"""What the batch scan is built of: rows from a buffer, fields of many messages, contents of many blocks.

Expected values are made one by one: by slices, by Google's protobuf encoder, by decode_block.
"""

from __future__ import annotations

import random
from dataclasses import replace

import numpy as np
import pytest
from google.protobuf.internal.encoder import _VarintBytes  # type: ignore[attr-defined]
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.verdicts import verdict
from vxmon.wire.block import encode_block, make_block
from vxmon.wire.bulk import KINDS, scan_blocks
from vxmon.wire.distinct import distinct
from vxmon.wire.gather import clear_behind, gather
from vxmon.wire.types import Block
from vxmon.wire.varints import Cursor

_NUMBERS = [0, 1, 127, 128, 16383, 16384, (1 << 28) - 1, 1 << 28, (1 << 49) - 1, 1 << 49, (1 << 56) - 1, 1 << 56]


@given(data=st.binary(max_size=40), at=st.lists(st.integers(0, 50), max_size=8), width=st.integers(1, 20))
def test_rows_are_what_slices_are_and_zeros_behind_the_end(data: bytes, at: list[int], width: int) -> None:
    rows = gather(np.frombuffer(data, np.uint8), np.array(at, np.int64), width)
    assert [row.tobytes() for row in rows] == [data[a : a + width].ljust(width, b"\0") for a in at]


@given(counts=st.lists(st.integers(0, 9), max_size=6))
def test_what_is_cleared_is_behind_each_count(counts: list[int]) -> None:
    table = np.full((len(counts), 7), 5, np.uint16)
    clear_behind(table, np.array(counts, np.int64))
    assert table.tolist() == [[5 if place < count else 0 for place in range(7)] for count in counts]


@given(values=st.lists(st.integers(0, 5), max_size=9))
def test_different_numbers_come_once_and_in_order(values: list[int]) -> None:
    assert distinct(np.array(values, np.int64)) == sorted(set(values))


def table_of(messages: list[bytes]) -> np.ndarray:
    width = max(map(len, messages)) + 1
    return np.frombuffer(b"".join(message.ljust(width, b"\xff") for message in messages), np.uint8).reshape(-1, width)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(
        st.lists(st.sampled_from([*_NUMBERS, (1 << 62) - 1]) | st.integers(0, (1 << 62) - 1), min_size=3, max_size=3),
        min_size=1,
        max_size=6,
    )
)
def test_numbers_of_any_length_are_read_in_step(values: list[list[int]]) -> None:
    messages = [
        b"".join(bytes([number << 3]) + _VarintBytes(value) for number, value in enumerate(row, 1) if value)
        for row in values
    ]
    cursor = Cursor(table_of(messages))
    columns = [cursor.field(number << 3)[0] for number in (1, 2, 3)]
    assert [[int(column[row]) for column in columns] for row in range(len(values))] == values
    assert cursor.places.tolist() == [len(message) for message in messages]
    assert cursor.ok.all()


@pytest.mark.parametrize(
    ("digits", "right"),
    [
        (b"\x85\x80\x00", True),  # 5, longer than it need be
        (b"\xff" * 8 + b"\x3f", True),  # 2^62 - 1
        (b"\xff" * 8 + b"\x7f", False),  # 2^63 - 1
        (b"\xff" * 9 + b"\x01", False),  # 2^64 - 1
        (b"\x80" * 10 + b"\x01", False),  # eleven bytes
    ],
)
def test_numbers_beyond_the_largest_time_and_index_are_told(digits: bytes, right: bool) -> None:
    cursor = Cursor(table_of([b"\x08\x05", b"\x08" + digits]))
    cursor.field(0x08)
    assert cursor.ok.tolist() == [True, right]


def test_a_number_too_large_for_its_column_is_told() -> None:
    rows = np.zeros(2, np.dtype([("small", "<u2"), ("other", "<i8")]))
    cursor = Cursor(table_of([b"\x08" + _VarintBytes(65535), b"\x08" + _VarintBytes(65536)]))
    cursor.store(rows, "small", 0x08)
    assert cursor.ok.tolist() == [True, False]
    assert rows["small"][0] == 65535


def block_of(rng: random.Random, big_endian: bool) -> Block:
    """Records of 0 to 8 data slots; as long as a datagram takes, or short."""
    records: list[bytes] = []
    room = rng.choice([3, 40, 160])
    while sum(map(len, records)) < 8 * room:
        slots = rng.choice([0, 0, 1, 7, 8, rng.randrange(9)])
        head = (rng.randrange(1, 1024) << 22 | slots << 16).to_bytes(4, "big" if big_endian else "little")
        records.append(head + rng.randbytes(4 + 8 * slots))
    return make_block(records, 1, 2, boot=9, big_endian=big_endian)


def with_another_head(block: Block, rng: random.Random) -> Block:
    """The event, or the number of data slots, of one record is another one; the checksum fits."""
    bits = np.unpackbits(np.frombuffer(block.starts, np.uint8), bitorder="little")
    at = 8 * int(rng.choice(np.flatnonzero(bits).tolist()))
    order = "big" if block.big_endian else "little"
    word = int.from_bytes(block.slots[at : at + 4], order)  # type: ignore[arg-type]
    other = rng.choice([word & 0x3FFFFF, word & ~0x3F0000 | rng.randrange(64) << 16])
    slots = block.slots[:at] + other.to_bytes(4, order) + block.slots[at + 4 :]  # type: ignore[arg-type]
    return replace(block, slots=slots)


@pytest.mark.parametrize("seed", range(6))
def test_heads_that_contradict_the_starts_get_the_verdict_they_get_alone(seed: int) -> None:
    """More blocks than are looked at together, of all sizes and both byte orders."""
    rng = random.Random(seed)
    blocks = [block_of(rng, rng.random() < 0.5) for _ in range(700)]
    blocks = [block if rng.random() < 0.5 else with_another_head(block, rng) for block in blocks]
    datagrams = [encode_block(block) for block in blocks]
    lengths = np.array([len(datagram) for datagram in datagrams], np.int64)
    scan = scan_blocks(np.frombuffer(b"".join(datagrams), np.uint8), np.cumsum(lengths) - lengths, lengths)
    verdicts = [KINDS[kind] for kind in scan.kind]
    assert verdicts == [verdict(datagram) for datagram in datagrams]
    assert {"ok", "starts"} == set(verdicts)
