# SPDX-License-Identifier: Apache-2.0
"""Where things are, how long they may be, and what no file may hold."""

from __future__ import annotations

import ast
import re
from pathlib import Path

import pytest

from tests.support.tree import ROOT, is_generated, project_files

TOP_LEVEL = {
    "proto", "vxmon", "cli", "target_c", "tests", "Makefile", "README.md", "pyproject.toml", "LICENSE", "CHANGELOG.md",
}  # fmt: skip
BUILT = {"build", "dist"}
TEST_FOLDERS = {"unit", "contract", "target", "qemu", "compat", "fuzz", "bench", "support", "storm"}
SOURCES = ("*.py", "*.c", "*.h", "*.S", "*.ld", "*.mk", "Makefile")
MAX_FILE_LINES = 600
MAX_FUNCTION_LINES = 60


def relative(path: Path) -> str:
    return str(path.relative_to(ROOT))


def lines(path: Path) -> list[str]:
    return path.read_text(encoding="utf-8").splitlines()


def test_top_level_holds_exactly_what_the_design_says() -> None:
    names = {path.name for path in ROOT.iterdir() if not path.name.startswith(".")} - BUILT
    assert names == TOP_LEVEL


def test_kinds_of_tests_have_their_folders() -> None:
    names = {path.name for path in (ROOT / "tests").iterdir() if path.is_dir()} - {"__pycache__"}
    assert names <= TEST_FOLDERS


def test_no_file_is_too_long() -> None:
    long = {relative(path): len(lines(path)) for path in project_files(*SOURCES) if not is_generated(path)}
    assert {name: count for name, count in long.items() if count > MAX_FILE_LINES} == {}


def test_no_python_function_is_too_long() -> None:
    long = [
        f"{relative(path)}: {node.name}"
        for path in project_files("*.py")
        if not is_generated(path)
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.FunctionDef) and (node.end_lineno or 0) - node.lineno >= MAX_FUNCTION_LINES
    ]
    assert long == []


def c_functions(text: list[str]) -> list[tuple[str, int]]:
    """Name line and length of each function: from a brace in column 0 to the next one."""
    functions, start = [], 0
    for number, line in enumerate(text):
        if line == "{":
            start = number
        elif line == "}" and start:
            functions.append((text[start - 1], number - start))
            start = 0
    return functions


def test_no_c_function_is_too_long() -> None:
    long = [
        f"{relative(path)}: {name}"
        for path in project_files("*.c", "*.h")
        if not is_generated(path)
        for name, length in c_functions(lines(path))
        if length > MAX_FUNCTION_LINES
    ]
    assert long == []


def test_sources_name_their_licence_at_the_top() -> None:
    missing = [
        relative(path)
        for path in project_files("*.py", "*.c", "*.h", "*.S", "*.mk", "Makefile", "*.toml", "*.proto")
        if "vxmon.pb." not in path.name
        and "vxmon_pb2" not in path.name
        and not any("SPDX-License-Identifier: Apache-2.0" in line for line in lines(path)[:3])
    ]
    assert missing == []


# Written in pieces, so that this file does not hold what it looks for.
FOREIGN = re.compile("|".join([r"/wo" + r"rk/", r"/ro" + r"ot/", r"/ho" + r"me/\w", r"py" + r"env", r"/mn" + r"t/"]))


def test_no_file_names_a_path_of_the_machine_it_was_made_on() -> None:
    found = []
    for path in project_files():
        if path.suffix in {".bin", ".pcapng", ".pcap", ".png", ".elf", ".gz", ".xz"}:
            continue
        found += [f"{relative(path)}: {line.strip()}" for line in lines(path) if FOREIGN.search(line)]
    assert found == []


@pytest.mark.parametrize("name", ["vxmon", "cli/vxmon_cli"])
def test_packages_are_typed(name: str) -> None:
    assert (ROOT / name / "py.typed").exists()
