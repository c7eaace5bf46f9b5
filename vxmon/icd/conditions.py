# SPDX-License-Identifier: Apache-2.0
"""Conditions on the fields of a message, such as ``status == 1 and mode != OFF``.

    condition   = term { "or" term }
    term        = factor { "and" factor }
    factor      = "not" factor | "(" condition ")" | field [ comparison ]
    comparison  = ( "==" | "!=" | "<" | "<=" | ">" | ">=" ) value | "in" "(" value { "," value } ")"
    value       = number | name of an enumerated value | 'text in quotes'

A field alone means that its number is not 0. Numbers are compared with scaled values, names with enumerated ones.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

__all__ = ["And", "Compare", "Condition", "Not", "Or", "fields_of", "parse_condition"]

_LONGEST: Final = 1000
_DEEPEST: Final = 20
_LARGEST: Final = 1 << 64
_TOKEN = re.compile(
    r"\s*(?:(?P<operator>==|!=|<=|>=|<|>|\(|\)|,)"
    r"|(?P<number>[-+]?(?:0[xX][0-9a-fA-F]+|[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]{1,3})?))(?![\w.])"
    r"|(?P<name>[A-Za-z_][A-Za-z0-9_.\[\]-]*)"
    r"|'(?P<text>[^']*)')"
)


@dataclass(frozen=True, slots=True)
class Compare:
    """A field against values: any of them makes it true. With ``raw`` numbers are compared before they are scaled."""

    field: str
    operator: str
    values: tuple[int | float | str, ...]
    raw: bool = False


@dataclass(frozen=True, slots=True)
class Not:
    """The opposite."""

    part: Condition


@dataclass(frozen=True, slots=True)
class And:
    """All parts hold."""

    parts: tuple[Condition, ...]


@dataclass(frozen=True, slots=True)
class Or:
    """A part holds."""

    parts: tuple[Condition, ...]


Condition = Compare | Not | And | Or


def parse_condition(text: str) -> Condition:
    """Return what a text means. Raises ValueError with the words that follow "is"."""
    if len(text) > _LONGEST:
        raise ValueError(f"longer than {_LONGEST} characters")
    parser = _Parser(list(_tokens(text)))
    condition = parser.condition(0)
    if parser.token[0] != "end":
        raise ValueError(f"no condition: {parser.token[1]!r} is one too many")
    return condition


def fields_of(condition: Condition) -> Iterator[str]:
    """Yield the names of the fields that a condition looks at."""
    if isinstance(condition, Compare):
        yield condition.field
    elif isinstance(condition, Not):
        yield from fields_of(condition.part)
    else:
        for part in condition.parts:
            yield from fields_of(part)


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position, text = 0, text.rstrip()
    while position < len(text):
        match = _TOKEN.match(text, position)
        if match is None:
            raise ValueError(f"no condition: {text[position:][:20]!r} is not understood")
        position = match.end()
        yield str(match.lastgroup), match[str(match.lastgroup)]


class _Parser:
    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = [*tokens, ("end", "the end")]
        self._position = 0

    @property
    def token(self) -> tuple[str, str]:
        return self._tokens[self._position]

    def _take(self) -> tuple[str, str]:
        token = self.token
        self._position = min(self._position + 1, len(self._tokens) - 1)
        return token

    def _accept(self, kind: str, text: str) -> bool:
        if self.token != (kind, text):
            return False
        self._take()
        return True

    def _expect(self, text: str) -> None:
        if not self._accept("operator", text):
            raise ValueError(f"no condition: {text!r} is missing before {self.token[1]!r}")

    def condition(self, depth: int) -> Condition:
        parts = [self._term(depth)]
        while self._accept("name", "or"):
            parts.append(self._term(depth))
        return parts[0] if len(parts) == 1 else Or(tuple(parts))

    def _term(self, depth: int) -> Condition:
        parts = [self._factor(depth)]
        while self._accept("name", "and"):
            parts.append(self._factor(depth))
        return parts[0] if len(parts) == 1 else And(tuple(parts))

    def _factor(self, depth: int) -> Condition:
        if depth > _DEEPEST:
            raise ValueError(f"nested more than {_DEEPEST} times")
        if self._accept("name", "not"):
            return Not(self._factor(depth + 1))
        if self._accept("operator", "("):
            condition = self.condition(depth + 1)
            self._expect(")")
            return condition
        kind, name = self._take()
        if kind != "name" or name in ("and", "or", "in"):
            raise ValueError(f"no condition: {name!r} stands where a field should")
        return self._comparison(name)

    def _comparison(self, field: str) -> Condition:
        kind, text = self.token
        if self._accept("name", "in"):
            return self._among(field)
        if kind != "operator" or text in ("(", ")", ","):
            return Compare(field, "!=", (0,))
        self._take()
        return Compare(field, text, (self._value(),))

    def _among(self, field: str) -> Condition:
        self._expect("(")
        values = [self._value()]
        while self._accept("operator", ","):
            values.append(self._value())
        self._expect(")")
        return Compare(field, "==", tuple(values))

    def _value(self) -> int | float | str:
        kind, text = self._take()
        if kind == "number":
            return _number(text)
        if kind not in ("name", "text"):
            raise ValueError(f"no condition: {text!r} stands where a value should")
        return text


def _number(text: str) -> int | float:
    if "x" in text or "X" in text:
        number: int | float = int(text, 16)
    else:
        number = float(text) if any(c in text for c in ".eE") else int(text)
    if not (math.isfinite(number) if isinstance(number, float) else abs(number) < _LARGEST):
        raise ValueError(f"no condition: {text[:20]} is too large a number")
    return number
