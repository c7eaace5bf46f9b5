# SPDX-License-Identifier: Apache-2.0
"""Columns against records kept by the test: order, 64-bit time, fields, and what stays true under any damage."""

from __future__ import annotations

import random
from dataclasses import dataclass
from fractions import Fraction
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

import vxmon.trace.trace as trace_module
from tests.support.sessions import EVENTS, HZ, Target, record, write_session
from vxmon.trace import LOSS_ID, Trace, byte_field, field_values, open_trace, ticks_to_ns
from vxmon.trace.columns import Columns, data_words, word_values
from vxmon.trace.decode import merge_blocks
from vxmon.wire.slots import place_fields

Row = tuple[int, int, int, int]


def rows_of(trace: Trace) -> list[Row]:
    """(boot number, time, stream, argument) of all records but losses."""
    return [
        (chunk.boot.number, int(t), int(s), int(a))
        for chunk in trace.chunks()
        for t, s, a, i in zip(
            chunk.columns.time, chunk.columns.stream, chunk.columns.arg, chunk.columns.id, strict=True
        )
        if i != LOSS_ID
    ]  # fmt: skip


@pytest.mark.parametrize("hz", [1, 3, 1_000_000_000, 400_000_000, 33_333_333, (1 << 32) - 1])
@pytest.mark.parametrize("ticks", [0, 1, 2, 10**9, 2**32, 2**61, 24 * HZ + 1])
def test_ticks_become_ns_without_overflow(hz: int, ticks: int) -> None:
    exact = Fraction(ticks * 10**9, hz).__floor__()
    assert ticks_to_ns(ticks, hz) == exact
    if exact < 1 << 63:
        assert ticks_to_ns(np.array([ticks], np.int64), hz).tolist() == [exact]


def test_time_goes_on_over_wraps_and_long_silence(tmp_path: Path) -> None:
    """A clock that starts 100 ticks before its 32-bit wrap, wraps within blocks, and is silent for 5 wraps."""
    wrap = 1 << 32
    times = [wrap - 100, wrap - 1, wrap, wrap + 5, 6 * wrap + 3, 6 * wrap + (1 << 31) - 1, 7 * wrap - 1, 7 * wrap]
    target = Target()
    groups = ((0, 4), (4, 6), (6, 8))
    datagrams = [*target.started(), *(target.points(times[a:b]) for a, b in groups), *target.end(times[-1])]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert [t for _, t, _, _ in rows_of(trace)] == times


def test_streams_are_merged_by_time_then_stream_then_sequence(tmp_path: Path) -> None:
    target = Target()
    blocks = [
        target.points([1, 5, 5, 9], 1), target.points([5, 5, 20], 0), target.points([9, 9], 1),
        target.points([2, 30], 2),
    ]  # fmt: skip
    datagrams = [*target.started(), *blocks, *target.end(40)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert [(t, s, a) for _, t, s, a in rows_of(trace)] == [
            (1, 1, 0), (2, 2, 0), (5, 0, 0), (5, 0, 1), (5, 1, 1), (5, 1, 2), (9, 1, 3), (9, 1, 4), (9, 1, 5),
            (20, 0, 2), (30, 2, 1),
        ]  # fmt: skip


@pytest.mark.parametrize("big_endian", [True, False])
def test_fields_come_back_as_they_were_recorded(tmp_path: Path, big_endian: bool) -> None:
    target = Target(big_endian=big_endian)
    values: list[dict[str, int | bytes | str]] = [
        {"release": 1 << 40 | i, "deadline": i, "activation": 0xFFFFFFF0 + i} for i in range(5)
    ]
    records = [record("RELEASE", i, i, v, big_endian=big_endian) for i, v in enumerate(values)]
    datagrams = [*target.started(), target.block(records, 0, 4), *target.end(9)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        (chunk,) = trace.chunks()
        places = {place.field.name: place for place in place_fields(EVENTS["RELEASE"])}
        which = np.arange(5)
        for name, place in places.items():
            assert field_values(chunk.columns, place, which).tolist() == [v[name] for v in values]
        raw = byte_field(chunk.columns, 0, 3, which)
        assert raw[2].tobytes() == records[2][8:]


@dataclass
class Load:
    """A random session and what it really recorded: time and number of every record, by stream."""

    datagrams: list[bytes]
    blocks: list[tuple[bytes, int, list[tuple[int, int]]]]
    end: list[bytes]


def random_load(rng: random.Random) -> tuple[Load, Target, int]:
    target = Target(big_endian=rng.random() < 0.5)
    blocks: list[tuple[bytes, int, list[tuple[int, int]]]] = []
    clock = {stream: rng.randrange(1 << 33) for stream in range(rng.randrange(1, 4))}
    overwritten = 0
    for _ in range(rng.randrange(1, 30)):
        stream = rng.choice(list(clock))
        if rng.random() < 0.2:
            lost = rng.randrange(1, 50)
            target.lose(stream, overwritten=lost)
            overwritten += lost
        times = []
        for _ in range(rng.randrange(1, 12)):
            clock[stream] += rng.choice([0, 1, 7, 1 << 20])
            times.append(clock[stream])
        first = target.index.get(stream, 0)
        datagram = target.points(times, stream)
        blocks.append((datagram, stream, [(t, (first + i) & 0xFFFF) for i, t in enumerate(times)]))
        clock[stream] += rng.choice([0, 1 << 31, 1 << 34])
    load = Load(target.started(), blocks, target.end(max(clock.values())))
    return load, target, overwritten


@settings(max_examples=120, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 40))
def test_whatever_the_link_does_the_account_is_exact_and_the_order_stable(tmp_path: Path, seed: int) -> None:
    """Blocks are dropped, repeated, put out of order and damaged; the test keeps its own list."""
    rng = random.Random(seed)
    load, target, overwritten = random_load(rng)
    sent: list[bytes] = []
    expected: list[tuple[int, int, int]] = []
    causes = {"link": 0, "corrupt": 0, "overwritten": overwritten}
    for datagram, stream, records in load.blocks:
        fate = rng.choice(["fine", "fine", "fine", "drop", "repeat", "damage"])
        if fate == "damage":
            bad = bytearray(datagram)
            bad[rng.randrange(len(bad))] ^= rng.randrange(1, 256)
            sent.append(bytes(bad))
            causes["corrupt"] += len(records)
        elif fate == "drop":
            causes["link"] += len(records)
        else:
            sent += [datagram] * (1 + (fate == "repeat"))
            expected += [(t, stream, number) for t, number in records]
    rng.shuffle(sent)
    with open_trace([write_session(tmp_path / "s", [*load.datagrams, *sent, *load.end])]) as trace:
        streams = trace.facts.streams
        assert sum(s.recorded for s in streams) == sum(target.index.values())
        assert all(s.recorded == s.before_attach + s.delivered + s.lost_records for s in streams)
        assert trace.facts.delivered == len(expected)
        total = {cause: sum(s.lost[cause] for s in streams) for cause in streams[0].lost}
        assert {cause: n for cause, n in total.items() if n} == {cause: n for cause, n in causes.items() if n}
        assert int(trace.facts.losses["records"].sum()) == trace.facts.lost
        assert [(t, s, a) for _, t, s, a in rows_of(trace)] == sorted(expected, key=lambda r: r[:2])


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 40), blocks=st.integers(1, 7))
def test_the_size_of_chunks_changes_nothing(tmp_path: Path, seed: int, blocks: int) -> None:
    rng = random.Random(seed)
    load, _, _ = random_load(rng)
    sent = [datagram for datagram, _, _ in load.blocks if rng.random() < 0.8]
    path = write_session(tmp_path / "s", [*load.datagrams, *sent, *load.end])
    with open_trace([path]) as trace, pytest.MonkeyPatch.context() as patch:
        whole = [(c.columns.time.tolist(), c.columns.arg.tolist(), c.columns.id.tolist()) for c in trace.chunks()]
        patch.setattr(trace_module, "merge_blocks", lambda i, r, b: merge_blocks(i, r, b, blocks))
        parts = [(c.columns.time.tolist(), c.columns.arg.tolist(), c.columns.id.tolist()) for c in trace.chunks()]
    for column in range(3):
        assert [v for part in parts for v in part[column]] == [v for part in whole for v in part[column]]


def test_time_that_steps_back_is_told_and_sorted(tmp_path: Path) -> None:
    target = Target()
    datagrams = [*target.started(), target.points([50, 60]), target.points([10, 20]), *target.end(99)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert [t for _, t, _, _ in rows_of(trace)] == [10, 20, 50, 60]
        assert any("steps back" in problem for problem in trace.facts.problems)


def test_a_block_in_the_other_byte_order_is_not_used(tmp_path: Path) -> None:
    target = Target()
    good = target.points([1, 2])
    target.big_endian = False
    datagrams = [*target.started(), good, target.points([3, 4]), *target.end(9)]
    with open_trace([write_session(tmp_path / "s", datagrams)]) as trace:
        assert trace.facts.delivered == 2
        assert trace.facts.lost == 2
        assert any("byte order" in problem for problem in trace.facts.problems)


@pytest.mark.parametrize("big_endian", [True, False])
@pytest.mark.parametrize("name", ["MSG_SEND", "RELEASE", "KER_EXIT", "START"])
def test_fields_of_given_words_are_those_of_the_columns(name: str, big_endian: bool) -> None:
    rng = np.random.default_rng(5)
    places = place_fields(EVENTS[name])
    slots = (max(place.end_word for place in places) + 1) // 2
    count = 50
    at = rng.permutation(count) * (2 * slots + 2)
    zeros = np.zeros(count, np.uint16)
    columns = Columns(
        time=zeros.astype(np.int64), stream=zeros.astype(np.uint8), id=zeros, arg=zeros,
        slots=np.full(count, slots, np.uint8), at=at, big_endian=big_endian,
        words=rng.integers(0, 1 << 32, count * (2 * slots + 2), np.uint32),
    )  # fmt: skip
    rows = rng.permutation(count)[:20]
    words = data_words(columns, slots, rows)
    for place in places:
        expected = field_values(columns, place, rows).tolist()
        assert word_values(words, place, big_endian=big_endian).tolist() == expected
