# SPDX-License-Identifier: Apache-2.0
"""Small text files, read whole and with a limit."""

from __future__ import annotations

from pathlib import Path
from typing import Final

from vxmon.errors import InputError
from vxmon.image.bytesource import ByteSource

__all__ = ["MAX_TEXT", "read_text"]

MAX_TEXT: Final = 1 << 20
"""Largest file in bytes, where the caller does not say."""


def read_text(path: str, limit: int = MAX_TEXT, encoding: str = "utf-8-sig") -> str:
    """Return a file of text. Raises InputError for anything else, and above the limit in bytes."""
    with ByteSource(Path(path)) as source:
        if source.size > limit:
            raise InputError(f"{path}: {source.size:,} bytes; at most {limit:,} are read")
        data = source.read(0, limit)
    try:
        return data.decode(encoding)
    except UnicodeDecodeError as error:
        line = data.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}:{line}: byte {error.start} is no text ({encoding.removesuffix('-sig')})") from None
