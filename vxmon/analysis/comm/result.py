# SPDX-License-Identifier: Apache-2.0
"""The result of ``analyze comm``. All times are ticks of the target's clock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from vxmon.analysis.figures import Figure
from vxmon.analysis.spread import Spread
from vxmon.trace.span import EVERYTHING, Span

__all__ = ["BootComm", "CommResultSet", "Depth", "Flow", "ObjectComm", "Receiving", "Sending", "unique_labels"]


def unique_labels(names: Mapping[int, str]) -> dict[int, str]:
    """The names, with the index behind all but the first of equal ones."""
    labels: dict[int, str] = {}
    used: set[str] = set()
    for index, name in names.items():
        label = name
        while label in used:
            label += f"#{index}"
        labels[index] = label
        used.add(label)
    return labels


@dataclass(frozen=True, slots=True)
class Depth:
    """How many messages waited in a queue over time. ``mean`` is in thousandths; ``most_at`` is when it was deepest.

    ``full_first`` and ``full_last`` are when it became full for the first and the last time, ``longest_full`` how long
    it was so without a break.
    """

    least: Figure
    mean: Figure
    most: Figure
    most_at: int | None
    full: Figure
    times_full: int
    full_first: int | None
    full_last: int | None
    longest_full: int
    unknown: int


@dataclass(frozen=True, slots=True)
class Sending:
    """What an object was sent. ``sent`` are messages that it accepted, ``rate`` that in thousandths per second.

    ``busiest`` is the most in one second, ``busiest_second`` its number from the begin of the observation.
    """

    sent: Figure
    rate: Figure
    busiest: Figure
    busiest_second: int | None
    size: Spread
    period: Spread
    jitter: Spread


@dataclass(frozen=True, slots=True)
class Receiving:
    """What was received of an object.

    ``latency`` is from a message's sending to its first receipt by each receiver, ``age`` to every reading of it.
    ``stale`` are readings that the kernel called so, ``older`` those of messages older than ``refresh``, the period of
    the configuration. ``overwritten`` are messages that were replaced before anybody read them.
    """

    received: Figure
    latency: Spread
    age: Spread
    depth: Depth | None
    stale: Figure
    refresh: int | None
    older: Figure
    overwritten: Figure


@dataclass(frozen=True, slots=True)
class ObjectComm:
    """One object. ``label`` names it in figures and is no other's; other objects are named by their labels, too.

    ``source`` and ``destinations`` are at the other ends of its channel. ``results`` are all calls by their result.
    ``overflow`` are messages that it had no room for. Orphans are counted by the reason for what is missing.
    """

    index: int
    label: str
    name: str
    kind: str
    partition: int | None
    message_size: int
    capacity: int
    channel: int | None
    source: str | None
    destinations: tuple[str, ...]
    results: Mapping[str, Mapping[str, int]]
    sending: Sending | None
    receiving: Receiving | None
    overflow: Figure
    orphan_sends: Mapping[str, int]
    orphan_receives: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Flow:
    """Messages from one partition to another, each counted once a destination; ``sender`` None: not known."""

    sender: int | None
    receiver: int | None
    count: Figure
    octets: Figure


@dataclass(slots=True)
class BootComm:
    """The figures of one boot; ``begin`` and ``end`` are the time that was observed, in ticks."""

    id: int
    number: int
    clock_hz: int
    begin: int
    end: int
    objects: list[ObjectComm] = field(default_factory=list)
    flows: list[Flow] = field(default_factory=list)
    partition_names: Mapping[int, str] = field(default_factory=dict)
    channel_source: str = ""
    left_out: int = 0
    notes: list[str] = field(default_factory=list)


@dataclass(slots=True)
class CommResultSet:
    """What ``analyze comm`` found."""

    boots: list[BootComm]
    span: Span = EVERYTHING
