# SPDX-License-Identifier: Apache-2.0
"""``vxmon check`` as it is used: verdicts, formats that keep their schemas, exit status.

The figures are those of the session of ``tests.support.navsession``, which is calculated by hand: NAV's margin is 290
of 400 us in each of two frames, nav_filter runs for 102 us and answers after 108, and misses one deadline.
"""

from __future__ import annotations

import csv
import io
import json
import subprocess
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from junitparser import JUnitXml
from lxml import etree

from tests.support.commands import VXMON, Done, vxmon
from tests.support.navsession import recording
from tests.support.recording import Recording
from tests.support.tree import ROOT
from vxmon.analysis.gate.gather import SOURCES, GateRequest
from vxmon.trace import StoredTrace, open_trace

SCHEMAS = ROOT / "vxmon/report/schemas"
GOLDEN = ROOT / "tests/unit/golden"
LIMITS = """format = 1

[[rule]]
figure = "partition.NAV.margin.min"
min = "72.5 %"

[[rule]]
figure = "partition.NAV.margin.min"
min = "80 %"
note = "SRS-4711"

[[rule]]
figure = "task.*.execution.max"
max = "102 us"

[[rule]]
figure = "task.*.deadline_misses"
max = 0
severity = "warn"

[[rule]]
figure = "quality.lost"
max = 0

[[rule]]
figure = "task.FMS.*"
max = 0
"""
GOOD = """format = 1
[[rule]]
figure = "window.NAV.*.margin.min"
min = "250 us"
[[rule]]
figure = "task.NAV.nav_filter.deadline_misses"
max = 0
severity = "warn"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("check")
    recording().write(path / "s.pcapng")
    recording().write(path / "lossy.pcapng", drop=(1,))
    (path / "limits.toml").write_text(LIMITS, encoding="utf-8")
    (path / "good.toml").write_text(GOOD, encoding="utf-8")
    return path


def check(folder: Path, session: str, *arguments: str) -> Done:
    return vxmon("check", str(folder / session), *arguments)


def judged(folder: Path, session: str, limits: str, *arguments: str) -> Done:
    return check(folder, session, "--limits", str(folder / limits), *arguments)


def validated(done: Done, name: str) -> Any:
    assert done.status == (0 if name == "check-figures-1" else 1)
    document = json.loads(done.out)
    schema = json.loads((SCHEMAS / f"{name}.json").read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    return document


def golden(done: Done, folder: Path, name: str) -> None:
    text = done.out.decode().replace(f"{folder}/", "")
    assert text == (GOLDEN / name).read_text(encoding="utf-8")


def test_the_text_names_rule_figure_limit_by_how_much_and_where(folder: Path) -> None:
    """72.5 % of 400 us are the 290 that there are; 80 % are 320, 30 more."""
    done = judged(folder, "s.pcapng", "limits.toml")
    assert (done.status, done.err) == (1, "")
    golden(done, folder, "check.txt")


def test_a_good_session_passes(folder: Path) -> None:
    done = judged(folder, "s.pcapng", "good.toml")
    assert (done.status, done.err) == (0, "")
    assert b"PASSED: 2 rules on 2 figures, 1 warning (" in done.out
    assert judged(folder, "s.pcapng", "good.toml", "--fail-on", "warn").status == 1


@pytest.mark.parametrize("form", ["json", "csv", "junit"])
def test_the_exit_status_is_the_same_in_every_format(form: str, folder: Path) -> None:
    """That of a failed check is asserted where its output is looked at."""
    assert judged(folder, "s.pcapng", "good.toml", "--format", form).status == 0


def test_what_is_no_session_is_status_2(folder: Path) -> None:
    done = judged(folder, "limits.toml", "good.toml", "--format", "junit")
    assert (done.status, done.out) == (2, b"")


def test_json_keeps_its_schema(folder: Path) -> None:
    document = validated(judged(folder, "s.pcapng", "limits.toml", "--format", "json"), "check-1")
    verdicts = [(rule["line"], rule["verdict"]) for rule in document["rules"]]
    assert verdicts == [(3, "passed"), (7, "failed"), (12, "passed"), (16, "failed"), (21, "passed"),
                        (25, "matches nothing")]  # fmt: skip
    assert document["passed"] is False
    (result,) = document["rules"][1]["results"]
    assert (result["value"], result["limit"], result["room"]) == (290_000, 320_000, -30_000)
    assert (result["figure"], result["unit"], result["side"]) == ("partition.NAV.margin.min", "ns", "min")
    assert result["where"] == "window 0.0, frame 0 at 0.001000000 s"


def test_csv_has_a_figure_a_row(folder: Path) -> None:
    done = judged(folder, "s.pcapng", "limits.toml", "--format", "csv")
    assert done.status == 1
    rows = list(csv.DictReader(io.StringIO(done.out.decode())))
    failed = [(row["line"], row["figure"], row["room"]) for row in rows if row["verdict"] == "failed"]
    assert failed == [("7", "partition.NAV.margin.min", "-30000"), ("16", "task.NAV.nav_filter.deadline_misses", "-1")]
    assert (rows[-1]["rule"], rows[-1]["figure"], rows[-1]["verdict"]) == ("task.FMS.*", "", "matches nothing")


def test_junit_opens_in_a_parser_and_is_valid(folder: Path, tmp_path: Path) -> None:
    done = judged(folder, "s.pcapng", "limits.toml", "--format", "junit")
    assert done.status == 1
    (tmp_path / "r.xml").write_bytes(done.out)
    schema = etree.XMLSchema(etree.parse(str(GOLDEN / "junit-subset.xsd")))
    schema.assertValid(etree.parse(str(tmp_path / "r.xml")))
    (suite,) = JUnitXml.fromfile(str(tmp_path / "r.xml"))
    assert (suite.tests, suite.failures, suite.errors) == (6, 2, 0)
    cases = {case.name: case for case in suite}
    assert len(cases) == 6
    (failure,) = cases["partition.NAV.margin.min min 80 %"].result
    assert (failure.type, failure.message.endswith("frame 0 at 0.001000000 s (SRS-4711)")) == ("failed", True)
    warned = cases["task.*.deadline_misses max 0"]
    assert warned.is_passed
    assert "WARNING" in warned.system_out


def test_rules_that_are_equal_are_two_cases(folder: Path, tmp_path: Path) -> None:
    (folder / "twice.toml").write_text(LIMITS + LIMITS.removeprefix("format = 1\n"), encoding="utf-8")
    (tmp_path / "r.xml").write_bytes(judged(folder, "s.pcapng", "twice.toml", "--format", "junit").out)
    etree.XMLSchema(etree.parse(str(GOLDEN / "junit-subset.xsd"))).assertValid(etree.parse(str(tmp_path / "r.xml")))


def test_loss_stands_on_top_and_the_bad_end_is_judged(folder: Path) -> None:
    """Of the first window 396 of 400 us are unknown, so its margin is 0..290 us; records may hide more misses."""
    done = judged(folder, "lossy.pcapng", "good.toml")
    lines = done.out.decode().splitlines()
    assert done.status == 1
    assert lines[0] == "INCOMPLETE: 5 of 22 records lost (22.7 %) in 1 place (link 5)"
    assert done.err.startswith("vxmon: INCOMPLETE: 5 of 22 records lost")
    assert any("is 0 us..290 us (judged by 0 us), 250 us below min 250 us" in line for line in lines)


def test_what_was_not_recorded_fails_as_that(tmp_path: Path) -> None:
    recording().without("TASK_SWITCH").write(tmp_path / "s.pcapng")
    (tmp_path / "good.toml").write_text(GOOD, encoding="utf-8")
    done = judged(tmp_path, "s.pcapng", "good.toml")
    assert done.status == 1
    assert b"window.NAV.0.0.margin.min was not recorded" in done.out


def test_every_figure_that_a_rule_can_name_is_listed(folder: Path) -> None:
    document = validated(check(folder, "s.pcapng", "--list", "--format", "json"), "check-figures-1")
    names = [figure["figure"] for figure in document["figures"]]
    assert len(set(names)) == len(names) > 100
    margin = next(figure for figure in document["figures"] if figure["figure"] == "partition.NAV.margin.min")
    assert (margin["value"], margin["unit"], margin["whole"]) == (290_000, "ns", 400_000)
    golden(
        check(folder, "s.pcapng", "--list", "--only", "*.NAV.margin.*", "--only", "quality.*"), folder, "check-list.txt"
    )
    rows = list(csv.DictReader(io.StringIO(check(folder, "s.pcapng", "--list", "--format", "csv").out.decode())))
    assert [row["figure"] for row in rows] == names


def test_the_gate_can_name_every_figure_of_every_analysis(folder: Path) -> None:
    """A figure outside the prefixes of its analysis would be found by no rule."""
    with open_trace([str(folder / "s.pcapng")]) as trace:
        assert isinstance(trace, StoredTrace)
        for source in SOURCES:
            found = {figure.name.split(".")[0] for figure in source.compute(trace, GateRequest())}
            assert found <= set(source.prefixes), source.analysis


def test_limits_made_from_a_session_hold_for_it(folder: Path) -> None:
    only = [a for pattern in ("partition.*.margin.min", "task.*.max", "memory.*.growth") for a in ("--only", pattern)]
    done = check(folder, "s.pcapng", "--init", *only)
    assert (done.status, done.err) == (0, "")
    golden(done, folder, "check-init.txt")
    (folder / "made.toml").write_bytes(check(folder, "s.pcapng", "--init", "--slack", "0").out)
    assert judged(folder, "s.pcapng", "made.toml").status == 0


def test_a_window_and_background_processes_are_those_of_the_file(folder: Path) -> None:
    """From 2 s on there is one frame; with nav_filter as background only 8 us, late start and kernel, are no margin."""
    (folder / "window.toml").write_text(
        'format = 1\nwindow = "1400us.."\nbackground = ["nav_filter"]\n[[rule]]\nfigure = "partition.NAV.margin.min"\n'
        'min = "391 us"\n[[rule]]\nfigure = "partition.NAV.occurrences"\nmin = 1\nmax = 1\n',
        encoding="utf-8",
    )
    done = judged(folder, "s.pcapng", "window.toml")
    assert done.status == 0, done.out
    assert b"only from 0.001400000 s to the end after the first record, which is at 0.00" in done.out
    (folder / "window.toml").write_text('format = 1\nbackground = ["nav_filtr"]\n[[rule]]\nfigure = "*"\nmax = 0\n')
    done = judged(folder, "s.pcapng", "window.toml")
    assert (done.status, done.out) == (2, b"")
    assert "window.toml:2: background: the session has no task nav_filtr" in done.err
    (folder / "window.toml").write_text('format = 1\nwindow = "5s.."\n[[rule]]\nfigure = "quality.lost"\nmax = 0\n')
    done = judged(folder, "s.pcapng", "window.toml")
    assert (done.status, done.out) == (2, b"")
    assert "window.toml:2: window: the session is 0.002500 s long; nothing of it is in 5s.." in done.err


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        ([], "give --limits TOML"),
        (["--list", "--init"], "exclude each other"),
        (["--only", "a", "--limits", "x"], "--only goes with --list and --init"),
        (["--list", "--format", "junit"], "--format junit does not go with --list"),
        (["--init", "--format", "json"], "--format json does not go with --init"),
        (["--limits", "/nonexistent.toml"], "/nonexistent.toml"),
        (["--limits", "limits.toml", "--fail-on", "note"], "'note' is not one of"),
    ],
)
def test_wrong_usage_is_one_line_and_status_2(arguments: list[str], words: str, folder: Path) -> None:
    done = check(folder, "s.pcapng", *arguments)
    assert (done.status, done.out) == (2, b"")
    assert words in done.err
    assert done.err.count("\n") == 1


def test_an_empty_session_has_only_figures_of_quality(tmp_path: Path) -> None:
    Recording().write(tmp_path / "empty.pcapng")
    (tmp_path / "limits.toml").write_text(LIMITS, encoding="utf-8")
    document = validated(judged(tmp_path, "empty.pcapng", "limits.toml", "--format", "json"), "check-1")
    assert [rule["verdict"] for rule in document["rules"]] == [*["matches nothing"] * 4, "passed", "matches nothing"]


@pytest.mark.parametrize("form", ["text", "json", "csv", "junit"])
def test_output_that_cannot_be_written_is_status_3(form: str, folder: Path) -> None:
    command = [*VXMON, "check", str(folder / "s.pcapng"), "--limits", str(folder / "good.toml"), "--format", form]
    with Path("/dev/full").open("wb") as full:
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, check=False, timeout=90)
    words = b"vxmon: standard output: cannot be written: No space left on device\n"
    assert (done.returncode, done.stderr) == (3, words)
