# SPDX-License-Identifier: Apache-2.0
"""Fields of messages as they are used: ``print --icd``, ``analyze comm --fields`` as text, JSON and CSV.

The payloads are written by hand, and so are the values: angle is a 16-bit number of 0.1 degrees, speed a number of kt
that must not exceed 200 and means something only where the status byte says ON; the fourth byte is padding.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import jsonschema
import pytest

from tests.support.commands import vxmon
from tests.support.recording import Recording
from tests.support.tree import ROOT
from vxmon.analysis.hm_log import HmLog, LogRow
from vxmon.icd.loading import load_icd
from vxmon.report.blocks import plain_lines
from vxmon.report.hm_log import hm_log_blocks, hm_log_document
from vxmon.wire.acquired import Log, LogEntry
from vxmon.wire.types import ObjectEntry, PartitionEntry, Payload, RunConfig

SCHEMA = ROOT / "vxmon/report/schemas/analyze-comm-1.json"
ICD = """icd = 1
name = "test"
[[message]]
name = "state"
size = 6
field = [
  { name = "angle", type = "signed", byte = 0, length = 16, scale = 0.1, unit = "deg" },
  { name = "status", type = "enum", byte = 2, length = 8, values = { 0 = "OFF", 1 = "ON" } },
  { name = "gap", type = "padding", byte = 3, length = 8 },
  { name = "speed", type = "unsigned", byte = 4, length = 16, unit = "kt", max = 200, valid = "status == ON" },
]
[[bind]]
object = "state"
message = "state"
"""
SEVEN = "01 02 03 04 05 06 07"


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("fields")
    (folder / "icd.toml").write_text(ICD, encoding="utf-8")
    rec = Recording(
        partitions=(PartitionEntry(1, "A"),), config=RunConfig(payload=Payload.CONTENT, content_bytes=7),
        objects=(ObjectEntry(1, 0, 1, "state"), ObjectEntry(2, 0, 1, "other")), block_records=3,
    )  # fmt: skip
    rec.add(0, "START", 0, window=0, task=0, run=1)
    payloads = (
        (1, "ff f6 01 ee 00 64"),  # -10 * 0.1, ON, 100 kt
        (1, "00 64 00 ff 00 64"),  # 10.0, OFF: speed means nothing
        (1, "00 65 01 00 00 c9"),  # 10.1, ON, 201 kt: above
        (1, "00 65 02 00 00 01"),  # 2 is no status, so speed means nothing
        (1, "00 65 01"),
        (1, SEVEN),
        (2, "aa bb"),
    )
    for number, (index, octets) in enumerate(payloads, 1):
        data = bytes.fromhex(octets)
        size = len(data)
        rec.add(10 * number, "MSG_SEND", index, number=number, size=size, partition=1, depth=1)
        rec.add(10 * number, "CONTENT", index, number=number, length=size, content=data)
    # Of the last message 7 of 8 bytes were recorded.
    rec.add(90, "MSG_SEND", 1, number=9, size=8, partition=1)
    rec.add(90, "CONTENT", 1, number=9, length=7, content=bytes.fromhex(SEVEN))
    rec.add(95, "HM_EVENT", 1, code=1, task=1, entry=1)
    rec.write(folder / "s.pcapng")
    return folder


def run(folder: Path, *arguments: str, status: int = 0) -> str:
    done = vxmon(*arguments[:-1], arguments[-1], str(folder / "s.pcapng"), "--icd", str(folder / "icd.toml"))
    assert done.status == status, done.err
    return done.out.decode() if status == 0 else done.err


def test_lines_have_the_fields_behind_the_content(folder: Path) -> None:
    text = run(folder, "print", "--event=CONTENT")
    shown = [line.split(" message:")[1] for line in text.splitlines() if " message:" in line]
    assert shown == [
        "state angle:-1.0deg status:ON speed:100kt",
        "state angle:10.0deg status:OFF speed:100kt!condition_not_met",
        "state angle:10.1deg status:ON speed:201kt!above_range",
        "state angle:10.1deg status:2!not_in_enumeration speed:1kt!condition_not_met",
        "state shorter:3 raw:006501",
        "state longer:7 raw:01020304050607",
        "not_described",
        "state longer:8 raw:01020304050607",
    ]


def test_lines_are_the_same_with_and_without_selection(folder: Path) -> None:
    both = [run(folder, "print", *options, "--dialect=8") for options in ((), ("--object=state",))]
    lines = [[line for line in text.splitlines() if "message:state" in line] for text in both]
    assert lines[0] == lines[1]
    assert len(lines[0]) == 7


def test_the_text_report(folder: Path) -> None:
    text = run(folder, "analyze", "comm", "--fields")
    table = text[text.index("state, 7 messages sent") :]
    assert table.splitlines() == [
        "state, 7 messages sent: state, 1 shorter, 2 longer, 1 cut in the recording",
        "field   unit  valid  min   max  values       not valid",
        "angle   deg       4   -1  10.1  -            -",
        "status  -         3    -     -  OFF 1, ON 2  not in enumeration 1",
        "speed   kt        1  100   100  -            above range 1, condition not met 2",
        "",
        "other, 1 message sent: not described by the ICD",
    ]


def test_json_keeps_its_schema(folder: Path) -> None:
    document = json.loads(run(folder, "analyze", "comm", "--fields", "--format=json"))
    schema = json.loads(SCHEMA.read_text(encoding="utf-8"))
    jsonschema.Draft202012Validator(schema).validate(document)
    state, other = document["boots"][0]["fields"]
    assert state["fits"] == {"right": 4, "shorter": 1, "longer": 2}
    angle, status, speed = state["fields"]
    assert (angle["unit"], angle["min"]["value"], round(angle["max"]["value"], 9)) == ("deg", -1.0, 10.1)
    assert angle["max"]["time_ticks"] == 30
    assert status["values"] == {"OFF": 1, "ON": 2}
    assert speed["not_valid"] == {"above range": 1, "condition not met": 2}
    assert (other["message"], other["messages"]) == (None, 1)


def test_csv_is_a_time_series_with_a_column_a_field(folder: Path) -> None:
    text = run(folder, "analyze", "comm", "--fields", "--format=csv", "--object=state")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert list(rows[0]) == [
        "boot", "time_ns", "event", "message_number", "size", "fit", "angle (deg)", "angle status", "status",
        "status status", "speed (kt)", "speed status", "raw",
    ]  # fmt: skip
    assert [row["time_ns"] for row in rows] == ["10000", "20000", "30000", "40000", "50000", "60000", "90000"]
    assert [row["angle (deg)"] for row in rows] == ["-1.0", "10.0", "10.1", "10.1", "", "", ""]
    assert [row["speed status"] for row in rows[:5]] == [
        "valid", "condition not met", "above range", "condition not met", "wrong size",
    ]  # fmt: skip
    assert [row["raw"] for row in rows[3:]] == ["", "006501", "01020304050607", "01020304050607"]
    assert {row["event"] for row in rows} == {"send"}


def test_a_window_of_time(folder: Path) -> None:
    text = run(folder, "analyze", "comm", "--fields", "--format=csv", "--object=state", "--window=15us..35us")
    assert [row["message_number"] for row in csv.DictReader(io.StringIO(text))] == ["2", "3"]


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (("analyze", "comm", "--fields", "--format=csv"), "name it with --object"),
        (("analyze", "comm", "--fields", "--format=csv", "--object=other"), "does not describe the messages of other"),
        (("analyze", "comm", "--format=text"), "--fields and --icd FILE go together"),
        (("print", "--format=csv"), "vxmon analyze comm --fields"),
    ],
)
def test_wrong_usage(folder: Path, arguments: tuple[str, ...], words: str) -> None:
    assert words in run(folder, *arguments, status=2)


def test_a_session_without_content_is_told(folder: Path, tmp_path: Path) -> None:
    rec = Recording(partitions=(PartitionEntry(1, "A"),), objects=(ObjectEntry(1, 0, 1, "state"),))
    rec.add(0, "START", 0, window=0, task=0, run=1)
    rec.add(10, "MSG_SEND", 1, number=1, size=6, partition=1)
    done = vxmon("print", rec.write(tmp_path / "s.pcapng"), "--icd", str(folder / "icd.toml"))
    assert done.status == 0
    assert 'no content of messages was recorded; capture it with payload = "content"' in done.err


def test_an_icd_that_cannot_be_used_is_told(folder: Path) -> None:
    done = vxmon("print", str(folder / "s.pcapng"), "--icd", str(folder / "nothing.toml"))
    assert done.status == 2
    assert "nothing.toml" in done.err
    assert "Traceback" not in done.err


def test_the_log_of_errors_shows_the_fields_of_messages_around_each(folder: Path) -> None:
    text = run(folder, "hm-log", "--around=4")
    assert "message:state longer:8 raw:01020304050607" in text
    assert "message:not_described" in text
    document = json.loads(run(folder, "hm-log", "--around=20", "--format=json"))
    (entry,) = document["entries"]
    assert sum("message:state angle:10.1deg" in line for line in entry["around"]["lines"]) == 2
    assert "--icd is for text and JSON" in run(folder, "hm-log", "--format=csv", status=2)


def test_an_errors_own_message_has_fields_too(tmp_path: Path) -> None:
    """A layout bound to the name of the error's code, in one partition only."""
    (tmp_path / "icd.toml").write_text(
        'icd = 1\n[[message]]\nname = "error"\nsize = 10\nfield = [\n'
        '  { name = "device", type = "text", byte = 0, bytes = 3 },\n'
        '  { name = "cause", type = "text", byte = 4, bytes = 6 },\n]\n'
        '[[bind]]\nobject = "APPLICATION_ERROR"\npartition = "IO"\nmessage = "error"\n',
        encoding="utf-8",
    )
    icd = load_icd([str(tmp_path / "icd.toml")])
    rows = [
        LogRow(Log.HM, LogEntry(number, 0, partition_name=name), 0, code_name="APPLICATION_ERROR", message="bus parity")
        for number, name in ((2, "IO"), (1, "NAV"))
    ]
    log = HmLog(Log.HM, rows)
    lines = list(plain_lines(hm_log_blocks(log, icd)))
    assert lines[2].endswith('bus parity device:"bus" cause:"parity"')
    assert lines[3].endswith("bus parity")
    first, second = hm_log_document(log, {}, icd)["entries"]
    assert first["message"] == second["message"] == "bus parity"
    assert first["fields"]["fields"]["cause"]["value"] == "parity"
    assert "fields" not in second
