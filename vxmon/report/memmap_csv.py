# SPDX-License-Identifier: Apache-2.0
"""One table of a memory map as CSV rows: numbers without separators, addresses in hexadecimal."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Literal

from vxmon.analysis.memmap.images import MemoryMap
from vxmon.image.model import Kind

__all__ = ["CsvTable", "memmap_rows"]

CsvTable = Literal["sections", "symbols", "units", "members", "partitions", "growth"]
Row = tuple[str | int, ...]

_KINDS = [k for k in Kind if k not in (Kind.NONE, Kind.RESERVED, Kind.THREAD_ZERO)]


def memmap_rows(result: MemoryMap, table: CsvTable) -> Iterator[Row]:
    """Yield the column names, then the rows of one table."""
    rows = {
        "sections": _sections,
        "symbols": _symbols,
        "units": _units,
        "members": _members,
        "partitions": _partitions,
        "growth": _growth,
    }
    return rows[table](result)


def _sections(result: MemoryMap) -> Iterator[Row]:
    yield tuple("image index name type kind address load_address size file_size permissions alignment".split())
    for image in (m.image for m in result.images):
        for s in image.sections:
            place = (hex(s.address), hex(s.load_address), s.size, s.file_size, s.permissions, s.alignment)
            yield (image.path, s.index, s.name, s.type, s.kind.value, *place)


def _symbols(result: MemoryMap) -> Iterator[Row]:
    yield "image", "name", "demangled", "address", "size", "type", "kind", "section"
    for found in result.images:
        for s in found.symbols:
            kind = s.kind.value if s.kind else ""
            names = (s.name, result.names.get(s.name, ""))
            yield (found.image.path, *names, hex(s.address), s.size, s.type, kind, s.section)


def _units(result: MemoryMap) -> Iterator[Row]:
    yield ("image", "unit", "folder", "size", *(k.value for k in _KINDS))
    for found in result.images:
        for s in found.units:
            yield (found.image.path, s.name, s.group, s.total, *(s.sizes.get(k, 0) for k in _KINDS))


def _members(result: MemoryMap) -> Iterator[Row]:
    yield ("image", "object", "archive", "size", *(k.value for k in _KINDS))
    for found in result.images:
        for s in found.members:
            yield (found.image.path, s.name, s.group, s.total, *(s.sizes.get(k, 0) for k in _KINDS))


def _partitions(result: MemoryMap) -> Iterator[Row]:
    observed = ("heap_size", "heap_peak", "stack_size", "stack_peak", "uses", "growth_per_1000_frames")
    yield (
        "partition", "image", "needed", "heap", "stack", "required", "margin", "verdict", "static", "needs", *observed,
    )  # fmt: skip
    for p in result.module.partitions if result.module else ():
        sizes = (_or_empty(p.needed), p.heap, p.stack, _or_empty(p.required), _or_empty(p.margin))
        seen: list[str | int] = [""] * len(observed)
        if p.observed is not None:
            o = p.observed
            figures = (o.heap_size, o.heap_peak, o.stack_size, o.stack_peak, p.uses, o.growth)
            seen = [_or_empty(figure.value) for figure in figures]
        yield (p.partition, p.image or "", *sizes, p.verdict, _or_empty(p.static), _or_empty(p.needs), *seen)


def _growth(result: MemoryMap) -> Iterator[Row]:
    yield "image", "baseline", "what", "name", "demangled", "old", "new", "growth"
    for growth in result.growth:
        for c in (*growth.totals, *growth.changes):
            name = result.names.get(c.name, "")
            yield growth.path, growth.baseline, c.what, c.name, name, c.old, c.new, c.delta


def _or_empty(value: int | None) -> str | int:
    return "" if value is None else value
