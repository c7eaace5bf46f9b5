# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.bench [NAME...]``: all benches, or some, one after the other. Measures; asserts nothing."""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Final

# In order of how long they take.
BENCHES: Final = {
    "recording": "recording and upload on the target, in instructions",
    "overhead": "what monitoring takes inside partition windows",
    "memmap": "memory maps of a large image",
    "reception": "datagrams and events from the link to the file",
    "reading": "decode and print, beside babeltrace2",
    "analyses": "analyses from the raw file",
}


def main() -> int:
    """Run the benches named, or all; returns how many failed."""
    names = sys.argv[1:] or list(BENCHES)
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no bench is called {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    return sum(not _run(name) for name in names)


def _run(name: str) -> bool:
    print(f"== {name}: {BENCHES[name]}", flush=True)
    try:
        importlib.import_module(f"tests.bench.{name}").main()
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        print(f"could not be measured: {error}", flush=True)
        return False
    print(flush=True)
    return True


if __name__ == "__main__":
    sys.exit(main())
