# SPDX-License-Identifier: Apache-2.0
"""Memory that commands free is used again: the kernel's own count of page faults tells."""

from __future__ import annotations

import subprocess
import sys
from typing import Final

# Frees arrays of 2 MiB in all at the end of the heap, again and again; prints page faults of 100 rounds.
_PROGRAM: Final = """
import resource
import numpy as np
from vxmon_cli.allocator import keep_memory
keep_memory()
def work():
    arrays = [np.ones(1 << 15) for _ in range(8)]
    del arrays
for _ in range(3):
    work()
before = resource.getrusage(resource.RUSAGE_SELF).ru_minflt
for _ in range(100):
    work()
print(resource.getrusage(resource.RUSAGE_SELF).ru_minflt - before)
"""
_PAGES: Final = 100 * 8 * (1 << 18) // 4096


def faults(how: str) -> int:
    done = subprocess.run([sys.executable, "-c", _PROGRAM, how], capture_output=True, text=True, check=True, timeout=60)
    return int(done.stdout)


def test_arrays_that_come_and_go_cost_no_page_faults() -> None:
    assert faults("keep") < _PAGES // 20
