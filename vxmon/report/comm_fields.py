# SPDX-License-Identifier: Apache-2.0
"""The fields of messages in ``analyze comm --fields``: text, JSON, and one object's messages over time as CSV."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Final

import numpy as np

from vxmon.analysis.comm.fields import FieldBook, ObjectFields, Peak
from vxmon.analysis.comm.result import BootComm
from vxmon.analysis.fields import decoded_messages
from vxmon.icd.decoded import Fit
from vxmon.icd.icd import Icd
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.icd_data import decoded_rows
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.ticks import ticks_to_ns
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import EventId
from vxmon.words import counted

__all__ = ["NO_CONTENT", "field_blocks", "field_rows", "fields_json"]

Json = dict[str, Any]
NO_CONTENT: Final = 'no content of messages was recorded; capture it with payload = "content" in a plan'
_EVENTS = {EventId.MSG_SEND: "send", EventId.MSG_RECEIVE: "receive"}


def fields_json(boot: BootComm, books: list[ObjectFields]) -> list[Json]:
    """The fields of a boot's objects as JSON values."""
    labels = {one.index: one.label for one in boot.objects}
    return [
        {
            "object": labels[book.object],
            "direction": book.direction,
            "message": book.layout or None,
            "messages": book.messages,
            "cut": book.cut,
            "fits": dict(book.fits),
            "fields": [_field_json(field) for field in book.fields.values()],
        }
        for book in books
        if book.boot == boot.number and book.object in labels
    ]


def _field_json(book: FieldBook) -> Json:
    value: Json = {
        "name": book.about.name, "unit": book.about.unit or None, "valid": book.valid, "not_valid": dict(book.reasons),
        "min": _peak_json(book.least), "max": _peak_json(book.most),
    }  # fmt: skip
    if book.about.values:
        value["values"] = dict(book.names)
    return value


def _peak_json(peak: Peak | None) -> Json | None:
    if peak is None:
        return None
    # JSON has no numbers for infinity.
    value = peak.value if math.isfinite(peak.value) else None
    return {"value": value, "number": peak.number, "time_ticks": peak.time}


def field_blocks(boot: BootComm, books: list[ObjectFields]) -> Iterator[Block]:
    """The fields of a boot's objects, a table an object and direction."""
    labels = {one.index: one.label for one in boot.objects}
    own = [book for book in books if book.boot == boot.number and book.object in labels]
    if not own:
        yield Text((f"fields: {NO_CONTENT}",))
    for book in own:
        title = f"{labels[book.object]}, {counted(book.messages, 'message')} {book.direction}"
        if not book.layout:
            yield Text((f"{title}: not described by the ICD",))
            continue
        parts = [f"{book.fits[fit.name.lower()]} {fit.name.lower()}" for fit in (Fit.SHORTER, Fit.LONGER)
                 if book.fits[fit.name.lower()]]  # fmt: skip
        parts += [f"{book.cut} cut in the recording"] if book.cut else []
        rows = [_field_row(field) for field in book.fields.values()]
        yield Table(f"{title}: {book.layout}{''.join(f', {part}' for part in parts)}", _COLUMNS, rows)


_COLUMNS = ("field", "unit", ">valid", ">min", ">max", "values", "not valid")


def _field_row(book: FieldBook) -> tuple[str, ...]:
    least, most = ("-" if peak is None else f"{peak.value:g}" if isinstance(peak.value, float) else str(peak.value)
                   for peak in (book.least, book.most))  # fmt: skip
    names = ", ".join(f"{name} {count}" for name, count in book.names.items())
    reasons = ", ".join(f"{reason} {count}" for reason, count in book.reasons.items())
    return book.about.name, book.about.unit or "-", str(book.valid), least, most, names or "-", reasons or "-"


def field_rows(
    trace: StoredTrace, icd: Icd, objects: dict[int, frozenset[int]], span: Span = EVERYTHING
) -> Iterator[tuple[str, ...]]:
    """CSV of the messages of one object, which must be described: one message a row, one column a field.

    Args:
        trace: where they are.
        icd: what they mean.
        objects: the index of the object, by the number of the boot.
        span: only messages of this time.

    """
    first = True
    for boot, some in decoded_messages(trace, icd, span, objects):
        if some.decoded is None:
            continue
        rows = decoded_rows(some.decoded)
        head = next(rows)
        if first:
            yield ("boot", "time_ns", "event", "message_number", *head, "raw")
            first = False
        messages = some.messages
        hz = boot.clock_hz
        times = ticks_to_ns(messages.time, hz).tolist() if hz else [""] * len(messages)
        wrong = some.decoded.fit != Fit.RIGHT
        raw = [bytes(row[:n]).hex() if bad else "" for row, n, bad in zip(
            some.decoded.payloads, some.decoded.lengths.tolist(), np.asarray(wrong).tolist(), strict=True
        )]  # fmt: skip
        events = [_EVENTS.get(EventId(event), "") for event in messages.event.tolist()]
        about = zip(times, events, messages.number.tolist(), rows, raw, strict=True)
        for time, event, number, cells, octets in about:
            yield (str(boot.number), str(time), event, str(number), *cells, octets)
