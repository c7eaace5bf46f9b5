# SPDX-License-Identifier: Apache-2.0
"""Any ICD file, CAN database or application gives layouts or one line of words, in bounded time; layouts then decode.

VXMON_FUZZ_EXAMPLES sets how many mutations are tried; without it a short run is part of the tests.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import subprocess
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest

from vxmon.analysis.icd import check_icd
from vxmon.errors import InputError
from vxmon.icd.loading import load_icd
from vxmon.report.icd_data import decoded_json, decoded_rows, layout_json
from vxmon.report.icd_text import check_blocks, layout_blocks
from vxmon.report.icd_values import message_lines

EXAMPLES = int(os.environ.get("VXMON_FUZZ_EXAMPLES", "300"))
SLOWEST_S = 10.0
NUMBER = re.compile(rb"[0-9]+")

TOML = """icd = 1
byte_order = "little"
[enum.mode]
0 = "OFF"
-1 = "BAD"
[[message]]
name = "state"
size = 40
minimum_size = 8
field = [
  { name = "n", type = "unsigned", byte = 0, bit = 3, length = 33, scale = 0.1, offset = -3, min = 0, max = 1e3 },
  { name = "m", type = "enum", byte = 6, length = 4, values = "mode" },
  { name = "f", type = "float64", byte = 8, valid = "n > 3 and not m == OFF or s[0] == 'x'", byte_order = "big" },
  { name = "s", type = "text", byte = 16, bytes = 4, count = 2, stride = 40 },
  { name = "w", type = "arinc429", byte = 28, label = "203", encoding = "bnr", range = 131072, lsb = 13 },
  { name = "d", type = "arinc429", byte = 32, encoding = "discrete", parts = [
    { name = "a", msb = 29, lsb = 28, values = { 1 = "ON" } }, { name = "b", encoding = "bcd", msb = 27 } ] },
  { name = "p", type = "padding", byte = 36, bytes = 4 },
]
[[bind]]
port = "NAV_*"
message = "state"
"""
CSV = """message,size,name,type,byte,bit,length,scale,values,valid,count,byte_order
m,16,a,signed,0,5,13,0.5,,b == ON,,little
m,,b,enum,2,,3,,0=OFF;1=ON,,,
m,,c,float32,4,,,,,,2,
m,,t,text,12,,32,,,,,
"""
DBC = """VERSION ""
BO_ 100 State: 8 NAV
 SG_ Page M : 3|4@0+ (1,0) [0|15] "" X
 SG_ First m0 : 15|8@0+ (2,0) [0|0] "u" X
 SG_ Second m1 : 8|12@1- (0.1,0) [0|0] "" X
VAL_ 100 First 0 "OFF" 1 "ON";
"""
# What mutations are made of beside single bytes: words of the formats, and numbers at edges.
WORDS = [
    *(
        mark.encode()
        for mark in '[ ] { } = " \' """ , . ; # | 0 -1 65537 1e309 nan 0x 4096 524288 true @1+ ( a.a.a'.split()
    ),
    *b"99999999999999999999 type count unsigned bytes arinc429 [[message]] [[message.field]] valid".split(),
    *(b" and ", b"not ", b"in (", b"\x00", b"\xff", b"\n"),
]
SOURCE = """
typedef struct { float x; double y[2]; } point;
enum mode { OFF, ON = 7 };
struct state { unsigned a : 3; int b : 17; enum mode mode; point p[3]; char name[9]; struct { short deep; } in; void *q;
  union { int i; float f; } u; const volatile unsigned long long big; struct state *next; };
struct state state = {1};
void _start(void) { for (;;) state.a++; }
"""


def mutated(seed: bytes, rng: random.Random) -> bytes:
    data = bytearray(seed)
    for _ in range(rng.choice((0, 1, 2, 4))):
        # Other numbers where numbers are: the file stays well-formed, and what it says changes.
        number = rng.choice(list(NUMBER.finditer(data)))
        data[number.start() : number.end()] = str(rng.choice((0, 1, 2, 5, 8, 12, 31, 40, 64, 255, 65536))).encode()
    for _ in range(rng.choice((0, 0, 1, 2, 4, 16))):
        at = rng.randrange(len(data) + 1)
        kind = rng.randrange(5)
        if kind == 0 and data:
            data[at % len(data)] = rng.choice((rng.randrange(256), *b"0123456789abemnst "))
        elif kind == 1:
            data[at:at] = rng.choice(WORDS)
        elif kind == 2:
            del data[at : at + rng.randrange(1, 20)]
        elif kind == 3:
            other = rng.randrange(len(data) + 1)
            data[at:at] = data[other : other + rng.randrange(1, 60)]
        else:
            data[at : at + 1] = rng.choice(WORDS) * rng.choice((1, 2, 50))
    return bytes(data)


def use(source: str, rng: random.Random) -> bool:
    """Do with a source what the commands do; tell whether it was good."""
    try:
        icd = load_icd([source])
        check = check_icd(icd)
        list(check_blocks(check))
        list(layout_blocks(icd, icd.messages))
        layout_json(icd.messages)
        for message in icd.messages[:5]:
            layout = icd.layout(message)
            width = min(message.size + 2, 300)
            payloads = np.frombuffer(rng.randbytes(3 * width), np.uint8).reshape(3, width)
            decoded = layout.decode(payloads, rng.choices(range(width + 1), k=3), [width, message.size + 2, 70_000])
            assert message_lines(decoded).count(b"\n") == 3
            list(decoded_rows(decoded))
            decoded_json(layout, decoded)
    except InputError as error:
        assert "\n" not in str(error)
        return False
    return True


def attack(
    seed: bytes,
    path: Path,
    name: str,
    change: Callable[[bytes, random.Random], bytes] = mutated,
    examples: int = EXAMPLES,
) -> None:
    rng = random.Random(f"{path.name} {EXAMPLES}")
    path.write_bytes(seed)
    assert use(f"{path}{name}", rng)
    good = 0
    for number in range(examples):
        data = change(seed, rng)
        path.write_bytes(data)
        started = time.process_time()
        try:
            good += use(f"{path}{name}", rng)
        except BaseException:
            path.with_suffix(f".failed{path.suffix}").write_bytes(data)
            raise
        # Not a measurement: what takes so much processor time would be a hang to its user.
        assert time.process_time() - started < SLOWEST_S, number
    # Mutations that all fail at the first byte would test nothing.
    assert good or examples < 50


@pytest.mark.parametrize(("suffix", "seed"), [("toml", TOML), ("csv", CSV)])
def test_mutated_texts(tmp_path: Path, suffix: str, seed: str) -> None:
    attack(seed.encode(), tmp_path / f"icd.{suffix}", "")


def test_mutated_databases(tmp_path: Path) -> None:
    # Each one is a process of its own, with limits of its own.
    attack(DBC.encode(), tmp_path / "icd.dbc", "", examples=EXAMPLES // 30)


@pytest.fixture(scope="module")
def applications() -> Iterator[list[bytes]]:
    with tempfile.TemporaryDirectory() as folder:
        source = Path(folder) / "a.c"
        source.write_text(SOURCE)
        yield [built(source, ["gcc", f"-gdwarf-{version}"]) for version in (2, 4, 5)] + [
            built(source, ["powerpc-linux-gnu-gcc", "-gdwarf-4", "-fdebug-types-section"])
        ]


def built(source: Path, compiler: list[str]) -> bytes:
    if shutil.which(compiler[0]) is None:
        pytest.skip(f"{compiler[0]} is not installed")
    target = source.with_suffix(".elf")
    flags = ["-O0", "-nostdlib", "-static", "-no-pie", "-w", "-Wl,--build-id=none", "-o", str(target)]
    subprocess.run([*compiler, *flags, str(source)], check=True, timeout=60)
    return target.read_bytes()


def with_bytes_changed(data: bytes, rng: random.Random) -> bytes:
    """Change single bytes, nearly all of them behind the code, where the debug sections are."""
    changed = bytearray(data)
    for _ in range(rng.choice((1, 2, 5, 20))):
        first = 0 if rng.random() < 0.1 else len(data) // 5
        changed[rng.randrange(first, len(data))] = rng.choice((0, 1, 0x7F, 0x80, 0xFF, rng.randrange(256)))
    return bytes(changed)


def test_mutated_applications(tmp_path: Path, applications: list[bytes]) -> None:
    for number, seed in enumerate(applications):
        attack(seed, tmp_path / f"app{number}.elf", ":struct state", with_bytes_changed)
