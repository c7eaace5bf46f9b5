# SPDX-License-Identifier: Apache-2.0
"""ELF files of several machines, read by vxmon and by binutils (readelf, size, nm, objdump), which must agree.

Always there: the Python interpreter and the extension modules of the virtual environment, the C library of the
cross compiler. Where installed: what ``make build`` made, C libraries for other machines (Debian libc6-*-cross),
boot loaders (u-boot-qemu, opensbi).
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sys
import sysconfig
from collections import Counter
from collections.abc import Iterator
from functools import lru_cache
from pathlib import Path

import pytest

from vxmon.image.bytesource import ByteSource
from vxmon.image.elf import ElfFile, read_image
from vxmon.image.layout import lay_out
from vxmon.image.model import Kind
from vxmon.image.symbols import read_symbols

ROOT = Path(__file__).parents[2]
PER_FOLDER = 5
ALWAYS = [Path(sys.executable).resolve(), *sorted(Path(sysconfig.get_path("platlib")).glob("lxml/*.so"))[:3]]
PLACES = {
    "powerpc (libc6-powerpc-cross)": "/usr/powerpc-linux-gnu/lib/*",
    "s390x (libc6-s390x-cross)": "/usr/s390x-linux-gnu/lib/*",
    "mips (libc6-mips-cross)": "/usr/mips-linux-gnu/lib/*",
    "sparc64 (libc6-sparc64-cross)": "/usr/sparc64-linux-gnu/lib/*",
    "riscv64 (libc6-riscv64-cross)": "/usr/riscv64-linux-gnu/lib/*",
    "armhf (libc6-armhf-cross)": "/usr/arm-linux-gnueabihf/lib/*",
    "x86 (libc6)": "/usr/lib/x86_64-linux-gnu/*.so.[0-9]",
    "object files (libc6-dev)": "/usr/lib/x86_64-linux-gnu/*.o",
    "boot loaders (u-boot-qemu)": "/usr/lib/u-boot/*/uboot.elf",
    "boot loaders (opensbi)": "/usr/lib/riscv64-linux-gnu/opensbi/generic/*.elf",
    "firmware (openbios, with QEMU)": "/usr/share/qemu/openbios-*",
    "firmware (opensbi, with QEMU)": "/usr/share/qemu/opensbi-*.elf",
    "this build (make build)": str(ROOT / "build/**/*.elf"),
}


def is_elf(path: Path) -> bool:
    try:
        return path.is_file() and path.read_bytes()[:4] == b"\x7fELF"
    except OSError:
        return False


def found(pattern: str) -> list[Path]:
    """Return the largest ELF files of a place, and no two that are one."""
    paths = {p.resolve() for p in Path("/").glob(pattern.lstrip("/")) if is_elf(p)}
    return sorted(paths, key=lambda p: (-p.stat().st_size, p))[:PER_FOLDER]


def cases() -> Iterator[object]:
    for path in ALWAYS:
        yield pytest.param(path, id=path.name)
    for place, pattern in PLACES.items():
        paths = found(pattern)
        for path in paths:
            yield pytest.param(path, id=f"{place.split()[0]}-{path.parent.name}-{path.name}")
        if not paths:
            yield pytest.param(None, id=place, marks=pytest.mark.skip(reason=f"no ELF files here of {place}"))


IMAGES = pytest.mark.parametrize("path", list(cases()))


@lru_cache(maxsize=32)
def run(*command: str) -> str:
    if shutil.which(command[0]) is None:
        pytest.skip(f"{command[0]} (package binutils) is not installed")
    result = subprocess.run(command, capture_output=True, encoding="utf-8", errors="replace", timeout=120, check=False)
    assert result.returncode == 0, result.stderr
    return result.stdout


SECTION = re.compile(
    r"\s*\[\s*(\d+)\] (.*?)\s+(\S+)\s+([0-9a-f]{8,16}) ([0-9a-f]+) ([0-9a-f]+) [0-9a-f]+ (.{3})\s+\d+\s+\d+\s+(\d+)$"
)
SEGMENT = re.compile(r"\s*(\S+)\s+0x(\S+) 0x(\S+) 0x(\S+) 0x(\S+) 0x(\S+) ([R ][W ][E ]) (?:0x)?(\S*)$")


def readelf_sections(path: Path) -> list[tuple[str, str, int, int, int, str]]:
    """Return name, type, address, offset, size, flags of each section but the null one."""
    lines = run("readelf", "-SW", str(path)).splitlines()
    rows = [m for line in lines if (m := SECTION.match(line))]
    return [(m[2].strip(), m[3], int(m[4], 16), int(m[5], 16), int(m[6], 16), m[7]) for m in rows if m[1] != "0"]


@IMAGES
def test_sections_are_those_of_readelf(path: Path) -> None:
    image = read_image(path)
    expected = readelf_sections(path)
    assert len(image.sections) == len(expected)
    for section, (name, kind, address, offset, size, flags) in zip(image.sections, expected, strict=True):
        assert section.name == name
        assert (section.address, section.offset, section.size) == (address, offset, size)
        if not section.type.startswith("0x"):
            assert kind in (section.type, section.type.removeprefix("GNU_"))
        assert ("A" in flags) == bool(section.permissions)


@IMAGES
def test_segments_are_those_of_readelf(path: Path) -> None:
    image = read_image(path)
    rows = [m for line in run("readelf", "-lW", str(path)).splitlines() if (m := SEGMENT.match(line))]
    expected = [tuple(int(m[i], 16) for i in (2, 3, 4, 5, 6)) for m in rows]
    ours = [(s.offset, s.address, s.load_address, s.file_size, s.memory_size) for s in image.segments]
    if image.segments and all(s.load_address == s.address for s in image.segments):
        # All load addresses 0 in the file are taken as run addresses; readelf shows them as they are.
        expected = [(o, a, a, f, m) for o, a, _, f, m in expected]
    assert ours == expected
    assert [s.permissions.replace("X", "E").replace("-", " ") for s in image.segments] == [m[7] for m in rows]


@IMAGES
def test_segment_totals_are_the_sums_of_readelf(path: Path) -> None:
    """Where no segments overlap, what is stored are their file sizes, and what is mapped their memory sizes."""
    image = read_image(path)
    totals = lay_out(image).totals
    if image.relocatable or totals.kinds[Kind.RESERVED] or lay_out(image).overlaps:
        pytest.skip("an object file, reserved addresses or overlaps")
    rows = [m for line in run("readelf", "-lW", str(path)).splitlines() if (m := SEGMENT.match(line))]
    loads = [m for m in rows if m[1] == "LOAD"]
    assert totals.stored == sum(int(m[5], 16) for m in loads)
    assert totals.mapped == sum(int(m[6], 16) for m in loads)


@IMAGES
def test_totals_are_the_sums_of_readelf(path: Path) -> None:
    """Where nothing overlaps, RAM is the sum of the allocated sections that take memory."""
    image = read_image(path)
    layout = lay_out(image)
    if layout.overlaps:
        pytest.skip("the sections of this file overlap")
    rows = [r for r in readelf_sections(path) if "A" in r[5]]
    memory = sum(r[4] for r in rows if not (r[1] == "NOBITS" and ("T" in r[5] or "W" not in r[5])))
    stored = sum(r[4] for r in rows if r[1] != "NOBITS")
    assert (layout.totals.ram + layout.totals.in_place, layout.totals.load) == (memory, stored)


@IMAGES
def test_totals_are_those_of_size(path: Path) -> None:
    """Berkeley size: text, data and bss are all that is allocated, .tbss and reservations included."""
    image = read_image(path)
    kinds = lay_out(image).totals.kinds
    text, data, bss = (int(n) for n in run("size", str(path)).splitlines()[1].split()[:3])
    assert text + data + bss == sum(size for kind, size in kinds.items() if kind is not Kind.NONE)
    assert (text, data) == (kinds[Kind.CODE] + kinds[Kind.CONSTANTS], kinds[Kind.DATA])


@IMAGES
def test_every_section_is_in_size_a(path: Path) -> None:
    rows = [line.split() for line in run("size", "-A", "-x", str(path)).splitlines()]
    expected = Counter((r[0], int(r[1], 16), int(r[2], 16)) for r in rows if len(r) == 3 and r[2].startswith("0x"))
    image = read_image(path)
    ours = Counter((s.name, s.size, s.address) for s in image.sections if s.permissions)
    assert ours - expected == Counter(), "allocated sections that size does not know"


@IMAGES
def test_load_addresses_are_those_of_objdump(path: Path) -> None:
    rows = [line.split() for line in run("objdump", "-hw", str(path)).splitlines()]
    expected = {
        (r[1], int(r[3], 16)): int(r[4], 16)
        for r in rows
        if len(r) > 5 and r[0].isdigit() and "ALLOC" in " ".join(r).replace(",", "").split()
    }
    image = read_image(path)
    ours = {(s.name, s.address): s.load_address for s in image.sections if s.permissions and s.size}
    assert {key: ours[key] for key in ours if key in expected} == {k: v for k, v in expected.items() if k in ours}
    assert len(ours) == len(ours.keys() & expected.keys())


@IMAGES
def test_symbols_are_those_of_nm(path: Path) -> None:
    with ByteSource(path) as source:
        table = read_symbols(ElfFile(source))
    if not len(table):
        assert run("nm", "-S", "--size-sort", str(path)).strip() == ""
        return
    dynamic = ["-D"] if table.source == ".dynsym" else []
    rows = [line.split() for line in run("nm", "-S", "--size-sort", *dynamic, str(path)).splitlines()]
    expected = Counter((r[3].split("@")[0], int(r[1], 16)) for r in rows if len(r) == 4)
    ours = Counter((s.name.split("@")[0], s.size) for s in map(table.symbol, range(len(table))))
    assert ours == expected


@IMAGES
def test_the_largest_symbols_are_the_last_of_nm(path: Path) -> None:
    with ByteSource(path) as source:
        elf = ElfFile(source)
        table = read_symbols(elf)
    if elf.image.relocatable:
        pytest.skip("nm does not tell the sections of an object file apart")
    dynamic = ["-D"] if table.source == ".dynsym" else []
    rows = [line.split() for line in run("nm", "-S", "--size-sort", *dynamic, str(path)).splitlines()]
    places = dict.fromkeys((int(r[0], 16), int(r[1], 16)) for r in reversed(rows) if len(r) == 4)
    assert [s.size for s in table.largest(10)] == [size for _, size in places][:10]
