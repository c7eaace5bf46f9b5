# SPDX-License-Identifier: Apache-2.0
"""``__all__`` says exactly what is public, and the directions of imports hold."""

from __future__ import annotations

import ast
import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.tree import ROOT, is_generated, project_files


def modules() -> dict[str, Path]:
    """Dotted name -> file of every module that may be imported."""
    found = {}
    for base, top in ((ROOT, "vxmon"), (ROOT / "cli", "vxmon_cli"), (ROOT, "proto")):
        for path in project_files("*.py"):
            if not path.is_relative_to(base / top) or is_generated(path) or path.name == "__main__.py":
                continue
            parts = path.relative_to(base).with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = path
    return found


def public_definitions(path: Path) -> set[str]:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    kinds = (ast.FunctionDef, ast.ClassDef)
    return {node.name for node in tree.body if isinstance(node, kinds) and not node.name.startswith("_")}


@pytest.mark.parametrize("name", sorted(modules()))
def test_all_is_what_is_public(name: str) -> None:
    exported = importlib.import_module(name).__all__
    assert len(set(exported)) == len(exported)
    assert all(hasattr(importlib.import_module(name), entry) for entry in exported)
    assert public_definitions(modules()[name]) - set(exported) == set()


@pytest.mark.parametrize("top", ["vxmon", "cli/vxmon_cli", "proto/gen"])
def test_every_package_is_a_regular_one(top: str) -> None:
    # Without __init__.py a folder is a namespace package, and import-linter does not look into it.
    folders = {path.parent for path in project_files("*.py") if path.is_relative_to(ROOT / top)}
    assert [str(folder.relative_to(ROOT)) for folder in folders if not (folder / "__init__.py").exists()] == []


def loaded_by(statement: str) -> set[str]:
    """Names of the modules that a fresh interpreter has loaded after a statement."""
    script = f"import sys; {statement}; print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", script], check=True, capture_output=True, text=True, timeout=60)
    return set(done.stdout.split())


def test_library_does_not_load_what_belongs_to_the_terminal() -> None:
    names = [name for name in modules() if name.split(".")[0] == "vxmon"]
    loaded = loaded_by("import " + ", ".join(names))
    assert loaded & {"click", "rich"} == set()


def test_importing_vxmon_is_cheap() -> None:
    assert loaded_by("import vxmon") & {"numpy", "google.protobuf", "click", "rich"} == set()
