# SPDX-License-Identifier: Apache-2.0
"""Mutated ELF, XML and linker map files: ``python -m tests.fuzz.image_mutants elf --count 100000``.

Each mutant goes through the whole of memmap, or of the module configuration. Allowed is a result or an InputError;
anything else, a mutant that takes longer than SECONDS, or more address space than BYTES ends the run with status 1
and leaves the mutant in the folder given by ``--keep``. Prints the number of mutants, errors and the slowest one.
"""

from __future__ import annotations

import argparse
import json
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import FrameType

from tests.support.elfwriter import NOBITS, TLS, A, Elf, Sec, Seg, W, X, symbol
from vxmon.analysis.memmap.images import MapRequest, map_images
from vxmon.config.module import load_module
from vxmon.errors import InputError
from vxmon.image.bytesource import ByteSource
from vxmon.image.elf import ElfFile
from vxmon.image.linkmap import read_linkmap
from vxmon.image.units import member_shares
from vxmon.report.blocks import plain_lines
from vxmon.report.memmap_csv import memmap_rows
from vxmon.report.memmap_json import memmap_json
from vxmon.report.memmap_text import memmap_blocks

SECONDS = 10
BYTES = 2 << 30
ROOT = Path(__file__).parents[2]
_EDGES = [0, 1, 2, 0x7F, 0x80, 0xFF, 0x7FFF, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63, 2**64 - 1]
_SOURCE = """
static int counter; int table[40] = {1}; const char name[] = "nav"; int zero[25];
struct state { int a[4]; struct state *next; union { float f; int i; } u; } chain[3];
static inline int twice(int x) { return 2 * x; }
__attribute__((section(".text.far"), noinline)) int work(int x) { return twice(x) + table[x & 7] + chain[1].a[x & 3]; }
void _start(void) { for (;;) { counter += work(zero[counter & 15]); } }
"""


def elf_seeds(folder: Path) -> list[bytes]:
    """Return images with and without debug information, as compilers here make them, and some made by hand."""
    seeds = [_made(bits, order) for bits in (32, 64) for order in "<>"]
    (folder / "a.c").write_text(_SOURCE)
    for number, command in enumerate(
        ("powerpc-linux-gnu-gcc -gdwarf-5", "gcc -gdwarf-4", "clang -gdwarf-5", "gcc -c -g")
    ):
        compiler, *flags = command.split()
        if shutil.which(compiler) is None:
            continue
        out = folder / f"seed{number}"
        more = [] if "-c" in flags else ["-nostdlib", "-static"]
        subprocess.run(
            [compiler, *flags, "-O1", "-ffreestanding", "-fno-pic", *more, "a.c", "-o", str(out)],
            cwd=folder, capture_output=True, timeout=60, check=True,
        )  # fmt: skip
        seeds.append(out.read_bytes())
    return seeds


def _made(bits: int, order: str) -> bytes:
    rows = b"".join(symbol(*r, bits=bits, order=order) for r in [(0, 0, 0, 0, 0), (1, 0x1000, 8, 0x12, 1)])
    return Elf(
        bits,
        order,
        segments=[Seg(0x1000, 64, 64), Seg(0x2000, 96, 16, load_address=0x1040, flags=6), Seg(0x2010, 40, 8, type=7)],
        sections=[
            Sec(".text", flags=A | X, address=0x1000, data=b"x" * 64),
            Sec(".tdata", flags=A | W | TLS, address=0x2000, data=b"x" * 8),
            Sec(".tbss", NOBITS, A | W | TLS, 0x2008, 32),
            Sec(".data", flags=A | W, address=0x2008, data=b"x" * 8),
            Sec(".bss", NOBITS, A | W, 0x2010, 40),
            Sec(".symtab", 2, data=rows, link=7),
            Sec(".strtab", 3, data=b"\0_Zmain\0"),
        ],
    ).encode()


def xml_seeds(folder: Path) -> list[bytes]:
    """Return the demo's module file, and one of each dialect with everything in it."""
    from tests.unit import test_config_arinc653, test_config_vxworks653

    (folder / "part.xml").write_text("<Application Name='A'/>")
    include = '<a xmlns:xi="http://www.w3.org/2001/XInclude"><xi:include href="part.xml" parse="xml"/></a>'
    entity = '<!DOCTYPE a [<!ENTITY b "c">]><a>&b;</a>'
    texts = [test_config_arinc653.WHOLE, test_config_vxworks653.WHOLE, include, entity]
    demo = ROOT / "target_c" / "partitions" / "module.xml"
    return [t.encode() for t in texts] + ([demo.read_bytes()] if demo.is_file() else [])


def map_seeds(_folder: Path) -> list[bytes]:
    """Return a map with every kind of line."""
    from tests.unit import test_image_linkmap

    return [test_image_linkmap.MAP.encode()]


def check_elf(path: Path) -> None:
    """Send an image through everything that memmap does with it."""
    request = MapRequest(symbols=10, units=True, baseline=[path], max_growth="1%", rom=[(0x1000, 0x1020)])
    result = map_images([path, path] if path.stat().st_size % 2 else [path], request)
    json.dumps(memmap_json(result))
    for view in ("table", "tree", "bars"):
        for line in plain_lines(memmap_blocks(result, view)):
            assert line.isprintable(), line
    for table in ("sections", "symbols", "units", "growth"):
        assert list(memmap_rows(result, table))
    for found in result.images:
        totals = found.layout.totals
        assert totals.ram >= 0
        assert totals.load >= 0
        assert totals.mapped >= totals.ram or found.image.relocatable


def check_xml(path: Path) -> None:
    """Read a module configuration; what is accepted must be sound."""
    module = load_module(path)
    for schedule in module.schedules:
        end = 0
        for window in schedule.windows:
            assert window.offset_ns >= end
            end = window.end_ns
        assert end <= schedule.major_frame_ns
    for problem in module.problems:
        assert str(problem).isprintable()


def check_map(path: Path) -> None:
    """Read a linker map, and hold it against an image."""
    image = path.parent / "image.elf"
    if not image.exists():
        image.write_bytes(_made(32, ">"))
    with ByteSource(image) as source:
        shares = member_shares(ElfFile(source).image, read_linkmap(path))
    assert sum(s.total for s in shares) == 64 + 8 + 8 + 40


KINDS: dict[str, tuple[Callable[[Path], list[bytes]], Callable[[Path], None]]] = {
    "elf": (elf_seeds, check_elf),
    "xml": (xml_seeds, check_xml),
    "map": (map_seeds, check_map),
}


def mutants(seeds: list[bytes], count: int, seed: int) -> Iterator[bytes]:
    """Yield mutated seeds, the same ones for the same seed number."""
    chance = random.Random(seed)
    for _ in range(count):
        data = bytearray(chance.choice(seeds))
        mutate = _mutate_value if data[:1] == b"<" and chance.random() < 0.7 else _mutate
        for _ in range(chance.choice((1, 1, 1, 2, 4, 8, 32))):
            mutate(data, chance)
        yield bytes(data)


_VALUES = (
    b"0|1|-1|0.0000000001|0x10|1e99|INFINITE_TIME|SPARE|NAV|true|../x.xml|&#10;|99999999999999999999||part.xml".split(
        b"|"
    )
)
_QUOTED = re.compile(rb"([\"'])([^\"'<>]*)\1")


def _mutate_value(data: bytearray, chance: random.Random) -> None:
    """Put another value between two quotes, so that the file stays well-formed."""
    places = list(_QUOTED.finditer(data))
    if places:
        place, other = chance.choice(places), chance.choice(places)
        value = chance.choice([*_VALUES, bytes(other[2])])
        data[place.start(2) : place.end(2)] = value


def _mutate(data: bytearray, chance: random.Random) -> None:
    # Headers decide most, so half of all mutations are near an end of the file.
    length = len(data)
    place = chance.randrange(length + 1)
    if chance.random() < 0.5:
        place = chance.randrange(min(length, 256) + 1)
        place = place if chance.random() < 0.5 else length - place
    what = chance.randrange(7)
    if what == 0:
        data[place : place + 1] = bytes([chance.randrange(256)])
    elif what == 1 and place < length:
        data[place] ^= 1 << chance.randrange(8)
    elif what == 2:
        size = chance.choice((1, 2, 4, 8))
        edge = chance.choice(_EDGES) & ((1 << 8 * size) - 1)
        data[place : place + size] = edge.to_bytes(size, chance.choice(("little", "big")))
    elif what == 3:
        del data[place:]
    elif what == 4:
        del data[place : place + chance.randrange(1, 64)]
    elif what == 5:
        start = chance.randrange(length + 1)
        data[place:place] = data[start : start + chance.randrange(1, 64)]
    else:
        data[place:place] = bytes([chance.choice((0x80, 0xFF, 0x20, 0x00))]) * chance.choice((1, 16, 1024))


def _too_slow(_number: int, _frame: FrameType | None) -> None:
    raise TimeoutError(f"longer than {SECONDS} s")


def _refused(check: Callable[[Path], None], path: Path) -> bool:
    signal.alarm(SECONDS)
    try:
        check(path)
    except InputError as error:
        assert str(error).isprintable(), repr(str(error))
        return True
    finally:
        signal.alarm(0)
    return False


@contextmanager
def _culprit_kept(path: Path, keep: Path) -> Iterator[None]:
    passed = False
    try:
        yield
        passed = True
    finally:
        if not passed:
            keep.mkdir(parents=True, exist_ok=True)
            print(f"culprit: {shutil.copy(path, keep)}")


def run(kind: str, count: int, seed: int, keep: Path) -> int:
    """Check that many mutants; return 0. Whatever a check raises goes through, with the culprit kept."""
    make_seeds, check = KINDS[kind]
    signal.signal(signal.SIGALRM, _too_slow)
    resource.setrlimit(resource.RLIMIT_AS, (BYTES, BYTES))
    refused, slowest = 0, 0.0
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        seeds = make_seeds(folder)
        path = folder / "mutant"
        for data in mutants(seeds, count, seed):
            path.write_bytes(data)
            begin = time.perf_counter()
            with _culprit_kept(path, keep):
                refused += _refused(check, path)
            slowest = max(slowest, time.perf_counter() - begin)
    print(f"{kind}: {count:,} mutants, {refused:,} refused, slowest {slowest:.3f} s, seed {seed}")
    return 0


def main() -> None:
    """Run from the command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("kind", choices=KINDS)
    parser.add_argument("--count", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--keep", type=Path, default=ROOT / "build" / "fuzz")
    given = parser.parse_args()
    sys.exit(run(given.kind, given.count, given.seed, given.keep))


if __name__ == "__main__":
    main()
