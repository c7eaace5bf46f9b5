# SPDX-License-Identifier: Apache-2.0
"""Messages from debug information: compilers of two byte orders lay out data whose values this file knows.

The bytes of the variables are what the compiler put into .data, found with pyelftools; places are those of offsetof.
"""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection

from vxmon.errors import InputError
from vxmon.icd.decoded import DecodedFields, Status
from vxmon.icd.dwarf import list_types, message_of_type
from vxmon.icd.layout import Layout
from vxmon.icd.loading import load_icd
from vxmon.icd.model import FieldType
from vxmon.report.icd_data import layout_rows

SOURCE = """
#include <stddef.h>
#include <stdint.h>
enum nav_mode { MODE_ALIGN, MODE_NAV, MODE_DEGRADED = 7 };
enum trend { FALLING = -1, STEADY, RISING };
typedef struct { float lat; double lon; } position_t;
typedef const volatile uint16_t sealed_t;
struct nav_state {
    uint32_t counter;
    sealed_t status;
    int8_t small;
    _Bool ready;
    enum nav_mode mode;
    enum trend trend;
    unsigned int one : 1;
    unsigned int three : 3;
    int minus : 6;
    enum nav_mode bits_of_mode : 4;
    unsigned int across : 18;
    unsigned int next_word : 9;
    uint64_t wide : 40;
    signed char odd : 3;
    uint64_t large;
    int64_t negative;
    position_t points[2];
    char name[8];
    unsigned char blob[3];
    uint16_t grid[2][3];
    char lines[2][4];
    struct { int16_t inner; struct { uint8_t deep; } level; };
    union { uint32_t word; float real; } either;
    void *where;
    struct nav_state *self;
};
struct nav_state nav = {
    .counter = 0x01020304, .status = 65535, .small = -128, .ready = 1, .mode = MODE_DEGRADED, .trend = FALLING,
    .one = 1, .three = 5, .minus = -17, .bits_of_mode = MODE_NAV, .across = 0x2ABCD, .next_word = 300,
    .wide = 0x123456789A, .odd = -2, .large = 0xFEDCBA9876543210, .negative = -1234567890123456789,
    .points = {{1.5f, -2.25}, {0.1f, 1e100}}, .name = "NAV-1", .blob = {1, 0xFE, 3},
    .grid = {{1, 2, 3}, {4, 5, 65000}}, .lines = {"ab", "cdef"}, .inner = -7, .level.deep = 200,
    .either.word = 0xA1B2C3D4, .where = (void *)0x1234, .self = 0,
};
const uint32_t places[] = {
    offsetof(struct nav_state, counter), offsetof(struct nav_state, status), offsetof(struct nav_state, mode),
    offsetof(struct nav_state, large), offsetof(struct nav_state, points[1].lon), offsetof(struct nav_state, name),
    offsetof(struct nav_state, grid[1][2]), offsetof(struct nav_state, lines[1]), offsetof(struct nav_state, inner),
    offsetof(struct nav_state, level.deep), offsetof(struct nav_state, either), offsetof(struct nav_state, where),
    sizeof(struct nav_state),
};
typedef struct nav_state nav_state_t;
nav_state_t *user = &nav;
struct sensor { uint8_t kind; uint16_t value; };
struct sensor sensor;
void _start(void) { for (;;) { nav.counter++; sensor.value++; user->counter += places[0]; } }
"""
PLACES = [
    "counter", "status", "mode", "large", "points[1].lon", "name", "grid[1][2]", "lines[1]", "inner", "level.deep",
    "either", "where",
]  # fmt: skip
VALUES: dict[str, Any] = {
    "counter": 0x01020304, "status": 65535, "small": -128, "ready": True, "mode": 7, "trend": -1, "one": 1, "three": 5,
    "minus": -17, "bits_of_mode": 1, "across": 0x2ABCD, "next_word": 300, "wide": 0x123456789A, "odd": -2,
    "large": 0xFEDCBA9876543210, "negative": -1234567890123456789, "points[0].lat": 1.5, "points[0].lon": -2.25,
    "points[1].lat": float(np.float32(0.1)), "points[1].lon": 1e100, "name": b"NAV-1", "blob": [1, 0xFE, 3],
    "grid[0][0]": 1, "grid[0][1]": 2, "grid[0][2]": 3, "grid[1][0]": 4, "grid[1][1]": 5, "grid[1][2]": 65000,
    "lines[0]": b"ab", "lines[1]": b"cdef", "inner": -7, "level.deep": 200, "where": 0x1234, "self": 0,
}  # fmt: skip

PPC = ["powerpc-linux-gnu-gcc", "-mcpu=e500mc", "-msoft-float"]
COMPILERS = {
    **{f"powerpc-dwarf{n}": [*PPC, f"-gdwarf-{n}"] for n in (2, 3, 4, 5)},
    "powerpc-dwarf2-strict": [*PPC, "-gdwarf-2", "-gstrict-dwarf"],
    "powerpc-dwarf4-strict": [*PPC, "-gdwarf-4", "-gstrict-dwarf"],
    "powerpc-dwarf4-types": [*PPC, "-gdwarf-4", "-fdebug-types-section"],
    "powerpc-dwarf5-types": [*PPC, "-gdwarf-5", "-fdebug-types-section"],
    "powerpc-dwarf5-64bit-offsets": [*PPC, "-gdwarf-5", "-gdwarf64"],
    "powerpc-compressed": [*PPC, "-g", "-gz=zlib"],
    **{f"x86-dwarf{n}": ["gcc", f"-gdwarf-{n}"] for n in (2, 3, 4, 5)},
    "x86-dwarf2-strict": ["gcc", "-gdwarf-2", "-gstrict-dwarf"],
    "x86-dwarf4-types": ["gcc", "-gdwarf-4", "-fdebug-types-section"],
    "x86-32bit": ["gcc", "-m32", "-g"],
    "x86-packed": ["gcc", "-g", "-fpack-struct=1"],
    **{f"clang-dwarf{n}": ["clang", f"-gdwarf-{n}"] for n in (2, 3, 4, 5)},
    "clang-dwarf4-types": ["clang", "-gdwarf-4", "-fdebug-types-section"],
}
FLAGS = "-O1 -ffreestanding -fno-pic -no-pie -nostdlib -static -fno-asynchronous-unwind-tables -w".split()


def build(folder: Path, compiler: list[str], *sources: str, suffix: str = ".c") -> Path:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    paths = [folder / f"unit{number}{suffix}" for number in range(len(sources))]
    for path, source in zip(paths, sources, strict=True):
        path.write_text(source)
    target = folder / "app.elf"
    command = [*compiler, *FLAGS, "-o", str(target), *map(str, paths)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)
    if done.returncode and "-m32" in compiler:
        pytest.skip("no 32-bit headers")
    assert not done.returncode, done.stderr
    return target


def variable(path: Path, name: str) -> bytes:
    """Return the bytes that a variable begins with, by pyelftools."""
    with path.open("rb") as file:
        elf = ELFFile(file)
        symbols = elf.get_section_by_name(".symtab")
        assert isinstance(symbols, SymbolTableSection)
        (symbol,) = symbols.get_symbol_by_name(name) or []
        section = elf.get_section(symbol["st_shndx"])
        at = symbol["st_value"] - section["sh_addr"]
        return bytes(section.data()[at : at + symbol["st_size"]])


def decode(path: Path, kind: str, data: bytes) -> DecodedFields:
    return Layout(message_of_type(str(path), kind)).decode(np.frombuffer(data, np.uint8).reshape(1, -1))


@pytest.mark.parametrize("name", sorted(COMPILERS))
def test_values_are_those_of_the_source(tmp_path: Path, name: str) -> None:
    path = build(tmp_path, COMPILERS[name], SOURCE)
    decoded = decode(path, "struct nav_state", variable(path, "nav"))
    got = {name: column.values[0].tolist() for name, column in decoded.columns.items()}
    raw = bytes(got.pop("either"))
    assert got == VALUES
    assert {column.status[0] for column in decoded.columns.values()} == {Status.VALID}
    assert raw == bytes.fromhex("a1b2c3d4" if "powerpc" in name else "d4c3b2a1")


@pytest.mark.parametrize("name", sorted(COMPILERS))
def test_places_are_those_of_offsetof(tmp_path: Path, name: str) -> None:
    path = build(tmp_path, COMPILERS[name], SOURCE)
    message = message_of_type(str(path), "nav_state_t")
    places = np.frombuffer(variable(path, "places"), ">u4" if "powerpc" in name else "<u4").tolist()
    fields = {field.name: field for field in message.fields}
    assert [fields[name].position // 8 for name in PLACES] == places[:-1]
    assert message.size == places[-1]


def test_names_of_enumerations(tmp_path: Path) -> None:
    path = build(tmp_path, COMPILERS["powerpc-dwarf4"], SOURCE)
    fields = {field.name: field for field in message_of_type(str(path), "struct nav_state").fields}
    assert fields["mode"].values == {0: "MODE_ALIGN", 1: "MODE_NAV", 7: "MODE_DEGRADED"}
    assert fields["trend"].values == {-1: "FALLING", 0: "STEADY", 1: "RISING"}
    assert fields["where"].display == "hex"


def test_padding_is_no_gap(tmp_path: Path) -> None:
    path = build(tmp_path, COMPILERS["powerpc-dwarf5"], SOURCE)
    message = message_of_type(str(path), "struct sensor")
    padding = [(f.position, f.length) for f in message.fields if f.type is FieldType.PADDING]
    assert padding == [(8, 8)]  # value is aligned to 2 bytes


@pytest.mark.parametrize("name", ["powerpc-dwarf4", "x86-dwarf5"])
def test_an_icd_of_the_same_message_decodes_to_the_same(tmp_path: Path, name: str) -> None:
    # The ICD has no bit-fields of more than a byte, whose places in C are the compiler's business.
    path = build(tmp_path, COMPILERS[name], SOURCE)
    data = variable(path, "nav")
    at = {field.name: field for field in message_of_type(str(path), "struct nav_state").fields}
    order = "big" if "powerpc" in name else "little"
    lines = [f'icd = 1\nbyte_order = "{order}"\n[[message]]\nname = "nav"\nsize = {len(data)}\nfield = [']
    for field, text in {
        "counter": 'type = "unsigned", length = 32', "small": 'type = "signed", length = 8',
        "ready": 'type = "bool", length = 8', "trend": 'type = "enum", length = 32, values = { -1 = "FALLING" }',
        "points[1].lon": 'type = "float64"', "name": 'type = "text", bytes = 8', "blob": 'type = "bytes", bytes = 3',
        "large": 'type = "unsigned", length = 64', "inner": 'type = "signed", length = 16',
    }.items():  # fmt: skip
        lines.append(f'  {{ name = "{field}", byte = {at[field].position // 8}, {text} }},')
    (tmp_path / "nav.toml").write_text("\n".join([*lines, "]\n"]))
    layout = load_icd([str(tmp_path / "nav.toml")]).layout_for("nav")
    assert layout is not None
    by_icd = layout.decode(np.frombuffer(data, np.uint8).reshape(1, -1))
    for field, column in by_icd.columns.items():
        assert column.values[0].tolist() == VALUES[field]
        assert column.status[0] == Status.VALID


@pytest.mark.parametrize("name", ["powerpc-dwarf4", "x86-dwarf5"])
def test_the_layout_as_csv_is_an_icd_again(tmp_path: Path, name: str) -> None:
    path = build(tmp_path, COMPILERS[name], SOURCE)
    data = variable(path, "nav")
    message = message_of_type(str(path), "struct nav_state")
    rows = [",".join(f'"{cell}"' for cell in row) for row in layout_rows([message])]
    (tmp_path / "nav.csv").write_text("\n".join(rows) + "\n")
    layout = load_icd([str(tmp_path / "nav.csv")]).layout_for("nav_state")
    assert layout is not None
    again = layout.decode(np.frombuffer(data, np.uint8).reshape(1, -1))
    for field, column in decode(path, "struct nav_state", data).columns.items():
        assert again[field].values[0].tolist() == column.values[0].tolist()
        assert again[field].status[0] == column.status[0]


OTHER = "struct sensor { unsigned int kind; float value; }; struct sensor other; "
SAME = "#include <stdint.h>\nstruct sensor { uint8_t kind; uint16_t value; }; struct sensor again; "


def test_one_name_for_two_layouts_is_told(tmp_path: Path) -> None:
    path = build(tmp_path, COMPILERS["powerpc-dwarf4"], SOURCE, OTHER, SAME)
    with pytest.raises(InputError, match=r"different in .*unit0.c and .*unit1.c; say which one"):
        message_of_type(str(path), "struct sensor")
    assert [f.length for f in message_of_type(str(path), "struct sensor@unit1.c").fields] == [32, 32]
    assert message_of_type(str(path), "struct sensor@unit2.c").size == 4


def test_one_layout_in_two_units_is_one(tmp_path: Path) -> None:
    path = build(tmp_path, COMPILERS["powerpc-dwarf4"], SOURCE, SAME)
    assert message_of_type(str(path), "struct sensor").size == 4


@pytest.mark.parametrize("name", ["powerpc-dwarf4", "x86-dwarf5"])
def test_types_are_listed(tmp_path: Path, name: str) -> None:
    path = build(tmp_path, COMPILERS[name], SOURCE)
    types = {t.name: t.size for t in list_types(str(path))}
    assert types["struct sensor"] == 4
    assert types["struct nav_state"] == len(variable(path, "nav"))


CPP = """
namespace air {
struct Base { unsigned short id; static int count; };
struct Data : Base { signed char level; unsigned short &other; int method() { return level; } };
int Base::count = 3;
}
static unsigned short hidden = 9;
air::Data data = {{0x1234}, -5, hidden};
extern "C" void _start() { for (;;) { data.level++; } }
"""


@pytest.mark.parametrize("compiler", [["g++", "-g"], ["g++", "-gdwarf-3"], ["clang++", "-gdwarf-5"]])
def test_classes(tmp_path: Path, compiler: list[str]) -> None:
    path = build(tmp_path, [*compiler, "-std=c++17"], CPP, suffix=".cc")
    decoded = decode(path, "struct Data", variable(path, "data"))
    assert {name: column.values[0].tolist() for name, column in decoded.columns.items() if name != "other"} == {
        "id": 0x1234, "level": -5,
    }  # fmt: skip


REVERSED = """
#include <stdint.h>
struct __attribute__((scalar_storage_order("ORDER"))) word {
    uint32_t a; int16_t b; uint16_t c : 5; uint16_t d : 11; float e; uint16_t f[2];
};
struct word w = {0x01020304, -2, 3, 1000, 1.5f, {1, 2}};
void _start(void) { for (;;) w.a++; }
"""


@pytest.mark.parametrize("version", [2, 3, 4, 5])
@pytest.mark.parametrize(("machine", "order"), [("powerpc", "little-endian"), ("x86", "big-endian")])
def test_the_other_byte_order_by_attribute(tmp_path: Path, machine: str, order: str, version: int) -> None:
    path = build(tmp_path, COMPILERS[f"{machine}-dwarf{version}"], REVERSED.replace("ORDER", order))
    decoded = decode(path, "struct word", variable(path, "w"))
    values = [column.values[0] for column in decoded.columns.values()]
    assert values == [0x01020304, -2, 3, 1000, 1.5, 1, 2]


ODD = """
#include <stdint.h>
struct flexible { uint32_t n; uint8_t rest[]; };
struct flexible f = {1};
struct empty { int zero[0]; uint16_t x; };
struct empty e = {{}, 2};
struct large { char bytes[70000]; };
struct large l = {{1}};
struct many { uint16_t v[4097]; };
struct many m = {{1}};
struct incomplete;
struct incomplete *p;
union both { int i; float f; };
union both u = {1};
typedef enum { A, B } letter_t;
letter_t letter = B;
_Complex float c = 1;
struct cplx { _Complex float c; long double d; };
struct cplx z = {1, 2};
void _start(void) { for (;;) { f.n++; e.x++; l.bytes[0]++; m.v[0]++; u.i++; letter = A; z.c += c; p = 0; } }
"""


def test_odd_types(tmp_path: Path) -> None:
    path = str(build(tmp_path, COMPILERS["x86-dwarf5"], ODD))
    flexible = message_of_type(path, "struct flexible")
    assert (flexible.size, [f.name for f in flexible.fields]) == (4, ["n"])
    assert "rest is an array without a size" in flexible.notes[0]
    empty = message_of_type(path, "struct empty")
    assert [f.name for f in empty.fields if f.type is not FieldType.PADDING] == ["x"]
    assert [f.type for f in message_of_type(path, "union both").fields] == [FieldType.BYTES]
    assert decode(Path(path), "letter_t", b"\1\0\0\0")["value"].field.values == {0: "A", 1: "B"}
    assert {f.type for f in message_of_type(path, "struct cplx").fields} <= {FieldType.BYTES, FieldType.PADDING}


@pytest.mark.parametrize(
    ("kind", "words"),
    [
        ("struct large", "70,000 bytes"),
        ("struct many", "more than 4,096 fields"),
        ("struct incomplete", "there is no type struct incomplete"),
        ("struct absent", "there is no type struct absent"),
        ("enum flexible", "there is no type enum flexible"),
        ("struct flexible@other.c", "in a unit named other.c"),
    ],
)
def test_types_that_are_no_message(tmp_path: Path, kind: str, words: str) -> None:
    path = str(build(tmp_path, COMPILERS["x86-dwarf5"], ODD))
    with pytest.raises(InputError, match=words):
        message_of_type(path, kind)


def test_files_without_types(tmp_path: Path) -> None:
    path = build(tmp_path, ["gcc"], SOURCE)
    with pytest.raises(InputError, match="no debug information; compile with -g"):
        message_of_type(str(path), "struct nav_state")
    subprocess.run(["gcc", "-g", "-c", "-o", str(tmp_path / "a.o"), str(tmp_path / "unit0.c")], check=True, timeout=60)
    with pytest.raises(InputError, match="relocatable"):
        message_of_type(str(tmp_path / "a.o"), "struct nav_state")
    (tmp_path / "x").write_text("no ELF")
    with pytest.raises(InputError, match="no ELF file"):
        load_icd([f"{tmp_path}/x:struct nav_state"])
    with pytest.raises(InputError, match="which type"):
        load_icd([str(path)])
