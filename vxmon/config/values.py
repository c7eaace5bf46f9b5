# SPDX-License-Identifier: Apache-2.0
"""Numbers, times and names as module configuration files write them.

Each function takes the text and returns the value, or raises ValueError with the words that follow
"attribute X='...' ": the caller knows the place.
"""

from __future__ import annotations

import re
from decimal import Context, Decimal

from vxmon.config.model import INFINITE_TIME

__all__ = ["MAX_NAME", "parse_boolean", "parse_integer", "parse_name", "parse_seconds", "shown"]

MAX_NAME = 30
"""Longest name of ARINC 653 P1 and of the VxWorks 653 schema."""

_INTEGER = re.compile(r"\+?(?:0[xX](?P<hex>[0-9a-fA-F]{1,16})|(?P<dec>[0-9]{1,20}))")
_SECONDS = re.compile(r"[+-]?(?:[0-9]+(?:\.[0-9]*)?|\.[0-9]+)(?:[eE][+-]?[0-9]{1,2})?")
_LONGEST_NUMBER = 64
_LONGEST_TEXT = 255
# Every number the pattern and the length limit let through is exact with this many digits.
_EXACT = Context(prec=200)


def shown(text: str) -> str:
    """Return text for a message: quoted, one line, not longer than needed to recognise it."""
    return repr(text if len(text) <= 60 else text[:57] + "...")


def parse_integer(text: str) -> int:
    """Return an unsigned 64-bit integer written in decimal or as 0x... (leading zeros are decimal)."""
    match = _INTEGER.fullmatch(text.strip()) if len(text) <= _LONGEST_NUMBER else None
    if match is None:
        raise ValueError("is not a number (decimal, or hexadecimal with 0x)")
    value = int(match["hex"], 16) if match["hex"] else int(match["dec"])
    if value >= 1 << 64:
        raise ValueError("is larger than 64 bits")
    return value


def parse_seconds(text: str, *, infinite: bool = False) -> int:
    """Return a time in decimal seconds as whole nanoseconds, exactly; never by way of a float.

    With ``infinite`` the word INFINITE_TIME gives INFINITE_TIME.
    """
    text = text.strip()
    if text == "INFINITE_TIME":
        if infinite:
            return INFINITE_TIME
        raise ValueError("is not a time that makes sense here")
    if len(text) > _LONGEST_NUMBER or not _SECONDS.fullmatch(text):
        raise ValueError("is not a time in seconds")
    value = _EXACT.scaleb(Decimal(text), 9)
    if value != _EXACT.to_integral_value(value):
        raise ValueError("is finer than a nanosecond")
    if not 0 <= value < 1 << 63:
        raise ValueError("is outside the range of 64-bit nanoseconds")
    return int(value)


def parse_boolean(text: str) -> bool:
    """Return an xs:boolean: true, false, 1 or 0."""
    values = {"true": True, "1": True, "false": False, "0": False}
    try:
        return values[text.strip()]
    except KeyError:
        raise ValueError("is neither true, false, 1 nor 0") from None


def parse_name(text: str) -> str:
    """Return a name: not empty, printable, of bounded length. Longer than MAX_NAME is the caller's to judge."""
    text = text.strip()
    if not text:
        raise ValueError("is empty")
    if len(text) > _LONGEST_TEXT:
        raise ValueError(f"is longer than {_LONGEST_TEXT} characters")
    if not text.isprintable():
        raise ValueError("has characters that cannot be printed")
    return text
