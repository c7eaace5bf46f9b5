# SPDX-License-Identifier: Apache-2.0
"""Different numbers of a batch."""

from __future__ import annotations

from typing import Any

from numpy.typing import NDArray

__all__ = ["distinct"]


def distinct(values: NDArray[Any]) -> list[int]:
    """The different numbers among some thousand, ascending.

    numpy's own function would load numpy.ma first, which takes longer than a small session.
    """
    if len(values) and (values == values[0]).all():
        return [int(values[0])]
    return sorted(set(values.tolist()))
