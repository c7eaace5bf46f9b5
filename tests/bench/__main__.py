# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.bench [NAME...]``: all benches, or some, one after the other. Measures; asserts nothing.

The table goes to standard output, the same as JSON with facts of the machine to build/bench/results.json.
"""

from __future__ import annotations

import importlib
import subprocess
import sys
from typing import Final

from tests.bench.table import Row, machine_facts, print_rows, write_results
from tests.support.tree import ROOT

# In order of how long they take.
BENCHES: Final = {
    "recording": "recording and upload on the target, in instructions, beside peers",
    "footprint": "size of the agent on the target, by feature",
    "overhead": "what monitoring takes inside partition windows",
    "startup": "how long commands take to start",
    "memmap": "memory maps of a large image",
    "reception": "datagrams and events from the link to the file",
    "reading": "decode and print, beside babeltrace2",
    "analyses": "analyses from the raw file, beside python3-bt2",
}
_RESULTS: Final = ROOT / "build" / "bench" / "results.json"


def main() -> int:
    """Run the benches named, or all; returns how many failed."""
    names = sys.argv[1:] or list(BENCHES)
    unknown = [name for name in names if name not in BENCHES]
    if unknown:
        print(f"no bench is called {', '.join(unknown)}; there are {', '.join(BENCHES)}", file=sys.stderr)
        return 2
    facts = machine_facts()
    print(f"{facts['processor']}, {facts['processors']} processors, load {facts['load'][0]}", flush=True)
    results = {name: rows for name in names if (rows := _run(name)) is not None}
    write_results(_RESULTS, facts, results)
    print(f"\nthe same as JSON: {_RESULTS.relative_to(ROOT)}")
    return len(names) - len(results)


def _run(name: str) -> list[Row] | None:
    print(f"== {name}: {BENCHES[name]}", flush=True)
    try:
        return print_rows(importlib.import_module(f"tests.bench.{name}").measure())
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        print(f"  could not be measured: {error}", flush=True)
        return None


if __name__ == "__main__":
    sys.exit(main())
