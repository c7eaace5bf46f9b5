# SPDX-License-Identifier: Apache-2.0
"""The VxWorks 653 module configuration (namespace http://www.windriver.com/vxWorks653/ConfigRecord).

Source: the XML schema reference in the VxWorks 653 2.2 manuals. Windows have no offset: they follow each other in
document order, and the major frame is the sum of their durations. Durations are decimal seconds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Literal, cast

from vxmon.config.checks import MAX_PORTS, check_channels, check_partitions, check_ports, check_schedules
from vxmon.config.model import (
    ApplicationConfig,
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
from vxmon.config.values import parse_integer, shown
from vxmon.config.xmltree import Node, XmlTree

__all__ = ["SPARE", "read_vxworks653"]

SPARE = "SPARE"
"""What stands for a partition in a window of the core OS."""

_HIGHEST_SCHEDULE = 15
_PARTS = (
    "CoreOS Applications SharedDataRegions SharedLibraryRegions Partitions Schedules Connections HealthMonitor".split()
)
_MEMORY = {
    "MemorySizeText": "text",
    "MemorySizeRoData": "rodata",
    "MemorySizeData": "data",
    "MemorySizeBss": "bss",
    "MemorySizePersistentData": "persistent_data",
    "MemorySizePersistentBss": "persistent_bss",
}


def read_vxworks653(tree: XmlTree, module: Node) -> ModuleConfig:
    """Return the configuration in a Module element. Raises InputError with file and line."""
    reader = Reader()
    for tag in _PARTS:
        if sum(1 for _ in module.all(tag)) != 1:
            reader.problem(module.source, f"Module should have exactly one {tag} element")
    applications = tuple(_application(n, reader) for n in _children(module, "Applications", "Application"))
    by_name = _by_name(applications, reader)
    partitions = tuple(_partition(n, by_name, reader) for n in _children(module, "Partitions", "Partition"))
    check_partitions(partitions)
    schedules = tuple(_schedule(n, reader) for n in reader.required(module, "Schedules").all("Schedule"))
    _check_ids(schedules, module)
    check_schedules(schedules, partitions)
    _note_short_windows(module, schedules, reader)
    channels = tuple(_channel(n, reader) for n in _children(module, "Connections", "Channel"))
    check_channels(channels, partitions, reader)
    if (ports := sum(len(a.ports) for a in applications)) > MAX_PORTS:
        reader.problem(module.source, f"the module has {ports:,} ports, more than {MAX_PORTS:,}")
    return ModuleConfig(
        name=reader.optional_name(module, "Name") or "",
        id=reader.optional_integer(module, "Id"),
        dialect="VxWorks 653",
        partitions=partitions,
        schedules=schedules,
        channels=channels,
        hm_tables=_hm_tables(module, partitions, reader),
        applications=applications,
        problems=tuple(reader.problems),
        files=tree.files,
    )


def _children(module: Node, group: str, tag: str) -> Iterator[Node]:
    for node in module.all(group):
        yield from node.all(tag)


def _application(node: Node, reader: Reader) -> ApplicationConfig:
    name = reader.name(node, "Name")
    description = node.first("ApplicationDescription")
    memory: dict[str, int] = {}
    ports: tuple[PortConfig, ...] = ()
    if description is not None:
        memory = _memory(description.first("MemorySize"), reader)
        ports = _ports(description, reader)
    check_ports(ports, f"application {shown(name)}", reader)
    return ApplicationConfig(name, memory, ports, node.source)


def _by_name(applications: tuple[ApplicationConfig, ...], reader: Reader) -> dict[str, ApplicationConfig]:
    known: dict[str, ApplicationConfig] = {}
    for application in applications:
        other = known.setdefault(application.name, application)
        if other is not application:
            name = shown(application.name)
            reader.problem(
                application.source, f"application {name} was defined before, at {other.source}, which is used"
            )
    return known


def _memory(node: Node | None, reader: Reader) -> dict[str, int]:
    if node is None:
        return {}
    sizes = {key: reader.optional_integer(node, attribute) for attribute, key in _MEMORY.items()}
    return {key: size for key, size in sizes.items() if size is not None}


def _ports(description: Node, reader: Reader) -> tuple[PortConfig, ...]:
    group = description.first("Ports")
    if group is None:
        return ()
    return tuple(_port(n, reader) for n in group.all("SamplingPort", "QueuingPort"))


def _port(node: Node, reader: Reader) -> PortConfig:
    sampling = node.tag == "SamplingPort"
    direction = reader.text(node, "Direction") or ""
    if direction not in ("SOURCE", "DESTINATION"):
        raise fail(node.source, f"{node.tag}/@Direction={shown(direction)} is neither SOURCE nor DESTINATION")
    return PortConfig(
        name=reader.name(node, "Name"),
        kind="sampling" if sampling else "queuing",
        direction=cast("Literal['SOURCE', 'DESTINATION']", direction),
        message_size=reader.integer(node, "MessageSize"),
        source=node.source,
        refresh_ns=reader.optional_time(node, "RefreshRate") if sampling else None,
        queue_length=None if sampling else reader.optional_integer(node, "QueueLength"),
        protocol=reader.text(node, "Protocol"),
        attribute=reader.text(node, "Attribute"),
        driver=reader.text(node, "DriverName"),
    )


def _partition(node: Node, applications: Mapping[str, ApplicationConfig], reader: Reader) -> PartitionConfig:
    name = reader.name(node, "Name")
    if name == SPARE:
        raise fail(node.source, f"{SPARE} is the core OS's time and cannot be the name of a partition")
    description = node.first("PartitionDescription")
    settings = description.first("Settings") if description is not None else None
    used = tuple(_applications(description, applications, reader))
    ports = tuple(port for a in used if a in applications for port in applications[a].ports)
    return PartitionConfig(
        id=reader.integer(node, "Id"),
        name=name,
        source=node.source,
        required_memory=reader.optional_integer(settings, "RequiredMemorySize") if settings else None,
        applications=used,
        ports=ports + (_ports(description, reader) if description is not None else ()),
        hm_table=reader.optional_name(settings, "PartitionHMTable") if settings else None,
        settings=dict(settings.attributes) if settings else {},
    )


def _applications(description: Node | None, known: Mapping[str, ApplicationConfig], reader: Reader) -> Iterator[str]:
    for node in description.all("Application") if description is not None else ():
        name = reader.name(node, "NameRef")
        if name not in known:
            reader.problem(node.source, f"there is no application {shown(name)}")
        yield name


def _schedule(node: Node, reader: Reader) -> ScheduleConfig:
    number = reader.integer(node, "Id")
    if number > _HIGHEST_SCHEDULE:
        raise fail(node.source, f"Schedule/@Id={number} is larger than {_HIGHEST_SCHEDULE}")
    windows: list[WindowConfig] = []
    offset = 0
    for index, child in enumerate(node.all("PartitionWindow")):
        windows.append(_window(child, index, offset, reader))
        offset = windows[-1].end_ns
    if not windows:
        raise fail(node.source, f"schedule {number} has no PartitionWindow")
    name = reader.optional_name(node, "Name") or f"schedule {number}"
    return ScheduleConfig(number, name, number == 0, offset, tuple(windows), node.source)


def _window(node: Node, index: int, offset: int, reader: Reader) -> WindowConfig:
    partition = reader.name(node, "PartitionNameRef")
    return WindowConfig(
        index=index,
        partition=None if partition == SPARE else partition,
        offset_ns=offset,
        duration_ns=reader.time(node, "Duration"),
        release_point=reader.boolean(node, "ReleasePoint", default=False),
        source=node.source,
    )


def _check_ids(schedules: tuple[ScheduleConfig, ...], module: Node) -> None:
    if not any(s.id == 0 for s in schedules):
        raise fail(module.source, "there is no schedule 0, with which every module starts")


def _note_short_windows(module: Node, schedules: tuple[ScheduleConfig, ...], reader: Reader) -> None:
    shortest = reader.optional_integer(module, "minimumWindowDurationInNs") or 0
    for window in (w for s in schedules for w in s.windows if w.duration_ns < shortest):
        reader.problem(
            window.source, f"a window of {window.duration_ns:,} ns is shorter than the minimum {shortest:,} ns"
        )


def _channel(node: Node, reader: Reader) -> ChannelConfig:
    origin = node.first("Source")
    return ChannelConfig(
        id=reader.integer(node, "Id"),
        name=reader.optional_name(node, "Name"),
        origin=_end(origin, reader) if origin is not None else None,
        destinations=tuple(_end(n, reader) for n in node.all("Destination")),
        source=node.source,
    )


def _end(node: Node, reader: Reader) -> PortRef:
    return PortRef(reader.name(node, "PartitionNameRef"), reader.name(node, "PortNameRef"), False, node.source)


def _hm_tables(module: Node, partitions: tuple[PartitionConfig, ...], reader: Reader) -> tuple[HmTable, ...]:
    tables: list[HmTable] = []
    for monitor in module.all("HealthMonitor"):
        tables += [_system_table(n, reader) for n in monitor.all("SystemHMTable")]
        tables += [_action_table(n, "module", reader) for n in monitor.all("ModuleHMTable")]
        tables += [_action_table(n, "partition", reader) for n in monitor.all("PartitionHMTable")]
    names = {t.name for t in tables if t.scope == "partition"}
    for partition in partitions:
        if partition.hm_table is not None and partition.hm_table not in names:
            reader.problem(partition.source, f"there is no PartitionHMTable {shown(partition.hm_table)}")
    return tuple(tables)


def _system_table(node: Node, reader: Reader) -> HmTable:
    entries: list[HmEntry] = []
    for state in node.all("SystemState"):
        name = reader.name(state, "SystemState")
        for entry in state.all("ErrorIDLevel"):
            error, level = reader.name(entry, "ErrorIdentifier"), reader.name(entry, "ErrorLevel")
            entries.append(HmEntry(name, error, level, None, entry.source))
    return HmTable(reader.optional_name(node, "Name") or "", "system", tuple(entries), node.source)


def _action_table(node: Node, scope: Literal["module", "partition"], reader: Reader) -> HmTable:
    entries = tuple(
        # An empty action is allowed: the error is then left to the default.
        HmEntry(None, reader.name(n, "ErrorIdentifier"), None, reader.text(n, "ErrorAction") or "", n.source)
        for n in node.all("ErrorIDAction")
    )
    callback = reader.text(node, "ModuleCallback" if scope == "module" else "PartitionCallback")
    return HmTable(
        name=reader.optional_name(node, "Name") or "",
        scope=scope,
        entries=entries,
        source=node.source,
        callback=callback or None,
        settings=_hm_settings(node, reader),
    )


def _hm_settings(node: Node, reader: Reader) -> dict[str, str]:
    settings = node.first("Settings")
    if settings is None:
        return {}
    values = dict(settings.attributes)
    try:
        depth, threshold = (
            parse_integer(values[k]) for k in ("maxErrorHandlerQueueDepth", "errorHandlerQueueThreshold")
        )
    except (KeyError, ValueError):
        return values
    if threshold > depth - 2:
        reader.problem(
            settings.source, f"errorHandlerQueueThreshold {threshold} is larger than the depth {depth} less 2"
        )
    return values
