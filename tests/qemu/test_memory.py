# SPDX-License-Identifier: Apache-2.0
"""Heaps, stacks and operation counts: the records against the allocator's books and arithmetic from the applications.

From partitions/*/main.c: nav_filter allocates 64 bytes in each frame of 20 ms and frees them, but in scenario leak;
io_status opens a file (512 bytes of the kernel's) each 100 ms and closes both of each two.
"""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from tests.support.qemu import BARE, run
from tests.support.recorded import Recording, record

MEM_SAMPLE, MEM_SWITCH, STACK_SWITCH, STACK_SAMPLE, OP_COUNT, TASK_SWITCH = 160, 161, 162, 163, 164, 64
HEAP = 0x20000
LEAK = 64
NAV, IO = 1, 4
TASK_CREATE, TASK_DELETE, IO_OPEN, IO_CLOSE, ALLOCATE, FREE, OBJECT_CREATE = range(7)
FRAMES = 50


@pytest.fixture(scope="module")
def leak(tmp_path_factory: pytest.TempPathFactory) -> Recording:
    return record(
        tmp_path_factory.mktemp("leak"), "leak", "scenario=leak", FRAMES, config="memory:100,stack:100,operations:100"
    )


def book(recording: Recording, partition: str) -> dict[str, int]:
    entry = next(e for e in recording.done.books("heap") if e["partition"] == partition)
    return {key: int(value) for key, value in entry.items() if key != "partition"}


def test_the_leak_is_what_the_code_leaks_to_the_byte(leak: Recording) -> None:
    assert book(leak, "NAV")["allocated"] == FRAMES * LEAK
    assert book(leak, "NAV")["blocks"] == FRAMES
    allocated = [data[1] for _, partition, data, _ in leak.of(MEM_SWITCH) if partition == NAV]
    # NAV has two windows a frame and the filter runs in the first: it leaves with 64 bytes more every second time.
    assert len(allocated) == 2 * FRAMES
    assert allocated[1::2] == [LEAK * (frame + 1) for frame in range(FRAMES)]


def test_a_heap_that_is_used_up_gives_no_more() -> None:
    """0x20000 bytes are leaked in 2048 frames; the kernel refuses the rest, the application goes on."""
    done = run("leak-all", f"scenario=leak run={HEAP // LEAK + 20}f", kernel=BARE, timeout=300)
    heap = next(e for e in done.books("heap") if e["partition"] == "NAV")
    assert (heap["free"], heap["largest"], heap["allocated"], heap["failures"]) == ("0", "0", str(HEAP), "20")
    assert done.tasks()["nav_filter"]["completions"] == str(HEAP // LEAK + 20)


def test_samples_equal_the_allocators_books(leak: Recording) -> None:
    books = {int(p["index"]): book(leak, p["name"]) for p in leak.done.books("partition")}
    last = {partition: data for _, partition, data, _ in leak.of(MEM_SAMPLE)}
    assert set(last) == set(books)
    for partition, data in last.items():
        free, allocated, blocks, largest, high_water = data[:5]
        assert free + allocated == HEAP
        assert largest <= free
        if partition not in (NAV, 0):  # whose heaps change after the last sample
            expected = books[partition]
            assert (allocated, blocks, largest, high_water) == tuple(
                expected[key] for key in ("allocated", "blocks", "largest", "high_water")
            )
    nav = [data[1] for _, partition, data, _ in leak.of(MEM_SAMPLE) if partition == NAV]
    assert len(nav) >= 8
    assert all(value % LEAK == 0 for value in nav)
    # Each 100 ms: five frames.
    assert all(b - a == 5 * LEAK for a, b in pairwise(nav))


def test_stacks_by_pointer_and_by_pattern(leak: Recording) -> None:
    tasks = {int(t["index"]): t for t in leak.done.books("task")}
    used: dict[int, int] = {}
    for _, task, data, _ in leak.of(STACK_SWITCH):
        used[task] = max(used.get(task, 0), data[0])
    assert len(leak.of(STACK_SWITCH)) == pytest.approx(len(leak.of(TASK_SWITCH)), abs=60)  # less those from nobody
    for task, most in used.items():
        assert most <= int(tasks[task]["stack_size"])
    for _, task, data, _ in leak.of(STACK_SAMPLE):
        assert data[1] == int(tasks[task]["stack_size"])
        assert data[0] <= int(tasks[task]["stack_high_water"])
    # What the kernel's own last look at the pattern says is what the last samples said, for tasks that did the same.
    final = {task: data[0] for _, task, data, _ in leak.of(STACK_SAMPLE)}
    assert final
    assert {t: final[t] for t in final if tasks[t]["partition"] == "FLIGHT"} == {
        t: int(tasks[t]["stack_high_water"]) for t in final if tasks[t]["partition"] == "FLIGHT"
    }


def test_operation_counts_equal_the_calls_made(tmp_path: Path) -> None:
    done = record(tmp_path, "operations", "scenario=nominal", FRAMES).done
    counts = {(e["partition"], int(e["operation"])): (int(e["count"]), int(e["total"]), int(e["size_class"]))
              for e in done.books("operation")}  # fmt: skip
    # 64 bytes are class 6; each is freed again.
    assert counts["NAV", ALLOCATE] == counts["NAV", FREE] == (FRAMES, FRAMES * 64, 6)
    rounds = int(done.tasks()["io_status"]["releases"])
    assert counts["IO", IO_OPEN] == (rounds, rounds * 512, 0)
    assert counts["IO", IO_CLOSE] == (rounds // 2 * 2, rounds // 2 * 2 * 512, 0)
    # main, three processes, the idle process, and in NAV and IO an error handler; main ends.
    created = {name: counts[name, TASK_CREATE][0] for name in ("NAV", "DISPLAY", "FLIGHT", "IO", "MAINT")}
    assert created == {"NAV": 6, "DISPLAY": 5, "FLIGHT": 5, "IO": 6, "MAINT": 5}
    assert all(counts[name, TASK_DELETE][0] == 1 for name in created)
    # DISPLAY: an event, a queue and two ports.
    assert counts["DISPLAY", OBJECT_CREATE][0] == 4


def test_operation_records_are_the_books(leak: Recording) -> None:
    names = {int(p["index"]): p["name"] for p in leak.done.books("partition")}
    last = {(names[p], data[0] >> 16, data[0] & 0xFFFF): data[1] for _, p, data, _ in leak.of(OP_COUNT)}
    books = {(e["partition"], int(e["operation"]), int(e["size_class"])): int(e["count"])
             for e in leak.done.books("operation")}  # fmt: skip
    assert set(last) <= set(books)
    # What happens only while partitions begin is over long before the last sample.
    for key in (key for key in books if key[1] in (TASK_CREATE, TASK_DELETE, OBJECT_CREATE)):
        assert last[key] == books[key], key
    assert last["NAV", ALLOCATE, 6] % 5 == 0
