# SPDX-License-Identifier: Apache-2.0
"""The first pass by two processes in turns against the same by one, over sessions of all kinds."""

from __future__ import annotations

import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from tests.bench.make_session import make_session
from tests.compat.make_sessions import SESSIONS
from tests.support.captures import frame, pcap, pcapng, udp_packet
from tests.support.processes import no_children
from tests.support.sessions import Target, host_datagram, write_session
from vxmon import turns
from vxmon.errors import InputError
from vxmon.session.reader import open_session
from vxmon.trace import StoredTrace, examine
from vxmon.trace.plain import to_plain
from vxmon.wire.types import Channel

Paths = list[Path]


def datagrams(rng: random.Random) -> list[bytes]:
    """Two targets, one of them little-endian: tables, heartbeats, blocks of two streams, ends; and the host's."""
    targets = [Target(boot=7), Target(boot=8, big_endian=False, run=2)]
    found = [data for target in targets for data in [*target.tables(streams=2), *target.started()]]
    for step in range(60):
        target = rng.choice(targets)
        base = 1000 * step
        found.append(target.points(range(base, base + rng.randrange(1, 90)), rng.randrange(2)))
        if rng.random() < 0.2:
            found += target.heartbeat(base + 500)
        if rng.random() < 0.1:
            target.lose(overwritten=rng.randrange(1, 50))
        if rng.random() < 0.1:
            found.append(host_datagram(Channel.NOTE, b""))
    return found + [data for target in targets for data in target.end(61_000)]


def worse(found: list[bytes], rng: random.Random) -> list[bytes]:
    """Some missing, twice, spoiled in their header or elsewhere, or not vxmon's at all."""
    out: list[bytes] = []
    for data in found:
        kind = rng.random()
        if kind < 0.05:
            continue
        out.append(data)
        if kind < 0.1:
            out.append(data)
        elif kind < 0.3:
            spoiled = bytearray(data)
            spoiled[rng.choice([rng.randrange(32), rng.randrange(len(data))])] ^= 1 << rng.randrange(8)
            out[-1] = bytes(spoiled)
        elif kind < 0.35:
            out.append(rng.randbytes(rng.randrange(60)))
    return out


def own(folder: Path, rng: random.Random) -> Paths:
    return [Path(write_session(folder / "own", datagrams(rng)))]


def spoiled(folder: Path, rng: random.Random) -> Paths:
    return [Path(write_session(folder / "spoiled", worse(datagrams(rng), rng)))]


def damaged(folder: Path, rng: random.Random) -> Paths:
    """The file itself is damaged in places, and cut."""
    (path,) = spoiled(folder, rng)
    data = bytearray(path.read_bytes())
    for _ in range(4):
        at = data.index(b"VXMN", rng.randrange(len(data) // 2)) - 52
        data[at : at + 4] = rng.choice([b"\xff\xff\xff\x7f", bytes(4), b"\x0d\x00\x00\x00"])
    path.write_bytes(data[: len(data) - rng.randrange(1, 300)])
    return [path]


def rotated(folder: Path, rng: random.Random) -> Paths:
    found = worse(datagrams(rng), rng)
    parts = [found[: len(found) // 3], found[len(found) // 3 :]]
    return [Path(write_session(folder / f"part{n}", part, start_ns=n * 10**12)) for n, part in enumerate(parts)]


def packets(rng: random.Random) -> list[tuple[int, bytes]]:
    """As a passive capture has them, with packets of others between."""
    found = [frame(data, vlans=rng.choice([0, 0, 1])) for data in worse(datagrams(rng), rng)]
    found += [frame(rng.randbytes(80))[:14] + udp_packet(rng.randbytes(80), ports=(53, 9999)) for _ in range(20)]
    found += [bytes(60) for _ in range(10)]
    rng.shuffle(found)
    return [(1_700_000_000_000_000_000 + 1000 * n, packet) for n, packet in enumerate(found)]


def passive(folder: Path, rng: random.Random) -> Paths:
    path = folder / "passive"
    path.write_bytes(pcap(packets(rng), snaplen=rng.choice([65535, 600, 150])))
    return [path]


def other_order(folder: Path, rng: random.Random) -> Paths:
    path = folder / "big"
    sections = [pcapng(packets(rng), order=order, resolution=9) for order in "><"]
    path.write_bytes(b"".join(sections))
    return [path]


def foreign(folder: Path, rng: random.Random) -> Paths:
    """Nothing in it is vxmon's."""
    path = folder / "foreign"
    path.write_bytes(pcap([(n, frame(rng.randbytes(300))) for n in range(200)]))
    return [path]


def good_and_foreign(folder: Path, rng: random.Random) -> Paths:
    return [*own(folder, rng), *foreign(folder, rng)]


def kept(_: Path, __: random.Random) -> Paths:
    return [SESSIONS / "all-events.pcapng"]


def outcome(paths: Paths) -> list[Any] | str:
    """All that the first pass finds, or why it refuses."""
    try:
        with StoredTrace([open_session(str(path)) for path in paths]) as trace:
            facts, index = trace.facts, trace.index
    except InputError as error:
        return str(error)
    plain = [to_plain(some) for some in (facts.boots, facts.files)]
    return [*plain, facts.counters, facts.problems, facts.losses.tobytes(), index.tobytes()]


@pytest.fixture
def small_pieces(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vxmon.session.reader.CHUNK", 2048)
    monkeypatch.setattr("vxmon.session.reader.FILE_CHUNK", 8192)


def both_ways(paths: Paths, monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    found = []
    for enough in (1 << 60, 0):
        monkeypatch.setattr(examine, "ENOUGH_BYTES", enough)
        found.append(outcome(paths))
    return found


@pytest.fixture
def two_processors(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 1})


KINDS: list[Callable[[Path, random.Random], Paths]] = [
    own, spoiled, damaged, rotated, passive, other_order, foreign, good_and_foreign, kept,
]  # fmt: skip


@pytest.mark.usefixtures("small_pieces", "two_processors")
@pytest.mark.parametrize("seed", range(4))
@pytest.mark.parametrize("kind", KINDS)
def test_two_processes_find_what_one_finds(
    kind: Callable[[Path, random.Random], Paths], seed: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, two = both_ways(kind(tmp_path, random.Random(seed)), monkeypatch)
    assert one == two
    assert no_children()


# Whether a datagram without vxmon's magic is one of a target's is known only when the target was heard of.
@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind not in (passive, other_order)])
def test_what_is_found_does_not_depend_on_how_much_is_read_at_once(
    kind: Callable[[Path, random.Random], Paths], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    paths = kind(tmp_path, random.Random(9))
    found = []
    for size in (1 << 11, 5000, 1 << 20):
        monkeypatch.setattr("vxmon.session.reader.CHUNK", size)
        monkeypatch.setattr("vxmon.session.reader.FILE_CHUNK", 4 * size)
        found.append(outcome(paths))
    assert found[0] == found[1]
    assert found[0] == found[2]


@pytest.mark.usefixtures("small_pieces", "two_processors")
def test_the_second_process_does_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = own(tmp_path, random.Random(1))
    here: list[int] = []
    right = examine.examine

    def counting(batch: Any) -> examine.Examined:
        here.append(len(batch))
        return right(batch)

    monkeypatch.setattr(examine, "examine", counting)
    made = []
    for enough in (1 << 60, 0):
        monkeypatch.setattr(examine, "ENOUGH_BYTES", enough)
        outcome([path])
        made.append(len(here))
        here.clear()
    assert made[0] > 4
    assert made[1] < made[0] / 2 + 1


@pytest.mark.usefixtures("small_pieces", "two_processors")
def test_a_second_process_that_ends_early_changes_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (path,) = spoiled(tmp_path, random.Random(1))
    here, right = os.getpid(), examine.examine

    def ends(batch: Any) -> examine.Examined:
        if os.getpid() != here and batch.base > 20_000:
            os._exit(1)
        return right(batch)

    monkeypatch.setattr(examine, "examine", ends)
    one, two = both_ways([path], monkeypatch)
    assert one == two


@pytest.mark.usefixtures("small_pieces", "two_processors")
def test_what_the_other_process_saw_of_a_file_that_changed_is_not_used(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It sees other batches, as when the file grows or is written anew while it is read."""
    (path,) = spoiled(tmp_path, random.Random(1))
    here, right = os.getpid(), examine._mark

    def shifted(batch: Any) -> tuple[int, int, int]:
        base, size, count = right(batch)
        return base, size, count + (os.getpid() != here)

    monkeypatch.setattr(examine, "_mark", shifted)
    one, two = both_ways([path], monkeypatch)
    assert one == two


def test_a_program_with_threads_is_not_split(monkeypatch: pytest.MonkeyPatch, two_processors: None) -> None:
    assert turns.worth_turns(5, 5)
    assert not turns.worth_turns(4, 5)
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    try:
        assert not turns.worth_turns(5, 5)
    finally:
        stop.set()
        thread.join()


def test_a_batch_without_blocks_is_examined(tmp_path: Path) -> None:
    path = write_session(tmp_path / "s", Target().tables())
    with open_session(path) as session:
        (batch,) = session.datagrams()
    found = examine.examine(batch)
    assert (found.blocks, len(found.rows), len(found.payloads)) == (0, 0, len(batch))


OPENING = """
import os, sys
from vxmon.trace import examine
examine.ENOUGH_BYTES = 0
os.sched_getaffinity = lambda _: {0, 1}
right = examine.examine
def slow(batch):
    import time
    print("working", flush=True)
    time.sleep(60)
examine.examine = slow
from vxmon_cli.main import main
sys.argv[1:] = ["info", sys.argv[1]]
main()
"""


def processes_of(group: int) -> int:
    """Processes of a group, those that have ended but were not waited for left out (proc(5))."""
    found = 0
    for path in Path("/proc").glob("[0-9]*/stat"):
        try:
            fields = path.read_text().rpartition(")")[2].split()
        except OSError:
            continue
        found += int(fields[2]) == group and fields[0] != "Z"
    return found


def test_an_interrupt_ends_both_processes_without_a_traceback(tmp_path: Path) -> None:
    path = tmp_path / "s.pcapng"
    make_session(str(path), 20_000)
    process = subprocess.Popen(
        [sys.executable, "-c", OPENING, str(path)],
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        start_new_session=True,
    )
    assert process.stdout is not None
    process.stdout.readline()
    os.killpg(process.pid, signal.SIGINT)
    _, errors = process.communicate(timeout=30)
    assert b"Traceback" not in errors
    deadline = time.monotonic() + 30
    while processes_of(process.pid) and time.monotonic() < deadline:
        time.sleep(0.05)
    assert processes_of(process.pid) == 0
