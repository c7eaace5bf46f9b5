# SPDX-License-Identifier: Apache-2.0
"""What recording and upload cost on the target, in instructions: ``python -m tests.bench.recording``.

Builds tests/bench/record_bench.c with the agent as the demo kernel has it, and runs it on QEMU with one
instruction a nanosecond. Nothing of it depends on the speed of this machine.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from typing import Final

from tests.support.tree import ROOT

__all__ = ["GOALS", "main", "measure"]

_BUILT: Final = ROOT / "build" / "bench"
_NANOPB: Final = ROOT / "build" / "third_party" / "nanopb"
_BEARSSL: Final = ROOT / "build" / "third_party" / "bearssl"
_LIMIT_S: Final = 120
# Compiled as target_c/kernel/kernel.mk does it.
_OPTIONS: Final = (
    "-mcpu=e500mc -msoft-float -O2 -std=gnu11 -ffreestanding -fno-pie -fno-builtin -fno-stack-protector "
    "-fno-asynchronous-unwind-tables -fno-tree-loop-distribute-patterns -fno-strict-aliasing -G0 -mno-sdata "
    "-nostdlib -static -no-pie -Wl,--build-id=none -Wl,-z,noexecstack -Wl,--no-warn-rwx-segments "
    "-Wl,-T,tests/bench/record_bench.ld"
).split()
GOALS: Final = {
    "one_argument": 24,
    "four_arguments": 34,
    "switched_off": 6,
    "masked_one_argument": 15,
    "masked_four_arguments": 29,
    "masked_open": 80,
}


def _sources() -> list[Path]:
    agent = ROOT / "target_c" / "agent"
    return [
        ROOT / "tests" / "bench" / "record_bench.c",
        ROOT / "target_c" / "kernel" / "core" / "library.c",
        *sorted(agent.glob("*.c")),
        agent / "generated" / "event_table.c",
        agent / "generated" / "vxmon.pb.c",
        *(_NANOPB / name for name in ("pb_common.c", "pb_encode.c", "pb_decode.c")),
        *(_BEARSSL / "src" / name for name in ("hash/sha2small.c", "mac/hmac.c", "codec/dec32be.c", "codec/enc32be.c")),
    ]


def _build(name: str, port: str) -> Path:
    program = _BUILT / f"{name}.elf"
    _BUILT.mkdir(parents=True, exist_ok=True)
    includes = (
        port, ".", "target_c/include", "target_c/agent", "target_c/kernel/include", str(_NANOPB),
        str(_BEARSSL / "inc"), str(_BEARSSL / "src"),
    )  # fmt: skip
    command = ["powerpc-linux-gnu-gcc", *_OPTIONS, *(f"-I{folder}" for folder in includes)]
    command += ["-isystem", "target_c/agent/freestanding"]
    command += ['-DPB_SYSTEM_HEADER="pb_system.h"', "-o", str(program), *map(str, _sources()), "-lgcc"]
    subprocess.run(command, cwd=ROOT, check=True, timeout=_LIMIT_S)
    return program


def _run(program: Path) -> dict[str, float]:
    command = "qemu-system-ppc -M ppce500 -cpu e500mc -m 128 -nographic -nic none -icount shift=0,sleep=off".split()
    command += ["-kernel", str(program)]
    done = subprocess.run(
        command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=_LIMIT_S, check=True
    )
    if not done.stdout.endswith("end 0.0\n"):
        raise RuntimeError(f"the bench did not end: {done.stdout}{done.stderr}")
    figures = dict(line.split() for line in done.stdout.splitlines())
    del figures["end"]
    return {name: float(value) for name, value in figures.items()}


def _masked_straight(program: Path, function: str) -> float:
    """Instructions after the mask was set, up to and with the one that ends it, where no branch is taken."""
    command = ["powerpc-linux-gnu-objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", str(program)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_LIMIT_S).stdout
    names = [fields[1] for fields in map(str.split, listing.splitlines()) if len(fields) > 1 and fields[0][-1] == ":"]
    begin = names.index("wrteei")
    return names.index("wrtee", begin) - begin


def measure() -> dict[str, float]:
    """Instructions by name: whole calls, the masked part, upload."""
    program = _build("record", "target_c/ports/a653")
    figures = _run(program)
    figures["masked_one_argument"] = _masked_straight(program, "vxm_record0")
    figures["masked_four_arguments"] = _masked_straight(program, "vxm_record2")
    return figures | _run(_build("record-masked", "tests/bench/masked"))


def main() -> None:
    """Print the figures and their goals."""
    for name, value in measure().items():
        goal = f"  (goal {GOALS[name]})" if name in GOALS else ""
        print(f"{name:36} {value:9.1f}{goal}")


if __name__ == "__main__":
    main()
