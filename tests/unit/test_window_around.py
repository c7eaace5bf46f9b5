# SPDX-License-Identifier: Apache-2.0
"""Windows of ``analyze comm`` and ``system``: the answers of reading all, or it is said what is not known."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.support.handmade import WORK, A, frames
from tests.support.messaging import BUFFER, DST_Q, DST_S, DST_S2, SRC_Q, SRC_S, Messages, configuration, found
from tests.support.recording import EVENTS, Recording
from vxmon.analysis import scene
from vxmon.analysis.comm import analyze as comm
from vxmon.analysis.comm.analyze import analyze_comm
from vxmon.analysis.scene import Scope
from vxmon.analysis.system import analyze as system
from vxmon.analysis.system.analyze import SystemRequest, analyze_system
from vxmon.trace import StoredTrace, open_trace
from vxmon.trace.span import Span
from vxmon.wire.events import ObjectType
from vxmon.wire.types import ObjectEntry

# A tick is a us. The recordings are 30 ms long.
NS = 1000
AROUND = 3000
MS = 30
WINDOWS = [(0, 900), (100, 1100), (5000, 6000), (5333, 5334), (12_345, 16_789), (29_000, 40_000)]
DROPS = [(), (100, 101, 180)]


@pytest.fixture(autouse=True)
def near(monkeypatch: pytest.MonkeyPatch) -> None:
    """Look 3 ms around a window, a tenth of the recording."""
    for module in (comm, system, scene):
        monkeypatch.setattr(module, "AROUND_NS", AROUND * NS)


@pytest.fixture
def everything(monkeypatch: pytest.MonkeyPatch) -> Any:
    """Call it to read all blocks from then on."""

    def read_all() -> None:
        for module in (comm, system):
            monkeypatch.setattr(module, "window_rows", lambda trace, _scope, _around: trace.index)
            monkeypatch.setattr(
                module, "cut_scene", lambda trace, boot, scope, _: scene.Scene(boot, trace.facts, scope)
            )

    return read_all


def messages() -> Messages:
    """Queues and ports that are used each ms; no message waits for more than 3 ms."""
    m = Messages()
    calls: list[tuple[int, str, int, int, dict[str, Any]]] = []
    for n in range(MS):
        at = 1000 * n
        calls += [
            (at + 100, "MSG_SEND", n + 1, SRC_Q, {}), (at + 150 + n, "MSG_RECEIVE", n + 1, DST_Q, {"task": 2}),
            (at + 300, "MSG_SEND", n + 1, BUFFER, {"depth": 1}), (at + 800, "MSG_RECEIVE", n + 1, BUFFER, {"task": 2}),
            (at + 50, "MSG_RECEIVE", (n + 1) // 2, DST_S, {"task": 3}),
            (at + 950, "MSG_RECEIVE", n // 2 + 1, DST_S2, {"task": 4}),
        ]  # fmt: skip
        calls += [(at + 400, "MSG_SEND", n // 2 + 1, SRC_S, {})] if n % 2 == 0 else []
    for time, event, number, index, more in sorted(calls, key=lambda call: call[0]):
        m.call(time, event, number, index, **more)
    m.stop(1000 * MS)
    return m


def faulty() -> Recording:
    """An error in each third frame, and what goes before it in each."""
    rec = frames(MS)
    for n in range(MS):
        at = 1000 + 1000 * n
        rec.add(at + 20, "MEM_SAMPLE", A, free=5000 - n, allocated=n, largest=99)
        rec.add(at + 30, "MSG_SEND", 9, number=n, partition=A, size=8)
        rec.add(at + 32, "INT_ENTR", 5, vector=10, ip=0xABC)
        rec.add(at + 34, "INT_EXIT", 5)
        if n % 3 == 0:
            rec.add(at + 50, "HM_EVENT", A, code=1, task=WORK, entry=n)
    rec.records.sort(key=lambda record: record.time)
    return rec


def comm_of(trace: StoredTrace, folder: Path, span: Span) -> object:
    return [replace(boot, notes=[]) for boot in analyze_comm(trace, Scope(span, configuration(folder))).boots]


def system_of(trace: StoredTrace, folder: Path, span: Span) -> object:
    return analyze_system(trace, SystemRequest(Scope(span))).boots


@pytest.mark.parametrize("drop", DROPS)
@pytest.mark.parametrize(("make", "answer"), [(lambda: messages().recording, comm_of), (faulty, system_of)])
def test_a_window_has_the_answer_of_reading_all(
    tmp_path: Path, everything: Any, make: Any, answer: Any, drop: tuple[int, ...]
) -> None:
    with open_trace([make().write(tmp_path / "s.pcapng", drop)]) as trace:
        assert isinstance(trace, StoredTrace)
        spans = [Span(begin * NS, end * NS) for begin, end in WINDOWS]
        some = [answer(trace, tmp_path, span) for span in spans]
        everything()
        for span, found_near in zip(spans, some, strict=True):
            assert found_near == answer(trace, tmp_path, span), span


def test_few_blocks_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    read: list[int] = []
    chunks = StoredTrace.chunks

    def counted(trace: StoredTrace, rows: Any) -> Any:
        read.append(len(rows))
        return chunks(trace, rows)

    monkeypatch.setattr(StoredTrace, "chunks", counted)
    with open_trace([messages().recording.write(tmp_path / "s.pcapng")]) as trace:
        assert isinstance(trace, StoredTrace)
        analyze_comm(trace, Scope(Span(15_000 * NS, 16_000 * NS)))
        # 7 of 30 ms.
        assert read[0] < len(trace.index) // 3


def test_what_was_sent_long_before_a_window_is_not_known(tmp_path: Path) -> None:
    """The port was written at 100 and is read at 20,000 only: since when its content is there was not read."""
    m = Messages()
    m.send(100, SRC_S, 1)
    m.receive(120, DST_S, 1, task=3)
    for at in range(1000, 30_000, 1000):
        m.send(at, BUFFER, at // 1000, 1)
        m.receive(at + 500, BUFFER, at // 1000, 0)
    m.receive(20_000, DST_S, 1, task=3)
    m.recording.records.sort(key=lambda record: record.time)
    m.stop(30_000)
    boot = m.analyzed(tmp_path, span=Span(19_500 * NS, 20_500 * NS))
    one = found(boot, DST_S).receiving
    assert one is not None
    # Read once; no age is known, and there is no bound for it. It was no new message: that is not known here.
    assert one.received.value == 1
    assert (one.age.most.value, one.age.most.hi) == (None, None)
    assert [(f.count.lo, f.count.hi) for f in boot.flows if f.receiver == 2] == [(0, 1)]
    assert any("are not looked at" in note for note in boot.notes)


def test_an_object_has_the_label_that_it_has_in_the_whole(tmp_path: Path) -> None:
    """After a restart of its partition there is another one of the same name, and only that one is used."""
    again = BUFFER + 50
    m = Messages(block_records=1)
    m.recording.objects = (*m.recording.objects, ObjectEntry(again, ObjectType.BUFFER, 1, "commands", 16, 4))
    m.send(100, BUFFER, 1, 1)
    m.recording.add(15_500, "MSG_SEND", again, type=ObjectType.BUFFER, number=1, size=8, depth=1, partition=1, task=1)
    m.stop(30_000)
    assert [one.label for one in m.analyzed(tmp_path).objects] == ["commands", f"commands#{again}"]
    near = m.analyzed(tmp_path, span=Span(15_000 * NS, 16_000 * NS))
    assert [one.label for one in near.objects] == [f"commands#{again}"]


def test_what_begins_within_what_is_read_is_known_from_its_begin(tmp_path: Path) -> None:
    """A task and a queue that are created in the window: nothing of them is from before."""
    m = Messages()
    m.send(100, SRC_S, 1)
    m.recording.add(15_100, "OBJECT_CREATE", BUFFER)
    m.recording.add(15_150, "TASK_CREATE", 7, partition=2)
    m.receive(15_200, DST_S, 1, task=7)
    m.send(15_300, BUFFER, 1, 1)
    m.stop(30_000)
    boot = m.analyzed(tmp_path, span=Span(15_000 * NS, 16_000 * NS))
    assert [(f.count.lo, f.count.hi) for f in boot.flows if f.receiver == 2] == [(1, 1)]
    queue = found(boot, BUFFER).receiving
    assert queue is not None
    assert queue.depth is not None
    # Told at 15,300: 1 message from then on.
    assert (queue.depth.least.lo, queue.depth.most.hi, queue.depth.unknown) == (1, 1, 0)


@pytest.mark.parametrize(("make", "answer"), [(lambda: messages().recording, comm_of), (faulty, system_of)])
def test_an_event_that_was_switched_off_long_before_is_not_counted_as_none(
    tmp_path: Path, everything: Any, make: Any, answer: Any
) -> None:
    """All is read then, so the answer is that of reading all; with no event seen it is not 0."""
    rec = make()
    for name in ("MSG_SEND", "HM_EVENT"):
        rec.records = [r for r in rec.records if r.name != name or r.time < 4000]
        rec.add(4000, "FILTER", EVENTS[name].id, state=0)
    rec.records.sort(key=lambda record: record.time)
    span = Span(20_000 * NS, 21_000 * NS)
    with open_trace([rec.write(tmp_path / "s.pcapng")]) as trace:
        assert isinstance(trace, StoredTrace)
        some = answer(trace, tmp_path, span)
        everything()
        assert some == answer(trace, tmp_path, span)


def test_what_came_long_before_a_fault_is_not_said_to_have_never_been(tmp_path: Path) -> None:
    rec = frames(MS)
    rec.add(2030, "MSG_SEND", 9, number=1, partition=A, size=8)
    rec.add(20_050, "HM_EVENT", A, code=1, task=WORK)
    rec.records.sort(key=lambda record: record.time)
    with open_trace([rec.write(tmp_path / "s.pcapng")]) as trace:
        assert isinstance(trace, StoredTrace)
        (fault,) = analyze_system(trace, SystemRequest(Scope(Span(19_000 * NS, 20_000 * NS)))).boots[0].faults
        assert fault.messages == ()
        assert fault.absent["messages"].startswith("none since")
        assert fault.absent["messages"].endswith("before the window")
        (fault,) = analyze_system(trace, SystemRequest()).boots[0].faults
        assert len(fault.messages) == 1
