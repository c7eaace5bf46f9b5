# SPDX-License-Identifier: Apache-2.0
"""Who the bytes of an image belong to: compile units by DWARF, archive members by a linker map."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from vxmon.image.dwarf import Unit
from vxmon.image.layout import Span, covered
from vxmon.image.linkmap import LinkMap
from vxmon.image.model import Image, Kind, Section
from vxmon.image.symbols import SymbolTable

__all__ = ["NO_UNIT", "Share", "member_shares", "unit_shares"]

NO_UNIT = "(no compile unit)"


@dataclass(frozen=True, slots=True)
class Share:
    """What one origin takes of an image, in bytes by kind. ``group`` is the unit's folder, or the archive."""

    name: str
    group: str
    sizes: dict[Kind, int]

    @property
    def total(self) -> int:
        """Return all its bytes."""
        return sum(self.sizes.values())


class _Places:
    """The sections that occupy memory, findable by address."""

    def __init__(self, image: Image) -> None:
        self._sections = sorted((s for s in image.sections if s.occupies), key=lambda s: s.address)
        self._starts = [s.address for s in self._sections]

    def at(self, address: int) -> Section | None:
        position = bisect_right(self._starts, address)
        section = self._sections[position - 1] if position else None
        return section if section is not None and address < section.end else None

    def parts(self, spans: Iterable[Span]) -> Iterator[tuple[Kind, int]]:
        """Yield the spans cut to the sections they begin in: code that was left out of the image has no section."""
        for start, end in covered(spans):
            section = self.at(start)
            if section is not None:
                yield section.kind, min(end, section.end) - start


def unit_shares(image: Image, units: Iterable[Unit], symbols: SymbolTable) -> list[Share]:
    """Return what each compile unit takes, largest first; the rest as NO_UNIT.

    Units of one name and folder are one share. A variable's size is that of the symbol at its address.
    """
    places = _Places(image)
    sizes = _sizes_by_address(symbols)
    claimed: set[int] = set()
    shares: dict[tuple[str, str], Share] = {}
    for unit in units:
        share = shares.setdefault((unit.name, unit.folder), Share(unit.name, unit.folder, {}))
        for kind, size in places.parts(unit.code):
            share.sizes[kind] = share.sizes.get(kind, 0) + size
        for address in unit.variables:
            section = places.at(address)
            if section is not None and address not in claimed and address in sizes:
                claimed.add(address)
                share.sizes[section.kind] = share.sizes.get(section.kind, 0) + sizes[address]
    return _with_rest(image, list(shares.values()), NO_UNIT)


def member_shares(image: Image, linkmap: LinkMap) -> list[Share]:
    """Return what each object file of a linker map takes of the image's memory, largest first.

    Padding is a share of its own; what the map's parts and the section differ by is (merged or by script): string
    sections shrink when they are merged, and scripts reserve space.
    """
    kinds = {s.name: s.kind for s in image.sections if s.occupies}
    known = [Share(m.name, m.archive, _by_kind(m.sizes, kinds)) for m in linkmap.members]
    known.append(Share("(padding)", "", _by_kind(linkmap.fill, kinds)))
    return _with_rest(image, [s for s in known if s.total], "(merged or by script)")


def _by_kind(sizes: dict[str, int], kinds: dict[str, Kind]) -> dict[Kind, int]:
    result: dict[Kind, int] = {}
    for output, size in sizes.items():
        kind = kinds.get(output)
        if kind is not None and size:
            result[kind] = result.get(kind, 0) + size
    return result


def _sizes_by_address(symbols: SymbolTable) -> dict[int, int]:
    """Return the largest size of the symbols at each address."""
    sizes: dict[int, int] = {}
    for address, size in zip(symbols.address.tolist(), symbols.size.tolist(), strict=True):
        if size > sizes.get(address, 0):
            sizes[address] = size
    return sizes


def _with_rest(image: Image, shares: list[Share], name: str) -> list[Share]:
    """Add what is left of each kind, and sort."""
    rest: dict[Kind, int] = {}
    for section in image.sections:
        if section.occupies:
            rest[section.kind] = rest.get(section.kind, 0) + section.size
    for share in shares:
        for kind, size in share.sizes.items():
            rest[kind] = rest.get(kind, 0) - size
    left = {kind: size for kind, size in rest.items() if size}
    result = [s for s in shares if s.sizes]
    if left:
        result.append(Share(name, "", left))
    return sorted(result, key=lambda s: (-s.total, s.name, s.group))
