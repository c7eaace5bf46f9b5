# SPDX-License-Identifier: Apache-2.0
"""Commands: repeated after 200, 300, 400, 500, 600, 800, 900 ms (SPEC section 5), one at a time, given up in words."""

from __future__ import annotations

import pytest

from vxmon.errors import WireError
from vxmon.link.commands import PATIENT_MS, Requester
from vxmon.wire.control import decode_command
from vxmon.wire.types import Hello, InfoRequest, Reply, Result, Stop, Trigger

MS = 1_000_000


def sent_at(requester: Requester, until_ms: int) -> list[tuple[int, int]]:
    """(ms, request id) of everything sent, asking each ms."""
    return [
        (ms, decode_command(pending.payload).request) for ms in range(until_ms) for pending in requester.poll(ms * MS)
    ]


def test_a_command_is_repeated_and_then_given_up() -> None:
    requester = Requester(100)
    pending = requester.submit(InfoRequest(), 0)
    times = (0, 200, 500, 900, 1400, 2000, 2800, 3700)
    assert sent_at(requester, 4500) == [(time, 100) for time in times]
    assert pending.failure == ""
    assert sent_at(requester, 4700) == []
    assert pending.failure == "no answer to 8 requests"
    assert requester.repeated == 7
    assert requester.due is None


def test_a_reply_ends_the_repetition() -> None:
    requester = Requester(1)
    pending = requester.submit(InfoRequest(), 0)
    requester.poll(0)
    reply = Reply(1, Result.OK)
    assert requester.take(reply, 10 * MS) is pending
    assert pending.reply is reply
    assert requester.poll(5000 * MS) == []
    assert requester.take(reply, 11 * MS) is None, "a late duplicate"


def test_the_next_command_waits_for_the_reply_to_the_one_before() -> None:
    """The target refuses a request id that is older than the last one it has seen."""
    requester = Requester(7)
    first, second = requester.submit(InfoRequest(), 0), requester.submit(Stop(), 0)
    assert [p.command.request for p in requester.poll(0)] == [7]
    assert requester.take(Reply(8, Result.OK), 1) is None, "nobody asked for that yet"
    assert requester.poll(1 * MS) == []
    requester.take(Reply(7, Result.OK), 2 * MS)
    assert [p.command.request for p in requester.poll(2 * MS)] == [8]
    assert first.done
    assert not second.done


def test_a_command_that_is_given_up_makes_way() -> None:
    requester = Requester(1)
    requester.submit(InfoRequest(), 0)
    second = requester.submit(Stop(), 0)
    sent = sent_at(requester, 10_000)
    assert [request for _, request in sent] == [1] * 8 + [2] * 8
    assert second.failure


def test_all_can_be_given_up_at_once() -> None:
    requester = Requester(1)
    waiting = [requester.submit(InfoRequest(), 0), requester.submit(Stop(), 0)]
    requester.fail_all("the target was restarted")
    assert [p.failure for p in waiting] == ["the target was restarted"] * 2
    assert requester.poll(0) == []


def test_request_ids_go_round_without_0() -> None:
    requester = Requester(0xFFFFFFFF)
    assert requester.submit(InfoRequest(), 0).command.request == 0xFFFFFFFF
    assert requester.submit(InfoRequest(), 0).command.request == 1


def test_values_outside_their_limits_are_refused_at_once() -> None:
    with pytest.raises(WireError):
        Requester(1).submit(Trigger(1, "x" * 65), 0)


def test_a_cancelled_command_is_repeated_no_more_and_makes_way() -> None:
    requester = Requester(1)
    first, second = requester.submit(InfoRequest(), 0), requester.submit(Stop(), 0)
    requester.poll(0)
    assert requester.cancel(first)
    assert first.failure == "cancelled"
    assert [p.command.request for p in requester.poll(1 * MS)] == [2]
    assert requester.take(Reply(1, Result.OK), 2 * MS) is None, "its reply came late"
    assert requester.take(Reply(2, Result.OK), 2 * MS) is second
    assert not requester.cancel(second), "it is over"


def test_a_command_that_waits_can_be_cancelled_too() -> None:
    requester = Requester(1)
    first, second = requester.submit(InfoRequest(), 0), requester.submit(Stop(), 0)
    requester.poll(0)
    assert requester.cancel(second)
    assert sent_at(requester, 4500)[-1] == (3700, 1)
    assert first.failure == ""


def test_what_was_given_up_is_told_once() -> None:
    requester = Requester(1)
    pending = requester.submit(InfoRequest(), 0)
    sent_at(requester, 4700)
    assert requester.take_given_up() == [pending]
    assert requester.take_given_up() == []


def test_a_target_that_starts_up_is_greeted_often() -> None:
    requester = Requester(1)
    requester.submit(Hello(0), 0, PATIENT_MS)
    assert [ms for ms, _ in sent_at(requester, 1100)] == [0, 250, 500, 750, 1000]


def test_an_urgent_command_waits_only_for_the_one_on_its_way() -> None:
    requester = Requester(10)
    sent, waiting = requester.submit(InfoRequest(), 0), [requester.submit(Trigger(n), 0) for n in (1, 2)]
    assert requester.poll(0) == [sent]
    urgent = requester.submit_first(Hello(0), 1)
    order = [sent]
    requester.take(Reply(sent.command.request, Result.OK), 1)
    while found := requester.poll(2):
        order += found
        requester.take(Reply(found[0].command.request, Result.OK), 2)
    assert order == [sent, urgent, *waiting]
    assert sent.command.request == 10
    ids = [pending.command.request for pending in order]
    assert ids == sorted(set(ids)), "ids grow in the order of sending"


def test_an_urgent_command_is_the_first_of_those_never_sent() -> None:
    requester = Requester(1)
    waiting = requester.submit(Trigger(1), 0)
    urgent = requester.submit_first(Hello(0), 0)
    assert requester.poll(0) == [urgent]
    assert urgent.command.request < waiting.command.request
    assert decode_command(waiting.payload) == waiting.command
