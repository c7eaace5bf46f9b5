# SPDX-License-Identifier: Apache-2.0
"""A UDP proxy on 127.0.0.1 between host and target that does to datagrams what a bad link does.

What happens to the n-th datagram of a direction follows from the seed, the direction and n alone, so a plan can be
replayed from its seed. The faults begin with the first block of records, or at once, and end with :meth:`Proxy.calm`.
A test can cut the link and take another port, as a router does, whenever it wants.
"""

from __future__ import annotations

import contextlib
import heapq
import random
import select
import socket
import threading
import time
from collections import Counter
from dataclasses import dataclass, field
from typing import Final, Self

__all__ = ["NONE", "Direction", "Faults", "Proxy"]

_CHANNEL_AT = 6
_BLOCK = 3
_LARGEST = 2048
_BUFFER = 4 << 20
# A link that is slower than what comes keeps this much in its queue, and drops the rest.
_QUEUE_S = 0.2
_WAIT_S = 0.05


@dataclass(frozen=True)
class Faults:
    """What the link does, each way. Percent of the datagrams; ``bandwidth`` in bytes/s, 0: no limit.

    ``delay_ms`` is added to all, up to ``reorder_ms`` more to those that are reordered. ``cuts`` are (begin, length) in
    seconds from the first block on, in which nothing passes.
    """

    seed: int = 0
    loss: int = 0
    duplicate: int = 0
    reorder: int = 0
    corrupt: int = 0
    delay_ms: float = 0.0
    reorder_ms: float = 10.0
    bandwidth: int = 0
    cuts: tuple[tuple[float, float], ...] = ()

    @classmethod
    def of_seed(cls, seed: int, loss: int) -> Self:
        """The plan of a seed: that much loss, the other faults as they fall, each third narrow, each fourth cut."""
        dice = random.Random(f"plan {seed}")
        return cls(
            seed, loss, dice.randrange(15), dice.randrange(15), dice.randrange(6), dice.choice((0.0, 2.0, 8.0)),
            dice.choice((5.0, 30.0)), dice.choice((150_000, 400_000)) if seed % 3 == 2 else 0,
            ((dice.uniform(0.2, 0.8), dice.uniform(0.2, 0.6)),) if seed % 4 == 3 else (),
        )  # fmt: skip

    @property
    def is_wide(self) -> bool:
        """True when nothing but chance takes datagrams away."""
        return not self.bandwidth and not self.cuts


NONE: Final = Faults()


class Direction:
    """One way through the link: datagrams in, (due time, datagram) out. Pure; times in seconds."""

    def __init__(self, faults: Faults, name: str) -> None:
        self.faults = faults
        self.counts: Counter[str] = Counter()
        self._dice = random.Random(f"{faults.seed} {name}")
        self._free = 0.0

    def take(self, data: bytes, now: float, since: float) -> list[tuple[float, bytes]]:
        """What becomes of a datagram that comes ``since`` seconds after the faults began."""
        faults, counts = self.faults, self.counts
        chances = [100 * self._dice.random() for _ in range(4)]
        late, place = self._dice.random(), self._dice.random()
        counts["taken"] += 1
        if any(begin <= since < begin + length for begin, length in faults.cuts):
            counts["cut"] += 1
            return []
        if chances[0] < faults.loss or not self._has_room(len(data), now):
            counts["lost"] += 1
            return []
        due = max(now, self._free) + faults.delay_ms / 1000
        if chances[1] < faults.reorder:
            counts["reordered"] += 1
            due += late * faults.reorder_ms / 1000
        if chances[2] < faults.corrupt:
            counts["corrupted"] += 1
            at = int(place * 8 * len(data))
            data = data[: at >> 3] + bytes([data[at >> 3] ^ 1 << (at & 7)]) + data[(at >> 3) + 1 :]
        if chances[3] < faults.duplicate:
            counts["duplicated"] += 1
            return [(due, data), (due + faults.reorder_ms / 1000 * place, data)]
        return [(due, data)]

    def _has_room(self, size: int, now: float) -> bool:
        if not self.faults.bandwidth:
            return True
        self._free = max(self._free, now)
        if self._free - now > _QUEUE_S:
            return False
        self._free += size / self.faults.bandwidth
        return True


@dataclass
class _Side:
    """A socket, what it is the way in to, and who is at its other end."""

    sock: socket.socket
    way: Direction
    peer: tuple[str, int] | None = None


@dataclass(order=True)
class _Waiting:
    due: float
    number: int
    to_host: bool = field(compare=False)
    data: bytes = field(compare=False)


class Proxy:
    """The running proxy. ``port`` is where the host finds the target; while ``is_cut`` is set nothing passes.

    Args:
        target: port of the target on 127.0.0.1; 0: whoever sends to ``target_side`` first.
        faults: what happens on the way.
        at_once: faults begin before the first block.
        keep: remember each block in ``sent`` (sequence -> bytes, of one run) and those that were passed on damaged.

    """

    def __init__(self, target: int, faults: Faults = NONE, *, at_once: bool = False, keep: bool = False) -> None:
        self.faults = faults
        self.is_cut = False
        self.sent: dict[int, bytes] = {}
        self.damaged: set[int] = set()
        self._keep = keep
        self._host = _Side(_socket(), Direction(faults, "host"))
        self._target = _Side(_socket(), Direction(faults, "target"), ("127.0.0.1", target) if target else None)
        self._queue: list[_Waiting] = []
        self._number = 0
        self._begun = time.monotonic() if at_once else 0.0
        self._calm = self._stop = self._move = False
        self._thread = threading.Thread(target=self._run, name="proxy", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop = True
        self._thread.join()
        for side in (self._host, self._target):
            side.sock.close()

    @property
    def port(self) -> int:
        """For the host."""
        return int(self._host.sock.getsockname()[1])

    @property
    def address(self) -> str:
        """For the host, as it is given to commands."""
        return f"127.0.0.1:{self.port}"

    @property
    def target_side(self) -> int:
        """For a target that begins by itself: the port of its peer."""
        return int(self._target.sock.getsockname()[1])

    @property
    def counts(self) -> dict[str, Counter[str]]:
        """What happened to the datagrams of each sender."""
        return {"host": self._host.way.counts, "target": self._target.way.counts}

    @property
    def lost(self) -> int:
        """Datagrams of both that chance took away."""
        return sum(counts["lost"] for counts in self.counts.values())

    def calm(self) -> None:
        """From now on everything passes."""
        self._calm = True

    def change_port(self) -> None:
        """Soon send to the target from another port."""
        self._move = True

    def _run(self) -> None:
        while not self._stop:
            if self._move:
                self._move, old, self._target.sock = False, self._target.sock, _socket()
                old.close()
            wait = min(max(self._queue[0].due - time.monotonic(), 0), _WAIT_S) if self._queue else _WAIT_S
            ready, _, _ = select.select((self._host.sock, self._target.sock), (), (), wait)
            for side in (self._host, self._target):
                if side.sock in ready:
                    self._take(side)
            self._pass_on()

    def _take(self, side: _Side) -> None:
        with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
            for _ in range(64):
                data, peer = side.sock.recvfrom(_LARGEST)
                if side is self._host or side.peer is None:
                    side.peer = peer
                self._judge(side, data)

    def _judge(self, side: _Side, data: bytes) -> None:
        if self.is_cut:
            return
        now, to_host = time.monotonic(), side is self._target
        is_block = to_host and len(data) > _CHANNEL_AT and data[_CHANNEL_AT] == _BLOCK
        if is_block and not self._begun:
            self._begun = now
        if is_block and self._keep:
            self.sent.setdefault(int.from_bytes(data[12:16], "big"), data)
        storming = self._begun and not self._calm
        passed = side.way.take(data, now, now - self._begun) if storming else [(now, data)]
        for due, what in passed:
            if is_block and what != data:
                self.damaged.add(int.from_bytes(data[12:16], "big"))
            self._number += 1
            heapq.heappush(self._queue, _Waiting(due, self._number, to_host, what))

    def _pass_on(self) -> None:
        now = time.monotonic()
        while self._queue and self._queue[0].due <= now:
            item = heapq.heappop(self._queue)
            to = self._host if item.to_host else self._target
            if to.peer is not None:
                with contextlib.suppress(BlockingIOError, ConnectionRefusedError):
                    to.sock.sendto(item.data, to.peer)


def _socket() -> socket.socket:
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.bind(("127.0.0.1", 0))
    sock.setblocking(False)
    for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
        sock.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
    return sock
