# SPDX-License-Identifier: Apache-2.0
"""Limits for the figures of sessions, as a TOML file (``limits.toml``); ``vxmon check`` judges by them.

    format = 1
    background = ["nav_spare"]              # processes whose time is margin, as idle time is
    window = "1s.."                         # judge only this time of a session

    [[rule]]
    figure = "partition.NAV.margin.min"     # * stands for anything, dots included
    min = "10 %"                            # or max, or both
    severity = "warn"                       # the default is error
    note = "requirement 4711"               # shown with the verdict

Every error names the file, the line, the key and what is allowed.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from fractions import Fraction
from typing import Final, Literal, cast

from vxmon.config.entries import Entry
from vxmon.config.place import Place
from vxmon.config.tomlfile import read_toml
from vxmon.errors import InputError
from vxmon.trace.span import EVERYTHING, Span, parse_span

__all__ = ["FORMAT", "MOST_RULES", "Dimension", "Limit", "Limits", "Pattern", "Rule", "Severity", "Side", "read_limits"]

FORMAT: Final = 1
"""Grows when a file that was right would be read in another way."""
MOST_RULES: Final = 1000

Severity = Literal["warn", "error"]
Side = Literal["min", "max"]
Dimension = Literal["time", "size", "count", "share", "size_rate", "rate"]
"""What a limit counts: ns, bytes, things, parts of a whole, bytes a second, things a second."""

_ROOT_KEYS: Final = frozenset({"format", "window", "background", "rule"})
_RULE_KEYS: Final = frozenset({"figure", "min", "max", "severity", "note"})
_MOST_NAMES: Final = 1024
_LIMIT: Final = re.compile(r"([+-]?[0-9]{1,15}(?:\.[0-9]{1,9})?)[ ]*([^\s0-9].*)?")
_TIMES: Final = {"ns": 1, "us": 10**3, "ms": 10**6, "s": 10**9}
_SIZES: Final = {"byte": 1, "bytes": 1, "B": 1, "KiB": 1 << 10, "MiB": 1 << 20, "GiB": 1 << 30}
_PER: Final = {"s": 1, "min": 60, "h": 3600}
_ALLOWED: Final = 'a number, or one with a unit such as "10 %", "400 us", "4 KiB", "2 /s" or "16 bytes/h"'


@dataclass(frozen=True, slots=True)
class Limit:
    """A bound: ns, bytes, a count, a share of 1, bytes or things a second, by ``dimension``. ``text`` is as written."""

    value: Fraction
    dimension: Dimension
    text: str


@dataclass(frozen=True, slots=True)
class Pattern:
    """Names of figures, with ``*`` for any characters, dots included."""

    text: str

    @property
    def head(self) -> str:
        """What every name that matches begins with."""
        return self.text.partition("*")[0]

    def matches(self, name: str) -> bool:
        """Tell whether a name fits; the time is linear in its length, whatever the pattern."""
        first, *middle = self.text.split("*")
        if not middle:
            return name == first
        last = middle.pop()
        if not name.startswith(first) or len(name) < len(first) + len(last):
            return False
        at, end = len(first), len(name) - len(last)
        for part in middle:
            at = name.find(part, at, end)
            if at < 0:
                return False
            at += len(part)
        return name.endswith(last)


@dataclass(frozen=True, slots=True)
class Rule:
    """Bounds for the figures that a pattern names. At least one of ``low`` and ``high`` is there."""

    pattern: Pattern
    low: Limit | None
    high: Limit | None
    severity: Severity
    note: str
    place: Place
    places: Mapping[Side, Place]

    @property
    def bounds(self) -> list[tuple[Side, Limit]]:
        """The bounds that are there."""
        found: list[tuple[Side, Limit | None]] = [("min", self.low), ("max", self.high)]
        return [(side, limit) for side, limit in found if limit is not None]


@dataclass(frozen=True, slots=True)
class Limits:
    """A file of limits as it was read."""

    path: str
    rules: tuple[Rule, ...]
    span: Span = EVERYTHING
    background: tuple[str, ...] = ()
    places: Mapping[str, Place] = field(default_factory=dict)


def read_limits(path: str) -> Limits:
    """Read a file of limits.

    Raises:
        InputError: it cannot be read, or breaks the format.

    """
    file = read_toml(path)
    root = Entry("limits", file.data, file.place)
    root.only(_ROOT_KEYS)
    root.version("format", FORMAT)
    span, background = _span(root), _background(root)
    tables = root.tables("rule", MOST_RULES)
    if not tables:
        raise InputError(f"{path}: there is no rule; write [[rule]] with figure and min or max")
    rules = tuple(_rule(root.inner("rule", table, "rule", index)) for index, table in enumerate(tables))
    return Limits(path, rules, span, background, {key: file.place(key) for key in sorted(_ROOT_KEYS)})


def _span(root: Entry) -> Span:
    if not root.has("window"):
        return EVERYTHING
    try:
        return parse_span(root.text("window"))
    except InputError as error:
        raise root.fail("window", f"is no time window: {error}") from None


def _background(root: Entry) -> tuple[str, ...]:
    names = root.values.get("background", [])
    good = isinstance(names, list) and len(names) <= _MOST_NAMES
    if not good or not all(isinstance(name, str) and 0 < len(name) <= 255 for name in names):
        raise root.wrong("background", f"a list of up to {_MOST_NAMES} names of processes")
    return tuple(names)


def _rule(entry: Entry) -> Rule:
    entry.only(_RULE_KEYS)
    pattern = Pattern(entry.name("figure"))
    low, high = _limit(entry, "min"), _limit(entry, "max")
    if low is None and high is None:
        raise InputError(f"{entry.place}: rule for {pattern.text} needs min, max or both")
    if low and high and low.dimension == high.dimension and low.value > high.value:
        raise entry.fail("max", f"is {high.text}, below min {low.text}")
    places: dict[Side, Place] = {
        "min": entry.places(*entry.path, "min"),
        "max": entry.places(*entry.path, "max"),
    }
    severity = cast("Severity", entry.choice("severity", ("warn", "error"), "error"))
    return Rule(pattern, low, high, severity, entry.text("note", ""), entry.place, places)


def _limit(entry: Entry, key: str) -> Limit | None:
    value = entry.values.get(key)
    if value is None:
        return None
    text = value if isinstance(value, str) else str(value)
    match = None if isinstance(value, bool) or not text.isprintable() else _LIMIT.fullmatch(text.strip())
    found = None if match is None else _scaled(Fraction(match[1]), (match[2] or "").replace(" ", ""))
    if found is None or not isinstance(value, (str, int, float)):
        raise entry.wrong(key, _ALLOWED)
    return Limit(*found, text.strip())


def _scaled(number: Fraction, unit: str) -> tuple[Fraction, Dimension] | None:
    """A number in base units; None for a unit that is none."""
    unit = unit.replace("µ", "u").replace("μ", "u")
    if unit == "%":
        return number / 100, "share"
    if unit in _TIMES:
        return number * _TIMES[unit], "time"
    what, slash, per = unit.partition("/")
    if (slash and per not in _PER) or (what and what not in _SIZES):
        return None
    scaled = number * _SIZES.get(what, 1) / (_PER[per] if slash else 1)
    if slash:
        return scaled, "size_rate" if what else "rate"
    return scaled, "size" if what else "count"
