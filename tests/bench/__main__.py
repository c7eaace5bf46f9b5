# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.bench [NAME...]``: all benches, or some, one after the other. Measures; asserts nothing.

The table goes to standard output, the same as JSON with facts of the machine to build/bench/results.json. One line a
run, with what has a goal, is added to build/bench/history.jsonl, which belongs to whoever runs this.
"""

from __future__ import annotations

import argparse
import importlib
import subprocess
import sys
from typing import Final

from tests.bench.busy import busy_beside
from tests.bench.table import Row, add_to_history, facts_text, machine_facts, print_legend, print_rows, write_results
from tests.support.tree import ROOT

# In order of how long they take.
BENCHES: Final = {
    "recording": "recording and upload on the target, in instructions, beside peers",
    "footprint": "size of the agent on the target, by feature",
    "overhead": "what monitoring takes inside partition windows",
    "sustained": "the most events a second that the target sends with nothing lost",
    "startup": "how long commands take to start",
    "memmap": "memory maps of a large image",
    "reception": "datagrams and events from the link to the file",
    "reading": "decode and sort, beside babeltrace2",
    "text": "lines of text, beside babeltrace2",
    "analyses": "analyses from the raw file, beside python3-bt2",
    "sizes": "time and memory from a hundred thousand events to ten million",
}
# Only when they are named.
LONG: Final = {"large": "time and memory at a hundred million events, and a second of them (2 GB of disk, minutes)"}
_EVERY: Final = BENCHES | LONG
_FOLDER: Final = ROOT / "build" / "bench"


def main() -> int:
    """Run the benches named, or all that are not long; returns how many failed."""
    given = _arguments()
    names = given.names or list(BENCHES)
    facts = machine_facts(given.load)
    print(facts_text(facts), flush=True)
    print_legend()
    with busy_beside(given.load):
        results = {name: rows for name in names if (rows := _run(name)) is not None}
    write_results(_FOLDER / "results.json", facts, results)
    add_to_history(_FOLDER / "history.jsonl", facts, results)
    print(f"\nthe same as JSON: {(_FOLDER / 'results.json').relative_to(ROOT)}; runs so far: history.jsonl beside it")
    return len(names) - len(results)


def _arguments() -> argparse.Namespace:
    about = "\n".join(f"  {name:10} {text}" for name, text in _EVERY.items())
    parser = argparse.ArgumentParser(
        "python -m tests.bench", description="Measure. Without a name all but the last are run:\n" + about,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )  # fmt: skip
    parser.add_argument("names", nargs="*", metavar="NAME", help="a bench")
    parser.add_argument(
        "--load", type=int, default=0, metavar="N", help="keep N processors busy meanwhile (figures are wall time)"
    )
    given = parser.parse_args()
    unknown = [name for name in given.names if name not in _EVERY]
    if unknown:
        parser.error(f"no bench is called {', '.join(unknown)}; there are {', '.join(_EVERY)}")
    return given


def _run(name: str) -> list[Row] | None:
    print(f"== {name}: {_EVERY[name]}", flush=True)
    try:
        return print_rows(importlib.import_module(f"tests.bench.{name}").measure())
    except (OSError, RuntimeError, subprocess.SubprocessError) as error:
        print(f"  could not be measured: {error}", flush=True)
        return None


if __name__ == "__main__":
    sys.exit(main())
