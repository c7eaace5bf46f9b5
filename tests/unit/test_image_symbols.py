# SPDX-License-Identifier: Apache-2.0
"""Symbol tables made by hand, read back; damaged ones are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.elfwriter import A, Elf, Sec, W, X, symbol
from vxmon.image.bytesource import ByteSource
from vxmon.image.demangle import demangled, demangler
from vxmon.image.elf import ElfFile
from vxmon.image.model import Kind
from vxmon.image.symbols import SymbolTable, read_symbols

NAMES = b"\0main\0alias\0table\0_ZN3nav6filterEi\0bad\nname\0"
MAIN, ALIAS, TABLE, MANGLED, BAD = 1, 6, 12, 18, 35
FUNC, OBJECT, SECTION, FILE = 0x12, 0x11, 0x03, 0x04


def read(folder: Path, elf: Elf) -> tuple[SymbolTable, list[str]]:
    path = folder / "image.elf"
    path.write_bytes(elf.encode())
    with ByteSource(path) as source:
        file = ElfFile(source)
        table = read_symbols(file)
        return table, [p.message for p in file.problems]


def image(bits: int, order: str, rows: list[tuple[int, int, int, int, int]], *more: Sec) -> Elf:
    data = b"".join(symbol(*row, bits=bits, order=order) for row in [(0, 0, 0, 0, 0), *rows])
    sections = [
        Sec(".text", flags=A | X, address=0x1000, data=b"x" * 64),
        Sec(".data", flags=A | W, address=0x2000, data=b"x" * 64),
        Sec(".symtab", 2, data=data, link=4),
        Sec(".strtab", 3, data=NAMES),
        *more,
    ]
    return Elf(bits, order, sections=sections)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("bits", [32, 64])
def test_the_largest_come_first(tmp_path: Path, bits: int, order: str) -> None:
    rows = [
        (MAIN, 0x1000, 20, FUNC, 1),
        (TABLE, 0x2000, 48, OBJECT, 2),
        (ALIAS, 0x1000, 20, FUNC, 1),
        (MANGLED, 0x1020, 8, FUNC, 1),
        (0, 0x1000, 64, SECTION, 1),  # sections and files are no symbols to count
        (1, 0, 99, FILE, 0xFFF1),
        (MAIN, 0, 99, FUNC, 0),  # not defined here
        (MAIN, 0x1000, 0, FUNC, 1),  # no size
    ]
    table, problems = read(tmp_path, image(bits, order, rows))
    assert problems == []
    top = table.largest(10)
    assert [(s.name, s.size, s.address, s.kind, s.section) for s in top] == [
        ("table", 48, 0x2000, Kind.DATA, ".data"),
        ("main", 20, 0x1000, Kind.CODE, ".text"),
        ("_ZN3nav6filterEi", 8, 0x1020, Kind.CODE, ".text"),
    ]
    assert top[1].aliases == ("alias",)
    assert [s.name for s in table.largest(1)] == ["table"]
    assert table.largest(0) == []


def test_sizes_and_addresses_use_all_64_bits(tmp_path: Path) -> None:
    rows = [(MAIN, 2**64 - 2, 2**64 - 1, FUNC, 1), (TABLE, 0, 2**63, OBJECT, 2), (ALIAS, 0, 5, OBJECT, 2)]
    table, _ = read(tmp_path, image(64, "<", rows))
    assert [(s.address, s.size) for s in table.largest(3)] == [(2**64 - 2, 2**64 - 1), (0, 2**63), (0, 5)]


def test_large_section_numbers(tmp_path: Path) -> None:
    extra = Sec(".symtab_shndx", 18, link=3, data=(0).to_bytes(4, "big") + (2).to_bytes(4, "big"))
    table, _ = read(tmp_path, image(32, ">", [(MAIN, 0x2000, 4, OBJECT, 0xFFFF)], extra))
    assert table.largest(1)[0].section == ".data"


def test_absolute_symbols_have_no_section(tmp_path: Path) -> None:
    table, _ = read(tmp_path, image(32, ">", [(MAIN, 0x2000, 4, OBJECT, 0xFFF1)]))
    assert (table.largest(1)[0].section, table.largest(1)[0].kind) == ("(absolute)", None)


def test_names_are_one_line(tmp_path: Path) -> None:
    table, _ = read(tmp_path, image(32, ">", [(BAD, 0x2000, 4, OBJECT, 2), (9999, 0x2010, 4, OBJECT, 2)]))
    assert [s.name for s in table.largest(2)] == ["bad\\nname", ""]


def test_no_table_and_damaged_tables(tmp_path: Path) -> None:
    table, problems = read(tmp_path, Elf(sections=[Sec(".text", flags=A | X, data=b"1")]))
    assert (len(table), table.source, problems) == (0, "", [])
    table, problems = read(tmp_path, Elf(sections=[Sec(".symtab", 2, size=0x100000, offset=4)]))
    assert len(table) == 0
    assert "lies past the end" in problems[-1]
    data = bytes(16) + symbol(1, 0, 4, OBJECT, 1)
    table, problems = read(tmp_path, Elf(sections=[Sec(".symtab", 2, data=data, link=99)]))
    assert table.largest(1)[0].name == ""
    assert "cannot be read" in problems[-1]


def test_demangling() -> None:
    if demangler() is None:
        pytest.skip("c++filt (package binutils) is not installed")
    names = demangled(["_ZN3nav6filterEi", "main", "_Znonsense", "_RNvC4demo4main"])
    assert names["_ZN3nav6filterEi"] == "nav::filter(int)"
    assert "main" not in names
    assert "_Znonsense" not in names


def test_without_a_demangler(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    assert demangler() is None
    assert demangled(["_ZN3nav6filterEi"]) == {}
