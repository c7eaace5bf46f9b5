# SPDX-License-Identifier: Apache-2.0
"""Partitions and tasks by the names of their boot, or by number."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Protocol

__all__ = ["Named", "partition_name", "task_name", "unique_names"]


class Named(Protocol):
    """What an analysis found of one boot, with the names that the session gives."""

    @property
    def partition_names(self) -> Mapping[int, str]:
        """By index."""
        ...

    @property
    def task_names(self) -> Mapping[int, str]:
        """By index."""
        ...


def partition_name(boot: Named, index: int | None) -> str:
    """The name of a partition, or its number."""
    if index is None:
        return "?"
    return boot.partition_names.get(index) or ("module OS" if index == 0 else f"partition {index}")


def task_name(boot: Named, index: int) -> str:
    """The name of a task, or its number."""
    return boot.task_names.get(index) or f"task {index}"


def unique_names(names: Mapping[int, str]) -> dict[int, str]:
    """The names, with the index behind all but the first of equal ones."""
    seen: Counter[str] = Counter()
    found = {}
    for index, name in names.items():
        found[index] = f"{name}#{index}" if seen[name] else name
        seen[name] += 1
    return found
