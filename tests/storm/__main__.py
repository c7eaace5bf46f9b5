# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.storm``: runs through a bad link, each replayed from its seed; compares with the target's own list.

``--seeds N`` plans from ``--first`` on, at ``--loss`` percent, or 0 to 50 by turns when it is ``mixed``; of them
``--qemu`` percent on QEMU. Ends with one line of sums and exit status 1 on a mismatch.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from tests.storm.run import Outcome, storm_posix, storm_qemu
from tests.support.proxy import Faults

LOSSES = (0, 10, 20, 30, 40, 50)


def outcomes(options: argparse.Namespace, folder: Path) -> Iterator[Outcome]:
    """Runs, until there were enough or the time is over."""
    end = time.monotonic() + options.minutes * 60
    for number, seed in enumerate(range(options.first, options.first + options.seeds)):
        if options.minutes and time.monotonic() > end:
            return
        faults = Faults.of_seed(seed, LOSSES[seed % len(LOSSES)] if options.loss == "mixed" else int(options.loss))
        if number * options.qemu // 100 != (number + 1) * options.qemu // 100:
            yield storm_qemu(faults, folder, options.seconds)
        else:
            yield storm_posix(faults, folder, options.seconds, small=seed % 5 == 4)
        for file in folder.iterdir():
            file.unlink()


def main() -> int:
    parser = argparse.ArgumentParser(prog="storm", description=__doc__)
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--loss", default="30")
    parser.add_argument("--qemu", type=int, default=25)
    parser.add_argument("--seconds", type=float, default=2.0, help="each run records so long")
    parser.add_argument("--minutes", type=float, default=0.0, help="begin no run after this time")
    options = parser.parse_args()
    runs = recorded = delivered = lost = mismatches = 0
    with tempfile.TemporaryDirectory(prefix="vxmon-storm-") as folder:
        for outcome in outcomes(options, Path(folder)):
            print(outcome.text, flush=True)
            runs, recorded, delivered = runs + 1, recorded + outcome.recorded, delivered + outcome.delivered
            lost, mismatches = lost + sum(outcome.lost.values()), mismatches + bool(outcome.wrong)
    print(f"runs={runs} recorded={recorded} delivered={delivered} lost={lost} mismatches={mismatches}")
    return 1 if mismatches else 0


if __name__ == "__main__":
    sys.exit(main())
