# SPDX-License-Identifier: Apache-2.0
"""The UDP client: moves datagrams between socket, session and protocol."""

from __future__ import annotations

import contextlib
import errno
import functools
import secrets
import time
from collections.abc import Callable
from typing import Final, Protocol

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import OutputError, TargetError
from vxmon.link.machine import Control, HostLink
from vxmon.link.receiver import Received, Receiver, open_socket
from vxmon.session.packets import Endpoint
from vxmon.session.rooms import Rooms
from vxmon.session.writer import Recorder
from vxmon.wire.bulk import BlockScan
from vxmon.wire.types import Channel, Reply, Request, Result

__all__ = ["REFUSED_S", "Client", "Watch"]

_FLUSH_NS: Final = 250_000_000
_LONGEST_WAIT_S: Final = 0.1
# Datagrams kept while the session is not open yet.
_MAX_EARLY: Final = 1000
# Place of the channel in a header (SPEC section 1).
_CHANNEL_AT: Final = 6
_BYE_WAIT_S: Final = 1.0
_BUSY_RETRY_S: Final = 0.5
# Somebody may just be starting the target.
REFUSED_S: Final = 2.0
# What the kernel says when a network is gone for a while.
_UNREACHABLE: Final = (errno.ENETUNREACH, errno.EHOSTUNREACH, errno.ENETDOWN, errno.ENOBUFS, errno.EADDRNOTAVAIL)
_BUSY: Final = (
    "another host, or a capture, controls this target; try again when it has ended "
    "(capture --at tells a target things while it records)"
)


class Watch(Protocol):
    """Asked again and again while the client waits; may raise to end the wait."""

    def __call__(self) -> None:
        """Return, or raise."""


class Client:
    """One target over UDP.

    Until :meth:`record` is called datagrams are kept in memory; from then on everything received and sent is stored.
    ``early`` are the channels that belong to a session even from before it. ``output_error`` is set when the session
    takes no more; reception goes on, nothing is acknowledged any more. ``key`` is the target's,
    None when it has none.

    Raises:
        TargetError: there is no way to the target.

    """

    def __init__(self, host: str, port: int, watch: Watch = lambda: None, key: bytes | None = None) -> None:
        self.name = f"{host}:{port}"
        self._socket, self.buffer_bytes = open_socket(host, port)
        self.link = HostLink(secrets.randbelow(1 << 30) + 1, time.monotonic_ns(), key)
        self.receiver = Receiver(self._socket)
        self.output_error: OutputError | None = None
        self.corrupt = 0
        self.sent = 0
        self._watch = watch
        self._host = _endpoint(self._socket.getsockname())
        self._target = _endpoint(self._socket.getpeername())
        self._recorder: Recorder | None = None
        self.early = {Channel.REPLY, Channel.TABLE}
        self._early: list[tuple[int, bool, bytes]] = []
        self._next_flush = 0
        self.receiver.start()

    def close(self) -> None:
        """End reception and close the socket."""
        self.receiver.stop()
        self._socket.close()

    def record(self, recorder: Recorder) -> None:
        """Store datagrams from now on, and those that were kept so far."""
        self._recorder = recorder
        early, self._early = self._early, []
        self._guard(lambda: self._store_early(early))

    def _store_early(self, early: list[tuple[int, bool, bytes]]) -> None:
        for stamp, outgoing, data in early:
            self._add(stamp, data, outgoing=outgoing)

    def _add(self, stamp: int, data: bytes, *, outgoing: bool) -> None:
        if self._recorder is not None:
            ends = (self._host, self._target) if outgoing else (self._target, self._host)
            self._recorder.add(stamp, *ends, data)
        elif len(self._early) < _MAX_EARLY:
            self._early.append((stamp, outgoing, data))

    def _guard(self, work: Callable[[], None]) -> bool:
        """Do work that stores; when the session takes no more, note it once and go on without."""
        if self.output_error is not None:
            return False
        try:
            work()
        except OutputError as error:
            self.output_error = error
            return False
        return True

    # ------------------------------------------------------------ one turn

    def pump(self) -> None:
        """Wait shortly for datagrams; store them, feed the protocol, send what is due.

        Raises:
            TargetError: the socket failed, the watch says that the target is gone, or it has another key.

        """
        self._watch()
        now = time.monotonic_ns()
        wait = min(max(self.link.due(now) - now, 0) / 1e9, _LONGEST_WAIT_S)
        batch = self.receiver.take(wait)
        if batch is not None:
            self._take(batch)
            self.receiver.give_back(batch)
        if self.receiver.failure:
            raise TargetError(f"{self.name}: reception failed: {self.receiver.failure}")
        if self.link.denied:
            raise TargetError(f"{self.name}: {self.link.denied}")
        self._send_due()

    def _send_due(self) -> None:
        now = time.monotonic_ns()
        for data in self.link.poll(now):
            self._send(data)
        self._store_notes()
        if self._recorder is not None and now >= self._next_flush:
            self._next_flush = now + _FLUSH_NS
            self._guard(self._recorder.flush)

    def _store_notes(self) -> None:
        """What happened on the link is kept in the session, and nowhere sent."""
        notes, self.link.recorded = self.link.recorded, []
        for data in notes:
            self._guard(functools.partial(self._add, time.time_ns(), data, outgoing=True))

    def _send(self, data: bytes) -> None:
        stamp = time.time_ns()
        try:
            self._socket.send(data)
        except (ConnectionRefusedError, BlockingIOError):
            pass  # told by the receiver, or as good as lost on the way
        except OSError as error:
            # A target that was heard may be heard again when the cable is back.
            if not self.link.boot or error.errno not in _UNREACHABLE:
                raise TargetError(f"{self.name}: cannot send: {error.strerror}") from error
        self.sent += 1
        self._guard(lambda: self._add(stamp, data, outgoing=True))

    def _take(self, batch: Received) -> None:
        which, scan = batch.blocks
        now = time.monotonic_ns()
        # A reply to a start goes before the blocks of its run, and all that tells of blocks behind them.
        others = np.delete(np.arange(len(batch)), which)
        replies = batch.slots[others, _CHANNEL_AT] == Channel.REPLY
        self._receive(batch, others[replies], now)
        stored = self._store(batch.only(self._wanted(batch, which, scan)))
        if stored:
            valid = scan.kind == 0
            self.corrupt += int((~valid).sum())
            self.link.stored(scan.rows if valid.all() else scan.rows[valid], now)
        self._receive(batch, others[~replies], now)

    def _wanted(self, batch: Received, which: NDArray[np.intp], scan: BlockScan) -> NDArray[np.bool_]:
        """All but what is left of a run that was stopped to begin ours: that is no part of this session."""
        link, rows = self.link, scan.rows
        if not link.run and not link.reboots:
            early: NDArray[np.bool_] = np.isin(batch.slots[:, _CHANNEL_AT], list(self.early))
            return early
        wanted = np.ones(len(batch), bool)
        wanted[which] = (scan.kind != 0) | (rows["boot"] != link.boot) | (rows["run"] >= link.run)
        return wanted

    def _receive(self, batch: Received, which: NDArray[np.intp], now: int) -> None:
        for number in which.tolist():
            self.link.receive(batch.payload(number), now)

    def _store(self, rooms: Rooms) -> bool:
        """Store a batch; true when it was written."""
        recorder = self._recorder
        if recorder is None:
            for number, stamp in enumerate(rooms.times.tolist()):
                self._add(stamp, rooms.payload(number), outgoing=False)
            return False
        return self._guard(lambda: recorder.add_batch(rooms, self._target, self._host))

    def forget(self) -> None:
        """Leave out of the session what was said so far."""
        self._early.clear()

    # ------------------------------------------------------------ whole steps

    def connect(self, seconds: float, refused_seconds: float = REFUSED_S) -> None:
        """Get control of the target, trying for that long; less when its host says that nothing listens.

        Raises:
            TargetError: it does not answer, or another host controls it.

        """
        begin = time.monotonic()
        give_up = begin + seconds
        refused, was_busy = self.receiver.refused, False
        self.link.connect(time.monotonic_ns())
        while self.link.control is not Control.HELD:
            self.pump()
            busy = self.link.control is Control.BUSY
            was_busy = was_busy or busy
            is_refused = self.receiver.refused > refused
            if time.monotonic() > (min(give_up, begin + refused_seconds) if is_refused else give_up):
                raise TargetError(f"{self.name}: {_BUSY if was_busy else self._why_silent(refused)}")
            if busy:
                # A host that was killed is still believed to be there for three heartbeats.
                self.wait(lambda: False, _BUSY_RETRY_S)
            if busy or self.link.control is Control.SILENT:
                refused = self.receiver.refused
                self.link.connect(time.monotonic_ns())

    def _why_silent(self, refused: int) -> str:
        if self.link.refused:
            kinds = ", ".join(sorted(self.link.refused))
            return f"what answers is no vxmon target, or of another version (refused: {kinds})"
        if self.receiver.refused > refused:
            return "the target does not answer: nothing listens on this port"
        return "the target does not answer; is it running, and is the address right?"

    def call(self, body: Request) -> Reply:
        """Send a command and wait for its reply, whatever its result.

        Raises:
            TargetError: there is no reply.

        """
        pending = self.link.request(body, time.monotonic_ns())
        try:
            while not pending.done:
                self.pump()
        except KeyboardInterrupt:
            self.link.cancel(pending)
            self._store_notes()
            if self._recorder is not None:
                self._guard(self._recorder.flush)
            raise
        if pending.reply is None:
            raise TargetError(f"{self.name}: {type(body).__name__.lower()}: {pending.failure}")
        return pending.reply

    def demand(self, body: Request) -> Reply:
        """Like :meth:`call`; a refusal is an error too."""
        reply = self.call(body)
        if reply.result != Result.OK:
            raise TargetError(
                f"{self.name}: {type(body).__name__.lower()} refused: {reply.text or reply.result.name.lower()}"
            )
        return reply

    def leave(self) -> None:
        """Give up control, if it is held. Without an answer the target frees itself when it misses our heartbeat."""
        if self.link.control is not Control.HELD or self.link.lost:
            return
        pending = self.link.bye(time.monotonic_ns())
        with contextlib.suppress(TargetError):
            self.wait(lambda: pending.done, _BYE_WAIT_S)

    def let_go(self) -> None:
        """Give up control without waiting for an answer."""
        if self.link.control is Control.HELD:
            self.link.bye(time.monotonic_ns())
            with contextlib.suppress(TargetError):
                self._send_due()

    def wait(self, until: Callable[[], bool], seconds: float) -> bool:
        """Go on until something is true; false when it was not within that time."""
        give_up = time.monotonic() + seconds
        while not until():
            if time.monotonic() > give_up:
                return False
            self.pump()
        return True


def _endpoint(address: tuple[str, int]) -> Endpoint:
    octets = [int(part) for part in address[0].split(".")]
    return Endpoint(int.from_bytes(bytes(octets), "big"), address[1])
