# SPDX-License-Identifier: Apache-2.0
"""What recording and upload cost on the target, in instructions, beside other recorders.

Builds tests/bench/record_bench.c with the agent as the demo kernel has it, and runs it on QEMU with one
instruction a nanosecond. Nothing of it depends on the speed of this machine. The peers do the same work on the same
board, built with the same compiler and options; they are measured without the interrupt mask that their callers would
have to put around them.
"""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tests.bench.board import LIMIT_S, NANOPB, build, run
from tests.bench.peers.recorders import measure_peers
from tests.bench.table import Row
from tests.support.tree import ROOT

__all__ = ["instructions", "measure"]

_UNIT: Final = "instructions"
_BEARSSL: Final = NANOPB.with_name("bearssl")
GOALS: Final = {
    "one_argument": 24,
    "four_arguments": 34,
    "switched_off": 3,
    "slowest_reuse": 48,  # twice what is usual: one argument, and four
    "slowest_four": 64,
    "masked_one_argument": 15,
    "masked_two_arguments": 22,
    "masked_four_arguments": 29,
    "masked_eight_arguments": 36,
    "masked_text_of_16_bytes": 29,
    "masked_from_interrupt": 22,
    "masked_open": 80,
    "upload_8_with_driver_instructions_per_byte": 4,
    "upload_16_with_driver_instructions_per_byte": 4,
    "upload_24_with_driver_instructions_per_byte": 4,
}
# Our figure -> the peers' of the same work.
_SAME_WORK: Final = {
    "one_argument": ("barectf_one", "nanopb_one"),
    "four_arguments": ("barectf_four", "nanopb_four"),
    "switched_off": ("barectf_off",),
}


def _sources() -> list[Path]:
    agent = ROOT / "target_c" / "agent"
    return [
        ROOT / "tests" / "bench" / "record_bench.c",
        *(ROOT / "target_c" / "kernel" / name for name in ("core/library.c", "core/net.c", "board/ppce500/etsec.c")),
        *sorted(agent.glob("*.c")),
        agent / "generated" / "event_table.c",
        agent / "generated" / "vxmon.pb.c",
        *(NANOPB / name for name in ("pb_common.c", "pb_encode.c", "pb_decode.c")),
        *(_BEARSSL / "src" / name for name in ("hash/sha2small.c", "mac/hmac.c", "codec/dec32be.c", "codec/enc32be.c")),
    ]


def _program(name: str, port: str) -> Path:
    kernel = ("target_c/kernel/include", "target_c/kernel/board/ppce500")
    includes = (port, ".", "target_c/include", "target_c/agent", *kernel, NANOPB)
    security = (_BEARSSL / "inc", _BEARSSL / "src")
    return build(name, _sources(), (*includes, *security), "-isystem", "target_c/agent/freestanding")


def _masked_straight(program: Path, function: str) -> float:
    """Instructions after the mask was set, up to and with the one that ends it, where no branch is taken."""
    command = ["powerpc-linux-gnu-objdump", "-d", "--no-show-raw-insn", f"--disassemble={function}", str(program)]
    listing = subprocess.run(command, capture_output=True, text=True, check=True, timeout=LIMIT_S).stdout
    names = [fields[1] for fields in map(str.split, listing.splitlines()) if len(fields) > 1 and fields[0][-1] == ":"]
    begin = names.index("wrteei")
    return names.index("wrtee", begin) - begin


def _with_driver(figures: dict[str, float]) -> Iterator[tuple[str, float]]:
    """The upload with the network driver, per byte of records: events of 8, 16 and 24 bytes."""
    for size in (8, 16, 24):
        block = figures[f"upload_{size}_instructions_per_block"]
        events = block / figures[f"upload_{size}_instructions_per_event"]
        whole = block + figures["network_driver_instructions_per_block"]
        yield f"upload_{size}_with_driver_instructions_per_byte", round(whole / events / size, 2)


def instructions() -> dict[str, float]:
    """Our figures by name: whole calls, the masked part, upload."""
    program = _program("record", "target_c/ports/a653")
    figures = run(program)
    figures |= dict(_with_driver(figures))
    figures["masked_one_argument"] = _masked_straight(program, "vxm_record0")
    figures["masked_four_arguments"] = _masked_straight(program, "vxm_record2")
    return figures | run(_program("record-masked", "tests/bench/masked"))


def _unit(name: str) -> str:
    return name[name.index("_per_") :].replace("_", " ").strip() if "_per_" in name else _UNIT


def measure() -> Iterator[Row]:
    """Rows of the table."""
    figures = instructions()
    for name, value in figures.items():
        yield Row(name.replace("_", " "), value, _unit(name), GOALS.get(name))
    peers = measure_peers()
    for name, value in peers.items():
        yield Row(name.replace("_", " "), value, _UNIT)
    for ours, theirs in _SAME_WORK.items():
        for peer in theirs:
            ratio = peers[peer] / figures[ours]
            yield Row(ours.replace("_", " "), figures[ours], _UNIT, against=peer.replace("_", " "), ratio=ratio)
