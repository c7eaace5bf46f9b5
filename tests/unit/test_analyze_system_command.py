# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze system`` as it is used: text, JSON that keeps its schema, CSV, exit status.

The session is that of tests.support.faults: what must be told of it is worked out in test_analysis_system.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.commands import vxmon
from tests.support.faults import faulty
from tests.support.tree import ROOT

GOLDEN = ROOT / "tests/unit/golden/analyze-system.txt"
SCHEMA = ROOT / "vxmon/report/schemas/analyze-system-1.json"


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> str:
    return faulty().write(tmp_path_factory.mktemp("system") / "s.pcapng")


def text(*arguments: str) -> str:
    done = vxmon("analyze", "system", *arguments)
    assert (done.status, done.err) == (0, "")
    return done.out.decode()


def values(*arguments: str) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(text("--format", "json", *arguments))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def test_the_text_report(session: str) -> None:
    assert text(session) == GOLDEN.read_text(encoding="utf-8")


def test_json_has_each_fault_with_its_circumstances(session: str) -> None:
    document = values(session)
    (boot,) = document["boots"]
    (fault,) = boot["faults"]
    assert (fault["type"], fault["of_task"], fault["window"], fault["frame"]) == ("NUMERIC_ERROR", "WORK", 0, 1)
    assert (fault["offset_ns"], fault["budget_ns"], fault["margin_ns"]["value"]) == (50_000, 400_000, 290_000)
    assert fault["memory"] == {
        "before_ns": 40_000, "free_bytes": 700, "allocated_bytes": 300, "largest_bytes": 500,
    }  # fmt: skip
    assert fault["exception"]["before_ns"] == 5000
    hm = boot["categories"]["hm"]
    assert {k["type"]: k["count"]["value"] for k in hm["kinds"] if k["count"]["value"]} == {"NUMERIC_ERROR": 1}


def test_csv_has_a_figure_a_row_or_a_fault_a_row(session: str) -> None:
    rows = {row["figure"]: row for row in csv.DictReader(io.StringIO(text("--format", "csv", session)))}
    assert (rows["hm.NUMERIC_ERROR.A.count"]["value"], rows["hm.POWER_FAIL.count"]["value"]) == ("1", "0")
    assert rows["interrupt.256.duration.max"]["value"] == "6000"
    (fault,) = csv.DictReader(io.StringIO(text("--format", "csv", "--faults", session)))
    assert (fault["type"], fault["offset_ns"], fault["margin_lo_ns"], fault["free_bytes"]) == (
        "NUMERIC_ERROR", "50000", "290000", "700",
    )  # fmt: skip


def test_only_what_was_asked_for(session: str) -> None:
    out = text("--type", "interrupt", session)
    assert "no faults" in out
    assert "POWER_FAIL" not in out
    assert "fault 1 of 1" in text("--type", "numeric_error", "--partition", "A", "--task", "WORK", session)
    assert "no faults" in text("--partition", "B", session)
    assert "events by type" not in text("--faults", session)
    assert "HM entry 41" not in text("--window", "..1ms", session)


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--type", "STACK_OVERFLOV"], "the session has no type STACK_OVERFLOV"),
        (["--partition", "FMS"], "FMS"),
        (["--rate-span", "0"], "--rate-span 0: give 1us to 60s"),
        (["--window", "5"], "time window '5': write A..B"),
    ],
)
def test_a_wrong_option_is_one_line_and_status_2(arguments: list[str], words: str, session: str) -> None:
    done = vxmon("analyze", "system", *arguments, session)
    assert (done.status, done.out) == (2, b"")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_loss_is_told_on_top_and_at_the_fault(tmp_path: Path) -> None:
    path = faulty(1).write(tmp_path / "s", drop=range(20, 25))
    done = vxmon("analyze", "system", path)
    assert done.out.decode().startswith("INCOMPLETE: 5 of ")
    assert "records were lost, the last of them up to " in done.out.decode()
    assert vxmon("analyze", "system", "--strict", path).status == 1


def test_a_session_without_tables_has_no_times(tmp_path: Path) -> None:
    rec = faulty()
    rec.tables = False
    out = text(rec.write(tmp_path / "s"))
    assert "at 2050 ticks" in out
    assert "the session does not tell the clock's rate" in out
    assert values(str(tmp_path / "s"))["boots"][0]["faults"][0]["offset_ns"] is None
