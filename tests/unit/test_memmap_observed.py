# SPDX-License-Identifier: Apache-2.0
"""``vxmon memmap --observed``: sizes of an image beside what a session says of heap and stacks. Figures by hand.

The image takes 112 bytes. In the session A's heap has 10,000 bytes, of which it uses up to 2,496, leaking 64 a frame;
its task WORK has a stack of 1,024 and used 256. So A needs 112 + 10,000 + 1,024 = 11,136 and used 2,864.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path
from typing import Any

import pytest

from tests.support.commands import Done, vxmon
from tests.support.elfwriter import NOBITS, A, Elf, Sec, Seg, W, X
from tests.support.handmade import WORK
from tests.support.memories import HEAP, MemorySession, sampled, switched
from tests.support.schemas import valid
from vxmon.analysis.memmap.images import MapRequest, map_images
from vxmon.config.module import load_module
from vxmon.report.memmap_json import memmap_json
from vxmon_cli.observing import observe

MODULE = """<Module Name="m" Id="1"><Partitions><Partition Name="A" Id="1"><PartitionDescription>
<Settings RequiredMemorySize="{}"/></PartitionDescription></Partition></Partitions>
<Schedules><Schedule Id="0"><PartitionWindow PartitionNameRef="A" Duration="1"/></Schedule></Schedules></Module>"""
NEEDS, USES = 112 + 10_000 + 1024, 112 + 2496 + 256


def image(folder: Path, heap: int = 0) -> Path:
    """64 bytes of code, 16 of data, 32 of zero data, and a heap."""
    elf = Elf(
        segments=[Seg(0x1000, 64, 64), Seg(0x2000, 48 + heap, 16, flags=6)],
        sections=[
            Sec(".text", flags=A | X, address=0x1000, size=64, offset=0),
            Sec(".data", flags=A | W, address=0x2000, size=16, offset=0),
            Sec(".bss", NOBITS, A | W, 0x2010, 32),
            *([Sec(".heap", NOBITS, A | W, 0x2030, heap)] if heap else []),
        ],
    )
    path = folder / "a.elf"
    path.write_bytes(elf.encode())
    return path


def session(folder: Path, each: int = 64, deepest: int = 256, most: int = HEAP, drop_last: bool = False) -> str:
    made = MemorySession()
    for number in range(40):
        used = min(each * number, most)
        stack = (840, "STACK_SAMPLE", WORK, {"high_water": deepest, "size": 1024})
        sample = [sampled(used, number * (each > 0), HEAP - used, used), stack] if number in (0, 39) else []
        made.frame(switched(used), *sample)
    rec = made.end()
    return rec.write(folder / "s.pcapng", (len(rec.blocks()) - 1,) if drop_last else ())


def memmap(folder: Path, observed: str, *options: str, required: int | None = NEEDS, heap: int = 0) -> Done:
    module = folder / "module.xml"
    module.write_text(MODULE.format(required), encoding="utf-8")
    given = () if required is None else ("--module", str(module))
    return vxmon("memmap", str(image(folder, heap)), "--observed", observed, *given, *options)


def partition(folder: Path, observed: str, required: int | None = NEEDS, heap: int = 0) -> dict[str, Any]:
    """What the JSON says of A, made in this process."""
    module = folder / "module.xml"
    module.write_text(MODULE.format(required), encoding="utf-8")
    seen, facts = observe(observed)
    request = MapRequest(module=None if required is None else load_module(module), observed=seen)
    result = map_images([image(folder, heap)], request)
    value = valid("memmap-1", json.dumps(memmap_json(result, facts)))
    found: dict[str, Any] = next(p for p in value["module"]["partitions"] if p["partition"] == "A")
    assert result.failed is (found["verdict"] not in ("fits", "no limit"))
    return found


def test_what_a_partition_needs_uses_and_has(tmp_path: Path) -> None:
    found = partition(tmp_path, session(tmp_path, each=0))
    assert (found["static"], found["needs"], found["required"], found["margin"]) == (112, NEEDS, NEEDS, 0)
    assert (found["uses"]["value"], found["verdict"]) == (112 + 256, "fits")
    seen = found["observed"]
    assert (seen["heap_size_bytes"]["value"], seen["heap_peak_bytes"]["value"]) == (10_000, 0)
    assert (seen["stack_size_bytes"]["value"], seen["stack_peak_bytes"]["value"]) == (1024, 256)
    (stack,) = seen["stacks"]
    assert (stack["task"], stack["high_water_bytes"]["value"], stack["full"]) == ("WORK", 256, False)


def test_one_byte_less_is_too_little(tmp_path: Path) -> None:
    found = partition(tmp_path, session(tmp_path, each=0), required=NEEDS - 1)
    assert (found["margin"], found["verdict"]) == (-1, "exceeds")


def test_a_leak_changes_the_verdict(tmp_path: Path) -> None:
    found = partition(tmp_path, session(tmp_path))
    assert (found["verdict"], found["uses"]["value"]) == ("leak?", USES)
    assert found["observed"]["growth_bytes_per_1000_frames"]["value"] == 64_000
    done = memmap(tmp_path, session(tmp_path))
    assert done.status == 1
    out = done.out.decode()
    row = next(line.split() for line in out.splitlines() if line.startswith("A  "))
    assert row[2:] == [
        "112", "10,000", "2,496", "1,024", "256", f"{NEEDS:,}", f"{USES:,}", f"{NEEDS:,}", "0", "leak?",
    ]  # fmt: skip
    assert "leak? A: the heap grows by 64.000 B a frame" in out


def test_a_heap_and_a_stack_with_nothing_left(tmp_path: Path) -> None:
    assert partition(tmp_path, session(tmp_path, each=1000))["verdict"] == "heap full"
    assert "heap full: A had all of its 10,000 B in use" in memmap(tmp_path, session(tmp_path, 1000)).out.decode()
    assert partition(tmp_path, session(tmp_path, each=0, deepest=1024))["verdict"] == "stack full"
    assert "stack full: A: WORK" in memmap(tmp_path, session(tmp_path, 0, 1024)).out.decode()


def test_a_heap_in_the_image_is_not_counted_twice(tmp_path: Path) -> None:
    """The image's heap of 4,000 bytes is the one that ran: what ran was larger, so that counts."""
    found = partition(tmp_path, session(tmp_path, each=0), heap=4000)
    assert (found["needed"], found["static"], found["needs"]) == (4112, 112, NEEDS)


def test_without_a_module_there_is_no_limit(tmp_path: Path) -> None:
    found = partition(tmp_path, session(tmp_path, each=0), required=None)
    assert (found["verdict"], found["required"], found["needs"]) == ("no limit", None, NEEDS)


def test_a_partition_that_the_session_does_not_have(tmp_path: Path) -> None:
    made = MemorySession().uses([0] * 3, partition=2)
    made.rec.partitions = ()
    observed = made.end().write(tmp_path / "s.pcapng")
    done = memmap(tmp_path, observed, "--format", "json")
    (found,) = json.loads(done.out)["module"]["partitions"]
    assert (done.status, found["observed"], found["verdict"], found["needs"]) == (0, None, "fits", 112)
    notes = json.loads(done.out)["module"]["notes"]
    assert f"A is not in {observed}" in notes
    assert f"partition 2 is only in {observed}" in notes


def test_what_was_not_recorded_is_no_zero(tmp_path: Path) -> None:
    """Without samples the peak is at least what was seen at switches; no stack is known."""
    observed = MemorySession().uses([100] * 40).end().write(tmp_path / "s.pcapng")
    found = partition(tmp_path, observed)
    assert (found["uses"]["lo"], found["uses"]["hi"]) == (212, None)
    assert found["observed"]["stack_peak_bytes"]["status"] == "not_recorded"


def test_an_incomplete_session_is_told(tmp_path: Path) -> None:
    observed = session(tmp_path, each=0, drop_last=True)
    done = memmap(tmp_path, observed, "--format", "json")
    assert (done.status, done.err.startswith(f"vxmon: {observed}: INCOMPLETE")) == (0, True)
    assert json.loads(done.out)["observed"]["loss"]["incomplete"] is True
    assert memmap(tmp_path, observed, "--strict").status == 1


def test_csv(tmp_path: Path) -> None:
    done = memmap(tmp_path, session(tmp_path), "--format", "csv")
    (row,) = csv.DictReader(io.StringIO(done.out.decode()))
    assert (row["heap_peak"], row["stack_peak"], row["uses"], row["needs"], row["verdict"]) == (
        "2496", "256", str(USES), str(NEEDS), "leak?",
    )  # fmt: skip


@pytest.mark.parametrize("text", [b"", b"no session at all, only text"])
def test_what_is_no_session_is_refused(text: bytes, tmp_path: Path) -> None:
    path = tmp_path / "x"
    path.write_bytes(text)
    done = memmap(tmp_path, str(path))
    assert (done.status, done.out, done.err.count("\n")) == (2, b"", 1)
