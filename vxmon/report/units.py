# SPDX-License-Identifier: Apache-2.0
"""Named figures in words: exact numbers with their units, as a file of limits takes them."""

from __future__ import annotations

from fractions import Fraction
from typing import Final

from vxmon.analysis.named import NamedFigure, Unit
from vxmon.report.figures import shown

__all__ = ["amount", "figure_text", "named_text"]

# Unit of a figure -> unit in words, how many of the figure's make one, digits behind the point.
_WORDS: Final[dict[Unit, tuple[str, int, int]]] = {
    "ns": (" us", 1000, 3),
    "bytes": (" bytes", 1, 0),
    "count": ("", 1, 0),
    "millionths": (" %", 10_000, 4),
    "bytes_per_s": (" bytes/s", 1, 3),
    "per_s_thousandths": (" /s", 1000, 3),
}
_NS: Final = 10**9


def amount(value: int | Fraction, unit: Unit) -> str:
    """A number of a unit: ``400.5 us``, ``2 s``, ``4096 bytes``; exact, but for fractions of the last digit."""
    word, factor, digits = _WORDS[unit]
    value = Fraction(value)
    if unit == "ns" and abs(value) >= _NS:
        word, factor, digits = " s", _NS, 9
    return _decimal(value / factor, digits) + word


def figure_text(named: NamedFigure) -> str:
    """The value of a figure, or the range that holds it."""
    return shown(named.figure, lambda value: amount(value, named.unit))


def named_text(named: NamedFigure, *, boots: bool) -> str:
    """The name of a figure; with its boot where a session has several."""
    return f"boot {named.boot}: {named.name}" if boots and named.boot is not None else named.name


def _decimal(value: Fraction, digits: int) -> str:
    """A number with at most so many digits behind the point, without zeros at its end."""
    scaled = round(value * 10**digits)
    sign, scaled = ("-", -scaled) if scaled < 0 else ("", scaled)
    whole, rest = divmod(scaled, 10**digits)
    behind = f"{rest:0{digits}}".rstrip("0") if digits else ""
    return f"{sign}{whole}.{behind}" if behind else f"{sign}{whole}"
