# SPDX-License-Identifier: Apache-2.0
"""Puts fragmented messages together (SPEC section 7): any order, interleaved, bounded, with a time-out."""

from __future__ import annotations

from collections import OrderedDict
from dataclasses import dataclass, field
from typing import Final

from vxmon.errors import WireError
from vxmon.wire.datagram import MAX_MESSAGE
from vxmon.wire.types import Datagram

__all__ = ["ASK_MS", "MAX_MESSAGES", "TIMEOUT_NS", "Incomplete", "Reassembler"]

# Messages kept at once for one peer, and how long after their first fragment.
MAX_MESSAGES: Final = 8
TIMEOUT_NS: Final = 2_000_000_000
# When nothing of a message came for the first time, and how long after each request for its missing fragments the next.
ASK_MS: Final = (40, 80, 160, 320, 640)
_MS: Final = 1_000_000
_NEVER: Final = 1 << 62
# Completed messages remembered, so that a late duplicate does not begin a message anew.
_REMEMBERED: Final = 32

_MOST_TOLD: Final = 8

Key = tuple[int, int, int]


@dataclass(frozen=True, slots=True)
class Incomplete:
    """A message of which some fragments have not come: of which boot and channel, and which of how many."""

    boot: int
    channel: int
    message: int
    missing: tuple[int, ...]
    fragments: int = 0

    @property
    def text(self) -> str:
        """The missing ones in words."""
        some = ", ".join(map(str, self.missing[:_MOST_TOLD])) + (" ..." if len(self.missing) > _MOST_TOLD else "")
        return f"{len(self.missing)} of {self.fragments} fragments ({some})"


@dataclass(slots=True)
class _Partial:
    fragments: int
    since: int
    pieces: dict[int, bytes] = field(default_factory=dict)
    size: int = 0
    asked: int = 0
    ask_at: int = _NEVER

    def lacks(self, key: Key) -> Incomplete:
        """What is missing."""
        return Incomplete(*key, tuple(i for i in range(self.fragments) if i not in self.pieces), self.fragments)


class Reassembler:
    """Fragments of one peer's messages. Times are ns of any clock, as long as it is one."""

    def __init__(self) -> None:
        self.duplicates = 0
        self._partial: OrderedDict[Key, _Partial] = OrderedDict()
        self._done: OrderedDict[Key, int] = OrderedDict()
        self._dropped: list[Incomplete] = []

    def add(self, datagram: Datagram, now: int) -> bytes | None:
        """Take a datagram; returns the payload of the message that it completes.

        Raises:
            WireError: kind "fragment", it contradicts the message's other fragments.

        """
        header = datagram.header
        if header.fragments == 1:
            return datagram.payload
        key = (header.boot, header.channel, header.message)
        partial = self._partial.get(key)
        if partial is None:
            if self._is_duplicate(key, now):
                return None
            partial = self._begin(key, header.fragments, now)
        if partial.fragments != header.fragments or not datagram.payload:
            raise WireError("fragment", f"message {header.message}: {header.fragments} fragments, or an empty one")
        if not self._store(partial, header.fragment, datagram.payload):
            return None
        if len(partial.pieces) < partial.fragments:
            if partial.asked < len(ASK_MS):
                partial.ask_at = now + ASK_MS[0] * _MS
            return None
        del self._partial[key]
        self._remember(key, now)
        return b"".join(partial.pieces[i] for i in range(partial.fragments))

    def _store(self, partial: _Partial, index: int, payload: bytes) -> bool:
        known = partial.pieces.get(index)
        if known is not None:
            if known != payload:
                raise WireError("fragment", f"fragment {index} came twice with different content")
            self.duplicates += 1
            return False
        if partial.size + len(payload) > MAX_MESSAGE:
            raise WireError("fragment", f"a message of more than {MAX_MESSAGE} bytes")
        partial.pieces[index] = payload
        partial.size += len(payload)
        return True

    def _begin(self, key: Key, fragments: int, now: int) -> _Partial:
        if len(self._partial) >= MAX_MESSAGES:
            self._drop(next(iter(self._partial)))
        partial = self._partial[key] = _Partial(fragments, now)
        return partial

    def _is_duplicate(self, key: Key, now: int) -> bool:
        done = self._done.get(key)
        if done is None or now - done > TIMEOUT_NS:
            return False
        self.duplicates += 1
        return True

    def _remember(self, key: Key, now: int) -> None:
        self._done[key] = now
        self._done.move_to_end(key)
        if len(self._done) > _REMEMBERED:
            self._done.popitem(last=False)

    def _drop(self, key: Key) -> None:
        partial = self._partial.pop(key)
        self._dropped.append(partial.lacks(key))

    def lacking(self, now: int) -> list[Incomplete]:
        """Messages whose fragments should be asked for now: a while after the last one came, then less often."""
        found = []
        for key, partial in self._partial.items():
            if now >= partial.ask_at:
                partial.asked += 1
                wait = ASK_MS[partial.asked] * _MS if partial.asked < len(ASK_MS) else _NEVER
                partial.ask_at = now + wait
                found.append(partial.lacks(key))
        return found

    def due(self, now: int) -> int:
        """When :meth:`lacking` has something to say, at the earliest ``now``."""
        return max(min((partial.ask_at for partial in self._partial.values()), default=_NEVER), now)

    def expire(self, now: int) -> list[Incomplete]:
        """Give up messages that are too old; returns all given up since the last call."""
        for key in [key for key, partial in self._partial.items() if now - partial.since > TIMEOUT_NS]:
            self._drop(key)
        return self._take_dropped()

    def close(self) -> list[Incomplete]:
        """Give up everything, at the end of a session."""
        for key in list(self._partial):
            self._drop(key)
        return self._take_dropped()

    def _take_dropped(self) -> list[Incomplete]:
        dropped, self._dropped = self._dropped, []
        return dropped
