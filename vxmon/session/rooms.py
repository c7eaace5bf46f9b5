# SPDX-License-Identifier: Apache-2.0
"""Datagrams where they were received, each in a room of memory that has place for the packet block around it.

So what is received is stored without being copied: the parts before and behind each datagram are filled in in place.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.bulk import BlockScan, block_datagrams, scan_blocks

__all__ = ["AT", "LARGEST", "ROOM", "Rooms"]

# An odd number of cache lines: the same place of all rooms does not fall into the same few sets of a cache.
ROOM: Final = 25 * 64
# Where the datagram begins: behind the packet block's first words, IPv4 and UDP header.
AT: Final = 28 + 20 + 8
# Behind it are at most 3 bytes of padding and the block's last word.
LARGEST: Final = ROOM - AT - 8


@dataclass(slots=True)
class Rooms:
    """Datagrams of one direction: row i of ``memory`` has ``lengths[i]`` bytes of one from byte AT on.

    ``memory`` is of shape (n, ROOM), in C order; ``times`` are of arrival, in ns since the epoch.
    """

    memory: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    times: NDArray[np.int64]
    _found: tuple[NDArray[np.intp], BlockScan] | None = field(init=False, default=None)

    @classmethod
    def of(cls, times: NDArray[np.int64], slots: NDArray[np.uint8], lengths: NDArray[np.int64]) -> Self:
        """Datagrams that lie elsewhere, the first ``lengths[i]`` bytes of each row of ``slots``: a copy."""
        memory = np.zeros((len(times), ROOM), np.uint8)
        width = min(slots.shape[1], LARGEST)
        memory[:, AT : AT + width] = slots[:, :width]
        return cls(memory, lengths, times)

    def __len__(self) -> int:
        return len(self.lengths)

    @property
    def flat(self) -> NDArray[np.uint8]:
        """All rooms, one behind the other."""
        return self.memory.reshape(-1)

    @property
    def offsets(self) -> NDArray[np.int64]:
        """Where in :attr:`flat` the datagrams are."""
        return np.arange(AT, len(self) * ROOM, ROOM, dtype=np.int64)

    @property
    def slots(self) -> NDArray[np.uint8]:
        """One datagram a row; bytes behind its length are of no meaning."""
        return self.memory[:, AT:]

    @property
    def blocks(self) -> tuple[NDArray[np.intp], BlockScan]:
        """Which of the datagrams look like blocks, and what is known of those; checked once."""
        if self._found is None:
            flat, offsets = self.flat, self.offsets
            which = np.flatnonzero(block_datagrams(flat, offsets, self.lengths))
            self._found = which, scan_blocks(flat, offsets[which], self.lengths[which])
        return self._found

    def payload(self, number: int) -> bytes:
        """One datagram."""
        return self.memory[number, AT : AT + self.lengths[number]].tobytes()

    def only(self, which: NDArray[np.bool_]) -> Rooms:
        """Some of them: a copy, unless it is all."""
        return self if which.all() else Rooms(self.memory[which], self.lengths[which], self.times[which])
