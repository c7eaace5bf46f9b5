# SPDX-License-Identifier: Apache-2.0
"""Programs for the demo target's board without its kernel: built as the kernel is, run with instructions counted."""

from __future__ import annotations

import subprocess
from collections.abc import Iterable
from pathlib import Path
from typing import Final

from tests.support.tree import ROOT

__all__ = ["BUILT", "LIMIT_S", "NANOPB", "build", "run"]

BUILT: Final = ROOT / "build" / "bench"
NANOPB: Final = ROOT / "build" / "third_party" / "nanopb"
LIMIT_S: Final = 120
_BARE: Final = ROOT / "tests" / "bench" / "bare"
# Compiled as target_c/kernel/kernel.mk does it.
_OPTIONS: Final = (
    "-mcpu=e500mc -msoft-float -O2 -std=gnu11 -ffreestanding -fno-pie -fno-builtin -fno-stack-protector "
    "-fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -fno-strict-aliasing -G0 -mno-sdata "
    "-nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments"
).split()


def build(name: str, sources: Iterable[Path], includes: Iterable[Path | str], *options: str) -> Path:
    """Link a program that begins at bench_main. Raises CalledProcessError."""
    program = BUILT / f"{name}.elf"
    BUILT.mkdir(parents=True, exist_ok=True)
    command = ["powerpc-linux-gnu-gcc", *_OPTIONS, f"-Wl,-T,{_BARE / 'bare.ld'}", f"-I{_BARE}"]
    command += [f"-I{folder}" for folder in includes]
    command += [*options, '-DPB_SYSTEM_HEADER="pb_system.h"', "-o", str(program)]
    command += [*map(str, sources), str(_BARE / "machine.c"), "-lgcc"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=LIMIT_S)
    return program


def run(program: Path) -> dict[str, float]:
    """Run a program; returns the figures it prints, in instructions.

    Raises:
        RuntimeError: it did not come to its end.

    """
    command = "qemu-system-ppc -M ppce500 -cpu e500mc -m 128 -nographic -nic none -icount shift=0,sleep=off".split()
    command += ["-netdev", "hubport,id=n0,hubid=0", "-device", "eTSEC,netdev=n0", "-kernel", str(program)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=LIMIT_S, check=True
    )
    if not done.stdout.endswith("end 0.0\n"):
        raise RuntimeError(f"the bench did not end: {done.stdout}{done.stderr}")
    figures = dict(line.split() for line in done.stdout.splitlines())
    del figures["end"]
    return {name: float(value) for name, value in figures.items()}
