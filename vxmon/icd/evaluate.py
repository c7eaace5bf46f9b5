# SPDX-License-Identifier: Apache-2.0
"""Conditions on the columns of decoded fields."""

from __future__ import annotations

import operator
from collections.abc import Callable, Mapping
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.icd.conditions import And, Compare, Condition, Not, fields_of
from vxmon.icd.decoded import FieldColumn
from vxmon.icd.model import Field, FieldType

__all__ = ["Evaluator", "check_condition", "check_selection"]

Truth = NDArray[np.bool_]

_LONGEST_CHAIN: Final = 64

_COMPARE: Final[dict[str, Callable[[Any, Any], Any]]] = {
    "==": operator.eq,
    "!=": operator.ne,
    "<": operator.lt,
    "<=": operator.le,
    ">": operator.gt,
    ">=": operator.ge,
}


def check_condition(condition: Condition, fields: Mapping[str, Field], owner: Field) -> None:
    """Refuse a condition on fields or names that are not there. Raises InputError."""
    for name in fields_of(condition):
        if name not in fields:
            raise InputError(f"{owner.place}: the condition of {owner.name} names {name}, which is no field")
    for part in _comparisons(condition):
        _check_comparison(part, fields[part.field], owner)


def check_selection(owner: Field, fields: Mapping[str, Field]) -> None:
    """Refuse a field that is selected by way of too many others, or of itself. Raises InputError."""
    selectors = {owner.name}
    for _ in range(_LONGEST_CHAIN):
        conditions = [fields[name].present for name in selectors if name in fields]
        selectors = {name for condition in conditions if condition is not None for name in fields_of(condition)}
        if not selectors:
            return
    raise InputError(f"{owner.place}: field {owner.name} is selected by itself or by more than {_LONGEST_CHAIN} others")


def _comparisons(condition: Condition) -> list[Compare]:
    if isinstance(condition, Compare):
        return [condition]
    parts = (condition.part,) if isinstance(condition, Not) else condition.parts
    return [found for part in parts for found in _comparisons(part)]


def _check_comparison(part: Compare, field: Field, owner: Field) -> None:
    if field.type is FieldType.BYTES:
        raise InputError(f"{owner.place}: the condition of {owner.name} compares {field.name}, which is bytes")
    for value in part.values:
        if (field.type is FieldType.TEXT) != isinstance(value, str) and not field.values:
            kind = "text, which is written in quotes" if field.type is FieldType.TEXT else "a number"
            raise InputError(
                f"{owner.place}: the condition of {owner.name} compares {field.name} with {value!r}; {kind}"
            )
        if isinstance(value, str) and field.values and value not in field.values.values():
            known = ", ".join(list(field.values.values())[:8])
            raise InputError(f"{owner.place}: the condition of {owner.name}: {value!r} is not among {known}")


class Evaluator:
    """Evaluates conditions on columns that have their values but not yet all their reasons."""

    def __init__(self, columns: Mapping[str, FieldColumn]) -> None:
        self._columns = columns
        self._present: dict[str, Truth] = {}

    def present(self, name: str) -> Truth:
        """Tell for each message whether it has a field: its own condition holds, and those of the fields in it."""
        column = self._columns[name]
        if name not in self._present:
            condition = column.field.present
            everywhere = np.ones(len(column.reason), bool)
            self._present[name] = everywhere if condition is None else self.holds(condition)
        return self._present[name]

    def holds(self, condition: Condition) -> Truth:
        """Tell for each message whether a condition holds and all of its fields are there."""
        truth = self._truth(condition)
        for name in set(fields_of(condition)):
            truth = truth & self._columns[name].shown & self.present(name)
        return truth

    def _truth(self, condition: Condition) -> Truth:
        if isinstance(condition, Compare):
            return _compared(self._columns[condition.field], condition)
        if isinstance(condition, Not):
            return ~self._truth(condition.part)
        parts = [self._truth(part) for part in condition.parts]
        return _all(parts) if isinstance(condition, And) else _any(parts)


def _compared(column: FieldColumn, condition: Compare) -> Truth:
    compare = _COMPARE[condition.operator]
    numbers = column.raw if condition.raw else column.values
    truths = [_against(column, numbers, value, compare) for value in condition.values]
    return _any(truths)


def _against(
    column: FieldColumn, numbers: NDArray[Any], value: int | float | str, compare: Callable[[Any, Any], Any]
) -> Truth:
    if not isinstance(value, str):
        return np.asarray(compare(numbers, value), bool)
    if column.field.type is FieldType.TEXT:
        return np.asarray(compare(column.values, value.encode()), bool)
    codes = [code for code, name in column.field.values.items() if name == value]
    truths = [np.asarray(compare(column.raw, code), bool) for code in codes]
    # "!= NAME" where two numbers have the name: neither of them.
    return _all(truths) if compare is operator.ne else _any(truths)


def _all(truths: list[Truth]) -> Truth:
    return np.asarray(np.logical_and.reduce(truths), bool)


def _any(truths: list[Truth]) -> Truth:
    return np.asarray(np.logical_or.reduce(truths), bool)
