# SPDX-License-Identifier: Apache-2.0
"""Which events to record, by the names of the target's own table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from vxmon.errors import InputError
from vxmon.wire.events import EventId
from vxmon.wire.types import EventTable, RunConfig, TargetInfo

__all__ = ["Resolver", "TargetView", "select_events"]

# Without these a run has no beginning and no end.
_ALWAYS = frozenset({EventId.START, EventId.STOP})


@dataclass(frozen=True, slots=True)
class TargetView:
    """What a host knows of a target: its event table, and names of partitions, tasks and objects by index."""

    info: TargetInfo
    table: EventTable
    partitions: Mapping[int, str] = field(default_factory=dict)
    objects: Mapping[int, str] = field(default_factory=dict)
    tasks: Mapping[int, str] = field(default_factory=dict)


class Resolver(Protocol):
    """Makes the configuration of a run when the target is known; ``needs_names``: also its object table."""

    needs_names: bool

    def __call__(self, view: TargetView) -> RunConfig:
        """Make it; raises InputError for what the target does not have."""


def select_events(
    table: EventTable, offered: frozenset[int], only: Sequence[str] = (), without: Sequence[str] = ()
) -> frozenset[int]:
    """Ids of the events to record.

    ``only`` are event names (none: all), to which the events of class CONTROL are added; ``without`` are classes to
    leave out. Names may be in any case.

    Raises:
        InputError: a name that this target does not offer; the message lists those it does.

    """
    events = {event.name: event for event in table.events if event.id in offered}
    classes = {event.klass for event in events.values()}
    wanted = {_find(name, events, "event") for name in only}
    unwanted = {_find(name, classes, "class") for name in without}
    return frozenset(
        event.id
        for name, event in events.items()
        if event.id in _ALWAYS
        or (event.klass not in unwanted and (not wanted or name in wanted or event.klass == "CONTROL"))
    )


def _find(name: str, known: Iterable[str], what: str) -> str:
    if name.upper() in known:
        return name.upper()
    raise InputError(f"'{name}' is no {what} of this target; there are: {', '.join(sorted(known))}")
