# SPDX-License-Identifier: Apache-2.0
"""How long the demo applications' burn loops must take: counted in instructions, from their source and machine code.

``work`` in target_c/partitions/lib/application.c steps Marsaglia's xorshift a number of times that it draws from the
same generator. With ``-icount shift=3`` an instruction takes 8 ns, at 400 MHz 3.2 ticks.
"""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from pathlib import Path

__all__ = ["TICKS_AN_INSTRUCTION", "loop_instructions", "steps_of_work"]

TICKS_AN_INSTRUCTION = 3.2
_SEED = 0x2545F491


def _next(state: int) -> int:
    state ^= state << 13 & 0xFFFFFFFF
    state ^= state >> 17
    return state ^ state << 5 & 0xFFFFFFFF


def steps_of_work(units: Iterator[int]) -> Iterator[int]:
    """Steps of each call of ``work`` of a partition, in order, given the calls' arguments."""
    state = _SEED
    for some in units:
        state = _next(state)
        steps = some * 143
        yield steps - steps // 16 + (state >> 8) % (steps // 8 + 1)


def loop_instructions(elf: Path) -> float:
    """Instructions a step of the loop in ``work``; it ends with a bdnz, and a step has three xor."""
    command = ["powerpc-linux-gnu-objdump", "-d", "--disassemble=work", str(elf)]
    listing = subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
    code = re.findall(r"^\s*([0-9a-f]+):\t(?:[0-9a-f]{2} ){4}\t(\S+)\s*(\S*)", listing, re.MULTILINE)
    (end, begin), *others = [(int(at, 16), int(to, 16)) for at, name, to in code if name.startswith("bdnz")]
    if others:
        raise ValueError(f"{elf}: work has more than one loop")
    body = [name for at, name, _ in code if begin <= int(at, 16) <= end]
    return len(body) / (body.count("xor") // 3)
