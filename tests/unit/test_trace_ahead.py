# SPDX-License-Identifier: Apache-2.0
"""Chunks made ahead by a second process: the same chunks, which stay as they are while anybody holds them."""

from __future__ import annotations

import gc
import os
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

import numpy as np
import pytest

import vxmon.trace.ahead as ahead_module
from tests.bench.make_session import make_session
from tests.support.processes import open_files
from vxmon.second import Second
from vxmon.trace import StoredTrace, open_trace
from vxmon.trace.ahead import made_ahead
from vxmon.trace.columns import Columns

RECORDS = 1000
HERE = os.getpid()


def columns_of(number: int, records: int = RECORDS) -> Columns:
    """Different in every element from those of other numbers; ``stream`` says whether the first process made them."""
    values = np.arange(records) + 1000 * number
    small, own = values.astype(np.uint16), np.full(records, os.getpid() == HERE, np.uint8)
    words = np.arange(2 * records, dtype=np.uint32) + np.uint32(number)
    return Columns(values, own, small, small, own, values, words, False)


def is_right(columns: Columns, number: int, begin: int = 0) -> bool:
    """True when all is still as columns_of made it, from a record on."""
    values = np.arange(begin, begin + len(columns)) + 1000 * number
    same = [
        (columns.time == values).all(),
        (columns.at == values).all(),
        (columns.id == values.astype(np.uint16)).all(),
    ]
    return all(same) and bool((columns.words == np.arange(len(columns.words)) + number).all())


class Gate:
    """Makes chunks; the first process waits with its first until the second has begun one of such a number.

    As the second process takes what the first has not, all others before that number are delivered then.
    """

    def __init__(self, number: int, make: Callable[[int], Columns] = columns_of) -> None:
        self.number = number
        self.make = make
        self.waits = True
        self.source, self.sink = os.pipe()

    def __call__(self, number: int) -> Columns:
        if os.getpid() != HERE:
            if number >= self.number:
                os.write(self.sink, b"x")
        elif self.waits:
            self.waits = False
            os.read(self.source, 1)
        return self.make(number)

    def close(self) -> None:
        os.close(self.source)
        os.close(self.sink)


def nothing_left() -> bool:
    gc.collect()
    with suppress(ChildProcessError):
        os.waitpid(-1, os.WNOHANG)
        return False
    return not Second._running


@pytest.mark.parametrize("count", [0, 1, 2, 3, 100])
def test_the_order_is_kept(count: int) -> None:
    before = open_files()
    assert [is_right(c, number) for number, c in enumerate(made_ahead(range(count), columns_of))] == [True] * count
    assert nothing_left()
    assert open_files() == before


def test_the_second_process_makes_what_the_first_is_too_slow_for() -> None:
    with closing(Gate(6)) as gate:
        own = [int(c.stream[0]) for c in made_ahead(range(7), gate)]
    assert sum(own[:6]) <= 1


def test_chunks_that_are_held_for_ever_stay_as_they_are() -> None:
    """All of them, or a few records of each: far more than there are slots."""
    with closing(Gate(6)) as gate:
        held = list(made_ahead(range(200), gate))
    assert sum(not c.stream[0] for c in held) >= 5
    assert all(is_right(columns, number) for number, columns in enumerate(held))
    with closing(Gate(6)) as gate:
        some = [columns.time[500:][3:9:2] for columns in made_ahead(range(200), gate)]
    gc.collect()
    list(made_ahead(range(50), columns_of))
    assert [few.tolist() for few in some] == [[1000 * n + 503, 1000 * n + 505, 1000 * n + 507] for n in range(200)]
    assert nothing_left()


def test_slots_are_used_again_when_nobody_holds_them() -> None:
    """With the first process waiting for each chunk, the second one makes them all in a few slots."""
    limit = time.monotonic() + 60
    made = 0
    chunks = made_ahead(range(100), columns_of)
    for number, columns in enumerate(chunks):
        assert is_right(columns, number)
        made += not columns.stream[0]
        if number == 0:
            lending = chunks.gi_frame.f_locals["ahead"]  # type: ignore[attr-defined]
        while number < 99 and number + 1 not in {*lending._ready, *lending._own} and time.monotonic() < limit:
            lending._hear()
    assert made >= 90
    assert lending._slots.lent <= 2


def test_a_chunk_that_is_larger_than_a_slot_is_made_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ahead_module, "_SLOT_BYTES", 1 << 16)

    def make(number: int) -> Columns:
        return columns_of(number, 20_000 if number % 5 == 3 else 100)

    with closing(Gate(6, make)) as gate:
        assert all(is_right(columns, number) for number, columns in enumerate(made_ahead(range(40), gate)))


def ends(number: int) -> Columns:
    if os.getpid() != HERE and number > 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return columns_of(number)


def hangs(number: int) -> Columns:
    if os.getpid() != HERE and number > 3:
        time.sleep(3600)
    return columns_of(number)


@pytest.mark.parametrize("make", [ends, hangs])
def test_the_first_process_goes_on_alone(make: Callable[[int], Columns]) -> None:
    assert all(is_right(columns, number) for number, columns in enumerate(made_ahead(range(60), make)))
    assert nothing_left()


def test_an_error_is_raised_in_its_turn() -> None:
    def fails(number: int) -> Columns:
        if number == 7:
            raise ValueError(number)
        return columns_of(number)

    seen = []
    with pytest.raises(ValueError, match="7"):
        for number, columns in enumerate(made_ahead(range(20), fails)):
            assert is_right(columns, number)
            seen.append(number)
    assert seen == list(range(7))
    assert nothing_left()


def test_who_stops_listening_leaves_nothing_behind() -> None:
    before = open_files()
    chunks = made_ahead(range(1000), columns_of)
    first = next(chunks)
    assert not Second.is_free()
    chunks.close()
    assert nothing_left()
    assert is_right(first, 0)
    del first
    assert open_files() == before


def test_without_a_further_process_one_makes_all(monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse() -> int:
        raise BlockingIOError(11, "no more processes")

    monkeypatch.setattr(os, "fork", refuse)
    assert [columns.stream[0] for columns in made_ahead(range(9), columns_of)] == [1] * 9
    assert not Second._running


@pytest.mark.parametrize("given", [0, 1])
@pytest.mark.filterwarnings("error")
def test_without_pipes_all_is_made_here(given: int, monkeypatch: pytest.MonkeyPatch) -> None:
    pipe, left = os.pipe, iter(range(given))

    def few() -> tuple[int, int]:
        if next(left, None) is None:
            raise OSError
        return pipe()

    with monkeypatch.context() as patched:
        patched.setattr(os, "pipe", few)
        made = [columns.stream[0] for columns in made_ahead(range(9), columns_of)]
    gc.collect()
    assert made == [1] * 9
    assert nothing_left()


def test_a_program_may_start_processes_of_its_own() -> None:
    """Its copy holds a chunk and takes further ones, while the first process drops that chunk and takes all."""
    gate = Gate(6)
    chunks = made_ahead(range(200), gate)
    # The first process has made one of the first six itself, it may be any of them.
    number, held = next((number, made) for number, made in enumerate(chunks) if not made.stream[0])
    source, sink = os.pipe()
    child = os.fork()
    if child == 0:
        os.read(source, 1)
        good = is_right(held, number) and all(is_right(next(chunks), number + further) for further in (1, 2))
        os._exit(0 if good else 1)
    del held
    gc.collect()
    assert all(is_right(columns, behind) for behind, columns in enumerate(chunks, number + 1))
    os.write(sink, b"x")
    assert os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) == 0
    for end in (source, sink):
        os.close(end)
    gate.close()
    assert nothing_left()


def test_a_program_with_threads_is_left_alone() -> None:
    stop = threading.Event()
    thread = threading.Thread(target=stop.wait)
    thread.start()
    assert not Second.is_free()
    stop.set()
    thread.join()


# ---------------------------------------------------------------- a trace


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Some chunks."""
    path = tmp_path_factory.mktemp("ahead") / "s.pcapng"
    make_session(str(path), 200_000)
    return path


def figures(trace: StoredTrace) -> list[tuple[int, int, int, int]]:
    return [
        (len(c), int(c.time.sum()), int(c.id.sum(dtype=np.int64)), int(c.words[c.at[c.slots > 0]].sum(dtype=np.int64)))
        for c in (chunk.columns for chunk in trace.chunks())
    ]


def test_a_trace_gives_the_same_chunks(session: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with open_trace([str(session)]) as trace:
        assert isinstance(trace, StoredTrace)
        alone = figures(trace)
        monkeypatch.setattr(ahead_module, "ENOUGH_EVENTS", 0)
        monkeypatch.setattr(Second, "is_free", lambda: not Second._running)
        assert figures(trace) == alone
        with closing(trace.chunks()) as outer:  # type: ignore[type-var]
            next(outer)
            assert Second._running
            assert figures(trace) == alone
    assert len(alone) > 5
    assert nothing_left()


ENDLESS = """
import os, sys, time
import numpy as np
from tests.unit.test_trace_ahead import columns_of
from vxmon.trace.ahead import made_ahead
chunks = made_ahead(range(1000), columns_of)
held = next(chunks)
print(chunks.gi_frame.f_locals["ahead"]._second._process, flush=True)
if sys.argv[1] == "wait":
    time.sleep(3600)
for columns in chunks:
    time.sleep(0.1)
"""


@pytest.mark.parametrize(("how", "state"), [(signal.SIGKILL, "wait"), (signal.SIGKILL, "go"), (signal.SIGINT, "go")])
def test_it_ends_with_the_first_process(how: signal.Signals, state: str) -> None:
    """Also when the whole group is told, as by ctrl-C."""
    program = subprocess.Popen(
        [sys.executable, "-c", ENDLESS, state], stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True
    )
    assert program.stdout is not None
    second = int(program.stdout.readline())
    os.killpg(program.pid, how) if how == signal.SIGINT else program.send_signal(how)
    _, errors = program.communicate(timeout=60)
    assert program.returncode != 0
    assert errors.count(b"Traceback") <= 1
    limit = time.monotonic() + 60
    while is_running(second) and time.monotonic() < limit:
        time.sleep(0.01)
    assert not is_running(second)


def is_running(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text().rpartition(")")[2].split()[0]
    except (FileNotFoundError, ProcessLookupError):
        return False
    return state != "Z"
