# SPDX-License-Identifier: Apache-2.0
"""Work done by two processes in turns against the same done by one."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from tests.bench.make_session import make_session
from tests.support.processes import no_children, open_files
from tests.support.recording import Recording
from vxmon import turns
from vxmon.turns import in_turns
from vxmon.wire.types import ObjectEntry, PartitionEntry, Payload, RunConfig

# More text than a pipe holds.
LONG = b"0123456789abcdef" * 20_000
TWO_PROCESSES = """
import sys
import vxmon.turns as turns
turns.ENOUGH_EVENTS = int(sys.argv.pop(1))
from vxmon_cli.main import main
main()
"""


ICD = """icd = 1
name = "test"
[[message]]
name = "state"
size = 2
field = [{ name = "count", type = "unsigned", byte = 0, length = 16 }]
[[bind]]
object = "state"
message = "state"
"""


def both_ways(session: Path, *options: str) -> list[subprocess.CompletedProcess[bytes]]:
    """Print by one process, and by two."""
    return [
        subprocess.run(
            [sys.executable, "-c", TWO_PROCESSES, enough, "print", str(session), *options],
            capture_output=True, check=True, timeout=120,
        )
        for enough in ("1000000000", "0")
    ]  # fmt: skip


def text(number: int) -> bytes:
    return b"%d:" % number + LONG[: number * 7919 % len(LONG)]


@pytest.mark.parametrize("count", [0, 1, 2, 3, 40])
def test_the_order_is_kept(count: int) -> None:
    assert list(in_turns(iter(range(count)), text)) == [text(number) for number in range(count)]
    assert no_children()


@pytest.mark.parametrize("extra", [0, 2, 8])
def test_the_second_process_makes_its_part(extra: int) -> None:
    """Of each ``extra`` items one more than half, and the order is kept."""
    made = [
        bytes(data).split() for data in in_turns(iter(range(33)), lambda n: b"%d %d" % (n, os.getpid()), extra=extra)
    ]
    assert [int(number) for number, _ in made] == list(range(33))
    here = [int(number) for number, maker in made if int(maker) == os.getpid()]
    assert here == [number for number in range(0, 33, 2) if not extra or number == 0 or number % extra]


def test_both_processes_work() -> None:
    makers = [bytes(maker) for maker in in_turns(iter(range(10)), lambda _: b"%d" % os.getpid())]
    assert set(makers[::2]) == {b"%d" % os.getpid()}
    assert len(set(makers[1::2])) == 1
    assert makers[1] != makers[0]


def test_what_a_process_that_fails_does_not_make_is_made_by_the_first() -> None:
    here = os.getpid()

    def fails_elsewhere(number: int) -> bytes:
        if number > 4 and os.getpid() != here:
            os._exit(1)
        return text(number)

    assert list(in_turns(iter(range(12)), fails_elsewhere)) == [text(number) for number in range(12)]


def test_an_error_of_the_first_process_ends_both() -> None:
    def fails(number: int) -> bytes:
        if number == 2:
            raise ValueError(number)
        return text(number)

    with pytest.raises(ValueError, match="2"):
        list(in_turns(iter(range(12)), fails))
    assert no_children()


def plain(size: int) -> bytes:
    return bytes(number % 251 for number in range(size))


@pytest.fixture
def small_rooms(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(turns, "ROOM_BYTES", 64)


@pytest.mark.usefixtures("small_rooms")
@pytest.mark.parametrize("size", [0, 1, 64, 65, 300])
@pytest.mark.parametrize("lent", [True, False])
def test_what_is_longer_than_a_room_comes_in_pieces(size: int, lent: bool) -> None:
    sizes = [size, size, 2, size, 0, size + 1, size, 0, 1, 64]
    came = [bytes(data) for data in in_turns(iter(sizes), plain, lent=lent)]
    assert came == [plain(size) for size in sizes]
    assert no_children()


def test_without_a_further_process_it_is_done_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def none() -> int:
        raise OSError

    monkeypatch.setattr(os, "fork", none)
    before = open_files()
    assert list(in_turns(iter(range(5)), text)) == [text(number) for number in range(5)]
    assert open_files() == before


@pytest.mark.parametrize("given", [0, 1])
def test_without_pipes_it_is_done_by_one(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe, left = os.pipe, iter(range(given))

    def few() -> tuple[int, int]:
        if next(left, None) is None:
            raise OSError
        return pipe()

    monkeypatch.setattr(os, "pipe", few)
    before = open_files()
    assert list(in_turns(iter(range(5)), text)) == [text(number) for number in range(5)]
    assert open_files() == before


@pytest.mark.usefixtures("small_rooms")
def test_what_is_not_lent_lasts() -> None:
    came = list(in_turns(iter(range(40)), plain))
    assert came == [plain(size) for size in range(40)]


@pytest.mark.usefixtures("small_rooms")
def test_a_process_that_ends_within_an_item_is_made_up_for() -> None:
    here, write = os.getpid(), os.write

    def make(number: int) -> bytes:
        if number == 3 and os.getpid() != here:
            left = iter(range(3))
            os.write = lambda *given: os._exit(1) if next(left, None) is None else write(*given)
        return plain(1000)

    assert [bytes(data) for data in in_turns(iter(range(6)), make, lent=True)] == [plain(1000)] * 6


def test_who_stops_listening_leaves_nothing_behind() -> None:
    texts = in_turns(iter(range(1000)), text)
    assert next(texts) == text(0)
    texts.close()  # type: ignore[attr-defined]
    assert no_children()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Four chunks."""
    path = tmp_path_factory.mktemp("turns") / "s.pcapng"
    make_session(str(path), 100_000, streams=2)
    return path


@pytest.mark.parametrize("options", [[], ["--format", "csv"], ["--class", "TASK", "-v"]])
def test_print_makes_the_same_lines_either_way(session: Path, options: list[str]) -> None:
    one, two = both_ways(session, *options)
    assert one.stdout == two.stdout
    assert one.stdout.count(b"\n") > 10_000
    assert one.stderr == two.stderr


def test_fields_of_messages_are_the_same_either_way(tmp_path: Path) -> None:
    """Of 2000 messages; each is followed by its content, of some only in the next chunk."""
    rec = Recording(
        partitions=(PartitionEntry(1, "A"),), config=RunConfig(payload=Payload.CONTENT, content_bytes=2),
        objects=(ObjectEntry(1, 0, 1, "state"),), block_records=3,
    )  # fmt: skip
    rec.add(0, "START", 0, window=0, task=0, run=1)
    for number in range(1, 2001):
        rec.add(10 * number, "MSG_SEND", 1, number=number, size=2, partition=1, depth=1)
        rec.add(10 * number + 1, "CONTENT", 1, number=number, length=2, content=number.to_bytes(2, "big"))
    session = rec.write(tmp_path / "s.pcapng")
    icd = tmp_path / "icd.toml"
    icd.write_text(ICD)
    one, two = both_ways(Path(session), "--icd", str(icd))
    assert [int(value) for value in re.findall(rb" message:state count:(\d+)\n", one.stdout)] == list(range(1, 2001))
    assert one.stdout == two.stdout
    assert one.stderr == two.stderr
