# SPDX-License-Identifier: Apache-2.0
"""What stands before the arguments of a line: traceprinter's ``-p`` format.

Codes: ``%%``, ``%c`` clock cycles in hexadecimal, ``%C`` processor, ``%e`` event id, ``%t`` microseconds since the
first event as ``s.mmm.uuuus``, ``%w`` the host's wall-clock time (ISO 8601, UTC, ns), ``%Z`` class, ``%z`` event. Flags
``-`` and ``0``, width and precision as in printf; a negative precision cuts leading characters instead of trailing ones
(QNX traceprinter, 7.0 and later).
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Final

from vxmon.errors import InputError

__all__ = ["DEFAULT_FORMAT", "FORMAT_6", "Code", "Parts", "parse_format"]

# Literal text and conversions, in order.
Parts = list["Code | str"]

DEFAULT_FORMAT: Final = "t:0x%08c CPU:%02C %-16Z:%-18z"
# 6.x: narrower columns, and the low 32 bits of the time only.
FORMAT_6: Final = "t:0x%08.-8c CPU:%02C %-8Z:%-14z"

_CODE: Final = re.compile(r"%(?P<flags>[-0]*)(?P<width>\d*)(?:\.(?P<precision>-?\d*))?(?P<code>.)", re.DOTALL)
_MAX_WIDTH: Final = 200


@dataclass(frozen=True, slots=True)
class Code:
    """One conversion. ``precision`` is None when not given."""

    code: str
    width: int = 0
    left: bool = False
    zero: bool = False
    precision: int | None = None

    def apply(self, text: str) -> str:
        """Format a text as printf would."""
        if self.precision is not None:
            text = text[: self.precision] if self.precision >= 0 else text[self.precision :]
        if self.left:
            return text.ljust(self.width)
        return text.rjust(self.width, "0" if self.zero and self.code in "eC" else " ")


def parse_format(text: str) -> Parts:
    """Split a format into conversions and literal text.

    Raises:
        InputError: a conversion is not known, or the text has control characters.

    """
    if any((ord(c) < 32 and c != "\t") or ord(c) == 127 for c in text):
        raise InputError("a format may not contain control characters: a line is one event")
    parts: Parts = []
    at = 0
    while at < len(text):
        here = text.find("%", at)
        if here != at:
            parts.append(text[at : here if here >= 0 else len(text)])
        if here < 0:
            break
        match = _CODE.match(text, here)
        if match is None:
            raise InputError(f"format: nothing follows the % at the end of {text!r}")
        parts.append("%" if match["code"] == "%" else _code(match))
        at = match.end()
    return parts


def _code(match: re.Match[str]) -> Code:
    if match["code"] not in "cCetwZz":
        raise InputError(f"format: {match[0]!r} is none of %% %c %C %e %t %w %Z %z")
    width = int(match["width"] or 0)
    precision = match["precision"]
    number = None if precision is None else int(precision) if precision not in ("", "-") else 0
    if max(width, abs(number or 0)) > _MAX_WIDTH:
        raise InputError(f"format: {match[0]!r} is wider than {_MAX_WIDTH}")
    flags = match["flags"]
    return Code(match["code"], width, "-" in flags, "0" in flags and "-" not in flags, number)
