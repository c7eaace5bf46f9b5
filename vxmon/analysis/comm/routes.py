# SPDX-License-Identifier: Apache-2.0
"""Which objects are connected: the channels of the module's configuration, on the objects of a session."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Final

from vxmon.config.model import ChannelConfig, ModuleConfig, PortConfig
from vxmon.trace.names import Names
from vxmon.wire.events import ObjectType
from vxmon.wire.types import ObjectEntry

__all__ = ["QUEUES", "SELF_CONTAINED", "Routes", "make_routes"]

QUEUES: Final = frozenset({ObjectType.MESSAGE_QUEUE, ObjectType.BUFFER, ObjectType.QUEUING_PORT})
"""Objects in which messages wait in line."""
SELF_CONTAINED: Final = frozenset({ObjectType.MESSAGE_QUEUE, ObjectType.BUFFER, ObjectType.BLACKBOARD})
"""Objects that are received from where they are sent to."""
_PORTS: Final = frozenset({ObjectType.SAMPLING_PORT, ObjectType.QUEUING_PORT})
_KINDS: Final = {"sampling": ObjectType.SAMPLING_PORT, "queuing": ObjectType.QUEUING_PORT}

Key = tuple[str, str]


@dataclass(slots=True)
class Routes:
    """By index of objects. ``refresh_ns``: of destinations. ``origin`` says where the channels are known from."""

    source_of: dict[int, int] = field(default_factory=dict)
    destinations: dict[int, list[int]] = field(default_factory=dict)
    channel: dict[int, int] = field(default_factory=dict)
    refresh_ns: dict[int, int] = field(default_factory=dict)
    origin: str = ""
    notes: list[str] = field(default_factory=list)


def make_routes(names: Names, module: ModuleConfig | None) -> Routes:
    """Find the ports of the configuration among the objects of a session; what does not fit is noted."""
    routes = Routes()
    if module is None:
        if any(entry.type in _PORTS for entry in names.objects.values()):
            routes.notes.append("no channels are known: give the module's configuration with --module")
        return routes
    routes.origin = module.files[0] if module.files else module.name
    ports = _ports(names)
    configured = {(p.name, port.name): port for p in module.partitions for port in p.ports}
    for key, port in configured.items():
        _compare(key, port, ports.get(key), routes)
    for channel in module.channels:
        _connect(channel, ports, routes)
    return routes


def _ports(names: Names) -> Mapping[Key, ObjectEntry]:
    partitions = names.named("partition")
    found = {}
    for index in sorted(names.objects):
        entry = names.objects[index]
        if entry.type in _PORTS:
            found[partitions.get(entry.partition, ""), entry.name] = entry
    return found


def _compare(key: Key, port: PortConfig, entry: ObjectEntry | None, routes: Routes) -> None:
    where = f"port {key[1]} of {key[0]}"
    if entry is None:
        routes.notes.append(f"{where} is configured and not in the session")
        return
    if port.refresh_ns is not None and port.refresh_ns > 0:
        routes.refresh_ns[entry.index] = port.refresh_ns
    if entry.type != _KINDS[port.kind]:
        routes.notes.append(f"{where} is a {port.kind} port in the configuration and none in the session")
    for word, told, size in (
        ("message size", entry.message_size, port.message_size),
        ("queue length", entry.capacity, port.queue_length),
    ):
        if told and size is not None and told != size:
            routes.notes.append(f"{where}: the {word} is {size} in the configuration and {told} in the session")


def _connect(channel: ChannelConfig, ports: Mapping[Key, ObjectEntry], routes: Routes) -> None:
    """Connect the ends of a channel that are in the session; ends outside the module are in none."""
    origin = channel.origin
    source = ports.get((origin.partition, origin.port)) if origin is not None else None
    if source is None:
        return
    routes.channel[source.index] = channel.id
    for end in channel.destinations:
        destination = ports.get((end.partition, end.port))
        if destination is not None and destination.index != source.index:
            routes.source_of[destination.index] = source.index
            routes.destinations.setdefault(source.index, []).append(destination.index)
            routes.channel[destination.index] = channel.id
