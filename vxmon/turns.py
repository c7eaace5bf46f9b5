# SPDX-License-Identifier: Apache-2.0
"""Work on many items done by two processes in turns.

Both walk through all items, and each makes something of every second one. So nothing travels between them but what was
made, and what is done twice is only the walk, which must be cheap.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator
from typing import Final, TypeVar

from vxmon.second import Second

__all__ = ["ENOUGH_EVENTS", "Data", "in_turns", "worth_turns"]

ENOUGH_EVENTS: Final = 500_000
"""With fewer events to print a second process does not pay."""
_LENGTH_BYTES: Final = 8
_PIPE_BYTES: Final = 1 << 20
_F_SETPIPE_SZ: Final = 1031

Data = bytes | bytearray
C = TypeVar("C")


def worth_turns(amount: int, enough: int) -> bool:
    """True when there is enough to do for a second process, and one can be had."""
    return amount >= enough and Second.is_free()


def in_turns(items: Iterator[C], make: Callable[[C], Data]) -> Iterator[Data]:
    """``make(item)`` of each item, in order.

    Args:
        items: gives the same in either process, so it must read files by place, not from where the last read ended.
        make: must not depend on what it made before.

    What the second process does not deliver whole is made here, so that its end changes nothing but the time it takes.

    """
    helper = _Helper.fork(items, make)
    try:
        for number, item in enumerate(items):
            data = helper.take() if number % 2 else None
            yield make(item) if data is None else data
    finally:
        helper.end()


class _Helper:
    """The other process, as this one sees it."""

    def __init__(self, process: Second, pipe: int) -> None:
        self._process = process
        self._pipe = pipe
        self._whole = True

    @classmethod
    def fork(cls, items: Iterator[C], make: Callable[[C], Data]) -> _Helper:
        """Start it where this process stands."""
        source, sink = os.pipe()
        with contextlib.suppress(OSError):
            import fcntl

            fcntl.fcntl(sink, _F_SETPIPE_SZ, _PIPE_BYTES)

        def work() -> None:
            os.close(source)
            _help(items, make, sink)

        process = Second(work)
        os.close(sink)
        return cls(process, source)

    def take(self) -> bytearray | None:
        """What was made of the next item that is the other's; None when it does not come whole."""
        head = self._read(_LENGTH_BYTES)
        data = self._read(int.from_bytes(head, "little")) if head is not None else None
        self._whole = data is not None
        return data

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
        self._process.end()


def _help(items: Iterator[C], make: Callable[[C], Data], sink: int) -> None:
    """The other process: every second item. Whatever goes wrong, the first process finds that out by itself."""
    for number, item in enumerate(items):
        if number % 2:
            data = make(item)
            _write(sink, len(data).to_bytes(_LENGTH_BYTES, "little"))
            _write(sink, data)


def _write(sink: int, data: Data) -> None:
    view = memoryview(data)
    while view:
        view = view[os.write(sink, view) :]
