# SPDX-License-Identifier: Apache-2.0
"""Records as columns, and how fields are read from them."""

from __future__ import annotations

import sys
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.facts import Boot
from vxmon.trace.linkevents import LinkEvent
from vxmon.trace.names import LOSS_ID
from vxmon.wire.slots import MAX_EVENT_ID, Place
from vxmon.wire.types import FieldType

__all__ = [
    "Chunk",
    "Columns",
    "Numbers",
    "byte_field",
    "data_words",
    "field_values",
    "recorded_fields",
    "within",
    "word_bytes",
    "word_values",
]

Numbers = NDArray[np.uint16] | NDArray[np.uint32] | NDArray[np.int32] | NDArray[np.uint64]
"""What fields are as numbers."""

# Whether this machine has a word's upper half first.
_HALVES_SWAPPED: Final = int(sys.byteorder == "big")
_WIDE: Final = frozenset({FieldType.U64, FieldType.X64})


@dataclass(slots=True)
class Columns:
    """Records in order. All arrays but ``words`` have one element a record.

    time: int64, ticks of the target's clock. stream: uint8. id: uint16, the event, or LOSS_ID where records are
    missing. arg: uint16. slots: uint8, number of data slots. at: int64, index of the first data word in ``words``
    (of a LOSS: the number of the loss interval). words: uint32, the data slots' words as numbers; ``big_endian`` is
    the byte order they had.
    """

    time: NDArray[np.int64]
    stream: NDArray[np.uint8]
    id: NDArray[np.uint16]
    arg: NDArray[np.uint16]
    slots: NDArray[np.uint8]
    at: NDArray[np.int64]
    words: NDArray[np.uint32]
    big_endian: bool
    _groups: tuple[NDArray[np.intp], NDArray[np.intp]] | None = field(default=None, init=False)

    def __len__(self) -> int:
        return len(self.time)

    def rows_of(self, event: int) -> NDArray[np.intp]:
        """The records of an event, in order."""
        order, ends = self._grouped()
        return order[ends[event] : ends[event + 1]]

    def counts(self) -> NDArray[np.int64]:
        """How many records there are of each event, LOSS_ID the last."""
        return np.diff(self._grouped()[1])

    def _grouped(self) -> tuple[NDArray[np.intp], NDArray[np.intp]]:
        """Rows by event, and where those of each begin: once for all events and all who ask."""
        if self._groups is None:
            # 16-bit numbers are sorted in linear time.
            ends = np.cumsum(np.bincount(self.id, minlength=LOSS_ID + 1))
            self._groups = (np.argsort(self.id, kind="stable"), np.concatenate([[0], ends]))
        return self._groups

    def take(self, which: NDArray[np.intp] | slice) -> Columns:
        """Some of the records, in the order given; the words are shared."""
        return Columns(
            self.time[which], self.stream[which], self.id[which], self.arg[which], self.slots[which],
            self.at[which], self.words, self.big_endian,
        )  # fmt: skip

    def packed(self) -> Columns:
        """The same records with no words but their own."""
        counts = np.where(self.id > MAX_EVENT_ID, 0, 2 * self.slots.astype(np.int64))
        ends = np.cumsum(counts)
        total = int(ends[-1]) if len(ends) else 0
        source = np.repeat(self.at - (ends - counts), counts) + np.arange(total)
        at = np.where(self.id > MAX_EVENT_ID, self.at, ends - counts)
        return replace(self, at=at, words=self.words[source])

    @staticmethod
    def join(parts: list[Columns]) -> Columns:
        """Records of several parts, one after the other; all of one byte order."""
        if len(parts) == 1:
            return parts[0]
        shift, at = 0, []
        for part in parts:
            at.append(np.where(part.id > MAX_EVENT_ID, part.at, part.at + shift))
            shift += len(part.words)
        return Columns(
            time=np.concatenate([p.time for p in parts]),
            stream=np.concatenate([p.stream for p in parts]),
            id=np.concatenate([p.id for p in parts]),
            arg=np.concatenate([p.arg for p in parts]),
            slots=np.concatenate([p.slots for p in parts]),
            at=np.concatenate(at),
            words=np.concatenate([p.words for p in parts]),
            big_endian=parts[0].big_endian,
        )


@dataclass(slots=True)
class Chunk:
    """Some consecutive records of a boot, in order of (time, stream, sequence).

    ``losses``, of dtype LOSS, is what LOSS records number. ``late`` is true where a record is older than one that was
    handed out before it; only a live source does that. ``notes`` is what rows of link events number, where those are
    asked for.
    """

    boot: Boot
    columns: Columns
    losses: NDArray[np.void]
    late: NDArray[np.bool_] | None = None
    notes: tuple[LinkEvent, ...] = ()


def recorded_fields(places: tuple[Place, ...], slots: int) -> int:
    """How many of an event's fields a record with so many data slots has."""
    return sum(place.end_word <= 2 * slots for place in places)


def field_values(columns: Columns, place: Place, which: NDArray[np.intp]) -> Numbers:
    """Numbers of a field in the records ``which``, all of which must have it.

    u16 and words come as uint32, i32 as int32, u64 and x64 as uint64.
    """
    at = columns.at.take(which) + place.word
    second = columns.words.take(at + 1) if place.field.type in _WIDE else None
    return _numbers(place, columns.words.take(at), second, big_endian=columns.big_endian)


def word_values(words: NDArray[np.uint32], place: Place, *, big_endian: bool) -> Numbers:
    """The same of records whose data words are given, as ``data_words`` gives them; u16 come as uint16."""
    if place.field.type == FieldType.U16:
        return words.view(np.uint16)[:, 2 * place.word + (place.shift // 16 ^ _HALVES_SWAPPED)]
    second = words[:, place.word + 1] if place.field.type in _WIDE else None
    return _numbers(place, words[:, place.word], second, big_endian=big_endian)


def _numbers(
    place: Place, first: NDArray[np.uint32], second: NDArray[np.uint32] | None, *, big_endian: bool
) -> Numbers:  # fmt: skip
    """A field's numbers of the words it lies in."""
    if second is not None:
        high, low = (first, second) if big_endian else (second, first)
        return high.astype(np.uint64) << np.uint64(32) | low
    if place.field.type == FieldType.U16:
        return first >> np.uint32(place.shift) & np.uint32(0xFFFF)
    return first.view(np.int32) if place.field.type == FieldType.I32 else first


def data_words(columns: Columns, slots: int, which: NDArray[np.intp]) -> NDArray[np.uint32]:
    """All data words of records with ``slots`` data slots; shape (records, words)."""
    count, words = 2 * slots, np.ascontiguousarray(columns.words)
    if not count:
        return np.empty((len(which), 0), np.uint32)
    # As many words as an item has, from each word on, so that a record's are taken by one copy.
    spots: NDArray[np.void] = np.ndarray(
        (max(len(words) - count + 1, 0),), f"V{count * words.itemsize}", words, strides=words.strides
    )
    return spots[columns.at.take(which)].view(np.uint32).reshape(-1, count)


def byte_field(columns: Columns, word: int, slots: int, which: NDArray[np.intp]) -> NDArray[np.uint8]:
    """Bytes from data word ``word`` to the end of records with ``slots`` data slots; shape (records, bytes)."""
    return word_bytes(data_words(columns, slots, which)[:, word:], big_endian=columns.big_endian)


def word_bytes(words: NDArray[np.uint32], *, big_endian: bool) -> NDArray[np.uint8]:
    """The bytes of words as the target has them; shape (records, bytes)."""
    return words.astype(">u4" if big_endian else "<u4", order="C").view(np.uint8)


def within(times: NDArray[np.int64], limits: tuple[int | None, int | None]) -> NDArray[np.bool_]:
    """Which instants lie from the first limit up to before the second; None: without that limit."""
    begin, end = limits
    inside = np.ones(len(times), bool)
    if begin is not None:
        inside &= times >= begin
    if end is not None:
        inside &= times < end
    return inside
