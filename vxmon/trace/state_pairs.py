# SPDX-License-Identifier: Apache-2.0
"""Entries and exits paired in their own context: kernel calls by task, interrupts by stream and depth.

A call that is entered on one task while another task's call is open belongs to its own task; what is entered before a
loss and left behind it is never paired.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Final

import numpy as np
from numpy.typing import NDArray

__all__ = ["ENTRY", "EXIT", "GAP", "Pairing", "Pairs"]

ENTRY: Final = 0
EXIT: Final = 1
GAP: Final = 2
"""Records are missing here: everything open in the context is forgotten."""

# Entries that may wait for their exits, over all contexts.
_MOST_OPEN: Final = 1 << 16

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Pairs:
    """Spans from an entry to its exit, in order of the exits. Columns of equal length; ticks."""

    context: Ints
    start: Ints
    end: Ints
    what: Ints


@dataclass(slots=True)
class Pairing:
    """Pairs entries with exits over chunks; nested ones innermost first.

    ``unpaired_entries`` never saw their exit (a loss, or the end), ``unpaired_exits`` came without an entry (a loss, or
    the begin).
    """

    unpaired_entries: int = 0
    unpaired_exits: int = 0
    _open: list[Ints] = field(default_factory=lambda: [np.zeros(0, np.int64) for _ in range(3)])

    def feed(self, kind: Ints, context: Ints, time: Ints, what: Ints) -> Pairs:
        """Take rows in order of time: ENTRY, EXIT or GAP in a context (a task, a stream), at a time, of something.

        An exit ends the innermost open entry of its context; if that is of something else, neither has a partner.
        """
        count = len(self._open[0])
        kind = np.concatenate([np.full(count, ENTRY, np.int64), kind])
        context, time, what = (np.concatenate(pair) for pair in zip(self._open, (context, time, what), strict=True))
        order = np.argsort(context, kind="stable")
        kind, context, time, what = kind[order], context[order], time[order], what[order]
        section = _sections(kind, context)
        level = _levels(kind, section)
        entry, exits = _partners(kind, section, level)
        self._keep(entry, exits, (kind, context, time, what), section)
        same = what[entry] == what[exits]
        self.unpaired_entries += int((~same).sum())
        self.unpaired_exits += int((~same).sum())
        entry, exits = entry[same], exits[same]
        by_end = np.argsort(time[exits], kind="stable")
        entry, exits = entry[by_end], exits[by_end]
        return Pairs(context[entry], time[entry], time[exits], what[entry])

    def finish(self) -> None:
        """What is still open has no exit."""
        self.unpaired_entries += len(self._open[0])
        self._open = [column[:0] for column in self._open]

    def _keep(self, entry: Ints, exits: Ints, columns: tuple[Ints, Ints, Ints, Ints], section: Ints) -> None:
        """Entries behind the last gap of their context stay open; all else that has no partner is counted."""
        kind, context, time, what = columns
        alone = np.ones(len(kind), bool)
        alone[entry] = alone[exits] = False
        self.unpaired_exits += int((alone & (kind == EXIT)).sum())
        still = np.flatnonzero(alone & (kind == ENTRY) & _in_last_section(section, context))
        self.unpaired_entries += int((alone & (kind == ENTRY)).sum()) - len(still)
        still = still[np.argsort(time[still], kind="stable")]
        too_many = max(len(still) - _MOST_OPEN, 0)
        self.unpaired_entries += too_many
        still = still[too_many:]
        self._open = [column[still] for column in (context, time, what)]


def _sections(kind: Ints, context: Ints) -> Ints:
    """Numbers of the stretches of a context without a gap; rows are sorted by context."""
    new = np.zeros(len(kind), bool)
    new[1:] = context[1:] != context[:-1]
    return np.cumsum(new | (kind == GAP))


def _levels(kind: Ints, section: Ints) -> Ints:
    """Nesting depth of each entry, and of each exit that of the entry it would end."""
    if not len(kind):
        return np.zeros(0, np.int64)
    new = np.ones(len(kind), bool)
    new[1:] = section[1:] != section[:-1]
    first = np.maximum.accumulate(np.where(new, np.arange(len(kind)), 0))
    total = np.cumsum(np.where(kind == ENTRY, 1, np.where(kind == EXIT, -1, 0)))
    depth = total - np.where(first > 0, total[first - 1], 0)
    level: Ints = np.where(kind == EXIT, depth + 1, depth)
    return level


def _partners(kind: Ints, section: Ints, level: Ints) -> tuple[Ints, Ints]:
    """Positions of entries and of their exits: neighbours among the rows of one section and depth."""
    some = np.flatnonzero(kind != GAP)
    order = some[np.lexsort((some, level[some], section[some]))]
    a, b = order[:-1], order[1:]
    fits = (section[a] == section[b]) & (level[a] == level[b]) & (kind[a] == ENTRY) & (kind[b] == EXIT)
    return a[fits], b[fits]


def _in_last_section(section: Ints, context: Ints) -> NDArray[np.bool_]:
    """Rows of the last section of their context."""
    if not len(section):
        return np.zeros(0, bool)
    new = np.ones(len(context), bool)
    new[1:] = context[1:] != context[:-1]
    last = np.append(np.flatnonzero(new)[1:], len(context)) - 1
    rows: NDArray[np.bool_] = section == section[last][np.cumsum(new) - 1]
    return rows
