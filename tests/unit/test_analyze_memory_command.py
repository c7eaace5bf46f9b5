# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze memory`` as it is used: text, JSON that keeps its schema, CSV, exit status.

A leaks 64 bytes a frame over 40 frames of 1 ms and allocates once more in each than it frees. In frame 20 it has
1280 bytes in use, of the 8720 free ones 4360 in one block: half of it is apart.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Done, vxmon
from tests.support.handmade import WORK, A
from tests.support.memories import ALLOCATE, FREE, HEAP, MemorySession, counted, sampled, switched
from tests.support.recording import Recording
from tests.support.schemas import valid
from tests.support.tree import ROOT
from vxmon.wire.types import PartitionEntry

GOLDEN = ROOT / "tests/unit/golden/analyze-memory.txt"
RULES = """
format = 1
[[rule]]
operation = "allocate"
per_operation = 8
per_byte = 1
[[rule]]
operation = "free"
per_byte = -1
"""


def recording() -> Recording:
    session = MemorySession()
    for number in range(40):
        used = 64 * number
        free = HEAP - used
        rows = [(390, "STACK_SWITCH", WORK, {"used": 200}), switched(used), switched(96, 790, 0)]
        if number in (0, 20, 39):
            rows += [
                sampled(used, number, free // 2 if number == 20 else free, used),
                counted(ALLOCATE, 2 * number + 1, 64 * (2 * number + 1), 6),
                counted(FREE, number + 1, 64 * (number + 1), 6, 830),
                (840, "STACK_SAMPLE", WORK, {"high_water": 256, "size": 1024}),
            ]
        session.frame(*rows)
    return session.end()


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> str:
    return recording().write(tmp_path_factory.mktemp("memory") / "s.pcapng")


@pytest.fixture(scope="module")
def rules(tmp_path_factory: pytest.TempPathFactory) -> str:
    path = tmp_path_factory.mktemp("rules") / "rules.toml"
    path.write_text(RULES, encoding="utf-8")
    return str(path)


def memory(*arguments: str) -> Done:
    return vxmon("analyze", "memory", *arguments)


def text(*arguments: str) -> str:
    done = memory(*arguments)
    assert (done.status, done.err) == (0, "")
    return done.out.decode()


def values(*arguments: str) -> dict[str, Any]:
    """The JSON, after it was held against the schema that is shipped."""
    return valid("analyze-memory-1", text("--format", "json", *arguments))


def test_the_text_report(session: str, rules: str) -> None:
    """Checked by hand against the arithmetic above.

    The rules say 79 * 72 - 40 * 64 = 3128, measured are 2496.
    """
    assert text("--rules", rules, session) == GOLDEN.read_text(encoding="utf-8")


def test_json(session: str, rules: str) -> None:
    (boot,) = values("--rules", rules, "--per-frame", session)["boots"]
    assert boot["frame_ns"] == 1_000_000
    heap = next(h for h in boot["heaps"] if h["heap"] == "A")
    assert heap["growth"]["bytes_per_1000_frames"] == {
        "value": 64_000, "lo": 64_000, "hi": 64_000, "n": 40, "status": "estimated",
    }  # fmt: skip
    assert heap["growth"]["verdict"] == "leak?"
    assert heap["fragmentation_max_millionths"]["value"] == 500_000
    assert heap["smallest_largest_at"] == {"frame": 27, "time_ticks": 21_810}
    assert heap["estimate"]["difference_bytes"]["value"] == 2496 - 3128
    assert heap["frames"][1] == {"frame": 8, "used_min_bytes": 64, "used_max_bytes": 64, "used_end_bytes": 64}
    assert len(heap["frames"]) == 40
    assert [h["heap"] for h in boot["heaps"]] == ["kernel", "A", "B"]
    assert boot["operations"][0]["while_observed"]["value"] == 78


def test_csv_has_a_figure_a_row(session: str) -> None:
    rows = list(csv.DictReader(io.StringIO(text("--format", "csv", session))))
    named = {row["figure"]: row for row in rows}
    assert len(named) == len(rows)
    assert named["memory.A.growth"] == {
        "boot": "0", "figure": "memory.A.growth", "unit": "bytes_per_s", "value": "64000", "lo": "64000",
        "hi": "64000", "n": "40", "status": "estimated",
    }  # fmt: skip
    assert named["memory.A.growth_per_frame"]["value"] == "64"
    assert named["memory.A.largest.min"]["value"] == "4360"
    assert named["stack.A.WORK.margin.min"]["value"] == "768"
    assert named["operations.A.allocate.count"]["value"] == "79"
    assert named["memory.kernel.free.min"]["value"] == "9904"
    assert named["memory.B.free.min"]["status"] == "not_recorded"


def test_the_series_as_csv(session: str) -> None:
    rows = list(csv.DictReader(io.StringIO(text("--format", "csv", "--per-frame", "--partition", "A", session))))
    assert len(rows) == 40
    assert rows[-1] == {
        "boot": "0", "heap": "A", "frame": "46", "used_min_bytes": "2496", "used_max_bytes": "2496",
        "used_end_bytes": "2496",
    }  # fmt: skip


def test_only_what_was_asked_for(session: str) -> None:
    out = text("--partition", "kernel", session)
    assert "WORK" not in out
    assert "allocate" not in out
    assert "kernel" in out
    work = text("--task", "WORK", "--format", "csv", session)
    assert "stack.A.WORK.margin.min" in work
    assert "stack.A.LOW" not in work
    assert "only from 0.010000000 s to the end" in text("--window", "10ms..", session)


def test_loss_is_told_and_figures_are_ranges(tmp_path: Path) -> None:
    rec = recording()
    path = rec.write(tmp_path / "lossy.pcapng", drop=(len(rec.blocks()) - 1,))
    done = memory(path)
    assert (done.status, done.out.startswith(b"INCOMPLETE: ")) == (0, True)
    assert done.err.startswith("vxmon: INCOMPLETE: ")
    assert memory("--strict", path).status == 1
    heap = next(h for h in json.loads(memory("--format", "json", path).out)["boots"][0]["heaps"] if h["heap"] == "A")
    assert heap["used_end_bytes"]["hi"] == HEAP


def test_the_example_of_rules_can_be_used(session: str, tmp_path: Path) -> None:
    example = text("--rules-init")
    path = tmp_path / "rules.toml"
    path.write_text(example, encoding="utf-8")
    (boot,) = values("--rules", str(path), session)["boots"]
    heap = next(h for h in boot["heaps"] if h["heap"] == "A")
    assert heap["estimate"]["difference_bytes"]["value"] == 0


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--partition", "FMS"], "the session has no partition FMS"),
        (["--task", "WORKER"], "the session has no task WORKER"),
        (["--window", "5"], "time window '5': write A..B"),
        (["--rules", "none.toml"], "cannot read none.toml"),
        ([__file__], "is no session or capture"),
    ],
)
def test_wrong_use_is_one_line_and_status_2(arguments: list[str], words: str, session: str) -> None:
    done = memory(*arguments, session)
    assert (done.status, done.out) == (2, b"")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_a_session_without_tables_or_events(tmp_path: Path) -> None:
    rec = recording()
    rec.tables = False
    path = rec.write(tmp_path / "s.pcapng")
    (boot,) = values(path)["boots"]
    assert "the session does not tell the clock's rate: no rates" in boot["notes"]
    empty = Recording().write(tmp_path / "empty.pcapng")
    done = memory(empty)
    assert (done.status, done.err) == (0, "vxmon: INCOMPLETE: there is no block of records\n")
    assert memory("--format", "csv", empty).status == 0


def test_the_module_configuration_tells_the_frame_where_the_session_does_not(tmp_path: Path) -> None:
    """Windows of 0.4, 0.4 and 0.2 ms: a frame is 1 ms."""
    rec = recording().without("MAJOR_FRAME")
    rec.schedules = ()
    path = rec.write(tmp_path / "s.pcapng")
    (boot,) = values(path)["boots"]
    assert boot["frame_ns"] is None
    module = tmp_path / "module.xml"
    windows = "".join(
        f'<PartitionWindow PartitionNameRef="{name}" Duration="{duration}"/>'
        for name, duration in (("A", "0.0004"), ("B", "0.0004"), ("SPARE", "0.0002"))
    )
    partitions = "".join(f'<Partition Name="{name}" Id="{i}"/>' for i, name in enumerate("AB", 1))
    module.write_text(
        f'<Module Name="m" Id="1"><Partitions>{partitions}</Partitions><Schedules><Schedule Id="0">{windows}'
        "</Schedule></Schedules></Module>",
        encoding="utf-8",
    )
    (boot,) = values("--module", str(module), path)["boots"]
    heap = next(h for h in boot["heaps"] if h["heap"] == "A")
    assert (boot["frame_ns"], heap["growth"]["bytes_per_1000_frames"]["value"]) == (1_000_000, 64_000)


def test_names_that_two_partitions_share_are_told_apart(tmp_path: Path) -> None:
    rec = recording()
    rec.partitions = (PartitionEntry(0, "M"), PartitionEntry(A, "X"), PartitionEntry(2, "X"))
    rows = list(csv.DictReader(io.StringIO(text("--format", "csv", rec.write(tmp_path / "s.pcapng")))))
    names = [row["figure"] for row in rows]
    assert len(set(names)) == len(names)
    assert "memory.X#2.growth" in names
