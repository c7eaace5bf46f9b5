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
from tests.support.sessions import BOOT, EVENTS, HZ, Target, record, write_session
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
        assert found.events("LOSS")["records"].tolist() == [4]
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


def message(name: str, arg: int, time: int, size: int, result: int = 0) -> bytes:
    fields = {"type": 4, "result": result, "number": 8, "size": size, "depth": 1, "partition": 1, "task": 0}
    return record(name, arg, time, fields)


def of_every_kind(tmp_path: Path) -> str:
    """Two boots, the second without a table; texts of two lengths, records that are too short, unknown and lost."""
    order = EVENTS["MSG_SEND"]
    short = (order.id << 22 | 1 << 16 | 5).to_bytes(4, "big") + bytes(4) + b"\0\4\0\0" + b"\0\0\0\7"
    unknown = (600 << 22 | 2 << 16 | 9).to_bytes(4, "big") + (5).to_bytes(4, "big") + bytes(16)
    target = Target()
    first = [short, record("USER_TEXT", 3, 1, {"text": "hello"}), record("WINDOW", 1, 2), unknown]
    second = [record("USER_TEXT", 4, 7, {"text": "a longer text"}), message("MSG_SEND", 5, 8, 64)]
    datagrams = [*target.tables(), *target.started(), target.block(first, 0, 5)]
    target.lose(overwritten=3)
    datagrams += [target.block(second, 7, 8), *target.end(8)]
    other = Target(boot=BOOT + 1, table=None, release="9.9", hz=HZ // 4)
    datagrams += [other.block([record("WINDOW", 2, 100), record("WINDOW", 3, 200)], 100, 200), *other.heartbeat(200)]
    return write_session(tmp_path / "s.pcapng", [*datagrams, *other.end(200)])


def test_one_walk_gives_the_events_of_each_name(tmp_path: Path) -> None:
    with vxmon.open(of_every_kind(tmp_path)) as found:
        one, two = found.batches()
        assert one.names == ["WINDOW", "MSG_SEND", "USER_TEXT", "EVENT_600", "LOSS"]
        assert one.of("window").argument.tolist() == [1]
        assert one.of("USER_TEXT")["text"].tolist() == ["hello", "a longer text"]
        sent = one.of("MSG_SEND")
        assert (sent["number"].tolist(), sent["size"].tolist()) == ([7, 8], [0, 64]), "what is not recorded is 0"
        assert one.of("EVENT_600").argument.tolist() == [9]
        assert one.of("LOSS")["records"].tolist() == [3]
        assert two.names == ["EVENT_33"]


def test_a_batch_without_events_of_a_name_has_their_fields_all_the_same(tmp_path: Path) -> None:
    with vxmon.open(of_every_kind(tmp_path)) as found:
        _, two = found.batches()
        sent = two.of("MSG_SEND")
        assert len(sent) == len(sent["size"]) == 0
        assert sent["size"].dtype == np.uint32
        assert two.of("LOSS")["records"].tolist() == []
        assert len(two.of("WINDOW")) == 0, "an id that only another boot's table names"
        for name in ("NO_SUCH", "EVENT_1024", "EVENT_", "EVENT_X"):
            with pytest.raises(InputError, match=f"no event of the session is called {name}"):
                two.of(name)


def test_times_follow_the_clock_of_each_boot(tmp_path: Path) -> None:
    with vxmon.open(of_every_kind(tmp_path)) as found:
        assert found.events().time_ns.tolist() == [0, 2, 5, 12, 17, 17, 20, 0, 1000]
        assert found.events("EVENT_33").time_ns.tolist() == [0, 1000]
        assert [batch.time_ns.tolist() for batch in found.batches("USER_TEXT")] == [[2, 17]]


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


def test_calls_and_arrays_tell_the_same(tmp_path: Path) -> None:
    path = of_every_kind(tmp_path)
    calls: list[Event] = []
    parser = Parser()
    parser.on_range(0, 1024, calls.append)
    parser.run(path)
    with vxmon.open(path) as found:
        events = found.events()
        wanted = {"LOSS": {"records": 3}, "EVENT_600": {}, "EVENT_33": {}}
        for batch in found.batches():
            for name in batch.names:
                own = [event for event in calls if event.name == name and event.boot.number == batch.boot[0]]
                whole = [event.fields for event in own if len(event.values) == len(batch.of(name).fields)]
                columns = {field: array.tolist() for field, array in batch.of(name).fields.items()}
                assert whole[-1] == wanted.get(name, {field: values[-1] for field, values in columns.items()})
    assert [event.ticks for event in calls] == events.ticks.tolist()
    assert [event.time_ns for event in calls] == events.time_ns.tolist()
    assert [event.id for event in calls] == events.event.tolist()
    assert [event.argument for event in calls] == events.argument.tolist()
    assert [event.cpu for event in calls] == events.cpu.tolist()


def test_a_short_record_has_the_fields_that_it_has(tmp_path: Path) -> None:
    sent: list[Event] = []
    parser = Parser()
    parser.on_event("MSG_SEND", sent.append)
    parser.run(of_every_kind(tmp_path))
    assert sent[0].names == ("type", "result", "number")
    assert sent[0].values == (4, 0, 7)
    assert sent[1].fields["size"] == 64


def test_several_calls_for_an_event_come_in_the_order_they_were_registered(session: str) -> None:
    told: list[str] = []
    parser = Parser()
    parser.on_range(0, 1024, lambda event: told.append(f"any {event.name}"))
    parser.on_event("STOP", lambda event: told.append(f"named {event.name}"))
    parser.on_event("CONTROL", lambda event: told.append(f"class {event.name}"))
    parser.run(session)
    assert told[-3:] == ["named STOP", "class STOP", "any STOP"]


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


def test_the_example_of_one_walk(tmp_path: Path) -> None:
    """Object 0 is nav_out, 5 has no name; a send that fails carries nothing."""
    target = Target()
    records = [message("MSG_SEND", 0, 1, 64), message("MSG_RECEIVE", 0, 2, 64), message("MSG_SEND", 0, 3, 36)]
    records += [message("MSG_SEND", 5, 4, 7), message("MSG_SEND", 5, 5, 9, result=1)]
    datagrams = [*target.tables(), *target.started(), target.block(records, 1, 5), *target.end(5)]
    assert run_example(1, write_session(tmp_path / "s.pcapng", datagrams)) == (
        "0 records lost\nnav_out: 100 B sent, 64 B received\n5: 7 B sent, 0 B received\n"
    )  # fmt: skip


def test_the_example_of_calls(session: str) -> None:
    """A begins at 1003, 2003 and 3003, and so on."""
    assert run_example(2, session) == "A            1.000 ms\nB            1.000 ms\nMODULE       1.000 ms\n"


def test_the_example_of_calls_reads_a_pipe_too(session: str) -> None:
    whole = run_example(2, session)
    command = [sys.executable, "-c", EXAMPLES[2], "-"]
    done = subprocess.run(command, check=True, capture_output=True, input=Path(session).read_bytes(), timeout=60)
    assert done.stdout.decode() == whole
