# SPDX-License-Identifier: Apache-2.0
"""A short run of mutated images, module files and linker maps; VXMON_FUZZ sets how many of each."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

COUNT = os.environ.get("VXMON_FUZZ", "600")


@pytest.mark.parametrize("kind", ["elf", "xml", "map"])
def test_mutants_are_read_or_refused(tmp_path: Path, kind: str) -> None:
    """In a process of its own, which limits its memory."""
    command = [sys.executable, "-m", "tests.fuzz.image_mutants", kind, "--count", COUNT, "--keep", str(tmp_path)]
    limit = 120 + int(COUNT) / 5
    root = Path(__file__).parents[2]
    result = subprocess.run(command, cwd=root, capture_output=True, text=True, timeout=limit, check=False)
    assert result.returncode == 0, result.stdout + result.stderr
