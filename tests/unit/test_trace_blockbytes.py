# SPDX-License-Identifier: Apache-2.0
"""Bytes of blocks as tables, and what is decoded from them, against slices and a loop over records."""

from __future__ import annotations

import random
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.support.sessions import Target, write_session
from vxmon.errors import InputError
from vxmon.session.reader import open_session
from vxmon.trace.blockbytes import BlockBytes, BlockReader
from vxmon.trace.columns import Columns
from vxmon.trace.decode import decode_blocks, in_order
from vxmon.trace.names import LOSS_ID
from vxmon.wire.bulk import BLOCK_ROW

Block = tuple[int, list[tuple[int, int, int, bytes]]]


def random_block(rng: random.Random, most: int) -> Block:
    """First time and records: (id, argument, time, data)."""
    first, records = rng.randrange(1 << 40), []
    for _ in range(rng.randrange(1, most)):
        time = first + rng.choice([0, 1, 1 << 20, (1 << 32) - 1])
        records.append((rng.randrange(1, 1000), rng.randrange(1 << 16), time, rng.randbytes(8 * rng.choice([0, 1, 8]))))
    return first, records


def encoded(block: Block, order: str) -> tuple[bytes, bytes]:
    """Start bits and slots."""
    slots, begins = b"", []
    for event, arg, time, data in block[1]:
        begins.append(len(slots) // 8)
        slots += struct.pack(f"{order}II", event << 22 | len(data) // 8 << 16 | arg, time & 0xFFFFFFFF) + data
    bits = sum(1 << begin for begin in begins)
    return bits.to_bytes(len(slots) // 8 + 7 >> 3, "little"), slots


def index_of(blocks: list[Block], order: str, losses: set[int]) -> tuple[NDArray[np.void], list[tuple[bytes, bytes]]]:
    rows = np.zeros(len(blocks), BLOCK_ROW)
    parts = [encoded(block, order) for block in blocks]
    for number, ((first, records), (_, slots)) in enumerate(zip(blocks, parts, strict=True)):
        rows[number]["first_time"], rows[number]["count"] = first, len(records)
        rows[number]["slots"], rows[number]["stream"] = len(slots) // 8, number % 3
        rows[number]["room"] = number + 1 if number in losses else 0
    return rows, parts


def records_of(columns: Columns) -> list[tuple[Any, ...]]:
    order = ">" if columns.big_endian else "<"
    words = columns.words.astype(f"{order}u4").tobytes()
    return [
        (int(i), int(a), int(t), int(s), b"" if i == LOSS_ID else words[4 * at : 4 * at + 8 * n])
        for i, a, t, s, at, n in zip(
            columns.id, columns.arg, columns.time, columns.stream, columns.at, columns.slots.tolist(), strict=True
        )
    ]  # fmt: skip


@settings(max_examples=80, deadline=None)
@given(seed=st.integers(0, 1 << 40))
def test_records_come_out_as_they_were_encoded(seed: int) -> None:
    """Blocks of equal and of very different sizes, LOSS rows before some, and rubbish behind each block's bytes."""
    rng = random.Random(seed)
    order = rng.choice("<>")
    blocks = [random_block(rng, rng.choice([2, 20])) for _ in range(rng.randrange(1, 20))]
    blocks.insert(rng.randrange(len(blocks) + 1), (7, []))
    losses = {number for number in range(len(blocks)) if rng.random() < 0.2}
    rows, parts = index_of(blocks, order, losses)
    data = BlockBytes.of([a for a, _ in parts], [b for _, b in parts])
    noisy = BlockBytes(data.starts.copy(), data.slots.copy())
    for number, (starts, slots) in enumerate(parts):
        noisy.slots[number, len(slots) :] = rng.randrange(256)
        noisy.starts[number, len(starts) :] = rng.randrange(256)
    expected: list[tuple[Any, ...]] = []
    for number, (first, records) in enumerate(blocks):
        expected += [(LOSS_ID, 0, first, number % 3, b"")] if number in losses else []
        expected += [(i, a, t, number % 3, data) for i, a, t, data in records]
    assert records_of(decode_blocks(rows, noisy, order == ">")) == expected


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 1 << 40))
def test_bytes_that_changed_are_told_or_lead_nowhere_else(seed: int) -> None:
    """Whatever stands in the file by now, no field of a record lies beyond the words."""
    rng = random.Random(seed)
    rows, parts = index_of([random_block(rng, 20) for _ in range(5)], ">", set())
    data = BlockBytes.of([a for a, _ in parts], [b for _, b in parts])
    table = BlockBytes(data.starts.copy(), data.slots.copy())
    for _ in range(rng.randrange(1, 4)):
        part = rng.choice([table.starts, table.slots]).reshape(-1)
        part[rng.randrange(len(part))] ^= rng.randrange(1, 256)
    try:
        columns = decode_blocks(rows, table, big_endian=True)
    except InputError:
        return
    assert len(columns) == rows["count"].sum()
    assert (columns.at + 2 * columns.slots.astype(np.int64)).max() <= len(columns.words)


def test_a_block_of_many_among_blocks_of_few_is_not_kept_with_its_padding() -> None:
    rng = random.Random(5)
    blocks: list[Block] = [(0, [(1, 2, 3, b"")] * 180), *((0, [(1, 2, 3, rng.randbytes(8))]) for _ in range(99))]
    rows, parts = index_of(blocks, "<", set())
    columns = decode_blocks(rows, BlockBytes.of([a for a, _ in parts], [b for _, b in parts]), big_endian=False)
    assert len(columns.words) == 2 * 99
    assert [data for *_, data in records_of(columns)[180:]] == [records[0][3] for _, records in blocks[1:]]


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 40))
def test_blocks_are_read_wherever_they_lie(tmp_path: Path, seed: int) -> None:
    """In one file or two, near one another and megabytes apart, up to the last byte, with rows for losses between."""
    rng = random.Random(seed)
    parts = [encoded(random_block(rng, 20), "<") for _ in range(rng.randrange(1, 9))]
    rows = np.zeros(len(parts) + 1, BLOCK_ROW)
    files = [bytearray(Path(empty_session(tmp_path)).read_bytes()) for _ in range(2)]
    for row, (starts, slots) in zip(rows, parts, strict=False):
        row["file"] = number = rng.randrange(rng.choice([1, 2]))
        files[number] += rng.randbytes(rng.choice([0, 3, 100])) + bytes(rng.choice([0, 0, 0, 1 << 20])) + starts
        row["starts_back"] = len(starts) + 2
        files[number] += b"xx" + slots
        row["slots_at"], row["slots"] = len(files[number]) - len(slots), len(slots) // 8
    rows, parts = rows[: len(parts) + 1], [*parts, (b"", b"")]
    for number, data in enumerate(files):
        (tmp_path / f"{number}").write_bytes(data)
    readers = [open_session(str(tmp_path / f"{number}")) for number in range(2)]
    read = BlockReader(readers)
    for _ in range(2):
        table = read(rows)
        for a, b, (starts, slots) in zip(table.starts, table.slots, parts, strict=True):
            assert a[: len(starts)].tobytes() == starts
            assert b[: len(slots)].tobytes() == slots
    for reader in readers:
        reader.close()


def empty_session(directory: Path) -> str:
    return write_session(directory / "empty", Target().started())


@pytest.mark.parametrize("change", [{"slots_at": 1 << 40}, {"slots_at": 4}, {"slots": 60_000}])
def test_places_that_no_file_has_are_told(tmp_path: Path, change: dict[str, int]) -> None:
    rows = np.zeros(1, BLOCK_ROW)
    rows["slots_at"], rows["slots"], rows["starts_back"], rows["count"] = 100, 2, 8, 1
    for name, value in change.items():
        rows[name] = value
    reader = open_session(empty_session(tmp_path))
    with pytest.raises(InputError, match="changed while it was read"):
        BlockReader([reader])(rows)
    reader.close()


@settings(max_examples=100, deadline=None)
@given(rows=st.lists(st.tuples(st.integers(0, 9), st.integers(0, 3)), max_size=40))
def test_the_order_is_that_of_time_stream_and_coming(rows: list[tuple[int, int]]) -> None:
    """Against Python's stable sort."""
    time, stream = np.array(rows, np.int64).reshape(-1, 2).T
    zeros = np.zeros(len(rows), np.uint16)
    columns = Columns(
        time.copy(), stream.astype(np.uint8), zeros, zeros, zeros.astype(np.uint8), np.arange(len(rows)),
        np.zeros(0, np.uint32), False,
    )  # fmt: skip
    expected = sorted(range(len(rows)), key=lambda n: rows[n])
    assert in_order(columns, several=True).at.tolist() == expected
    by_time = sorted(range(len(rows)), key=lambda n: rows[n][0])
    assert in_order(columns, several=False).at.tolist() == by_time
