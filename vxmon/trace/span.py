# SPDX-License-Identifier: Apache-2.0
"""A window of time that the user asks for: ``A..B`` from the first record of a boot."""

from __future__ import annotations

import re
from dataclasses import dataclass
from decimal import Decimal
from typing import Final

from vxmon.errors import InputError

__all__ = ["EVERYTHING", "Span", "parse_span", "parse_time"]

_TIME: Final = re.compile(r"([0-9]{1,12}(?:\.[0-9]{1,9})?)(s|ms|us|ns|)")
_NS: Final = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1, "": 10**9}


@dataclass(frozen=True, slots=True)
class Span:
    """From ``begin`` up to before ``end``, in ns since the first record of a boot; None: without bound."""

    begin: int | None = None
    end: int | None = None

    def ticks(self, first: int, hz: int) -> tuple[int | None, int | None]:
        """The bounds as instants of the target's clock."""
        begin, end = (None if t is None else first + t * hz // 10**9 for t in (self.begin, self.end))
        return begin, end

    def __str__(self) -> str:
        """As it is written, with the largest unit."""
        return f"{_text(self.begin)}..{_text(self.end)}"


def _text(ns: int | None) -> str:
    if ns is None:
        return ""
    unit, size = next(((unit, size) for unit, size in _NS.items() if ns >= size), ("s", 10**9))
    whole, rest = divmod(ns, size)
    fraction = str(size + rest)[1:].rstrip("0")
    return f"{whole}.{fraction}{unit}" if fraction else f"{whole}{unit}"


EVERYTHING: Final = Span()


def parse_span(text: str) -> Span:
    """Read ``A..B``; either side may be left out. Times are 1.5s, 200ms, 30us, 10ns or seconds without a unit.

    Raises:
        InputError: it is no time window.

    """
    begin, dots, end = text.strip().partition("..")
    if not dots or not (begin or end):
        raise InputError(f"time window {text!r}: write A..B, for example 1.5s..2s, 200ms.. or ..3")
    span = Span(_ns(begin, text), _ns(end, text))
    if span.begin is not None and span.end is not None and span.end <= span.begin:
        raise InputError(f"time window {text!r}: it ends before it begins")
    return span


def parse_time(text: str) -> int:
    """Read a time as ns: 1.5s, 200ms, 30us, 10ns or seconds without a unit. Raises InputError."""
    match = _TIME.fullmatch(text.strip())
    if match is None:
        raise InputError(f"{text!r} is no time; write for example 1.5s, 200ms or 30us")
    return int(Decimal(match[1]) * _NS[match[2]])


def _ns(text: str, whole: str) -> int | None:
    try:
        return parse_time(text) if text else None
    except InputError as error:
        raise InputError(f"time window {whole!r}: {error}") from error
