# SPDX-License-Identifier: Apache-2.0
"""``python -m target_c.partitions.configure module.xml -o FOLDER``: the module's configuration as C and assembler.

Reads a module configuration with vxmon's own reader, checks it against what the demo kernel can do, and writes
``config.c`` (partitions, schedules, ports and health monitor tables; times in integer nanoseconds) and ``images.S``
(the partitions' ELF files as read-only data). A partition's ELF file is named after its application, in small
letters: NAV is ``nav.elf``.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

from target_c.partitions.health import log_entries, module_rows, partition_row
from target_c.partitions.ports import ports_source
from vxmon.config.model import ModuleConfig, PartitionConfig, ScheduleConfig
from vxmon.config.module import load_module
from vxmon.errors import InputError, VxmonError

__all__ = ["config_source", "images_source", "main"]

MAX_PARTITIONS = 16
MAX_SCHEDULES = 16
MAX_WINDOWS = 64
SHORTEST_WINDOW_NS = 100_000
SPARE_SHARE = 10
"""Percent of each major frame that must be SPARE, for the monitor."""
PARTITION_BYTES = 0x100000
"""The demo kernel's memory layout of a partition: text, data and stacks."""
_NAME = re.compile("[A-Za-z0-9_-]{1,30}")
_HEAD = """/* SPDX-License-Identifier: Apache-2.0 */
/* Made by target_c/partitions/configure.py from the module's XML; do not edit. */
"""


def _check_name(kind: str, name: str) -> None:
    if not _NAME.fullmatch(name):
        raise InputError(f"{kind} {name!r}: the demo kernel takes names of 1 to 30 letters, digits, '_' and '-'")


def _check(module: ModuleConfig) -> None:
    _check_name("module", module.name)
    if module.dialect != "VxWorks 653":
        raise InputError(f"the demo kernel wants a VxWorks 653 module, not {module.dialect}")
    if not 1 <= len(module.partitions) <= MAX_PARTITIONS:
        raise InputError(f"{len(module.partitions)} partitions: the demo kernel takes 1 to {MAX_PARTITIONS}")
    if len(module.schedules) > MAX_SCHEDULES:
        raise InputError(f"{len(module.schedules)} schedules: the demo kernel takes at most {MAX_SCHEDULES}")
    for partition in module.partitions:
        _check_partition(partition)
    for schedule in module.schedules:
        _check_schedule(schedule)


def _check_partition(partition: PartitionConfig) -> None:
    where = f"{partition.source}: partition {partition.name}"
    if len(partition.applications) != 1:
        raise InputError(f"{where} needs exactly one Application, its ELF file's name")
    _check_name("partition", partition.name)
    _check_name("application", partition.applications[0])
    if partition.id == 0:
        raise InputError(f"{where} has Id 0, which is the module OS")
    if (partition.required_memory or 0) < PARTITION_BYTES:
        raise InputError(f"{where} needs Settings/@RequiredMemorySize of at least {PARTITION_BYTES:#x}")


def _check_schedule(schedule: ScheduleConfig) -> None:
    where = f"{schedule.source}: schedule {schedule.id}"
    if len(schedule.windows) > MAX_WINDOWS:
        raise InputError(f"{where} has {len(schedule.windows)} windows: the demo kernel takes at most {MAX_WINDOWS}")
    for window in schedule.windows:
        if window.duration_ns < SHORTEST_WINDOW_NS:
            raise InputError(f"{window.source}: a window is shorter than {SHORTEST_WINDOW_NS:,} ns")
    if schedule.spare_ns * 100 < schedule.major_frame_ns * SPARE_SHARE:
        raise InputError(f"{where} has less than {SPARE_SHARE} % of SPARE time, which the monitor needs")


def _partition_line(index: int, partition: PartitionConfig, actions: str) -> str:
    numbers = f"{partition.id}, {partition.required_memory:#x}"
    return f'    {{"{partition.name}", {numbers}, image_{index}, image_{index}_end, {actions}}},\n'


def _windows(schedule: ScheduleConfig, numbers: dict[str, int]) -> str:
    lines = [f"static const struct window_config windows_{schedule.id}[] = {{\n"]
    for window in schedule.windows:
        number = numbers[window.partition] if window.partition is not None else 0
        release = "true" if window.release_point else "false"
        name = window.partition or "SPARE"
        lines.append(f"    {{{number}, {release}, {window.offset_ns}u, {window.duration_ns}u}}, /* {name} */\n")
    return "".join([*lines, "};\n\n"])


def _schedule_line(schedule: ScheduleConfig) -> str:
    return f"    {{{schedule.id}, {len(schedule.windows)}, {schedule.major_frame_ns}u, windows_{schedule.id}}},\n"


def config_source(module: ModuleConfig) -> str:
    """Return the C source that defines ``module_config``. Raises InputError where the kernel cannot follow."""
    _check(module)
    ports, port_count = ports_source(module)
    numbers = {partition.name: number for number, partition in enumerate(module.partitions, start=1)}
    images = [f"extern const uint8_t image_{i}[], image_{i}_end[];\n" for i in range(len(module.partitions))]
    partitions = [_partition_line(i, p, partition_row(module, p)) for i, p in enumerate(module.partitions)]
    return "".join([
        _HEAD,
        '#include "kernel/config.h"\n\n',
        *images,
        "\nstatic const struct partition_config partitions[] = {\n",
        *partitions,
        "};\n\n",
        *(_windows(s, numbers) for s in module.schedules),
        "static const struct schedule_config schedules[] = {\n",
        *(_schedule_line(s) for s in module.schedules),
        "};\n\n",
        ports,
        "const struct module_config module_config = {\n",
        f'    "{module.name}", {module.id or 0}, {len(partitions)}, partitions, ',
        f"{len(module.schedules)}, schedules, {port_count}, {'ports' if port_count else '0'},\n",
        f"{module_rows(module)}    {log_entries(module)},\n}};\n",
    ])  # fmt: skip


def images_source(module: ModuleConfig, folder: Path) -> str:
    """Return the assembler source that takes in each partition's ELF file from a folder."""
    parts = [_HEAD, '    .section .images, "a"\n']
    for i, partition in enumerate(module.partitions):
        image = folder / f"{partition.applications[0].lower()}.elf"
        parts.append(
            f'    .balign 8\n    .globl image_{i}, image_{i}_end\nimage_{i}:\n    .incbin "{image}"\nimage_{i}_end:\n'
        )
    return "".join(parts)


def main(arguments: list[str] | None = None) -> int:
    """Entry point; returns the exit status."""
    parser = argparse.ArgumentParser(prog="python -m target_c.partitions.configure", description=__doc__)
    parser.add_argument("module", type=Path, help="module configuration (XML)")
    parser.add_argument("-o", "--output", type=Path, required=True, help="folder to write to")
    parser.add_argument("--images", type=Path, required=True, help="folder of the partitions' ELF files")
    options = parser.parse_args(arguments)
    try:
        module = load_module(options.module)
        files = {"config.c": config_source(module), "images.S": images_source(module, options.images)}
        options.output.mkdir(parents=True, exist_ok=True)
        for name, text in files.items():
            (options.output / name).write_text(text, encoding="utf-8")
    except VxmonError as error:
        print(f"configure: {error}", file=sys.stderr)
        return 2
    except OSError as error:
        print(f"configure: {error}", file=sys.stderr)
        return 3
    return 0


if __name__ == "__main__":
    sys.exit(main())
