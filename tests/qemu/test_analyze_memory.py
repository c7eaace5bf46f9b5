# SPDX-License-Identifier: Apache-2.0
"""``analyze memory`` of repeatable runs against the allocator's own books and arithmetic from the applications.

nav_filter allocates LEAK_BYTES (target_c/partitions/nav/main.c) in each frame of 20 ms and frees them, but in scenario
leak; io_status opens a file (512 bytes of the kernel's heap) each 100 ms and closes both of each two.
"""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.handmade import certain
from tests.support.recorded import Recording, record
from tests.support.tree import ROOT
from vxmon.analysis.memory.analyze import MemoryRequest, analyze_memory
from vxmon.analysis.memory.result import BootMemory, HeapMemory, heap_name
from vxmon.config.accounting import ACCOUNTING_TEMPLATE, read_accounting
from vxmon.trace import StoredTrace, open_trace

FRAMES = 60
FRAMES_A_SECOND = 50
HEAP = 0x20000


def analyzed(folder: Path, scenario: str) -> tuple[Recording, BootMemory]:
    config = "memory:100,stack:100,operations:100"
    recording = record(folder, f"memory-{scenario}", f"scenario={scenario}", FRAMES, config=config)
    rules = folder / "rules.toml"
    rules.write_text(ACCOUNTING_TEMPLATE, encoding="utf-8")
    with open_trace([str(folder / f"memory-{scenario}.pcap")]) as trace:
        assert isinstance(trace, StoredTrace)
        assert not trace.facts.incomplete
        return recording, analyze_memory(trace, MemoryRequest(rules=read_accounting(str(rules)))).boots[0]


@pytest.fixture(scope="module")
def leak(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, BootMemory]:
    return analyzed(tmp_path_factory.mktemp("leak"), "leak")


@pytest.fixture(scope="module")
def nominal(tmp_path_factory: pytest.TempPathFactory) -> tuple[Recording, BootMemory]:
    return analyzed(tmp_path_factory.mktemp("nominal"), "nominal")


def heap(boot: BootMemory, name: str) -> HeapMemory:
    return next(h for h in boot.heaps if heap_name(boot, h.index) == name)


def book(recording: Recording, partition: str) -> dict[str, int]:
    entry = next(e for e in recording.done.books("heap") if e["partition"] == partition)
    return {key: int(value) for key, value in entry.items() if key != "partition"}


def leaked_bytes() -> int:
    source = (ROOT / "target_c/partitions/nav/main.c").read_text(encoding="utf-8")
    found = re.search(r"#define LEAK_BYTES (\d+)u", source)
    assert found
    return int(found[1])


def test_the_leak_is_found_to_the_byte_a_frame(leak: tuple[Recording, BootMemory]) -> None:
    recording, boot = leak
    nav = heap(boot, "NAV")
    # What the code leaks, and what the allocator's own book says was leaked in all the frames.
    assert book(recording, "NAV")["allocated"] == FRAMES * leaked_bytes()
    assert certain(nav.growth.per_1000_frames) == 1000 * leaked_bytes()
    assert certain(nav.growth.per_second) == FRAMES_A_SECOND * leaked_bytes()
    assert (nav.growth.verdict, {e.holds for e in nav.growth.evidence}) == ("leak?", {True})
    assert certain(nav.last) == book(recording, "NAV")["allocated"]
    others = {heap_name(boot, h.index): h.growth.verdict for h in boot.heaps if h.index != nav.index}
    assert set(others.values()) == {"no growth"}, others


def test_nominal_shows_no_growth(nominal: tuple[Recording, BootMemory]) -> None:
    _, boot = nominal
    assert len(boot.heaps) == 6
    for own in boot.heaps:
        assert certain(own.growth.per_1000_frames) == 0, own
        assert own.growth.verdict == "no growth"


@pytest.mark.parametrize("scenario", ["leak", "nominal"])
def test_figures_equal_the_allocators_books(scenario: str, request: pytest.FixtureRequest) -> None:
    recording, boot = request.getfixturevalue(scenario)
    for own in boot.heaps:
        if own.index == 0:
            continue  # files of the kernel's are opened and closed after the last record
        said = book(recording, boot.partition_names[own.index])
        assert (certain(own.last), certain(own.size)) == (said["allocated"], HEAP)
        assert certain(own.high_water) == said["high_water"]
        assert certain(own.free_min) == HEAP - max(said["allocated"], certain(own.used_max))


def test_stacks_equal_the_kernels_own_look_at_the_pattern(nominal: tuple[Recording, BootMemory]) -> None:
    """The kernel looks when all is over, the last sample is taken up to 100 ms before."""
    recording, boot = nominal
    books = {(e["partition"], e["name"]): e for e in recording.done.books("task")}
    compared = 0
    for stack in boot.stacks:
        said = books.get((boot.partition_names[stack.partition or 0], stack.task))
        if said is None or not stack.high_water.n:
            continue
        assert certain(stack.size) == int(said["stack_size"])
        assert certain(stack.high_water) <= int(said["stack_high_water"])
        compared += certain(stack.high_water) == int(said["stack_high_water"])
    assert compared > 20


def test_rules_give_what_the_allocator_says(leak: tuple[Recording, BootMemory]) -> None:
    """The example's rules are those of the demo kernel; sizes of objects are known by their sum alone."""
    _, boot = leak
    nav, kernel = heap(boot, "NAV").estimate, heap(boot, "kernel").estimate
    assert nav is not None
    assert kernel is not None
    assert certain(nav.difference) == 0
    assert kernel.difference.lo is not None
    assert kernel.difference.hi is not None
    assert kernel.difference.lo <= 0 <= kernel.difference.hi


def test_allocations_are_those_of_the_code(leak: tuple[Recording, BootMemory]) -> None:
    _, boot = leak
    (allocated,) = [e for e in boot.operations if e.operation == "allocate"]
    assert (boot.partition_names[allocated.partition], allocated.size_class) == ("NAV", 6)
    assert certain(allocated.total) == leaked_bytes() * certain(allocated.count)
    # Samples are 100 ms apart, five frames.
    assert certain(allocated.grown) % 5 == 0
    assert certain(allocated.grown) > 0
