# SPDX-License-Identifier: Apache-2.0
"""The event table as typed values; valid by construction (see :mod:`proto.gen.load`)."""

from __future__ import annotations

from dataclasses import dataclass

__all__ = [
    "FIELD_TYPES",
    "MAX_DATA_SLOTS",
    "MAX_ID",
    "VARIABLE_TYPES",
    "Arg",
    "Event",
    "EventTable",
    "Field",
    "GenError",
    "Klass",
]

MAX_ID = 1023
MAX_DATA_SLOTS = 8
# Number of each field type in the serialized table (vxmon.proto, message Field).
FIELD_TYPES = {"u16": 0, "u32": 1, "i32": 2, "x32": 3, "u64": 4, "x64": 5, "text": 6, "bytes": 7}
# Types that take the rest of the record.
VARIABLE_TYPES = frozenset({"text", "bytes"})


class GenError(Exception):
    """The event table, or a tool that the generator runs, is wrong; one line that says how."""


@dataclass(frozen=True, slots=True)
class Klass:
    """A class of events, as selected by ``-F``."""

    id: int
    name: str
    doc: str


@dataclass(frozen=True, slots=True)
class Arg:
    """The 16-bit argument in the header slot."""

    name: str
    kind: str


@dataclass(frozen=True, slots=True)
class Field:
    """A field in the data slots; ``length`` names the field with the valid bytes of ``bytes``."""

    name: str
    type: str
    kind: str = ""
    unit: str = ""
    length: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An event; ``removed`` is the table format that dropped it, 0 while it exists."""

    id: int
    name: str
    klass: str
    doc: str
    arg: Arg
    fields: tuple[Field, ...]
    origin: str
    since: int
    releases: tuple[str, ...]
    combine: bool = False
    removed: int = 0

    @property
    def partition_origin(self) -> bool:
        """True when a partition may record it."""
        return self.origin != "kernel"


@dataclass(frozen=True, slots=True)
class EventTable:
    """All of ``events.toml``, events in order of id."""

    format: int
    classes: tuple[Klass, ...]
    enums: dict[str, dict[int, str]]
    events: tuple[Event, ...]

    @property
    def live(self) -> tuple[Event, ...]:
        """Events that were not removed."""
        return tuple(event for event in self.events if not event.removed)

    @property
    def releases(self) -> tuple[str, ...]:
        """OS releases that offer anything, in order."""
        return tuple(sorted({release for event in self.live for release in event.releases}))

    def of_release(self, release: str) -> tuple[Event, ...]:
        """Events that an OS release offers."""
        return tuple(event for event in self.live if release in event.releases)
