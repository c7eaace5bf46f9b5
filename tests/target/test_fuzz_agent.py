# SPDX-License-Identifier: Apache-2.0
"""A million hostile datagrams into the agent under the sanitizers (tests/fuzz/fuzz_agent.c): it still answers."""

from __future__ import annotations

import subprocess

import pytest

from tests.support.tree import ROOT

COUNT = 1_000_000
LIMIT_S = 300


@pytest.mark.parametrize("seed", [1])
def test_the_agent_stands_a_million_hostile_datagrams(seed: int) -> None:
    done = subprocess.run(
        [str(ROOT / "build/posix/fuzz-agent"), "--count", str(COUNT), "--seed", str(seed)],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the agent answers" in done.stdout
