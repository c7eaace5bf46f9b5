# SPDX-License-Identifier: Apache-2.0
"""Under loss every figure is a range that holds the truth; without loss it is a number.

The truth is what the same analysis says of the complete session (that this is right is shown by hand-calculated
sessions and by the demo kernel's own books).
"""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from tests.support.scheduling import random_session
from vxmon.analysis.figures import NOT_RECORDED, Figure
from vxmon.analysis.time.analyze import analyze_time
from vxmon.analysis.time.named import named_figures
from vxmon.trace import StoredTrace, open_trace

SESSIONS = 500
GROUP = 25


def figures(path: str) -> dict[str, Figure]:
    with open_trace([path]) as trace:
        assert isinstance(trace, StoredTrace)
        return {named.name: named.figure for named in named_figures(analyze_time(trace))}


def holds(figure: Figure, truth: Figure) -> bool:
    if truth.value is None:
        return truth.status == figure.status
    if figure.lo is None:
        return False
    return figure.lo <= truth.value and (figure.hi is None or truth.value <= figure.hi)


@pytest.mark.parametrize("first", range(0, SESSIONS, GROUP))
def test_ranges_hold_the_truth(first: int, tmp_path: Path) -> None:
    wrong = []
    compared = 0
    for seed in range(first, first + GROUP):
        rng = random.Random(seed)
        session = random_session(seed)
        truth = figures(session.write(tmp_path / "whole.pcapng"))
        doubtful = [
            name for name, figure in truth.items() if figure.status != NOT_RECORDED and figure.in_doubt and figure.n
        ]
        assert not doubtful, (seed, doubtful)
        blocks = len(session.blocks())
        drop = rng.sample(range(blocks), rng.randrange(1, max(blocks // 2, 2)))
        found = figures(session.write(tmp_path / "lossy.pcapng", drop))
        assert found.keys() == truth.keys()
        compared += len(truth)
        wrong += [(seed, name, found[name], truth[name]) for name in truth if not holds(found[name], truth[name])]
    assert not wrong, wrong[:8]
    assert compared > 1000
