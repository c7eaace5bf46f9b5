# SPDX-License-Identifier: Apache-2.0
"""Sessions as written: checked by a second implementation of the checksums and by Wireshark's own tools."""

from __future__ import annotations

import json
import os
import resource
import shutil
import struct
import subprocess
import time
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.captures import datagram, internet_sum
from vxmon.errors import OutputError
from vxmon.session.packets import Endpoint, encode_packet, frame_packets
from vxmon.session.reader import open_session
from vxmon.session.rooms import Rooms
from vxmon.session.sink import FileSink, OutputClosedError
from vxmon.session.writer import SessionWriter

A, B = Endpoint(0x7F000001, 6530), Endpoint(0xC0A80102, 40001)
START = 1_800_000_000_123_456_789


def rows(payloads: list[bytes]) -> tuple[np.ndarray, np.ndarray]:
    """Payloads as the receiver has them: rows of one size with rubbish behind each."""
    slots = np.full((len(payloads), 2048), 0xEE, np.uint8)
    for row, payload in zip(slots, payloads, strict=True):
        row[: len(payload)] = np.frombuffer(payload, np.uint8)
    return slots, np.array([len(p) for p in payloads], np.int64)


@given(payload=st.binary(max_size=1472), address=st.integers(0, 2**32 - 1), port=st.integers(1, 65535))
def test_checksums_of_synthesised_headers_are_right(payload: bytes, address: int, port: int) -> None:
    block = encode_packet(START, Endpoint(address, port), B, payload)
    assert len(block) % 4 == 0
    assert struct.unpack_from("<II", block) == (6, len(block))
    assert struct.unpack_from("<I", block, len(block) - 4) == (len(block),)
    packet = block[28 : 28 + 28 + len(payload)]
    assert internet_sum(packet[:20]) == 0
    pseudo = packet[12:20] + struct.pack(">BBH", 0, 17, 8 + len(payload))
    assert internet_sum(pseudo + packet[20:]) == 0
    assert packet[26:28] != b"\0\0", "0 would mean that there is no checksum"
    assert packet[28:] == payload


@settings(deadline=None)
@given(payloads=st.lists(st.binary(max_size=1472), min_size=1, max_size=20))
def test_a_batch_is_written_like_its_datagrams_one_by_one(payloads: list[bytes]) -> None:
    slots, lengths = rows(payloads)
    times = START + np.arange(len(payloads), dtype=np.int64) * 10**9
    single = b"".join(encode_packet(int(t), A, B, p) for t, p in zip(times, payloads, strict=True))
    rooms = Rooms.of(times, slots, lengths)
    blocks = [row[:size].tobytes() for row, size in zip(rooms.memory, frame_packets(rooms, A, B), strict=True)]
    assert b"".join(blocks) == single
    assert [rooms.payload(i) for i in range(len(payloads))] == payloads, "the datagrams are as they were"


def test_what_is_written_is_read_back(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    writer = SessionWriter(FileSink.open(str(path)), {"command": ["x", "é\n"], "host": "h"}, "vxmon test")
    payloads = [datagram(3, size, size) for size in range(32, 1473, 9)]
    slots, lengths = rows(payloads)
    writer.add(START - 5, B, A, datagram(1, 40))
    writer.add_batch(Rooms.of(START + np.arange(len(payloads), dtype=np.int64), slots, lengths), A, B)
    writer.finish(len(payloads), 11)
    with open_session(str(path)) as session:
        batches = list(session.datagrams())
        found = [batch.payload(i) for batch in batches for i in range(len(batch))]
        assert found == [datagram(1, 40), *payloads]
        assert session.metadata == {"format": 1, "command": ["x", "é\n"], "host": "h"}
        assert (session.statistics.received, session.statistics.dropped) == (len(payloads), 11)
        assert (session.first_ns, session.last_ns) == (START - 5, START + len(payloads) - 1)
        assert session.problems == ["the capturing socket dropped 11 datagrams"]
        first, last = batches[0], batches[-1]
        assert (int(first.sources[0]), int(first.destinations[0])) == (B[0] << 16 | B[1], A[0] << 16 | A[1])
        assert (int(last.sources[-1]), int(last.destinations[-1])) == (A[0] << 16 | A[1], B[0] << 16 | B[1])
        offset = last.base + int(last.offsets[-1])
        assert session.read_at(offset, len(payloads[-1])) == payloads[-1]


@pytest.mark.skipif(shutil.which("tshark") is None, reason="tshark is not installed")
def test_wireshark_finds_nothing_wrong(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    writer = SessionWriter(FileSink.open(str(path)), {"command": []})
    slots, lengths = rows([datagram(3, size, size) for size in (33, 34, 35, 36, 1400)])
    writer.add_batch(Rooms.of(START + np.arange(5, dtype=np.int64), slots, lengths), A, B)
    writer.finish(5, 0)
    checks = "-o ip.check_checksum:TRUE -o udp.check_checksum:TRUE -T fields -E separator=/s".split()
    fields = [f"-e{name}" for name in (
        "frame.time_epoch", "ip.src", "udp.srcport", "udp.length", "ip.checksum.status", "udp.checksum.status",
        "_ws.malformed",
    )]  # fmt: skip
    out = subprocess.run(
        ["tshark", "-r", str(path), *checks, *fields], capture_output=True, text=True, timeout=60, check=True
    ).stdout.splitlines()
    sizes = [41, 42, 43, 44, 1408]
    assert [line.split()[1:] for line in out] == [["127.0.0.1", "6530", str(size), "1", "1"] for size in sizes]
    assert [line.split()[0] for line in out] == [f"1800000000.{123_456_789 + i}" for i in range(5)]


def test_flush_brings_everything_to_the_system(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    writer = SessionWriter(FileSink.open(str(path)), {})
    before = path.stat().st_size
    writer.add(START, A, B, datagram())
    writer.flush()
    assert path.stat().st_size == writer.size > before
    with open_session(str(path)) as session:
        assert sum(len(batch) for batch in session.datagrams()) == 1
    writer.close()


def test_size_counts_what_is_not_written_yet(tmp_path: Path) -> None:
    writer = SessionWriter(FileSink.open(str(tmp_path / "s.pcapng")), {})
    before = writer.size
    writer.add(START, A, B, datagram(size=100))
    assert writer.size == before + 28 + 28 + 100 + 4
    writer.finish(1, 0)


def test_a_full_disk_is_an_error_in_words() -> None:
    with pytest.raises(OutputError, match=r"/dev/full: no room for more .* nothing is stored"):
        SessionWriter(FileSink.open("/dev/full"), {})


def test_a_closed_pipe_is_told_apart() -> None:
    read, write = os.pipe()
    os.close(read)
    sink = FileSink(write, "pipe")
    with pytest.raises(OutputClosedError, match="closed by its reader"):
        SessionWriter(sink, {})
    sink.close()


def test_a_full_pipe_is_waited_for() -> None:
    read, write = os.pipe()
    os.set_blocking(write, False)
    child = os.fork()
    if child == 0:
        os.close(write)
        time.sleep(0.1)
        total = 0
        while piece := os.read(read, 1 << 20):
            total += len(piece)
        os._exit(0 if total == 1 << 21 else 1)
    os.close(read)
    sink = FileSink(write, "pipe")
    sink.write(bytes(1 << 21))
    sink.close()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


def test_rows_go_through_a_full_pipe_in_pieces() -> None:
    """More rows than one call takes, and a pipe that takes a part of a row at a time."""
    read, write = os.pipe()
    os.set_blocking(write, False)
    table = np.arange(3000 * 96, dtype=np.uint32).astype(np.uint8).reshape(3000, 96)
    sizes = np.arange(3000, dtype=np.int64) % 97
    expected = b"".join(row[:size].tobytes() for row, size in zip(table, sizes, strict=True))
    child = os.fork()
    if child == 0:
        os.close(write)
        found = b""
        while piece := os.read(read, 1777):
            found += piece
        os._exit(0 if found == expected else 1)
    os.close(read)
    sink = FileSink(write, "pipe")
    sink.write_rows(table, sizes)
    assert sink.written == len(expected)
    sink.close()
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0


@pytest.mark.parametrize("path", ["/", "/nonexistent/x", "/dev/null/x"])
def test_what_cannot_be_written_is_named(path: str) -> None:
    with pytest.raises(OutputError, match=path):
        FileSink.open(path)


def test_metadata_is_one_comment_and_never_needed(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    writer = SessionWriter(FileSink.open(str(path)), {"a": 1})
    writer.add(START, A, B, datagram())
    writer.finish(1, 0)
    data = path.read_bytes()
    at = data.index(b"vxmon:{")
    length = struct.unpack_from("<H", data, at - 2)[0]
    assert json.loads(data[at + 6 : at + length]) == {"format": 1, "a": 1}
    path.write_bytes(data.replace(b"vxmon:{", b"other:{"))
    with open_session(str(path)) as session:
        assert sum(len(batch) for batch in session.datagrams()) == 1
        assert session.metadata == {}


def test_a_full_disk_leaves_whole_packets(tmp_path: Path) -> None:
    """The limit on file sizes stands in for a full disk; it falls into the second batch."""
    path, before = tmp_path / "s.pcapng", resource.getrlimit(resource.RLIMIT_FSIZE)
    writer = SessionWriter(FileSink.open(str(path)), {})
    slots, lengths = rows([datagram(size=1000)] * 10)
    times = np.full(10, START, np.int64)
    writer.add_batch(Rooms.of(times, slots, lengths), A, B)
    whole = path.stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (whole + 5000, before[1]))
    try:
        with pytest.raises(OutputError, match=rf"no room for more .*; its first {whole} bytes can be read"):
            writer.add_batch(Rooms.of(times, slots, lengths), A, B)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    writer.close()
    assert path.stat().st_size == writer.size == whole
    with open_session(str(path)) as session:
        assert sum(len(batch) for batch in session.datagrams()) == 10
