# SPDX-License-Identifier: Apache-2.0
"""The batch scan against the one-datagram decoders, which are written apart from it."""

from __future__ import annotations

import random
import zlib
from dataclasses import replace
from typing import Literal

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.verdicts import verdict
from vxmon.wire.block import encode_block, make_block
from vxmon.wire.bulk import BLOCK_ROW, KINDS, block_datagrams, scan_blocks
from vxmon.wire.events import EventId
from vxmon.wire.types import Block, Context, Losses


def record(event: int, slots: int, time: int, big_endian: bool = True, fill: int = 0) -> bytes:
    order: Literal["big", "little"] = "big" if big_endian else "little"
    head = (event << 22 | slots << 16 | 7).to_bytes(4, order) + (time & 0xFFFFFFFF).to_bytes(4, order)
    return head + bytes([fill & 255]) * (8 * slots)


def random_block(rng: random.Random) -> Block:
    big_endian = rng.random() < 0.5
    base = rng.choice([0, 5, 1 << 33, (1 << 61) + 3])
    records = [
        record(rng.randrange(1, 1024), rng.randrange(9), base + i, big_endian, rng.randrange(256))
        for i in range(rng.randrange(1, 15))
    ]
    return make_block(
        records, base, base + len(records) - 1,
        boot=rng.randrange(1, 1 << 32), run=rng.choice([0, 1, 70000]), stream=rng.randrange(8),
        sequence=rng.choice([0, 1, 300, (1 << 32) + 5]), first_index=rng.choice([0, 127, 128, 1 << 40]),
        context=Context(*(rng.choice([0, 3, 300, 65535]) for _ in range(4))),
        losses=Losses(*(rng.choice([0, 1, 1 << 35]) for _ in range(3))), big_endian=big_endian,
    )  # fmt: skip


def place(datagrams: list[bytes]) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    lengths = np.array([len(d) for d in datagrams], np.int64)
    data = np.frombuffer(b"xyz" + b"".join(datagrams), np.uint8)
    return data, np.cumsum(lengths) - lengths + 3, lengths


@pytest.mark.parametrize("seed", range(5))
def test_rows_hold_what_was_encoded(seed: int) -> None:
    rng = random.Random(seed)
    blocks = [random_block(rng) for _ in range(60)]
    data, offsets, lengths = place([encode_block(b) for b in blocks])
    scan = scan_blocks(data, offsets, lengths)
    assert not scan.kind.any()
    for row, block in zip(scan.rows, blocks, strict=True):
        for name in ("boot", "run", "stream", "sequence", "first_index", "count", "first_time", "last_time"):
            assert row[name] == getattr(block, name), name
        assert (row["partition"], row["window"], row["task"], row["depth"]) == (
            block.context.partition, block.context.window, block.context.task, block.context.depth,
        )  # fmt: skip
        assert [row["overwritten"], row["full"], row["exhausted"]] == [
            block.losses.overwritten, block.losses.full, block.losses.exhausted,
        ]  # fmt: skip
        at, starts = int(row["slots_at"]), int(row["slots_at"]) - int(row["starts_back"])
        assert data[at : at + 8 * int(row["slots"])].tobytes() == block.slots
        assert data[starts : starts + len(block.starts)].tobytes() == block.starts
        assert bool(row["flags"]) == block.big_endian


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 1 << 32), flips=st.integers(1, 3))
def test_a_damaged_datagram_gets_the_same_verdict_as_alone(seed: int, flips: int) -> None:
    rng = random.Random(seed)
    datagrams = []
    for _ in range(8):
        damaged = bytearray(encode_block(random_block(rng)))
        for _ in range(rng.choice([0, flips])):
            damaged[rng.randrange(len(damaged))] ^= 1 << rng.randrange(8)
        cut = rng.choice([len(damaged), len(damaged), rng.randrange(len(damaged) + 1)])
        datagrams.append(bytes(damaged[:cut]))
    data, offsets, lengths = place(datagrams)
    which = np.flatnonzero(block_datagrams(data, offsets, lengths))
    scan = scan_blocks(data, offsets[which], lengths[which])
    assert [KINDS[k] for k in scan.kind] == [verdict(datagrams[i]) for i in which]


@settings(max_examples=150, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_damage_behind_a_right_crc_gets_the_same_verdict_as_alone(seed: int) -> None:
    rng = random.Random(seed)
    datagrams = [damage_payload(encode_block(random_block(rng)), rng) for _ in range(8)]
    scan = scan_blocks(*place(datagrams))
    assert [KINDS[k] for k in scan.kind] == [verdict(d) for d in datagrams]


def damage_payload(datagram: bytes, rng: random.Random) -> bytes:
    """Flip a bit of the payload and mend the CRC, as a faulty target would."""
    data = bytearray(datagram)
    data[rng.randrange(32, len(data))] ^= 1 << rng.randrange(8)
    covered = int.from_bytes(data[22:24], "big")
    data[28:32] = zlib.crc32(bytes(data[32 : 32 + covered]), zlib.crc32(bytes(data[:28]))).to_bytes(4, "big")
    return bytes(data)


def test_a_damaged_crc_leaves_a_claim() -> None:
    data = bytearray(encode_block(make_block([record(33, 0, 9)], 9, 9, stream=2, sequence=77)))
    data[30] ^= 1
    scan = scan_blocks(*place([bytes(data)]))
    assert KINDS[scan.kind[0]] == "crc"
    assert scan.claims[0]
    assert (scan.rows[0]["stream"], scan.rows[0]["sequence"]) == (2, 77)


def test_a_cut_datagram_is_truncated_and_known_from_its_first_fields() -> None:
    whole = encode_block(make_block([record(33, 0, 9)] * 5, 9, 9, stream=2, sequence=77, first_index=400))
    covered = 32 + int.from_bytes(whole[22:24], "big")
    cuts = [len(whole) - 1, covered, covered - 1, 32 + 13, 32 + 2, 32, 31]
    data, offsets, lengths = place([whole[:cut] for cut in cuts])
    scan = scan_blocks(data, offsets, lengths, np.full(len(cuts), len(whole), np.int64))
    assert [KINDS[k] for k in scan.kind] == ["truncated"] * 6 + ["magic"]
    assert scan.exact.tolist() == [True, True, False, False, False, False, False]
    assert scan.claims.tolist() == [True, True, True, True, False, False, False]
    for row in scan.rows[:4]:
        assert (row["run"], row["stream"], row["sequence"], row["first_index"], row["count"]) == (1, 2, 77, 400, 5)


def with_newer_field(plain: bytes) -> bytes:
    """A block of less than 16 slots with a field before them that is not known here."""
    covered = int.from_bytes(plain[22:24], "big")
    payload = plain[32 : 32 + covered - 2] + b"\x60\x05" + plain[32 + covered - 2 :]
    head = bytearray(plain[:28])
    head[20:24] = len(payload).to_bytes(2, "big") + (covered + 2).to_bytes(2, "big")
    crc = zlib.crc32(payload[: covered + 2], zlib.crc32(bytes(head)))
    return bytes(head) + crc.to_bytes(4, "big") + payload


def test_fields_of_a_newer_target_are_skipped() -> None:
    """A new optional field before the slots (here number 12) is legal in version 1."""
    scan = scan_blocks(*place([with_newer_field(encode_block(make_block([record(33, 0, 9)], 9, 9)))]))
    assert KINDS[scan.kind[0]] == "ok"
    assert scan.rows[0]["slots"] == 1


def test_only_blocks_are_picked() -> None:
    block = encode_block(make_block([record(33, 0, 9)], 9, 9))
    other = bytearray(block)
    other[6] = 5
    newer = bytearray(block)
    newer[4] = 2
    data, offsets, lengths = place([block, bytes(other), bytes(newer), b"", block[:31], b"\0" * 40])
    assert block_datagrams(data, offsets, lengths).tolist() == [True, False, False, False, False, False]


def test_a_row_is_small() -> None:
    assert BLOCK_ROW.itemsize <= 100


def with_other_starts(block: Block, rng: random.Random) -> Block:
    """A bit more or less in the start bits, the last byte's unused ones included; the count goes with it or not."""
    starts = bytearray(block.starts)
    bit = rng.randrange(8 * len(starts))
    starts[bit >> 3] ^= 1 << (bit & 7)
    grown = 1 if starts[bit >> 3] & 1 << (bit & 7) else -1
    return replace(block, starts=bytes(starts), count=block.count + rng.choice([0, grown]))


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 1 << 32))
def test_blocks_of_all_sizes_in_one_batch_get_the_verdicts_they_get_alone(seed: int) -> None:
    rng = random.Random(seed)
    blocks = [random_block(rng) for _ in range(30)]
    blocks = [b if rng.random() < 0.6 else with_other_starts(b, rng) for b in blocks]
    datagrams = [encode_block(b) for b in blocks]
    data, offsets, lengths = place(datagrams)
    scan = scan_blocks(data, offsets, lengths)
    assert [KINDS[kind] for kind in scan.kind] == [verdict(d) for d in datagrams]


def test_a_start_bit_for_a_slot_that_is_not_there_makes_the_block_corrupt() -> None:
    """Three records in three slots fill the first three bits of the byte; a fourth has no slot."""
    block = make_block([record(5, 0, 100 + i) for i in range(3)], 100, 102, boot=1)
    assert block.starts == b"\x07"
    wrong = encode_block(replace(block, starts=b"\x0f", count=4))
    assert verdict(wrong) == "starts"
    assert [KINDS[kind] for kind in scan_blocks(*place([encode_block(block), wrong])).kind] == ["ok", "starts"]


@pytest.mark.parametrize("length", [1 << 63, (1 << 64) - 1, 1 << 62, 1 << 20])
def test_a_hostile_length_of_the_start_bits_is_corrupt_and_nothing_else(length: int) -> None:
    """Field 10 of a block, with its length as a varint of ten bytes; CRC and lengths of the header are right."""
    block = make_block([record(5, 0, 1)], 1, 1, boot=7, run=1, stream=0, sequence=0, first_index=0)
    data = encode_block(block)
    at = data.index(b"\x52\x01\x01\x59", 32)
    digits = bytes((length >> 7 * n & 0x7F) | (0x80 if n < 9 else 0) for n in range(10))
    body = data[32 : at + 1] + digits + data[at + 2 :]
    covered = int.from_bytes(data[22:24], "big") + 9
    head = data[:20] + len(body).to_bytes(2, "big") + covered.to_bytes(2, "big") + data[24:28]
    hostile = head + zlib.crc32(body[:covered], zlib.crc32(head)).to_bytes(4, "big") + body
    assert verdict(hostile) == "payload"
    scan = scan_blocks(*place([data, hostile, data]))
    assert [KINDS[kind] for kind in scan.kind] == ["ok", "payload", "ok"]


@pytest.mark.parametrize("big_endian", [True, False])
@pytest.mark.parametrize("known", [True, False])
def test_blocks_that_switch_events_are_marked(big_endian: bool, known: bool) -> None:
    """By their FILTER records, not by data that looks like one; in columns, and where a field is of a newer target."""
    filters = EventId.FILTER
    look_alike = record(7, 3, 0, big_endian)[:8] + 3 * record(filters, 0, 0, big_endian)
    blocks = [
        [record(1, 0, 0, big_endian), look_alike, record(1023, 1, 0, big_endian)],
        [record(1, 2, 0, big_endian), record(filters, 1, 0, big_endian), record(9, 0, 0, big_endian)],
        [record(filters - 1, 8, 0, big_endian), record(filters + 1, 0, 0, big_endian)],
        [record(9, 2, 0, big_endian), record(filters, 8, 0, big_endian)],
    ]
    made = [encode_block(make_block(some, 0, 0, big_endian=big_endian)) for some in blocks]
    if not known:
        made = [with_newer_field(datagram) for datagram in made]
    scan = scan_blocks(*place(made))
    assert scan.kind.tolist() == [0] * len(made)
    assert scan.rows["switches"].tolist() == [0, 1, 0, 1]
