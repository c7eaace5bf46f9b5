# SPDX-License-Identifier: Apache-2.0
"""A memory map as JSON values. Addresses are hexadecimal strings; all sizes are bytes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vxmon.analysis.memmap.growth import Change, Growth
from vxmon.analysis.memmap.images import ImageMap, MemoryMap
from vxmon.analysis.memmap.observed import ObservedPartition
from vxmon.analysis.memmap.partitions import ModuleCheck, PartitionMemory
from vxmon.image.model import Kind, Section, Segment
from vxmon.image.symbols import Symbol
from vxmon.image.units import Share
from vxmon.report.figures import figure_json, loss_json
from vxmon.trace.facts import Facts

__all__ = ["SCHEMA", "VERSION", "memmap_json"]

SCHEMA = "vxmon.memmap"
VERSION = 1
"""Grows when something is renamed or removed; additions do not change it."""

Json = dict[str, Any]


def memmap_json(result: MemoryMap, facts: Facts | None = None) -> Json:
    """Return the memory map as a JSON object; ``facts`` are those of the session that was observed."""
    value: Json = {
        "schema": SCHEMA,
        "version": VERSION,
        "images": [_image(m, result.names) for m in result.images],
        "totals": {
            "ram": sum(m.layout.totals.ram for m in result.images),
            "load": sum(m.layout.totals.load for m in result.images),
        },
        "problems": [{"severity": p.severity, "image": p.image, "message": p.message} for p in result.problems],
    }
    if result.module is not None:
        value["module"] = _module(result.module)
    if facts is not None:
        value["observed"] = {"files": [file.name for file in facts.files], "loss": loss_json(facts)}
    if result.growth:
        value["growth"] = [_growth(g, result.names) for g in result.growth]
    return value


def _image(found: ImageMap, names: Mapping[str, str]) -> Json:
    image, layout = found.image, found.layout
    value: Json = {
        "path": image.path,
        "class": f"ELF{image.bits}",
        "byte_order": image.byte_order,
        "machine": image.machine,
        "type": image.type,
        "entry": hex(image.entry),
        "segments": [_segment(s) for s in image.segments],
        "sections": [_section(s) for s in image.sections],
        "holes": [{"address": hex(h.address), "size": h.size, "segment": h.segment} for h in layout.holes],
        "overlaps": [
            {"space": o.space, "first": o.first, "second": o.second, "address": hex(o.address), "size": o.size}
            for o in layout.overlaps
        ],
        "totals": {
            "ram": layout.totals.ram,
            "load": layout.totals.load,
            "stored": layout.totals.stored,
            "in_place": layout.totals.in_place,
            "mapped": layout.totals.mapped,
            "common": image.common,
            "kinds": _kinds(layout.totals.kinds),
        },
    }
    if found.symbols:
        value["symbols"] = [_symbol(s, names) for s in found.symbols]
    if found.units:
        value["units"] = [_share(s, "folder") for s in found.units]
    if found.members:
        value["members"] = [_share(s, "archive") for s in found.members]
    return value


def _segment(s: Segment) -> Json:
    return {
        "index": s.index,
        "type": s.type,
        "address": hex(s.address),
        "load_address": hex(s.load_address),
        "memory_size": s.memory_size,
        "file_size": s.file_size,
        "offset": s.offset,
        "permissions": s.permissions,
        "alignment": s.alignment,
    }


def _section(s: Section) -> Json:
    return {
        "index": s.index,
        "name": s.name,
        "type": s.type,
        "address": hex(s.address),
        "load_address": hex(s.load_address),
        "size": s.size,
        "file_size": s.file_size,
        "offset": s.offset,
        "permissions": s.permissions,
        "alignment": s.alignment,
        "kind": s.kind.value,
    }


def _symbol(s: Symbol, names: Mapping[str, str]) -> Json:
    return {
        "name": s.name,
        "demangled": names.get(s.name),
        "address": hex(s.address),
        "size": s.size,
        "type": s.type,
        "kind": s.kind.value if s.kind else None,
        "section": s.section,
        "aliases": list(s.aliases),
    }


def _share(s: Share, group: str) -> Json:
    return {"name": s.name, group: s.group, "size": s.total, "kinds": _kinds(s.sizes)}


def _kinds(sizes: Mapping[Kind, int]) -> Json:
    return {kind.value: size for kind, size in sizes.items()}


def _module(check: ModuleCheck) -> Json:
    return {
        "path": check.path,
        "partitions": [_partition(p) for p in check.partitions],
        "other_images": list(check.other_images),
        "notes": list(check.notes),
        "passed": not check.failed,
        "session": check.session,
        "kernel": None if check.kernel is None else _observed(check.kernel),
    }


def _partition(p: PartitionMemory) -> Json:
    return {
        "partition": p.partition,
        "image": p.image,
        "needed": p.needed,
        "heap": p.heap,
        "stack": p.stack,
        "required": p.required,
        "margin": p.margin,
        "verdict": p.verdict,
        "static": p.static,
        "needs": p.needs,
        "uses": figure_json(p.uses),
        "observed": None if p.observed is None else _observed(p.observed),
        "budgets": [{"part": b.part, "agreed": b.agreed, "used": b.used, "margin": b.margin} for b in p.budgets],
    }


def _observed(o: ObservedPartition) -> Json:
    return {
        "heap_size_bytes": figure_json(o.heap_size),
        "heap_peak_bytes": figure_json(o.heap_peak),
        "growth_bytes_per_1000_frames": figure_json(o.growth),
        "leak": o.leak,
        "full_in_s": o.full_in_s,
        "stack_size_bytes": figure_json(o.stack_size),
        "stack_peak_bytes": figure_json(o.stack_peak),
        "stacks": [
            {
                "task": s.task,
                "size_bytes": figure_json(s.size),
                "high_water_bytes": figure_json(s.high_water),
                "full": s.full,
            }
            for s in o.stacks
        ],
    }


def _growth(growth: Growth, names: Mapping[str, str]) -> Json:
    return {
        "path": growth.path,
        "baseline": growth.baseline,
        "totals": {c.name: {"old": c.old, "new": c.new, "growth": c.delta} for c in growth.totals},
        "changes": [_change(c, names) for c in growth.changes],
        "limit": growth.limit,
        "exceeded": [c.name for c in growth.exceeded],
        "passed": not growth.exceeded,
    }


def _change(c: Change, names: Mapping[str, str]) -> Json:
    value: Json = {"what": c.what, "name": c.name, "old": c.old, "new": c.new, "growth": c.delta}
    if c.name in names:
        value["demangled"] = names[c.name]
    return value
