# SPDX-License-Identifier: Apache-2.0
"""Fields and messages from the entries of an ICD file, whatever its syntax."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Final, cast

from vxmon.config.entries import Entry
from vxmon.errors import InputError
from vxmon.icd.build429 import KEYS_429, fields_429
from vxmon.icd.conditions import Condition, parse_condition
from vxmon.icd.model import MAX_FIELDS, MAX_SIZE, Display, Field, FieldType, Message, Order

__all__ = ["FIELD_KEYS", "Defaults", "build_fields", "build_message", "build_values"]

FIELD_NAME: Final = re.compile(r"[A-Za-z_][A-Za-z0-9_.\[\]-]{0,199}")
_RESERVED: Final = frozenset({"and", "or", "not", "in"})
_MOST_VALUES: Final = 4096

_TYPES: Final = [t.value for t in FieldType] + ["arinc429"]
_LENGTHS: Final = {FieldType.BOOL: 1, FieldType.FLOAT16: 16, FieldType.FLOAT32: 32, FieldType.FLOAT64: 64}
_SCALED: Final = frozenset(
    {FieldType.UNSIGNED, FieldType.SIGNED, FieldType.BCD, FieldType.FLOAT16, FieldType.FLOAT32, FieldType.FLOAT64}
)
_WHOLE_BYTES: Final = frozenset({FieldType.TEXT, FieldType.BYTES})

_ABOUT: Final = frozenset(
    {"name", "type", "unit", "values", "valid", "min", "max", "scale", "offset", "display", "description"}
)
_WHERE: Final = frozenset({"byte", "bit", "length", "bytes", "byte_order", "count", "stride", "overlay"})
FIELD_KEYS: Final = _ABOUT | _WHERE | KEYS_429


@dataclass(frozen=True, slots=True)
class Defaults:
    """What holds for a whole file: byte order, and enumerations by name."""

    order: Order
    enums: Mapping[str, Mapping[int, str]]


def build_message(entry: Entry, fields: list[Field]) -> Message:
    """Return a message with these fields."""
    size = entry.integer("size", 1, MAX_SIZE)
    minimum = entry.integer("minimum_size", 0, size, size)
    description = entry.text("description", "")
    return Message(entry.name("name"), size, tuple(fields), minimum, description, entry.place)


def build_fields(entry: Entry, defaults: Defaults) -> list[Field]:
    """Return what an entry describes: a field, the elements of an array, or the parts of an ARINC 429 word."""
    kind = entry.choice("type", _TYPES)
    entry.only(_ABOUT | _WHERE | KEYS_429 if kind == "arinc429" else _ABOUT | _WHERE)
    order = cast("Order", entry.choice("byte_order", ("big", "little"), defaults.order))
    position = _position(entry)
    if kind == "arinc429":
        made = fields_429(entry, _name(entry), position, order, lambda part: _described(part, defaults))
        return _repeated(entry, made, 32)
    field = _described(entry, defaults)
    length = _length(entry, field.type)
    if field.type in _WHOLE_BYTES and position % 8:
        raise entry.fail("bit", f"puts a field of type {field.type} off a byte")
    field = replace(field, position=position, length=length, order=order)
    return _repeated(entry, [replace(field, overlay=entry.boolean("overlay", default=False))], length)


def _described(entry: Entry, defaults: Defaults) -> Field:
    """Return a field without its place in the message."""
    kind = FieldType(entry.choice("type", [t.value for t in FieldType], "unsigned"))
    _check_kind(entry, kind)
    return Field(
        name=_name(entry),
        type=kind,
        position=0,
        length=0,
        scale=entry.number("scale", 1),
        offset=entry.number("offset", 0),
        unit=entry.text("unit", ""),
        values=_values(entry, kind, defaults),
        minimum=entry.optional_number("min"),
        maximum=entry.optional_number("max"),
        valid=_condition(entry),
        display=cast("Display", entry.choice("display", ("decimal", "hex", "octal"), "decimal")),
        description=entry.text("description", ""),
        place=entry.place,
    )


def _check_kind(entry: Entry, kind: FieldType) -> None:
    if kind is FieldType.ENUM:
        entry.need("values")
    if entry.values.get("scale") == 0:
        raise entry.fail("scale", "is 0, which makes every value the same")
    for key in ("scale", "offset", "min", "max"):
        if entry.has(key) and kind not in _SCALED:
            raise entry.fail(key, f"has no meaning for a field of type {kind}")
    if entry.has("values") and kind not in (FieldType.ENUM, FieldType.UNSIGNED, FieldType.SIGNED, FieldType.BOOL):
        raise entry.fail("values", f"has no meaning for a field of type {kind}")
    low, high = entry.optional_number("min"), entry.optional_number("max")
    if low is not None and high is not None and low > high:
        raise entry.fail("max", f"is {high}, less than min = {low}")


def _name(entry: Entry) -> str:
    name = entry.name("name")
    if not FIELD_NAME.fullmatch(name) or name in _RESERVED:
        raise entry.wrong("name", "a name of letters, digits, _ . [ ] and -, and none of and, or, not, in")
    return name


def _position(entry: Entry) -> int:
    if not entry.has("byte") and not entry.has("bit"):
        entry.need("byte")
    return 8 * entry.integer("byte", 0, MAX_SIZE, 0) + entry.integer("bit", 0, 8 * MAX_SIZE, 0)


def _length(entry: Entry, kind: FieldType) -> int:
    most = 8 * MAX_SIZE if kind in (FieldType.TEXT, FieldType.BYTES, FieldType.PADDING) else 64
    fixed = _LENGTHS.get(kind)
    if entry.has("bytes"):
        if entry.has("length"):
            raise entry.fail("bytes", "and length say the same thing; give one of them")
        length = 8 * entry.integer("bytes", 1, most // 8)
    else:
        length = entry.integer("length", 1, most, fixed)
    if fixed is not None and kind is not FieldType.BOOL and length != fixed:
        raise entry.fail("length", f"is {length}; type {kind} has {fixed} bits")
    if kind in _WHOLE_BYTES and length % 8:
        raise entry.fail("length", f"is {length}; type {kind} has whole bytes")
    return length


def _values(entry: Entry, kind: FieldType, defaults: Defaults) -> Mapping[int, str]:
    value = entry.values.get("values", {})
    if isinstance(value, str):
        if value not in defaults.enums:
            known = ", ".join(defaults.enums) or "(none)"
            raise entry.wrong("values", f"a table, or the name of an enumeration of this file: {known}")
        return defaults.enums[value]
    if not isinstance(value, dict):
        raise entry.wrong("values", "a table of number = name, or the name of an enumeration")
    names = build_values(entry.inner(f"{entry.what}.values", value, "values"))
    if kind is FieldType.ENUM and not names:
        raise entry.fail("values", "is empty")
    return names


def build_values(entry: Entry) -> dict[int, str]:
    """Return an enumeration: names by number."""
    if len(entry.values) > _MOST_VALUES:
        raise InputError(f"{entry.place}: {entry.what} has more than {_MOST_VALUES:,} values")
    names: dict[int, str] = {}
    for key in entry.values:
        try:
            number = int(key, 0) if len(key) <= 20 else None
        except ValueError:
            number = None
        if number is None or not -(1 << 63) <= number < 1 << 64:
            raise entry.fail(key, "is no number (decimal, or hexadecimal with 0x) of 64 bits")
        if number in names:
            raise entry.fail(key, f"gives {number} a second name")
        names[number] = entry.name(key)
    return names


def _condition(entry: Entry) -> Condition | None:
    if not entry.has("valid"):
        return None
    try:
        return parse_condition(entry.text("valid"))
    except ValueError as error:
        raise entry.fail("valid", f"is {error}") from None


def _repeated(entry: Entry, fields: list[Field], length: int) -> list[Field]:
    """Return the elements of an array, or the fields as they are."""
    if not entry.has("count"):
        if entry.has("stride"):
            raise entry.fail("stride", "has no meaning without count")
        return fields
    count = entry.integer("count", 1, MAX_FIELDS)
    stride = entry.integer("stride", length, 8 * MAX_SIZE, length)
    if count * len(fields) > MAX_FIELDS:
        raise entry.fail("count", f"makes more than {MAX_FIELDS:,} fields")
    return [_element(field, entry.name("name"), index, stride) for index in range(count) for field in fields]


def _element(field: Field, name: str, index: int, stride: int) -> Field:
    indexed = f"{name}[{index}]"
    word = field.word
    if word is not None:
        word = replace(word, name=indexed, position=word.position + index * stride)
    return replace(field, name=indexed + field.name[len(name) :], position=field.position + index * stride, word=word)
