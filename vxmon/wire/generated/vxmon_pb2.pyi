from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class Policy(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    RING: _ClassVar[Policy]
    LINEAR: _ClassVar[Policy]

class Result(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    OK: _ClassVar[Result]
    COOKIE: _ClassVar[Result]
    BUSY: _ClassVar[Result]
    UNKNOWN: _ClassVar[Result]
    UNSUPPORTED: _ClassVar[Result]
    LIMIT: _ClassVar[Result]
    STATE: _ClassVar[Result]
    MEMORY: _ClassVar[Result]
RING: Policy
LINEAR: Policy
OK: Result
COOKIE: Result
BUSY: Result
UNKNOWN: Result
UNSUPPORTED: Result
LIMIT: Result
STATE: Result
MEMORY: Result

class Context(_message.Message):
    __slots__ = ("partition", "window", "task", "depth")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    WINDOW_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    DEPTH_FIELD_NUMBER: _ClassVar[int]
    partition: int
    window: int
    task: int
    depth: int
    def __init__(self, partition: _Optional[int] = ..., window: _Optional[int] = ..., task: _Optional[int] = ..., depth: _Optional[int] = ...) -> None: ...

class Losses(_message.Message):
    __slots__ = ("overwritten", "full", "exhausted")
    OVERWRITTEN_FIELD_NUMBER: _ClassVar[int]
    FULL_FIELD_NUMBER: _ClassVar[int]
    EXHAUSTED_FIELD_NUMBER: _ClassVar[int]
    overwritten: int
    full: int
    exhausted: int
    def __init__(self, overwritten: _Optional[int] = ..., full: _Optional[int] = ..., exhausted: _Optional[int] = ...) -> None: ...

class Block(_message.Message):
    __slots__ = ("run", "stream", "sequence", "first_index", "count", "first_time", "last_time", "context", "losses", "starts", "checksum", "slots")
    RUN_FIELD_NUMBER: _ClassVar[int]
    STREAM_FIELD_NUMBER: _ClassVar[int]
    SEQUENCE_FIELD_NUMBER: _ClassVar[int]
    FIRST_INDEX_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    FIRST_TIME_FIELD_NUMBER: _ClassVar[int]
    LAST_TIME_FIELD_NUMBER: _ClassVar[int]
    CONTEXT_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    STARTS_FIELD_NUMBER: _ClassVar[int]
    CHECKSUM_FIELD_NUMBER: _ClassVar[int]
    SLOTS_FIELD_NUMBER: _ClassVar[int]
    run: int
    stream: int
    sequence: int
    first_index: int
    count: int
    first_time: int
    last_time: int
    context: Context
    losses: Losses
    starts: bytes
    checksum: int
    slots: bytes
    def __init__(self, run: _Optional[int] = ..., stream: _Optional[int] = ..., sequence: _Optional[int] = ..., first_index: _Optional[int] = ..., count: _Optional[int] = ..., first_time: _Optional[int] = ..., last_time: _Optional[int] = ..., context: _Optional[_Union[Context, _Mapping]] = ..., losses: _Optional[_Union[Losses, _Mapping]] = ..., starts: _Optional[bytes] = ..., checksum: _Optional[int] = ..., slots: _Optional[bytes] = ...) -> None: ...

class Range(_message.Message):
    __slots__ = ("first", "count")
    FIRST_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    first: int
    count: int
    def __init__(self, first: _Optional[int] = ..., count: _Optional[int] = ...) -> None: ...

class StreamAck(_message.Message):
    __slots__ = ("stream", "next", "seen", "missing")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    SEEN_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    stream: int
    next: int
    seen: int
    missing: _containers.RepeatedCompositeFieldContainer[Range]
    def __init__(self, stream: _Optional[int] = ..., next: _Optional[int] = ..., seen: _Optional[int] = ..., missing: _Optional[_Iterable[_Union[Range, _Mapping]]] = ...) -> None: ...

class Ack(_message.Message):
    __slots__ = ("run", "streams")
    RUN_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    run: int
    streams: _containers.RepeatedCompositeFieldContainer[StreamAck]
    def __init__(self, run: _Optional[int] = ..., streams: _Optional[_Iterable[_Union[StreamAck, _Mapping]]] = ...) -> None: ...

class StreamState(_message.Message):
    __slots__ = ("stream", "recorded", "cut_index", "cut_time", "blocks", "held", "losses", "units", "units_used")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    CUT_INDEX_FIELD_NUMBER: _ClassVar[int]
    CUT_TIME_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    UNITS_USED_FIELD_NUMBER: _ClassVar[int]
    stream: int
    recorded: int
    cut_index: int
    cut_time: int
    blocks: int
    held: int
    losses: Losses
    units: int
    units_used: int
    def __init__(self, stream: _Optional[int] = ..., recorded: _Optional[int] = ..., cut_index: _Optional[int] = ..., cut_time: _Optional[int] = ..., blocks: _Optional[int] = ..., held: _Optional[int] = ..., losses: _Optional[_Union[Losses, _Mapping]] = ..., units: _Optional[int] = ..., units_used: _Optional[int] = ...) -> None: ...

class TargetHeartbeat(_message.Message):
    __slots__ = ("time", "clock_hz", "os_release", "table_fingerprint", "object_version", "run", "running", "streams", "link", "echo")
    TIME_FIELD_NUMBER: _ClassVar[int]
    CLOCK_HZ_FIELD_NUMBER: _ClassVar[int]
    OS_RELEASE_FIELD_NUMBER: _ClassVar[int]
    TABLE_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    OBJECT_VERSION_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    LINK_FIELD_NUMBER: _ClassVar[int]
    ECHO_FIELD_NUMBER: _ClassVar[int]
    time: int
    clock_hz: int
    os_release: str
    table_fingerprint: int
    object_version: int
    run: int
    running: bool
    streams: _containers.RepeatedCompositeFieldContainer[StreamState]
    link: LinkCounters
    echo: int
    def __init__(self, time: _Optional[int] = ..., clock_hz: _Optional[int] = ..., os_release: _Optional[str] = ..., table_fingerprint: _Optional[int] = ..., object_version: _Optional[int] = ..., run: _Optional[int] = ..., running: _Optional[bool] = ..., streams: _Optional[_Iterable[_Union[StreamState, _Mapping]]] = ..., link: _Optional[_Union[LinkCounters, _Mapping]] = ..., echo: _Optional[int] = ...) -> None: ...

class LinkCounters(_message.Message):
    __slots__ = ("sent", "received", "refused", "resent", "send_failed")
    SENT_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    RESENT_FIELD_NUMBER: _ClassVar[int]
    SEND_FAILED_FIELD_NUMBER: _ClassVar[int]
    sent: int
    received: int
    refused: int
    resent: int
    send_failed: int
    def __init__(self, sent: _Optional[int] = ..., received: _Optional[int] = ..., refused: _Optional[int] = ..., resent: _Optional[int] = ..., send_failed: _Optional[int] = ...) -> None: ...

class HostHeartbeat(_message.Message):
    __slots__ = ("time",)
    TIME_FIELD_NUMBER: _ClassVar[int]
    time: int
    def __init__(self, time: _Optional[int] = ...) -> None: ...

class RunConfig(_message.Message):
    __slots__ = ("enable", "datagram_bytes", "unit_slots", "units", "policy", "high_water", "flush_ms", "one_way", "no_upload", "max_ticks")
    ENABLE_FIELD_NUMBER: _ClassVar[int]
    DATAGRAM_BYTES_FIELD_NUMBER: _ClassVar[int]
    UNIT_SLOTS_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    POLICY_FIELD_NUMBER: _ClassVar[int]
    HIGH_WATER_FIELD_NUMBER: _ClassVar[int]
    FLUSH_MS_FIELD_NUMBER: _ClassVar[int]
    ONE_WAY_FIELD_NUMBER: _ClassVar[int]
    NO_UPLOAD_FIELD_NUMBER: _ClassVar[int]
    MAX_TICKS_FIELD_NUMBER: _ClassVar[int]
    enable: bytes
    datagram_bytes: int
    unit_slots: int
    units: int
    policy: Policy
    high_water: int
    flush_ms: int
    one_way: bool
    no_upload: bool
    max_ticks: int
    def __init__(self, enable: _Optional[bytes] = ..., datagram_bytes: _Optional[int] = ..., unit_slots: _Optional[int] = ..., units: _Optional[int] = ..., policy: _Optional[_Union[Policy, str]] = ..., high_water: _Optional[int] = ..., flush_ms: _Optional[int] = ..., one_way: _Optional[bool] = ..., no_upload: _Optional[bool] = ..., max_ticks: _Optional[int] = ...) -> None: ...

class Hello(_message.Message):
    __slots__ = ("cookie", "pad")
    COOKIE_FIELD_NUMBER: _ClassVar[int]
    PAD_FIELD_NUMBER: _ClassVar[int]
    cookie: int
    pad: bytes
    def __init__(self, cookie: _Optional[int] = ..., pad: _Optional[bytes] = ...) -> None: ...

class InfoRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class TablesRequest(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Start(_message.Message):
    __slots__ = ("config",)
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    config: RunConfig
    def __init__(self, config: _Optional[_Union[RunConfig, _Mapping]] = ...) -> None: ...

class Stop(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Trigger(_message.Message):
    __slots__ = ("number", "text")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    number: int
    text: str
    def __init__(self, number: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class Scenario(_message.Message):
    __slots__ = ("name",)
    NAME_FIELD_NUMBER: _ClassVar[int]
    name: str
    def __init__(self, name: _Optional[str] = ...) -> None: ...

class Filter(_message.Message):
    __slots__ = ("event", "on")
    EVENT_FIELD_NUMBER: _ClassVar[int]
    ON_FIELD_NUMBER: _ClassVar[int]
    event: int
    on: bool
    def __init__(self, event: _Optional[int] = ..., on: _Optional[bool] = ...) -> None: ...

class Bye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Command(_message.Message):
    __slots__ = ("request", "hello", "info", "tables", "start", "stop", "trigger", "scenario", "filter", "bye")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    HELLO_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    TABLES_FIELD_NUMBER: _ClassVar[int]
    START_FIELD_NUMBER: _ClassVar[int]
    STOP_FIELD_NUMBER: _ClassVar[int]
    TRIGGER_FIELD_NUMBER: _ClassVar[int]
    SCENARIO_FIELD_NUMBER: _ClassVar[int]
    FILTER_FIELD_NUMBER: _ClassVar[int]
    BYE_FIELD_NUMBER: _ClassVar[int]
    request: int
    hello: Hello
    info: InfoRequest
    tables: TablesRequest
    start: Start
    stop: Stop
    trigger: Trigger
    scenario: Scenario
    filter: Filter
    bye: Bye
    def __init__(self, request: _Optional[int] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., info: _Optional[_Union[InfoRequest, _Mapping]] = ..., tables: _Optional[_Union[TablesRequest, _Mapping]] = ..., start: _Optional[_Union[Start, _Mapping]] = ..., stop: _Optional[_Union[Stop, _Mapping]] = ..., trigger: _Optional[_Union[Trigger, _Mapping]] = ..., scenario: _Optional[_Union[Scenario, _Mapping]] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., bye: _Optional[_Union[Bye, _Mapping]] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("request", "result", "text", "cookie", "info", "started", "end")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    COOKIE_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    request: int
    result: Result
    text: str
    cookie: int
    info: TargetInfo
    started: Started
    end: End
    def __init__(self, request: _Optional[int] = ..., result: _Optional[_Union[Result, str]] = ..., text: _Optional[str] = ..., cookie: _Optional[int] = ..., info: _Optional[_Union[TargetInfo, _Mapping]] = ..., started: _Optional[_Union[Started, _Mapping]] = ..., end: _Optional[_Union[End, _Mapping]] = ...) -> None: ...

class Started(_message.Message):
    __slots__ = ("run", "time", "config")
    RUN_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    run: int
    time: int
    config: RunConfig
    def __init__(self, run: _Optional[int] = ..., time: _Optional[int] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ...) -> None: ...

class End(_message.Message):
    __slots__ = ("run", "time", "reason", "streams")
    RUN_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    REASON_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    run: int
    time: int
    reason: int
    streams: _containers.RepeatedCompositeFieldContainer[StreamState]
    def __init__(self, run: _Optional[int] = ..., time: _Optional[int] = ..., reason: _Optional[int] = ..., streams: _Optional[_Iterable[_Union[StreamState, _Mapping]]] = ...) -> None: ...

class TargetInfo(_message.Message):
    __slots__ = ("os_name", "os_release", "board", "agent_version", "clock_hz", "big_endian", "streams", "table_fingerprint", "max_units", "arena_bytes", "offered", "boot", "time", "unnamed")
    OS_NAME_FIELD_NUMBER: _ClassVar[int]
    OS_RELEASE_FIELD_NUMBER: _ClassVar[int]
    BOARD_FIELD_NUMBER: _ClassVar[int]
    AGENT_VERSION_FIELD_NUMBER: _ClassVar[int]
    CLOCK_HZ_FIELD_NUMBER: _ClassVar[int]
    BIG_ENDIAN_FIELD_NUMBER: _ClassVar[int]
    STREAMS_FIELD_NUMBER: _ClassVar[int]
    TABLE_FINGERPRINT_FIELD_NUMBER: _ClassVar[int]
    MAX_UNITS_FIELD_NUMBER: _ClassVar[int]
    ARENA_BYTES_FIELD_NUMBER: _ClassVar[int]
    OFFERED_FIELD_NUMBER: _ClassVar[int]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    UNNAMED_FIELD_NUMBER: _ClassVar[int]
    os_name: str
    os_release: str
    board: str
    agent_version: str
    clock_hz: int
    big_endian: bool
    streams: int
    table_fingerprint: int
    max_units: int
    arena_bytes: int
    offered: bytes
    boot: int
    time: int
    unnamed: int
    def __init__(self, os_name: _Optional[str] = ..., os_release: _Optional[str] = ..., board: _Optional[str] = ..., agent_version: _Optional[str] = ..., clock_hz: _Optional[int] = ..., big_endian: _Optional[bool] = ..., streams: _Optional[int] = ..., table_fingerprint: _Optional[int] = ..., max_units: _Optional[int] = ..., arena_bytes: _Optional[int] = ..., offered: _Optional[bytes] = ..., boot: _Optional[int] = ..., time: _Optional[int] = ..., unnamed: _Optional[int] = ...) -> None: ...

class Field(_message.Message):
    __slots__ = ("name", "type", "kind", "unit", "length")
    NAME_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    UNIT_FIELD_NUMBER: _ClassVar[int]
    LENGTH_FIELD_NUMBER: _ClassVar[int]
    name: str
    type: int
    kind: str
    unit: str
    length: str
    def __init__(self, name: _Optional[str] = ..., type: _Optional[int] = ..., kind: _Optional[str] = ..., unit: _Optional[str] = ..., length: _Optional[str] = ...) -> None: ...

class Event(_message.Message):
    __slots__ = ("id", "name", "klass", "arg", "fields", "combine", "partition_origin")
    ID_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    KLASS_FIELD_NUMBER: _ClassVar[int]
    ARG_FIELD_NUMBER: _ClassVar[int]
    FIELDS_FIELD_NUMBER: _ClassVar[int]
    COMBINE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_ORIGIN_FIELD_NUMBER: _ClassVar[int]
    id: int
    name: str
    klass: str
    arg: Field
    fields: _containers.RepeatedCompositeFieldContainer[Field]
    combine: bool
    partition_origin: bool
    def __init__(self, id: _Optional[int] = ..., name: _Optional[str] = ..., klass: _Optional[str] = ..., arg: _Optional[_Union[Field, _Mapping]] = ..., fields: _Optional[_Iterable[_Union[Field, _Mapping]]] = ..., combine: _Optional[bool] = ..., partition_origin: _Optional[bool] = ...) -> None: ...

class EnumValue(_message.Message):
    __slots__ = ("value", "name")
    VALUE_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    value: int
    name: str
    def __init__(self, value: _Optional[int] = ..., name: _Optional[str] = ...) -> None: ...

class Enumeration(_message.Message):
    __slots__ = ("name", "values")
    NAME_FIELD_NUMBER: _ClassVar[int]
    VALUES_FIELD_NUMBER: _ClassVar[int]
    name: str
    values: _containers.RepeatedCompositeFieldContainer[EnumValue]
    def __init__(self, name: _Optional[str] = ..., values: _Optional[_Iterable[_Union[EnumValue, _Mapping]]] = ...) -> None: ...

class EventTable(_message.Message):
    __slots__ = ("os_release", "format", "events", "enums")
    OS_RELEASE_FIELD_NUMBER: _ClassVar[int]
    FORMAT_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    ENUMS_FIELD_NUMBER: _ClassVar[int]
    os_release: str
    format: int
    events: _containers.RepeatedCompositeFieldContainer[Event]
    enums: _containers.RepeatedCompositeFieldContainer[Enumeration]
    def __init__(self, os_release: _Optional[str] = ..., format: _Optional[int] = ..., events: _Optional[_Iterable[_Union[Event, _Mapping]]] = ..., enums: _Optional[_Iterable[_Union[Enumeration, _Mapping]]] = ...) -> None: ...

class Window(_message.Message):
    __slots__ = ("partition", "release_point", "offset", "duration")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    RELEASE_POINT_FIELD_NUMBER: _ClassVar[int]
    OFFSET_FIELD_NUMBER: _ClassVar[int]
    DURATION_FIELD_NUMBER: _ClassVar[int]
    partition: int
    release_point: bool
    offset: int
    duration: int
    def __init__(self, partition: _Optional[int] = ..., release_point: _Optional[bool] = ..., offset: _Optional[int] = ..., duration: _Optional[int] = ...) -> None: ...

class Schedule(_message.Message):
    __slots__ = ("id", "major_frame", "windows")
    ID_FIELD_NUMBER: _ClassVar[int]
    MAJOR_FRAME_FIELD_NUMBER: _ClassVar[int]
    WINDOWS_FIELD_NUMBER: _ClassVar[int]
    id: int
    major_frame: int
    windows: _containers.RepeatedCompositeFieldContainer[Window]
    def __init__(self, id: _Optional[int] = ..., major_frame: _Optional[int] = ..., windows: _Optional[_Iterable[_Union[Window, _Mapping]]] = ...) -> None: ...

class PartitionEntry(_message.Message):
    __slots__ = ("index", "name", "handle")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    index: int
    name: str
    handle: int
    def __init__(self, index: _Optional[int] = ..., name: _Optional[str] = ..., handle: _Optional[int] = ...) -> None: ...

class TaskEntry(_message.Message):
    __slots__ = ("index", "partition", "name", "handle", "priority", "stack_size", "period", "time_capacity", "idle", "deleted")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    PRIORITY_FIELD_NUMBER: _ClassVar[int]
    STACK_SIZE_FIELD_NUMBER: _ClassVar[int]
    PERIOD_FIELD_NUMBER: _ClassVar[int]
    TIME_CAPACITY_FIELD_NUMBER: _ClassVar[int]
    IDLE_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    index: int
    partition: int
    name: str
    handle: int
    priority: int
    stack_size: int
    period: int
    time_capacity: int
    idle: bool
    deleted: bool
    def __init__(self, index: _Optional[int] = ..., partition: _Optional[int] = ..., name: _Optional[str] = ..., handle: _Optional[int] = ..., priority: _Optional[int] = ..., stack_size: _Optional[int] = ..., period: _Optional[int] = ..., time_capacity: _Optional[int] = ..., idle: _Optional[bool] = ..., deleted: _Optional[bool] = ...) -> None: ...

class ObjectEntry(_message.Message):
    __slots__ = ("index", "type", "partition", "name", "handle", "message_size", "capacity", "deleted")
    INDEX_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    NAME_FIELD_NUMBER: _ClassVar[int]
    HANDLE_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_SIZE_FIELD_NUMBER: _ClassVar[int]
    CAPACITY_FIELD_NUMBER: _ClassVar[int]
    DELETED_FIELD_NUMBER: _ClassVar[int]
    index: int
    type: int
    partition: int
    name: str
    handle: int
    message_size: int
    capacity: int
    deleted: bool
    def __init__(self, index: _Optional[int] = ..., type: _Optional[int] = ..., partition: _Optional[int] = ..., name: _Optional[str] = ..., handle: _Optional[int] = ..., message_size: _Optional[int] = ..., capacity: _Optional[int] = ..., deleted: _Optional[bool] = ...) -> None: ...

class ObjectTable(_message.Message):
    __slots__ = ("version", "schedules", "partitions", "tasks", "objects")
    VERSION_FIELD_NUMBER: _ClassVar[int]
    SCHEDULES_FIELD_NUMBER: _ClassVar[int]
    PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    TASKS_FIELD_NUMBER: _ClassVar[int]
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    version: int
    schedules: _containers.RepeatedCompositeFieldContainer[Schedule]
    partitions: _containers.RepeatedCompositeFieldContainer[PartitionEntry]
    tasks: _containers.RepeatedCompositeFieldContainer[TaskEntry]
    objects: _containers.RepeatedCompositeFieldContainer[ObjectEntry]
    def __init__(self, version: _Optional[int] = ..., schedules: _Optional[_Iterable[_Union[Schedule, _Mapping]]] = ..., partitions: _Optional[_Iterable[_Union[PartitionEntry, _Mapping]]] = ..., tasks: _Optional[_Iterable[_Union[TaskEntry, _Mapping]]] = ..., objects: _Optional[_Iterable[_Union[ObjectEntry, _Mapping]]] = ...) -> None: ...

class Table(_message.Message):
    __slots__ = ("info", "events", "objects")
    INFO_FIELD_NUMBER: _ClassVar[int]
    EVENTS_FIELD_NUMBER: _ClassVar[int]
    OBJECTS_FIELD_NUMBER: _ClassVar[int]
    info: TargetInfo
    events: EventTable
    objects: ObjectTable
    def __init__(self, info: _Optional[_Union[TargetInfo, _Mapping]] = ..., events: _Optional[_Union[EventTable, _Mapping]] = ..., objects: _Optional[_Union[ObjectTable, _Mapping]] = ...) -> None: ...
