# SPDX-License-Identifier: Apache-2.0
"""What commands load: each only what it needs, for most of a small session's time goes into loading."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.support.handmade import frames

_LOADED = "import sys, atexit; atexit.register(lambda: print(*sys.modules, file=sys.stderr)); "
_RUN = "from vxmon_cli.main import main; sys.argv = ['vxmon', *sys.argv[1:]]; main()"
# Readers have no use for what writes sessions and talks to targets, nor for what reads files that are not given.
_NEVER = {
    "vxmon.link.client", "vxmon.session.ring", "vxmon.session.rotate", "vxmon.icd.loading", "vxmon.config.module",
    "lxml", "rich", "elftools", "cantools", "asyncio", "multiprocessing",
}  # fmt: skip
_READERS = [
    "print", "info", "hm-log", "check --list", "analyze time", "analyze memory", "analyze comm", "analyze system",
]  # fmt: skip


def loaded(*arguments: str) -> set[str]:
    done = subprocess.run(
        [sys.executable, "-c", _LOADED + _RUN, *arguments], check=True, capture_output=True, text=True, timeout=60
    )
    return set(done.stderr.splitlines()[-1].split())


@pytest.mark.parametrize("command", _READERS)
def test_readers_load_only_what_reads(command: str, tmp_path: Path) -> None:
    modules = loaded(*command.split(), frames(3).write(tmp_path / "s.pcapng"))
    assert "vxmon.trace" in modules
    assert modules & _NEVER == set()
