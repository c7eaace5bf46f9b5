# SPDX-License-Identifier: Apache-2.0
"""Each partition's image, and what it was seen to use, against the memory that the module configuration gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import PurePath
from typing import Literal

from vxmon.analysis.figures import Figure
from vxmon.analysis.memmap.observed import Observed, ObservedPartition
from vxmon.config.model import ModuleConfig, PartitionConfig
from vxmon.config.place import Place
from vxmon.errors import InputError
from vxmon.image.layout import Layout
from vxmon.image.model import Image, Kind

__all__ = [
    "ModuleCheck", "PartitionMemory", "SectionBudget", "Verdict", "check_module", "check_session", "with_observed",
]  # fmt: skip

Verdict = Literal[
    "fits", "exceeds", "section exceeds", "heap full", "stack full", "leak?", "no image", "no limit"
]  # fmt: skip
_FAILED = ("exceeds", "section exceeds", "heap full", "stack full", "leak?")


@dataclass(frozen=True, slots=True)
class SectionBudget:
    """A size agreed for one part of an application (MemorySizeText and so on), and what the image takes of it."""

    part: str
    agreed: int
    used: int

    @property
    def margin(self) -> int:
        """Return what is left; negative when it is exceeded."""
        return self.agreed - self.used


@dataclass(frozen=True, slots=True)
class PartitionMemory:
    """One partition: what its image needs against what it has, in bytes; None where it is not known.

    ``needed`` is all that the loader makes of the image with padding; ``heap`` and ``stack`` are parts of it.
    ``observed`` is what a session says of the partition.
    """

    partition: str
    image: str | None
    needed: int | None
    heap: int
    stack: int
    required: int | None
    budgets: tuple[SectionBudget, ...]
    observed: ObservedPartition | None = None

    @property
    def static(self) -> int | None:
        """Return what the image takes without heap and stacks."""
        return None if self.needed is None else self.needed - self.heap - self.stack

    @property
    def needs(self) -> int | None:
        """Return all that must be there: the image, and the heap and stacks as large as they were seen to be."""
        static, observed = self.static, self.observed
        if static is None or observed is None:
            return self.needed
        return static + max(self.heap, observed.heap_size.value or 0) + max(self.stack, observed.stack_size.value or 0)

    @property
    def uses(self) -> Figure:
        """Return what was really used at most: the image, the peak of the heap, the high-waters of the stacks."""
        static, observed = self.static, self.observed
        if static is None or observed is None:
            return Figure.none()
        parts = (observed.heap_peak, observed.stack_peak)
        highs = [part.hi for part in parts]
        return Figure.between(
            static + sum(part.value if part.value is not None else part.lo or 0 for part in parts),
            static + sum(part.lo or 0 for part in parts),
            None if None in highs else static + sum(high or 0 for high in highs),
        )

    @property
    def margin(self) -> int | None:
        """Return what is left of RequiredMemorySize; negative when it does not fit."""
        return None if self.needs is None or self.required is None else self.required - self.needs

    @property
    def verdict(self) -> Verdict:
        """Tell whether it fits; "section exceeds" when only an agreed section size is passed.

        What was observed comes next: a heap or a stack with nothing left, a heap that leaks.
        """
        if self.margin is not None and self.margin < 0:
            return "exceeds"
        if any(b.margin < 0 for b in self.budgets):
            return "section exceeds"
        seen = self._seen()
        if seen is not None:
            return seen
        if self.needed is None:
            return "no image"
        return "no limit" if self.margin is None else "fits"

    def _seen(self) -> Verdict | None:
        observed = self.observed
        if observed is None:
            return None
        if observed.heap_full:
            return "heap full"
        if observed.full_stacks:
            return "stack full"
        return "leak?" if observed.leak else None

    @property
    def failed(self) -> bool:
        """Tell whether it takes more than it has, or will."""
        return self.verdict in _FAILED


@dataclass(frozen=True, slots=True)
class ModuleCheck:
    """All partitions of a module. ``other_images`` are those of no partition: the kernel, libraries.

    ``session`` is the one that was observed, ``kernel`` what it says of the module OS.
    """

    path: str
    partitions: tuple[PartitionMemory, ...]
    other_images: tuple[str, ...]
    notes: tuple[str, ...]
    session: str | None = None
    kernel: ObservedPartition | None = None

    @property
    def failed(self) -> bool:
        """Tell whether any partition takes more than it has."""
        return any(p.failed for p in self.partitions)


def check_module(
    module: ModuleConfig, images: Sequence[tuple[Image, Layout]], images_of: Mapping[str, str]
) -> ModuleCheck:
    """Hold each partition's image against the module configuration.

    ``images_of`` gives images to partitions by path; others are found by file name (without suffix, upper and lower
    case alike), which must be the partition's name or that of its application.
    """
    unknown = [name for name in images_of if module.partition(name) is None]
    if unknown:
        raise InputError(f"there is no partition {unknown[0]!r} in {module.files[0]}")
    rows: list[PartitionMemory] = []
    used: set[str] = set()
    for partition in module.partitions:
        found = _image_of(partition, images, images_of)
        if found is not None:
            used.add(found[0].path)
        rows.append(_memory(module, partition, found))
    others = tuple(image.path for image, _ in images if image.path not in used)
    return ModuleCheck(module.files[0], tuple(rows), others, tuple(str(p) for p in module.problems))


def check_session(
    observed: Observed, images: Sequence[tuple[Image, Layout]], images_of: Mapping[str, str]
) -> ModuleCheck:
    """Put each partition of a session beside its image, where no module configuration tells what it has."""
    partitions = [PartitionConfig(0, name, Place(observed.source)) for name in observed.partitions]
    rows = [_unlimited(partition, _image_of(partition, images, images_of)) for partition in partitions]
    used = {row.image for row in rows}
    others = tuple(image.path for image, _ in images if image.path not in used)
    return with_observed(ModuleCheck(observed.source, tuple(rows), others, ()), observed)


def with_observed(check: ModuleCheck, observed: Observed) -> ModuleCheck:
    """Return the check with what a session says of each partition."""
    rows = tuple(replace(row, observed=observed.partitions.get(row.partition)) for row in check.partitions)
    names = {row.partition for row in rows}
    notes = [f"{row.partition} is not in {observed.source}" for row in rows if row.observed is None]
    notes += [f"{name} is only in {observed.source}" for name in observed.partitions if name not in names]
    return replace(
        check, partitions=rows, notes=(*check.notes, *notes), session=observed.source, kernel=observed.kernel
    )


def _unlimited(partition: PartitionConfig, found: tuple[Image, Layout] | None) -> PartitionMemory:
    if found is None:
        return PartitionMemory(partition.name, None, None, 0, 0, None, ())
    totals = found[1].totals
    heap, stack = totals.kinds[Kind.HEAP], totals.kinds[Kind.STACK]
    return PartitionMemory(partition.name, found[0].path, totals.mapped, heap, stack, None, ())


def _image_of(
    partition: PartitionConfig, images: Sequence[tuple[Image, Layout]], images_of: Mapping[str, str]
) -> tuple[Image, Layout] | None:
    path = images_of.get(partition.name)
    if path is not None:
        found = [pair for pair in images if pair[0].path == path]
        if not found:
            raise InputError(f"the image of partition {partition.name!r}, {path}, is not among the images given")
        return found[0]
    names = {n.casefold() for n in (partition.name, *partition.applications)}
    found = [pair for pair in images if PurePath(pair[0].path).stem.casefold() in names]
    if len(found) > 1:
        paths = " and ".join(pair[0].path for pair in found[:2])
        raise InputError(f"{paths} could both be partition {partition.name!r}: say which with --partition")
    return found[0] if found else None


def _memory(module: ModuleConfig, partition: PartitionConfig, found: tuple[Image, Layout] | None) -> PartitionMemory:
    if found is None:
        return PartitionMemory(partition.name, None, None, 0, 0, partition.required_memory, ())
    return replace(
        _unlimited(partition, found),
        required=partition.required_memory,
        budgets=_budgets(module, partition, found[0]),
    )


def _budgets(module: ModuleConfig, partition: PartitionConfig, image: Image) -> tuple[SectionBudget, ...]:
    """Return the agreed sizes of the partition's only application; several cannot be told apart in one image."""
    applications = [a for a in module.applications if a.name in partition.applications]
    if len(applications) != 1:
        return ()
    used = _parts(image)
    return tuple(SectionBudget(part, size, used.get(part, 0)) for part, size in applications[0].memory.items())


def _parts(image: Image) -> dict[str, int]:
    """Return section sizes by the parts that VxWorks 653 tells apart; persistent ones by their names."""
    parts = {Kind.CODE: "text", Kind.CONSTANTS: "rodata", Kind.DATA: "data"}
    sizes: dict[str, int] = {}
    for section in image.sections:
        if section.occupies:
            part = parts.get(section.kind, "bss")
            if "persist" in section.name.lower() and part in ("data", "bss"):
                part = f"persistent_{part}"
            sizes[part] = sizes.get(part, 0) + section.size
    return sizes
