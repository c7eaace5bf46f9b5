# SPDX-License-Identifier: Apache-2.0
"""Messages from CAN databases (DBC, KCD, ARXML, SYM) by way of cantools, which is imported when it is needed."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from vxmon.errors import InputError
from vxmon.icd.conditions import Compare, Condition
from vxmon.icd.entries import LONGEST_TEXT
from vxmon.icd.model import MAX_FIELDS, MAX_SIZE, Field, FieldType, Message, Order, Place
from vxmon.icd.textfile import read_text

if TYPE_CHECKING:
    from cantools.database.can import Message as CanMessage
    from cantools.database.can import Signal

__all__ = ["CAN_SUFFIXES", "MAX_DATABASE", "messages_of_database"]

CAN_SUFFIXES: Final = frozenset({".dbc", ".kcd", ".arxml", ".sym"})
MAX_DATABASE: Final = 8 << 20
"""Largest database in bytes: cantools takes seconds a megabyte, and up to 100 bytes of memory a byte."""

_FLOATS: Final = {16: FieldType.FLOAT16, 32: FieldType.FLOAT32, 64: FieldType.FLOAT64}
_XML: Final = frozenset({".kcd", ".arxml"})
_LINEAR: Final = frozenset(
    {"IdentityConversion", "LinearIntegerConversion", "LinearConversion", "NamedSignalConversion"}
)


def messages_of_database(path: str) -> tuple[Message, ...]:
    """Return the messages of a database.

    Raises:
        InputError: it cannot be read, or cantools is not installed; the message then names the extra.

    """
    suffix = Path(path).suffix.lower()
    text = _text(path, suffix)
    try:
        import cantools
        from cantools.database.can import Database
    except ImportError:
        raise InputError(
            f"{path}: reading {suffix} files needs cantools; install it with: pip install 'vxmon[can]'"
        ) from None
    try:
        database = cantools.database.load_string(text, database_format=suffix[1:], strict=False)
    # What a damaged file makes of a parser that expects sound ones; cantools promises no list of its own.
    except (
        cantools.Error, ArithmeticError, AssertionError, AttributeError, LookupError, NotImplementedError,
        RecursionError, SyntaxError, TypeError, ValueError,
    ) as error:  # fmt: skip
        raise InputError(f"{path}: no {suffix[1:].upper()} database: {_one_line(error)}") from None
    if not isinstance(database, Database):
        raise InputError(f"{path}: a database of diagnostics, not of messages")
    messages: list[Message] = []
    seen: set[str] = set()
    for source in database.messages:
        if source.name not in seen and 1 <= source.length <= MAX_SIZE:
            seen.add(source.name)
            messages.append(_message(source, Place(path)))
    return tuple(messages)


def _text(path: str, suffix: str) -> str:
    encoding = "utf-8-sig" if suffix in _XML else "cp1252"
    text = read_text(path, MAX_DATABASE, encoding)
    if suffix in _XML and ("<!DOCTYPE" in text or "<!ENTITY" in text):
        raise InputError(f"{path}: it declares entities, which no such database does")
    return text


def _one_line(error: BaseException) -> str:
    text = " ".join(str(error).split()) or type(error).__name__
    return text if len(text) <= 200 else text[:197] + "..."


def _message(source: CanMessage, place: Place) -> Message:
    notes: list[str] = []
    if source.is_container:
        notes.append("a container of other messages, whose contents are not taken apart")
    signals = source.signals[:MAX_FIELDS]
    fields = [field for field in (_field(signal, place, notes) for signal in signals) if field is not None]
    description = _described(source.comment)
    return Message(source.name, source.length, tuple(fields), source.length, description, place, tuple(notes))


def _field(signal: Signal, place: Place, notes: list[str]) -> Field | None:
    """Return a signal as a field, or None with a note."""
    conversion = signal.conversion
    if type(conversion).__name__ not in _LINEAR:
        notes.append(f"{signal.name} has a conversion that is not linear, and is left out")
        return None
    kind = _type(signal)
    if kind is None or not 1 <= signal.length <= 64 or signal.start < 0:
        notes.append(f"{signal.name} has {signal.length} bits of a type that is not known, and is left out")
        return None
    order: Order = "big" if signal.byte_order == "big_endian" else "little"
    return Field(
        name=signal.name,
        type=kind,
        position=_position(signal, order),
        length=signal.length,
        order=order,
        scale=_number(conversion.scale, 1),
        offset=_number(conversion.offset, 0),
        unit=(signal.unit or "")[:LONGEST_TEXT],
        values={int(code): str(name)[:LONGEST_TEXT] for code, name in (conversion.choices or {}).items()},
        minimum=signal.minimum,
        maximum=signal.maximum,
        present=_selected(signal),
        overlay=signal.multiplexer_signal is not None,
        description=_described(signal.comment),
        place=place,
    )


def _type(signal: Signal) -> FieldType | None:
    if signal.conversion.is_float:
        return _FLOATS.get(signal.length)
    return FieldType.SIGNED if signal.is_signed else FieldType.UNSIGNED


def _position(signal: Signal, order: Order) -> int:
    """Return the position: a database counts from the least significant bit of each byte in both byte orders."""
    return signal.start if order == "little" else signal.start // 8 * 8 + 7 - signal.start % 8


def _number(value: float, default: int) -> int | float:
    """Return a factor as cantools uses it: in whole numbers where it is one."""
    if not math.isfinite(value):
        return default
    return int(value) if float(value).is_integer() and abs(value) < 1 << 53 else float(value)


def _selected(signal: Signal) -> Condition | None:
    if signal.multiplexer_signal is None:
        return None
    return Compare(signal.multiplexer_signal, "==", tuple(signal.multiplexer_ids or ()), raw=True)


def _described(comment: Any) -> str:
    return " ".join(str(comment or "").split())[:LONGEST_TEXT]
