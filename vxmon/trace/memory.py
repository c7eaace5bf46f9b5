# SPDX-License-Identifier: Apache-2.0
"""Has the C library keep memory that is freed, as arrays of the same sizes come and go with each part of a session."""

from __future__ import annotations

import numpy as np

__all__ = ["keep_freed"]


def keep_freed(size: int) -> None:
    """Have twice ``size`` bytes of what is freed kept for what comes next; nothing where the C library is not glibc.

    glibc gives back what is above twice the largest piece freed so far (mallopt(3), M_MMAP_THRESHOLD). By the arrays of
    parts alone that is so little that it returns and fetches most of them again and again, up to a third of the time.
    Of an array that is not written to nothing is fetched.
    """
    np.empty(size, np.uint8)
