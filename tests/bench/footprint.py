# SPDX-License-Identifier: Apache-2.0
"""What the agent takes in the demo kernel: text, data and zero data of its object files, by feature."""

from __future__ import annotations

import re
import subprocess
from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from tests.bench.table import Row
from tests.support.tree import ROOT

__all__ = ["measure"]

_OBJECTS: Final = ROOT / "build" / "ppce500"


def measure() -> Iterator[Row]:
    """Rows of the table, the largest feature first. Raises RuntimeError when the demo target is not built."""
    sizes = _sizes()
    for column, name in enumerate(("text", "data", "bss")):
        yield Row(f"agent, {name}", sum(size[column] for size in sizes.values()), "bytes")
    for feature, size in sorted(sizes.items(), key=lambda item: -sum(item[1])):
        yield Row(f"{feature}: text and data", size[0] + size[1], "bytes")
        if size[2]:
            yield Row(f"{feature}: zero data", size[2], "bytes")


def _sizes() -> dict[str, list[int]]:
    """Feature -> bytes of text, data, bss."""
    objects = [path for path in sorted(_OBJECTS.rglob("*.o")) if {"agent", "third_party"} & set(path.parts)]
    if not objects:
        raise RuntimeError("the demo target is not built: make build")
    listing = subprocess.run(
        ["powerpc-linux-gnu-size", *map(str, objects)], capture_output=True, text=True, check=True, timeout=60
    ).stdout
    sizes: dict[str, list[int]] = defaultdict(lambda: [0, 0, 0])
    for line in listing.splitlines()[1:]:
        *numbers, _, _, path = line.split()
        feature = sizes[_feature(path)]
        for column, number in enumerate(numbers):
            feature[column] += int(number)
    return sizes


def _feature(path: str) -> str:
    if "/bearssl/" in path:
        return "bearssl"
    name = re.sub(r"\.o$", "", path.rsplit("/", 1)[-1]).removesuffix(".pb")
    return "nanopb" if name.startswith("pb_") else name.replace("_", " ")
