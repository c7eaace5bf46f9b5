# SPDX-License-Identifier: Apache-2.0
"""Reading sessions and other tools' captures: every format, damage, cuts, hostile lengths, pipes."""

from __future__ import annotations

import os
import random
import struct
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.captures import LINKS, datagram, frame, pcap, pcapng, udp_packet
from vxmon.errors import InputError
from vxmon.session.framing import Bytes, Scan
from vxmon.session.packets import Endpoint
from vxmon.session.pcapng import PcapngFraming
from vxmon.session.reader import SessionReader, open_session
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter

A, B = Endpoint(0x7F000001, 6530), Endpoint(0x7F000001, 40001)
START = 1_700_000_000_123_456_000
PAYLOADS = [datagram(3, 50 + 7 * i, i) for i in range(40)]


def read(path: Path, data: bytes) -> tuple[list[bytes], list[int], SessionReader]:
    path.write_bytes(data)
    with open_session(str(path)) as session:
        batches = list(session.datagrams())
    payloads = [batch.payload(i) for batch in batches for i in range(len(batch))]
    return payloads, [int(t) for batch in batches for t in batch.times], session


def own(path: Path, payloads: list[bytes]) -> bytes:
    writer = SessionWriter(FileSink.open(str(path)), {"command": ["test"]})
    for i, payload in enumerate(payloads):
        writer.add(START + i, A, B, payload)
    writer.finish(len(payloads), 0)
    return path.read_bytes()


def make(kind: str, path: Path, payloads: list[bytes]) -> bytes:
    if kind == "own":
        return own(path, payloads)
    if kind == "pcap":
        return pcap([(i * 10**6, frame(p)) for i, p in enumerate(payloads)])
    return pcapng([(i, frame(p, 113)) for i, p in enumerate(payloads)], 113, order=">")


def section(major: int, magic: int = 0x1A2B3C4D) -> bytes:
    return struct.pack("<IIIHHqI", 0x0A0D0D0A, 28, magic, major, 0, -1, 28)


@pytest.mark.parametrize("link", sorted(LINKS))
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("nanoseconds", [False, True])
def test_pcap_of_every_kind(tmp_path: Path, link: int, order: str, nanoseconds: bool) -> None:
    packets = [(START + i * 1000, frame(p, link)) for i, p in enumerate(PAYLOADS)]
    found, times, session = read(tmp_path / "x", pcap(packets, link, order=order, nanoseconds=nanoseconds))
    assert found == PAYLOADS
    assert times == [START + i * 1000 for i in range(len(PAYLOADS))]
    assert (session.format, session.problems, session.metadata) == ("pcap", [], {})


@pytest.mark.parametrize("link", sorted(LINKS))
@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("obsolete", [False, True])
def test_pcapng_of_every_kind(tmp_path: Path, link: int, order: str, obsolete: bool) -> None:
    ticks = START // 1000
    packets = [(ticks + i, frame(p, link)) for i, p in enumerate(PAYLOADS)]
    found, times, _ = read(tmp_path / "x", pcapng(packets, link, order=order, obsolete=obsolete))
    assert found == PAYLOADS
    assert times == [(ticks + i) * 1000 for i in range(len(PAYLOADS))]


@pytest.mark.parametrize(
    ("resolution", "offset", "ticks", "expected"),
    [
        (9, 0, START, START),
        (6, 0, 5, 5000),
        (0, 0, 7, 7_000_000_000),
        (3, 0, 7, 7_000_000),
        (12, 0, 7_999, 7),
        (0x80 | 10, 0, 1536, 1_500_000_000),
        (0x80 | 32, 0, 1 << 31, 500_000_000),
        (9, 100, 5, 100_000_000_005),
        (9, -1, 5_000_000_000, 4_000_000_000),
        (0, 0, 2**64 - 1, (2**63 - 1) // 10**9 * 10**9),
    ],
)
def test_time_stamps_of_any_resolution(tmp_path: Path, resolution: int, offset: int, ticks: int, expected: int) -> None:
    data = pcapng([(ticks, frame(datagram()))], resolution=resolution, offset=offset)
    assert read(tmp_path / "x", data)[1] == [expected]


@pytest.mark.parametrize("vlans", [1, 2, 3])
@pytest.mark.parametrize("link", [1, 113])
def test_vlan_tags_are_stepped_over(tmp_path: Path, vlans: int, link: int) -> None:
    assert read(tmp_path / "x", pcap([(0, frame(datagram(), link, vlans))], link))[0] == [datagram()]


def test_ip_options_are_stepped_over(tmp_path: Path) -> None:
    packet = LINKS[1] + udp_packet(datagram(), options=bytes(12))
    assert read(tmp_path / "x", pcap([(0, packet)]))[0] == [datagram()]


def test_ethernet_padding_is_no_payload(tmp_path: Path) -> None:
    short = datagram(5, 8)
    assert read(tmp_path / "x", pcap([(0, frame(short) + bytes(10))]))[0] == [short]


def test_what_is_not_ours_is_skipped_and_counted(tmp_path: Path) -> None:
    ipv6 = bytes(12) + b"\x86\xdd" + bytes(60)
    arp = bytes(12) + b"\x08\x06" + bytes(46)
    tcp = bytearray(frame(datagram()))
    tcp[23] = 6
    fragment = LINKS[1] + udp_packet(datagram(), fragment=0x2000)
    later = LINKS[1] + udp_packet(datagram(), fragment=0x0010)
    dns = LINKS[1] + udp_packet(b"some question", ports=(5353, 5353))
    wrong = LINKS[1] + udp_packet(datagram())[:24] + b"\0\x04\0\0" + bytes(64)
    packets = [(0, p) for p in (ipv6, arp, bytes(tcp), fragment, later, dns, wrong, frame(datagram(2)), b"", b"\0" * 5)]
    found, _, session = read(tmp_path / "x", pcap(packets))
    assert found == [datagram(2)]
    assert session.packets == len(packets)
    assert dict(session.skipped) == {
        "not IPv4": 4, "not UDP": 1, "IP fragments": 2, "not vxmon's": 1, "malformed": 1,
    }  # fmt: skip


def test_a_damaged_datagram_of_a_known_target_is_passed_on(tmp_path: Path) -> None:
    """Its first bytes are wrong, but it came from the target's port: its reader must be able to count it."""
    broken = b"X" + datagram(3)[1:]
    found, _, _ = read(tmp_path / "x", pcap([(0, frame(datagram(3))), (1, frame(broken))]))
    assert found == [datagram(3), broken]


@pytest.mark.parametrize("snaplen", [64, 100, 42 + 4])
def test_a_snapshot_length_is_told(tmp_path: Path, snaplen: int) -> None:
    path = tmp_path / "x"
    path.write_bytes(pcap([(0, frame(datagram(size=200)))], snaplen=snaplen))
    with open_session(str(path)) as session:
        (batch,) = session.datagrams()
        assert (int(batch.lengths[0]), int(batch.sent[0])) == (snaplen - 42, 200)
        assert session.truncated == 1
        assert session.problems == ["1 datagram is cut by a snapshot length"]


def test_a_cut_before_the_udp_header_is_counted(tmp_path: Path) -> None:
    data = pcap([(0, frame(datagram())[:40]), (0, frame(datagram())[:20]), (0, frame(datagram()))])
    assert dict(read(tmp_path / "x", data)[2].skipped) == {"cut before their UDP header": 2}


def test_several_sections_and_interfaces(tmp_path: Path) -> None:
    data = pcapng([(1, frame(datagram(fill=1)))], resolution=9) + pcapng(
        [(2, frame(datagram(fill=2), 113))], 113, order=">", resolution=9
    )
    found, times, _ = read(tmp_path / "x", data)
    assert found == [datagram(fill=1), datagram(fill=2)]
    assert times == [1, 2]


def test_unknown_blocks_are_skipped(tmp_path: Path) -> None:
    one = pcapng([(1, frame(datagram(fill=1)))])
    names = struct.pack("<III", 4, 16, 0) + struct.pack("<I", 16)
    found, _, session = read(tmp_path / "x", one + names + pcapng([(2, frame(datagram(fill=2)))]))
    assert (len(found), session.problems) == (2, [])


# ---------------------------------------------------------------- cuts and damage


def test_cut_at_every_byte(tmp_path: Path) -> None:
    """Whole packets before the cut are read, the bytes behind them told; without a section it is no session."""
    whole = own(tmp_path / "s", PAYLOADS[:4])
    ends = [whole.index(p) + len(p) + -len(p) % 4 + 4 for p in PAYLOADS[:4]]
    begin = whole.index(PAYLOADS[0]) - 56
    interface = begin - 32
    for size in range(len(whole)):
        try:
            found, _, session = read(tmp_path / "x", whole[:size])
        except InputError as error:
            assert size < interface, size
            assert str(tmp_path) in str(error)
            assert "empty" in str(error) if not size else "cut" in str(error) or "text file" in str(error)
            continue
        good = sum(end <= size for end in ends)
        assert found == PAYLOADS[:good]
        last = max((end for end in [interface, begin, *ends] if end <= size), default=0)
        assert session.cut_bytes == size - last
        assert ("the end is cut" in "".join(session.problems)) == (size > last)


def test_pcap_cut_at_every_byte(tmp_path: Path) -> None:
    whole = pcap([(i, frame(p)) for i, p in enumerate(PAYLOADS[:3])])
    for size in range(24 + 16 + 42, len(whole)):
        try:
            found, _, session = read(tmp_path / "x", whole[:size])
        except InputError as error:
            assert "cut before its first packet" in str(error)
            assert size < 24 + 16 + 42 + 50
            continue
        assert found == PAYLOADS[: len(found)]
        used = 24 + sum(16 + 42 + len(p) for p in found)
        assert session.cut_bytes == size - used < 16 + 42 + len(PAYLOADS[len(found)])


@pytest.mark.parametrize("kind", ["own", "pcap", "pcapng"])
@pytest.mark.parametrize("field", [-20, -24, -28, -52])
def test_reading_goes_on_behind_a_damaged_record(tmp_path: Path, kind: str, field: int) -> None:
    """Whatever number of one record's headers is wrong, at most that one and the next are missed."""
    whole = bytearray(make(kind, tmp_path / "s", PAYLOADS))
    at = whole.index(PAYLOADS[20])
    if at + field < whole.index(PAYLOADS[19]) + len(PAYLOADS[19]):
        pytest.skip("belongs to the record before")
    whole[at + field - 4 : at + field] = b"\xff\xff\xff\xff"
    found, _, session = read(tmp_path / "x", bytes(whole))
    missing = [p for p in PAYLOADS if p not in found]
    assert missing in ([], [PAYLOADS[20]], PAYLOADS[20:22])
    if missing and not session.skipped:
        assert session.damaged_bytes >= len(PAYLOADS[20])
        assert any("bytes skipped" in problem for problem in session.problems)


@pytest.mark.parametrize("spoiled", [b"\xff\xff\xff\x7f", b"\x0d\0\0\0", bytes(4)])
def test_a_damaged_section_header_costs_only_itself(tmp_path: Path, spoiled: bytes) -> None:
    """The interface description right behind it is intact, so that link type and resolution are known."""
    for data in (own(tmp_path / "s", PAYLOADS), pcapng([(i, frame(p, 1)) for i, p in enumerate(PAYLOADS)], 1)):
        found, _, session = read(tmp_path / "x", data[:4] + spoiled + data[8:])
        size = int.from_bytes(data[4:8], "little")
        assert found == PAYLOADS
        assert session.damage == [(0, size)]
        assert session.problems[0].endswith(f"; {size} bytes skipped")


def test_a_damaged_interface_description_is_taken_for_our_own(tmp_path: Path) -> None:
    data = bytearray(own(tmp_path / "s", PAYLOADS))
    at = int.from_bytes(data[4:8], "little")
    size = int.from_bytes(data[at + 4 : at + 8], "little")
    data[at + 4 : at + 8] = b"\xff\xff\xff\x7f"
    found, times, session = read(tmp_path / "x", bytes(data))
    assert (found, session.damage) == (PAYLOADS, [(at, size)])
    assert times == [START + i for i in range(len(PAYLOADS))]


class CountingFraming(PcapngFraming):
    """Counts the bytes that are walked."""

    walked = 0

    def scan(self, data: Bytes) -> Scan:
        CountingFraming.walked += len(data)
        return super().scan(data)


def test_much_damage_is_walked_in_little_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """500 spoiled packets among 20 000: a walk of all that follows for each would be some 500 times the file."""
    payloads = [datagram(3, 50, i) for i in range(20_000)]
    data = bytearray(own(tmp_path / "s", payloads))
    first = data.index(b"VXMN") - 56
    width = int.from_bytes(data[first + 4 : first + 8], "little")
    for number in range(500):
        data[first + 40 * number * width + 4 : first + 40 * number * width + 8] = b"\xff\xff\xff\x7f"
    monkeypatch.setattr("vxmon.session.source.PcapngFraming", CountingFraming)
    CountingFraming.walked = 0
    found, _, session = read(tmp_path / "x", bytes(data))
    assert (len(found), len(session.damage)) == (19_500, 500)
    assert CountingFraming.walked < 40 * len(data)


def test_bytes_lost_in_the_middle(tmp_path: Path) -> None:
    """A file put together wrongly: 1000 bytes are missing at an odd place, and nothing is aligned any more."""
    whole = own(tmp_path / "s", PAYLOADS)
    at = whole.index(PAYLOADS[10]) + 5
    found, _, session = read(tmp_path / "x", whole[:at] + whole[at + 1001 :])
    assert found[:10] == PAYLOADS[:10]
    assert found[-1] == PAYLOADS[-1]
    assert session.damaged_bytes


@pytest.mark.parametrize("lost", [1, 2, 3, 4])
def test_much_may_follow_a_place_where_bytes_are_lost(tmp_path: Path, lost: int) -> None:
    """What follows is walked where it lies, at no multiple of four."""
    payloads = [datagram(3, 50, i) for i in range(4000)]
    whole = own(tmp_path / "s", payloads)
    at = whole.index(payloads[10]) + 5
    found, _, session = read(tmp_path / "x", whole[:at] + whole[at + lost :])
    assert found == payloads[:10] + payloads[11:]
    assert session.damaged_bytes


@settings(max_examples=300, deadline=None)
@given(seed=st.integers(0, 2**32), data=st.binary(max_size=200), kind=st.sampled_from(["own", "pcap", "pcapng"]))
def test_no_damage_does_more_than_a_worded_error(
    tmp_path_factory: pytest.TempPathFactory, seed: int, data: bytes, kind: str
) -> None:
    folder = tmp_path_factory.mktemp("fuzz")
    rng = random.Random(seed)
    whole = bytearray(make(kind, folder / "s", PAYLOADS[:8]))
    for _ in range(rng.randrange(1, 6)):
        at = rng.randrange(len(whole))
        whole[at : at + rng.randrange(8)] = rng.choice([data[: rng.randrange(9)], b"\xff" * 4, b"\0" * 4, b"VXMN"])
    try:
        found, times, _ = read(folder / "x", bytes(whole))
    except InputError as error:
        assert "\n" not in str(error)
    else:
        assert len(found) == len(times)


def test_a_file_of_nothing_but_beginnings_ends(tmp_path: Path) -> None:
    """Hostile: every place looks like the beginning of something."""
    head = own(tmp_path / "s", PAYLOADS[:1])
    with pytest.raises(InputError, match="damaged in more than 1000 places"):
        read(tmp_path / "x", head + (struct.pack("<II", 6, 0xFFFFFFFF) + own_packet()) * 5000)


def own_packet() -> bytes:
    from vxmon.session.packets import encode_packet

    return encode_packet(START, A, B, datagram())


@pytest.mark.parametrize("size", [0xFFFFFFFC, 0x7FFFFFFC, 1 << 24, 12, 0, 13])
def test_hostile_lengths_take_no_memory(tmp_path: Path, size: int) -> None:
    import tracemalloc

    head = own(tmp_path / "s", PAYLOADS[:2])
    data = head + struct.pack("<II", 0x0BAD, size) + bytes(64) + head[-400:]
    tracemalloc.start()
    try:
        assert read(tmp_path / "x", data)[0][:2] == PAYLOADS[:2]
        assert tracemalloc.get_traced_memory()[1] < 80 << 20
    finally:
        tracemalloc.stop()


# ---------------------------------------------------------------- other files, other ways


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"\x89PNG\r\n\x1a\n" + bytes(20), "a PNG image"),
        (b"\x7fELF" + bytes(60), "an ELF file"),
        (b"\x1f\x8b\x08" + bytes(30), "compressed by gzip; unpack it first"),
        (b"hello world, this is text\n" * 3, "a text file"),
        (bytes(100), "only zero bytes"),
        (bytes(range(200, 256)), "data of an unknown format"),
        (b"TRACE_HEADER_BEGIN::" + bytes(30), "a QNX trace"),
        (section(2), "pcapng format 2.0 is newer"),
        (section(1, 0x11111111), "byte-order magic is wrong"),
        (struct.pack("<IHHiIII", 0xA1B2C3D4, 3, 0, 0, 0, 0, 1), "pcap format 3.0 is not known"),
        (pcap([]), "there are no packets in it"),
        (pcap([(0, frame(b"something else"))]), "its one packet is no vxmon datagram (1 not vxmon's)"),
        (pcap([(0, bytes(80))], 105), "its one packet is no vxmon datagram (1 of link type 105)"),
    ],
)  # fmt: skip
def test_other_files_are_named(tmp_path: Path, data: bytes, words: str) -> None:
    with pytest.raises(InputError) as error:
        read(tmp_path / "x", data)
    assert words in str(error.value)
    assert str(tmp_path / "x") in str(error.value)


def test_who_takes_a_target_for_a_file_is_told_what_records_from_it() -> None:
    with pytest.raises(InputError, match="No such file or directory; vxmon capture board-7:6530 records from a target"):
        open_session("board-7:6530")
    with pytest.raises(InputError, match=r"No such file or directory$"):
        open_session("board-7")


def test_a_directory_and_nothing(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="is a directory"):
        open_session(str(tmp_path))
    with pytest.raises(InputError, match="No such file"):
        open_session(str(tmp_path / "none"))
    with pytest.raises(InputError, match="no file name"):
        open_session("a\0b")


def test_an_own_session_without_datagrams_is_fine(tmp_path: Path) -> None:
    assert read(tmp_path / "x", own(tmp_path / "s", []))[0] == []


def test_an_own_session_of_strangers_is_none(tmp_path: Path) -> None:
    data = own(tmp_path / "s", PAYLOADS).replace(b"VXMN", b"VXMX")
    with pytest.raises(InputError, match=r"none of its 40 packets is a vxmon datagram \(40 not vxmon's\)"):
        read(tmp_path / "x", data)


def test_metadata_of_a_newer_format_is_told(tmp_path: Path) -> None:
    data = own(tmp_path / "s", PAYLOADS).replace(b'{"format": 1', b'{"format": 2')
    found, _, session = read(tmp_path / "x", data)
    assert found == PAYLOADS
    assert session.problems == ["session metadata 2 is newer than what this vxmon knows (1)"]


@pytest.mark.parametrize("comment", [b"vxmon:{" + b"[" * 30, b"vxmon:12345" + b" " * 26, b"vxmon:" + b"\xff" * 31])
def test_broken_metadata_does_no_harm(tmp_path: Path, comment: bytes) -> None:
    data = own(tmp_path / "s", PAYLOADS)
    at = data.index(b"vxmon:{")
    found, _, session = read(tmp_path / "x", data[:at] + comment + data[at + len(comment) :])
    assert (found, session.metadata) == (PAYLOADS, {})


def test_a_file_can_be_walked_again(tmp_path: Path) -> None:
    path = tmp_path / "s"
    own(path, PAYLOADS)
    with open_session(str(path)) as session:
        first = sum(len(batch) for batch in session.datagrams())
        again = sum(len(batch) for batch in session.datagrams())
        assert first == again == session.datagrams_read == len(PAYLOADS)
        assert session.statistics.received == len(PAYLOADS)


@pytest.mark.parametrize("piece", [1, 7, 100, 100_000])
def test_a_pipe_in_pieces_of_any_size(tmp_path: Path, piece: int) -> None:
    data = own(tmp_path / "s", PAYLOADS)
    path = tmp_path / "fifo"
    os.mkfifo(path)

    def feed() -> None:
        with path.open("wb", buffering=0) as file:
            for at in range(0, len(data), piece):
                file.write(data[at : at + piece])

    thread = threading.Thread(target=feed)
    thread.start()
    with open_session(str(path)) as session:
        found = [batch.payload(i) for batch in session.datagrams() for i in range(len(batch))]
        assert not session.seekable
        with pytest.raises(InputError, match="only once"):
            list(session.datagrams())
        with pytest.raises(InputError, match="cannot be read again"):
            session.read_at(0, 1)
    thread.join()
    assert found == PAYLOADS


def test_datagrams_of_a_pipe_come_before_its_end(tmp_path: Path) -> None:
    """Whoever watches a capture live must not wait for a buffer to fill."""
    data = own(tmp_path / "s", PAYLOADS)
    read_end, write_end = os.pipe()
    os.write(write_end, data)
    with open_session(f"/dev/fd/{read_end}") as session:
        os.close(read_end)
        assert len(next(session.datagrams())) == len(PAYLOADS)
    os.close(write_end)


def test_long_sessions_are_read_in_little_memory(tmp_path: Path) -> None:
    import tracemalloc

    path = tmp_path / "s"
    body = own(path, [])
    with path.open("wb") as file:
        file.write(body[:-36] + own_packet() * 100_000)
    tracemalloc.start()
    try:
        with open_session(str(path)) as session:
            assert sum(len(batch) for batch in session.datagrams()) == 100_000
        assert tracemalloc.get_traced_memory()[1] < 24 << 20
    finally:
        tracemalloc.stop()


def chain(words: list[int]) -> tuple[list[int], int]:
    """The walk of the pcapng draft, block by block: whole blocks and the bytes they take, up to what cannot be."""
    at, found = 0, []
    while at + 2 <= len(words) and not (at and words[at] == 0x0A0D0D0A):
        size = words[at + 1]
        if size % 4 or not 12 <= size <= 1 << 24 or at + size // 4 > len(words):
            break
        found.append(at)
        at += size // 4
    return found, 4 * at


@settings(max_examples=300, deadline=None)
@given(
    blocks=st.lists(
        st.tuples(st.sampled_from([4, 9, 10, 0x0A0D0D0A]), st.sampled_from([12, 16, 28, 0, 4, 13, 1 << 25])), max_size=9
    ),
    cut=st.integers(0, 20),
)
def test_the_walk_finds_the_blocks_that_the_chain_of_lengths_leads_to(blocks: list[tuple[int, int]], cut: int) -> None:
    words = [10, 12, 12]
    for kind, size in blocks:
        words += [kind, size, *([7] * (min(size, 28) // 4 - 3)), size] if size >= 12 else [kind, size]
    words = words[: max(len(words) - cut, 3)]
    found, used = chain(words)
    scan = PcapngFraming().scan(np.array(words, "<u4").view(np.uint8))
    assert scan.used == used
    assert (len(scan.packets.at), bool(found)) == (0, True)


def test_memory_for_reading_is_used_again_and_let_go_of(tmp_path: Path) -> None:
    """Of a hundred open files, as of a rotated session, each would hold some megabytes."""
    path = tmp_path / "s"
    own(path, [datagram(3, 1400, i) for i in range(9000)])
    with open_session(str(path)) as session:
        plain = [batch.payload(0) for batch in session.datagrams()]
        places = []
        again = []
        for batch in session.datagrams(reuse=True):
            places.append(batch.data.__array_interface__["data"][0])
            again.append(batch.payload(0))
        assert again == plain
        assert len(places) > 3
        assert len(set(places)) == 2
        assert sum(map(len, session._source._buffers)) == 0
