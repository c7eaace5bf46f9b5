# SPDX-License-Identifier: Apache-2.0
"""``hm-log --around``: what is shown around an entry are the lines of ``vxmon print``, read by one pass."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import vxmon
from tests.support.faults import error
from tests.support.handmade import recording, start
from tests.support.recording import Recording
from tests.support.schemas import valid
from vxmon.analysis.hm_log import LogFilter, log_from_trace
from vxmon.trace import Chunk, StoredTrace, open_trace
from vxmon.trace.around import MOST_KEPT
from vxmon.wire.acquired import Log

EVENTS = 60
FAULTS = (3, 20, 21, 58)


def session(block_records: int = 5) -> Recording:
    """START, user points 1 to 59 with an error behind some of them, STOP."""
    rec = recording(block_records=block_records)
    rec.rows([(100, *start())])
    for number in range(1, EVENTS):
        rec.rows([(100 + 10 * number, "USER_POINT", number)])
        if number in FAULTS:
            rec.rows([(101 + 10 * number, "HM_EVENT", 1, error(0, entry=number))])
    rec.rows([(1000, "STOP", 0)])
    return rec


def entries(*arguments: str) -> list[dict[str, Any]]:
    done = vxmon("hm-log", "--format", "json", *arguments)
    assert done.status == 0, done.err
    found: list[dict[str, Any]] = valid("hm-log-1", done.out)["entries"]
    return found


def printed(path: str) -> list[str]:
    lines = vxmon("print", path).out.decode().splitlines()
    return [line for line in lines if line.startswith("t:")]


@pytest.mark.parametrize("count", [1, 4, 100])
def test_the_lines_are_those_of_print(count: int, tmp_path: Path) -> None:
    path = session().write(tmp_path / "s")
    lines = printed(path)
    found = entries(path, "--around", str(count))
    assert [entry["entry"] for entry in found] == list(FAULTS[::-1])
    for entry in found:
        at = next(n for n, line in enumerate(lines) if f"entry:{entry['entry']}" in line)
        around = entry["around"]
        assert around["lines"] == lines[max(at - count, 0) : at + count + 1]
        assert around["lines"][around["line"]] == lines[at]
        assert around["lost_records"] == 0


class InPieces(StoredTrace):
    """Chunks of one record, and how often they were asked for."""

    turns = 0

    def chunks(self, index: Any = None) -> Iterator[Chunk]:
        self.turns += 1
        for chunk in super().chunks(index):
            for at in range(len(chunk.columns)):
                yield Chunk(chunk.boot, chunk.columns.take(slice(at, at + 1)), chunk.losses)


def test_one_pass_whatever_the_chunks(tmp_path: Path) -> None:
    with open_trace([session().write(tmp_path / "s")]) as trace:
        assert isinstance(trace, StoredTrace)
        wanted = LogFilter(around=3)
        whole = log_from_trace(trace, Log.HM, wanted)
        trace.__class__ = InPieces
        pieces = log_from_trace(trace, Log.HM, wanted)
        assert isinstance(trace, InPieces)
        assert trace.turns == 1
    for one, other in zip(whole.rows, pieces.rows, strict=True):
        assert one.around is not None
        assert other.around is not None
        a, b = one.around.chunk.columns, other.around.chunk.columns
        assert (a.time.tolist(), a.id.tolist(), one.around.at) == (b.time.tolist(), b.id.tolist(), other.around.at)


def test_only_the_newest(tmp_path: Path) -> None:
    found = entries(session().write(tmp_path / "s"), "--around", "2", "-n", "1")
    assert [(entry["entry"], len(entry["around"]["lines"])) for entry in found] == [(58, 5)]


def test_text_marks_the_entry_and_tells_of_losses(tmp_path: Path) -> None:
    """Block 1, records 5 to 9, is missing: right behind the first error, which is record 4."""
    path = session().write(tmp_path / "s", drop=(1,))
    done = vxmon("hm-log", "--around", "2", path)
    assert done.status == 0
    text = done.out.decode()
    assert text.count("\n> t:") == len(FAULTS)
    assert text.count("INCOMPLETE: 5 records missing among these events") == 1
    lost = {entry["entry"]: entry["around"]["lost_records"] for entry in entries(path, "--around", "2")}
    assert lost == {3: 5, 20: 0, 21: 0, 58: 0}
    assert done.err.startswith("vxmon: INCOMPLETE")


def test_surroundings_are_bounded(tmp_path: Path) -> None:
    rec = recording(block_records=30)
    rec.rows([(0, *start())])
    rec.rows([(10 + number, "HM_EVENT", 1, error(0, entry=number)) for number in range(MOST_KEPT + 5)])
    found = entries(rec.write(tmp_path / "s"), "--around", "1")
    assert [("around" in entry) for entry in found] == [True] * MOST_KEPT + [False] * 5
    text = vxmon("hm-log", "--around", "1", str(tmp_path / "s")).out.decode()
    assert text.endswith(f"events are shown around the newest {MOST_KEPT} entries only\n")


@pytest.mark.parametrize("arguments", [["--target", "127.0.0.1"], ["--format", "csv", "x.pcapng"]])
def test_where_there_is_nothing_around(arguments: list[str]) -> None:
    done = vxmon("hm-log", "--around", "2", *arguments)
    assert done.status == 2
    assert "--around is for sessions" in done.err
