# SPDX-License-Identifier: Apache-2.0
"""What is wrong with the layout of a message, beyond the syntax of its file."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal

from vxmon.config.place import Place
from vxmon.errors import InputError
from vxmon.icd.coverage import gaps, overlaps
from vxmon.icd.evaluate import check_condition, check_selection
from vxmon.icd.model import Field, FieldType, Message

__all__ = ["IcdProblem", "Severity", "check_message"]

Severity = Literal["error", "warning", "note"]


@dataclass(frozen=True, slots=True)
class IcdProblem:
    """Something that is wrong (error: the message cannot be decoded as written), odd, or worth knowing."""

    severity: Severity
    kind: str
    place: Place
    message: str
    text: str

    def __str__(self) -> str:
        return f"{self.place}: {self.severity}: {self.text}"


def check_message(message: Message) -> list[IcdProblem]:
    """Return what is wrong with a message, in the order of the document where there is one."""
    found = [*_duplicates(message), *_past_end(message), *_conditions(message)]
    found += [*_overlaps(message), *_gaps(message)]
    found += [IcdProblem("note", "raw", message.place, message.name, note) for note in message.notes]
    return found


def _data(message: Message) -> list[Field]:
    return [field for field in message.fields if field.type is not FieldType.PADDING]


def _duplicates(message: Message) -> Iterator[IcdProblem]:
    seen: dict[str, Field] = {}
    for field in _data(message):
        other = seen.setdefault(field.name, field)
        if other is not field:
            text = f"field {field.name} was defined before, at {other.place}"
            yield IcdProblem("error", "duplicate", field.place, message.name, text)


def _past_end(message: Message) -> Iterator[IcdProblem]:
    for field in message.fields:
        past = field.end - 8 * message.size
        if past > 0:
            text = f"field {field.name} ends {past} bits past the end of the message ({message.size} bytes)"
            yield IcdProblem("error", "past end", field.place, message.name, text)


def _conditions(message: Message) -> Iterator[IcdProblem]:
    fields = {field.name: field for field in _data(message)}
    for field in fields.values():
        try:
            for condition in (field.valid, field.present):
                if condition is not None:
                    check_condition(condition, fields, field)
            check_selection(field, fields)
        except InputError as error:
            text = str(error).removeprefix(f"{field.place}: ")
            yield IcdProblem("error", "condition", field.place, message.name, text)


def _overlaps(message: Message) -> Iterator[IcdProblem]:
    for found in overlaps(message):
        bits = f"{found.bits} bit{'s' if found.bits > 1 else ''}"
        text = f"field {found.second.name} lies over {bits} of {found.first.name} ({found.first.place})"
        yield IcdProblem("error", "overlap", found.second.place, message.name, text)


def _gaps(message: Message) -> Iterator[IcdProblem]:
    for position, length in gaps(message):
        text = f"{_span(position, length)} of {message.name} belong to no field; call it padding if nothing is there"
        yield IcdProblem("warning", "gap", message.place, message.name, text)


def _span(position: int, length: int) -> str:
    first, last = position // 8, (position + length - 1) // 8
    if position % 8 == 0 and length % 8 == 0:
        return f"bytes {first} to {last}" if last > first else f"the bits of byte {first}"
    return f"{length} bit{'s' if length > 1 else ''} in byte{f's {first} to {last}' if last > first else f' {first}'}"
