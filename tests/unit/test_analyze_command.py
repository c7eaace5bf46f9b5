# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze`` as it is used: text, JSON that keeps its schema, CSV, exit status.

The figures are those of the session of ``tests.support.navsession``, which is calculated by hand.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.commands import Done, vxmon
from tests.support.navsession import recording
from tests.support.recording import Recording
from tests.support.tree import ROOT

SCHEMAS = ROOT / "vxmon/report/schemas"
MODULE_XML = """<?xml version="1.0"?>
<Module xmlns="http://www.windriver.com/vxWorks653/ConfigRecord" Name="m" Id="0">
  <Partitions><Partition Name="NAV" Id="1"><PartitionDescription><Settings RequiredMemorySize="0x1000"/>
  </PartitionDescription></Partition></Partitions>
  <Schedules><Schedule Id="0"><PartitionWindow PartitionNameRef="NAV" Duration="{nav}" ReleasePoint="true"/>
  <PartitionWindow PartitionNameRef="SPARE" Duration="{spare}"/></Schedule></Schedules>
</Module>
"""


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> str:
    return recording().write(tmp_path_factory.mktemp("analyze") / "s.pcapng")


@pytest.fixture(scope="module")
def lossy(tmp_path_factory: pytest.TempPathFactory) -> str:
    """Without the second block: from the first TASK_SWITCH at 1008 on five records are missing."""
    return recording().write(tmp_path_factory.mktemp("analyze") / "lossy.pcapng", drop=(1,))


def analyze(*arguments: str) -> Done:
    return vxmon("analyze", *arguments)


def text(*arguments: str) -> str:
    done = analyze(*arguments)
    assert (done.status, done.err) == (0, "")
    return done.out.decode()


def values(question: str, *arguments: str) -> dict[str, Any]:
    """JSON of an analysis, after it was held against the schema that is shipped."""
    done = analyze(question, "--format", "json", *arguments)
    assert done.status == 0, done.err
    document: dict[str, Any] = json.loads(done.out)
    schema = json.loads((SCHEMAS / f"analyze-{question}-1.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["version"] == 1
    return document


GOLDEN = ROOT / "tests/unit/golden/analyze-time.txt"


def test_the_text_report(session: str) -> None:
    """Checked by hand against the arithmetic above; 1008 > 1000 + 100 misses, 2108 <= 2000 + 110 does not."""
    assert text("time", session) == GOLDEN.read_text(encoding="utf-8")


def test_the_parts_add_up_in_json(session: str) -> None:
    document = values("time", session)
    (boot,) = document["boots"]
    nav = next(w for w in boot["windows"] if w["partition"] == "NAV")
    sums = {name: nav[name]["total_ns"]["value"] for name in ("late", "tasks", "kernel", "other", "margin")}
    assert sums == {"late": 6000, "tasks": 204_000, "kernel": 10_000, "other": 0, "margin": 580_000}
    assert sum(sums.values()) == 2 * nav["budget_ns"] == 800_000
    (cpu,) = boot["cpus"]
    assert cpu["observed_ticks"] == 2500 == sum(cpu[f"{p}_ticks"] for p in ("tasks", "idle", "nobody", "unknown"))
    assert document["loss"]["incomplete"] is False


def test_csv_has_a_figure_a_row(session: str) -> None:
    rows = list(csv.DictReader(io.StringIO(text("time", "--format", "csv", session))))
    named = {row["figure"]: row for row in rows}
    assert len(named) == len(rows)
    assert named["partition.NAV.margin.min"] == {
        "boot": "0", "figure": "partition.NAV.margin.min", "unit": "ns", "value": "290000", "lo": "290000",
        "hi": "290000", "n": "2", "status": "measured",
    }  # fmt: skip
    assert named["task.NAV.nav_filter.deadline_misses"]["value"] == "1"
    assert named["window.NAV.0.0.overrun.max"]["value"] == "5000"


def test_each_occurrence_with_per_frame(session: str) -> None:
    out = text("time", "--per-frame", "--partition", "NAV", "--format", "csv", session)
    rows = list(csv.DictReader(io.StringIO(out)))
    assert [(row["frame"], row["start_ticks"], row["margin_ns"], row["records"]) for row in rows] == [
        ("0", "1000", "290000", "7"),
        ("1", "2000", "290000", "7"),
    ]
    document = values("time", "--per-frame", session)
    assert len(document["boots"][0]["frames"]) == 4


def test_only_what_was_asked_for(session: str) -> None:
    out = text("time", "--partition", "NAV", "--task", "nav_filter", session)
    assert "mos_idle" not in out
    assert "nav_idle" not in out
    assert "nav_filter" in out


def test_a_histogram_is_in_text_and_json(session: str) -> None:
    assert "margin of window 0.0 NAV, us" in text("time", "--hist", session)
    nav = next(w for w in values("time", "--hist", session)["boots"][0]["windows"] if w["partition"] == "NAV")
    assert [count for *_, count in nav["margin"]["histogram_ns"]] == [2]


def test_loss_makes_ranges_and_is_told_on_top_and_on_stderr(lossy: str) -> None:
    done = analyze("time", lossy)
    assert done.status == 0
    first = done.out.decode().splitlines()[0]
    assert first == "INCOMPLETE: 5 of 22 records lost (22.7 %) in 1 place (link 5)"
    assert done.err.startswith("vxmon: INCOMPLETE: 5 of 22 records lost")
    assert analyze("time", "--strict", lossy).status == 1
    assert analyze("time", "--strict", "--format", "json", lossy).status == 1
    nav = next(w for w in values("time", lossy)["boots"][0]["windows"] if w["partition"] == "NAV")
    # Unknown is 1004..1406: of the first window, up to 1400, 396. Known margin: none of it, and 290 of the second.
    assert nav["margin"]["min_ns"] == {"value": 290_000, "lo": 0, "hi": 290_000, "n": 2, "status": "measured"}
    assert nav["margin"]["total_ns"] == {"value": 290_000, "lo": 290_000, "hi": 686_000, "n": 2, "status": "measured"}


@pytest.mark.parametrize("question", ["time", "memory", "quality"])
def test_stdout_is_clean_for_parsers_when_incomplete(question: str, lossy: str) -> None:
    assert values(question, lossy)["loss"]["lost"] == 5


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["--partition", "FMS"], "the session has no partition FMS"),
        (["--task", "nav_filtr"], "the session has no task nav_filtr"),
        (["--background", "nav_idel"], "the session has no task nav_idel"),
        (["--cpu", "3"], "the session has no CPU 3"),
        (["--window", "5"], "time window '5': write A..B"),
        (["--window", "2s..1s"], "it ends before it begins"),
        (["--window", "a..b"], "'a' is no time"),
        (["--module", "/nonexistent.xml"], "nonexistent.xml"),
        (["--record-cost", "nan"], "'nan' is no finite number"),
        (["--record-cost", "-1"], "-1.0 is not in the range"),
    ],
)
def test_a_wrong_option_is_one_line_and_status_2(arguments: list[str], words: str, session: str) -> None:
    done = analyze("time", *arguments, session)
    assert (done.status, done.out) == (2, b"")
    assert words in done.err
    assert done.err.count("\n") == 1


@pytest.mark.parametrize("question", ["time", "memory", "quality"])
def test_what_is_no_session_is_refused(question: str, tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"nothing of the kind" * 10)
    done = analyze(question, str(tmp_path / "x"))
    assert (done.status, done.out) == (2, b"")
    assert "Traceback" not in done.err


def test_an_empty_session_is_an_empty_report(tmp_path: Path) -> None:
    path = Recording().write(tmp_path / "empty.pcapng")
    assert values("time", path)["boots"] == []
    done = analyze("time", path)
    assert (done.status, done.err) == (0, "vxmon: INCOMPLETE: there is no block of records\n")
    assert done.out.startswith(b"INCOMPLETE: there is no block of records")


def test_quality_of_a_complete_session_finds_only_the_deadline_of_which_nobody_told(session: str) -> None:
    document = values("quality", session)
    (finding,) = document["findings"]
    assert (finding["severity"], finding["kind"], finding["count"]) == ("warning", "deadlines", 1)
    assert document["losses"] == []
    assert "warning: boot 0: nav_filter missed 1 deadline by its releases" in text("quality", session)


def test_quality_of_a_good_session_finds_nothing(tmp_path: Path) -> None:
    rec = recording()
    rec.records = [record for record in rec.records if record.time < 1000 or record.name == "STOP"]
    path = rec.write(tmp_path / "s")
    assert values("quality", path)["findings"] == []
    assert "no findings" in text("quality", path)


def test_quality_tells_each_loss(lossy: str) -> None:
    document = values("quality", lossy)
    # The last record ahead of the gap is RELEASE at 1004, the first behind it TASK_SWITCH at 1406.
    (loss,) = document["losses"]
    assert (loss["records"], loss["causes"]) == (5, {"link": 5})
    assert (loss["start_ticks"], loss["end_ticks"]) == (1004, 1406)
    rows = list(csv.reader(io.StringIO(analyze("quality", "--format", "csv", lossy).out.decode())))
    assert rows[1][5] == "5"


def test_a_module_configuration_that_differs_is_told(session: str, tmp_path: Path) -> None:
    module = tmp_path / "module.xml"
    module.write_text(MODULE_XML.format(nav="0.0005", spare="0.0005"), encoding="utf-8")
    out = text("time", "--module", str(module), session)
    assert "schedule 0 window 0: NAV at 0 for 400 ticks on the target, NAV at 0 for 500 ticks in the module" in out
    module.write_text(MODULE_XML.format(nav="0.0004", spare="0.0006"), encoding="utf-8")
    assert "in the module configuration" not in text("time", "--module", str(module), session)


def test_without_a_schedule_in_the_session_the_module_configuration_gives_it(tmp_path: Path) -> None:
    path = recording(schedule=False).write(tmp_path / "s.pcapng")
    assert "no window figures" in text("time", path)
    module = tmp_path / "module.xml"
    module.write_text(MODULE_XML.format(nav="0.0004", spare="0.0006"), encoding="utf-8")
    document = values("time", "--module", str(module), path)
    (boot,) = document["boots"]
    assert boot["schedule_source"] == "module configuration"
    nav = next(w for w in boot["windows"] if w["partition"] == "NAV")
    assert nav["margin"]["min_ns"]["value"] == 290_000


def test_a_session_without_tables_says_what_is_missing(tmp_path: Path) -> None:
    rec = recording()
    rec.tables = False
    path = rec.write(tmp_path / "s.pcapng")
    document = values("time", "--per-frame", "--hist", path)
    (boot,) = document["boots"]
    assert boot["clock_hz"] == 0
    assert "the session does not tell the clock's rate: no times" in boot["notes"]
    assert boot["tasks"][0]["time_ns"]["status"] == "not_recorded"
    # Ticks are known all the same.
    assert boot["cpus"][0]["observed_ticks"] == 2500
    done = analyze("time", path)
    assert (done.status, done.err) == (0, "")
    assert analyze("time", "--format", "csv", path).status == 0
    assert any(f["kind"] == "schema" for f in values("quality", path)["findings"])


def test_losses_of_a_window_are_listed_and_the_whole_is_judged(lossy: str) -> None:
    whole = values("quality", lossy)
    assert len(whole["losses"]) == 1
    for window, count in (("..1ns", 0), ("0..1000s", 1)):
        part = values("quality", "--window", window, lossy)
        assert (len(part["losses"]), part["loss"]) == (count, whole["loss"])
        assert part["findings"] == whole["findings"]
    assert len(values("quality", "--cpu", "0", lossy)["streams"]) == 1
    assert analyze("quality", "--cpu", "5", lossy).status == 2
