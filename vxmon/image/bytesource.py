# SPDX-License-Identifier: Apache-2.0
"""A file of which only bounded pieces are ever read."""

from __future__ import annotations

import os
import stat
from pathlib import Path
from types import TracebackType

from vxmon.errors import InputError

__all__ = ["MAX_PIECE", "ByteSource", "printable"]

MAX_PIECE = 1 << 30
"""Largest piece that is read at once: a symbol table, a debug section."""


def printable(raw: bytes, limit: int = 255) -> str:
    """Return a name from a file as text on one line: bytes that are no text become escapes."""
    text = raw[:limit].decode("utf-8", "backslashreplace")
    text = "".join(c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return text + "..." if len(raw) > limit else text


class ByteSource:
    """An open regular file; use it in a with statement. Raises InputError for what cannot be read."""

    def __init__(self, path: Path) -> None:
        self.path = str(path)
        try:
            # Without O_NONBLOCK a FIFO without a writer would hang here.
            self._file = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
        except (OSError, ValueError) as error:
            raise InputError(f"cannot read {path}: {getattr(error, 'strerror', None) or error}") from None
        status = os.fstat(self._file)
        self.size = status.st_size
        if not stat.S_ISREG(status.st_mode):
            os.close(self._file)
            what = "a directory" if stat.S_ISDIR(status.st_mode) else "not a regular file"
            raise InputError(f"cannot read {path}: it is {what}")

    def __enter__(self) -> ByteSource:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, trace: TracebackType | None
    ) -> None:
        os.close(self._file)

    def holds(self, offset: int, size: int) -> bool:
        """Tell whether that piece lies inside the file."""
        return 0 <= offset <= self.size and 0 <= size <= self.size - offset

    def read(self, offset: int, size: int) -> bytes:
        """Return the piece, cut where the file ends. Raises InputError above MAX_PIECE."""
        size = max(0, min(size, self.size - offset))
        if size > MAX_PIECE:
            raise InputError(f"{self.path}: a table of {size:,} bytes is larger than {MAX_PIECE >> 20} MiB")
        pieces: list[bytes] = []
        while size:
            try:
                piece = os.pread(self._file, size, offset)
            except OSError as error:
                raise InputError(f"cannot read {self.path}: {error.strerror}") from None
            if not piece:
                break
            pieces.append(piece)
            offset += len(piece)
            size -= len(piece)
        return b"".join(pieces)
