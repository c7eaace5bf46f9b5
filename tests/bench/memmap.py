# SPDX-License-Identifier: Apache-2.0
"""Time and memory of vxmon memmap on a large image with DWARF, beside binutils and, where installed, elf-size-analyze.

The image is one object file of 3,000 functions and types, compiled with -g3 and linked COPIES times.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.table import Row

__all__ = ["build", "measure", "measure_command", "source"]

COPIES: Final = 50
FUNCTIONS: Final = 3000
_RUNS = 3
_PYELFTOOLS = """
import sys
from elftools.elf.elffile import ELFFile
with open(sys.argv[1], "rb") as file:
    elf = ELFFile(file)
    for unit in elf.get_dwarf_info().iter_CUs():
        unit.get_top_DIE()
    for symbol in elf.get_section_by_name(".symtab").iter_symbols():
        pass
"""


def source() -> str:
    """Return the C source of the object file."""
    return "".join(
        f"struct s{i} {{ int a; struct s{i} *n; char b[{i % 50 + 1}]; union {{ float f; int i; }} u; }};\n"
        f"static struct s{i} v{i}; int g{i}[{i % 17 + 1}] = {{1}};\n"
        f"int f{i}(int x, struct s{i} *p) {{ int y = x * {i}; for (int k = 0; k < x; k++)"
        f" {{ int z = y + p->a; v{i}.a += z; y ^= z >> 3; }} return y + v{i}.u.i + g{i}[0]; }}\n"
        for i in range(FUNCTIONS)
    )


def build(folder: Path) -> Path:
    """Return the image; takes about a quarter of a minute."""
    (folder / "a.c").write_text(source())
    subprocess.run(["gcc", "-g3", "-O1", "-c", "a.c", "-o", "a0.o"], cwd=folder, check=True, timeout=300)
    for copy in range(1, COPIES):
        shutil.copy(folder / "a0.o", folder / f"a{copy}.o")
    link = ["gcc", "-nostdlib", "-no-pie", "-Wl,-e,f0", "-Wl,-z,muldefs", "-o", "image.elf"]
    subprocess.run([*link, *(f"a{i}.o" for i in range(COPIES))], cwd=folder, check=True, timeout=300)
    return folder / "image.elf"


def measure_command(command: list[str]) -> tuple[float, int]:
    """Return the shortest wall time in seconds, and the peak memory in KiB, of a few runs."""
    best, peak = float("inf"), 0
    for _ in range(_RUNS):
        begin = time.perf_counter()
        with subprocess.Popen(command, stdout=subprocess.DEVNULL) as process:
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode:
            raise RuntimeError(f"{command[0]} failed")
        best, peak = min(best, time.perf_counter() - begin), max(peak, usage.ru_maxrss)
    return best, peak


def measure() -> Iterator[Row]:
    """Rows of the table."""
    vxmon = [sys.executable, "-c", "from vxmon_cli.main import main; main()", "memmap"]
    with tempfile.TemporaryDirectory() as name:
        image = build(Path(name))
        yield Row("size of the image, with DWARF 5", image.stat().st_size / 1e6, "MB")
        commands = {
            "size -A": ["size", "-A"],
            "nm -S --size-sort": ["nm", "-S", "--size-sort"],
            "readelf -lSW": ["readelf", "-lSW"],
            "vxmon memmap": vxmon,
            "vxmon memmap --symbols 20": [*vxmon, "--symbols", "20"],
            "vxmon memmap --units": [*vxmon, "--units"],
            "elf-size-analyze -R -F": ["elf-size-analyze", "-R", "-F"],
            "pyelftools: symbols, units' first entries": [sys.executable, "-c", _PYELFTOOLS],
        }
        for label, command in commands.items():
            if shutil.which(command[0]) is not None:
                seconds, kib = measure_command([*command, str(image)])
                yield Row(label, seconds, "s")
                yield Row(f"{label}, memory", kib / 1024, "MiB")
