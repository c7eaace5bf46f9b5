# SPDX-License-Identifier: Apache-2.0
"""Host machine and real agent against each other in schedules that hypothesis makes up (tests/support/linkmodel.py).

No record is counted twice, the identity holds, nothing is stuck when the network heals, a command runs at most once.
``VXMON_EXPLORE=1 VXMON_SCHEDULES=5000 pytest tests/target/test_link_stateful.py`` is the campaign.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import replace

import numpy as np
import pytest
from hypothesis import HealthCheck, Phase, settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, rule, run_state_machine_as_test
from numpy.typing import NDArray

from tests.support.linkmodel import Model, Weather
from vxmon.link.acks import StreamTracker
from vxmon.link.commands import Pending, Requester
from vxmon.link.machine import HostLink
from vxmon.wire.types import Policy, StreamAck, Trigger

SCHEDULES = int(os.environ.get("VXMON_SCHEDULES", "15"))
SHARES = st.sampled_from([0, 10, 30, 50])
WEATHER = st.builds(
    Weather, drop=SHARES, duplicate=SHARES, delay_share=SHARES, delay=st.sampled_from([0, 5, 80, 1500]),
    corrupt=st.sampled_from([0, 5, 20]),
)  # fmt: skip
SETTINGS = settings(
    max_examples=SCHEDULES, stateful_step_count=30, deadline=None, suppress_health_check=list(HealthCheck),
    phases=[Phase.generate],
)  # fmt: skip


class Link(RuleBasedStateMachine):
    """One world."""

    key: bytes | None = None

    @initialize(seed=st.integers(0, 2**20), clock=st.sampled_from([10**6, 2**32 - 10**5, 2**40]), weather=WEATHER)
    def begin(self, seed: int, clock: int, weather: Weather) -> None:
        self.model = Model(seed, clock, key=self.key)
        self.model.steps(5)
        self.model.start(Policy.LINEAR if seed % 2 else Policy.RING, 3 + seed % 20)
        self.model.steps(3)
        assert self.model.link.run == 1
        self.model.weather = weather

    @rule(weather=WEATHER)
    def turn(self, weather: Weather) -> None:
        self.model.weather = weather

    @rule(count=st.integers(1, 300), steps=st.integers(0, 20))
    def record(self, count: int, steps: int) -> None:
        self.model.record(count)
        self.model.steps(steps)

    @rule(steps=st.integers(1, 40))
    def wait(self, steps: int) -> None:
        self.model.steps(steps)

    @rule(steps=st.integers(0, 60))
    def mark(self, steps: int) -> None:
        self.model.mark()
        self.model.steps(steps)

    @rule(steps=st.integers(50, 900))
    def cut(self, steps: int) -> None:
        weather, self.model.weather = self.model.weather, Weather(drop=100)
        self.model.steps(steps)
        self.model.weather = weather

    @rule()
    def heal(self) -> None:
        weather = replace(self.model.weather)
        self.model.heal()
        self.model.weather = weather

    @rule(policy=st.sampled_from(Policy), units=st.integers(3, 20))
    def reboot(self, policy: Policy, units: int) -> None:
        """The host finds the new boot by itself, and begins a new run there."""
        weather, self.model.weather = self.model.weather, Weather()
        self.model.reboot()
        self.model.heal()
        if not self.model.link.run:
            self.model.start(policy, units)
            self.model.heal()
        assert self.model.link.run == 1
        self.model.weather = weather

    @rule(policy=st.sampled_from(Policy), units=st.integers(3, 20))
    def again(self, policy: Policy, units: int) -> None:
        """The run ends, everything is fetched and accounted for, and the next one begins."""
        weather, run = self.model.weather, self.model.link.run
        self.model.finish()
        self.model.truth.clear()
        self.model.start(policy, units)
        self.model.heal()
        assert self.model.link.run == run + 1
        self.model.weather = weather

    @invariant()
    def holds(self) -> None:
        if hasattr(self, "model"):
            self.model.check()

    def teardown(self) -> None:
        if hasattr(self, "model"):
            with self.model.closing():
                self.model.finish()
                self.model.check()


def test_no_schedule_breaks_the_link() -> None:
    run_state_machine_as_test(Link, settings=SETTINGS)


class KeyedLink(Link):
    """The same with a key on both sides: every datagram of a session is sealed and checked."""

    key = bytes(range(32))


def test_no_schedule_breaks_a_link_with_a_key() -> None:
    run_state_machine_as_test(KeyedLink, settings=SETTINGS)


def off_by_one(tracker: StreamTracker, cut: int) -> StreamAck:
    """The first missing block is acknowledged too."""
    right = HONEST(tracker, cut)
    if not right.missing:
        return right
    first, *rest = right.missing
    left = [replace(first, first=first.first + 1, count=first.count - 1)] if first.count > 1 else []
    return replace(right, next=right.next + 1, missing=(*left, *rest))


def count_again(link: HostLink, rows: NDArray[np.void], now: int) -> None:
    """Blocks that come again are counted again."""
    STORED(link, rows, now)
    link.delivered += int(rows["count"][rows["sequence"] == 0].sum()) * (link.duplicates > 0)


HONEST, STORED = StreamTracker.acknowledgement, HostLink.stored
QUICK = settings(SETTINGS, max_examples=200)


@pytest.mark.parametrize(
    ("where", "name", "bug", "said"),
    [
        (StreamTracker, "acknowledgement", off_by_one, "is acknowledged and not stored|gave away"),
        (HostLink, "stored", count_again, "counted twice"),
    ],
)
def test_a_planted_bug_is_caught(
    monkeypatch: pytest.MonkeyPatch, where: type, name: str, bug: Callable[..., object], said: str
) -> None:
    monkeypatch.setattr(where, name, bug)
    with pytest.raises(AssertionError, match=said):
        run_state_machine_as_test(Link, settings=QUICK)


def test_what_is_acknowledged_and_not_stored_is_missed_at_the_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """Also without a look at the acknowledgements themselves: the target gives away what the host has not."""
    monkeypatch.setattr(StreamTracker, "acknowledgement", off_by_one)
    monkeypatch.setattr(Model, "_check_acknowledgement", lambda *_: None)
    with pytest.raises(AssertionError, match=r"gave away|the target has"):
        run_state_machine_as_test(Link, settings=QUICK)


def test_a_command_that_runs_twice_is_caught(monkeypatch: pytest.MonkeyPatch) -> None:
    """A host that repeats a command under another id has it executed again."""

    def forget(requester: Requester, now: int) -> list[Pending]:
        found = POLL(requester, now)
        for pending in found:
            if pending.tries > 1 and isinstance(pending.command.body, Trigger):
                again = requester.submit(pending.command.body, now)
                pending.command, pending.payload = again.command, again.payload
                requester._queue.remove(again)
        return found

    monkeypatch.setattr(Requester, "poll", forget)
    with pytest.raises(AssertionError, match="executed more than once"):
        run_state_machine_as_test(Link, settings=QUICK)


POLL = Requester.poll


def test_a_restarted_target_is_greeted_before_the_commands_that_wait() -> None:
    """Each of six commands without an answer would keep the greeting waiting for 4.6 s; healing may take 17.6 s."""
    model = Model(216)
    model.steps(5)
    model.start(Policy.RING, 5)
    model.steps(3)
    model.weather = Weather(drop=100)
    for _ in range(6):
        model.mark()
    model.steps(1)
    model.reboot()
    with model.closing():
        model.heal()
        assert model.link.reboots == 1
