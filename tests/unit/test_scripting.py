# SPDX-License-Identifier: Apache-2.0
"""The two interfaces for scripts. Expected values are those of the hand-made session: one tick is one microsecond."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import vxmon
from tests.support.handmade import A_IDLE, WORK, frames, recording, start
from tests.support.tree import ROOT
from vxmon.errors import InputError
from vxmon.trace.facts import Facts
from vxmon.trace.parser import Event, Parser

README = (ROOT / "vxmon" / "README.md").read_text()
EXAMPLES = re.findall(r"```python\n(.*?)```", README, re.DOTALL)


@pytest.fixture
def session(tmp_path: Path) -> str:
    """Three frames; 16 records each, and START and STOP."""
    return frames(3).write(tmp_path / "s.pcapng")


# ---------------------------------------------------------------- arrays


def test_all_events_are_columns_in_order(session: str) -> None:
    with vxmon.open(session) as found:
        events = found.events()
        assert len(events) == 3 * 16 + 2
        assert events.ticks[0] == 900
        assert events.time_ns[:4].tolist() == [0, 101_000, 102_000, 103_000]
        assert (np.diff(events.ticks) >= 0).all()
        assert found.event_names()[int(events.event[1])] == "MAJOR_FRAME"
        assert events.fields == {}
        assert found.lost == 0
        assert found.names("partition") == {0: "MODULE", 1: "A", 2: "B"}


def test_events_of_a_name_have_their_fields(session: str) -> None:
    with vxmon.open(session) as found:
        completes = found.events("complete")
    assert completes.argument.tolist() == [1, 4, 1, 4, 1, 4]
    assert completes["activation"].tolist() == [1, 1, 2, 2, 3, 3]
    assert completes["ticks"].tolist() == [1108, 1606, 2108, 2606, 3108, 3606]
    assert list(completes.columns()) == ["ticks", "time_ns", "boot", "cpu", "event", "argument", "activation"]


def test_wide_fields_keep_all_their_bits(tmp_path: Path) -> None:
    rec = recording()
    rec.rows([(10, *start()), (20, "RELEASE", WORK, {"release": 2**40 + 5, "deadline": 2**63, "activation": 7})])
    with vxmon.open(rec.write(tmp_path / "s.pcapng")) as found:
        release = found.events("RELEASE")
    assert release["release"].tolist() == [2**40 + 5]
    assert release["deadline"].tolist() == [2**63]


def test_text_comes_as_text(tmp_path: Path) -> None:
    rec = recording()
    rec.rows([(10, *start())])
    rec.add(20, "USER_TEXT", 3, text="hello")
    rec.add(30, "USER_TEXT", 4, text="a longer text")
    with vxmon.open(rec.write(tmp_path / "s.pcapng")) as found:
        assert found.events("USER_TEXT")["text"].tolist() == ["hello", "a longer text"]


def test_losses_are_events_too(tmp_path: Path) -> None:
    with vxmon.open(frames(3).write(tmp_path / "s.pcapng", drop=[4])) as found:
        assert found.lost == 4
        assert len(found.events("LOSS")) == 1
        assert len(found.events()) == 3 * 16 + 2 - 4 + 1


def test_pieces_are_the_whole(session: str) -> None:
    with vxmon.open(session, session) as found:
        whole = found.events("TASK_SWITCH")
        parts = list(found.batches("TASK_SWITCH"))
    assert sum(map(len, parts)) == len(whole) == 15


def test_a_name_that_is_not_there(session: str) -> None:
    with vxmon.open(session) as found, pytest.raises(InputError, match="no event of the session is called NO_SUCH"):
        found.events("no_such")


def test_nothing_of_a_name_is_empty_columns(session: str) -> None:
    with vxmon.open(session) as found:
        assert len(found.events("EXCEPTION")) == 0


def test_a_pipe_is_refused() -> None:
    done = subprocess.run(
        [sys.executable, "-c", "import vxmon; vxmon.open('-')"], input=b"", capture_output=True, check=False
    )
    assert done.returncode != 0
    assert b"InputError" in done.stderr


# ---------------------------------------------------------------- calls


def test_calls_come_in_order_of_time_with_fields(session: str) -> None:
    calls: list[Event] = []
    parser = Parser()
    parser.on_event("TASK_SWITCH", calls.append)
    parser.on_event("COMPLETE", calls.append)
    parser.run(session)
    assert [(event.ticks, event.name) for event in calls[:4]] == [
        (1008, "TASK_SWITCH"), (1108, "COMPLETE"), (1110, "TASK_SWITCH"), (1408, "TASK_SWITCH"),
    ]  # fmt: skip
    assert calls[2].argument == A_IDLE
    assert calls[2].fields == {"reason": 0, "previous": WORK}
    assert calls[2].time_ns == 210_000
    assert len(calls) == 15 + 6


def test_a_class_and_a_range(session: str) -> None:
    names: set[str] = set()
    count = 0

    def counted(_: Event) -> None:
        nonlocal count
        count += 1

    parser = Parser()
    parser.on_event("sched", lambda event: names.add(event.name))
    parser.on_range(0, 1024, counted)
    parser.run(session)
    assert names == {"MAJOR_FRAME", "WINDOW", "PARTITION_SWITCH"}
    assert count == 3 * 16 + 2


def test_begin_and_end_know_the_session(session: str) -> None:
    told: list[tuple[str, int]] = []

    def tells(what: str) -> None:
        if what == "begin":
            parser.on_begin(lambda facts: told.append((what, facts.delivered)))
        else:
            parser.on_end(lambda facts: told.append((what, facts.delivered)))

    parser = Parser()
    tells("end")
    tells("begin")
    parser.on_event("STOP", lambda event: told.append((event.name, event.ticks)))
    parser.run(session)
    assert told == [("begin", 50), ("STOP", 4000), ("end", 50)]


def test_a_call_may_end_the_parse(session: str) -> None:
    seen: list[int] = []

    def first_two(event: Event) -> None:
        if len(seen) == 2:
            raise StopIteration
        seen.append(event.ticks)

    parser = Parser()
    parser.on_event("MAJOR_FRAME", first_two)
    facts = parser.run(session)
    assert seen == [1001, 2001]
    assert isinstance(facts, Facts)


def test_losses_are_called_for(tmp_path: Path) -> None:
    lost: list[Event] = []
    parser = Parser()
    parser.on_event("LOSS", lost.append)
    parser.run(frames(3).write(tmp_path / "s.pcapng", drop=[4]))
    assert [event.fields for event in lost] == [{"records": 4}]


def test_wrong_wishes_are_told(session: str) -> None:
    parser = Parser()
    with pytest.raises(InputError, match="ids are 0 to 1024"):
        parser.on_range(5, 1025, print)
    parser.on_event("NO_SUCH", print)
    with pytest.raises(InputError, match="no event and no class NO_SUCH"):
        parser.run(session)


def test_an_error_of_a_call_goes_through(session: str) -> None:
    def wrong(_: Event) -> None:
        raise ZeroDivisionError

    parser = Parser()
    parser.on_event("STOP", wrong)
    with pytest.raises(ZeroDivisionError):
        parser.run(session)


# ---------------------------------------------------------------- the examples


def run_example(number: int, session: str) -> str:
    command = [sys.executable, "-c", EXAMPLES[number], session]
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout


def test_the_example_of_arrays(session: str) -> None:
    """Frames begin at 1001, 2001 and 3001."""
    assert run_example(0, session) == (
        "3 major frames, 0 records lost\nshortest 1.000 ms, longest 1.000 ms\n"
    )  # fmt: skip


def test_the_example_of_calls(session: str) -> None:
    """A begins at 1003, 2003 and 3003, and so on."""
    assert run_example(1, session) == "A            1.000 ms\nB            1.000 ms\nMODULE       1.000 ms\n"
