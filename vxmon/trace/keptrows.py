# SPDX-License-Identifier: Apache-2.0
"""Rows of a kept index, read and checked a part at a time: a time window needs few of them.

A part is believed when its keyed checksum fits and its rows can be: see vxmon.trace.store.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable, Iterator, Sequence
from dataclasses import astuple, dataclass, fields
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.losses import loss_starts
from vxmon.trace.rowtable import is_in_order
from vxmon.wire.bulk import BLOCK_ROW

__all__ = ["KeptRows", "Part", "UnusableError", "digest", "parts_of"]

_ROWS_A_PART: Final = 4096

Rows = NDArray[np.void]
Data = bytes | memoryview


class UnusableError(Exception):
    """An index file is not what it should be."""


@dataclass(frozen=True, slots=True)
class Part:
    """Consecutive rows: how many, their checksum, their boots, from when to when they and their losses are.

    ``switches``: how many of the blocks switch events on or off.
    """

    rows: int
    digest: str
    first_boot: int
    last_boot: int
    begin: int
    end: int
    switches: int

    @staticmethod
    def of(told: object) -> Part:
        """A part as a head tells it. Raises UnusableError."""
        if not isinstance(told, list) or len(told) != len(fields(Part)):
            raise UnusableError
        part = Part(*told)
        numbers = (part.rows, part.first_boot, part.last_boot, part.begin, part.end, part.switches)
        if not isinstance(part.digest, str) or any(type(number) is not int for number in numbers) or part.rows < 1:
            raise UnusableError
        return part


def digest(data: Data, key: bytes) -> str:
    """The keyed checksum of some bytes."""
    return hashlib.blake2b(data, key=key, digest_size=32).hexdigest()


def parts_of(rows: Rows, losses: Rows, key: bytes) -> list[list[Any]]:
    """The parts of an index, as a head tells them."""
    return [
        list(astuple(_part(rows[begin : begin + _ROWS_A_PART], losses, key)))
        for begin in range(0, len(rows), _ROWS_A_PART)
    ]


def _part(rows: Rows, losses: Rows, key: bytes) -> Part:
    known = rows[rows["room"] <= len(losses)]
    return Part(
        len(rows), digest(rows.view(np.uint8).data, key), int(rows["boot"][0]), int(rows["boot"][-1]),
        int(loss_starts(losses, known).min(initial=rows["first_time"][0])), int(rows["last_time"].max()),
        int(np.count_nonzero(rows["switches"])),
    )  # fmt: skip


class KeptRows:
    """The rows of an index file.

    Args:
        file: open, without a buffer; it is closed with this.
        at: where the rows begin in it.
        parts: all of them, in order.
        key: of the checksums.
        sound: says whether rows can be used.

    """

    def __init__(
        self, file: BinaryIO, at: int, parts: Sequence[Part], key: bytes, sound: Callable[[Rows], bool]
    ) -> None:
        self._file = file
        self._places = [at + BLOCK_ROW.itemsize * rows for rows in _sums(part.rows for part in parts)]
        self._parts = parts
        self._key = key
        self._sound = sound

    def close(self) -> None:
        """Close the file."""
        self._file.close()

    def __len__(self) -> int:
        return sum(part.rows for part in self._parts)

    def whole(self) -> Rows | None:
        """All rows; None where they are not what they should be."""
        return self._load(range(len(self._parts)))

    def touching(self, boot: int, begin: int, end: int) -> Rows | None:
        """Rows of a boot: at least those that are, or whose losses are, between two instants; and its first.

        None where those that are needed are not what they should be.
        """
        own = [n for n, part in enumerate(self._parts) if part.first_boot <= boot <= part.last_boot]
        near = [n for n in own if self._parts[n].end >= begin and self._parts[n].begin < end]
        rows = self._load(sorted({*own[:1], *near}))
        if rows is None:
            return None
        first, behind = np.searchsorted(rows["boot"], [boot, boot + 1]).tolist()
        some: Rows = rows[first:behind]
        return some

    def switches(self, boot: int) -> bool:
        """False when no event of a boot was switched on or off while it was recorded."""
        return any(part.switches for part in self._parts if part.first_boot <= boot <= part.last_boot)

    def _load(self, numbers: Sequence[int]) -> Rows | None:
        rows = np.empty(sum(self._parts[n].rows for n in numbers), BLOCK_ROW)
        end = 0
        for number in numbers:
            begin, end = end, end + self._parts[number].rows
            if not self._load_part(number, rows[begin:end]):
                return None
        rows.flags.writeable = False
        return rows if is_in_order(rows, ("boot",)) else None

    def _load_part(self, number: int, rows: Rows) -> bool:
        data = rows.view(np.uint8).data
        try:
            size = os.preadv(self._file.fileno(), [data], self._places[number])
        except OSError:
            return False
        return size == len(data) and digest(data, self._key) == self._parts[number].digest and self._sound(rows)


def _sums(counts: Iterator[int]) -> Iterator[int]:
    total = 0
    for count in counts:
        yield total
        total += count
