# SPDX-License-Identifier: Apache-2.0
"""The C tests of parts of the agent (tests/target/unit_*.c), built with the sanitizers."""

from __future__ import annotations

import subprocess

from tests.support.tree import ROOT


def test_parts_of_the_agent() -> None:
    done = subprocess.run(
        [str(ROOT / "build/posix/agent-tests")], capture_output=True, text=True, timeout=60, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert " 0 failures" in done.stdout
