# SPDX-License-Identifier: Apache-2.0
"""Text by columns: numbers and names of many rows at once, as fixed-width bytes padded with NUL.

A piece of a line is constant bytes, or one array with an item a row. NUL stands for nothing and is taken out when all
pieces of all rows are in place, so that pieces of different length need no per-row work.
"""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "Piece",
    "assemble",
    "decimal",
    "decimal_groups",
    "fixed_digits",
    "hexadecimal",
    "hexadecimal_bytes",
    "hexadecimal_groups",
    "hexadecimal_pairs",
    "lookup_table",
    "put_pieces",
    "safe_text",
    "text_bytes",
]

Piece = bytes | NDArray[Any]

_GROUP: Final = 10_000
_BLANK: Final = 2 * _GROUP
_WORD: Final = 1 << 16


def safe_text(text: str, width: int | None = None) -> bytes:
    """Text for a line: everything that is not printable ASCII becomes a dot."""
    safe = bytes(c if 32 <= c < 127 else 46 for c in text.encode("ascii", "replace"))
    return safe if width is None else safe[:width]


@cache
def decimal_groups() -> NDArray[np.uint32]:
    """Four digits: without leading zeros (0 as one zero), with them, and nothing at all."""
    full = _decimal_digits(_GROUP, 4)
    plain = _without_leading_zeros(full, 10)
    plain[0, 3] = ord("0")
    return np.concatenate((plain, full, np.zeros((1, 4), np.uint8))).view(np.uint32)[:, 0]


@cache
def hexadecimal_groups() -> NDArray[np.uint32]:
    """Four digits: with leading zeros, and without (0 as nothing)."""
    pairs = hexadecimal_pairs()
    full = np.stack((np.repeat(pairs, len(pairs)), np.tile(pairs, len(pairs))), axis=1).view(np.uint8)
    return np.concatenate((full, _without_leading_zeros(full, 16))).view(np.uint32)[:, 0]


def _decimal_digits(count: int, width: int) -> NDArray[np.uint8]:
    """The numbers below ``count`` with leading zeros, ``width`` characters a row."""
    powers = 10 ** np.arange(width - 1, -1, -1, dtype=np.uint32)
    digits: NDArray[np.uint32] = np.arange(count, dtype=np.uint32)[:, None] // powers % np.uint32(10)
    return digits.astype(np.uint8) + np.uint8(ord("0"))


def _without_leading_zeros(digits: NDArray[np.uint8], base: int) -> NDArray[np.uint8]:
    """The same with NUL in their places."""
    return digits * (np.arange(len(digits))[:, None] >= base ** np.arange(3, -1, -1))


@cache
def hexadecimal_pairs() -> NDArray[np.uint16]:
    """Two digits of each byte."""
    return np.frombuffer("".join(f"{n:02x}" for n in range(256)).encode(), np.uint16)


def decimal(values: NDArray[Any], shown: NDArray[np.bool_] | None = None) -> list[Piece]:
    """Unsigned numbers without leading zeros; nothing where ``shown`` is false."""
    if not len(values):
        return []
    table = decimal_groups()
    rest: NDArray[Any] = values.astype(np.uint64 if values.dtype.itemsize > 4 else np.uint32)
    pieces: list[Piece] = []
    hidden = np.zeros(len(values), bool) if shown is None else ~shown
    while True:
        upper = rest // _GROUP
        at = (rest - upper * _GROUP).astype(np.int64) + np.where(upper, _GROUP, 0)
        at[hidden] = _BLANK
        pieces.insert(0, table.take(at))
        if not upper.any():
            return pieces
        rest, hidden = upper, hidden | (upper == 0)


def hexadecimal(values: NDArray[Any], digits: int = 8) -> list[Piece]:
    """Unsigned numbers with at least so many digits, a multiple of 4."""
    table = hexadecimal_groups()
    pieces: list[Piece] = []
    groups = digits // 4
    rest: NDArray[Any] = values.astype(np.uint64 if values.dtype.itemsize > 4 else np.uint32)
    while groups > 0 or rest.any():
        low = (rest & (_WORD - 1)).astype(np.int64)
        rest = rest >> 16 if groups > 0 or len(pieces) < 3 else np.zeros_like(rest)
        if groups <= 0:
            low += np.where(rest, 0, _WORD)
        pieces.insert(0, table.take(low))
        groups -= 1
    return pieces


def fixed_digits(values: NDArray[Any], digits: int) -> list[Piece]:
    """Numbers below 10^digits with leading zeros; up to 4 digits."""
    full = decimal_groups()[_GROUP:_BLANK].view(np.uint8).reshape(-1, 4)[:, 4 - digits :]
    return [full[values.astype(np.int64)]]


def hexadecimal_bytes(data: NDArray[np.uint8], lengths: NDArray[Any]) -> Piece:
    """Bytes of each row as pairs of digits, up to the row's length; ``data`` has shape (rows, bytes)."""
    pairs = hexadecimal_pairs()[data]
    pairs[np.arange(data.shape[1]) >= lengths[:, None]] = 0
    return pairs.view(np.uint8)


_SAFE: Final = np.array([0, *(46 if c < 32 or c > 126 else c for c in range(1, 256))], np.uint8)


def text_bytes(data: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Text of each row up to its first NUL; control characters become dots."""
    data = data * np.logical_and.accumulate(data != 0, axis=1)
    return _SAFE[data]


def lookup_table(texts: Iterable[bytes]) -> NDArray[np.void]:
    """Texts as items of equal width, to take() from."""
    texts = list(texts)
    width = max((len(t) for t in texts), default=0) or 1
    return np.frombuffer(b"".join(t.ljust(width, b"\0") for t in texts), f"V{width}")


def assemble(rows: int, pieces: Iterable[Piece]) -> NDArray[np.uint8]:
    """Lay pieces side by side; shape (rows, bytes)."""
    pieces = list(pieces)
    widths = [_width(piece) for piece in pieces]
    block = np.empty((rows, sum(widths)), np.uint8)
    block[:] = np.frombuffer(
        b"".join(p if isinstance(p, bytes) else bytes(w) for p, w in zip(pieces, widths, strict=True)), np.uint8
    )
    put_pieces(block, pieces, 0)
    return block


def put_pieces(block: NDArray[np.uint8], pieces: Iterable[Piece], at: int) -> int:
    """Store the arrays among pieces from column ``at`` on; constants are not touched. Returns the next column."""
    flat = block.reshape(-1)
    for piece in pieces:
        width = _width(piece)
        if not isinstance(piece, bytes) and width:
            items = piece if piece.ndim == 1 else np.ascontiguousarray(piece).view(f"V{width}").reshape(-1)
            spot = np.dtype({"names": ["x"], "formats": [items.dtype], "offsets": [at], "itemsize": block.shape[1]})
            flat.view(spot)["x"] = items
        at += width
    return at


def _width(piece: Piece) -> int:
    if isinstance(piece, bytes):
        return len(piece)
    return piece.dtype.itemsize if piece.ndim == 1 else piece.shape[1] * piece.dtype.itemsize
