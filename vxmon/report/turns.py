# SPDX-License-Identifier: Apache-2.0
"""Text of many chunks made by two processes in turns.

Both walk through all chunks, and each makes the text of every second one. So nothing travels between them but text, and
what is done twice is only what is cheap: decoding takes a tenth of the time of printing.
"""

from __future__ import annotations

import contextlib
import os
import signal
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

__all__ = ["ENOUGH_EVENTS", "in_turns", "worth_turns"]

ENOUGH_EVENTS: Final = 500_000
"""With fewer events a second process does not pay."""
_LENGTH_BYTES: Final = 8
_PIPE_BYTES: Final = 1 << 20
_F_SETPIPE_SZ: Final = 1031

Text = bytes | bytearray
C = TypeVar("C")


def worth_turns(events: int) -> bool:
    """True when there are events enough, and processors, for a second process."""
    return events >= ENOUGH_EVENTS and len(os.sched_getaffinity(0)) > 1


def in_turns(chunks: Iterator[C], make: Callable[[C], Text]) -> Iterator[Text]:
    """``make(chunk)`` of each chunk, in order.

    Args:
        chunks: gives the same in either process, so it must read files by place, not from where the last read ended.
        make: must not depend on what it made before.

    What the second process does not deliver whole is made here, so that its end changes nothing but the time it takes.

    """
    helper = _Helper.fork(chunks, make)
    try:
        for number, chunk in enumerate(chunks):
            text = helper.take() if number % 2 else None
            yield make(chunk) if text is None else text
    finally:
        helper.end()


class _Helper:
    """The other process, as this one sees it."""

    def __init__(self, process: int, pipe: int) -> None:
        self._process = process
        self._pipe = pipe
        self._whole = True

    @classmethod
    def fork(cls, chunks: Iterator[C], make: Callable[[C], Text]) -> _Helper:
        """Start it where this process stands."""
        source, sink = os.pipe()
        with contextlib.suppress(OSError):
            import fcntl

            fcntl.fcntl(sink, _F_SETPIPE_SZ, _PIPE_BYTES)
        process = os.fork()
        if process == 0:
            os.close(source)
            _help(chunks, make, sink)
        os.close(sink)
        return cls(process, source)

    def take(self) -> Text | None:
        """The text of the next chunk that is the other's; None when it does not come whole."""
        head = self._read(_LENGTH_BYTES)
        text = self._read(int.from_bytes(head, "little")) if head is not None else None
        self._whole = text is not None
        return text

    def _read(self, size: int) -> bytearray | None:
        if not self._whole:
            return None
        data = bytearray(size)
        view = memoryview(data)
        while view:
            count = os.readv(self._pipe, [view])
            if not count:
                return None
            view = view[count:]
        return data

    def end(self) -> None:
        """End it, wherever it is."""
        os.close(self._pipe)
        with contextlib.suppress(ProcessLookupError):
            os.kill(self._process, signal.SIGKILL)
        os.waitpid(self._process, 0)


def _help(chunks: Iterator[C], make: Callable[[C], Text], sink: int) -> None:
    """The other process: every second chunk. Whatever goes wrong, the first process finds that out by itself."""
    try:
        for number, chunk in enumerate(chunks):
            if number % 2:
                text = make(chunk)
                _write(sink, len(text).to_bytes(_LENGTH_BYTES, "little"))
                _write(sink, text)
    finally:
        # Not by way of Python's end: what this process inherited is the other's to clean up.
        os._exit(0)


def _write(sink: int, data: Text) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
