# SPDX-License-Identifier: Apache-2.0
"""Numbers of messages, which are counted in 32 bits on the target, as numbers that do not wrap."""

from __future__ import annotations

from typing import Final

import numpy as np

from vxmon.analysis.comm.messages import Ints

__all__ = ["Numbering"]

_BITS: Final = 32
_HALF: Final = 1 << (_BITS - 1)
# Where the first number is put, so that earlier ones, too, come out positive.
_BASE: Final = 1 << 40


class Numbering:
    """The messages of one source. ``numbered`` is false until the kernel gave a number other than 0."""

    def __init__(self) -> None:
        self.numbered = False
        self._raw = 0
        self._whole: int | None = None

    def note(self, numbers: Ints) -> None:
        """See whether there are numbers at all."""
        self.numbered = self.numbered or bool(numbers.any())

    def count(self, numbers: Ints) -> Ints:
        """Numbers of messages in the order in which they were sent; the last one is the latest from now on."""
        if not len(numbers):
            return numbers
        if self._whole is None:
            self._raw, self._whole = int(numbers[0]), _BASE + int(numbers[0])
        steps = np.diff(numbers, prepend=self._raw)
        whole = self._whole + np.cumsum(_signed(steps))
        self._raw, self._whole = int(numbers[-1]), int(whole[-1])
        return whole

    def place(self, numbers: Ints) -> Ints:
        """Numbers of messages that were received, as near to the latest that was sent as can be."""
        if self._whole is None:
            if not len(numbers):
                return numbers
            self._raw, self._whole = int(numbers[0]), _BASE + int(numbers[0])
        return self._whole + _signed(numbers - self._raw)


def _signed(steps: Ints) -> Ints:
    return (steps + _HALF) % (1 << _BITS) - _HALF
