# SPDX-License-Identifier: Apache-2.0
"""Compile units: programs of known content, built by several compilers and DWARF versions, checked with pyelftools.

Sizes of data are those of the C source below; spans of code are what pyelftools says of the same file.
"""

from __future__ import annotations

import re
import shutil
import subprocess
import sysconfig
from pathlib import Path

import pytest
from elftools.dwarf.ranges import RangeEntry
from elftools.elf.elffile import ELFFile

from vxmon.image.bytesource import ByteSource
from vxmon.image.dwarf import Unit, read_units
from vxmon.image.elf import ElfFile
from vxmon.image.layout import covered
from vxmon.image.linkmap import read_linkmap
from vxmon.image.model import Kind
from vxmon.image.symbols import read_symbols
from vxmon.image.units import NO_UNIT, Share, member_shares, unit_shares

# int has 4 bytes on every machine here, so: a.c zero data 100 + 8, data 40, constants 12; b.c data 4 + 16, zero data 3.
A_C = """
int zero[25]; int data[10] = {1}; const int table[3] = {1, 2, 3};
__attribute__((section(".text.cold2"), noinline)) int far_away(int x) { return x * 3 + data[x & 7]; }
int once(void) { static int local[2]; local[zero[2] & 1]++; return local[0] + zero[1]; }
"""
B_C = """
extern int once(void); extern int far_away(int); extern const int table[];
static int counter = 5; int more[4] = {7}; char zero3[3];
__attribute__((section(".text.start"))) void _start(void) {
  for (;;) { counter += once() + far_away(counter) + table[counter & 1] + more[counter & 3]; zero3[counter & 1] = 1; }
}
"""
PPC = ["powerpc-linux-gnu-gcc", "-mcpu=e500mc", "-msoft-float", "-G0", "-mno-sdata"]
COMPILERS = {
    "powerpc-dwarf2": [*PPC, "-gdwarf-2", "-gstrict-dwarf"],
    "powerpc-dwarf3": [*PPC, "-gdwarf-3"],
    "powerpc-dwarf4": [*PPC, "-gdwarf-4"],
    "powerpc-dwarf5": [*PPC, "-gdwarf-5"],
    "powerpc-dwarf5-64bit-offsets": [*PPC, "-gdwarf-5", "-gdwarf64"],
    "powerpc-compressed": [*PPC, "-g", "-gz=zlib"],
    "x86-dwarf4": ["gcc", "-gdwarf-4"],
    "x86-dwarf5": ["gcc", "-gdwarf-5"],
    "x86-32bit": ["gcc", "-m32", "-g"],
    "x86-split": ["gcc", "-g", "-gsplit-dwarf"],
    "clang-dwarf4": ["clang", "-gdwarf-4"],
    "clang-dwarf5": ["clang", "-gdwarf-5"],
}
FLAGS = "-O1 -ffreestanding -fno-pic -no-pie -nostdlib -static -fno-common -fno-asynchronous-unwind-tables".split()


def build(folder: Path, compiler: list[str], *more: str) -> Path:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    (folder / "a.c").write_text(A_C)
    (folder / "b.c").write_text(B_C)
    command = [*compiler, *FLAGS, "a.c", "b.c", "-o", "image.elf", *more]
    result = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=60, check=False)
    if result.returncode:
        pytest.skip(f"cannot build: {result.stderr.strip()[:200]}")
    return folder / "image.elf"


def read(path: Path) -> tuple[ElfFile, list[Unit], list[Share]]:
    with ByteSource(path) as source:
        elf = ElfFile(source)
        symbols = read_symbols(elf)
        units = read_units(elf)
    assert elf.problems == []
    return elf, units, unit_shares(elf.image, units, symbols)


def run_readelf(path: Path) -> str:
    command = ["readelf", "--debug-dump=aranges", str(path)]
    return subprocess.run(command, capture_output=True, text=True, timeout=60, check=True).stdout


def pyelftools_spans(path: Path) -> list[list[tuple[int, int]]]:
    """Return the code of each unit as pyelftools reads it."""
    result: list[list[tuple[int, int]]] = []
    with path.open("rb") as file:
        info = ELFFile(file).get_dwarf_info()
        for unit in info.iter_CUs():
            top = unit.get_top_DIE()
            low = top.attributes["DW_AT_low_pc"].value if "DW_AT_low_pc" in top.attributes else 0
            if "DW_AT_ranges" in top.attributes:
                lists = info.range_lists()
                assert lists is not None
                entries = lists.get_range_list_at_offset(top.attributes["DW_AT_ranges"].value, cu=unit)
                spans = []
                base = low
                for entry in entries:
                    if isinstance(entry, RangeEntry):
                        offset = 0 if entry.is_absolute else base
                        spans.append((offset + entry.begin_offset, offset + entry.end_offset))
                    else:
                        base = entry.base_address
                result.append(covered(spans))
            elif "DW_AT_high_pc" in top.attributes:
                high = top.attributes["DW_AT_high_pc"]
                end = high.value if high.form == "DW_FORM_addr" else low + high.value
                result.append(covered([(low, end)]))
            else:
                result.append([])
    return result


@pytest.mark.parametrize("name", COMPILERS)
def test_units_are_those_of_the_source(tmp_path: Path, name: str) -> None:
    path = build(tmp_path, COMPILERS[name])
    _, units, shares = read(path)
    if name == "x86-split":
        # Only the skeletons are in the image: the names of the files with the rest, and the code.
        assert [u.name for u in units] == ["image.elf-a.dwo", "image.elf-b.dwo"]
        return
    assert [Path(u.name).name for u in units] == ["a.c", "b.c"]
    by_name = {Path(s.name).name: s for s in shares}
    assert by_name["a.c"].sizes[Kind.CONSTANTS] == 12
    assert (by_name["a.c"].sizes[Kind.ZERO_DATA], by_name["a.c"].sizes[Kind.DATA]) == (108, 40)
    assert (by_name["b.c"].sizes[Kind.ZERO_DATA], by_name["b.c"].sizes[Kind.DATA]) == (3, 20)
    assert by_name["a.c"].group == str(tmp_path)


@pytest.mark.parametrize("name", COMPILERS)
def test_code_is_that_of_pyelftools(tmp_path: Path, name: str) -> None:
    path = build(tmp_path, COMPILERS[name])
    _, units, _ = read(path)
    if name == "powerpc-dwarf2":
        # Strict DWARF 2 gives a unit one span; the other is in .debug_aranges only.
        sizes = [sum(b - a for a, b in covered(u.code)) for u in units]
        rows = [line.split() for line in run_readelf(path).splitlines()]
        lengths = [int(r[1], 16) for r in rows if len(r) == 2 and re.fullmatch("[0-9a-f]{8}", r[1])]
        zeros = [i for i, n in enumerate(lengths) if n == 0]
        assert sizes == [sum(lengths[: zeros[0]]), sum(lengths[zeros[0] :])]
        return
    assert [covered(u.code) for u in units] == pyelftools_spans(path)
    assert all(u.code for u in units)


@pytest.mark.parametrize("name", ["powerpc-dwarf5", "x86-dwarf5"])
def test_shares_add_up_to_the_image(tmp_path: Path, name: str) -> None:
    elf, _, shares = read(build(tmp_path, COMPILERS[name]))
    for kind in (Kind.CODE, Kind.CONSTANTS, Kind.DATA, Kind.ZERO_DATA):
        whole = sum(s.size for s in elf.image.sections if s.kind is kind)
        assert sum(share.sizes.get(kind, 0) for share in shares) == whole


def test_a_library_with_debug_information() -> None:
    """The interpreter's own library where it has DWARF: hundreds of units of real code."""
    folder, name = sysconfig.get_config_var("LIBDIR"), sysconfig.get_config_var("INSTSONAME")
    path = Path(str(folder)) / str(name)
    if not path.is_file() or b".debug_info" not in path.read_bytes():
        pytest.skip("the interpreter has no library with debug information")
    elf, units, shares = read(path)
    assert [covered(u.code) for u in units] == [
        covered([s for s in spans if s[0] != s[1]]) for spans in pyelftools_spans(path)
    ]
    assert sum(s.total for s in shares) == sum(s.size for s in elf.image.sections if s.occupies)
    assert next(s.total for s in shares if s.name == NO_UNIT) < sum(s.total for s in shares) / 2


def test_a_linker_map_accounts_for_every_byte(tmp_path: Path) -> None:
    (tmp_path / "c.c").write_text("int from_archive[7] = {1}; int once_more(void) { return from_archive[0]; }")
    path = build(tmp_path, PPC, "-g", "-Wl,-Map=image.map")
    with ByteSource(path) as source:
        image = ElfFile(source).image
    linkmap = read_linkmap(tmp_path / "image.map")
    shares = member_shares(image, linkmap)
    for kind in (Kind.CODE, Kind.CONSTANTS, Kind.DATA, Kind.ZERO_DATA):
        whole = sum(s.size for s in image.sections if s.kind is kind)
        assert sum(share.sizes.get(kind, 0) for share in shares) == whole
    # The temporary object files come in the order of the command line: a.c then b.c.
    data = [s.sizes.get(Kind.DATA, 0) for s in sorted(shares, key=lambda s: -s.sizes.get(Kind.DATA, 0))]
    assert data[:2] == [40, 20]
