# SPDX-License-Identifier: Apache-2.0
"""What a running target told of its configuration is that of the run whose start is not in the session."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.support.navsession import recording
from vxmon.trace import open_trace


@pytest.mark.parametrize(
    ("told_at", "known"),
    [
        (600, True),  # while the run lasted: 500..3000
        (3001, False),  # after it
        (100, False),  # before its START: it was another run
        (None, False),
    ],
)
def test_a_run_has_the_configuration_that_was_told_while_it_lasted(
    told_at: int | None, known: bool, tmp_path: Path
) -> None:
    rec = recording()
    rec.start_seen, rec.told_at = False, told_at
    with open_trace([rec.write(tmp_path / "s.pcapng")]) as trace:
        (boot,) = trace.facts.boots
        (run,) = boot.runs.values()
    assert (run.config is not None) is known
    if run.config is not None:
        assert run.config.events == rec.events
