# SPDX-License-Identifier: Apache-2.0
"""Entry point: light, so that signals are handled before anything large is loaded."""

from __future__ import annotations

import gc
import os
import sys
from typing import Final

from vxmon_cli.stopping import STOP

__all__ = ["COMMANDS", "main"]

# Command -> the word on it in the list of commands. The module of that name has the command as its only public name.
COMMANDS: Final[dict[str, str]] = {
    "analyze": "Compute figures from sessions: time and margins, quality.",
    "capture": "Record what a target sends, raw.",
    "check": "Judge sessions by limits: the gate for CI.",
    "memmap": "Show what ELF images take in memory.",
    "hm-log": "Show the log of the health monitor, from a session or a target.",
    "icd": "Check and show layouts of messages, decode bytes.",
    "info": "Say what a session holds, and what it lacks.",
    "plan": "Make, check, show and apply collection plans.",
    "print": "Show the events of a session as lines.",
    "session": "Cut and check session files.",
    "target": "Run the demo target, and tell targets what to do.",
}

# New objects between two searches for garbage in cycles, of which there is little here; Python's own number is 700.
_COLLECT_EVERY: Final = 100_000


def main() -> None:
    """Run the command line and exit with its status."""
    # What modules make while they load stays for good: to look it over for garbage again and again finds nothing.
    gc.set_threshold(_COLLECT_EVERY)
    # No matrix here is so large that threads would pay, and to start them takes as long as to read a small session.
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    if sys.argv[1:2] == ["capture"]:
        STOP.install()
    from vxmon_cli.application import run

    run()
