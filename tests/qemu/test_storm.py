# SPDX-License-Identifier: Apache-2.0
"""The demo target through a bad link, against the kernel's own books (tests/storm/run.py)."""

from __future__ import annotations

from pathlib import Path

from tests.storm.run import CHATTER, self_started
from tests.support.commands import vxmon
from tests.support.proxy import Faults

# Lines compared; the rest of the run is time for what the link loses to come again.
LINES = 20 * 29
# A window begins at most so late (target_c/kernel/README.md): the agent works in SPARE windows with what arrives.
SLACK_TICKS = 4000


def window_lines(path: Path) -> list[tuple[int, str]]:
    """Time since the first line, and the rest of the line."""
    done = vxmon("print", str(path))
    assert done.status == 0, done.err
    lines = done.out.decode().splitlines()
    found = [line.split(" ", 1) for line in lines if ":WINDOW" in line or ":PARTITION_SWITCH" in line]
    times = [int(time.removeprefix("t:"), 16) for time, _ in found]
    return [(time - times[0], rest.rstrip()) for time, (_, rest) in zip(times, found, strict=True)][:LINES]


def test_a_run_that_starts_by_itself_prints_the_same_windows_at_30_percent_loss(tmp_path: Path) -> None:
    lines = []
    for loss in (0, 30):
        path = tmp_path / f"self-{loss}.pcapng"
        faults = Faults(loss, loss, duplicate=loss // 6, reorder=loss // 6, corrupt=loss // 10)
        outcome = self_started(faults, path, 60, "chatter", whole=False)
        assert outcome.wrong == []
        assert outcome.recorded > 0.02 * 60 * CHATTER
        lines.append(window_lines(path))
    quiet, stormy = lines
    assert len(quiet) == LINES
    assert [rest for _, rest in stormy] == [rest for _, rest in quiet]
    assert max(abs(a - b) for (a, _), (b, _) in zip(quiet, stormy, strict=True)) <= SLACK_TICKS
