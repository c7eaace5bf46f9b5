# SPDX-License-Identifier: Apache-2.0
"""Decoded fields as text, a column at a time."""

from __future__ import annotations

import math
from decimal import Decimal
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.icd.decoded import REASON_TEXT, DecodedFields, FieldColumn, Fit, Reason
from vxmon.icd.model import Field, FieldType
from vxmon.report.digits import (
    Piece,
    assemble,
    decimal,
    fixed_digits,
    hexadecimal,
    hexadecimal_bytes,
    lookup_table,
    safe_text,
    text_bytes,
)

__all__ = ["field_pieces", "message_lines", "value_block"]

_MOST_DECIMALS: Final = 9
_EXACT: Final = 2.0**53
_SHORT_FLOATS: Final = {FieldType.FLOAT16: np.float16, FieldType.FLOAT32: np.float32}

Block = NDArray[np.uint8]


def message_lines(decoded: DecodedFields, head: list[Piece] | None = None) -> bytearray:
    """Return a line a message: ``name:value`` for each field, after what ``head`` has for each."""
    pieces = [*(head or []), *field_pieces(decoded), b"\n"]
    return bytearray(assemble(len(decoded), pieces).tobytes().translate(None, b"\0"))


def field_pieces(decoded: DecodedFields) -> list[Piece]:
    """Return the fields of each message as pieces of a line, every field with a space before it.

    ``alt:35000.0ft`` is a good value, ``alt:0.0ft!no_computed_data`` one that may not be used; a field that a message
    does not have is left out. A message of the wrong size is shown raw. Fields that describe others (``auxiliary``) are
    left out.
    """
    pieces: list[Piece] = []
    for column in decoded.columns.values() if len(decoded) else ():
        if not column.field.auxiliary:
            pieces += _field(column)
    return [*pieces, *_wrong_size(decoded)]


def value_block(column: FieldColumn) -> Block:
    """Return the values of a field as text, shape (n, width), padded with NUL; nothing where there is none."""
    field, count = column.field, len(column.reason)
    if not count:
        return np.zeros((0, 1), np.uint8)
    if field.type is FieldType.TEXT:
        block = assemble(count, [text_bytes(column.values.view(np.uint8).reshape(count, -1))])
    elif field.type is FieldType.BYTES:
        whole = np.full(count, column.values.shape[1])
        block = assemble(count, [hexadecimal_bytes(column.values, whole)])
    elif field.values:
        block = _names(column)
    else:
        block = assemble(count, _numbers(field, column.values))
    block[~column.shown] = 0
    return block


def _field(column: FieldColumn) -> list[Piece]:
    """Label, value, unit and mark of a field; all of it blank where the message has no such field."""
    field, count = column.field, len(column.reason)
    text = field.type is FieldType.TEXT
    quote = b'"' if text else b""
    unit = safe_text(field.unit).replace(b" ", b"_")
    block = assemble(count, [b" ", safe_text(field.name), b":", quote, value_block(column), quote, unit])
    block[~column.shown] = 0
    mark = _marks(field)[column.reason].view(np.uint8).reshape(count, -1)
    return [block, mark]


def _marks(field: Field) -> NDArray[np.void]:
    """What to put behind a value by reason; where there is no value, what to put in its place."""
    texts = [_mark(field, reason) for reason in Reason]
    return lookup_table(texts)


def _mark(field: Field, reason: Reason) -> bytes:
    if reason in (Reason.NONE, Reason.NOT_SELECTED, Reason.LEFT_OUT, Reason.SIZE):
        return b""
    if reason == Reason.CUT:
        return b" " + safe_text(field.name) + b":not_recorded"
    return b"!" + REASON_TEXT[reason].replace(" ", "_").encode()


def _wrong_size(decoded: DecodedFields) -> list[Piece]:
    rows = np.flatnonzero(decoded.fit != Fit.RIGHT)
    if not len(rows):
        return []
    words = lookup_table([b"", b" shorter:", b" longer:"]).take(decoded.fit[rows].astype(np.int64))
    raw = hexadecimal_bytes(decoded.payloads[rows], decoded.lengths[rows])
    some = assemble(len(rows), [words, *decimal(decoded.sizes[rows]), b" raw:", raw])
    block = np.zeros((len(decoded), some.shape[1]), np.uint8)
    block[rows] = some
    return [block]


def _names(column: FieldColumn) -> Block:
    """Names of numbers; the numbers themselves where they have no name."""
    field, raw = column.field, column.raw
    limits = np.iinfo(raw.dtype)
    named = sorted((code, name) for code, name in field.values.items() if limits.min <= code <= limits.max)
    if not named:
        return assemble(len(raw), _numbers(field, column.values))
    codes = np.array([code for code, _ in named], raw.dtype)
    at = np.minimum(np.searchsorted(codes, raw), len(codes) - 1)
    known = codes[at] == raw
    table = lookup_table([*(safe_text(name) for _, name in named), b""])
    names = table.take(np.where(known, at, len(codes)))
    numbers = assemble(len(raw), _numbers(field, column.values))
    numbers[known] = 0
    return assemble(len(raw), [names, numbers])


def _numbers(field: Field, values: NDArray[Any]) -> list[Piece]:
    if values.dtype == bool:
        return [lookup_table([b"false", b"true"]).take(values.astype(np.int64))]
    if values.dtype == np.float64:
        return _decimals(field, values)
    if field.display == "hex" and values.dtype == np.uint64:
        return [b"0x", *hexadecimal(values, max(4, (field.length + 15) // 16 * 4))]
    if field.display == "octal" and values.dtype == np.uint64:
        return [_octal(values, (field.length + 2) // 3)]
    negative = np.where(values < 0, ord("-"), 0).astype(np.uint8)
    # The absolute value of the lowest number does not fit int64; its bits are right as an unsigned number.
    return [negative, *decimal(np.abs(values).view(np.uint64))]


def _octal(values: NDArray[np.uint64], digits: int) -> Block:
    shifts = np.arange(3 * (digits - 1), -1, -3, dtype=np.uint64)
    return ((values[:, None] >> shifts & np.uint64(7)) + np.uint64(ord("0"))).astype(np.uint8)


def _decimals(field: Field, values: NDArray[np.float64]) -> list[Piece]:
    """Scaled values with as many decimals as their scale has, others as the shortest text that means them."""
    places = _places(field)
    if places is None or not (np.abs(values) < _EXACT / 10**places).all():
        return [_shortest(field, values)]
    number = np.rint(np.abs(values) * 10**places).astype(np.uint64)
    negative = np.where((values < 0) & (number > 0), ord("-"), 0).astype(np.uint8)
    pieces: list[Piece] = [negative, *decimal(number // np.uint64(10**places))]
    if places:
        pieces.append(b".")
    for digits in (4,) * (places // 4) + ((places % 4,) if places % 4 else ()):
        places -= digits
        pieces += fixed_digits(number // np.uint64(10**places) % np.uint64(10**digits), digits)
    return pieces


def _shortest(field: Field, values: NDArray[np.float64]) -> Block:
    short: NDArray[Any] = values.astype(_SHORT_FLOATS.get(field.type, np.float64))
    return np.frombuffer(short.astype("S32").tobytes(), np.uint8).reshape(len(values), 32)


def _places(field: Field) -> int | None:
    """Return how many decimals tell the values of a scaled field apart; None for floats and finer scales."""
    if field.type in (*_SHORT_FLOATS, FieldType.FLOAT64):
        return None
    exact = max(-int(Decimal(repr(number)).as_tuple().exponent) for number in (field.scale, field.offset))
    if exact <= _MOST_DECIMALS:
        return max(0, exact)
    places = math.ceil(-math.log10(abs(field.scale))) + 1
    return max(0, places) if places <= _MOST_DECIMALS else None
