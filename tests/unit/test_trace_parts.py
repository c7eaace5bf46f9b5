# SPDX-License-Identifier: Apache-2.0
"""Chunks made each on its own against chunks made one after the other."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from tests.unit.test_trace_blockbytes import Block, index_of, records_of
from vxmon.trace import parts as parts_module
from vxmon.trace.ahead import chunks_ahead
from vxmon.trace.blockbytes import BlockBytes
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.decode import merge_blocks
from vxmon.trace.facts import LOSS, Boot
from vxmon.trace.parts import OverrunError, Part, Plan, in_turns, make_part, split, walk_from

Records = list[tuple[Any, ...]]
Read = Callable[[NDArray[np.void]], BlockBytes]
BOOT = Boot(1, byte_order="little")


def overlapping(rng: random.Random) -> tuple[NDArray[np.void], Read]:
    """An index of blocks of three streams that overlap more or less, with losses, and how their bytes are read."""
    blocks: list[Block] = []
    for _ in range(rng.randrange(1, 60)):
        first = rng.randrange(300)
        times = sorted(first + rng.choice([0, 0, 1, 5, 40, 200]) for _ in range(rng.randrange(4)))
        blocks.append((first, [(rng.randrange(1, 9), n, t, rng.randbytes(8 * (n % 2))) for n, t in enumerate(times)]))
    rows, parts = index_of(blocks, "<", {number for number in range(len(blocks)) if rng.random() < 0.2})
    rows["last_time"] = [block[1][-1][2] if block[1] else block[0] for block in blocks]
    rows["sequence"] = np.arange(len(blocks))
    rows = rows[np.lexsort((rows["sequence"], rows["stream"], rows["first_time"]))]

    def read(some: NDArray[np.void]) -> BlockBytes:
        wanted = [parts[number] for number in some["sequence"].tolist()]
        return BlockBytes.of([a for a, _ in wanted], [b for _, b in wanted])

    return rows, read


def chunks_of(columns: Iterator[Columns]) -> list[Records]:
    return [records for some in columns if (records := records_of(some))]


def made_apart(parts: list[Part], read: Read) -> Iterator[Columns]:
    """The parts in any order, and from a part on that overruns all one after the other."""
    made: dict[int, Columns] = {}
    for number in sorted(range(len(parts)), key=lambda n: (n % 3, n)):
        try:
            made[number] = make_part(parts[number], read)
        except OverrunError:
            continue
    for number, part in enumerate(parts):
        if number not in made:
            yield from walk_from(part, read)
            return
        yield made[number]


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 1 << 40), blocks=st.integers(1, 30))
def test_the_chunks_are_the_same(seed: int, blocks: int) -> None:
    rows, read = overlapping(random.Random(seed))
    parts = split(BOOT, rows, blocks)
    if parts is not None:
        assert chunks_of(made_apart(parts, read)) == chunks_of(merge_blocks(rows, read, False, blocks))


@settings(max_examples=200, deadline=None)
@given(seed=st.integers(0, 1 << 40), blocks=st.integers(1, 30))
def test_the_chunks_are_the_same_when_blocks_end_later_than_they_say(seed: int, blocks: int) -> None:
    rng = random.Random(seed)
    rows, read = overlapping(rng)
    for row in rows:
        row["last_time"] += rng.choice([0, 0, 0, -5, -200, 100])
    parts = split(BOOT, rows, blocks)
    if parts is not None:
        assert chunks_of(made_apart(parts, read)) == chunks_of(merge_blocks(rows, read, False, blocks))


def test_a_block_that_ends_later_than_it_says_is_found_in_its_own_chunk() -> None:
    records = [(1, 0, time, b"") for time in (10, 95)]
    rows, parts = index_of([(10, records), (50, [(1, 0, 50, b"")]), (90, [(1, 0, 90, b"")])], "<", set())
    rows["last_time"] = [40, 50, 90]
    rows["stream"] = 0
    data = BlockBytes.of([a for a, _ in parts], [b for _, b in parts])
    first, *_ = split(BOOT, rows, 1) or []
    with pytest.raises(OverrunError):
        make_part(first, lambda _: BlockBytes(data.starts[:1], data.slots[:1]))


def test_where_all_blocks_overlap_chunks_are_not_made_apart() -> None:
    """Else each would be made of all blocks before it."""
    rows = np.zeros(1000, index_of([], "<", set())[0].dtype)
    rows["first_time"], rows["last_time"] = np.arange(1000), 5000
    assert split(BOOT, rows, 100) is None
    rows["last_time"][101:] = 0
    parts = split(BOOT, rows, 150)
    assert parts is not None
    assert [len(part.earlier) for part in parts] == [0, *[101] * 6]


def test_an_index_out_of_order_is_not_made_apart() -> None:
    rows = np.zeros(3, index_of([], "<", set())[0].dtype)
    rows["first_time"] = [1, 3, 2]
    assert split(BOOT, rows, 1) is None
    assert split(BOOT, rows[:0]) == []


def boots_of(rng: random.Random) -> tuple[list[tuple[Boot, NDArray[np.void]]], Read]:
    """Two boots, some of whose blocks end later than they say."""
    made = [overlapping(rng) for _ in range(2)]
    for number, (rows, _) in enumerate(made):
        rows["boot"] = number
        rows["last_time"] -= rng.choice([0, 100]) * (np.arange(len(rows)) % 5 == 0)
    boots = [(Boot(number + 1, number, byte_order="little"), rows) for number, (rows, _) in enumerate(made)]
    return boots, lambda some: made[int(some["boot"][0])][1](some)


@settings(max_examples=40, deadline=None)
@given(seed=st.integers(0, 1 << 40), blocks=st.integers(1, 30))
def test_all_ways_give_the_same_chunks_of_several_boots(seed: int, blocks: int) -> None:
    boots, read = boots_of(random.Random(seed))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(parts_module, "split", lambda boot, index: split(boot, index, blocks))
        plan = Plan.of(boots, read, np.zeros(0, LOSS))
    if plan is None:
        return

    def text(chunk: Chunk) -> bytes:
        return repr((chunk.boot.number, records_of(chunk.columns))).encode()

    expected = [
        repr((boot.number, records)).encode()
        for boot, rows in boots
        for records in chunks_of(merge_blocks(rows, read, False, blocks))
    ]
    assert [text(chunk) for chunk in chunks_ahead(plan)] == expected
    assert [bytes(made) for made in in_turns(plan, text) if made] == expected
