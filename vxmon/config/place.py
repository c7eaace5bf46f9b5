# SPDX-License-Identifier: Apache-2.0
"""Where something is written in a file of the user's, for messages."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = ["Place"]


@dataclass(frozen=True, slots=True)
class Place:
    """Where something is written. ``line`` is counted from 1; 0 stands for the whole file."""

    file: str
    line: int = 0

    def __str__(self) -> str:
        return f"{self.file}:{self.line}" if self.line else self.file
