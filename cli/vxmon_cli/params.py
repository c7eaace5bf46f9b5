# SPDX-License-Identifier: Apache-2.0
"""Option types shared by commands."""

from __future__ import annotations

import click

__all__ = ["Address", "Size", "split_address"]

_FACTORS = {"": 1, "k": 1 << 10, "m": 1 << 20, "g": 1 << 30}
_LARGEST = 1 << 50


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
