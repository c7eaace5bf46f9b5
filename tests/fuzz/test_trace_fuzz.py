# SPDX-License-Identifier: Apache-2.0
"""Sessions of a target that lies: right checksums and wrong content, through everything that reads them."""

from __future__ import annotations

import os
import random
import zlib
from pathlib import Path

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tests.compat.make_sessions import SESSIONS
from tests.support.sessions import write_session
from vxmon.errors import InputError
from vxmon.report.format import DEFAULT_FORMAT
from vxmon.report.header import header_text, incomplete_text
from vxmon.report.info import info_blocks, info_document
from vxmon.report.lines import LinePrinter
from vxmon.session.reader import open_session
from vxmon.trace import StoredTrace, Trace
from vxmon.trace.live import LiveTrace
from vxmon.wire.block import decode_block, encode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.types import Block, Channel


def datagrams_of(path: Path) -> list[bytes]:
    with open_session(str(path)) as session:
        return [batch.payload(i) for batch in session.datagrams() for i in range(len(batch))]


ORIGINAL = datagrams_of(SESSIONS / "all-events.pcapng")


def lie(datagram: bytes, rng: random.Random) -> bytes:
    """Change some bytes and mend the checksums, so that the content is believed."""
    data = bytearray(datagram)
    for _ in range(rng.choice([1, 1, 2, 8])):
        at = rng.randrange(32, len(data))
        data[at] = rng.choice([0, 0x7F, 0x80, 0xFF, rng.randrange(256)])
    if rng.random() < 0.1:
        data[rng.choice([5, 6, 8, 12, 16, 18, 24])] ^= rng.randrange(256)
    covered = min(int.from_bytes(data[22:24], "big"), len(data) - 32)
    crc = zlib.crc32(bytes(data[32 : 32 + covered]), zlib.crc32(bytes(data[:28])))
    return bytes(data[:28]) + crc.to_bytes(4, "big") + bytes(data[32:])


def lie_in_slots(datagram: bytes, rng: random.Random) -> bytes:
    """A valid block with other numbers in its head and other records."""
    if datagram[6] != Channel.BLOCK:
        return lie(datagram, rng)
    try:
        block = decode_block(decode_datagram(datagram))
    except InputError:
        return datagram
    big = rng.choice([0, 1, 1 << 31, (1 << 62) - 1, (1 << 62), (1 << 63) - 1])
    words = bytearray(block.slots)
    for at in range(len(words)):
        header = any(block.starts[i // 8] >> i % 8 & 1 for i in [at // 8]) and at % 8 < 4
        if not header and rng.random() < 0.3:
            words[at] = rng.randrange(256)
    changed = {name: big for name in ("first_index", "first_time", "last_time", "sequence") if rng.random() < 0.2}
    values = {name: getattr(block, name) for name in Block.__dataclass_fields__} | {"slots": bytes(words)} | changed
    try:
        return encode_block(Block(**values))
    except (InputError, ValueError):
        return datagram


def read_everything(trace: Trace) -> None:
    printers = [LinePrinter(DEFAULT_FORMAT, words=True), LinePrinter("%-20t%c %.-3z", classic=True)]
    counts: dict[int, np.ndarray] = {}
    for chunk in trace.chunks():
        assert len(chunk.columns) > 0
        seen = np.bincount(chunk.columns.id, minlength=1025)[:1024]
        counts[chunk.boot.number] = counts.get(chunk.boot.number, np.zeros(1024, np.int64)) + seen
        for printer in printers:
            text = printer.lines(chunk)
            assert text.count(b"\n") == len(chunk.columns)
            assert all(32 <= c < 127 or c == 10 for c in set(text))
    facts = trace.facts
    assert sum(int(c.sum()) for c in counts.values()) == facts.delivered
    for stream in facts.streams:
        assert stream.recorded == stream.before_attach + stream.delivered + stream.lost_records
        assert min(stream.lost.values()) >= 0
    assert header_text(facts, verbose=True).isascii()
    incomplete_text(facts)
    info_blocks(info_document(facts, counts))


@settings(max_examples=80, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 40))
def test_lies_are_survived_and_figures_still_add_up(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    datagrams = [
        rng.choice([lie, lie_in_slots])(datagram, rng) if rng.random() < 0.2 else datagram for datagram in ORIGINAL
    ]
    if rng.random() < 0.3:
        rng.shuffle(datagrams)
    path = write_session(tmp_path / "lies", datagrams)
    try:
        with StoredTrace([open_session(path)]) as trace:
            read_everything(trace)
    except InputError:
        pass
    try:
        with LiveTrace(open_session(path), window=rng.choice([2, 20, 4096])) as live:
            read_everything(live)
    except InputError:
        pass


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(seed=st.integers(0, 1 << 40))
def test_a_file_with_noise_in_it_is_read_or_refused(tmp_path: Path, seed: int) -> None:
    rng = random.Random(seed)
    data = bytearray((SESSIONS / "all-events.pcapng").read_bytes())
    for _ in range(rng.choice([1, 3, 30])):
        at = rng.randrange(len(data))
        data[at : at + rng.choice([0, 1, 4, 40])] = rng.randbytes(rng.choice([0, 1, 4, 40]))
    path = tmp_path / "noise"
    path.write_bytes(bytes(data[: rng.choice([len(data), rng.randrange(len(data))])]))
    for kind in (lambda s: StoredTrace([s]), LiveTrace):
        try:
            with kind(open_session(os.fspath(path))) as trace:
                read_everything(trace)
        except InputError as error:
            assert str(error).count("\n") == 0
