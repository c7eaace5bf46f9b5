# SPDX-License-Identifier: Apache-2.0
"""Processes that do nothing but keep processors busy, to measure under load."""

from __future__ import annotations

import contextlib
import subprocess
import sys
from collections.abc import Iterator

__all__ = ["busy_beside"]

# Ends by itself when its parent is gone.
_LOOP = """
import os
parent = os.getppid()
while os.getppid() == parent:
    for _ in range(1_000_000):
        pass
"""


@contextlib.contextmanager
def busy_beside(processes: int) -> Iterator[None]:
    """Keep so many processors busy meanwhile."""
    running = [subprocess.Popen([sys.executable, "-S", "-E", "-c", _LOOP]) for _ in range(processes)]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()
