# SPDX-License-Identifier: Apache-2.0
"""A second process that helps this one, and leaves nothing behind.

It begins as a copy of this process where that stands. It ends with its work, with :meth:`Second.end`, or when it finds
the pipes to this process closed. While there is one, none of the two starts another by itself.
"""

from __future__ import annotations

import contextlib
import os
import signal
import sys
from collections.abc import Callable
from typing import ClassVar, Never

__all__ = ["Second"]


class Second:
    """The other process, as this one sees it.

    Args:
        work: what it does. Whatever goes wrong there, it ends in silence; this process must find that out.

    Raises:
        OSError: the system gives no further process.

    """

    _running: ClassVar[int] = 0

    def __init__(self, work: Callable[[], None]) -> None:
        self._owner = os.getpid()
        self._ended = False
        Second._running += 1
        try:
            self._process = os.fork()
        except OSError:
            Second._running -= 1
            raise
        if self._process == 0:
            _run(work)

    @classmethod
    def is_free(cls) -> bool:
        """True when there are processors for one, and no other helps already.

        A program with threads of its own is left alone: what they hold at that moment would be held in the other
        process for good.
        """
        threads = sys.modules.get("threading")
        alone = not cls._running and (threads is None or threads.active_count() == 1)
        return alone and hasattr(os, "sched_getaffinity") and len(os.sched_getaffinity(0)) > 1

    def end(self) -> None:
        """End it, wherever it is. May be called again; in a process that did not start it nothing happens."""
        if self._ended or os.getpid() != self._owner:
            return
        self._ended = True
        Second._running -= 1
        # Where the program has ended children waited for, the number may be another process' by now.
        with contextlib.suppress(ChildProcessError, ProcessLookupError):
            if os.waitpid(self._process, os.WNOHANG) == (0, 0):
                os.kill(self._process, signal.SIGKILL)
                os.waitpid(self._process, 0)


def _run(work: Callable[[], None]) -> Never:
    try:
        # An interrupt is for the first process, which ends this one.
        signal.signal(signal.SIGINT, signal.SIG_IGN)
        work()
    finally:
        # Not by way of Python's end: what this process inherited is the other's to clean up.
        os._exit(0)
