# SPDX-License-Identifier: Apache-2.0
"""The bytes of blocks as tables with a row a block, so that they are taken apart without a loop."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Final, Self

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.session.reader import SessionReader
from vxmon.trace.memory import keep_freed
from vxmon.wire.datagram import MAX_DATAGRAM
from vxmon.wire.gather import gather

__all__ = ["CHANGED", "BlockBytes", "BlockReader"]

CHANGED: Final = "the session changed while it was read"

# Blocks that lie so close that one read serves them all: bytes a block, and blocks at least.
_NEAR: Final = 8192
_FEW: Final = 48
_SLOT: Final = 8
# What a few chunks take and free again.
_CHUNK_BYTES: Final = 8 << 20
_MOST_SLOTS: Final = MAX_DATAGRAM // _SLOT

Bytes = NDArray[np.uint8]
Ints = NDArray[np.int64]


@dataclass(slots=True)
class BlockBytes:
    """Start bits and slots of blocks. All rows of ``starts`` have as many bits as rows of ``slots`` have slots.

    What lies in a row behind the block's own is anything.
    """

    starts: Bytes
    slots: Bytes

    @classmethod
    def empty(cls, blocks: int, width: int) -> Self:
        """Zeros, with ``width`` bytes of start bits a row."""
        return cls(np.zeros((blocks, width), np.uint8), np.zeros((blocks, width * 8 * _SLOT), np.uint8))

    @classmethod
    def of(cls, starts: Sequence[bytes], slots: Sequence[bytes]) -> Self:
        """Of bytes that were kept apart."""
        width = max(*map(len, starts), *(len(row) // _SLOT + 7 >> 3 for row in slots))
        return cls(_table(starts, width), _table(slots, width * 8 * _SLOT))


def _table(rows: Sequence[bytes], width: int) -> Bytes:
    joined = b"".join(row.ljust(width, b"\0") for row in rows)
    return np.frombuffer(joined, np.uint8).reshape(len(rows), width)


class BlockReader:
    """Reads the bytes of blocks from the files of a trace."""

    def __init__(self, readers: Sequence[SessionReader]) -> None:
        self._readers = readers
        self._buffer = np.empty(0, np.uint8)
        keep_freed(_CHUNK_BYTES)

    def __call__(self, rows: NDArray[np.void]) -> BlockBytes:
        """The bytes of the blocks of an index.

        Raises:
            InputError: they are no longer there.

        """
        sizes, files = rows["slots"], rows["file"]
        most = int(sizes.max(initial=0))
        if most > _MOST_SLOTS:
            raise InputError(CHANGED)
        width = most + 7 >> 3
        if most and sizes.all() and (files == files[0]).all():
            return self._read_file(int(files[0]), rows, width)
        # A row for a loss alone has no place in a file.
        table = BlockBytes.empty(len(rows), width)
        for file in np.unique(files[sizes > 0]).tolist():
            which = np.flatnonzero((files == file) & (sizes > 0))
            self._put(table, which, self._read_file(file, rows[which], width))
        return table

    @staticmethod
    def _put(table: BlockBytes, which: NDArray[np.intp], part: BlockBytes) -> None:
        table.starts[which], table.slots[which] = part.starts, part.slots

    def _read_file(self, file: int, rows: NDArray[np.void], width: int) -> BlockBytes:
        """Of blocks of one file, all of which have slots."""
        at = rows["slots_at"]
        start_at = at - rows["starts_back"]
        begin, end = int(start_at.min()), int((at + _SLOT * rows["slots"].astype(np.int64)).max())
        if end - begin > _NEAR * max(len(rows), _FEW):
            return self._read_apart(file, rows, width)
        data = self._fill(file, begin, end - begin, width * 8 * _SLOT)
        return BlockBytes(gather(data, start_at - begin, width), gather(data, at - begin, width * 8 * _SLOT))

    def _fill(self, file: int, offset: int, size: int, more: int) -> Bytes:
        """``size`` bytes of the file, and ``more`` of anything."""
        if len(self._buffer) < size + more:
            self._buffer = np.empty(size + more, np.uint8)
        reader = self._readers[file]
        if offset < 0 or reader.read_into(offset, self._buffer.data[:size]) != size:
            raise InputError(f"{reader.name}: {CHANGED}")
        return self._buffer[: size + more]

    def _read_apart(self, file: int, rows: NDArray[np.void], width: int) -> BlockBytes:
        """Blocks that lie far from each other, one read each."""
        table = BlockBytes.empty(len(rows), width)
        for number in range(len(rows)):
            part = self._read_file(file, rows[number : number + 1], width)
            self._put(table, np.array([number]), part)
        return table
