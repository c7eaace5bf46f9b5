# SPDX-License-Identifier: Apache-2.0
"""Kept indices of sessions: what is read with one equals what is read without, whatever became of it."""

from __future__ import annotations

import json
import os
import random
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from tests.support.sessions import Target, write_session
from vxmon.errors import InputError
from vxmon.session.reader import SessionReader, open_session
from vxmon.trace import Facts, StoredTrace, open_trace, store
from vxmon.trace.keptrows import KeptRows
from vxmon.trace.plain import PlainError, from_plain, to_plain
from vxmon.trace.selection import rows_within
from vxmon.trace.span import Span
from vxmon.trace.store import SUFFIX, IndexStore, index_name
from vxmon.wire.types import Channel, Flag

Outcome = tuple[Any, ...]


@pytest.fixture
def keeper(tmp_path: Path) -> IndexStore:
    return IndexStore(tmp_path / "cache")


@pytest.fixture
def session(tmp_path: Path) -> Path:
    return write(tmp_path / "s.pcapng")


def write(path: Path, blocks: int = 12) -> Path:
    """Two CPUs, a loss, a damaged block, a loss behind the last block."""
    target = Target()
    made = [bytearray(target.points(range(100 * n, 100 * n + 40, 10), stream=n % 2)) for n in range(blocks)]
    made[6][-1] ^= 1
    del made[3], made[-1]
    begin = [*target.tables(streams=2), *target.started(), *target.heartbeat(5)]
    write_session(path, [*begin, *map(bytes, made), *target.tables(), *target.end(5000)])
    return path


def facts_of(facts: Facts) -> Outcome:
    for boot in facts.boots:
        boot.forget_wall()
    return (
        facts.files, facts.boots, facts.counters, facts.losses.tolist(), facts.cut, facts.problems,
        facts.incomplete, facts.delivered, facts.lost,
    )  # fmt: skip


def outcome(paths: list[Path], keeper: IndexStore | None) -> Outcome:
    """Everything that a trace says."""
    with StoredTrace([open_session(str(path)) for path in paths], keeper) as trace:
        columns = [(c.columns.time.tolist(), c.columns.id.tolist(), c.columns.arg.tolist()) for c in trace.chunks()]
        return facts_of(trace.facts), trace.index.tolist(), columns


@dataclass
class Seen:
    """Readers that were walked for a first pass."""

    names: list[str] = field(default_factory=list)


@pytest.fixture
def walked(monkeypatch: pytest.MonkeyPatch) -> Seen:
    """Which files a first pass was made of."""
    seen, before = Seen(), SessionReader.datagrams

    def datagrams(reader: SessionReader, **options: bool) -> Iterator[Any]:
        seen.names.append(Path(reader.name).name)
        return before(reader, **options)

    monkeypatch.setattr(SessionReader, "datagrams", datagrams)
    return seen


def test_the_first_pass_is_made_once(session: Path, keeper: IndexStore, walked: Seen) -> None:
    plain = outcome([session], None)
    assert outcome([session], keeper) == plain
    assert walked.names == ["s.pcapng"] * 2
    assert outcome([session], keeper) == plain
    assert len(walked.names) == 2
    assert index_name(session).name == ".s.pcapng.vxmindex"
    assert index_name(session).exists()
    assert sorted(path.name for path in session.parent.iterdir()) == [".s.pcapng.vxmindex", "cache", "s.pcapng"]


def test_an_index_is_no_session(session: Path, keeper: IndexStore) -> None:
    outcome([session], keeper)
    with pytest.raises(InputError, match="but a kept index of a session"):
        open_session(str(index_name(session)))


def test_several_files_have_one_index(tmp_path: Path, keeper: IndexStore, walked: Seen) -> None:
    paths = [write(tmp_path / "a"), write(tmp_path / "b", 20)]
    plain = outcome(paths, None)
    assert outcome(paths, keeper) == outcome(paths, keeper) == plain
    assert walked.names == ["a", "b"] * 2
    assert outcome(paths[:1], keeper) == outcome(paths[:1], None)


def test_a_session_may_be_named_in_another_way(session: Path, keeper: IndexStore, walked: Seen) -> None:
    session.write_bytes(session.read_bytes()[:-50])
    outcome([session], keeper)
    other = session.parent / ".." / session.parent.name / session.name
    walked.names.clear()
    found = outcome([other], keeper)
    assert not walked.names
    assert found == outcome([other], None)
    assert any(problem.startswith(f"{other}: the end is cut") for problem in found[0][5])


def grown(session: Path) -> None:
    target = Target(blocks={0: 6, 1: 6}, index={0: 24, 1: 24})
    with session.open("ab") as file:
        more = write_session(session.with_name("more"), [target.points([9000, 9001])])
        file.write(Path(more).read_bytes())


def replaced(session: Path) -> None:
    write(session.with_name("new"), 14).replace(session)


def changed_in_place(session: Path) -> None:
    """Also when somebody puts the time back."""
    before = session.stat()
    data = bytearray(session.read_bytes())
    data[len(data) // 2] ^= 0xFF
    session.write_bytes(bytes(data))
    os.utime(session, ns=(before.st_atime_ns, before.st_mtime_ns))


def cut_short(session: Path) -> None:
    session.write_bytes(session.read_bytes()[:-200])


@pytest.mark.parametrize("change", [grown, replaced, changed_in_place, cut_short])
def test_a_stale_index_is_made_anew(session: Path, keeper: IndexStore, walked: Seen, change: Any) -> None:
    before = outcome([session], keeper)
    change(session)
    plain = outcome([session], None)
    assert plain != before
    walked.names.clear()
    assert outcome([session], keeper) == plain
    assert walked.names == ["s.pcapng"]
    assert outcome([session], keeper) == plain
    assert walked.names == ["s.pcapng"]


def test_a_file_that_grows_while_it_is_read_has_no_index(session: Path, keeper: IndexStore) -> None:
    reader = open_session(str(session))
    grown(session)
    with StoredTrace([reader], keeper):
        assert not index_name(session).exists()


def test_damage_to_an_index_changes_nothing(session: Path, keeper: IndexStore, tmp_path: Path) -> None:
    """Seeded: single bytes and ends; each is made anew."""
    plain = outcome([session], keeper)
    path = index_name(session)
    good = path.read_bytes()
    source = random.Random(1)
    for at in [*range(0, 60, 7), *(source.randrange(len(good)) for _ in range(60))]:
        bad = bytearray(good)
        bad[at] ^= 1 << source.randrange(8)
        path.write_bytes(bytes(bad))
        assert outcome([session], keeper) == plain
        assert path.read_bytes() == good, f"byte {at} was believed"
    for size in (0, 7, 40, 60, len(good) // 2, len(good) - 1):
        path.write_bytes(good[:size])
        assert outcome([session], keeper) == plain
    path.write_bytes(good + b"\0")
    assert outcome([session], keeper) == plain


def test_an_index_of_somebody_else_is_not_believed(session: Path, keeper: IndexStore, tmp_path: Path) -> None:
    stranger = IndexStore(tmp_path / "theirs")
    outcome([session], stranger)
    reader = open_session(str(session))
    assert kept_rows(stranger, reader)
    assert keeper.load([reader]) is None
    reader.close()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("slots_at", 1 << 40), ("slots_at", -1), ("slots_at", 3), ("boot", 7), ("file", 3), ("room", 99),
        ("count", 0xFFFF), ("slots", 0xFFFF),
    ],
)  # fmt: skip
def test_rows_that_cannot_be_are_refused(session: Path, keeper: IndexStore, name: str, value: int) -> None:
    """Even with the right key: nothing is read from outside of a file, no number is used that means nothing."""
    reader = open_session(str(session))
    with StoredTrace([open_session(str(session))]) as trace:
        index = trace.index.copy()
        index[name][len(index) // 2] = value
        assert keeper.save([reader], trace.facts, index) is not None
        assert kept_rows(keeper, reader) is None
        assert keeper.save([reader], trace.facts, trace.index) is not None
        assert kept_rows(keeper, reader) == trace.index.tolist()
    reader.close()


def kept_rows(keeper: IndexStore, reader: SessionReader) -> list[Any] | None:
    kept = keeper.load([reader])
    assert kept is not None
    rows = kept[1].whole()
    kept[1].close()
    return None if rows is None else rows.tolist()


@pytest.fixture
def small_parts(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("vxmon.trace.keptrows._ROWS_A_PART", 2)


@pytest.mark.usefixtures("small_parts")
def test_a_window_reads_the_parts_that_it_needs(
    session: Path, keeper: IndexStore, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same rows come as from the whole index, for every window, around losses too."""
    outcome([session], keeper)
    read: list[int] = []
    load = KeptRows._load_part

    def load_part(rows: KeptRows, number: int, into: Any) -> bool:
        read.append(number)
        return load(rows, number, into)

    monkeypatch.setattr(KeptRows, "_load_part", load_part)
    hz = 400_000_000
    for begin in range(0, 1300, 130):
        span = Span(begin * 10**9 // hz, (begin + 100) * 10**9 // hz)
        with (
            StoredTrace([open_session(str(session))]) as whole,
            StoredTrace([open_session(str(session))], keeper) as some,
        ):
            read.clear()
            for around in (None, {0: 0}, {0: 70}):
                expected = rows_within(whole, span, (), around).tolist()
                assert rows_within(some, span, (), around).tolist() == expected
            assert len(set(read)) < len(whole.index) / 2
            assert some.index.tolist() == whole.index.tolist()


@pytest.mark.usefixtures("small_parts")
def test_damage_to_a_part_is_found_when_it_is_needed(session: Path, keeper: IndexStore, walked: Seen) -> None:
    plain = outcome([session], keeper)
    good = index_name(session).read_bytes()
    bad = bytearray(good)
    bad[-1] ^= 1
    index_name(session).write_bytes(bytes(bad))
    walked.names.clear()
    with StoredTrace([open_session(str(session))], keeper) as trace:
        assert len(trace.rows_near(0, 0, 50))
        assert not walked.names
        assert trace.rows_near(0, 0, 10**9).tolist() == trace.index.tolist() == plain[1]
        assert walked.names == ["s.pcapng"]
    assert index_name(session).read_bytes() == good


def test_where_the_folder_takes_nothing_the_cache_does(session: Path, keeper: IndexStore, walked: Seen) -> None:
    index_name(session).mkdir()
    plain = outcome([session], keeper)
    assert len(list((keeper.cache / "index").glob("*" + SUFFIX))) == 1
    walked.names.clear()
    assert outcome([session], keeper) == plain
    assert not walked.names


def test_without_a_key_of_ones_own_nothing_is_kept(session: Path, keeper: IndexStore) -> None:
    outcome([session], keeper)
    (keeper.cache / "index.key").chmod(0o644)
    reader = open_session(str(session))
    assert keeper.load([reader]) is None
    reader.close()
    blocked = IndexStore(session / "no" / "folder")
    assert outcome([session], blocked) == outcome([session], None)


@pytest.mark.parametrize("where", ["index", "key"])
def test_a_fifo_in_the_place_of_a_file_is_not_waited_for(session: Path, keeper: IndexStore, where: str) -> None:
    plain = outcome([session], keeper)
    path = index_name(session) if where == "index" else keeper.cache / "index.key"
    path.unlink()
    os.mkfifo(path, mode=0o600)
    assert outcome([session], keeper) == plain


def test_small_sessions_and_those_who_do_not_want_it_have_none(session: Path) -> None:
    with open_trace([str(session)]):
        assert not index_name(session).exists()
    assert IndexStore.of_user({"HOME": "/h"}) == IndexStore(Path("/h/.cache/vxmon"))
    assert IndexStore.of_user({"HOME": "/x", "XDG_CACHE_HOME": "/c"}) == IndexStore(Path("/c/vxmon"))
    assert IndexStore.of_user({"HOME": "/x", "XDG_CACHE_HOME": "c"}) == IndexStore(Path("/x/.cache/vxmon"))
    for environment in ({}, {"HOME": ""}, {"HOME": "/x", "VXMON_INDEX": "off"}, {"HOME": "/x", "VXMON_INDEX": "0"}):
        assert IndexStore.of_user(environment) is None


def test_large_sessions_have_one(session: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, walked: Seen) -> None:
    monkeypatch.setattr("vxmon.trace.opening._LEAST_KEPT_BYTES", 100)
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "user"))
    monkeypatch.delenv("VXMON_INDEX", raising=False)
    for _ in range(2):
        with open_trace([str(session)]) as trace:
            assert trace.facts.delivered
    assert walked.names == ["s.pcapng"]
    assert index_name(session).exists()


def test_another_program_makes_its_own(
    session: Path, keeper: IndexStore, walked: Seen, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = outcome([session], keeper)
    monkeypatch.setattr(store, "_program", lambda: "another")
    walked.names.clear()
    assert outcome([session], keeper) == plain
    assert walked.names


# ---------------------------------------------------------------- plain values


@dataclass(frozen=True)
class Inner:
    number: int
    flags: Flag = Flag.AUTHENTICATED


@dataclass
class Outer:
    text: str
    inner: Inner | None
    pairs: dict[tuple[str, int], Inner]
    some: frozenset[int]
    data: bytes
    rows: list[tuple[int, ...]]
    channel: Channel
    rate: float = 0.5


OUTER = Outer("x", Inner(3), {("a", 1): Inner(4, Flag.BIG_ENDIAN)}, frozenset({3, 1}), b"\0\xff", [(1, 2)], Channel.END)


def test_values_come_back_as_they_were() -> None:
    for value in (OUTER, replace(OUTER, inner=None, rows=[]), np.bool_(True)):
        if isinstance(value, Outer):
            assert from_plain(Outer, json.loads(json.dumps(to_plain(value)))) == value
        else:
            with pytest.raises(PlainError):
                to_plain(value)


@pytest.mark.parametrize(
    ("at", "wrong"),
    [
        (0, 1), (0, None), (1, 5), (1, ["x", 0]), (1, [1]), (2, [[1]]), (2, {}), (3, [1, "a"]), (4, "zz"), (4, 1),
        (5, [1]), (6, 99), (7, "1"), (7, True),
    ],
)  # fmt: skip
def test_what_has_another_type_is_refused(at: int, wrong: object) -> None:
    plain = to_plain(OUTER)
    plain[at] = wrong
    with pytest.raises(PlainError):
        from_plain(Outer, plain)
