# SPDX-License-Identifier: Apache-2.0
"""Growth, module checks and shares on made-up images. Expected figures: by hand from the sizes written here."""

from __future__ import annotations

from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.elfwriter import NOBITS, A, Elf, Sec, Seg, W, X, symbol
from vxmon.analysis.memmap.growth import parse_limit
from vxmon.analysis.memmap.images import MapRequest, MemoryMap, map_images
from vxmon.config.module import load_module
from vxmon.errors import InputError


def image(text: int = 0x100, data: int = 0x40, bss: int = 0x80, heap: int = 0x200, base: int = 0x1000) -> Elf:
    """Text, data, zero data and a heap, one behind the other, in two segments with no gap."""
    at = [base, base + text, base + text + data, base + text + data + bss]
    names = b"\0work\0buffer\0"
    table = symbol(0, 0, 0, 0, 0) + symbol(1, at[0], text, 0x12, 1) + symbol(6, at[1], data, 0x11, 2)
    return Elf(
        segments=[Seg(at[0], text, text, offset=0x1000), Seg(at[1], data + bss + heap, data, flags=6, offset=0x2000)],
        sections=[
            Sec(".text", flags=A | X, address=at[0], size=text, offset=0x1000),
            Sec(".data", flags=A | W, address=at[1], size=data, offset=0x2000),
            Sec(".bss", NOBITS, A | W, at[2], bss),
            Sec(".heap", NOBITS, A | W, at[3], heap),
            Sec(".symtab", 2, data=table, link=6),
            Sec(".strtab", 3, data=names),
        ],
    )


def write(path: Path, elf: Elf) -> Path:
    path.parent.mkdir(exist_ok=True)
    path.write_bytes(elf.encode().ljust(0x3000, b"\0"))
    return path


def compare(folder: Path, old: Elf, new: Elf, limit: str | None) -> MemoryMap:
    before, after = write(folder / "old" / "a.elf", old), write(folder / "a.elf", new)
    return map_images([after], MapRequest(baseline=[before], max_growth=limit))


def test_what_grew_is_sorted(tmp_path: Path) -> None:
    result = compare(tmp_path, image(), image(text=0x130, data=0x80, bss=0x60), None)
    (growth,) = result.growth
    assert [(c.name, c.old, c.new) for c in growth.totals] == [("ram", 0x3C0, 0x410), ("load", 0x140, 0x1B0)]
    assert [(c.what, c.name, c.delta) for c in growth.changes] == [
        ("section", ".data", 0x40),
        ("section", ".text", 0x30),
        ("section", ".bss", -0x20),
        ("symbol", "buffer", 0x40),
        ("symbol", "work", 0x30),
    ]
    assert not result.failed


@pytest.mark.parametrize(
    ("limit", "exceeded"),
    [
        ("80", ["load"]),
        ("79", ["ram", "load"]),
        ("112B", []),
        ("1K", []),
        ("8.3%", ["ram", "load"]),
        ("8.4 %", ["load"]),
    ],
)
def test_limits_of_growth(tmp_path: Path, limit: str, exceeded: list[str]) -> None:
    # RAM grows by 80 of 960 (8.333 %), load memory by 112 of 320 (35 %).
    result = compare(tmp_path, image(), image(text=0x130, data=0x80, bss=0x60), limit)
    assert [c.name for c in result.growth[0].exceeded] == exceeded
    assert result.failed == bool(exceeded)


def test_shrinking_never_fails(tmp_path: Path) -> None:
    assert not compare(tmp_path, image(text=0x200), image(), "0").failed


def test_parse_limit() -> None:
    assert [parse_limit(t) for t in ("0", "4K", "1.5 KiB", "2MB", "1G")] == [0, 4096, 1536, 2 << 20, 1 << 30]
    assert parse_limit("0.5%") == Fraction(5, 1000)
    for text in ("", "x", "-1", "1e3", "5 %%", "1.K", "9" * 16):
        with pytest.raises(InputError, match="no limit of growth"):
            parse_limit(text)


def test_baselines_are_found_by_name(tmp_path: Path) -> None:
    news = [write(tmp_path / n, image(text=0x180)) for n in ("a.elf", "b.elf")]
    olds = [write(tmp_path / "old" / n, image()) for n in ("b.elf", "a.elf")]
    growth = map_images(news, MapRequest(baseline=olds)).growth
    assert [(Path(g.path).name, Path(g.baseline).name) for g in growth] == [("a.elf", "a.elf"), ("b.elf", "b.elf")]
    with pytest.raises(InputError, match=r"b\.elf: there is no baseline"):
        map_images(news, MapRequest(baseline=[olds[1]]))
    with pytest.raises(InputError, match="give --baseline"):
        map_images(news, MapRequest(max_growth="5"))


MODULE = """<Module Name="m" Id="1"><CoreOS/><SharedDataRegions/><SharedLibraryRegions/><Connections/><HealthMonitor/>
<Applications><Application Name="navapp"><ApplicationDescription>
<MemorySize MemorySizeText="0x100" MemorySizeBss="{bss}"/></ApplicationDescription></Application></Applications>
<Partitions>
<Partition Name="NAV" Id="1"><PartitionDescription><Application NameRef="navapp"/>
<Settings RequiredMemorySize="{size}"/></PartitionDescription></Partition>
<Partition Name="IO" Id="2"><PartitionDescription>
<Settings RequiredMemorySize="4096"/></PartitionDescription></Partition>
<Partition Name="FMS" Id="3"><PartitionDescription/></Partition>
</Partitions><Schedules><Schedule Id="0"><PartitionWindow PartitionNameRef="NAV" Duration="1"/></Schedule></Schedules>
</Module>"""


def check(folder: Path, size: int = 0x3C0, bss: int = 0x280, **images_of: str) -> MemoryMap:
    xml = folder / "module.xml"
    xml.write_text(MODULE.format(size=size, bss=bss))
    paths = [
        write(folder / n, image(base=0x1000 * (i + 1))) for i, n in enumerate(("kernel.elf", "NavApp.elf", "fms.elf"))
    ]
    return map_images(paths, MapRequest(module=load_module(xml), images_of=images_of))


def test_partitions_against_their_memory(tmp_path: Path) -> None:
    result = check(tmp_path)
    assert result.module is not None
    nav, io, fms = result.module.partitions
    assert (nav.needed, nav.heap, nav.required, nav.margin, nav.verdict) == (0x3C0, 0x200, 0x3C0, 0, "fits")
    assert [(b.part, b.agreed, b.used) for b in nav.budgets] == [("text", 0x100, 0x100), ("bss", 0x280, 0x280)]
    assert (io.image, io.margin, io.verdict) == (None, None, "no image")
    assert (fms.margin, fms.verdict) == (None, "no limit")
    assert [Path(p).name for p in result.module.other_images] == ["kernel.elf"]
    assert not result.failed


def test_a_partition_that_is_too_large(tmp_path: Path) -> None:
    result = check(tmp_path, size=0x3BF)
    assert result.module is not None
    assert (result.module.partitions[0].margin, result.module.partitions[0].verdict) == (-1, "exceeds")
    assert result.failed
    result = check(tmp_path, bss=0x27F)
    assert result.module is not None
    assert result.module.partitions[0].verdict == "section exceeds"
    assert result.failed


def test_images_given_by_hand(tmp_path: Path) -> None:
    result = check(tmp_path, IO=str(tmp_path / "kernel.elf"))
    assert result.module is not None
    assert result.module.partitions[1].verdict == "fits"
    with pytest.raises(InputError, match="there is no partition 'X'"):
        check(tmp_path, X=str(tmp_path / "kernel.elf"))
    with pytest.raises(InputError, match="not among the images"):
        check(tmp_path, IO="other.elf")


def test_two_images_for_one_partition(tmp_path: Path) -> None:
    xml = tmp_path / "module.xml"
    xml.write_text(MODULE.format(size=1, bss=1))
    paths = [write(tmp_path / n, image()) for n in ("nav.elf", "navapp.elf")]
    with pytest.raises(InputError, match="could both be partition 'NAV'"):
        map_images(paths, MapRequest(module=load_module(xml)))


def test_images_loaded_to_the_same_addresses_are_noted_once(tmp_path: Path) -> None:
    paths = [write(tmp_path / n, image(base=b)) for n, b in (("a.elf", 0x1000), ("b.elf", 0x1100), ("c.elf", 0x9000))]
    (problem,) = map_images(paths, MapRequest()).problems
    assert problem.message.startswith(f"{paths[0]}, {paths[1]} are loaded to the same addresses, from 0x1000")


def test_partitions_may_share_addresses(tmp_path: Path) -> None:
    xml = tmp_path / "module.xml"
    xml.write_text(MODULE.format(size=0x1000, bss=0x1000))
    paths = [write(tmp_path / n, image()) for n in ("nav.elf", "io.elf")]
    assert map_images(paths, MapRequest(module=load_module(xml))).problems == ()


def test_a_map_is_for_one_image(tmp_path: Path) -> None:
    paths = [write(tmp_path / n, image()) for n in ("a.elf", "b.elf")]
    with pytest.raises(InputError, match="belongs to one image"):
        map_images(paths, MapRequest(linkmap=tmp_path / "x.map"))


def test_what_is_missing_is_said(tmp_path: Path) -> None:
    path = tmp_path / "a.elf"
    path.write_bytes(Elf(segments=[Seg(0x1000, 16, 16)]).encode())
    messages = [p.message for p in map_images([path], MapRequest(symbols=5, units=True)).problems]
    assert [m.split(":")[0] for m in messages] == [
        "no section headers",
        "no symbols with a size",
        "no compile units",
    ]
    path.write_bytes(Elf().encode())
    assert [p.severity for p in map_images([path], MapRequest()).problems] == ["warning"]
