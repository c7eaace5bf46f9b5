# SPDX-License-Identifier: Apache-2.0
"""Where a session's bytes go: a file, a pipe or standard output, append-only and unbuffered."""

from __future__ import annotations

import contextlib
import ctypes
import errno
import functools
import os
import select
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Final, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import OutputError

__all__ = ["FileSink", "OutputClosedError", "copy_file"]

_STDOUT: Final = 1
_PIECE: Final = 1 << 20
# struct iovec; a call takes at most so many.
_VECTOR: Final = np.dtype([("base", "<u8"), ("size", "<u8")])
_MOST_PARTS: Final = 1024
_FULL: Final = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)

D = TypeVar("D")


class OutputClosedError(OutputError):
    """The reader of the pipe that a session is written to has closed it."""


class FileSink:
    """Appends bytes to a file descriptor. ``written`` counts them.

    When :meth:`write` has returned, the operating system has the bytes: they survive the end of this process. When it
    fails, a file is cut back to what it was before: it has no half blocks.

    Raises:
        OutputError: the bytes could not be written; :class:`OutputClosedError` when a pipe's reader is gone.

    """

    def __init__(self, descriptor: int, name: str) -> None:
        self.written = 0
        self.name = name
        self._whole = 0
        self._descriptor = descriptor

    @classmethod
    def open(cls, path: str) -> Self:
        """Create a file, or open a FIFO or device; ``-`` is standard output.

        Opening a FIFO waits for its reader.

        Raises:
            OutputError: it cannot be opened for writing.

        """
        if path == "-":
            return cls(os.dup(_STDOUT), "standard output")
        try:
            return cls(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666), path)
        except OSError as error:
            raise OutputError(f"{path}: cannot be written: {error.strerror}") from error

    @property
    def is_regular(self) -> bool:
        """True for a file on a disk, false for a pipe or terminal."""
        return stat.S_ISREG(os.fstat(self._descriptor).st_mode)

    @property
    def is_terminal(self) -> bool:
        """True when a person would see the bytes."""
        return os.isatty(self._descriptor)

    def write(self, data: bytes | bytearray | memoryview, *, more: bool = False) -> None:
        """Write everything; waits while a pipe is full. With ``more`` a block may end behind these bytes."""
        view = memoryview(data)
        while view:
            view = view[self._once(os.write, view) :]
        if not more:
            self._whole = self.written

    def write_rows(self, table: NDArray[np.uint8], sizes: NDArray[np.int64]) -> None:
        """Write the first ``sizes[i]`` bytes of each row of a table (C order), one behind the other."""
        vectors = np.empty(len(sizes), _VECTOR)
        vectors["base"] = table.ctypes.data + np.arange(len(sizes), dtype=np.uint64) * table.shape[1]
        vectors["size"] = sizes
        while len(vectors):
            vectors = _behind(vectors, self._once(_writev, vectors))
        self._whole = self.written

    def _once(self, write: Callable[[int, D], int], data: D) -> int:
        """Ask the system once to write; returns how many bytes it took, 0 after it had to be waited for."""
        try:
            count = write(self._descriptor, data)
        except InterruptedError:
            return 0
        except BlockingIOError:
            select.select((), (self._descriptor,), ())
            return 0
        except BrokenPipeError as error:
            raise OutputClosedError(f"{self.name}: closed by its reader") from error
        except OSError as error:
            self._cut()
            raise OutputError(self._why(error)) from error
        self.written += count
        return count

    def _cut(self) -> None:
        """Take away what a write that failed left behind."""
        with contextlib.suppress(OSError):
            if self.is_regular:
                os.ftruncate(self._descriptor, self._whole)
                self.written = self._whole

    def _why(self, error: OSError) -> str:
        what = (
            f"no room for more ({error.strerror})" if error.errno in _FULL else f"cannot be written: {error.strerror}"
        )
        rest = f"its first {self.written} bytes can be read" if self.written else "nothing is stored"
        return f"{self.name}: {what}; {rest}"

    def sync(self) -> None:
        """Bring the bytes to the disk, where there is one."""
        try:
            os.fsync(self._descriptor)
        except OSError as error:
            if error.errno not in (errno.EINVAL, errno.EROFS, errno.ENOTSUP):
                raise OutputError(self._why(error)) from error

    def close(self) -> None:
        """Close; may be called again."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            try:
                os.close(descriptor)
            except OSError as error:
                raise OutputError(self._why(error)) from error


@functools.cache
def _library() -> ctypes.CDLL:
    library = ctypes.CDLL(None, use_errno=True)
    library.writev.restype = ctypes.c_ssize_t
    return library


def _writev(descriptor: int, vectors: NDArray[np.void]) -> int:
    """writev(2): os.writev wants a Python object for each part. Raises OSError."""
    count = int(_library().writev(descriptor, ctypes.c_void_p(vectors.ctypes.data), min(len(vectors), _MOST_PARTS)))
    if count < 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))
    return count


def _behind(vectors: NDArray[np.void], count: int) -> NDArray[np.void]:
    """What is left when the first ``count`` bytes are written."""
    ends = np.cumsum(vectors["size"].astype(np.int64))
    whole = int(np.searchsorted(ends, count, side="right"))
    left = vectors[whole:]
    part = count - int(ends[whole - 1]) if whole else count
    if part:
        left["base"][0] += np.uint64(part)
        left["size"][0] -= np.uint64(part)
    return left


def copy_file(source: Path, sink: FileSink, start: int = 0) -> None:
    """Append a file's bytes from ``start`` on, in pieces."""
    with source.open("rb") as file:
        file.seek(start)
        left = os.fstat(file.fileno()).st_size - start
        while left > 0 and (piece := file.read(min(left, _PIECE))):
            left -= len(piece)
            sink.write(piece, more=left > 0)
