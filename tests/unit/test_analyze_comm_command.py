# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze comm`` as it is used: text, JSON that keeps its schema, CSV, selections, exit status.

The figures are those of ``overflowing()`` in test_analysis_comm_hand.py, which are calculated there by hand.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.commands import vxmon
from tests.support.messaging import MODULE_XML
from tests.support.tree import ROOT
from tests.unit.test_analysis_comm_hand import overflowing, six

GOLDEN = ROOT / "tests/unit/golden/analyze-comm.txt"
SCHEMA = ROOT / "vxmon/report/schemas/analyze-comm-1.json"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("comm")
    (folder / "module.xml").write_text(MODULE_XML, encoding="utf-8")
    overflowing().recording.write(folder / "s.pcapng")
    six().recording.write(folder / "lossy.pcapng", drop=(1,))
    return folder


def output(folder: Path, *arguments: str, session: str = "s.pcapng") -> str:
    done = vxmon("analyze", "comm", str(folder / session), "--module", str(folder / "module.xml"), *arguments)
    assert done.status == 0, done.err
    return done.out.decode().replace(f"{folder}/", "")


def test_the_text_report(folder: Path) -> None:
    assert output(folder) == GOLDEN.read_text(encoding="utf-8")


@pytest.mark.parametrize("session", ["s.pcapng", "lossy.pcapng"])
def test_json_keeps_its_schema(folder: Path, session: str) -> None:
    document = json.loads(output(folder, "--format", "json", session=session))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator.check_schema(schema)
    jsonschema.Draft202012Validator(schema).validate(document)
    assert document["loss"]["incomplete"] is (session == "lossy.pcapng")
    (boot,) = document["boots"]
    assert boot["channels_from"].endswith("module.xml")
    one = boot["objects"][0]
    if session == "s.pcapng":
        assert one["sending"]["period"]["max_ns"]["value"] == 300_000
        assert boot["flows"] == [{
            "from": "A", "to": "B", "count": {"value": 3, "lo": 3, "hi": 3, "n": 3, "status": "measured"},
            "bytes": {"value": 24, "lo": 24, "hi": 24, "n": 3, "status": "measured"},
        }]  # fmt: skip
    else:
        assert one["receiving"]["latency"]["max_ns"]["hi"] is None


def test_csv_has_a_figure_a_row_under_the_names_of_rules(folder: Path) -> None:
    rows = list(csv.DictReader(io.StringIO(output(folder, "--format", "csv"))))
    named = {row["figure"]: row for row in rows}
    assert len(named) == len(rows)
    values = {name: named[name]["value"] for name in (
        "comm.a_out.count", "comm.b_in.latency.max", "comm.a_out.period.mean", "comm.a_out.jitter.max",
        "comm.b_in.depth.max", "comm.b_in.overflow.count", "flow.A.B.count",
    )}  # fmt: skip
    assert list(values.values()) == ["4", "300000", "166000", "200000", "2", "1", "3"]
    assert named["comm.b_in.latency.max"]["unit"] == "ns"


def test_selections(folder: Path) -> None:
    text = output(folder, "--object", "b_in")
    assert "b_in" in text
    assert "\nsent\n" not in text
    assert "b_in" not in output(folder, "--partition", "A").split("\nsent\n")[1].split("to\n")[0]
    assert "no messages were recorded of what is asked for" in output(folder, "--object", "c_state")
    assert "only from 0.000300000 s to the end" in output(folder, "--window", "300us..")


def test_names_that_the_session_does_not_have(folder: Path) -> None:
    done = vxmon("analyze", "comm", str(folder / "s.pcapng"), "--object", "nothing")
    assert (done.status, done.out) == (2, b"")
    assert "nothing" in done.err


def test_incomplete_data_is_told_and_strict_fails(folder: Path) -> None:
    done = vxmon("analyze", "comm", str(folder / "lossy.pcapng"), "--strict")
    assert done.status == 1
    assert "INCOMPLETE" in done.err
    assert ">= 10.0" in done.out.decode()
