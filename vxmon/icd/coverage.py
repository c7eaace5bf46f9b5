# SPDX-License-Identifier: Apache-2.0
"""Which bits of a message its fields take, whatever their byte order."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.icd.model import Field, FieldType, Message

__all__ = ["Overlap", "gaps", "overlaps", "with_padding"]

_MOST_BITS = 1 << 24
_MOST_OVERLAPS = 1000


@dataclass(frozen=True, slots=True)
class Overlap:
    """Bits that two fields share; ``first`` is the earlier one in the document."""

    first: Field
    second: Field
    bits: int


def gaps(message: Message) -> list[tuple[int, int]]:
    """Return the (position, length) of bits that no field takes, counted as in big-endian fields."""
    owner = np.zeros(8 * message.size, bool)
    for field in _inside(message):
        owner[_bits(field)] = True
    free = np.flatnonzero(~owner)
    if not len(free):
        return []
    runs = np.split(free, np.flatnonzero(np.diff(free) > 1) + 1)
    return [(int(run[0]), len(run)) for run in runs]


def overlaps(message: Message) -> list[Overlap]:
    """Return the pairs of fields that share bits and are not meant to; at most 1000."""
    fields = [f for f in _inside(message) if not f.overlay]
    owner = np.full(8 * message.size, -1, np.int32)
    found: list[Overlap] = []
    for index, field in enumerate(fields):
        bits = _bits(field)
        others, counts = np.unique(owner[bits], return_counts=True)
        for other, count in zip(others.tolist(), counts.tolist(), strict=True):
            if other >= 0 and len(found) < _MOST_OVERLAPS:
                found.append(Overlap(fields[other], field, count))
        owner[bits] = index
    return found


def with_padding(message: Message) -> Message:
    """Return a message whose gaps are padding, as they are where a compiler laid the fields out."""
    padding = [Field("(padding)", FieldType.PADDING, at, length) for at, length in gaps(message)]
    return replace(message, fields=(*message.fields, *padding))


def _inside(message: Message) -> list[Field]:
    """Return the fields that lie inside the message. Raises InputError where looking at them would take too long."""
    if sum(field.length for field in message.fields) > _MOST_BITS:
        raise InputError(f"{message.place}: the fields of {message.name} lie over each other thousands of times")
    return [f for f in message.fields if f.length > 0 and f.position >= 0 and f.end <= 8 * message.size]


def _bits(field: Field) -> NDArray[np.intp]:
    """Return the numbers of a field's bits, counted as in big-endian fields."""
    bits = np.arange(field.position, field.end, dtype=np.intp)
    return bits if field.order == "big" else bits ^ 7
