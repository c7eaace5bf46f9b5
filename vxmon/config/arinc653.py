# SPDX-License-Identifier: Apache-2.0
"""The module configuration of ARINC 653 Part 1 (root ARINC_653_Module).

Source: the XML schema in the appendix of ARINC 653 P1-2; several schedules as P2 and its users write them
(ScheduleIdentifier, InitialModuleSchedule). Times are decimal seconds, windows have offsets of their own.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Literal, cast

from vxmon.config.checks import check_channels, check_partitions, check_ports, check_schedules
from vxmon.config.model import (
    ChannelConfig,
    HmEntry,
    HmTable,
    ModuleConfig,
    PartitionConfig,
    PortConfig,
    PortRef,
    ScheduleConfig,
    WindowConfig,
)
from vxmon.config.reading import Reader, fail
from vxmon.config.values import shown
from vxmon.config.xmltree import Node, XmlTree

__all__ = ["read_arinc653"]


def read_arinc653(tree: XmlTree, module: Node) -> ModuleConfig:
    """Return the configuration in an ARINC_653_Module element. Raises InputError with file and line."""
    reader = Reader()
    partitions = _partitions(module, reader)
    check_partitions(partitions)
    names = {p.id: p.name for p in partitions}
    schedules = tuple(_schedule(n, i, names, reader) for i, n in enumerate(module.all("Module_Schedule")))
    if not schedules:
        raise fail(module.source, "the module has no Module_Schedule")
    if not any(s.initial for s in schedules):
        schedules = (replace(schedules[0], initial=True), *schedules[1:])
    check_schedules(schedules, partitions)
    channels = tuple(_channel(n, names, reader) for t in module.all("Connection_Table") for n in t.all("Channel"))
    check_channels(channels, partitions, reader)
    return ModuleConfig(
        name=reader.optional_name(module, "ModuleName") or "",
        id=reader.optional_integer(module, "ModuleId"),
        dialect="ARINC 653 P1",
        partitions=_with_periods(module, partitions, reader),
        schedules=schedules,
        channels=channels,
        hm_tables=tuple(_hm_tables(module, names, reader)),
        applications=(),
        problems=tuple(reader.problems),
        files=tree.files,
    )


def _partitions(module: Node, reader: Reader) -> tuple[PartitionConfig, ...]:
    memory = {
        reader.integer(n, "PartitionIdentifier"): sum(
            reader.integer(r, "SizeBytes") for r in n.all("Memory_Requirements")
        )
        for n in module.all("Partition_Memory")
    }
    return tuple(_partition(n, memory, reader) for n in module.all("Partition"))


def _partition(node: Node, memory: dict[int, int], reader: Reader) -> PartitionConfig:
    number = reader.integer(node, "PartitionIdentifier")
    name = reader.optional_name(node, "PartitionName") or str(number)
    ports = tuple(_port(n, reader) for n in node.all("Sampling_Port", "Queuing_Port"))
    check_ports(ports, f"partition {shown(name)}", reader)
    settings = {k: v for k, v in node.attributes.items() if k not in ("PartitionIdentifier", "PartitionName")}
    return PartitionConfig(number, name, node.source, memory.get(number), ports=ports, settings=settings)


def _port(node: Node, reader: Reader) -> PortConfig:
    sampling = node.tag == "Sampling_Port"
    direction = (reader.text(node, "Direction") or "").strip()
    if direction not in ("SOURCE", "DESTINATION"):
        raise fail(node.source, f"{node.tag}/@Direction={shown(direction)} is neither SOURCE nor DESTINATION")
    # The name is Name in the schema of P1-2 and PortName in that of P1-1.
    attribute = "Name" if "Name" in node.attributes else "PortName"
    return PortConfig(
        name=reader.name(node, attribute),
        kind="sampling" if sampling else "queuing",
        direction=cast("Literal['SOURCE', 'DESTINATION']", direction),
        message_size=reader.integer(node, "MaxMessageSize"),
        source=node.source,
        refresh_ns=reader.optional_time(node, "RefreshRateSeconds") if sampling else None,
        queue_length=None if sampling else reader.optional_integer(node, "MaxNbMessages"),
    )


def _schedule(node: Node, position: int, names: dict[int, str], reader: Reader) -> ScheduleConfig:
    number = reader.optional_integer(node, "ScheduleIdentifier")
    number = position if number is None else number
    frame = reader.time(node, "MajorFrameSeconds")
    found = [w for n in node.all("Partition_Schedule") for w in _partition_windows(n, names, reader)]
    if not found:
        raise fail(node.source, f"schedule {number} has no Window_Schedule")
    found.sort(key=lambda w: (w.offset_ns, w.end_ns))
    return ScheduleConfig(
        id=number,
        name=reader.optional_name(node, "ScheduleName") or f"schedule {number}",
        initial=reader.boolean(node, "InitialModuleSchedule", default=False),
        major_frame_ns=frame,
        windows=tuple(replace(w, index=i) for i, w in enumerate(found)),
        source=node.source,
    )


def _partition_windows(node: Node, names: dict[int, str], reader: Reader) -> Iterator[WindowConfig]:
    number = reader.integer(node, "PartitionIdentifier")
    if number not in names:
        raise fail(node.source, f"Partition_Schedule is for unknown partition {number}")
    for child in node.all("Window_Schedule"):
        yield WindowConfig(
            index=0,
            partition=names[number],
            offset_ns=reader.time(child, "WindowStartSeconds"),
            duration_ns=reader.time(child, "WindowDurationSeconds"),
            release_point=reader.boolean(child, "PartitionPeriodStart", default=False),
            source=child.source,
            identifier=reader.optional_integer(child, "WindowIdentifier"),
        )


def _with_periods(module: Node, partitions: tuple[PartitionConfig, ...], reader: Reader) -> tuple[PartitionConfig, ...]:
    """Add the periods of the initial schedule, which is the first where none says that it is initial."""
    nodes = list(module.all("Module_Schedule"))
    initial = next((n for n in nodes if reader.boolean(n, "InitialModuleSchedule", default=False)), nodes[0])
    frame = reader.time(initial, "MajorFrameSeconds")
    periods: dict[int, tuple[int, int]] = {}
    for node in initial.all("Partition_Schedule"):
        period, duration = reader.time(node, "PeriodSeconds"), reader.time(node, "PeriodDurationSeconds")
        _note_period(node, period, duration, frame, reader)
        periods[reader.integer(node, "PartitionIdentifier")] = (period, duration)
    return tuple(
        replace(p, period_ns=periods[p.id][0], duration_ns=periods[p.id][1]) if p.id in periods else p
        for p in partitions
    )


def _note_period(node: Node, period: int, duration: int, frame: int, reader: Reader) -> None:
    if period == 0 or frame % period:
        reader.problem(node.source, f"the period of {period:,} ns does not divide the major frame of {frame:,} ns")
        return
    if duration > period:
        reader.problem(node.source, f"the duration of {duration:,} ns is longer than the period of {period:,} ns")
    given = sum(reader.time(n, "WindowDurationSeconds") for n in node.all("Window_Schedule"))
    needed = duration * (frame // period)
    if given < needed:
        reader.problem(node.source, f"the windows give {given:,} ns a major frame, the periods need {needed:,} ns")


def _channel(node: Node, names: dict[int, str], reader: Reader) -> ChannelConfig:
    ends = {tag: [_end(n, names, reader) for n in node.all(tag)] for tag in ("Source", "Destination")}
    return ChannelConfig(
        id=reader.integer(node, "ChannelIdentifier"),
        name=reader.optional_name(node, "ChannelName"),
        origin=ends["Source"][0] if ends["Source"] else None,
        destinations=tuple(ends["Destination"]),
        source=node.source,
    )


def _end(node: Node, names: dict[int, str], reader: Reader) -> PortRef:
    """Read <Source><Standard_Partition .../></Source>, or Pseudo_Partition for what lies outside the module."""
    pseudo = node.first("Pseudo_Partition")
    if pseudo is not None:
        name = reader.optional_name(pseudo, "Name") or "pseudo partition"
        return PortRef(name, reader.optional_name(pseudo, "PortName") or "", True, pseudo.source)
    standard = reader.required(node, "Standard_Partition")
    number = reader.integer(standard, "PartitionIdentifier")
    name = names.get(number) or reader.optional_name(standard, "PartitionName") or str(number)
    return PortRef(name, reader.name(standard, "PortName"), False, standard.source)


def _hm_tables(module: Node, names: dict[int, str], reader: Reader) -> Iterator[HmTable]:
    for node in module.all("System_HM_Table"):
        yield HmTable("System_HM_Table", "system", tuple(_entries(node, "Error_ID_Level", reader)), node.source)
    for node in module.all("Module_HM_Table"):
        entries = tuple(_entries(node, "Error_ID_Action", reader))
        callback = reader.text(node, "ModuleCallback")
        yield HmTable("Module_HM_Table", "module", entries, node.source, callback)
    for node in module.all("Partition_HM_Table"):
        number = reader.integer(node, "PartitionIdentifier")
        name = names.get(number)
        if name is None:
            reader.problem(node.source, f"Partition_HM_Table is for unknown partition {number}")
        entries = tuple(_entries(node, "Error_ID_Action", reader))
        callback = reader.text(node, "PartitionCallback")
        yield HmTable(f"Partition_HM_Table {number}", "partition", entries, node.source, callback, name)


def _entries(node: Node, tag: str, reader: Reader) -> Iterator[HmEntry]:
    for state in node.all("System_State_Entry"):
        name = reader.name(state, "SystemState")
        for entry in state.all(tag):
            error = reader.name(entry, "ErrorIdentifier")
            code = reader.optional_name(entry, "ErrorCode")
            level, action = reader.text(entry, "ErrorLevel"), reader.text(entry, "Action")
            yield HmEntry(name, f"{error} {code}" if code else error, level, action, entry.source)
