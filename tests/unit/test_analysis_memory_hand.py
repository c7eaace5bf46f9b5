# SPDX-License-Identifier: Apache-2.0
"""Sessions about memory that are small enough to calculate by hand; the arithmetic stands beside each.

One tick is 1 us, a frame is 1000, so a byte a frame is 1000 bytes a second.
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.handmade import COLD_START, LOW, NORMAL, WORK, A, both, certain, complete
from tests.support.memories import (
    ALLOCATE,
    FREE,
    HEAP,
    MemorySession,
    analyzed_memory,
    counted,
    heap_of,
    random_memory,
    sampled,
    switched,
)
from vxmon.analysis.figures import NOT_RECORDED, Figure
from vxmon.analysis.memory.analyze import MemoryRequest
from vxmon.analysis.memory.named import named_figures
from vxmon.analysis.memory.result import BootMemory, HeapMemory, MemoryResult, StackMemory
from vxmon.trace.span import Span
from vxmon.wire.types import TaskEntry


def leaking(frames: int = 40, each: int = 64, blocks: bool = True) -> MemorySession:
    """Frame i ends with ``each`` * i bytes in use; samples in the first and the last frame."""
    session = MemorySession()
    for number in range(frames):
        used = each * number
        sample = [sampled(used, number, HEAP - used, used)] if blocks and number in (0, frames - 1) else []
        session.frame(switched(used), *sample)
    return session


def evidence(heap: HeapMemory) -> dict[str, bool | None]:
    return {e.name: e.holds for e in heap.growth.evidence}


def stack(boot: BootMemory, task: str) -> StackMemory:
    return next(s for s in boot.stacks if s.task == task)


def test_a_leak_is_found_to_the_byte(tmp_path: Path) -> None:
    """40 frames from 0 to 39 * 64 = 2496 bytes; 7504 of 10000 are left: 7504 / 64000 a second is no whole second."""
    heap = heap_of(analyzed_memory(leaking().end(), tmp_path))
    assert certain(heap.growth.per_1000_frames) == 64_000
    assert certain(heap.growth.per_second) == 64_000
    assert (heap.growth.verdict, heap.growth.frames, heap.growth.first, heap.growth.last) == ("leak?", 40, 7, 46)
    assert evidence(heap) == dict.fromkeys(("frames", "interval", "lowest_rises", "highest_rises", "blocks"), True)
    assert heap.growth.full_in_s == 0
    assert [certain(f) for f in (heap.first, heap.last, heap.used_max, heap.free_min)] == [0, 2496, 2496, 7504]
    assert (certain(heap.blocks), certain(heap.blocks_grown)) == (39, 39)
    assert heap.lowest_free is not None
    assert (heap.lowest_free.number, heap.lowest_free.time) == (46, 40_403)
    # Quarters of 10 frames: lowest 0, 640, 1280, 1920.
    assert "0, 640, 1,280, 1,920 B" in next(e.text for e in heap.growth.evidence if e.name == "lowest_rises")


def test_what_comes_and_goes_within_a_frame_is_no_growth(tmp_path: Path) -> None:
    session = MemorySession()
    for number in range(40):
        session.frame(switched(100 + number % 3, 200), switched(0, 403))
    heap = heap_of(analyzed_memory(session.end(), tmp_path))
    assert certain(heap.growth.per_1000_frames) == 0
    assert (heap.growth.verdict, certain(heap.used_max), certain(heap.used_min)) == ("no growth", 102, 0)


@pytest.mark.parametrize("period", [5, 10, 20])
def test_use_that_swings_over_several_frames_is_no_leak(period: int, tmp_path: Path) -> None:
    session = MemorySession().uses(100 * (number % period) for number in range(100))
    heap = heap_of(analyzed_memory(session.end(), tmp_path))
    assert heap.growth.verdict in ("no growth", "growing")
    assert evidence(heap)["lowest_rises"] is False


def test_use_that_grows_while_it_warms_up_is_no_leak(tmp_path: Path) -> None:
    """20 frames of growth, then 80 at rest: of the 4950 pairs 3160 have slope 0."""
    session = MemorySession().uses(64 * min(number, 20) for number in range(100))
    heap = heap_of(analyzed_memory(session.end(), tmp_path))
    assert heap.growth.per_1000_frames.value == 0
    assert heap.growth.verdict == "no growth"
    assert evidence(heap)["lowest_rises"] is False


def test_a_leak_each_fourth_frame(tmp_path: Path) -> None:
    """64 bytes each 4 frames are 16 a frame; the staircase makes a little doubt, which the interval shows."""
    session = MemorySession().uses(64 * (number // 4) for number in range(120))
    growth = heap_of(analyzed_memory(session.end(), tmp_path)).growth
    assert growth.per_1000_frames.value == 16_000
    assert growth.per_1000_frames.lo is not None
    assert 15_700 < growth.per_1000_frames.lo <= 16_000
    # No sample told of blocks: the last piece of evidence is missing.
    assert growth.verdict == "growing"


def test_a_few_frames_are_too_short(tmp_path: Path) -> None:
    assert heap_of(analyzed_memory(leaking(6).end(), tmp_path)).growth.verdict == "too short"
    heap = heap_of(analyzed_memory(leaking(31).end(), tmp_path))
    assert (heap.growth.verdict, heap.growth.per_1000_frames.value) == ("too short", 64_000)


def test_a_restart_ends_a_stretch(tmp_path: Path) -> None:
    """10 frames to 576, a restart, 35 frames anew: one line would fall, the stretch of 35 grows by 64."""
    session = MemorySession().uses(64 * number for number in range(10))
    session.frame((100, "PARTITION_MODE", A, {"mode": COLD_START, "previous": NORMAL}), switched(0))
    session.frame((100, "PARTITION_MODE", A, {"mode": NORMAL, "previous": COLD_START}), switched(0))
    session.uses(64 * number for number in range(1, 35))
    boot = analyzed_memory(session.end(), tmp_path)
    heap = heap_of(boot)
    assert (certain(heap.growth.per_1000_frames), heap.growth.frames, heap.restarts) == (64_000, 35, 1)
    assert "A left NORMAL mode 1 time: growth is of its longest stretch" in boot.notes


def test_what_is_allocated_while_a_partition_starts_is_no_growth(tmp_path: Path) -> None:
    """40 frames of COLD_START in which 64 bytes each are taken, then 35 at rest in NORMAL mode."""
    session = MemorySession().uses(64 * number for number in range(40))
    session.frame((100, "PARTITION_MODE", A, {"mode": NORMAL, "previous": COLD_START}), switched(2560))
    session.uses([2560] * 34)
    heap = heap_of(analyzed_memory(session.end(), tmp_path))
    assert (certain(heap.growth.per_1000_frames), heap.growth.frames, heap.restarts) == (0, 35, 0)
    assert certain(heap.first) == 0


def test_samples_tell_blocks_fragments_and_the_high_water(tmp_path: Path) -> None:
    """Free 8000 of which 2000 in one block: 6000 / 8000 are apart. Then 9000 of which 8999: 111 millionths."""
    session = MemorySession()
    session.frame(switched(2000), sampled(2000, 5, 2000, 2500))
    session.frame(switched(1000), sampled(1000, 3, 8999, 2600))
    heap = heap_of(analyzed_memory(session.end(), tmp_path))
    assert (certain(heap.fragmentation_max), certain(heap.largest_min)) == (750_000, 2000)
    assert (certain(heap.high_water), certain(heap.blocks), certain(heap.blocks_grown)) == (2600, 3, -2)
    assert heap.smallest_block is not None
    assert (heap.smallest_block.number, heap.samples, heap.switches) == (7, 2, 2)


def test_a_full_heap_is_not_fragmented(tmp_path: Path) -> None:
    session = MemorySession()
    session.frame(sampled(HEAP, 5, 0, HEAP))
    heap = heap_of(analyzed_memory(session.end(), tmp_path))
    assert (certain(heap.fragmentation_max), certain(heap.free_min)) == (0, 0)


def test_without_samples_the_peak_is_a_lower_bound(tmp_path: Path) -> None:
    boot = analyzed_memory(MemorySession().uses([100, 300, 200]).end(), tmp_path)
    heap = heap_of(boot)
    assert (both(heap.high_water), heap.largest_min.status) == ((300, None), NOT_RECORDED)
    assert "MEM_SAMPLE was not recorded: no largest blocks, no fragmentation, and peaks are lower bounds" in boot.notes


def test_nothing_recorded_is_not_zero(tmp_path: Path) -> None:
    session = MemorySession()
    session.frame((108, *complete(WORK, 1)))
    boot = analyzed_memory(session.end(), tmp_path)
    heap = heap_of(boot)
    assert heap.growth.verdict == "not recorded"
    assert {f.status for f in (heap.size, heap.last, heap.free_min, heap.high_water, heap.blocks)} == {NOT_RECORDED}
    assert boot.operations == []


def test_stacks_by_pattern_and_by_pointer(tmp_path: Path) -> None:
    """WORK: 300 by the pattern, 320 by its pointer (room that it never wrote), of 1024. LOW: its pointer alone."""
    session = MemorySession()
    work = {"high_water": 200, "size": 1024}
    session.frame((600, "TASK_CREATE", LOW, {"partition": A, "stack_size": 512}), (810, "STACK_SAMPLE", WORK, work))
    session.frame((390, "STACK_SWITCH", WORK, {"used": 320}), (391, "STACK_SWITCH", LOW, {"used": 100}))
    session.frame((390, "STACK_SWITCH", WORK, {"used": 64}), (810, "STACK_SAMPLE", WORK, work | {"high_water": 300}))
    boot = analyzed_memory(session.end(), tmp_path)
    found = stack(boot, "WORK")
    figures = (found.size, found.high_water, found.at_switch, found.margin, found.rises)
    assert [certain(f) for f in figures] == [1024, 300, 320, 704, 100]
    assert found.deepest_time == 2390
    low = stack(boot, "LOW")
    assert (low.margin.value, both(low.margin), low.high_water.status) == (None, (0, 412), NOT_RECORDED)


def test_a_task_that_ended_before_the_recording_has_no_figures(tmp_path: Path) -> None:
    """LOW is deleted and nothing was recorded of it; its stack was needed all the same."""
    rec = MemorySession().uses([0] * 3).end()
    rec.tasks = (TaskEntry(WORK, A, "WORK", stack_size=1024), TaskEntry(LOW, A, "LOW", stack_size=512, deleted=True))
    boot = analyzed_memory(rec, tmp_path)
    assert (stack(boot, "LOW").gone, certain(stack(boot, "LOW").size)) == (True, 512)
    assert stack(boot, "WORK").gone is False
    assert {name for name in figures(boot) if name.startswith("stack.A.LOW")} == set()


def test_operations_are_counted_while_observed_and_over_a_restart(tmp_path: Path) -> None:
    """Allocations 10, 25, then anew 3: 15 + 3 while observed in 2000 us. Sizes of another power of two are apart."""
    session = MemorySession()
    for count in (10, 25, 3):
        session.frame(counted(ALLOCATE, count, 64 * count, 6), counted(ALLOCATE, 1, 8, 3, 821))
    boot = analyzed_memory(session.end(), tmp_path)
    small, large = boot.operations
    assert (small.operation, small.size_class, certain(small.count), certain(small.grown)) == ("allocate", 3, 1, 0)
    assert (certain(large.count), certain(large.total), certain(large.grown)) == (3, 192, 18)
    assert certain(large.per_second) == 9_000_000  # thousandths: 18 in 2 ms


def test_allocated_and_not_freed_stands_for_blocks_where_no_sample_tells(tmp_path: Path) -> None:
    session = MemorySession()
    for number in range(40):
        counts = [counted(ALLOCATE, 2 * number + 1, 64), counted(FREE, number + 1, 64, 0, 821)]
        session.frame(switched(64 * number), *(counts if number in (0, 39) else []))
    heap = heap_of(analyzed_memory(session.end(), tmp_path))
    assert (heap.growth.verdict, heap.blocks_grown.status) == ("leak?", NOT_RECORDED)
    assert next(e.text for e in heap.growth.evidence if e.name == "blocks").startswith("+39 blocks")


def test_the_kernels_heap_is_one_of_its_own(tmp_path: Path) -> None:
    boot = analyzed_memory(MemorySession().uses([500] * 40, partition=0).end(), tmp_path)
    assert certain(heap_of(boot, 0).last) == 500
    assert "memory.kernel.used.max" in {f.name for f in named_figures(MemoryResult([boot]))}


def test_only_a_window_of_time(tmp_path: Path) -> None:
    """From 10.1 ms after the first record at 0.9: frames from 11 ms on, that is from the number 17; up to 20.9."""
    span = MemoryRequest(span=Span(10_100_000, 20_000_000))
    heap = heap_of(analyzed_memory(leaking().end(), tmp_path, request=span))
    assert [certain(f) for f in (heap.first, heap.last)] == [640, 1216]
    assert (heap.growth.first, heap.growth.last, heap.samples) == (17, 26, 0)


def test_without_frames_growth_is_by_time_alone(tmp_path: Path) -> None:
    """No schedule and no MAJOR_FRAME: steps are 10 ms, in which ten frames of 1 ms lie."""
    rec = leaking(200, 8).end().without("MAJOR_FRAME")
    rec.schedules = ()
    boot = analyzed_memory(rec, tmp_path)
    growth = heap_of(boot).growth
    assert (boot.frame_ticks, growth.per_1000_frames.status) == (None, NOT_RECORDED)
    assert growth.per_second.value == 8_000
    assert "neither tables nor MAJOR_FRAME tell frames: growth by time only" in boot.notes


def test_frames_follow_from_the_schedule_where_their_records_are_missing(tmp_path: Path) -> None:
    heap = heap_of(analyzed_memory(leaking().end().without("MAJOR_FRAME"), tmp_path))
    assert certain(heap.growth.per_1000_frames) == 64_000


def test_losses_widen_what_they_may_change_and_no_more(tmp_path: Path) -> None:
    """Blocks hold four records, two frames each. The eleventh block held those of 20 to 22: A may have had anything.

    The last sample lies behind it, so that no more than its high-water of 2496 was ever in use.
    """
    rec = leaking().end()
    heap = heap_of(analyzed_memory(rec, tmp_path, drop=[10]))
    assert (certain(heap.first), certain(heap.last)) == (0, 2496)
    assert (heap.used_max.value, both(heap.used_max)) == (2496, (2496, 2496))
    assert both(heap.free_min) == (7504, 7504)
    assert both(heap.largest_min) == (0, 7504)
    # Slopes of the pairs around the gap are in doubt, the median of all pairs is not.
    assert (heap.growth.per_1000_frames.value, both(heap.growth.per_1000_frames)) == (64_000, (64_000, 64_000))


def test_a_loss_of_half_the_session_leaves_growth_in_doubt(tmp_path: Path) -> None:
    rec = leaking(80).end()
    growth = heap_of(analyzed_memory(rec, tmp_path, drop=range(10, 31))).growth
    assert growth.per_1000_frames.value == 64_000
    assert growth.per_1000_frames.lo is None or growth.per_1000_frames.lo <= 0
    assert growth.verdict == "in doubt"


def test_a_loss_at_the_end_leaves_the_end_open(tmp_path: Path) -> None:
    rec = leaking().end()
    last = len(rec.blocks()) - 1
    heap = heap_of(analyzed_memory(rec, tmp_path, drop=[last - 1, last]))
    assert both(heap.last) == (0, HEAP)
    assert heap.used_max.lo == heap.last.value
    assert heap.used_max.hi == HEAP
    # One sample is left, and the other may have told anything.
    assert heap.growth.verdict == "growing"


# ---------------------------------------------------------------- bounds

# Of a loss it is not known whether it hid a sample of a task or count that was never seen otherwise.
SESSIONS, GROUP = 100, 25
# Without a sample or a pattern these are bounds also when nothing is lost.
LOWER_BOUNDS = ("high_water", "margin.min")


def holds(found: Figure, truth: Figure) -> bool:
    if truth.value is None:
        return True
    if found.status == NOT_RECORDED:
        return True
    return (found.lo is None or found.lo <= truth.value) and (found.hi is None or truth.value <= found.hi)


@pytest.mark.parametrize("first", range(0, SESSIONS, GROUP))
def test_ranges_hold_the_truth(first: int, tmp_path: Path) -> None:
    """The truth is what the complete session says; with nothing dropped measured figures have no width."""
    wrong, compared = [], 0
    for seed in range(first, first + GROUP):
        rng = random.Random(seed)
        rec = random_memory(seed)
        truth = figures(analyzed_memory(rec, tmp_path))
        doubtful = [n for n, f in truth.items() if f.status == "measured" and f.in_doubt]
        assert [name for name in doubtful if not name.endswith(LOWER_BOUNDS)] == [], seed
        blocks = len(rec.blocks())
        drop = rng.sample(range(blocks), rng.randrange(1, max(blocks // 4, 2)))
        found = figures(analyzed_memory(rec, tmp_path, drop))
        compared += len(truth.keys() & found.keys())
        wrong += [(seed, n, found[n], truth[n]) for n in truth.keys() & found.keys() if not holds(found[n], truth[n])]
    assert not wrong, wrong[:5]
    assert compared > 500


def figures(boot: BootMemory) -> dict[str, Figure]:
    return {figure.name: figure.figure for figure in named_figures(MemoryResult([boot]))}
