# SPDX-License-Identifier: Apache-2.0
"""Reassembly: any order, interleaved, duplicates, contradictions, bounds and time-outs."""

from __future__ import annotations

import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from vxmon.errors import WireError
from vxmon.wire.datagram import decode_datagram, split_message
from vxmon.wire.reassembly import MAX_MESSAGES, TIMEOUT_NS, Reassembler
from vxmon.wire.types import Channel, Datagram, Header


def fragments(message: int, size: int, boot: int = 1) -> tuple[bytes, list[Datagram]]:
    payload = random.Random(message).randbytes(size)
    header = Header(Channel.TABLE, boot, 0, message=message)
    return payload, [decode_datagram(d) for d in split_message(header, payload, 512)]


@given(st.randoms(use_true_random=False), st.lists(st.integers(1, 5000), min_size=1, max_size=MAX_MESSAGES))
def test_any_order_interleaved_and_duplicated(rng: random.Random, sizes: list[int]) -> None:
    made = [fragments(number, size) for number, size in enumerate(sizes)]
    # Messages of one fragment are passed on as they come, twice if they come twice.
    pieces = [d for _, datagrams in made for d in datagrams * (2 if len(datagrams) > 1 else 1)]
    rng.shuffle(pieces)
    reassembler = Reassembler()
    done = [payload for d in pieces if (payload := reassembler.add(d, 0)) is not None]
    assert sorted(done) == sorted(payload for payload, _ in made)
    assert reassembler.close() == []
    assert reassembler.duplicates == sum(len(datagrams) for _, datagrams in made if len(datagrams) > 1)


def test_time_out_names_what_is_missing() -> None:
    _, pieces = fragments(7, 2000)
    reassembler = Reassembler()
    for piece in (pieces[0], pieces[3]):
        assert reassembler.add(piece, 0) is None
    assert reassembler.expire(TIMEOUT_NS) == []
    (incomplete,) = reassembler.expire(TIMEOUT_NS + 1)
    assert (incomplete.boot, incomplete.channel, incomplete.message) == (1, Channel.TABLE, 7)
    assert incomplete.missing == (1, 2, 4)
    assert reassembler.expire(TIMEOUT_NS * 9) == []


def test_ninth_message_drops_the_oldest() -> None:
    reassembler = Reassembler()
    for number in range(MAX_MESSAGES + 1):
        assert reassembler.add(fragments(number, 1000)[1][0], number) is None
    assert [entry.message for entry in reassembler.expire(MAX_MESSAGES)] == [0]
    assert len(reassembler.close()) == MAX_MESSAGES


def test_same_number_of_another_boot_is_another_message() -> None:
    reassembler = Reassembler()
    payload, pieces = fragments(1, 900)
    _, others = fragments(1, 900, boot=2)
    assert reassembler.add(others[1], 0) is None
    assert reassembler.add(pieces[0], 0) is None
    assert reassembler.add(pieces[1], 0) == payload


def test_contradictions_are_refused_and_change_nothing() -> None:
    reassembler = Reassembler()
    payload, pieces = fragments(1, 900)
    _, longer = fragments(1, 1900)
    reassembler.add(pieces[0], 0)
    changed = Datagram(pieces[0].header, b"x" * len(pieces[0].payload))
    for bad in (longer[1], changed, Datagram(pieces[1].header, b"")):
        with pytest.raises(WireError) as caught:
            reassembler.add(bad, 0)
        assert caught.value.kind == "fragment"
    assert reassembler.add(pieces[1], 0) == payload


def test_a_message_is_bounded() -> None:
    reassembler = Reassembler()
    header = Header(Channel.TABLE, 1, 0, fragments=64)
    with pytest.raises(WireError):
        for i in range(64):
            reassembler.add(Datagram(Header(header.channel, 1, i, fragment=i, fragments=64), bytes(1440)), 0)


def test_late_duplicate_does_not_begin_a_message() -> None:
    reassembler = Reassembler()
    _, pieces = fragments(1, 900)
    for piece in pieces:
        reassembler.add(piece, 0)
    assert reassembler.add(pieces[0], 5) is None
    assert reassembler.close() == []
    assert reassembler.duplicates == 1


def test_numbers_are_used_again_after_a_while() -> None:
    reassembler = Reassembler()
    payload, pieces = fragments(1, 900)
    for now in (0, TIMEOUT_NS + 1):
        assert [reassembler.add(piece, now) for piece in pieces] == [None, payload]
