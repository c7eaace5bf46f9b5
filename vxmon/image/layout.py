# SPDX-License-Identifier: Apache-2.0
"""How an image lies in memory: totals, holes, overlaps.

Two spaces are told apart. Run addresses are where the image works; load addresses are where its bytes are stored
until the loader, or the start-up code of an image in flash, puts them in place.

``ram``      memory that the image takes at run addresses: its sections, each byte counted once. An image without
             sections is judged by its segments. Not counted are reserved addresses, thread-local zero data, and what
             runs in place.
``load``     bytes stored at load addresses: what an image in flash takes there, what a loader has to read.
``in_place`` read-only memory content that is used where it is stored, so that it takes load memory only. With
             ``rom`` ranges it is what lies in them. Without, an image that copies data to other addresses than its
             read-only segments lie at (load address differs for writable segments only) is taken to run in place.
``stored``   the same with the bytes that segments store between and in place of sections: padding, and the zeros
             that a linker writes for a NOBITS section that stands before others.
``mapped``   what a loader that loads segments makes of the image: its loadable segments with their padding, and
             sections in no segment.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

from vxmon.image.model import Image, Kind, Section, Segment

__all__ = ["Hole", "Layout", "Overlap", "Span", "Totals", "covered", "lay_out"]

Span = tuple[int, int]
"""First address and address after the last."""

_MAX_OVERLAPS = 1000


@dataclass(frozen=True, slots=True)
class Totals:
    """Sizes in bytes; the module's text defines them. ``kinds`` adds up section sizes, overlaps twice."""

    ram: int
    load: int
    stored: int
    in_place: int
    mapped: int
    kinds: dict[Kind, int]


@dataclass(frozen=True, slots=True)
class Hole:
    """Run addresses between parts of the image. ``segment`` is the segment that it pads, None between segments."""

    address: int
    size: int
    segment: int | None


@dataclass(frozen=True, slots=True)
class Overlap:
    """Two parts that claim the same addresses."""

    space: Literal["run", "load"]
    first: str
    second: str
    address: int
    size: int


@dataclass(frozen=True, slots=True)
class Layout:
    """What ``lay_out`` finds. ``more_overlaps`` counts those past the limit of the list."""

    totals: Totals
    holes: tuple[Hole, ...]
    overlaps: tuple[Overlap, ...]
    more_overlaps: int


def lay_out(image: Image, rom: Sequence[Span] = ()) -> Layout:
    """Return totals, holes and overlaps of an image. ``rom`` are address ranges of read-only memory."""
    overlaps = [] if image.relocatable else _overlaps(image)
    return Layout(
        totals=_totals(image, rom),
        holes=() if image.relocatable else tuple(_holes(image)),
        overlaps=tuple(overlaps[:_MAX_OVERLAPS]),
        more_overlaps=max(0, len(overlaps) - _MAX_OVERLAPS),
    )


def covered(spans: Iterable[Span]) -> list[Span]:
    """Return the spans' union as sorted spans that do not touch."""
    union: list[Span] = []
    for start, end in sorted(spans):
        if end <= start:
            continue
        if union and start <= union[-1][1]:
            if end > union[-1][1]:
                union[-1] = (union[-1][0], end)
        else:
            union.append((start, end))
    return union


def _length(spans: Iterable[Span]) -> int:
    return sum(end - start for start, end in covered(spans))


def _without(spans: Iterable[Span], holes: Iterable[Span]) -> list[Span]:
    """Return what of the spans' union lies outside the holes."""
    rest: list[Span] = []
    cuts = covered(holes)
    at = 0
    for start, end in covered(spans):
        while at < len(cuts) and cuts[at][1] <= start:
            at += 1
        position, cut = start, at
        while cut < len(cuts) and cuts[cut][0] < end:
            if cuts[cut][0] > position:
                rest.append((position, cuts[cut][0]))
            position = max(position, cuts[cut][1])
            cut += 1
        if position < end:
            rest.append((position, end))
        # The last cut may reach into the next span.
        at = max(at, cut - 1)
    return rest


def _totals(image: Image, rom: Sequence[Span]) -> Totals:
    kinds = dict.fromkeys(Kind, 0)
    for section in image.sections:
        kinds[section.kind] += section.size
    if image.relocatable:
        kinds[Kind.ZERO_DATA] += image.common
        ram = sum(s.size for s in image.sections if s.occupies) + image.common
        contents = sum(s.file_size for s in image.sections if s.permissions)
        return Totals(ram, contents, contents, 0, ram, kinds)
    run, load = _spans(image)
    stored = [(s.load_address, s.load_address + s.file_size) for s in image.segments if s.loadable] + load
    in_place = _in_place(image, run, rom)
    mapped = [(s.address, s.end) for s in image.segments if s.loadable] + run
    free = _without(_reserved(image), run)
    return Totals(
        ram=_length(_without(run, in_place)),
        load=_length(load),
        stored=_length(stored),
        in_place=_length(in_place),
        mapped=_length(_without(mapped, free)),
        kinds=kinds,
    )


def _spans(image: Image) -> tuple[list[Span], list[Span]]:
    """Return what is occupied at run and at load addresses: by sections, else by segments."""
    if any(s.occupies for s in image.sections):
        parts = [s for s in image.sections if s.occupies]
        run = [(s.address, s.end) for s in parts]
        return run, [(s.load_address, s.load_address + s.file_size) for s in parts]
    loads = [s for s in image.segments if s.loadable]
    run = [(s.address, s.end) for s in loads]
    return run, [(s.load_address, s.load_address + s.file_size) for s in loads]


def _reserved(image: Image) -> list[Span]:
    return [(s.address, s.end) for s in image.sections if s.kind is Kind.RESERVED]


def _in_place(image: Image, run: list[Span], rom: Sequence[Span]) -> list[Span]:
    """Return the run addresses whose content stays in load memory."""
    if rom:
        return _without(run, _without(run, rom))
    loads = [s for s in image.segments if s.loadable and s.file_size]
    read_only = [s for s in loads if "W" not in s.permissions]
    copied = any(s.address != s.load_address for s in loads if "W" in s.permissions)
    if not copied or not read_only or any(s.address != s.load_address for s in read_only):
        return []
    stays = [(s.address, s.address + min(s.file_size, s.memory_size)) for s in read_only]
    return _without(run, _without(run, stays))


def _holes(image: Image) -> list[Hole]:
    """Return the gaps between segments, and the parts of segments that no section describes."""
    loads = sorted((s for s in image.segments if s.loadable), key=lambda s: s.address)
    sections = [(s.address, s.end) for s in image.sections if s.occupies or s.kind is Kind.RESERVED]
    segments = covered((s.address, s.end) for s in loads)
    everything = covered([*segments, *sections])
    holes = [Hole(a[1], b[0] - a[1], None) for a, b in pairwise(everything)]
    if sections:
        holes += _padding(loads, sections)
    return sorted(holes, key=lambda h: h.address)


def _padding(loads: list[Segment], sections: list[Span]) -> list[Hole]:
    """Return the parts of the segments' union outside every section, each by the first segment that has it."""
    free = _without(((s.address, s.end) for s in loads), sections)
    holes: list[Hole] = []
    at = 0
    for start, end in free:
        while at + 1 < len(loads) and (loads[at].end <= start or loads[at + 1].address <= start):
            at += 1
        holes.append(Hole(start, end - start, loads[at].index))
    return holes


def _overlaps(image: Image) -> list[Overlap]:
    sections = [s for s in image.sections if s.occupies]
    segments = [s for s in image.segments if s.loadable]
    found: list[Overlap] = []
    for space in ("run", "load"):
        for parts in (segments, sections):
            found += _overlapping(space, [(*_place(p, space), _name(p)) for p in parts])
    return found


def _place(part: Section | Segment, space: Literal["run", "load"]) -> Span:
    if space == "run":
        return part.address, part.end
    return part.load_address, part.load_address + part.file_size


def _name(part: Section | Segment) -> str:
    if isinstance(part, Segment):
        return f"segment {part.index}"
    return part.name or f"section {part.index}"


def _overlapping(space: Literal["run", "load"], parts: list[tuple[int, int, str]]) -> list[Overlap]:
    """Return one overlap for each part that begins before an earlier one ends: with the one that reaches furthest."""
    found: list[Overlap] = []
    furthest: tuple[int, int, str] | None = None
    for part in sorted(p for p in parts if p[1] > p[0]):
        if furthest is not None and part[0] < furthest[1]:
            size = min(part[1], furthest[1]) - part[0]
            found.append(Overlap(space, furthest[2], part[2], part[0], size))
        if furthest is None or part[1] > furthest[1]:
            furthest = part
    return found
