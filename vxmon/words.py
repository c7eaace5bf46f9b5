# SPDX-License-Identifier: Apache-2.0
"""Numbers in sentences."""

from __future__ import annotations

__all__ = ["counted"]


def counted(number: int, noun: str, plural: str = "") -> str:
    """``1 place``, ``2 places``; ``plural`` where an s does not make it."""
    return f"{number} {noun if number == 1 else plural or noun + 's'}"
