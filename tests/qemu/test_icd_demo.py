# SPDX-License-Identifier: Apache-2.0
"""The demo's ICD: it fits the module, and says of FLIGHT's commands what the application's own types say."""

from __future__ import annotations

import struct

import numpy as np
import pytest

from tests.support.tree import ROOT
from vxmon.analysis.icd import check_icd
from vxmon.config.module import load_module
from vxmon.icd.layout import Layout
from vxmon.icd.loading import load_icd

PARTITIONS = ROOT / "target_c" / "partitions"
FLIGHT = ROOT / "build" / "ppce500" / "flight.elf"


def layout(name: str, partition: str) -> Layout:
    found = load_icd([str(PARTITIONS / "icd.toml")]).layout_for(name, partition)
    assert found is not None
    return found


def test_the_icd_fits_the_module() -> None:
    check = check_icd(load_icd([str(PARTITIONS / "icd.toml")]), load_module(PARTITIONS / "module.xml"))
    assert [str(p) for p in check.problems] == []
    assert check.ports == 9


@pytest.mark.parametrize(
    ("name", "partition", "size"),
    [
        ("nav_position", "NAV", 32),
        ("io_surfaces", "IO", 24),
        ("mnt_reports", "MAINT", 16),
        ("dsp_health", "DISPLAY", 8),
    ],
)
def test_patterns(name: str, partition: str, size: int) -> None:
    # As fill_message() in target_c/partitions/lib/application.c writes them.
    counters = [1, 258, 2**32 - 1]
    payloads = [c.to_bytes(4, "big") + bytes((c + i) & 0xFF for i in range(4, size)) for c in counters]
    decoded = layout(name, partition).decode(np.frombuffer(b"".join(payloads), np.uint8).reshape(3, size))
    assert decoded["counter"].values.tolist() == counters
    assert [bytes(row) for row in decoded["pattern"].values] == [p[4:] for p in payloads]


def test_commands_by_icd_and_by_the_types_of_the_application() -> None:
    if not FLIGHT.exists():
        pytest.skip("the demo is not built; run make build")
    numbers = range(1, 3000)
    # As flight_control() in target_c/partitions/flight/main.c computes them; C divides towards 0.
    elevators = [n * 37 % 2001 - 1000 for n in numbers]
    ailerons = [int(-e / 2) for e in elevators]
    rows = [struct.pack(">Iiii", n, e, a, 0) for n, e, a in zip(numbers, elevators, ailerons, strict=True)]
    payloads = np.frombuffer(b"".join(rows), np.uint8).reshape(-1, 16)
    by_icd = layout("flight_commands", "FLIGHT").decode(payloads)
    types = load_icd([f"flight_commands={FLIGHT}:struct command"]).layout_for("flight_commands")
    assert types is not None
    by_type = types.decode(payloads)
    assert list(by_icd.columns) == list(by_type.columns) == ["number", "elevator", "aileron", "rudder"]
    for name, wanted in {"number": list(numbers), "elevator": elevators, "aileron": ailerons}.items():
        assert by_icd[name].values.tolist() == wanted
        assert by_type[name].values.tolist() == wanted
        assert not by_icd[name].reason.any()
