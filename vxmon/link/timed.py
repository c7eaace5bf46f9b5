# SPDX-License-Identifier: Apache-2.0
"""What a capture tells the target while it records, each at its time: scenarios, events on and off, marks.

While a capture controls a target nobody else gives it commands, so the capture itself must be able to. Each switch of
an event is a FILTER event in the session, each mark a MARK.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from vxmon.errors import InputError
from vxmon.link.commands import Pending
from vxmon.link.selection import TargetView
from vxmon.wire.types import Filter, Request, Result, Scenario, Trigger

if TYPE_CHECKING:
    from vxmon.link.machine import HostLink

__all__ = ["TimedAction", "TimedActions", "parse_timed"]

_ACTION: Final = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*=\s*(scenario|on|off|mark):(.{1,63})")
_MOST_MARK: Final = (1 << 16) - 1
_MOST_NAME: Final = 31
_HOW: Final = "write SECONDS=scenario:NAME, SECONDS=on:EVENT, SECONDS=off:EVENT or SECONDS=mark:NUMBER"


@dataclass(frozen=True, slots=True)
class TimedAction:
    """One action. ``seconds`` are after the start of recording; ``what`` is the scenario, event, class or number."""

    seconds: float
    kind: str
    what: str

    def __str__(self) -> str:
        return f"{self.seconds:g}={self.kind}:{self.what}"


def parse_timed(text: str) -> TimedAction:
    """Read ``2.5=off:TASK_SWITCH``. Raises InputError, which says how it is written."""
    match = _ACTION.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r}: {_HOW}")
    kind, what = match[2], match[3].strip()
    if kind == "mark" and not (what.isascii() and what.isdigit() and int(what) <= _MOST_MARK):
        raise InputError(f"{text!r}: a mark is a number up to {_MOST_MARK}")
    if kind == "scenario" and (len(what) > _MOST_NAME or not what.isprintable()):
        raise InputError(f"{text!r}: a scenario's name is at most {_MOST_NAME} printable characters")
    return TimedAction(float(match[1]), kind, what)


class TimedActions:
    """The actions of one capture, in order of time.

    Raises:
        InputError: from :meth:`resolve`, an event or class that the target does not offer.

    """

    def __init__(self, actions: Iterable[TimedAction]) -> None:
        self._actions = sorted(actions, key=lambda action: action.seconds)
        self._requests: list[tuple[TimedAction, list[Request]]] = []
        self._waiting: list[tuple[TimedAction, Pending]] = []

    def resolve(self, view: TargetView) -> None:
        """Find the events by the target's own table."""
        self._requests = [(action, list(_requests(action, view))) for action in self._actions]

    def step(self, link: HostLink, seconds: float, now: int, tell: Callable[[str], None]) -> None:
        """Send what is due ``seconds`` after the start; tell what the target refused, or did not answer."""
        while self._requests and self._requests[0][0].seconds <= seconds:
            action, requests = self._requests.pop(0)
            self._waiting += [(action, link.request(request, now)) for request in requests]
        for action, pending in self._waiting:
            if pending.done and (pending.reply is None or pending.reply.result != Result.OK):
                tell(f"--at {action}: {_why(pending)}")
        self._waiting = [(action, pending) for action, pending in self._waiting if not pending.done]

    def finish(self, tell: Callable[[str], None]) -> None:
        """Tell what did not come to its turn before the end."""
        late = [str(action) for action, _ in self._requests] + [str(action) for action, _ in self._waiting]
        if late:
            tell(f"the capture ended before --at {', '.join(late)}")


def _why(pending: Pending) -> str:
    reply = pending.reply
    return pending.failure if reply is None else f"refused: {reply.text or reply.result.name.lower()}"


def _requests(action: TimedAction, view: TargetView) -> Iterator[Request]:
    if action.kind == "scenario":
        yield Scenario(action.what)
    elif action.kind == "mark":
        yield Trigger(int(action.what))
    else:
        events = _events(action.what.upper(), view)
        if not events:
            offered = ", ".join(sorted(event.name for event in view.table.events if event.id in view.info.offered))
            raise InputError(f"--at {action}: the target has no event and no class of this name; it has {offered}")
        yield from (Filter(event, action.kind == "on") for event in events)


def _events(name: str, view: TargetView) -> list[int]:
    return [
        event.id
        for event in view.table.events
        if event.id in view.info.offered and (event.name == name or (event.klass == name and name != "CONTROL"))
    ]
