# SPDX-License-Identifier: Apache-2.0
"""Commands on their way: request ids, repetition with back-off, giving up (SPEC section 5). Pure; times in ns."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vxmon.wire.control import encode_command
from vxmon.wire.types import Command, Reply, Request

__all__ = ["BACK_OFF_MS", "PATIENT_MS", "Pending", "Requester"]

_MS: Final = 1_000_000
# A command is repeated after each of these times; after the last one more of its length, it is given up. When a third
# of the datagrams is lost, each way, half of the tries fail: eight are enough for all but one command in 250.
BACK_OFF_MS: Final = (200, 300, 400, 500, 600, 800, 900)
# A target that is starting up is greeted this often.
PATIENT_MS: Final = (250,) * 12
_MAX_REQUEST: Final = 0xFFFFFFFF


@dataclass(slots=True, eq=False)
class Pending:
    """A command without its reply yet. ``reply`` comes, or ``failure`` says in words why none will."""

    command: Command
    payload: bytes
    due: int
    tries: int = 0
    reply: Reply | None = None
    failure: str = ""
    waits: tuple[int, ...] = BACK_OFF_MS

    @property
    def done(self) -> bool:
        """True when the reply is there, or none will come."""
        return self.reply is not None or bool(self.failure)


class Requester:
    """Keeps one command at a time on its way; others wait their turn, so that request ids grow at the target.

    ``first`` is the first request id, 1 or more.
    """

    def __init__(self, first: int) -> None:
        self._next = first
        self._queue: list[Pending] = []
        self.repeated = 0
        self._given_up: list[Pending] = []

    def submit(self, body: Request, now: int, waits: tuple[int, ...] = BACK_OFF_MS) -> Pending:
        """Send a request as soon as those before it are answered; ``waits`` in ms before each repetition.

        Raises:
            WireError: a value in it is outside its limits.

        """
        pending = Pending(Command(0, body), b"", now, waits=waits)
        self._number(pending)
        self._queue.append(pending)
        return pending

    def submit_first(self, body: Request, now: int, waits: tuple[int, ...] = BACK_OFF_MS) -> Pending:
        """Like :meth:`submit`, but before all that wait; only the one that is on its way keeps its turn.

        A target that does not answer would else be greeted only when each of them was given up. Those behind get new
        ids, as they were never sent: ids must grow.
        """
        at = 1 if self._queue and self._queue[0].tries else 0
        pending = Pending(Command(0, body), b"", now, waits=waits)
        self._queue.insert(at, pending)
        for later in self._queue[at:]:
            self._number(later)
        return pending

    def _number(self, pending: Pending) -> None:
        """Give a command that was never sent the next id."""
        pending.command = Command(self._next, pending.command.body)
        pending.payload = encode_command(pending.command)
        self._next = self._next + 1 if self._next < _MAX_REQUEST else 1

    def take(self, reply: Reply, now: int) -> Pending | None:
        """Match a reply; returns its command, None for a late duplicate or a stranger's."""
        if not self._queue or self._queue[0].command.request != reply.request:
            return None
        pending = self._queue[0]
        pending.reply = reply
        self._drop(pending, now)
        return pending

    def _drop(self, pending: Pending, now: int) -> None:
        """The next one's turn, when it was this one's."""
        first = self._queue[0] is pending
        self._queue.remove(pending)
        if first and self._queue:
            self._queue[0].due = now

    def cancel(self, pending: Pending) -> bool:
        """Give up a command that the user does not want any more; false when it was over already."""
        if not any(other is pending for other in self._queue):
            return False
        pending.failure = "cancelled"
        self._drop(pending, 0)
        return True

    def take_given_up(self) -> list[Pending]:
        """Commands without an answer to their last try, since the last call."""
        given_up, self._given_up = self._given_up, []
        return given_up

    def poll(self, now: int) -> list[Pending]:
        """Commands to send now."""
        while self._queue:
            pending = self._queue[0]
            if now < pending.due:
                return []
            if pending.tries > len(pending.waits):
                pending.failure = f"no answer to {pending.tries} requests"
                self._given_up.append(pending)
                self._drop(pending, now)
                continue
            wait = pending.waits[min(pending.tries, len(pending.waits) - 1)]
            self.repeated += pending.tries > 0
            pending.tries += 1
            pending.due = now + wait * _MS
            return [pending]
        return []

    def fail_all(self, why: str) -> None:
        """Give up everything, for instance after a reboot."""
        for pending in self._queue:
            pending.failure = why
        self._queue.clear()

    @property
    def due(self) -> int | None:
        """When :meth:`poll` has something to do; None: nothing waits."""
        return self._queue[0].due if self._queue else None
