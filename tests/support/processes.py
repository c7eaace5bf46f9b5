# SPDX-License-Identifier: Apache-2.0
"""What this process has left over: other processes, open files."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["no_children", "open_files"]


def no_children() -> bool:
    """True when there is no process of this one, ended or not."""
    try:
        os.waitpid(-1, os.WNOHANG)
    except ChildProcessError:
        return True
    return False


def open_files() -> int:
    """How many files and pipes are open."""
    return len(list(Path("/proc/self/fd").iterdir()))
