# SPDX-License-Identifier: Apache-2.0
"""What a capture tells the target at its times: how it is written, what it becomes. By hand, with the shipped table."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.bench.frames import target_info
from vxmon.errors import InputError
from vxmon.link.commands import Pending
from vxmon.link.selection import TargetView
from vxmon.link.timed import TimedAction, TimedActions, parse_timed
from vxmon.wire.events import TABLES, EventId
from vxmon.wire.types import Command, Filter, Reply, Request, Result, Scenario, Trigger

TABLE = TABLES["2.4"]
VIEW = TargetView(replace(target_info(), offered=frozenset(event.id for event in TABLE.events)), TABLE)


class Link:
    """Takes requests; the test answers them."""

    def __init__(self) -> None:
        self.sent: list[Pending] = []

    def request(self, body: Request, now: int) -> Pending:
        self.sent.append(Pending(Command(len(self.sent) + 1, body), b"", now))
        return self.sent[-1]

    @property
    def bodies(self) -> list[Request]:
        return [pending.command.body for pending in self.sent]


def stepped(*texts: str, seconds: float) -> tuple[Link, TimedActions, list[str]]:
    link, told = Link(), list[str]()
    actions = TimedActions(map(parse_timed, texts))
    actions.resolve(VIEW)
    actions.step(link, seconds, 0, told.append)  # type: ignore[arg-type]
    return link, actions, told


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("2=scenario:overload", TimedAction(2, "scenario", "overload")),
        (" 0.25=off:task_switch ", TimedAction(0.25, "off", "task_switch")),
        ("10=mark:65535", TimedAction(10, "mark", "65535")),
    ],
)
def test_actions_are_read(text: str, action: TimedAction) -> None:
    assert parse_timed(text) == action


@pytest.mark.parametrize(
    "text", ["", "2", "2=", "2=stop:now", "x=mark:1", "-1=mark:1", "2=mark:", "2=mark:65536", "2=mark:one", "2=on:",
             "1e3=on:HM", "2=scenario:" + "x" * 32, "2=scenario:a\tb"],
)  # fmt: skip
def test_what_is_no_action_is_told(text: str) -> None:
    with pytest.raises(InputError, match=r"write SECONDS=scenario|a mark is a number|at most 31 printable"):
        parse_timed(text)


def test_actions_are_sent_at_their_time_in_order() -> None:
    link, actions, _ = stepped("3=mark:7", "1=scenario:leak", "2=off:TASK_SWITCH", seconds=2.5)
    assert link.bodies == [Scenario("leak"), Filter(EventId.TASK_SWITCH, on=False)]
    actions.step(link, 3.0, 0, print)  # type: ignore[arg-type]
    assert link.bodies[2:] == [Trigger(7)]


def test_a_class_is_all_its_events() -> None:
    link, _, _ = stepped("0=on:sched", seconds=0)
    wanted = {event.id for event in TABLE.events if event.klass == "SCHED"}
    assert link.bodies == [Filter(number, on=True) for number in sorted(wanted)]


@pytest.mark.parametrize("name", ["NO_SUCH", "CONTROL"])
def test_a_name_that_the_target_does_not_have_is_told_before_anything_is_recorded(name: str) -> None:
    with pytest.raises(InputError, match=r"has no event and no class of this name; it has .*TASK_SWITCH"):
        TimedActions([TimedAction(1, "on", name)]).resolve(VIEW)


def test_what_the_target_refuses_is_told() -> None:
    link, actions, told = stepped("1=scenario:none", "1=mark:1", "1=mark:2", seconds=1)
    link.sent[0].reply = Reply(1, Result.UNSUPPORTED, "there is no scenario none")
    link.sent[1].reply = Reply(2, Result.OK)
    link.sent[2].failure = "no answer to 8 requests"
    actions.step(link, 1.1, 0, told.append)  # type: ignore[arg-type]
    actions.finish(told.append)
    assert told == [
        "--at 1=scenario:none: refused: there is no scenario none",
        "--at 1=mark:2: no answer to 8 requests",
    ]


def test_what_did_not_come_to_its_turn_is_told() -> None:
    _, actions, told = stepped("1=mark:1", "9=mark:2", seconds=1)
    actions.finish(told.append)
    assert told == ["the capture ended before --at 9=mark:2, 1=mark:1"]
