# SPDX-License-Identifier: Apache-2.0
"""Typed access to the keys of one entry of a TOML file, with messages that name file, line, key and what is allowed."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any, Final

from vxmon.config.place import Place
from vxmon.errors import InputError

__all__ = ["LONGEST_TEXT", "Entry", "shown"]

LONGEST_TEXT: Final = 1000
_LARGEST: Final = 1 << 64

Places = Callable[..., Place]


def shown(value: object, limit: int = 60) -> str:
    """Return a value for a message: on one line, not longer than needed to recognise it."""
    text = repr(value) if isinstance(value, (str, int, float, bool)) else _kind(value)
    return text if len(text) <= limit else text[: limit - 3] + "..."


def _kind(value: object) -> str:
    if isinstance(value, list):
        return "an array"
    return "a table" if isinstance(value, dict) else f"a {type(value).__name__}"


class Entry:
    """Keys and values of one message, field or binding.

    Args:
        what: what the entry describes, for messages: ``field``.
        values: by key.
        places: gives the place of something in the file by its path.
        path: of this entry.

    """

    def __init__(self, what: str, values: Mapping[str, Any], places: Places, *path: str | int) -> None:
        self.what = what
        self.values = values
        self.places = places
        self.path = path

    @property
    def place(self) -> Place:
        """Return where the entry begins."""
        return self.places(*self.path)

    def fail(self, key: str, message: str) -> InputError:
        """Return the error for the value of a key."""
        return InputError(f"{self.places(*self.path, key)}: {self.what}.{key} {message}")

    def wrong(self, key: str, allowed: str) -> InputError:
        """Return the error for a value that is not allowed."""
        return self.fail(key, f"is {shown(self.values[key])}; it must be {allowed}")

    def only(self, allowed: Collection[str]) -> None:
        """Refuse keys that have no meaning."""
        for key in self.values:
            if key not in allowed:
                place = self.places(*self.path, key)
                keys = ", ".join(sorted(allowed))
                raise InputError(f"{place}: {self.what} has no key {shown(key)}; keys are {keys}")

    def need(self, key: str) -> Any:
        """Return the value of a key that must be there."""
        if key not in self.values:
            raise InputError(f"{self.place}: {self.what} needs the key {key}")
        return self.values[key]

    def has(self, key: str) -> bool:
        """Tell whether the key is there."""
        return key in self.values

    def text(self, key: str, default: str | None = None) -> str:
        """Return text on one line; without a default the key must be there."""
        if default is not None and key not in self.values:
            return default
        value = self.need(key)
        if not isinstance(value, str) or not value.isprintable() or len(value) > LONGEST_TEXT:
            raise self.wrong(key, f"text on one line of up to {LONGEST_TEXT:,} characters")
        return value

    def name(self, key: str) -> str:
        """Return text that is not empty."""
        value = self.text(key).strip()
        if not value or len(value) > 255:
            raise self.wrong(key, "a name of 1 to 255 characters")
        return value

    def integer(self, key: str, low: int, high: int, default: int | None = None) -> int:
        """Return a whole number between limits."""
        if default is not None and key not in self.values:
            return default
        value = self.need(key)
        if not isinstance(value, int) or isinstance(value, bool) or not low <= value <= high:
            raise self.wrong(key, f"a whole number from {low:,} to {high:,}")
        return value

    def version(self, key: str, known: int) -> None:
        """Raise InputError unless the key says the one version of the format that is known."""
        if key not in self.values:
            raise InputError(f"{self.place}: {self.what} needs the key {key}; write {key} = {known} above all else")
        if self.integer(key, 0, 1 << 31) != known:
            raise self.wrong(key, f"{known}, the version of the format that this program knows")

    def number(self, key: str, default: int | float) -> int | float:
        """Return a finite number."""
        value = self.optional_number(key)
        return default if value is None else value

    def optional_number(self, key: str) -> int | float | None:
        """Return a finite number, or None where the key is missing."""
        value = self.values.get(key)
        if value is None:
            return None
        if not isinstance(value, (int, float)) or isinstance(value, bool) or not _sound(value):
            raise self.wrong(key, "a finite number")
        return value

    def choice(self, key: str, allowed: Collection[str], default: str | None = None) -> str:
        """Return one of some words."""
        if default is not None and key not in self.values:
            return default
        value = self.need(key)
        if not isinstance(value, str) or value not in allowed:
            raise self.wrong(key, f"one of {', '.join(allowed)}")
        return value

    def boolean(self, key: str, *, default: bool) -> bool:
        """Return true or false."""
        value = self.values.get(key, default)
        if not isinstance(value, bool):
            raise self.wrong(key, "true or false")
        return value

    def tables(self, key: str, most: int) -> list[Mapping[str, Any]]:
        """Return the tables of an array; none where the key is missing."""
        value = self.values.get(key, [])
        if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
            raise self.wrong(key, "an array of tables")
        if len(value) > most:
            raise self.fail(key, f"has {len(value):,} entries; {most:,} are possible")
        return value

    def inner(self, what: str, values: Mapping[str, Any], *path: str | int) -> Entry:
        """Return an entry inside this one; ``path`` leads to it."""
        return Entry(what, values, self.places, *self.path, *path)


def _sound(value: int | float) -> bool:
    return math.isfinite(value) if isinstance(value, float) else abs(value) < _LARGEST
