# SPDX-License-Identifier: Apache-2.0
"""What may be asked of events; :mod:`vxmon.trace.selection` says what it means and picks them."""

from __future__ import annotations

from dataclasses import dataclass

from vxmon.trace.span import EVERYTHING, Span

__all__ = ["Selection"]


@dataclass(frozen=True, slots=True)
class Selection:
    """The criteria; an empty one selects everything. Names as the session has them, else numbers."""

    classes: tuple[str, ...] = ()
    events: tuple[str, ...] = ()
    partitions: tuple[str, ...] = ()
    tasks: tuple[str, ...] = ()
    cpus: tuple[int, ...] = ()
    objects: tuple[str, ...] = ()
    span: Span = EVERYTHING
    around: str = ""
    reach_ns: int = 0

    @property
    def everything(self) -> bool:
        """True when it leaves nothing out."""
        return self == Selection()
