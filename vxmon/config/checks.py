# SPDX-License-Identifier: Apache-2.0
"""What must hold for a module whatever its dialect: unique names, sound schedules, channels that reach ports."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise

from vxmon.config.model import (
    ChannelConfig,
    PartitionConfig,
    PortConfig,
    PortRef,
    ScheduleConfig,
    WindowConfig,
)
from vxmon.config.reading import Reader, fail
from vxmon.config.values import MAX_NAME, shown

__all__ = ["MAX_PORTS", "check_channels", "check_partitions", "check_ports", "check_schedules"]

MAX_PORTS = 10_240
"""Ports of one VxWorks 653 module."""


def check_partitions(partitions: Sequence[PartitionConfig]) -> None:
    """Refuse two partitions with one name or one identifier."""
    by_name: dict[str, PartitionConfig] = {}
    by_id: dict[int, PartitionConfig] = {}
    for partition in partitions:
        other = by_name.setdefault(partition.name, partition)
        if other is not partition:
            raise fail(partition.source, f"partition {shown(partition.name)} was defined before, at {other.source}")
        other = by_id.setdefault(partition.id, partition)
        if other is not partition:
            raise fail(partition.source, f"partition identifier {partition.id} belongs to {shown(other.name)} already")


def check_schedules(schedules: Sequence[ScheduleConfig], partitions: Iterable[PartitionConfig]) -> None:
    """Refuse schedules that cannot run: unknown partitions, overlaps, windows past the frame."""
    names = {p.name for p in partitions}
    seen: dict[int, ScheduleConfig] = {}
    for schedule in schedules:
        other = seen.setdefault(schedule.id, schedule)
        if other is not schedule:
            raise fail(schedule.source, f"schedule {schedule.id} was defined before, at {other.source}")
        for window in schedule.windows:
            _check_window(window, schedule, names)
        for earlier, later in pairwise(schedule.windows):
            _check_order(earlier, later, schedule)


def check_ports(ports: Sequence[PortConfig], owner: str, reader: Reader) -> None:
    """Note port names of one owner that are equal, or become equal when they are cut to MAX_NAME characters."""
    seen: dict[str, PortConfig] = {}
    for port in ports:
        other = seen.setdefault(port.name[:MAX_NAME], port)
        if other is port:
            continue
        if other.name == port.name:
            reader.problem(port.source, f"port {shown(port.name)} of {owner} was defined before, at {other.source}")
        else:
            names = f"{shown(port.name)} and {shown(other.name)}"
            reader.problem(port.source, f"ports {names} of {owner} are one port when cut to {MAX_NAME} characters")


def check_channels(channels: Iterable[ChannelConfig], partitions: Iterable[PartitionConfig], reader: Reader) -> None:
    """Note channel ends that reach no port, and ports used against their direction."""
    ports = {(p.name, port.name): port for p in partitions for port in p.ports}
    ids: dict[int, ChannelConfig] = {}
    for channel in channels:
        other = ids.setdefault(channel.id, channel)
        if other is not channel:
            reader.problem(channel.source, f"channel {channel.id} was defined before, at {other.source}")
        if channel.origin is None or not channel.destinations:
            reader.problem(channel.source, f"channel {channel.id} lacks a source or a destination")
        if channel.origin is not None:
            _check_end(channel.origin, "SOURCE", ports, reader)
        for destination in channel.destinations:
            _check_end(destination, "DESTINATION", ports, reader)


def _check_window(window: WindowConfig, schedule: ScheduleConfig, names: set[str]) -> None:
    if window.partition is not None and window.partition not in names:
        raise fail(
            window.source, f"schedule {schedule.id} gives a window to unknown partition {shown(window.partition)}"
        )
    if window.duration_ns == 0:
        raise fail(window.source, f"schedule {schedule.id} has a window without duration")
    past = window.end_ns - schedule.major_frame_ns
    if past > 0:
        raise fail(
            window.source, f"the window ends {past:,} ns past the end of the major frame of schedule {schedule.id}"
        )


def _check_order(earlier: WindowConfig, later: WindowConfig, schedule: ScheduleConfig) -> None:
    if later.offset_ns < earlier.end_ns:
        overlap = earlier.end_ns - later.offset_ns
        who = f"{shown(later.partition or 'SPARE')} overlaps that of {shown(earlier.partition or 'SPARE')}"
        raise fail(
            later.source,
            f"the window of {who} (line {earlier.source.line}) by {overlap:,} ns in schedule {schedule.id}",
        )


def _check_end(end: PortRef, direction: str, ports: dict[tuple[str, str], PortConfig], reader: Reader) -> None:
    if end.pseudo:
        return
    port = ports.get((end.partition, end.port))
    if port is None:
        reader.problem(end.source, f"partition {shown(end.partition)} has no port {shown(end.port)}")
    elif port.direction != direction:
        reader.problem(end.source, f"port {shown(end.port)} is a {port.direction} and is used as a {direction}")
