# SPDX-License-Identifier: Apache-2.0
"""Layouts of messages and what is wrong with them, as text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from vxmon.analysis.icd import IcdCheck
from vxmon.icd.conditions import And, Compare, Condition, Not
from vxmon.icd.icd import Icd
from vxmon.icd.model import Field, FieldType, Message
from vxmon.report.blocks import Block, Table, Text

__all__ = ["check_blocks", "condition_text", "layout_blocks", "range_text", "scale_text"]

_COLUMNS = ("field", "type", ">byte", ">bit", ">bits", "order", "scaling", "unit", "range", "meaning")
_LONGEST = 60


def layout_blocks(icd: Icd, messages: Iterable[Message]) -> Iterator[Block]:
    """Yield a table a message."""
    objects: dict[int, list[str]] = {}
    for binding, message in icd.bindings:
        where = f" in {binding.partition}" if binding.partition else ""
        objects.setdefault(id(message), []).append(binding.pattern + where)
    for message in messages:
        rows = [_row(field) for field in message.fields if field.type is not FieldType.PADDING]
        yield Table(_title(message, objects.get(id(message), [])), _COLUMNS, rows)
        if message.notes:
            yield Text(tuple(f"note: {note}" for note in message.notes))


def check_blocks(check: IcdCheck) -> Iterator[Block]:
    """Yield the problems, then the verdict."""
    if check.problems:
        yield Text(tuple(str(p) for p in check.problems))
    counts = [sum(p.severity == severity for p in check.problems) for severity in ("error", "warning", "note")]
    ports = f", {check.ports:,} ports of the module" if check.ports is not None else ""
    looked = f"{check.messages:,} messages, {check.fields:,} fields, {check.bindings:,} bindings{ports}"
    found = f"{counts[0]:,} errors, {counts[1]:,} warnings, {counts[2]:,} notes"
    yield Text((f"{looked}: {found}",), important=check.failed)


def _title(message: Message, objects: list[str]) -> str:
    size = f"{message.size:,} bytes"
    if message.minimum_size < message.size:
        size = f"{message.minimum_size:,} to {size}"
    carried = f", carried by {', '.join(objects)}" if objects else ""
    about = f": {message.description}" if message.description else ""
    return f"{message.name} ({size}{carried}){about}"


def _row(field: Field) -> tuple[str, ...]:
    place = (str(field.position // 8), str(field.position % 8), str(field.length))
    single = field.type in (FieldType.TEXT, FieldType.BYTES) or (field.length == 8 and field.position % 8 == 0)
    order = "" if single else field.order
    what = (_type(field), *place, order, scale_text(field), field.unit, range_text(field), _meaning(field))
    return (field.name, *what)


def _type(field: Field) -> str:
    return f"{field.type} (429 {field.word.kind})" if field.word is not None else field.type.value


def scale_text(field: Field) -> str:
    """Return for example ``x 0.1 + 20``."""
    scale = f"x {field.scale}" if field.scale != 1 else ""
    sign = "-" if field.offset < 0 else "+"
    return f"{scale} {sign} {abs(field.offset)}".strip() if field.offset else scale


def range_text(field: Field) -> str:
    """Return for example ``-90..90``."""
    if field.minimum is None and field.maximum is None:
        return ""
    low, high = ("" if limit is None else str(limit) for limit in (field.minimum, field.maximum))
    return f"{low}..{high}"


def _meaning(field: Field) -> str:
    parts: list[str] = []
    if field.values and not field.auxiliary:
        parts.append(_cut(", ".join(f"{code}={name}" for code, name in list(field.values.items())[:20])))
    if field.word is not None and field.word.label is not None:
        parts.append(f"label {field.word.label:03o}")
    if field.present is not None:
        parts.append(f"if {_cut(condition_text(field.present))}")
    if field.valid is not None:
        parts.append(f"valid if {_cut(condition_text(field.valid))}")
    if field.description:
        parts.append(_cut(field.description))
    return "; ".join(parts)


def _cut(text: str) -> str:
    return text if len(text) <= _LONGEST else text[: _LONGEST - 3] + "..."


def condition_text(condition: Condition) -> str:
    """Return a condition as it may be written in an ICD."""
    if isinstance(condition, Compare):
        values = ", ".join(str(v) for v in condition.values)
        several = len(condition.values) != 1
        return f"{condition.field} in ({values})" if several else f"{condition.field} {condition.operator} {values}"
    if isinstance(condition, Not):
        return f"not ({condition_text(condition.part)})"
    word = " and " if isinstance(condition, And) else " or "
    return word.join(f"({condition_text(part)})" for part in condition.parts)
