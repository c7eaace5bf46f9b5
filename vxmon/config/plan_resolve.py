# SPDX-License-Identifier: Apache-2.0
"""From a plan with names to the configuration of a run for one target, and back to words."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Final

from vxmon.config.plan import CollectionPlan
from vxmon.link.selection import TargetView
from vxmon.wire.events import EventId
from vxmon.wire.types import Payload, Policy, RunConfig

__all__ = ["PlanResolver", "resolve_plan"]

_ALWAYS: Final = "CONTROL"
_PERIODS: Final = ("memory_ms", "stack_ms", "operations_ms")


def resolve_plan(plan: CollectionPlan, view: TargetView) -> RunConfig:
    """Make the configuration of a run for a target.

    Raises:
        InputError: a name that the target does not have; the message lists those it has.

    """
    get = plan.value
    return RunConfig(
        events=_events(plan, view),
        datagram_bytes=get("upload", "datagram_bytes", 0),
        unit_slots=get("buffers", "unit_slots", 0),
        units=get("buffers", "units", 0),
        policy=Policy.LINEAR if get("buffers", "type") == "linear" else Policy.RING,
        high_water=get("buffers", "high_water_percent", 0),
        flush_ms=get("buffers", "flush_ms", 0),
        one_way=get("upload", "mode") == "one_way",
        no_upload=get("upload", "mode") == "at_stop",
        max_ticks=round(get("stop", "seconds", 0) * view.info.clock_hz),
        hidden_partitions=_hidden(plan, "partitions", view.partitions),
        hidden_objects=_hidden(plan, "objects", view.objects),
        payload=Payload[get("messages", "payload", "metadata").upper()],
        content_bytes=get("messages", "content_bytes", 0),
        fast=get("recording", "fast", False),
        grow_units=get("buffers", "grow_units", 0),
        max_units=get("buffers", "max_units", 0),
        max_records=get("stop", "records", 0),
        stop_when_full=get("stop", "when_full", False),
        **{period: get("sampling", period) for period in _PERIODS},
    )


def _events(plan: CollectionPlan, view: TargetView) -> frozenset[int]:
    """Ids of the events to record; CONTENT goes with the payload mode, not with its class."""
    known = {event.name: event for event in view.table.events}
    offered = {name: event for name, event in known.items() if event.id in view.info.offered}
    classes = {event.klass for event in offered.values()}
    wanted_classes = {_find(plan, "classes", name, classes, "class", view) for name in plan.names("events", "classes")}
    wanted = {_find(plan, "events", name, offered, "event", view) for name in plan.names("events", "events")}
    unwanted = {
        _find(plan, "without", name, [*classes, *offered], "class or event", view)
        for name in plan.names("events", "without")
    }
    every = plan.value("events", "classes") is None and plan.value("events", "events") is None
    chosen = {
        event.id
        for name, event in offered.items()
        if (every or event.klass in wanted_classes or event.klass == _ALWAYS or name in wanted)
        and ((event.klass not in unwanted and name not in unwanted) or name in wanted)
    }
    chosen.discard(EventId.CONTENT)
    if plan.value("messages", "payload") == "content":
        if EventId.CONTENT not in view.info.offered:
            plan.refuse("messages", "payload", "this target does not offer the event CONTENT")
        chosen.add(EventId.CONTENT)
    return frozenset(chosen)


def _find(plan: CollectionPlan, key: str, name: str, known: Collection[str], what: str, view: TargetView) -> str:
    if name.upper() not in known:
        there = ", ".join(sorted(known))
        plan.refuse("events", key, f"release {view.info.os_release} offers no {what} '{name}'; there are: {there}")
    return name.upper()


def _hidden(plan: CollectionPlan, what: str, names: Mapping[int, str]) -> frozenset[int]:
    """Indices whose events are not recorded. An object's name may be that of several: all of them are meant."""
    shown, hidden = plan.value("filters", what), plan.value("filters", f"without_{what}")
    if shown is None and hidden is None:
        return frozenset()
    key = what if shown is not None else f"without_{what}"
    given = set(shown if shown is not None else hidden)
    for name in sorted(given - set(names.values())):
        there = ", ".join(sorted(set(names.values()))) or "none"
        plan.refuse("filters", key, f"this target has no {what.removesuffix('s')} '{name}'; there are: {there}")
    return frozenset(index for index, name in names.items() if (name in given) == (shown is None))


class PlanResolver:
    """A plan, to be resolved when the target is known."""

    def __init__(self, plan: CollectionPlan) -> None:
        self.plan = plan
        self.needs_names = bool(plan.sections.get("filters"))

    def __call__(self, view: TargetView) -> RunConfig:
        """Make the configuration of a run; raises InputError."""
        return resolve_plan(self.plan, view)
