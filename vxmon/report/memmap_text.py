# SPDX-License-Identifier: Apache-2.0
"""A memory map for reading: as a table, a tree or bars."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from vxmon.analysis.figures import Figure
from vxmon.analysis.memmap.growth import Growth
from vxmon.analysis.memmap.images import ImageMap, MemoryMap
from vxmon.analysis.memmap.observed import ObservedPartition
from vxmon.analysis.memmap.partitions import ModuleCheck, PartitionMemory
from vxmon.image.layout import Hole
from vxmon.image.model import Image, Kind, Section, Segment
from vxmon.image.symbols import Symbol
from vxmon.image.units import Share
from vxmon.report.blocks import Bar, Bars, Block, Table, Text, Tree
from vxmon.report.figures import shown

__all__ = ["View", "memmap_blocks"]

View = Literal["table", "tree", "bars"]

_CHANGES = 40
_IN_MEMORY = (Kind.CODE, Kind.CONSTANTS, Kind.DATA, Kind.ZERO_DATA, Kind.STACK, Kind.HEAP)
_TYPES = {"REL": "relocatable", "EXEC": "executable", "DYN": "shared or position-independent", "CORE": "core dump"}


def memmap_blocks(result: MemoryMap, view: View) -> Iterator[Block]:
    """Yield the report of a memory map."""
    for found in result.images:
        yield from _image(found, view, result.names)
    if len(result.images) > 1:
        yield _all_images(result.images)
    if result.module is not None:
        yield from _module(result.module)
    for growth in result.growth:
        yield from _growth(growth, result.names)
    lines = tuple(f"{p.severity}: {p.image + ': ' if p.image else ''}{p.message}" for p in result.problems)
    if lines:
        yield Text(lines)


def _image(found: ImageMap, view: View, names: Mapping[str, str]) -> Iterator[Block]:
    image = found.image
    what = _TYPES.get(image.type, f"type {image.type}")
    head = f"{image.path}: ELF{image.bits}, {image.byte_order}-endian, {image.machine}, {what}"
    yield Text((head, f"entry 0x{image.entry:x}"), important=True)
    if view == "tree":
        yield _tree(found)
    elif view == "bars":
        yield _kind_bars(found)
        yield _place_bars(found)
    else:
        yield from _tables(found)
    yield _totals(found)
    if found.symbols:
        yield _symbols(found.symbols, names)
    if found.units:
        yield _shares("compile units", ("unit", "folder"), found.units)
    if found.members:
        yield _shares("object files and archive members", ("object", "archive"), found.members)


def _tables(found: ImageMap) -> Iterator[Block]:
    segments = [s for s in found.image.segments if s.memory_size or s.file_size]
    if segments:
        columns = ("segment", "type", "address", "load", ">memory", ">file", "perm", ">align")
        yield Table("", columns, [_segment_row(s) for s in segments])
    rows = [(s.address, s.index, _section_row(s)) for s in found.image.sections if s.permissions]
    rows += [(h.address, -1, _hole_row(h)) for h in found.layout.holes]
    if rows:
        columns = ("section", "kind", "address", "load", ">size", ">file", "perm", ">align")
        yield Table("", columns, [row for _, _, row in sorted(rows, key=lambda r: r[:2])])
    elsewhere = sum(s.size for s in found.image.sections if not s.permissions)
    if elsewhere:
        yield Text((f"in the file only (symbols, debug information and their like): {_bytes(elsewhere)}",))


def _segment_row(s: Segment) -> tuple[str, ...]:
    sizes = (f"{s.memory_size:,}", f"{s.file_size:,}")
    return (str(s.index), s.type, _hex(s.address), _hex(s.load_address), *sizes, s.permissions, f"{s.alignment:,}")


def _section_row(s: Section) -> tuple[str, ...]:
    name = s.name or f"(section {s.index})"
    sizes = (f"{s.size:,}", f"{s.file_size:,}")
    return (name, s.kind.value, _hex(s.address), _hex(s.load_address), *sizes, s.permissions, f"{s.alignment:,}")


def _hole_row(h: Hole) -> tuple[str, ...]:
    name = "(hole)" if h.segment is None else "(padding)"
    return (name, "", _hex(h.address), "", f"{h.size:,}", "", "", "")


def _tree(found: ImageMap) -> Tree:
    image = found.image
    inside: dict[int | None, list[tuple[int, str]]] = {}
    for section in (s for s in image.sections if s.permissions and s.size):
        inside.setdefault(_segment_of(image, section), []).append((section.address, _section_label(section)))
    for hole in found.layout.holes:
        name = "(hole)" if hole.segment is None else "(padding)"
        label = f"{_range(hole.address, hole.size)}  {name}  {_bytes(hole.size)}"
        inside.setdefault(hole.segment, []).append((hole.address, label))
    branches = [
        (s.address, Tree(_segment_label(s), _leaves(inside.pop(s.index, [])))) for s in image.segments if s.loadable
    ]
    branches += [(address, Tree(label)) for address, label in inside.pop(None, [])]
    totals = found.layout.totals
    label = f"{image.path}  RAM {_bytes(totals.ram)}, load {_bytes(totals.load)}"
    return Tree(label, tuple(branch for _, branch in sorted(branches, key=lambda b: b[0])))


def _leaves(labels: list[tuple[int, str]]) -> tuple[Tree, ...]:
    return tuple(Tree(label) for _, label in sorted(labels))


def _segment_of(image: Image, section: Section) -> int | None:
    """Return the first loadable segment that holds a section."""
    for segment in image.segments[:_SEARCHED]:
        if segment.loadable and segment.address <= section.address and section.end <= segment.end:
            return segment.index
    return None


# The tree looks every section up in the segments; images with more segments than this are no use as a tree.
_SEARCHED = 64


def _segment_label(s: Segment) -> str:
    where = _range(s.address, s.memory_size)
    load = "" if s.load_address == s.address else f", loaded at {_hex(s.load_address)}"
    return f"segment {s.index}  {s.permissions}  {where}  {_bytes(s.memory_size)}{load}"


def _section_label(s: Section) -> str:
    return f"{_range(s.address, s.size)}  {s.name or f'(section {s.index})'}  {s.kind.value}  {_bytes(s.size)}"


def _kind_bars(found: ImageMap) -> Bars:
    kinds = found.layout.totals.kinds
    whole = sum(kinds[k] for k in _IN_MEMORY)
    bars = [Bar(k.value, kinds[k], f"{kinds[k]:,} ({_share_of(kinds[k], whole)})") for k in _IN_MEMORY]
    return Bars("what it is", whole, bars)


def _place_bars(found: ImageMap) -> Bars:
    """Return the sections that occupy memory, in the order of addresses, in proportion to the largest."""
    sections = sorted((s for s in found.image.sections if s.occupies), key=lambda s: s.address)
    parts = [(s.name or f"(section {s.index})", s.address, s.size) for s in sections]
    if not parts:
        loads = [s for s in found.image.segments if s.loadable]
        parts = [(f"segment {s.index}", s.address, s.memory_size) for s in loads]
    whole = max((size for _, _, size in parts), default=0)
    return Bars("where it is", whole, [Bar(f"{_hex(a)} {name}", size, f"{size:,}") for name, a, size in parts])


def _totals(found: ImageMap) -> Text:
    totals = found.layout.totals
    parts = ", ".join(f"{k.value} {totals.kinds[k]:,}" for k in _IN_MEMORY if totals.kinds[k])
    lines = [f"RAM   {_bytes(totals.ram)}" + (f" ({parts})" if parts else ""), f"load  {_bytes(totals.load)}"]
    if totals.stored != totals.load:
        lines.append(f"stored at load addresses, with padding: {_bytes(totals.stored)}")
    if totals.in_place:
        lines.append(f"used in place from load memory, so not in RAM: {_bytes(totals.in_place)}")
    if found.image.common:
        lines.append(f"common symbols, part of the zero data: {_bytes(found.image.common)}")
    if totals.kinds[Kind.RESERVED]:
        lines.append(f"addresses reserved without memory: {_bytes(totals.kinds[Kind.RESERVED])}")
    if totals.kinds[Kind.THREAD_ZERO]:
        lines.append(f"zero data for each thread: {_bytes(totals.kinds[Kind.THREAD_ZERO])}")
    if totals.mapped != totals.ram + totals.in_place:
        lines.append(f"mapped by a loader, with padding: {_bytes(totals.mapped)}")
    return Text(tuple(lines))


def _symbols(symbols: Sequence[Symbol], names: Mapping[str, str]) -> Table:
    rows = [
        (f"{s.size:,}", _hex(s.address), s.kind.value if s.kind else "", s.section, _symbol_name(s, names))
        for s in symbols
    ]
    return Table("largest symbols", (">size", "address", "kind", "section", "symbol"), rows)


def _symbol_name(s: Symbol, names: Mapping[str, str]) -> str:
    name = names.get(s.name, s.name) or "(unnamed)"
    return f"{name} (also {', '.join(s.aliases[:3])}{', ...' if len(s.aliases) > 3 else ''})" if s.aliases else name


def _shares(title: str, names: tuple[str, str], shares: Sequence[Share]) -> Table:
    kinds = [k for k in _IN_MEMORY if any(s.sizes.get(k) for s in shares)]
    rows = [(f"{s.total:,}", *(f"{s.sizes.get(k, 0):,}" for k in kinds), s.name, s.group) for s in shares]
    return Table(title, (">size", *(f">{k.value}" for k in kinds), *names), rows)


def _all_images(images: Sequence[ImageMap]) -> Table:
    rows = [_image_row(m.image.path, *_memory_of(m)) for m in images]
    sums = [sum(column) for column in zip(*(_memory_of(m) for m in images), strict=True)]
    rows.append(_image_row("all images", *sums))
    return Table("module", ("image", ">RAM", ">load", *(f">{k.value}" for k in _IN_MEMORY)), rows)


def _memory_of(found: ImageMap) -> tuple[int, ...]:
    totals = found.layout.totals
    return (totals.ram, totals.load, *(totals.kinds[k] for k in _IN_MEMORY))


def _image_row(name: str, *sizes: int) -> tuple[str, ...]:
    return (name, *(f"{size:,}" for size in sizes))


def _module(check: ModuleCheck) -> Iterator[Block]:
    if check.session is not None:
        yield from _observed(check)
    else:
        columns = (
            "partition", "image", ">needed", ">of it heap", ">stack", ">required", ">margin", ">margin %", "verdict",
        )  # fmt: skip
        yield Table(f"partitions of {check.path}", columns, [_partition_row(p) for p in check.partitions])
    budgets = [
        (p.partition, b.part, f"{b.used:,}", f"{b.agreed:,}", f"{b.margin:,}", "fits" if b.margin >= 0 else "exceeds")
        for p in check.partitions
        for b in p.budgets
    ]
    if budgets:
        yield Table("agreed section sizes", ("partition", "part", ">used", ">agreed", ">margin", "verdict"), budgets)
    lines = [f"of no partition: {path}" for path in check.other_images]
    lines += [f"note: {note}" for note in check.notes]
    if lines:
        yield Text(tuple(lines))


def _observed(check: ModuleCheck) -> Iterator[Block]:
    """What each partition needs, uses and has; and what is wrong with it, in words."""
    columns = (
        "partition", "image", ">static", ">heap size", ">heap peak", ">stacks size", ">stacks peak", ">needs", ">uses",
        ">has", ">margin", "verdict",
    )  # fmt: skip
    rows = [_observed_row(p) for p in check.partitions]
    if check.kernel is not None:
        rows.append(("module OS", "-", "-", *_seen(check.kernel), "-", "-", "-", "-", "-"))
    title = "partitions" if check.path == check.session else f"partitions of {check.path},"
    yield Table(f"{title} observed in {check.session}", columns, rows)
    lines = tuple(line for p in check.partitions if p.observed is not None for line in _wrong(p.partition, p.observed))
    if lines:
        yield Text(lines, important=True)


def _observed_row(p: PartitionMemory) -> tuple[str, ...]:
    seen = ("-",) * 4 if p.observed is None else _seen(p.observed)
    sizes = (_or_dash(p.needs), _number(p.uses), _or_dash(p.required), _or_dash(p.margin))
    return (p.partition, p.image or "-", _or_dash(p.static), *seen, *sizes, p.verdict)


def _seen(o: ObservedPartition) -> tuple[str, ...]:
    return tuple(_number(figure) for figure in (o.heap_size, o.heap_peak, o.stack_size, o.stack_peak))


def _number(figure: Figure) -> str:
    return shown(figure, lambda value: f"{value:,}")


def _wrong(name: str, o: ObservedPartition) -> Iterator[str]:
    if o.leak and o.growth.value is not None:
        full = "" if o.full_in_s is None else f"; full in {o.full_in_s} s"
        yield f"leak? {name}: the heap grows by {o.growth.value / 1000:.3f} B a frame{full}: see vxmon analyze memory"
    if o.heap_full:
        yield f"heap full: {name} had all of its {_number(o.heap_size)} B in use"
    if o.full_stacks:
        yield f"stack full: {name}: {', '.join(o.full_stacks)}"


def _partition_row(p: PartitionMemory) -> tuple[str, ...]:
    per_cent = _share_of(p.margin, p.required) if p.margin is not None and p.required else ""
    sizes = (_or_dash(p.needed), f"{p.heap:,}", f"{p.stack:,}", _or_dash(p.required), _or_dash(p.margin))
    return (p.partition, p.image or "-", *sizes, per_cent, p.verdict)


def _growth(growth: Growth, names: Mapping[str, str]) -> Iterator[Block]:
    rows = [(c.name, f"{c.old:,}", f"{c.new:,}", f"{c.delta:+,}") for c in growth.totals]
    yield Table(f"growth of {growth.path} since {growth.baseline}", ("total", ">old", ">new", ">growth"), rows)
    shown = [c for c in growth.changes if c.delta > 0][:_CHANGES] + [c for c in growth.changes if c.delta < 0][
        -_CHANGES:
    ]
    parts = [(c.what, f"{c.old:,}", f"{c.new:,}", f"{c.delta:+,}", names.get(c.name, c.name)) for c in shown]
    if parts:
        yield Table("", ("what", ">old", ">new", ">growth", "name"), parts)
    if len(shown) < len(growth.changes):
        yield Text((f"{len(growth.changes) - len(shown):,} smaller changes are in the JSON and CSV output",))
    for change in growth.exceeded:
        yield Text((f"FAIL: {change.name} grew by {_bytes(change.delta)}, more than {growth.limit}",), important=True)


def _bytes(size: int) -> str:
    return f"{size:,} B"


def _hex(address: int) -> str:
    return f"0x{address:08x}"


def _range(address: int, size: int) -> str:
    return f"{_hex(address)}..{_hex(address + size)}"


def _share_of(part: int, whole: int) -> str:
    """Return a percentage, rounded towards the worse side: down."""
    if not whole:
        return "0.0 %"
    tenths = part * 1000 // whole
    return f"{'-' if tenths < 0 else ''}{abs(tenths) // 10}.{abs(tenths) % 10} %"


def _or_dash(value: int | None) -> str:
    return "-" if value is None else f"{value:,}"
