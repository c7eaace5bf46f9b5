# SPDX-License-Identifier: Apache-2.0
"""The ports and channels of a module as C tables of the demo kernel, checked against what the kernel can do."""

from __future__ import annotations

import re

from vxmon.config.model import ChannelConfig, ModuleConfig, PortConfig, PortRef
from vxmon.errors import InputError

__all__ = ["ports_source"]

MAX_PORTS = 64
MAX_MESSAGE_BYTES = 256
MAX_MESSAGES = 64
_NAME = re.compile("[A-Za-z0-9_-]{1,30}")
_NO_PORT = "NO_PORT"

Key = tuple[str, str]


def _check_port(port: PortConfig) -> None:
    where = f"{port.source}: port {port.name}"
    if not _NAME.fullmatch(port.name):
        raise InputError(f"{where}: the demo kernel takes names of 1 to 30 letters, digits, '_' and '-'")
    if not 1 <= port.message_size <= MAX_MESSAGE_BYTES:
        raise InputError(f"{where}: MessageSize is not 1 to {MAX_MESSAGE_BYTES}")
    if port.kind == "queuing" and not 1 <= (port.queue_length or 0) <= MAX_MESSAGES:
        raise InputError(f"{where}: QueueLength is not 1 to {MAX_MESSAGES}")
    if port.kind == "sampling" and port.direction == "DESTINATION" and (port.refresh_ns or 0) < 1:
        raise InputError(f"{where}: RefreshRate is missing")


def _end(end: PortRef, direction: str, known: dict[Key, int], ports: list[tuple[int, PortConfig]]) -> int:
    number = known.get((end.partition, end.port))
    if number is None or ports[number][1].direction != direction:
        raise InputError(f"{end.source}: partition {end.partition} has no {direction} port {end.port}")
    return number


def _connect(channel: ChannelConfig, known: dict[Key, int], ports: list[tuple[int, PortConfig]]) -> list[int]:
    """Return the numbers of a channel's ports, the source's first."""
    if channel.origin is None or not channel.destinations:
        raise InputError(f"{channel.source}: channel {channel.id} lacks a source or a destination")
    ends = [_end(channel.origin, "SOURCE", known, ports)]
    ends += [_end(end, "DESTINATION", known, ports) for end in channel.destinations]
    kinds = {(ports[number][1].kind, ports[number][1].message_size) for number in ends}
    if len(kinds) != 1:
        raise InputError(f"{channel.source}: channel {channel.id} joins ports of different kinds or message sizes")
    return ends


def _line(number: int, owner: int, port: PortConfig, origin: int | None, count: int) -> str:
    flags = [port.kind == "queuing", port.direction == "SOURCE", port.protocol == "RECEIVER_DISCARD"]
    booleans = ", ".join("true" if flag else "false" for flag in flags)
    sizes = f"{port.message_size}, {port.queue_length or 1}, {port.refresh_ns or 0}u"
    targets = f"destinations_{number}" if count else "0"
    return (
        f'    {{"{port.name}", {owner}, {booleans}, {sizes}, '
        f"{_NO_PORT if origin is None else origin}, {count}, {targets}}},\n"
    )


def ports_source(module: ModuleConfig) -> tuple[str, int]:
    """Return the C tables of the ports and how many there are. Raises InputError where the kernel cannot follow."""
    ports = [(owner, port) for owner, partition in enumerate(module.partitions, start=1) for port in partition.ports]
    known: dict[Key, int] = {}
    if len(ports) > MAX_PORTS:
        raise InputError(f"{len(ports)} ports: the demo kernel takes at most {MAX_PORTS}")
    for number, (owner, port) in enumerate(ports):
        _check_port(port)
        if known.setdefault((module.partitions[owner - 1].name, port.name), number) != number:
            raise InputError(f"{port.source}: the partition has a port {port.name} already")
    origins: dict[int, int] = {}
    targets: dict[int, list[int]] = {}
    for channel in module.channels:
        first, *rest = _connect(channel, known, ports)
        if first in targets or len(set(rest)) != len(rest) or origins.keys() & set(rest):
            raise InputError(f"{channel.source}: a port of channel {channel.id} is in another channel already")
        targets[first] = rest
        origins.update(dict.fromkeys(rest, first))
    if not ports:
        return "", 0
    lists = [f"static const uint16_t destinations_{n}[] = {{{', '.join(map(str, t))}}};\n" for n, t in targets.items()]
    lines = [_line(n, owner, p, origins.get(n), len(targets.get(n, []))) for n, (owner, p) in enumerate(ports)]
    return "".join([*lists, "\nstatic const struct port_config ports[] = {\n", *lines, "};\n\n"]), len(ports)
