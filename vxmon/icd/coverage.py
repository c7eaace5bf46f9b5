# SPDX-License-Identifier: Apache-2.0
"""Which bits of a message its fields take, whatever their byte order.

Bits are counted as in big-endian fields. A big-endian field is one run of them; a little-endian one is up to three: the
part of its first byte, its whole bytes, and the part of its last byte.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from heapq import heappop, heappush
from typing import Final

from vxmon.icd.model import Field, FieldType, Message

__all__ = ["Overlap", "gaps", "overlaps", "with_padding"]

_MOST_OVERLAPS: Final = 1000

Run = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Overlap:
    """Bits that two fields share; ``first`` is the earlier one in the document."""

    first: Field
    second: Field
    bits: int


def gaps(message: Message) -> list[Run]:
    """Return the (position, length) of bits that no field takes."""
    end = 0
    found: list[Run] = []
    runs = sorted(run for field in _inside(message) for run in _runs(field))
    for start, stop in [*runs, (8 * message.size, 8 * message.size)]:
        if start > end:
            found.append((end, start - end))
        end = max(end, stop)
    return found


def overlaps(message: Message) -> list[Overlap]:
    """Return the pairs of fields that share bits and are not meant to, by the second one; some of them above 1000."""
    fields = [f for f in _inside(message) if not f.overlay]
    runs = sorted((start, stop, index) for index, field in enumerate(fields) for start, stop in _runs(field))
    shared: dict[Run, int] = {}
    open_runs: list[tuple[int, int]] = []  # (stop, index), a heap
    for start, stop, index in runs:
        while open_runs and open_runs[0][0] <= start:
            heappop(open_runs)
        for other_stop, other in open_runs:
            pair = (min(index, other), max(index, other))
            shared[pair] = shared.get(pair, 0) + min(stop, other_stop) - start
        if len(shared) >= _MOST_OVERLAPS:
            break
        heappush(open_runs, (stop, index))
    pairs = sorted(shared.items(), key=lambda item: (item[0][1], item[0][0]))
    return [Overlap(fields[first], fields[second], bits) for (first, second), bits in pairs]


def with_padding(message: Message) -> Message:
    """Return a message whose gaps are padding, as they are where a compiler laid the fields out."""
    padding = [Field("(padding)", FieldType.PADDING, at, length) for at, length in gaps(message)]
    return replace(message, fields=(*message.fields, *padding))


def _inside(message: Message) -> list[Field]:
    return [f for f in message.fields if f.length > 0 and f.position >= 0 and f.end <= 8 * message.size]


def _runs(field: Field) -> Iterator[Run]:
    """Yield the (start, stop) of a field's bits."""
    start, stop = field.position, field.end
    if field.order == "big":
        yield start, stop
        return
    first, last = start // 8 * 8, (stop - 1) // 8 * 8
    if first == last:
        yield first + 7 - (stop - 1) % 8, first + 8 - start % 8
        return
    whole_start, whole_stop = (start + 7) // 8 * 8, stop // 8 * 8
    if whole_start > start:
        yield first, first + 8 - start % 8
    if whole_stop > whole_start:
        yield whole_start, whole_stop
    if stop > whole_stop:
        yield last + 8 - stop % 8, last + 8
