# SPDX-License-Identifier: Apache-2.0
"""What a session says of memory, for the memory map: analyses do not know each other, so one feeds another here."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vxmon.analysis.memmap.observed import Observed, ObservedPartition
    from vxmon.analysis.memory.result import BootMemory, HeapMemory
    from vxmon.trace.facts import Facts

__all__ = ["observe"]


def observe(path: str) -> tuple[Observed, Facts]:
    """Analyze the memory of a session; of several boots the worst counts. Raises InputError."""
    from vxmon.analysis.memmap.observed import Observed
    from vxmon.analysis.memory.analyze import analyze_memory
    from vxmon.analysis.memory.result import KERNEL, heap_name
    from vxmon_cli.analyses.common import open_stored

    found: dict[str, ObservedPartition] = {}
    with open_stored((path,)) as trace:
        for boot in analyze_memory(trace).boots:
            for heap in boot.heaps:
                name = heap_name(boot, heap.index)
                own = _partition(boot, heap, name)
                found[name] = found[name].worst(own) if name in found else own
        facts = trace.facts
    kernel = found.pop(KERNEL, None)
    return Observed(path, found, kernel), facts


def _partition(boot: BootMemory, heap: HeapMemory, name: str) -> ObservedPartition:
    from vxmon.analysis.memmap.observed import ObservedPartition, ObservedStack

    stacks = [stack for stack in boot.stacks if stack.partition == heap.index and stack.size.value]
    return ObservedPartition(
        name=name,
        heap_size=heap.size,
        heap_peak=heap.high_water,
        growth=heap.growth.per_1000_frames,
        leak=heap.growth.verdict == "leak?",
        full_in_s=heap.growth.full_in_s,
        stacks=tuple(ObservedStack(stack.task, stack.size, stack.deepest, stack.gone) for stack in stacks),
    )
