# SPDX-License-Identifier: Apache-2.0
"""``vxmon icd`` as its users see it: findings, bindings, output, exit status."""

from __future__ import annotations

import csv
import io
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from vxmon.errors import InputError
from vxmon.icd.loading import load_icd

ICD = """icd = 1
[[message]]
name = "position"
size = 8
  [[message.field]]
  name = "lat"
  type = "signed"
  byte = 0
  length = 32
  scale = 0.001
  unit = "deg"
  min = -90
  max = 90
  [[message.field]]
  name = "fix"
  type = "enum"
  byte = 4
  length = 8
  values = { 0 = "NONE", 3 = "3D" }
  [[message.field]]
  name = "spare"
  type = "padding"
  byte = 5
  length = 24
[[message]]
name = "tick"
size = 4
field = [{ name = "n", type = "unsigned", byte = 0, length = 32 }]
[[bind]]
port = "NAV_POS*"
message = "position"
[[bind]]
object = "NAV_POS_RAW"
message = "tick"
[[bind]]
object = "TICK_?"
partition = "FLT"
message = "tick"
"""

MODULE = """<?xml version="1.0"?>
<Module Name="m" Id="0"><CoreOS/>
<Applications><Application Name="nav"><ApplicationDescription><Ports>
<SamplingPort Name="NAV_POS_OUT" Direction="SOURCE" MessageSize="64" RefreshRate="0.1"/>
<QueuingPort Name="SMALL" Direction="SOURCE" MessageSize="4" QueueLength="2"/>
</Ports></ApplicationDescription></Application></Applications>
<Partitions><Partition Name="NAV" Id="1"><PartitionDescription><Application NameRef="nav"/></PartitionDescription>
</Partition></Partitions>
<Schedules><Schedule Id="0"><PartitionWindow PartitionNameRef="NAV" Duration="0.001"/></Schedule></Schedules>
<Connections/>
</Module>
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nav.toml").write_text(ICD)
    (tmp_path / "module.xml").write_text(MODULE)
    return tmp_path


def vxmon(folder: Path, *arguments: str, stdin: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    command = [sys.executable, "-c", "from vxmon_cli.main import main; main()", "icd", *arguments]
    environment = os.environ | {"COLUMNS": "200"}
    return subprocess.run(
        command, cwd=folder, input=stdin, capture_output=True, timeout=60, check=False, env=environment
    )  # fmt: skip


def checked(folder: Path, text: str, *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    (folder / "x.toml").write_text(text)
    done = vxmon(folder, "check", "x.toml", "--format", "json", *arguments)
    document = json.loads(done.stdout)
    assert document["passed"] is (not any(p["severity"] == "error" for p in document["problems"]))
    return done.returncode, document["problems"]


def fields(*lines: str, size: int = 4) -> str:
    return f'icd = 1\n[[message]]\nname = "m"\nsize = {size}\nfield = [\n' + ",\n".join(lines) + "\n]\n"


def test_a_good_icd_passes(folder: Path) -> None:
    done = vxmon(folder, "check", "nav.toml")
    assert (done.returncode, done.stderr) == (0, b"")
    assert done.stdout == b"2 messages, 4 fields, 3 bindings: 0 errors, 0 warnings, 0 notes\n"


@pytest.mark.parametrize(
    ("lines", "size", "kind", "line", "words"),
    [
        (
            ['{ name = "a", type = "unsigned", byte = 0, length = 12 }',
             '{ name = "b", type = "unsigned", byte = 1, length = 24 }'],
            4, "overlap", 7, "field b lies over 4 bits of a (x.toml:6)",
        ),
        (  # little: bits 8 to 11 are the low half of byte 1; big: bits 8 to 11 are its high half
            ['{ name = "a", type = "unsigned", byte = 1, length = 4, byte_order = "little" }',
             '{ name = "b", type = "unsigned", byte = 1, length = 5 }',
             '{ name = "c", type = "padding", byte = 0, length = 8 }',
             '{ name = "d", type = "padding", byte = 2, length = 16 }'],
            4, "overlap", 7, "field b lies over 1 bit of a (x.toml:6)",
        ),
        (['{ name = "a", type = "unsigned", byte = 1, length = 32 }'], 4, "past end", 6, "ends 8 bits past the end"),
        (
            ['{ name = "a", type = "unsigned", byte = 0, length = 16 }',
             '{ name = "a", type = "unsigned", byte = 2, length = 16 }'],
            4, "duplicate", 7, "field a was defined before, at x.toml:6",
        ),
        (['{ name = "a", type = "unsigned", byte = 0, length = 32, valid = "b" }'], 4, "condition", 6, "names b"),
    ],
)  # fmt: skip
def test_errors(folder: Path, lines: list[str], size: int, kind: str, line: int, words: str) -> None:
    status, problems = checked(folder, fields(*lines, size=size))
    (found,) = [p for p in problems if p["severity"] == "error"]
    assert status == 1
    assert (found["kind"], found["file"], found["line"], found["message"]) == (kind, "x.toml", line, "m")
    assert words in found["text"]


def test_fields_of_both_byte_orders_side_by_side(folder: Path) -> None:
    low = '{ name = "a", type = "unsigned", byte = 0, length = 4, byte_order = "little" }'
    high = '{ name = "b", type = "unsigned", byte = 0, length = 4 }'
    assert checked(folder, fields(low, high, size=1)) == (0, [])


def test_gaps_are_warnings(folder: Path) -> None:
    text = fields('{ name = "a", type = "unsigned", byte = 0, length = 12 }')
    status, problems = checked(folder, text)
    assert status == 0
    assert [(p["severity"], p["kind"]) for p in problems] == [("warning", "gap")]
    assert problems[0]["text"].startswith("20 bits in bytes 1 to 3 of m belong to no field")
    assert checked(folder, text, "--strict")[0] == 1


def test_overlays_are_meant(folder: Path) -> None:
    lines = [
        '{ name = "a", type = "unsigned", byte = 0, length = 32 }',
        '{ name = "b", type = "unsigned", byte = 1, length = 8, overlay = true }',
    ]
    assert checked(folder, fields(*lines)) == (0, [])


def test_ports_of_the_module(folder: Path) -> None:
    done = vxmon(folder, "check", "nav.toml", "--module", "module.xml")
    assert done.returncode == 0, done.stderr
    assert b"note: port SMALL of NAV has no layout" in done.stdout
    text = ICD.replace("NAV_POS*", "NAV_PSO*") + '[[bind]]\nport = "SMALL"\nmessage = "position"\n'
    status, problems = checked(folder, text, "--module", "module.xml")
    errors = [(p["kind"], p["line"], p["text"]) for p in problems if p["severity"] == "error"]
    assert status == 1
    assert errors[0] == ("unknown port", 29, "the module has no port NAV_PSO*")
    assert errors[1][2] == "message position has 8 bytes; port SMALL of NAV carries at most 4"
    assert problems[1]["file"] == "module.xml"


def test_the_first_binding_that_fits_counts_and_exact_names_before_patterns(folder: Path) -> None:
    icd = load_icd([str(folder / "nav.toml")])

    def name_for(name: str, partition: str | None = None) -> str | None:
        layout = icd.layout_for(name, partition)
        return None if layout is None else layout.name

    assert name_for("NAV_POS_OUT") == "position"
    assert name_for("NAV_POS_RAW") == "tick"
    assert name_for("TICK_1", "FLT") == "tick"
    assert name_for("TICK_1", "NAV") is None
    assert name_for("position") == "position"
    assert name_for("nav_pos_out") is None
    assert icd.layout_for("NAV_POS_OUT") is icd.layout_for("NAV_POS_IN")


def test_a_binding_to_another_file_is_found_beside_the_icd(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (folder / "sub").mkdir()
    (folder / "sub" / "bind.toml").write_text('icd = 1\n[[bind]]\nobject = "O"\nlayout = "../nav.toml:tick"\n')
    monkeypatch.chdir("/")
    layout = load_icd([str(folder / "sub" / "bind.toml")]).layout_for("O")
    assert layout is not None
    assert layout.name == "tick"
    (folder / "sub" / "bind.toml").write_text('icd = 1\n[[bind]]\nobject = "O"\nlayout = "nav.toml:tick"\n')
    with pytest.raises(InputError, match=r"bind.toml:2: bind.layout: cannot read"):
        load_icd([str(folder / "sub" / "bind.toml")])


def test_show(folder: Path) -> None:
    done = vxmon(folder, "show", "nav.toml", "--message", "position")
    assert done.stdout.decode().splitlines() == [
        "position (8 bytes, carried by NAV_POS*)",
        "field  type    byte  bit  bits  order  scaling  unit  range    meaning",
        "lat    signed     0    0    32  big    x 0.001  deg   -90..90",
        "fix    enum       4    0     8                                 0=NONE, 3=3D",
    ]


def test_show_as_json_and_csv(folder: Path) -> None:
    document = json.loads(vxmon(folder, "show", "nav.toml", "--format", "json").stdout)
    assert [(m["name"], m["size"], len(m["fields"])) for m in document["messages"]] == [
        ("position", 8, 3),
        ("tick", 4, 1),
    ]
    assert document["messages"][0]["fields"][0]["scale"] == 0.001
    rows = list(csv.DictReader(io.StringIO(vxmon(folder, "show", "nav.toml", "--format", "csv").stdout.decode())))
    assert [(r["message"], r["name"], r["byte"], r["values"]) for r in rows][1] == (
        "position",
        "fix",
        "4",
        "0=NONE;3=3D",
    )
    (folder / "again.csv").write_bytes(vxmon(folder, "show", "nav.toml", "--format", "csv").stdout)
    again = vxmon(folder, "decode", "again.csv", "--message", "position", "0000afc803aabbcc")
    assert again.stdout == b"position lat:45.000deg fix:3D\n"


def test_decode(folder: Path) -> None:
    done = vxmon(
        folder, "decode", "nav.toml", "--object", "NAV_POS_OUT", "00 00 af c8 03 aa bb cc", "0x000186a001000000", "00"
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.decode().splitlines() == [
        "position lat:45.000deg fix:3D",
        "position lat:100.000deg!above_range fix:1!not_in_enumeration",
        "position shorter:1 raw:00",
    ]


def test_decode_lines_of_standard_input(folder: Path) -> None:
    done = vxmon(folder, "decode", "nav.toml", "--message", "tick", stdin=b"00000001\n\n00:00:00:02\n")
    assert done.stdout == b"tick n:1\ntick n:2\n"
    assert vxmon(folder, "decode", "nav.toml", "--message", "tick").stdout == b""


def test_decode_as_csv(folder: Path) -> None:
    done = vxmon(folder, "decode", "nav.toml", "--message", "position", "--format", "csv", "000186a003000000", "00")
    rows = list(csv.reader(io.StringIO(done.stdout.decode())))
    assert rows == [
        ["size", "fit", "lat (deg)", "lat status", "fix", "fix status"],
        ["8", "right", "100.000", "above range", "3D", "valid"],
        ["1", "shorter", "", "wrong size", "", "wrong size"],
    ]


def test_decode_as_json(folder: Path) -> None:
    done = vxmon(folder, "decode", "nav.toml", "--message", "position", "--format", "json", "000186a003000000", "00")
    first, second = json.loads(done.stdout)["messages"]
    assert first["fields"]["lat"] == {
        "value": 100.0, "status": "out_of_range", "raw": 100000, "unit": "deg", "reason": "above range",
    }  # fmt: skip
    assert first["fields"]["fix"] == {"value": 3, "status": "valid", "raw": 3, "name": "3D"}
    assert second == {"size": 1, "recorded": 1, "fit": "shorter", "raw": "00", "fields": {}}


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["check", "absent.toml"], b"vxmon: cannot read absent.toml"),
        (["check", "nav.toml", "--module", "nav.toml"], b"vxmon: nav.toml"),
        (["show", "nav.toml", "--message", "x"], b"there is no message 'x'; known are position, tick"),
        (["decode", "nav.toml", "00"], b"which message is it? give --message or --object; known are position, tick"),
        (["decode", "nav.toml", "--object", "Q", "00"], b"the ICD does not say what 'Q' carries"),
        (["decode", "nav.toml", "--message", "tick", "0"], b"message 1: '0' is not pairs of hexadecimal digits"),
        (["decode", "nav.toml", "--message", "tick", "zz"], b"'zz' is not pairs of hexadecimal digits"),
        (["decode", "nav.toml", "--message", "tick", "--object", "a", "00"], b"give one of them"),
        (["show", "module.xml:x"], b"no ELF file"),
        (["show", ""], b"is no source of layouts"),
        (["show", "a" * 5000], b"is no source of layouts"),
        (["show", "a" * 300 + ".toml"], b"cannot read"),
        (["show", "--types", "nav.toml"], b"no ELF file"),
        (["show", "P=nav.toml"], b"bind it in the file"),
    ],
)
def test_bad_input_is_one_line_and_status_2(folder: Path, arguments: list[str], words: bytes) -> None:
    done = vxmon(folder, *arguments)
    assert (done.returncode, done.stdout) == (2, b"")
    assert words in done.stderr
    assert b"Traceback" not in done.stderr
