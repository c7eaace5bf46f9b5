# SPDX-License-Identifier: Apache-2.0
"""Each partition's image against the memory that the module configuration gives it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import PurePath
from typing import Literal

from vxmon.config.model import ModuleConfig, PartitionConfig
from vxmon.errors import InputError
from vxmon.image.layout import Layout
from vxmon.image.model import Image, Kind

__all__ = ["ModuleCheck", "PartitionMemory", "SectionBudget", "Verdict", "check_module"]

Verdict = Literal["fits", "exceeds", "section exceeds", "no image", "no limit"]


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
    """

    partition: str
    image: str | None
    needed: int | None
    heap: int
    stack: int
    required: int | None
    budgets: tuple[SectionBudget, ...]

    @property
    def margin(self) -> int | None:
        """Return what is left of RequiredMemorySize; negative when the image does not fit."""
        return None if self.needed is None or self.required is None else self.required - self.needed

    @property
    def verdict(self) -> Verdict:
        """Tell whether it fits; "section exceeds" when only an agreed section size is passed."""
        if self.needed is None:
            return "no image"
        if self.margin is not None and self.margin < 0:
            return "exceeds"
        if any(b.margin < 0 for b in self.budgets):
            return "section exceeds"
        return "no limit" if self.margin is None else "fits"

    @property
    def failed(self) -> bool:
        """Tell whether it takes more than it has."""
        return self.verdict in ("exceeds", "section exceeds")


@dataclass(frozen=True, slots=True)
class ModuleCheck:
    """All partitions of a module. ``other_images`` are those of no partition: the kernel, libraries."""

    path: str
    partitions: tuple[PartitionMemory, ...]
    other_images: tuple[str, ...]
    notes: tuple[str, ...]

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
    image, layout = found
    kinds = layout.totals.kinds
    return PartitionMemory(
        partition=partition.name,
        image=image.path,
        needed=layout.totals.mapped,
        heap=kinds[Kind.HEAP],
        stack=kinds[Kind.STACK],
        required=partition.required_memory,
        budgets=_budgets(module, partition, image),
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
