# SPDX-License-Identifier: Apache-2.0
"""Layouts, checks and decoded messages for other programs: JSON documents and CSV rows."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.icd import IcdCheck
from vxmon.icd.decoded import REASON_TEXT, DecodedFields, FieldColumn, Fit, Reason, Status
from vxmon.icd.layout import Layout
from vxmon.icd.model import Field, FieldType, Message
from vxmon.report.icd_text import condition_text
from vxmon.report.icd_values import value_block

__all__ = ["check_json", "decoded_json", "decoded_rows", "layout_json", "layout_rows"]

Json = dict[str, Any]

_VERSION: Final = 1
_ROW: Final = tuple(
    "message size name type byte bit length byte_order scale offset unit min max values valid description".split()
)


def layout_json(messages: Iterable[Message]) -> Json:
    """Return the layouts of messages as a JSON document."""
    return {"version": _VERSION, "messages": [_message(message) for message in messages]}


def check_json(check: IcdCheck) -> Json:
    """Return the result of a check as a JSON document."""
    problems = [
        {
            "severity": p.severity,
            "kind": p.kind,
            "file": p.place.file,
            "line": p.place.line or None,
            "message": p.message or None,
            "text": p.text,
        }
        for p in check.problems
    ]
    counts = {"messages": check.messages, "fields": check.fields, "bindings": check.bindings, "ports": check.ports}
    return {"version": _VERSION, **counts, "problems": problems, "passed": not check.failed}


def layout_rows(messages: Iterable[Message]) -> Iterator[tuple[str | int | float, ...]]:
    """Yield column names, then a row a field, named as in an ICD in CSV."""
    yield _ROW
    for message in messages:
        for number, field in enumerate(message.fields):
            yield _layout_row(message, field, number)


def decoded_json(layout: Layout, decoded: DecodedFields) -> Json:
    """Return decoded messages as a JSON document: an object a message."""
    columns = {name: _cells(column) for name, column in decoded.columns.items()}
    fields = [{name: cells[row] for name, cells in columns.items()} for row in range(len(decoded))]
    about = zip(decoded.sizes.tolist(), decoded.lengths.tolist(), decoded.fit.tolist(), fields, strict=True)
    return {
        "version": _VERSION,
        "message": layout.name,
        "size": layout.message.size,
        "messages": [
            {
                "size": size,
                "recorded": length,
                "fit": Fit(fit).name.lower(),
                "raw": bytes(decoded.payloads[row, :length]).hex(),
                "fields": cells if fit == Fit.RIGHT else {},
            }
            for row, (size, length, fit, cells) in enumerate(about)
        ],
    }


def decoded_rows(decoded: DecodedFields) -> Iterator[tuple[str, ...]]:
    """Yield column names, then a row a message: fit, and for each field its value and, if it may not be used, why."""
    shown = list(decoded.columns.values())
    yield ("size", "fit", *(name for column in shown for name in _heads(column.field)))
    sizes = [str(size) for size in decoded.sizes.tolist()]
    fits = [Fit(fit).name.lower() for fit in decoded.fit.tolist()]
    cells = [part for column in shown for part in _texts(column)]
    yield from zip(sizes, fits, *cells, strict=True)


def _heads(field: Field) -> tuple[str, str]:
    unit = f" ({field.unit})" if field.unit else ""
    return field.name + unit, f"{field.name} status"


def _texts(column: FieldColumn) -> tuple[list[str], list[str]]:
    block = value_block(column)
    text = np.ascontiguousarray(block).tobytes().decode("ascii")
    width = block.shape[1]
    values = [text[at : at + width].replace("\0", "") for at in range(0, len(text), width)]
    statuses = [_status_text(Reason(reason)) for reason in range(len(Reason))]
    return values, [statuses[reason] for reason in column.reason.tolist()]


def _status_text(reason: Reason) -> str:
    return REASON_TEXT[reason] or "valid"


def _cells(column: FieldColumn) -> list[Json]:
    status = [Status(code).name.lower() for code in column.status.tolist()]
    reasons = [REASON_TEXT[Reason(code)] for code in column.reason.tolist()]
    shown = column.shown.tolist()
    values, raw = _plain(column, column.values), _plain(column, column.raw)
    names = column.field.values
    cells: list[Json] = []
    for at, there in enumerate(shown):
        cell: Json = {"value": values[at] if there else None, "status": status[at]}
        if there and column.field.type not in (FieldType.TEXT, FieldType.BYTES):
            cell["raw"] = raw[at]
        if there and names:
            cell["name"] = names.get(raw[at])
        if column.field.unit:
            cell["unit"] = column.field.unit
        if reasons[at]:
            cell["reason"] = reasons[at]
        cells.append(cell)
    return cells


def _plain(column: FieldColumn, values: NDArray[Any]) -> list[Any]:
    if column.field.type is FieldType.BYTES:
        return [bytes(row).hex() for row in values]
    if column.field.type is FieldType.TEXT:
        return [text.decode("ascii", "backslashreplace") for text in values.tolist()]
    plain: list[Any] = values.tolist()
    if values.dtype == np.float64:
        # JSON has no numbers for these; the raw bits are beside it.
        return [value if math.isfinite(value) else None for value in plain]
    return plain


def _message(message: Message) -> Json:
    return {
        "name": message.name,
        "size": message.size,
        "minimum_size": message.minimum_size,
        "description": message.description,
        "file": message.place.file,
        "notes": list(message.notes),
        "fields": [_field(field) for field in message.fields],
    }


def _field(field: Field) -> Json:
    value: Json = {
        "name": field.name,
        "type": field.type.value,
        "position": field.position,
        "length": field.length,
        "byte_order": field.order,
        "scale": field.scale,
        "offset": field.offset,
        "unit": field.unit,
        "values": {str(code): name for code, name in field.values.items()},
        "min": field.minimum,
        "max": field.maximum,
        "valid": condition_text(field.valid) if field.valid is not None else None,
        "present": condition_text(field.present) if field.present is not None else None,
        "auxiliary": field.auxiliary,
        "description": field.description,
    }
    if field.word is not None:
        label = None if field.word.label is None else f"{field.word.label:03o}"
        value["arinc429"] = {"word": field.word.name, "kind": field.word.kind, "label": label}
    return value


def _layout_row(message: Message, field: Field, number: int) -> tuple[str | int | float, ...]:
    name = f"padding_{number}" if field.type is FieldType.PADDING else field.name
    place = (field.position // 8, field.position % 8, field.length, field.order)
    limits = ("" if limit is None else limit for limit in (field.minimum, field.maximum))
    values = ";".join(f"{code}={text}" for code, text in field.values.items())
    valid = condition_text(field.valid) if field.valid is not None else ""
    scale: tuple[int | float | str, ...] = (
        ("", "") if field.scale == 1 and not field.offset else (field.scale, field.offset)
    )
    head = (message.name, message.size, name, field.type.value, *place)
    return (*head, *scale, field.unit, *limits, values, valid, field.description)
