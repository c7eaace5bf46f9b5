# SPDX-License-Identifier: Apache-2.0
"""Signals that end a capture: noted from the first moment on, long before there is a capture to stop."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import FrameType

__all__ = ["STOP", "Stop"]

_BOTH = (signal.SIGINT, signal.SIGTERM)
# The terminal has gone, or ctrl-\: as long as nobody wants them ignored (nohup does).
_TERMINAL = (signal.SIGHUP, signal.SIGQUIT)
_INTERRUPTED = 128


class Stop:
    """The first signal asks for an end in good order, the second ends at once.

    Before :meth:`ready` a signal is only noted: an exception within an import may be taken for a broken module.
    """

    def __init__(self) -> None:
        self.number = 0
        self.capture: Callable[[], None] | None = None
        self._ready = False

    @property
    def status(self) -> int:
        """Exit status of a command that a signal ended."""
        return _INTERRUPTED + (self.number or signal.SIGINT)

    def install(self) -> None:
        """Handle the signals from now on, also a SIGINT that a shell ignores for its background jobs."""
        for number in (*_BOTH, *(n for n in _TERMINAL if signal.getsignal(n) != signal.SIG_IGN)):
            signal.signal(number, self)

    @contextmanager
    def ready(self) -> Iterator[None]:
        """From here on a signal raises KeyboardInterrupt, until ``capture`` says how to stop one in good order."""
        self._ready = True
        try:
            if self.number:
                raise KeyboardInterrupt
            yield
        finally:
            self._ready, self.capture = False, None

    def __call__(self, number: int, frame: FrameType | None) -> None:
        """Take a signal."""
        del frame
        if self.number and number == signal.SIGHUP:
            return  # a shell that ends sends it too, after the terminal did
        first, self.number = not self.number, self.number or number
        if first and self.capture is not None:
            self.capture()
        elif self._ready or not first:
            raise KeyboardInterrupt


STOP = Stop()
