# SPDX-License-Identifier: Apache-2.0
"""Captures through a bad link, against the posix target's own list (tests/storm/run.py); `make storm` runs many."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.storm.run import storm_posix
from tests.support.commands import posix_target, vxmon
from tests.support.proxy import Direction, Faults, Proxy
from tests.support.sim import SimHost, Simulation
from vxmon.trace import open_trace
from vxmon.trace.facts import Facts
from vxmon.wire.types import End, Result, RunConfig, Start, Stop


@pytest.mark.parametrize("seed", [7])
def test_nothing_is_lost_at_30_percent_loss(tmp_path: Path, seed: int) -> None:
    """A chatter of 60,000 events/s: what arrives of the link's rate is more, and the arena covers seconds."""
    outcome = storm_posix(Faults.of_seed(seed, 30), tmp_path, 1.0)
    assert outcome.wrong == []
    assert outcome.recorded == outcome.delivered > 10_000


def test_what_a_narrow_link_loses_is_counted_by_cause(tmp_path: Path) -> None:
    """Seed 14 lets 20 % be lost and 150 kB/s pass, into an arena of 64 KiB."""
    faults = Faults.of_seed(14, 20)
    assert faults.bandwidth
    outcome = storm_posix(faults, tmp_path, 1.0, small=True)
    assert outcome.wrong == []
    assert outcome.recorded == outcome.delivered + sum(outcome.lost.values())


def sent(faults: Faults, name: str, count: int = 500) -> list[list[tuple[float, bytes]]]:
    way = Direction(faults, name)
    return [way.take(number.to_bytes(100, "big"), number / 1024, number / 1024) for number in range(count)]


def test_a_plan_is_replayed_from_its_seed() -> None:
    faults = Faults.of_seed(3, 30)
    assert sent(faults, "target") == sent(Faults.of_seed(3, 30), "target")
    assert sent(faults, "target") != sent(faults, "host")
    assert sent(faults, "target") != sent(Faults.of_seed(4, 30), "target")


def test_the_link_does_what_the_plan_says() -> None:
    """Of 5000 datagrams each share is within four standard deviations (binomial) of the plan's."""
    way, count = Direction(Faults(1, 30, 20, 10, 5), "target"), 5000
    for _ in range(count):
        way.take(bytes(100), 0.0, 0.0)
    assert abs(way.counts["lost"] - 0.3 * count) < 4 * (count * 0.3 * 0.7) ** 0.5
    passed = count - way.counts["lost"]
    for what, share in (("duplicated", 0.2), ("reordered", 0.1), ("corrupted", 0.05)):
        assert abs(way.counts[what] - share * passed) < 4 * (passed * share * (1 - share)) ** 0.5


def test_a_cut_passes_nothing_and_ends() -> None:
    passed = [bool(what) for what in sent(Faults(cuts=((0.125, 0.25),)), "host")]
    assert passed == [not 128 <= number < 384 for number in range(500)]


def test_the_end_of_a_run_is_told_again_to_whoever_asks(sim: Simulation, host: SimHost) -> None:
    """The reply to a stop may be lost for good; with the next one the host still learns the final figures."""
    assert host.ask(Start(RunConfig(events=frozenset({256})))).result == Result.OK
    first, second = host.ask(Stop()), host.ask(Stop())
    assert (first.result, second.result, second.text) == (Result.OK, Result.STATE, "not recording")
    assert isinstance(first.body, End)
    assert isinstance(second.body, End)
    assert (second.body.run, second.body.time) == (first.body.run, first.body.time)
    assert second.body.streams[0].recorded == first.body.streams[0].recorded


def test_there_is_no_end_before_the_first_run(sim: Simulation, host: SimHost) -> None:
    reply = host.ask(Stop())
    assert (reply.result, reply.body) == (Result.STATE, None)


def test_the_files_of_a_session_have_no_false_losses_in_a_storm(tmp_path: Path) -> None:
    """Blocks that come late go to the file in which they were missed, so that each file alone is whole."""
    faults = Faults(7, 30, duplicate=10, reorder=10)
    with posix_target("--no-module", "--rate", "40000") as target, Proxy(target.port, faults) as proxy:
        name, address = f"{tmp_path}/r.pcapng", f"127.0.0.1:{proxy.port}"
        done = vxmon("capture", address, "-d", "1.5", "--rotate-size", "150k", "-o", name)
    assert done.status == 0, done.err
    files = sorted(str(path) for path in tmp_path.glob("r-*.pcapng"))
    assert len(files) > 2
    parts = [facts_of(file) for file in files]
    assert [facts.lost for facts in parts] == [0] * len(files)
    assert all(facts.cut is not None and facts.cut.more for facts in parts[:-1])
    whole = facts_of(*files)
    assert (whole.lost, whole.absent) == (0, [])
    assert whole.delivered == sum(facts.delivered for facts in parts) == done.figure("delivered")


def facts_of(*files: str) -> Facts:
    with open_trace(files) as trace:
        return trace.facts
