# SPDX-License-Identifier: Apache-2.0
"""A message's fields as an extraction of columns from an array of payloads."""

from __future__ import annotations

from typing import Any, Final

import numpy as np
from numpy.typing import ArrayLike, NDArray

from vxmon.errors import InputError
from vxmon.icd.decoded import DecodedFields, FieldColumn, Fit, Reason
from vxmon.icd.evaluate import Evaluator, check_condition, check_selection
from vxmon.icd.extract import bcd_digits, byte_block, float_bits, signed, unsigned
from vxmon.icd.model import Field, FieldType, Message, Word429
from vxmon.icd.word429 import is_minus, word_reasons

__all__ = ["Layout"]

_FLOATS: Final = {FieldType.FLOAT16: 16, FieldType.FLOAT32: 32, FieldType.FLOAT64: 64}
_BLOCKS: Final = frozenset({FieldType.TEXT, FieldType.BYTES})
_EXACT: Final = 1 << 63

Bytes = NDArray[np.uint8]
Column = NDArray[Any]


class Layout:
    """Decodes messages.

    Args:
        message: its fields; ``fields`` are those that are decoded.

    Raises:
        InputError: two fields have one name, one does not fit, or a condition names what is not there.

    """

    def __init__(self, message: Message) -> None:
        self.message = message
        self.fields: tuple[Field, ...] = tuple(f for f in message.fields if f.type is not FieldType.PADDING)
        by_name: dict[str, Field] = {}
        for field in self.fields:
            other = by_name.setdefault(field.name, field)
            if other is not field:
                raise InputError(f"{field.place}: field {field.name} was defined before, at {other.place}")
            _check_place(field, message)
        for field in self.fields:
            for condition in (field.valid, field.present):
                if condition is not None:
                    check_condition(condition, by_name, field)
            check_selection(field, by_name)

    @property
    def name(self) -> str:
        """Return the message's name."""
        return self.message.name

    def decode(
        self, payloads: Bytes, lengths: ArrayLike | None = None, sizes: ArrayLike | None = None
    ) -> DecodedFields:
        """Decode n messages.

        Args:
            payloads: shape (n, k); what lies behind a message's length is not looked at.
            lengths: bytes recorded of each message, at most k; k if not given.
            sizes: bytes that each message had, where the recording of some was cut; else as ``lengths``.

        Raises:
            ValueError: the arrays do not fit together.

        """
        given = _given(payloads, lengths, sizes)
        fit = np.full(len(given.payloads), Fit.RIGHT, np.uint8)
        fit[given.sizes < self.message.minimum_size] = Fit.SHORTER
        fit[given.sizes > self.message.size] = Fit.LONGER
        decoding = _Decoding(self, given, fit)
        return DecodedFields(given.payloads, given.lengths, given.sizes, fit, decoding.columns())


def _check_place(field: Field, message: Message) -> None:
    if field.end > 8 * message.size or field.position < 0 or field.length < 1:
        end = (field.end + 7) // 8
        raise InputError(f"{field.place}: field {field.name} ends in byte {end} of {message.size} of {message.name}")
    if field.type in _BLOCKS and (field.position % 8 or field.length % 8):
        raise InputError(f"{field.place}: field {field.name} of type {field.type} is not whole bytes")
    if field.length != _FLOATS.get(field.type, field.length):
        raise InputError(f"{field.place}: field {field.name} of type {field.type} has {field.length} bits")
    if field.type not in _BLOCKS and field.length > 64:
        raise InputError(f"{field.place}: field {field.name} has more than 64 bits")


class _Given:
    """The arguments of decode, complete."""

    def __init__(self, payloads: Bytes, lengths: NDArray[np.int64], sizes: NDArray[np.int64]) -> None:
        self.payloads = payloads
        self.lengths = lengths
        self.sizes = sizes

    def cut(self, size: int) -> Bytes:
        """Return payloads of exactly that many bytes, filled up with 0."""
        width = self.payloads.shape[1]
        if width >= size:
            return self.payloads[:, :size]
        return np.pad(self.payloads, ((0, 0), (0, size - width)))


def _given(payloads: Bytes, lengths: ArrayLike | None, sizes: ArrayLike | None) -> _Given:
    if payloads.ndim != 2 or payloads.dtype != np.uint8:
        raise ValueError("payloads must be an array of uint8 with two dimensions")
    count, width = payloads.shape
    full = np.full(count, width, np.int64) if lengths is None else np.asarray(lengths, np.int64)
    whole = full if sizes is None else np.asarray(sizes, np.int64)
    if full.shape != (count,) or whole.shape != (count,):
        raise ValueError("lengths and sizes must have one number a message")
    if ((full < 0) | (full > width) | (whole < full)).any():
        raise ValueError("a message's length must lie between 0 and its size, and inside its payload")
    return _Given(payloads, full, whole)


class _Decoding:
    """One call of decode: first the numbers of all fields, then what may be said against them."""

    def __init__(self, layout: Layout, given: _Given, fit: NDArray[np.uint8]) -> None:
        self._fields = layout.fields
        self._given = given
        self._wrong = fit != Fit.RIGHT
        self._bytes = given.cut(layout.message.size)
        self._words: dict[Word429, NDArray[np.uint8]] = {}

    def columns(self) -> dict[str, FieldColumn]:
        columns = {field.name: self._column(field) for field in self._fields}
        evaluator = Evaluator(columns)
        for field in self._fields:
            if field.present is not None:
                _blame(columns[field.name], evaluator.present(field.name), Reason.NOT_SELECTED)
        for field in self._fields:
            if field.word is not None:
                _blame_all(columns[field.name], self._word(field.word))
            if field.valid is not None:
                _blame(columns[field.name], evaluator.holds(field.valid), Reason.CONDITION)
            _blame_range(columns[field.name])
        return {name: _hide(column) for name, column in columns.items()}

    def _column(self, field: Field) -> FieldColumn:
        reason = np.zeros(len(self._bytes), np.uint8)
        reason[self._given.lengths <= field.last_byte] = Reason.CUT
        reason[self._given.sizes <= field.last_byte] = Reason.LEFT_OUT
        reason[self._wrong] = Reason.SIZE
        if field.type in _BLOCKS:
            values = self._block(field)
            return FieldColumn(field, values, values, reason)
        raw = unsigned(self._bytes, field.position, field.length, field.order)
        if field.type in _FLOATS:
            number: Column = float_bits(raw, field.length)
            _say(reason, np.isnan(number), Reason.NOT_A_NUMBER)
            return FieldColumn(field, _scaled(field, number), raw, reason)
        raw, number = self._integers(field, raw, reason)
        return FieldColumn(field, _scaled(field, number), raw, reason)

    def _block(self, field: Field) -> Column:
        block = byte_block(self._bytes, field.position, field.length)
        if field.type is FieldType.BYTES:
            return block
        block = block * np.logical_and.accumulate(block != 0, axis=1)
        return block.view(f"S{field.length // 8}").reshape(-1)

    def _integers(self, field: Field, raw: Column, reason: NDArray[np.uint8]) -> tuple[Column, Column]:
        """Return the raw numbers as their type has them, and the numbers to scale."""
        if field.type is FieldType.BCD:
            digits, good = bcd_digits(raw, field.length)
            _say(reason, ~good, Reason.NOT_DIGITS)
            if field.word is not None and field.word.kind == "bcd":
                return digits, np.where(is_minus(self._bytes, field.word), -digits, digits)
            return digits, digits
        if field.type is FieldType.SIGNED or (field.type is FieldType.ENUM and min(field.values, default=0) < 0):
            raw = signed(raw, field.length)
        if field.type is FieldType.BOOL:
            _say(reason, raw > 1, Reason.ABOVE)
            return raw, raw != 0
        if field.type is FieldType.ENUM:
            _say(reason, ~np.isin(raw, _codes(field, raw.dtype)), Reason.NOT_NAMED)
        return raw, raw

    def _word(self, word: Word429) -> NDArray[np.uint8]:
        if word not in self._words:
            self._words[word] = word_reasons(self._bytes, word)
        return self._words[word]


def _codes(field: Field, kind: np.dtype[Any]) -> Column:
    limits = np.iinfo(kind)
    return np.array([code for code in field.values if limits.min <= code <= limits.max], kind)


def _scaled(field: Field, number: Column) -> Column:
    """Return number * scale + offset, in integers where all of them can be."""
    scale, offset = field.scale, field.offset
    if (scale == 1 and offset == 0) or number.dtype == bool:
        return number
    most = 10 ** ((field.length + 3) // 4) if field.type is FieldType.BCD else 1 << field.length
    whole = isinstance(scale, int) and isinstance(offset, int) and number.dtype != np.float64
    if whole and most * abs(scale) + abs(offset) < _EXACT:
        return number.astype(np.int64) * scale + offset
    with np.errstate(over="ignore", invalid="ignore"):
        return number.astype(np.float64) * float(scale) + float(offset)


def _say(reason: NDArray[np.uint8], where: NDArray[np.bool_], what: Reason) -> None:
    """Note a reason where there is none yet."""
    reason[where & (reason == Reason.NONE)] = what


def _blame(column: FieldColumn, good: NDArray[np.bool_], what: Reason) -> None:
    """Note a reason that comes before what the value itself says, but after that there is no value."""
    column.reason[~good & column.shown] = what


def _blame_all(column: FieldColumn, reasons: NDArray[np.uint8]) -> None:
    where = column.shown & (reasons != Reason.NONE)
    column.reason[where] = reasons[where]


def _blame_range(column: FieldColumn) -> None:
    low, high = column.field.minimum, column.field.maximum
    if low is not None:
        _say(column.reason, column.values < low, Reason.BELOW)
    if high is not None:
        _say(column.reason, column.values > high, Reason.ABOVE)


def _hide(column: FieldColumn) -> FieldColumn:
    """Blank what is not a value of the message, so that nothing can come of it by accident."""
    hidden = ~column.shown
    if not hidden.any():
        return column
    values, raw = column.values.copy(), column.raw.copy()
    values[hidden] = np.zeros((), values.dtype)
    raw[hidden] = np.zeros((), raw.dtype)
    return FieldColumn(column.field, values, raw, column.reason)
