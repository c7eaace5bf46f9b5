# SPDX-License-Identifier: Apache-2.0
"""The examples in vxmon/icd/README.md are read as they stand there."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import numpy as np

from tests.support.tree import ROOT
from vxmon.icd.checks import check_message
from vxmon.icd.csvicd import read_csv_icd
from vxmon.icd.decoded import Reason
from vxmon.icd.layout import Layout
from vxmon.icd.model import FieldType
from vxmon.icd.tomlicd import read_toml_icd
from vxmon.report.icd_values import message_lines

README = (ROOT / "vxmon" / "icd" / "README.md").read_text(encoding="utf-8")


def example(kind: str, folder: Path) -> str:
    (text,) = re.findall(rf"a test\. -->\n```{kind}\n(.*?)```", README, re.DOTALL)
    path = folder / f"example.{kind}"
    path.write_text(text)
    return str(path)


def test_toml(tmp_path: Path) -> None:
    document = read_toml_icd(example("toml", tmp_path))
    (message,) = document.messages
    assert check_message(message) == []
    assert [(b.pattern, b.port, b.partition) for b in document.bindings] == [
        ("NAV_STATE_*", True, None), ("TRACK", False, "FLIGHT"),
    ]  # fmt: skip
    # Label 203 is 11000001 from bit 1 on; 35000 ft at a resolution of 1 ft; one more bit for odd parity where needed.
    altitude = 3 << 29 | 35000 << 11 | 0b11000001
    gear = 0b00011101 | (1 | 5 << 1) << 10  # label 270: 10 111 000 from bit 1 on; down, flaps 5; SSM 00
    words = [word | (1 - word.bit_count() % 2) << 31 for word in (altitude, gear)]
    payload = struct.pack(">IBxhffII4s", 7, 2 << 4 | 1 << 3, 155, 1.5, -2.0, *words, b"LFBO")
    decoded = Layout(message).decode(np.frombuffer(payload, np.uint8).reshape(1, -1))
    assert message_lines(decoded) == (
        b" counter:7 mode:NAV fix:true temperature:35.5degC speed[0]:1.5 speed[1]:-2.0 altitude:35000ft"
        b' gear.down:DOWN gear.flaps:5 station:"LFBO"\n'
    )


def test_csv(tmp_path: Path) -> None:
    (message,) = read_csv_icd(example("csv", tmp_path))
    assert [p.kind for p in check_message(message)] == ["gap"]
    payload = struct.pack(">hBxf", -16384, 0b01_000101, 12.5)
    decoded = Layout(message).decode(np.frombuffer(payload, np.uint8).reshape(1, -1))
    assert [decoded[name].values[0] for name in ("angle", "mode", "quality", "range")] == [-90.0, 1, 5, 12.5]


def test_every_type_and_reason_is_in_the_text() -> None:
    for kind in FieldType:
        assert f"`{kind}`" in README
    words = {"none", "cut", "size"}
    for reason in Reason:
        text = reason.name.lower().replace("_", " ")
        known = {"below": "below range", "above": "above range", "not named": "not in enumeration"}
        known |= {"condition": "condition not met", "not digits": "not decimal digits", "failure": "failure warning"}
        known |= {"parity": "parity error", "label": "other label"}
        assert text in words or known.get(text, text) in README
