# SPDX-License-Identifier: Apache-2.0
"""The memory map of one image, or of a module of several: what is where, does it fit, what has grown."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from vxmon.analysis.memmap.growth import Growth, SizeBook, compare, size_book
from vxmon.analysis.memmap.observed import Observed
from vxmon.analysis.memmap.partitions import ModuleCheck, check_module, check_session, with_observed
from vxmon.config.model import ModuleConfig
from vxmon.errors import InputError
from vxmon.image.bytesource import ByteSource
from vxmon.image.demangle import demangled, demangler
from vxmon.image.dwarf import read_units
from vxmon.image.elf import ElfFile
from vxmon.image.layout import Layout, Span, covered, lay_out
from vxmon.image.linkmap import read_linkmap
from vxmon.image.model import Image, Problem
from vxmon.image.symbols import Symbol, SymbolTable, read_symbols
from vxmon.image.units import Share, member_shares, unit_shares

__all__ = ["ImageMap", "MapRequest", "MemoryMap", "map_images"]


_NAMED = 10
_MAX_DEMANGLED = 5000


@dataclass(frozen=True, slots=True)
class MapRequest:
    """What to find out. ``symbols`` is how many of the largest to name; ``rom`` are read-only address ranges."""

    symbols: int = 0
    units: bool = False
    linkmap: Path | None = None
    rom: Sequence[Span] = ()
    module: ModuleConfig | None = None
    images_of: Mapping[str, str] = field(default_factory=dict)
    """Partition name to image path, where the names do not tell."""
    baseline: Sequence[Path] = ()
    max_growth: str | None = None
    observed: Observed | None = None
    """What a session says of the partitions, beside the images."""


@dataclass(frozen=True, slots=True)
class ImageMap:
    """What was found about one image; ``symbols``, ``units`` and ``members`` are empty unless asked for."""

    image: Image
    layout: Layout
    symbols: tuple[Symbol, ...] = ()
    units: tuple[Share, ...] = ()
    members: tuple[Share, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryMap:
    """The answer to a MapRequest. ``names`` are readable forms of mangled symbol names."""

    images: tuple[ImageMap, ...]
    problems: tuple[Problem, ...]
    names: Mapping[str, str]
    module: ModuleCheck | None = None
    growth: tuple[Growth, ...] = ()

    @property
    def failed(self) -> bool:
        """Tell whether a check that was asked for fails."""
        return any(g.exceeded for g in self.growth) or (self.module is not None and self.module.failed)


def map_images(paths: Sequence[Path], request: MapRequest) -> MemoryMap:
    """Read the images and answer the request. Raises InputError for what cannot be read or makes no sense."""
    if request.linkmap is not None and len(paths) != 1:
        raise InputError("a linker map belongs to one image: give one IMAGE with --map")
    maps: list[ImageMap] = []
    books: list[SizeBook] = []
    for path in paths:
        found, symbols = _map_image(path, request)
        maps.append(found)
        if request.baseline:
            books.append(size_book(found.image, found.layout, symbols))
    growth = compare(books, [_baseline_book(p, request) for p in request.baseline], request.max_growth)
    module = _check(request, maps)
    problems = [p for m in maps for p in m.image.problems] + _shared(maps, module)
    changed = [c.name for g in growth for c in g.changes if c.what == "symbol"]
    wanted = [s.name for m in maps for s in m.symbols] + changed[:_MAX_DEMANGLED] + changed[-_MAX_DEMANGLED:]
    names = demangled(wanted)
    if not names and demangler() is None and any(n.startswith(("_Z", "_R")) for n in wanted):
        problems.append(
            Problem("note", "", "symbol names are as in the image: c++filt (package binutils) is not installed")
        )
    return MemoryMap(tuple(maps), tuple(problems), names, module, tuple(growth))


def _check(request: MapRequest, maps: Sequence[ImageMap]) -> ModuleCheck | None:
    images = [(m.image, m.layout) for m in maps]
    if request.module is not None:
        check = check_module(request.module, images, request.images_of)
        return check if request.observed is None else with_observed(check, request.observed)
    return None if request.observed is None else check_session(request.observed, images, request.images_of)


def _map_image(path: Path, request: MapRequest) -> tuple[ImageMap, SymbolTable | None]:
    with ByteSource(path) as source:
        elf = ElfFile(source)
        symbols = (
            read_symbols(elf) if request.symbols or request.units or request.baseline or elf.image.relocatable else None
        )
        image = elf.image
        if symbols is not None and symbols.common and image.relocatable:
            image = image.with_common(symbols.common)
        units = read_units(elf) if request.units else []
        layout = lay_out(image, request.rom)
        return ImageMap(
            image=_noted(image, elf, request, symbols, bool(units), layout),
            layout=layout,
            symbols=tuple(symbols.largest(request.symbols)) if symbols is not None and request.symbols else (),
            units=tuple(unit_shares(image, units, symbols)) if symbols is not None and units else (),
            members=tuple(member_shares(image, read_linkmap(request.linkmap))) if request.linkmap else (),
        ), symbols


def _baseline_book(path: Path, request: MapRequest) -> SizeBook:
    with ByteSource(path) as source:
        elf = ElfFile(source)
        symbols = read_symbols(elf)
        return size_book(elf.image, lay_out(elf.image, request.rom), symbols)


def _noted(
    image: Image, elf: ElfFile, request: MapRequest, symbols: SymbolTable | None, units: bool, layout: Layout
) -> Image:
    """Return the image with everything said that its figures leave out."""
    notes: list[Problem] = list(elf.problems[len(image.problems) :])

    def note(message: str) -> None:
        notes.append(Problem("note", image.path, message))

    if not image.sections and not image.segments:
        notes.append(Problem("warning", image.path, "the file has neither segments nor sections"))
    elif not image.sections:
        note("no section headers: the figures are those of the segments")
    elif not image.segments and not image.relocatable:
        note("no program headers: load addresses are taken to be the run addresses")
    if request.symbols and symbols is not None and not len(symbols):
        note("no symbols with a size: the file is stripped, or its symbol table is damaged")
    elif request.symbols and symbols is not None and symbols.source == ".dynsym":
        note("only the dynamic symbols are there: the file is stripped")
    if request.units and not units:
        note("no compile units: the file has no readable debug information")
    if layout.more_overlaps:
        note(f"{layout.more_overlaps:,} more overlaps are not listed")
    notes += [_overlap(image, o.first, o.second, o.space, o.address, o.size) for o in layout.overlaps[:_NAMED]]
    if len(layout.overlaps) > _NAMED:
        note(f"{len(layout.overlaps) + layout.more_overlaps - _NAMED:,} more overlaps are in the list of overlaps")
    return image.noted(*notes)


def _overlap(image: Image, first: str, second: str, space: str, address: int, size: int) -> Problem:
    message = f"{first} and {second} overlap at {space} address 0x{address:x} by {size:,} bytes"
    return Problem("warning", image.path, message)


def _shared(maps: Sequence[ImageMap], module: ModuleCheck | None) -> list[Problem]:
    """Note images of a module that are loaded to the same addresses; partitions have address spaces of their own."""
    partitions = {p.image for p in module.partitions} if module is not None else set()
    spans = [
        (start, end, found.image.path)
        for found in maps
        if not found.image.relocatable and found.image.path not in partitions
        for start, end in covered(_loaded(found.image))
    ]
    groups: list[tuple[int, dict[str, None]]] = []
    reach = -1
    for start, end, path in sorted(spans):
        if start >= reach:
            groups.append((start, {}))
        groups[-1][1].setdefault(path)
        reach = max(reach, end)
    shared = {tuple(sorted(paths)): address for address, paths in reversed(groups) if len(paths) > 1}
    return [Problem("note", "", _shared_message(paths, address)) for paths, address in sorted(shared.items())]


def _shared_message(paths: tuple[str, ...], address: int) -> str:
    names = ", ".join(paths[:_NAMED]) + (f" and {len(paths) - _NAMED:,} more" if len(paths) > _NAMED else "")
    where = f"loaded to the same addresses, from 0x{address:x}"
    return f"{names} are {where}: fine only for images in separate address spaces"


def _loaded(image: Image) -> list[Span]:
    loads = [(s.load_address, s.load_address + s.memory_size) for s in image.segments if s.loadable]
    return loads or [(s.load_address, s.load_address + s.size) for s in image.sections if s.occupies]
