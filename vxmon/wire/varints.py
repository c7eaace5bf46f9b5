# SPDX-License-Identifier: Apache-2.0
"""Reads protobuf fields of many messages at once, by columns."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.convert import MAX_NUMBER
from vxmon.wire.gather import Bytes, Ints

__all__ = ["Cursor"]

# Bytes of a varint that are read at once.
_NEAR: Final = 8
_MORE: Final = 0x8080808080808080
_DIGITS: Final = 0x7F7F7F7F7F7F7F7F
# Steps that close up digits of 7 bits: those of 2 bytes, of 4, of 8; and from how many bytes on a step is needed.
_CLOSING: Final = ((1, 0x7F007F007F007F00, 1), (2, 0x3FFF00003FFF0000, 2), (4, 0x0FFFFFFF00000000, 4))
# A cursor that went astray reads on behind its row; what fields can move it is less.
_ASTRAY: Final = 1024

Bools = NDArray[np.bool_]
Numbers = NDArray[Any]


class Cursor:
    """Goes through messages, the rows of ``table``, in step; ``ok`` falls where one is not as expected.

    A row may hold more than its message. A message that is cut is told by :meth:`places` only, so the caller must
    compare them with where the message ends.
    """

    def __init__(self, table: Bytes) -> None:
        self._flat = np.concatenate((table.reshape(-1), np.zeros(_ASTRAY, np.uint8)))
        self._spots: NDArray[np.void] = np.ndarray((len(self._flat) - 7,), "V8", self._flat, strides=(1,))
        self._base: Ints = np.arange(len(table)) * table.shape[1]
        self._at = self._base.copy()
        self.ok: Bools = np.ones(len(table), bool)

    @property
    def places(self) -> Ints:
        """How far each message was read, in bytes."""
        places: Ints = self._at - self._base
        return places

    def skip(self, counts: Ints | int) -> None:
        """Step over bytes; at most 255 a message."""
        self._at += counts

    def tag(self, tag: int) -> Bools:
        """Where the next field has this tag; those step behind it."""
        here: Bools = self._flat.take(self._at) == tag
        self._at += here
        return here

    def field(self, tag: int, within: Bools | None = None) -> tuple[Numbers, Bools]:
        """A varint field, and where there is one; 0 elsewhere. ``within``: where to look for it."""
        here: Bools = self._flat.take(self._at) == tag
        if within is not None:
            here &= within
        if not here.any():
            return np.zeros(len(here), np.uint8), here
        self._at += here
        value = self._flat.take(self._at)
        value *= here
        if int(value.max()) < 0x80:
            self._at += here
            return value, here
        return self._long(here), here

    def _long(self, here: Bools) -> NDArray[np.uint64]:
        """Numbers of which some have more than one byte."""
        digits = self._spots[self._at].view("<u8")
        ends = (digits & _MORE) ^ _MORE
        below = (ends & (~ends + 1)) - 1
        lengths = np.bitwise_count(below) + 1 >> 3
        lengths *= here
        value: NDArray[np.uint64] = (digits & below & _DIGITS).view(np.uint64)
        value *= here
        most = int(lengths.max())
        for shift, upper, least in _CLOSING:
            if most > least:
                # What is above moves down into the gap: x = low + high becomes low + (high >> shift).
                high = value & upper
                value -= high - (high >> shift)
        if most == _NEAR:
            self._last_digits(value, lengths, here & (ends == 0))
        self._at += lengths
        return value

    def _last_digits(self, value: NDArray[np.uint64], lengths: NDArray[np.uint8], more: Bools) -> None:
        """Bytes 8 to 10 of the longest varints."""
        for number in range(_NEAR, 10):
            digit = self._flat.take(self._at + number) * more
            value |= (digit & 0x7F).astype(np.uint64) << 7 * number
            lengths += more
            more = digit >= 0x80
        self.ok &= ~more & (value <= MAX_NUMBER)

    def message(self, tag: int, names: tuple[str, ...], rows: NDArray[np.void]) -> None:
        """A message of varint fields numbered from 1, into columns; all 0 when absent."""
        length, present = self.field(tag)
        if not present.any():
            return
        end = self._at + length.astype(np.int64)
        for number, name in enumerate(names, 1):
            self.store(rows, name, number << 3, present)
        self.ok &= ~present | (self._at == end)

    def store(self, rows: NDArray[np.void], name: str, tag: int, within: Bools | None = None) -> None:
        """A varint field into a column of zeros, with its bounds checked."""
        value, here = self.field(tag, within)
        if not here.any():
            return
        column = rows[name]
        if value.dtype.itemsize > column.dtype.itemsize:
            most = (1 << 8 * column.dtype.itemsize) - 1
            if int(value.max()) > most:
                self.ok &= value <= most
        column[:] = value
