# SPDX-License-Identifier: Apache-2.0
"""``vxmon memmap --observed`` on the demo: what each partition needs, uses and has, in scenario nominal and leak."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import vxmon
from tests.support.recorded import Recording, record
from tests.support.schemas import valid
from tests.support.tree import ROOT

FRAMES = 60
HEAP = 0x20000
MODULE = ROOT / "target_c/partitions/module.xml"
IMAGES = sorted(map(str, (ROOT / "build/ppce500").glob("*.elf")))


def mapped(folder: Path, scenario: str) -> tuple[Recording, int, dict[str, Any]]:
    """What the kernel printed, the exit status, and the JSON."""
    name = f"memmap-{scenario}"
    recording = record(folder, name, f"scenario={scenario}", FRAMES, config="memory:100,stack:100,operations:100")
    session = str(folder / f"{name}.pcap")
    done = vxmon("memmap", *IMAGES, "--module", str(MODULE), "--observed", session, "--format", "json")
    assert done.err == ""
    return recording, done.status, valid("memmap-1", done.out)


@pytest.fixture(scope="module")
def leak(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, int, dict[str, Any]]:
    return mapped(tmp_path_factory.mktemp("leak"), "leak")


def verdicts(document: dict[str, Any]) -> dict[str, str]:
    return {p["partition"]: p["verdict"] for p in document["module"]["partitions"]}


def test_the_leak_changes_the_verdict(leak: tuple[Recording, int, dict[str, Any]], tmp_path: Path) -> None:
    _, status, document = leak
    assert (status, document["module"]["passed"]) == (1, False)
    assert verdicts(document) == {"NAV": "leak?", "DISPLAY": "fits", "FLIGHT": "fits", "IO": "fits", "MAINT": "fits"}
    _, status, document = mapped(tmp_path, "nominal")
    assert (status, document["module"]["passed"]) == (0, True)
    assert set(verdicts(document).values()) == {"fits"}


def test_needs_and_uses_are_those_of_image_and_books(leak: tuple[Recording, int, dict[str, Any]]) -> None:
    """The heap's size and peak, and the sizes of stacks, are what the kernel prints."""
    recording, _, document = leak
    heaps = {entry["partition"]: entry for entry in recording.done.books("heap")}
    tasks = recording.done.books("task")
    for partition in document["module"]["partitions"]:
        name, seen = partition["partition"], partition["observed"]
        stacks = sum(int(task["stack_size"]) for task in tasks if task["partition"] == name)
        assert seen["heap_size_bytes"]["value"] == HEAP
        assert seen["heap_peak_bytes"]["value"] == int(heaps[name]["high_water"])
        assert seen["stack_size_bytes"]["value"] == stacks
        assert partition["needs"] == partition["static"] + HEAP + stacks
        assert partition["required"] - partition["needs"] == partition["margin"]
        used = partition["static"] + seen["heap_peak_bytes"]["value"] + seen["stack_peak_bytes"]["value"]
        assert partition["uses"]["value"] == used


def test_the_json_has_the_keys_that_are_promised(leak: tuple[Recording, int, dict[str, Any]]) -> None:
    _, _, document = leak
    assert len(document["images"]) == len(IMAGES) == 6
    for image in document["images"]:
        assert {"path", "class", "byte_order", "machine", "segments", "sections", "totals"} <= image.keys()
        assert {"ram", "load"} <= image["totals"].keys()
        for section in image["sections"]:
            assert {"name", "address", "load_address", "size", "file_size", "kind"} <= section.keys()
    assert isinstance(document["problems"], list)
