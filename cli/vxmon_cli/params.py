# SPDX-License-Identifier: Apache-2.0
"""Option types shared by commands."""

from __future__ import annotations

import math

import click

__all__ = ["SCENARIOS", "Address", "BootParameter", "Number", "Size", "split_address"]

# Names in the demo kernel (target_c/kernel/core/scenario.c).
SCENARIOS = ("nominal", "overload", "chatter", "bursty", "faults", "leak")
# Boot parameters of the demo kernel that nothing else sets (target_c/kernel/README.md).
_BOOT_PARAMETERS = ("address", "autostart", "clock", "config", "idle", "peer", "rate", "release", "run")

_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_LARGEST = 1 << 50


class Number(click.FloatRange):
    """A number within limits; NaN, which is within all limits, and infinity are none."""

    def convert(self, value: float, param: click.Parameter | None, ctx: click.Context | None) -> float:
        """The number; ``value`` is what click's own range takes, text too."""
        number = super().convert(value, param, ctx)
        if not math.isfinite(number):
            self.fail(f"'{value}' is no finite number", param, ctx)
        return number


class Size(click.ParamType[int]):
    """Bytes, with a suffix k, M or G (powers of 1024)."""

    name = "size"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Number of bytes."""
        if isinstance(value, int):
            return value
        text = str(value).strip().lower()
        digits = text.rstrip("kmg")
        if not digits.isascii() or not digits.isdigit() or text[len(digits) :] not in _FACTORS:
            self.fail(f"'{value}' is no size; write it as 500k, 20M or 1G", param, ctx)
        size = int(digits) * _FACTORS[text[len(digits) :]]
        if not 0 < size <= _LARGEST:
            self.fail(f"'{value}' is out of range", param, ctx)
        return size


class Address(click.ParamType[tuple[str, int]]):
    """HOST or HOST:PORT."""

    name = "address"

    def __init__(self, port: int) -> None:
        self._port = port

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> tuple[str, int]:
        """Host and port."""
        if isinstance(value, tuple):
            return value
        try:
            return split_address(str(value), self._port)
        except ValueError as error:
            self.fail(str(error), param, ctx)


class BootParameter(click.ParamType[str]):
    """KEY=VALUE for the demo kernel."""

    name = "parameter"

    def convert(self, value: object, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """The word, as given."""
        text = str(value)
        key, equals, setting = text.partition("=")
        if not (key and equals and setting) or not text.isascii() or not text.isprintable() or " " in text:
            self.fail(f"'{text}' is no KEY=VALUE (without spaces)", param, ctx)
        if key not in _BOOT_PARAMETERS:
            self.fail(f"'{key}' is no boot parameter; there are: {', '.join(_BOOT_PARAMETERS)}", param, ctx)
        return text


def split_address(text: str, port: int) -> tuple[str, int]:
    """Host and port of ``HOST[:PORT]``.

    Raises:
        ValueError: it is neither; the message says what is wrong.

    """
    host, colon, number = text.rpartition(":")
    if not colon:
        host, number = text, str(port)
    if not host or ":" in host or any(c.isspace() for c in host):
        raise ValueError(f"'{text}' is no HOST or HOST:PORT (IPv4)")
    if not number.isascii() or not number.isdigit() or not 0 < int(number[:9]) <= 0xFFFF or len(number) > 5:
        raise ValueError(f"'{number}' is no UDP port")
    return host, int(number)
