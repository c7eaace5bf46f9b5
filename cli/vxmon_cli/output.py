# SPDX-License-Identifier: Apache-2.0
"""Where results go: standard output or a file, whole and without buffers in between."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path

from vxmon.errors import InputError, OutputError

__all__ = ["Write", "default_sigpipe", "keep_apart", "open_output"]

Write = Callable[[bytes | bytearray | memoryview], None]


def default_sigpipe() -> None:
    """End silently when the reader of our output has gone, as ``| head`` does."""
    signal.signal(signal.SIGPIPE, signal.SIG_DFL)


def keep_apart(sources: Iterable[str], output: str | None) -> None:
    """Refuse to write over a file that is read; raises InputError."""
    if output is None or output == "-" or not Path(output).is_file():
        return
    for source in sources:
        if Path(source).exists() and Path(source).samefile(output):
            raise InputError(f"{output}: is read and cannot be the output too")


@contextmanager
def open_output(path: str | None) -> Iterator[Write]:
    """A function that writes bytes to a file, or to standard output for None and ``-``.

    Raises:
        OutputError: it cannot be written; also from the function.

    """
    if path in (None, "-"):
        yield lambda data: _write(1, data, "standard output")
        return
    name = str(path)
    try:
        descriptor = os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_CLOEXEC, 0o666)
    except (OSError, ValueError) as error:
        raise OutputError(f"{name}: cannot be written: {getattr(error, 'strerror', error)}") from error
    try:
        yield lambda data: _write(descriptor, data, name)
    finally:
        os.close(descriptor)


def _write(descriptor: int, data: bytes | bytearray | memoryview, name: str) -> None:
    view = memoryview(data)
    try:
        while view:
            view = view[os.write(descriptor, view) :]
    except OSError as error:
        raise OutputError(f"{name}: cannot be written: {error.strerror}") from error
