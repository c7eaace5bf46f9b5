# SPDX-License-Identifier: Apache-2.0
"""Tables: target information, the event table, and parts of the object table (SPEC section 7)."""

from __future__ import annotations

import zlib
from typing import Final

from vxmon.errors import WireError
from vxmon.wire.convert import (
    MAX_NAME,
    check_numbers,
    check_text,
    enum_from,
    events_from_bits,
    events_to_bits,
    parse,
    run_config_from,
    run_config_to,
    serialize,
)
from vxmon.wire.generated import vxmon_pb2 as pb
from vxmon.wire.slots import MAX_EVENT_ID, place_fields
from vxmon.wire.types import (
    Enumeration,
    Event,
    EventTable,
    Field,
    FieldType,
    ObjectEntry,
    ObjectTable,
    PartitionEntry,
    Schedule,
    Table,
    TargetInfo,
    TaskEntry,
    Window,
)

__all__ = ["decode_table", "encode_table", "event_table_bytes", "info_from", "info_to"]

_MAX_RELEASE: Final = 15
_MAX_INDEX: Final = 0xFFFF
_MAX_STREAMS: Final = 8


def decode_table(payload: bytes) -> Table:
    """Decode a TABLE message, put together from its fragments; raises WireError."""
    message = parse(pb.Table(), payload, "table")
    match message.WhichOneof("body"):
        case "info":
            return info_from(message.info)
        case "events":
            return _event_table_from(message.events, zlib.crc32(_submessage(payload)))
        case "objects":
            return _object_table_from(message.objects)
    raise WireError("payload", "table: it is empty or not known")


def encode_table(table: Table) -> bytes:
    """Payload of a TABLE message; raises WireError when a value is outside its limits."""
    try:
        match table:
            case TargetInfo():
                return serialize(pb.Table(info=info_to(table)))
            case EventTable():
                return serialize(pb.Table(events=_event_table_to(table)))
            case ObjectTable():
                return serialize(pb.Table(objects=_object_table_to(table)))
    except (ValueError, TypeError) as error:
        raise WireError("payload", f"table: {error}") from error


def event_table_bytes(table: EventTable) -> bytes:
    """The serialized event table, whose CRC-32 is its fingerprint."""
    return serialize(_event_table_to(table))


def info_from(message: pb.TargetInfo) -> TargetInfo:
    """Target information; raises WireError."""
    if not 1 <= message.streams <= _MAX_STREAMS:
        raise WireError("payload", f"target information: {message.streams} streams")
    if not message.clock_hz:
        raise WireError("payload", "target information: a clock of 0 Hz")
    check_numbers("target information", message.time)
    return TargetInfo(
        os_name=check_text(message.os_name, MAX_NAME, "OS name"),
        os_release=check_text(message.os_release, _MAX_RELEASE, "OS release"),
        board=check_text(message.board, MAX_NAME, "board name"),
        agent_version=check_text(message.agent_version, MAX_NAME, "agent version"),
        clock_hz=message.clock_hz,
        big_endian=message.big_endian,
        streams=message.streams,
        table_fingerprint=message.table_fingerprint,
        max_units=message.max_units,
        arena_bytes=message.arena_bytes,
        offered=events_from_bits(message.offered, "target information"),
        boot=message.boot,
        time=message.time,
        unnamed=message.unnamed,
        min_period_ms=message.min_period_ms,
        max_period_ms=message.max_period_ms,
        max_content_bytes=message.max_content_bytes,
        hm_log=message.hm_log,
        edr_log=message.edr_log,
        running=message.running,
        config=run_config_from(message.config) if message.HasField("config") else None,
        partition_count=message.partition_count,
        object_count=message.object_count,
        has_key=message.has_key,
    )


def info_to(info: TargetInfo) -> pb.TargetInfo:
    """The reverse of :func:`info_from`."""
    return pb.TargetInfo(
        os_name=check_text(info.os_name, MAX_NAME, "OS name"),
        os_release=check_text(info.os_release, _MAX_RELEASE, "OS release"),
        board=check_text(info.board, MAX_NAME, "board name"),
        agent_version=check_text(info.agent_version, MAX_NAME, "agent version"),
        clock_hz=info.clock_hz,
        big_endian=info.big_endian,
        streams=info.streams,
        table_fingerprint=info.table_fingerprint,
        max_units=info.max_units,
        arena_bytes=info.arena_bytes,
        offered=events_to_bits(info.offered, "target information"),
        boot=info.boot,
        time=info.time,
        unnamed=info.unnamed,
        min_period_ms=info.min_period_ms,
        max_period_ms=info.max_period_ms,
        max_content_bytes=info.max_content_bytes,
        hm_log=info.hm_log,
        edr_log=info.edr_log,
        running=info.running,
        config=run_config_to(info.config) if info.config is not None else None,
        partition_count=info.partition_count,
        object_count=info.object_count,
        has_key=info.has_key,
    )


def _submessage(payload: bytes) -> bytes:
    """Bytes of the event table as they were sent; parsing and serializing again could change their order.

    A table message is one tag of one byte, a length of at most three bytes (64 KiB) and its body.
    """
    length = shift = 0
    for at in range(1, min(4, len(payload))):
        length |= (payload[at] & 0x7F) << shift
        shift += 7
        if payload[at] < 0x80 and length == len(payload) - at - 1:
            return payload[at + 1 :]
    raise WireError("payload", "event table: there is more in its message")


def _event_table_from(message: pb.EventTable, fingerprint: int) -> EventTable:
    events = tuple(_event_from(event) for event in message.events)
    if len({event.id for event in events}) != len(events):
        raise WireError("payload", "event table: an id is there twice")
    return EventTable(
        os_release=check_text(message.os_release, _MAX_RELEASE, "OS release"),
        format=message.format,
        events=events,
        enums=tuple(_enum_from(enum) for enum in message.enums),
        fingerprint=fingerprint,
    )


def _event_from(message: pb.Event) -> Event:
    if not 1 <= message.id <= MAX_EVENT_ID or not message.name:
        raise WireError("payload", f"event table: event id {message.id}")
    event = Event(
        id=message.id,
        name=check_text(message.name, MAX_NAME, "event name"),
        klass=check_text(message.klass, MAX_NAME, "event class"),
        arg=_field_from(message.arg),
        fields=tuple(_field_from(field) for field in message.fields),
        combine=message.combine,
        partition_origin=message.partition_origin,
    )
    place_fields(event)
    return event


def _field_from(message: pb.Field) -> Field:
    return Field(
        name=check_text(message.name, MAX_NAME, "field name"),
        type=enum_from(FieldType, message.type, "field type"),
        kind=check_text(message.kind, MAX_NAME + len("enum:"), "field kind"),
        unit=check_text(message.unit, MAX_NAME, "field unit"),
        length=check_text(message.length, MAX_NAME, "field length"),
    )


def _enum_from(message: pb.Enumeration) -> Enumeration:
    values = {entry.value: check_text(entry.name, MAX_NAME, "name of a value") for entry in message.values}
    return Enumeration(check_text(message.name, MAX_NAME, "enumeration name"), values)


def _event_table_to(table: EventTable) -> pb.EventTable:
    return pb.EventTable(
        os_release=check_text(table.os_release, _MAX_RELEASE, "OS release"),
        format=table.format,
        events=map(_event_to, table.events),
        enums=map(_enum_to, table.enums),
    )


def _event_to(event: Event) -> pb.Event:
    return pb.Event(
        id=event.id,
        name=event.name,
        klass=event.klass,
        arg=_field_to(event.arg),
        fields=map(_field_to, event.fields),
        combine=event.combine,
        partition_origin=event.partition_origin,
    )


def _field_to(field: Field) -> pb.Field:
    return pb.Field(name=field.name, type=field.type, kind=field.kind, unit=field.unit, length=field.length)


def _enum_to(enum: Enumeration) -> pb.Enumeration:
    values = (pb.EnumValue(value=value, name=name) for value, name in enum.values.items())
    return pb.Enumeration(name=enum.name, values=values)


def _object_table_from(message: pb.ObjectTable) -> ObjectTable:
    return ObjectTable(
        version=message.version,
        schedules=tuple(_schedule_from(schedule) for schedule in message.schedules),
        partitions=tuple(_partition_from(partition) for partition in message.partitions),
        tasks=tuple(_task_from(task) for task in message.tasks),
        objects=tuple(_object_from(entry) for entry in message.objects),
    )


def _index(value: int, what: str) -> int:
    if value >= _MAX_INDEX:
        raise WireError("payload", f"{what} {value} is larger than {_MAX_INDEX - 1}")
    return value


def _schedule_from(message: pb.Schedule) -> Schedule:
    windows = tuple(
        Window(_index(window.partition, "partition"), window.release_point, window.offset, window.duration)
        for window in message.windows
    )
    check_numbers("schedule", message.major_frame, sum(window.duration for window in windows))
    end = 0
    for window in windows:
        if window.offset != end or not window.duration:
            raise WireError("payload", f"schedule {message.id}: its windows are not consecutive")
        end += window.duration
    if windows and end != message.major_frame:
        raise WireError("payload", f"schedule {message.id}: its windows do not fill the major frame")
    return Schedule(_index(message.id, "schedule"), message.major_frame, windows)


def _partition_from(message: pb.PartitionEntry) -> PartitionEntry:
    return PartitionEntry(_index(message.index, "partition"), _name(message.name, "partition"), message.handle)


def _task_from(message: pb.TaskEntry) -> TaskEntry:
    check_numbers("task", message.period, message.time_capacity)
    return TaskEntry(
        index=_index(message.index, "task"),
        partition=_index(message.partition, "partition"),
        name=_name(message.name, "task"),
        handle=message.handle,
        priority=message.priority,
        stack_size=message.stack_size,
        period=message.period,
        time_capacity=message.time_capacity,
        idle=message.idle,
        deleted=message.deleted,
    )


def _object_from(message: pb.ObjectEntry) -> ObjectEntry:
    return ObjectEntry(
        index=_index(message.index, "object"),
        type=message.type,
        partition=_index(message.partition, "partition"),
        name=_name(message.name, "object"),
        handle=message.handle,
        message_size=message.message_size,
        capacity=message.capacity,
        deleted=message.deleted,
    )


def _name(name: str, what: str) -> str:
    return check_text(name, MAX_NAME, f"name of a {what}")


def _object_table_to(table: ObjectTable) -> pb.ObjectTable:
    return pb.ObjectTable(
        version=table.version,
        schedules=map(_schedule_to, table.schedules),
        partitions=(
            pb.PartitionEntry(index=entry.index, name=_name(entry.name, "partition"), handle=entry.handle)
            for entry in table.partitions
        ),
        tasks=map(_task_to, table.tasks),
        objects=map(_object_to, table.objects),
    )


def _schedule_to(schedule: Schedule) -> pb.Schedule:
    windows = (
        pb.Window(
            partition=window.partition,
            release_point=window.release_point,
            offset=window.offset,
            duration=window.duration,
        )
        for window in schedule.windows
    )
    return pb.Schedule(id=schedule.id, major_frame=schedule.major_frame, windows=windows)


def _task_to(task: TaskEntry) -> pb.TaskEntry:
    return pb.TaskEntry(
        index=task.index,
        partition=task.partition,
        name=_name(task.name, "task"),
        handle=task.handle,
        priority=task.priority,
        stack_size=task.stack_size,
        period=task.period,
        time_capacity=task.time_capacity,
        idle=task.idle,
        deleted=task.deleted,
    )


def _object_to(entry: ObjectEntry) -> pb.ObjectEntry:
    return pb.ObjectEntry(
        index=entry.index,
        type=entry.type,
        partition=entry.partition,
        name=_name(entry.name, "object"),
        handle=entry.handle,
        message_size=entry.message_size,
        capacity=entry.capacity,
        deleted=entry.deleted,
    )
