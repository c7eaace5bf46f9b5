# SPDX-License-Identifier: Apache-2.0
"""``analyze comm --fields``: what the fields of each object's messages were over time."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final, Literal

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.fields import DecodedMessages, decoded_messages
from vxmon.icd.decoded import REASON_TEXT, FieldColumn, Fit, Reason, Status
from vxmon.icd.icd import Icd
from vxmon.icd.model import Field, FieldType
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import EventId

__all__ = ["Direction", "FieldBook", "ObjectFields", "Peak", "analyze_fields"]

Direction = Literal["sent", "received", "unknown"]
_DIRECTIONS: Final[dict[int, Direction]] = {EventId.MSG_SEND: "sent", EventId.MSG_RECEIVE: "received"}
_MOST_NAMES: Final = 64

Ints = NDArray[np.int64]


@dataclass(frozen=True, slots=True)
class Peak:
    """A value of a field, in which message it was and when, in ticks."""

    value: int | float
    number: int
    time: int


@dataclass(slots=True)
class FieldBook:
    """One field: how many values were good, why others were not, and between what bounds the good ones lie.

    ``names``: of an enumeration, how often each value was; at most 64 of them, ``more`` counts the others.
    """

    about: Field
    valid: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    least: Peak | None = None
    most: Peak | None = None
    names: Counter[str] = field(default_factory=Counter)
    more: int = 0

    def add(self, column: FieldColumn, numbers: Ints, times: Ints) -> None:
        """Take the values of some messages."""
        for code, count in enumerate(np.bincount(column.reason, minlength=len(Reason)).tolist()):
            if code and count and code != Reason.SIZE:
                self.reasons[REASON_TEXT[Reason(code)]] += count
        good = np.flatnonzero(column.status == Status.VALID)
        self.valid += len(good)
        if not len(good) or self.about.type in (FieldType.TEXT, FieldType.BYTES):
            return
        if self.about.values:
            self._name(column.raw[good])
            return
        values = column.values[good]
        low, high = good[values.argmin()], good[values.argmax()]
        self.least = _peak(self.least, column.values, low, numbers, times, -1)
        self.most = _peak(self.most, column.values, high, numbers, times, 1)

    def _name(self, raw: NDArray[Any]) -> None:
        codes, counts = np.unique(raw, return_counts=True)
        for code, count in zip(codes.tolist(), counts.tolist(), strict=True):
            name = self.about.values.get(code, str(code))
            if name in self.names or len(self.names) < _MOST_NAMES:
                self.names[name] += count
            else:
                self.more += count


def _peak(
    known: Peak | None, values: NDArray[Any], at: np.intp, numbers: Ints, times: Ints, sign: int
) -> Peak:  # fmt: skip
    value = values[at].item()
    value = int(value) if isinstance(value, bool) else value
    if known is not None and sign * known.value >= sign * value:
        return known
    return Peak(value, int(numbers[at]), int(times[at]))


@dataclass(slots=True)
class ObjectFields:
    """The messages of one object in one direction; ``layout`` "" where the ICD does not describe them.

    ``cut`` are those of which only the begin was recorded.
    """

    boot: int
    object: int
    direction: Direction
    layout: str
    messages: int = 0
    cut: int = 0
    fits: Counter[str] = field(default_factory=Counter)
    fields: dict[str, FieldBook] = field(default_factory=dict)

    def add(self, some: DecodedMessages, which: NDArray[np.intp]) -> None:
        """Take the messages ``which`` of some."""
        messages, decoded = some.messages, some.decoded
        self.messages += len(which)
        if decoded is None:
            return
        self.cut += int((decoded.lengths[which] < decoded.sizes[which]).sum())
        for fit, count in enumerate(np.bincount(decoded.fit[which], minlength=len(Fit)).tolist()):
            self.fits[Fit(fit).name.lower()] += count
        for name, column in decoded.columns.items():
            part = FieldColumn(column.field, column.values[which], column.raw[which], column.reason[which])
            book = self.fields.setdefault(name, FieldBook(column.field))
            book.add(part, messages.number[which], messages.time[which])


def analyze_fields(trace: StoredTrace, icd: Icd, span: Span = EVERYTHING) -> list[ObjectFields]:
    """The fields of all objects that have messages with content, in order of boot and object."""
    books: dict[tuple[int, int, Direction], ObjectFields] = {}
    for boot, some in decoded_messages(trace, icd, span):
        for event in np.unique(some.messages.event).tolist():
            key = (boot.number, some.object, _DIRECTIONS.get(event, "unknown"))
            if key not in books:
                books[key] = ObjectFields(*key, "" if some.layout is None else some.layout.name)
            books[key].add(some, np.flatnonzero(some.messages.event == event))
    return [books[key] for key in sorted(books)]
