# SPDX-License-Identifier: Apache-2.0
"""What the accounting rules say that heaps should hold, from how often what was done."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from vxmon.analysis.figures import ESTIMATED, Figure
from vxmon.analysis.memory.operations import OperationCount
from vxmon.analysis.memory.result import KERNEL_INDEX, Estimate
from vxmon.config.accounting import AccountingRule

__all__ = ["Costs", "charge", "compared"]


@dataclass(slots=True)
class Costs:
    """What operations cost one heap: estimate, bounds, how many counts it is made of, and when the last was told."""

    value: int = 0
    lo: int = 0
    hi: int = 0
    counts: int = 0
    time: int = -1


def charge(
    kinds: Iterable[OperationCount], names: Mapping[int, str], rules: Mapping[str, AccountingRule]
) -> dict[int, Costs]:
    """Costs by heap: the partition's index, or 0 for the kernel's."""
    heaps: dict[int, Costs] = {}
    for kind in kinds:
        name = names.get(kind.operation, "")
        rule = rules.get(name)
        if rule is None:
            continue
        costs = heaps.setdefault(KERNEL_INDEX if rule.heap == "kernel" else kind.partition, Costs())
        # The least size of a class is its power of two: a sum that small leaves no other.
        equal = kind.size_class > 0 and kind.total == kind.count << min(kind.size_class, 63)
        value, lo, hi = rule.cost(kind.count, kind.total, equal=equal)
        costs.value, costs.lo, costs.hi = costs.value + value, costs.lo + lo, costs.hi + hi
        costs.counts += 1
        costs.time = max(costs.time, kind.time)
    return heaps


def compared(costs: Costs, measured: Figure) -> Estimate:
    """The estimate beside what was measured at the time of the last count; difference = measured - estimated."""
    estimated = Figure(costs.value, costs.lo, costs.hi, costs.counts, ESTIMATED)
    if measured.value is None or measured.lo is None or measured.hi is None:
        return Estimate(estimated, measured, Figure.none(), costs.time)
    difference = Figure(
        measured.value - costs.value, measured.lo - costs.hi, measured.hi - costs.lo, costs.counts, ESTIMATED
    )
    return Estimate(estimated, measured, difference, costs.time)
