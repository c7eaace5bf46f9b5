# SPDX-License-Identifier: Apache-2.0
"""Hostile datagrams into the agent under the sanitizers: it still answers, and coverage finds nothing new."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

from tests.fuzz.make_corpus import FOLDER, seeds
from tests.support.tree import ROOT

COUNT = 1_000_000
LIMIT_S = 300
FUZZER = ROOT / "build/posix/fuzz-datagram"


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


def test_with_a_key_it_stands_what_has_a_right_hmac_too() -> None:
    done = subprocess.run(
        [str(ROOT / "build/posix/fuzz-agent"), "--count", "200000", "--key", "1"],
        capture_output=True,
        text=True,
        timeout=LIMIT_S,
        check=False,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "the agent answers" in done.stdout


@pytest.mark.skipif(shutil.which("clang") is None, reason="clang is not installed: no libFuzzer, only fuzz-agent")
def test_a_short_run_of_the_fuzzer_finds_nothing(tmp_path: Path) -> None:
    """The corpus and a thousand inputs more; `make fuzz` goes on for minutes."""
    if not FUZZER.exists():
        pytest.skip("fuzz-datagram is not built: make fuzz")
    command = [str(FUZZER), "-runs=1000", "-seed=1", "-max_len=4096", f"-artifact_prefix={tmp_path}/"]
    done = subprocess.run(
        [*command, str(tmp_path), str(FOLDER)], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    found = re.search(r"Done (\d+) runs", done.stderr)
    assert found, done.stderr[-500:]


def test_the_corpus_holds_the_seeds() -> None:
    kept = {path.stem: path.read_bytes() for path in FOLDER.iterdir()}
    assert {name: data for name, data in seeds().items() if kept.get(name) != data} == {}
    assert sum(map(len, kept.values())) < 1 << 18
