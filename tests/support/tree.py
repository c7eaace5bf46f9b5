# SPDX-License-Identifier: Apache-2.0
"""The files of the project, for tests that read them."""

from __future__ import annotations

from pathlib import Path

__all__ = ["ROOT", "is_generated", "project_files"]

ROOT = Path(__file__).parents[2]

_NOT_OURS = frozenset({".git", ".venv", "build", "dist", "__pycache__", ".hypothesis"})


def project_files(*patterns: str) -> list[Path]:
    """All files whose name fits a pattern, without what was built, fetched or cached."""
    found: list[Path] = []
    folders = [ROOT]
    while folders:
        for path in folders.pop().iterdir():
            if path.name in _NOT_OURS or path.is_symlink():
                continue
            if path.is_dir():
                folders.append(path)
            elif not patterns or any(path.match(pattern) for pattern in patterns):
                found.append(path)
    return sorted(found)


def is_generated(path: Path) -> bool:
    """True for files that `make gen` makes."""
    return "generated" in path.parts or path == ROOT / "proto" / "EVENTS.md"
