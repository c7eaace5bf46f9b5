# SPDX-License-Identifier: Apache-2.0
"""Reading a GNU ld map. The map is written by hand after the real ones of ld 2.40; the sums are by hand too."""

from __future__ import annotations

from pathlib import Path

import pytest

from vxmon.errors import InputError
from vxmon.image import linkmap as module
from vxmon.image.linkmap import read_linkmap

MAP = """\
Archive member included to satisfy reference by file (symbol)

lib/libfoo.a(foo.o)           main.o (foo)

Discarded input sections

 .text          0x0000000000000000       0x99 dropped.o

Memory Configuration

Name             Origin             Length             Attributes
*default*        0x0000000000000000 0xffffffffffffffff

Linker script and memory map

LOAD main.o
START GROUP
LOAD lib/libfoo.a
END GROUP
                0x0000000010000000                . = 0x10000000

.text           0x0000000010000000       0x70
 *(.text.start)
 .text.start    0x0000000010000000       0x10 main.o
                0x0000000010000000                _start
 *(.text .text.*)
 .text          0x0000000010000010       0x20 lib/libfoo.a(foo.o)
 *fill*         0x0000000010000030        0x4
 .text.a_long_name_that_wraps
                0x0000000010000034       0x3c lib/libfoo.a(dir with blank.o)
                0x0000000010000034                wrapped

.a_long_output_section_name
                0x0000000010000070        0x8
 .a_long_output_section_name
                0x0000000010000070        0x8 main.o

.data           0x0000000020000000       0x14 load address 0x0000000010000078
 .data          0x0000000020000000       0x10 main.o
                                         0x18 (size before relaxing)
 .data          0x0000000020000010        0x0 lib/libfoo.a(foo.o)
 *fill*         0x0000000020000010        0x4

.bss            0x0000000020000014        0x8
 COMMON         0x0000000020000014        0x8 main.o
                0x0000000020000014                shared

/DISCARD/
 *(.comment)
 .comment       0x0000000000000000       0x27 main.o
OUTPUT(image.elf elf32-powerpc)
"""


def write(folder: Path, text: str | bytes) -> Path:
    path = folder / "image.map"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


def test_sizes_by_object(tmp_path: Path) -> None:
    linkmap = read_linkmap(write(tmp_path, MAP))
    assert linkmap.outputs == {".text": 0x70, ".a_long_output_section_name": 8, ".data": 0x14, ".bss": 8}
    assert linkmap.fill == {".text": 4, ".data": 4}
    assert [(m.archive, m.name, m.sizes) for m in linkmap.members] == [
        ("", "main.o", {".text": 0x10, ".a_long_output_section_name": 8, ".data": 0x10, ".bss": 8}),
        ("lib/libfoo.a", "foo.o", {".text": 0x20, ".data": 0}),
        ("lib/libfoo.a", "dir with blank.o", {".text": 0x3C}),
    ]


def test_windows_line_ends(tmp_path: Path) -> None:
    assert read_linkmap(write(tmp_path, MAP.replace("\n", "\r\n"))).outputs[".text"] == 0x70


def test_what_is_no_map(tmp_path: Path) -> None:
    for data in (
        b"",
        b"\x7fELF" + bytes(100),
        b"             VMA              LMA     Size Align Out     In      Symbol\n",
    ):
        with pytest.raises(InputError, match="no GNU ld map"):
            read_linkmap(write(tmp_path, data))
    with pytest.raises(InputError, match="No such file"):
        read_linkmap(tmp_path / "none")


def test_limits(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_MAX_MEMBERS", 2)
    with pytest.raises(InputError, match="more than 2 object files"):
        read_linkmap(write(tmp_path, MAP))
    monkeypatch.setattr(module, "MAX_MAP", 1000)
    with pytest.raises(InputError, match="larger than"):
        read_linkmap(write(tmp_path, MAP))


@pytest.mark.parametrize("line", ["(" * 8000, " " * 8000, ".text " + "0x1 " * 2000, "x" * 100_000])
def test_lines_made_to_cost_time(tmp_path: Path, line: str) -> None:
    text = "Linker script and memory map\n\n.text 0x0 0x1\n .text 0x0 0x1 " + (line + "\n") * 50
    assert read_linkmap(write(tmp_path, text)).outputs[".text"] >= 1
