# SPDX-License-Identifier: Apache-2.0
"""What a session says of its runs: the configuration that was told while they lasted, and whose records they are."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from tests.support.navsession import recording
from vxmon.errors import InputError
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


def test_different_recordings_with_one_boot_id_are_not_mixed(tmp_path: Path) -> None:
    """Deterministic runs have one boot id; the second has its first block, of five records, a tick later."""
    other = recording()
    other.records = [replace(record, time=record.time + 1) for record in other.records[:5]] + other.records[5:]
    paths = [recording().write(tmp_path / "a.pcapng"), other.write(tmp_path / "b.pcapng")]
    with pytest.raises(InputError, match=r"a\.pcapng and .*b\.pcapng are different recordings .* 1 block differ"):
        open_trace(paths)
    # A session and a part of it are one recording.
    paths[1] = recording().write(tmp_path / "c.pcapng", drop=(1,))
    with open_trace(paths) as trace:
        assert trace.facts.counters.duplicates == 4
