# SPDX-License-Identifier: Apache-2.0
"""Which events to record, by the names of the target's own table."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from vxmon.errors import InputError
from vxmon.wire.types import EventTable, RunConfig, TargetInfo

__all__ = ["Resolver", "TargetView", "select_events"]

# Without these a run has no beginning and no end.
_ALWAYS = "CONTROL"


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
    _check_kinds(table, offered, only, without)
    wanted = {_find(name, events, "event") for name in only}
    unwanted = {_find(name, classes, "class") for name in without}
    return frozenset(
        event.id
        for name, event in events.items()
        if event.klass == _ALWAYS or (event.klass not in unwanted and (not wanted or name in wanted))
    )


def _check_kinds(table: EventTable, offered: frozenset[int], only: Sequence[str], without: Sequence[str]) -> None:
    """Say it when a class is given for an event or the other way round."""
    classes = {event.name: event.klass for event in table.events}
    for name in (name.upper() for name in only):
        members = sorted(event.name for event in table.events if event.klass == name and event.id in offered)
        if members and name not in classes:
            raise InputError(f"{name} is a class, its events are: {', '.join(members)}")
    for name in (name.upper() for name in without):
        if name in classes and name not in classes.values():
            raise InputError(f"{name} is an event, its class is {classes[name]}")
        if name == _ALWAYS:
            raise InputError(f"class {name} cannot be left out: its events (START, STOP ...) belong to every run")


def _find(name: str, known: Iterable[str], what: str) -> str:
    if name.upper() in known:
        return name.upper()
    raise InputError(f"'{name}' is no {what} of this target; there are: {', '.join(sorted(known))}")
