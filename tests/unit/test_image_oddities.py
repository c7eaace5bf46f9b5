# SPDX-License-Identifier: Apache-2.0
"""Made-up images, one for each oddity. Every expected figure is worked out by hand from the description beside it."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.elfwriter import NOBITS, TLS, A, Elf, Sec, Seg, W, X, symbol
from vxmon.errors import InputError
from vxmon.image import elf as elf_module
from vxmon.image.bytesource import ByteSource
from vxmon.image.elf import ElfFile, read_image
from vxmon.image.layout import Layout, lay_out
from vxmon.image.model import Image, Kind
from vxmon.image.symbols import read_symbols


def read(folder: Path, elf: Elf | bytes) -> Image:
    path = folder / "image.elf"
    path.write_bytes(elf.encode() if isinstance(elf, Elf) else elf)
    return read_image(path)


def both(folder: Path, elf: Elf) -> tuple[Image, Layout]:
    image = read(folder, elf)
    return image, lay_out(image)


def messages(image: Image) -> str:
    return "\n".join(p.message for p in image.problems)


FLASH = [
    # Text stays in flash; data is stored behind it and copied to RAM; bss and stack follow the data.
    Seg(0x08000000, 0x3000, 0x3000, flags=5, offset=0x1000),
    Seg(0x20000000, 0x1500, 0x500, load_address=0x08003000, flags=6, offset=0x4000),
]
FLASH_SECTIONS = [
    Sec(".text", flags=A | X, address=0x08000000, size=0x2000, offset=0x1000),
    Sec(".rodata", flags=A, address=0x08002000, size=0x1000, offset=0x3000),
    Sec(".data", flags=A | W, address=0x20000000, size=0x500, offset=0x4000),
    Sec(".bss", NOBITS, A | W, 0x20000500, 0x800),
    Sec("._user_heap_stack", NOBITS, A | W, 0x20000D00, 0x400),
    Sec(".stack", NOBITS, A | W, 0x20001100, 0x400),
    Sec(".debug_info", size=0x999, offset=0x1000),
]


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("bits", [32, 64])
def test_an_image_in_flash(tmp_path: Path, bits: int, order: str) -> None:
    image, layout = both(tmp_path, Elf(bits, order, segments=FLASH, sections=FLASH_SECTIONS))
    assert (image.bits, image.byte_order, image.machine) == (bits, "little" if order == "<" else "big", "PowerPC")
    assert layout.totals.ram == 0x500 + 0x800 + 0x400 + 0x400
    assert layout.totals.load == 0x2000 + 0x1000 + 0x500
    assert layout.totals.in_place == 0x3000
    assert layout.totals.kinds[Kind.HEAP] == layout.totals.kinds[Kind.STACK] == 0x400
    data = next(s for s in image.sections if s.name == ".data")
    assert (data.load_address, data.kind) == (0x08003000, Kind.DATA)
    assert next(s for s in image.sections if s.name == ".bss").load_address == 0x08003500
    assert [(h.address, h.size, h.segment) for h in layout.holes] == [(0x08003000, 0x20000000 - 0x08003000, None)]
    assert layout.overlaps == ()


def test_an_image_that_runs_at_other_addresses_than_it_is_loaded_to(tmp_path: Path) -> None:
    # A kernel in virtual memory: everything is loaded elsewhere, so everything takes RAM.
    segments = [
        Seg(0xC0000000, 0x3000, 0x3000, load_address=0, flags=5, offset=0x1000),
        Seg(0xC0003000, 0x1500, 0x500, load_address=0x3000, flags=6, offset=0x4000),
    ]
    _, layout = both(tmp_path, Elf(segments=segments))
    assert (layout.totals.ram, layout.totals.load, layout.totals.in_place) == (0x4500, 0x3500, 0)


def test_rom_given_by_hand(tmp_path: Path) -> None:
    image = read(tmp_path, Elf(segments=[Seg(0xFFF00000, 0x4000, 0x4000), Seg(0x1000, 0x800, 0)]))
    assert lay_out(image).totals.ram == 0x4800
    totals = lay_out(image, [(0xFFF01000, 0xFFFFFFFF)]).totals
    assert (totals.ram, totals.in_place) == (0x1800, 0x3000)


def test_no_sections(tmp_path: Path) -> None:
    image, layout = both(tmp_path, Elf(segments=[Seg(0x1000, 0x300, 0x100), Seg(0x2000, 0x10, 0x10)]))
    assert image.sections == ()
    assert (layout.totals.ram, layout.totals.load) == (0x310, 0x110)
    assert [(h.address, h.size) for h in layout.holes] == [(0x1300, 0xD00)]


def test_no_segments(tmp_path: Path) -> None:
    sections = [Sec(".text", flags=A | X, address=0x1000, data=b"x" * 0x80), Sec(".bss", NOBITS, A | W, 0x1100, 0x40)]
    image, layout = both(tmp_path, Elf(sections=sections))
    assert image.segments == ()
    assert (layout.totals.ram, layout.totals.load) == (0xC0, 0x80)
    assert [(h.address, h.size) for h in layout.holes] == [(0x1080, 0x80)]


def test_neither(tmp_path: Path) -> None:
    _, layout = both(tmp_path, Elf())
    assert (layout.totals.ram, layout.totals.load, layout.holes, layout.overlaps) == (0, 0, (), ())


def test_overlapping_segments(tmp_path: Path) -> None:
    segments = [Seg(0x1000, 0x1000, 0x1000), Seg(0x1800, 0x1000, 0x1000), Seg(0x1800, 0x100, 0x100), Seg(0x5000)]
    _, layout = both(tmp_path, Elf(segments=segments))
    assert layout.totals.ram == 0x1800
    run = [(o.first, o.second, o.address, o.size) for o in layout.overlaps if o.space == "run"]
    assert run == [("segment 0", "segment 2", 0x1800, 0x100), ("segment 0", "segment 1", 0x1800, 0x800)]


def test_overlays_share_memory_but_not_storage(tmp_path: Path) -> None:
    segments = [
        Seg(0x1000, 0x400, 0x400, load_address=0x8000, offset=0x1000),
        Seg(0x1000, 0x300, 0x300, load_address=0x8400, offset=0x2000),
    ]
    _, layout = both(tmp_path, Elf(segments=segments))
    assert (layout.totals.ram, layout.totals.load) == (0x400, 0x700)
    assert [(o.space, o.size) for o in layout.overlaps] == [("run", 0x300)]


def test_many_overlaps_are_counted_and_the_list_is_bounded(tmp_path: Path) -> None:
    sections = [Sec(".a", flags=A, address=0x1000, size=0x100, offset=0) for _ in range(3000)]
    image = read(tmp_path, Elf(sections=sections))
    layout = lay_out(image)
    # 2,999 of 3,000 equal sections overlap an earlier one, at run and at load addresses.
    assert len(layout.overlaps) + layout.more_overlaps == 2 * 2999
    assert len(layout.overlaps) == 1000
    assert layout.totals.ram == 0x100


def test_zero_sizes_take_nothing(tmp_path: Path) -> None:
    sections = [Sec(".a", flags=A | W, address=0x1000), Sec(".b", flags=A | W, address=0x1000, data=b"1234")]
    _, layout = both(tmp_path, Elf(segments=[Seg(0x1000), Seg(0x1000, 4, 4)], sections=sections))
    assert (layout.totals.ram, layout.overlaps) == (4, ())


def test_both_load_addresses_zero_mean_run_addresses(tmp_path: Path) -> None:
    segments = [Seg(0x10000, 0x100, 0x100, load_address=0), Seg(0x20000, 0x100, 0x80, load_address=0, flags=6)]
    image, layout = both(tmp_path, Elf(segments=segments))
    assert [s.load_address for s in image.segments] == [0x10000, 0x20000]
    assert (layout.totals.ram, layout.totals.load, layout.overlaps) == (0x200, 0x180, ())


def test_one_load_address_zero_is_an_address(tmp_path: Path) -> None:
    image = read(tmp_path, Elf(segments=[Seg(0x10000, 0x100, 0x100, load_address=0)]))
    assert image.segments[0].load_address == 0


def test_addresses_above_2_to_the_63(tmp_path: Path) -> None:
    top = 0xFFFF_FFFF_8000_0000
    sections = [Sec(".text", flags=A | X, address=top, size=0x200, offset=0)]
    segments = [Seg(top, 0x200, 0x200, load_address=0x100000)]
    image, layout = both(tmp_path, Elf(64, "<", segments=segments, sections=sections))
    assert image.sections[0].address == top
    assert layout.totals.ram == 0x200
    assert "past the address space" not in messages(image)


def test_the_last_byte_of_the_address_space_and_past_it(tmp_path: Path) -> None:
    last = Elf(segments=[Seg(0xFFFFF000, 0x1000, 0)])
    assert messages(read(tmp_path, last)) == ""
    past = Elf(segments=[Seg(0xFFFFF000, 0x1001, 0)])
    assert messages(read(tmp_path, past)) == "segment 0: ends past the address space"


def test_nobits_without_write_is_a_reservation(tmp_path: Path) -> None:
    sections = [
        Sec(".irom_dummy", NOBITS, A, 0x1000, 0x500),
        Sec(".bss", NOBITS, A | W, 0x1500, 0x100),
    ]
    image, layout = both(tmp_path, Elf(sections=sections, segments=[Seg(0x1000, 0x600, 0)]))
    assert [s.kind for s in image.sections[:2]] == [Kind.RESERVED, Kind.ZERO_DATA]
    totals = layout.totals
    assert (totals.ram, totals.kinds[Kind.RESERVED], totals.mapped) == (0x100, 0x500, 0x100)


def test_zeros_stored_for_a_stack_before_the_data(tmp_path: Path) -> None:
    # The segment's file bytes must reach to the end of .data, so the linker writes zeros for .stack.
    sections = [
        Sec(".stack", NOBITS, A | W, 0x2000, 0x600, offset=0x1000),
        Sec(".data", flags=A | W, address=0x2600, size=4, offset=0x1600),
    ]
    _, layout = both(tmp_path, Elf(sections=sections, segments=[Seg(0x2000, 0x604, 0x604, flags=6, offset=0x1000)]))
    assert (layout.totals.ram, layout.totals.load, layout.totals.stored) == (0x604, 4, 0x604)


def test_thread_local_zero_data_takes_no_addresses(tmp_path: Path) -> None:
    sections = [
        Sec(".tdata", flags=A | W | TLS, address=0x1000, size=0x10, offset=0),
        Sec(".tbss", NOBITS, A | W | TLS, 0x1010, 0x1000),
        Sec(".data", flags=A | W, address=0x1010, size=0x20, offset=0),
    ]
    _, layout = both(tmp_path, Elf(sections=sections))
    assert layout.totals.ram == 0x30
    assert layout.totals.kinds[Kind.THREAD_ZERO] == 0x1000
    assert [o for o in layout.overlaps if o.space == "run"] == []


def test_sections_that_are_not_allocated_take_nothing(tmp_path: Path) -> None:
    sections = [Sec(".comment", data=b"x" * 100), Sec(".text", flags=A | X, address=0, data=b"y" * 8)]
    image, layout = both(tmp_path, Elf(sections=sections))
    assert (layout.totals.ram, layout.totals.load, image.sections[0].kind) == (8, 8, Kind.NONE)


def test_two_sections_of_one_name(tmp_path: Path) -> None:
    sections = [Sec(".text", flags=A | X, address=0x100 * i, data=b"y" * 8) for i in (1, 2)]
    image, layout = both(tmp_path, Elf(sections=sections))
    assert [(s.name, s.address) for s in image.sections[:2]] == [(".text", 0x100), (".text", 0x200)]
    assert layout.totals.ram == 16


def test_names_recognise_heap_and_stack_only_as_words(tmp_path: Path) -> None:
    names = [".heap", ".heap0", ".irq_stack", "stack", ".stackmaps", ".cheap", ".bss.heapster"]
    image = read(tmp_path, Elf(sections=[Sec(n, NOBITS, A | W, 0, 1) for n in names]))
    kinds = [s.kind for s in image.sections[: len(names)]]
    assert kinds == [Kind.HEAP, Kind.HEAP, Kind.STACK, Kind.STACK, *[Kind.ZERO_DATA] * 3]


@pytest.mark.parametrize("count", [0xFEFE, 0xFEFF, 0xFF00, 70_000])
def test_65280_sections_and_more(tmp_path: Path, count: int) -> None:
    # With the null section and the string table the file has count + 2 sections; from 0xff00 on the header has 0.
    sections = [Sec(flags=A, address=i * 16, size=8, offset=0) for i in range(count)]
    sections[-1].name = ".last"
    image, layout = both(tmp_path, Elf(sections=sections))
    assert len(image.sections) == count + 1
    assert image.sections[count - 1].name == ".last"
    assert image.sections[count].name == ".shstrtab"
    assert layout.totals.ram == 8 * count


def test_more_sections_than_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(elf_module, "MAX_SECTIONS", 10)
    with pytest.raises(InputError, match="12 section headers are more than the 10"):
        read(tmp_path, Elf(sections=[Sec() for _ in range(10)]))


def test_large_entries_are_read_with_a_warning(tmp_path: Path) -> None:
    segments = [Seg(0x1000, 16, 16), Seg(0x2000, 16, 16)]
    image, layout = both(tmp_path, Elf(segments=segments, phentsize=40))
    assert layout.totals.ram == 32
    assert "segment headers of 40 bytes, of which the first 32 are read" in messages(image)


def test_small_entries_make_a_table_useless(tmp_path: Path) -> None:
    sections = [Sec(".text", flags=A | X, address=0x1000, data=b"1234")]
    image, layout = both(tmp_path, Elf(segments=[Seg(0x1000, 16, 16)], sections=sections, shentsize=39))
    assert (image.sections, layout.totals.ram) == ((), 16)
    assert "section headers of 39 bytes; ELF32 has 40" in messages(image)
    with pytest.raises(InputError, match="truncated or damaged ELF file: section headers of 39"):
        read(tmp_path, Elf(sections=sections, shentsize=39))


def test_a_table_past_the_end(tmp_path: Path) -> None:
    elf = Elf(segments=[Seg(0x1000, 16, 16)], sections=[Sec(".a", flags=A, data=b"1")], shoff=0x10000)
    image = read(tmp_path, elf)
    assert (len(image.segments), image.sections) == (1, ())
    assert "end past the end of the file" in messages(image)
    with pytest.raises(InputError, match="truncated or damaged"):
        read(tmp_path, Elf(sections=[Sec(".a", data=b"1")], shoff=0xFFFFFFF0))


def test_sections_counted_without_a_place(tmp_path: Path) -> None:
    image = read(tmp_path, Elf(segments=[Seg(0x1000, 16, 16)], shnum=7))
    assert image.sections == ()
    assert "counts 7 section headers but gives no place" in messages(image)


def test_contents_past_the_end(tmp_path: Path) -> None:
    sections = [Sec(".a", flags=A, size=0x100, offset=0xFFFFFF00), Sec(".b", flags=A, size=0xFFFFFFFF, offset=0)]
    image = read(tmp_path, Elf(segments=[Seg(0x1000, 0x10, 0x10, offset=0x12345)], sections=sections))
    assert "segment 0: ends past the end of the file" in messages(image)
    assert "sections 1, 2: ends past the end of the file" in messages(image)


@pytest.mark.parametrize("alignment", [3, 1 << 31, 0xFFFFFFFF])
def test_odd_alignments(tmp_path: Path, alignment: int) -> None:
    image = read(tmp_path, Elf(sections=[Sec(".a", flags=A, data=b"1", alignment=alignment)]))
    assert "section 1: the alignment is no power of two below 2 GiB" in messages(image)


def test_no_readable_names(tmp_path: Path) -> None:
    sections = [Sec(".text", flags=A | X, data=b"1"), Sec(".data", flags=A | W, data=b"2", name_offset=9999)]
    image = read(tmp_path, Elf(sections=sections))
    assert [s.name for s in image.sections[:2]] == [".text", ""]
    assert "1 sections have names past the end" in messages(image)
    image = read(tmp_path, Elf(sections=sections, shstrndx=77))
    assert {s.name for s in image.sections} == {""}
    assert "the table of section names (section 77) cannot be read" in messages(image)


def test_names_with_control_characters(tmp_path: Path) -> None:
    image = read(tmp_path, Elf(sections=[Sec(".a\n\x1b[31m"), Sec("." + "x" * 300)]))
    assert image.sections[0].name == ".a\\n\\x1b[31m"
    assert image.sections[1].name == "." + "x" * 254 + "..."


def test_a_relocatable_file_is_a_sum(tmp_path: Path) -> None:
    names = b"\0big\0"
    table = symbol(0, 0, 0, 0, 0) + symbol(1, 4, 100, 0x11, 0xFFF2) + symbol(1, 0, 8, 0x12, 1)
    sections = [
        Sec(".text", flags=A | X, data=b"x" * 20),
        Sec(".text.b", flags=A | X, data=b"x" * 30),
        Sec(".bss", NOBITS, A | W, 0, 50),
        Sec(".symtab", 2, data=table, link=5, entsize=16),
        Sec(".strtab", 3, data=names),
    ]
    path = tmp_path / "a.o"
    path.write_bytes(Elf(type=1, sections=sections).encode())
    with ByteSource(path) as source:
        elf = ElfFile(source)
        symbols = read_symbols(elf)
        layout = lay_out(elf.image.with_common(symbols.common))
    # Common symbols will be zero data once they are linked: 20 + 30 + 50 + 100.
    assert (layout.totals.ram, layout.totals.load) == (200, 50)
    assert (layout.overlaps, layout.holes) == ((), ())
    assert [(s.name, s.size, s.section) for s in symbols.largest(9)] == [("big", 100, "(common)"), ("big", 8, ".text")]


def test_every_length_of_a_truncated_file(tmp_path: Path) -> None:
    whole = Elf(64, "<", segments=FLASH, sections=FLASH_SECTIONS).encode()
    path = tmp_path / "image.elf"
    for length in range(len(whole)):
        path.write_bytes(whole[:length])
        if length < 64:
            with pytest.raises(InputError, match=r"truncated ELF file|empty file|no ELF file"):
                read_image(path)
        else:
            try:
                assert messages(read_image(path))
            except InputError as error:
                assert "truncated or damaged" in str(error)


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "an empty file"),
        (b"\x89PNG\r\n", "no ELF file"),
        (b"!<arch>\nlibc.a/", "an archive; extract"),
        (b"\x7fELF\x03\x01\x01" + bytes(60), "class 3 with byte order 1"),
        (b"\x7fELF\x01\x00\x01" + bytes(60), "class 1 with byte order 0"),
    ],
)
def test_what_is_no_elf_file(tmp_path: Path, data: bytes, words: str) -> None:
    with pytest.raises(InputError, match=words):
        read(tmp_path, data)


def test_what_is_no_file(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="No such file"):
        read_image(tmp_path / "none")
    with pytest.raises(InputError, match="it is a directory"):
        read_image(tmp_path)
    with pytest.raises(InputError, match="not a regular file"):
        read_image(Path("/dev/zero"))
