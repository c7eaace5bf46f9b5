# SPDX-License-Identifier: Apache-2.0
"""Who may include whom in C: the agent knows no OS and no board, the kernel's core no agent, arch or board."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.support.tree import ROOT, is_generated, project_files

TARGET = ROOT / "target_c"
INCLUDE = re.compile(r'^\s*#\s*include\s*([<"])([^>"]+)[>"]', re.MULTILINE)
# Headers that ISO C 11, section 4, gives a freestanding program.
FREESTANDING = {
    "float.h", "iso646.h", "limits.h", "stdalign.h", "stdarg.h", "stdbool.h", "stddef.h", "stdint.h", "stdnoreturn.h",
}  # fmt: skip
THIRD_PARTY = {"pb.h", "pb_common.h", "pb_encode.h", "pb_decode.h", "bearssl_hmac.h"}
FOREIGN_NAMES = re.compile(r"vxworks|\ba653\b|apex|ppce?500|e500|powerpc|qemu|posix|linux|\blwip\b", re.IGNORECASE)


def files(folder: str) -> list[Path]:
    return [path for path in project_files("*.c", "*.h", "*.S") if path.is_relative_to(TARGET / folder)]


def includes(path: Path) -> list[tuple[str, str]]:
    return INCLUDE.findall(path.read_text(encoding="utf-8"))


def is_local(path: Path, name: str, folder: str) -> bool:
    """True for a header in the including file's folder or in the folder whose rule this is."""
    return any((base / name).is_file() for base in (path.parent, TARGET / folder))


def offenders(folder: str, allowed: set[str], roots: list[str]) -> list[str]:
    """Includes of the files in a folder that are neither its own, nor below roots, nor allowed by name."""
    found = []
    for path in files(folder):
        for _, name in includes(path):
            known = name in allowed or is_local(path, name, folder)
            if not known and not any((TARGET / root / name).is_file() for root in roots):
                found.append(f"{path.relative_to(ROOT)}: {name}")
    return found


def test_agent_includes_only_public_headers_third_party_and_freestanding_ones() -> None:
    assert files("agent")
    assert offenders("agent", FREESTANDING | THIRD_PARTY, ["include"]) == []


def test_public_headers_include_only_the_port_and_freestanding_ones() -> None:
    assert offenders("include", FREESTANDING | {"vxm_port_config.h"}, ["include"]) == []


def test_kernel_core_includes_only_hooks_and_kernel_headers() -> None:
    assert offenders("kernel/core", FREESTANDING | {"vxm/hooks.h"}, ["kernel/include"]) == []


def test_kernel_headers_know_no_arch_and_no_board() -> None:
    allowed = FREESTANDING | {"vxm/hooks.h"}
    assert offenders("kernel/include", allowed, ["kernel/include"]) == []


def test_nothing_leaves_its_folder_by_a_relative_path() -> None:
    found = [
        f"{path.relative_to(ROOT)}: {name}"
        for path in project_files("*.c", "*.h", "*.S")
        if not is_generated(path)
        for _, name in includes(path)
        if ".." in Path(name).parts or name.startswith("/")
    ]
    assert found == []


@pytest.mark.parametrize("folder", ["agent", "include"])
def test_agent_names_no_operating_system_and_no_board(folder: str) -> None:
    found = [
        f"{path.relative_to(ROOT)}: {line.strip()}"
        for path in files(folder)
        if not is_generated(path)
        for line in path.read_text(encoding="utf-8").splitlines()
        if FOREIGN_NAMES.search(line)
    ]
    assert found == []
