from google.protobuf.internal import containers as _containers
from google.protobuf.internal import enum_type_wrapper as _enum_type_wrapper
from google.protobuf import descriptor as _descriptor
from google.protobuf import message as _message
from collections.abc import Iterable as _Iterable, Mapping as _Mapping
from typing import ClassVar as _ClassVar, Optional as _Optional, Union as _Union

DESCRIPTOR: _descriptor.FileDescriptor

class NoteKind(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    LINK_LOST: _ClassVar[NoteKind]
    LINK_BACK: _ClassVar[NoteKind]
    REBOOT: _ClassVar[NoteKind]
    RESUMED: _ClassVar[NoteKind]
    PORT_CHANGED: _ClassVar[NoteKind]
    CANCELLED: _ClassVar[NoteKind]
    UNANSWERED: _ClassVar[NoteKind]

class Payload(int, metaclass=_enum_type_wrapper.EnumTypeWrapper):
    __slots__ = ()
    METADATA: _ClassVar[Payload]
    OFF: _ClassVar[Payload]
    CONTENT: _ClassVar[Payload]

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
    KEY: _ClassVar[Result]
LINK_LOST: NoteKind
LINK_BACK: NoteKind
REBOOT: NoteKind
RESUMED: NoteKind
PORT_CHANGED: NoteKind
CANCELLED: NoteKind
UNANSWERED: NoteKind
METADATA: Payload
OFF: Payload
CONTENT: Payload
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
KEY: Result

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
    __slots__ = ("stream", "recorded", "cut_index", "cut_time", "blocks", "held", "losses", "units", "units_used", "grow_failures")
    STREAM_FIELD_NUMBER: _ClassVar[int]
    RECORDED_FIELD_NUMBER: _ClassVar[int]
    CUT_INDEX_FIELD_NUMBER: _ClassVar[int]
    CUT_TIME_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    HELD_FIELD_NUMBER: _ClassVar[int]
    LOSSES_FIELD_NUMBER: _ClassVar[int]
    UNITS_FIELD_NUMBER: _ClassVar[int]
    UNITS_USED_FIELD_NUMBER: _ClassVar[int]
    GROW_FAILURES_FIELD_NUMBER: _ClassVar[int]
    stream: int
    recorded: int
    cut_index: int
    cut_time: int
    blocks: int
    held: int
    losses: Losses
    units: int
    units_used: int
    grow_failures: int
    def __init__(self, stream: _Optional[int] = ..., recorded: _Optional[int] = ..., cut_index: _Optional[int] = ..., cut_time: _Optional[int] = ..., blocks: _Optional[int] = ..., held: _Optional[int] = ..., losses: _Optional[_Union[Losses, _Mapping]] = ..., units: _Optional[int] = ..., units_used: _Optional[int] = ..., grow_failures: _Optional[int] = ...) -> None: ...

class TargetHeartbeat(_message.Message):
    __slots__ = ("time", "clock_hz", "os_release", "table_fingerprint", "object_version", "run", "running", "streams", "link", "echo", "echo_time")
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
    ECHO_TIME_FIELD_NUMBER: _ClassVar[int]
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
    echo_time: int
    def __init__(self, time: _Optional[int] = ..., clock_hz: _Optional[int] = ..., os_release: _Optional[str] = ..., table_fingerprint: _Optional[int] = ..., object_version: _Optional[int] = ..., run: _Optional[int] = ..., running: _Optional[bool] = ..., streams: _Optional[_Iterable[_Union[StreamState, _Mapping]]] = ..., link: _Optional[_Union[LinkCounters, _Mapping]] = ..., echo: _Optional[int] = ..., echo_time: _Optional[int] = ...) -> None: ...

class LinkCounters(_message.Message):
    __slots__ = ("sent", "received", "refused", "resent", "send_failed", "malformed", "no_key", "wrong_key", "replayed", "stranger", "unchecked")
    SENT_FIELD_NUMBER: _ClassVar[int]
    RECEIVED_FIELD_NUMBER: _ClassVar[int]
    REFUSED_FIELD_NUMBER: _ClassVar[int]
    RESENT_FIELD_NUMBER: _ClassVar[int]
    SEND_FAILED_FIELD_NUMBER: _ClassVar[int]
    MALFORMED_FIELD_NUMBER: _ClassVar[int]
    NO_KEY_FIELD_NUMBER: _ClassVar[int]
    WRONG_KEY_FIELD_NUMBER: _ClassVar[int]
    REPLAYED_FIELD_NUMBER: _ClassVar[int]
    STRANGER_FIELD_NUMBER: _ClassVar[int]
    UNCHECKED_FIELD_NUMBER: _ClassVar[int]
    sent: int
    received: int
    refused: int
    resent: int
    send_failed: int
    malformed: int
    no_key: int
    wrong_key: int
    replayed: int
    stranger: int
    unchecked: int
    def __init__(self, sent: _Optional[int] = ..., received: _Optional[int] = ..., refused: _Optional[int] = ..., resent: _Optional[int] = ..., send_failed: _Optional[int] = ..., malformed: _Optional[int] = ..., no_key: _Optional[int] = ..., wrong_key: _Optional[int] = ..., replayed: _Optional[int] = ..., stranger: _Optional[int] = ..., unchecked: _Optional[int] = ...) -> None: ...

class HostHeartbeat(_message.Message):
    __slots__ = ("time",)
    TIME_FIELD_NUMBER: _ClassVar[int]
    time: int
    def __init__(self, time: _Optional[int] = ...) -> None: ...

class FragmentRequest(_message.Message):
    __slots__ = ("channel", "message", "missing")
    CHANNEL_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    MISSING_FIELD_NUMBER: _ClassVar[int]
    channel: int
    message: int
    missing: int
    def __init__(self, channel: _Optional[int] = ..., message: _Optional[int] = ..., missing: _Optional[int] = ...) -> None: ...

class Note(_message.Message):
    __slots__ = ("kind", "run", "boot", "silence", "text")
    KIND_FIELD_NUMBER: _ClassVar[int]
    RUN_FIELD_NUMBER: _ClassVar[int]
    BOOT_FIELD_NUMBER: _ClassVar[int]
    SILENCE_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    kind: NoteKind
    run: int
    boot: int
    silence: int
    text: str
    def __init__(self, kind: _Optional[_Union[NoteKind, str]] = ..., run: _Optional[int] = ..., boot: _Optional[int] = ..., silence: _Optional[int] = ..., text: _Optional[str] = ...) -> None: ...

class RunConfig(_message.Message):
    __slots__ = ("enable", "datagram_bytes", "unit_slots", "units", "policy", "high_water", "flush_ms", "one_way", "no_upload", "max_ticks", "hidden_partitions", "hidden_objects", "payload", "content_bytes", "fast", "memory_ms", "stack_ms", "operations_ms", "grow_units", "max_units", "max_records", "stop_when_full")
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
    HIDDEN_PARTITIONS_FIELD_NUMBER: _ClassVar[int]
    HIDDEN_OBJECTS_FIELD_NUMBER: _ClassVar[int]
    PAYLOAD_FIELD_NUMBER: _ClassVar[int]
    CONTENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    FAST_FIELD_NUMBER: _ClassVar[int]
    MEMORY_MS_FIELD_NUMBER: _ClassVar[int]
    STACK_MS_FIELD_NUMBER: _ClassVar[int]
    OPERATIONS_MS_FIELD_NUMBER: _ClassVar[int]
    GROW_UNITS_FIELD_NUMBER: _ClassVar[int]
    MAX_UNITS_FIELD_NUMBER: _ClassVar[int]
    MAX_RECORDS_FIELD_NUMBER: _ClassVar[int]
    STOP_WHEN_FULL_FIELD_NUMBER: _ClassVar[int]
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
    hidden_partitions: bytes
    hidden_objects: bytes
    payload: Payload
    content_bytes: int
    fast: bool
    memory_ms: int
    stack_ms: int
    operations_ms: int
    grow_units: int
    max_units: int
    max_records: int
    stop_when_full: bool
    def __init__(self, enable: _Optional[bytes] = ..., datagram_bytes: _Optional[int] = ..., unit_slots: _Optional[int] = ..., units: _Optional[int] = ..., policy: _Optional[_Union[Policy, str]] = ..., high_water: _Optional[int] = ..., flush_ms: _Optional[int] = ..., one_way: _Optional[bool] = ..., no_upload: _Optional[bool] = ..., max_ticks: _Optional[int] = ..., hidden_partitions: _Optional[bytes] = ..., hidden_objects: _Optional[bytes] = ..., payload: _Optional[_Union[Payload, str]] = ..., content_bytes: _Optional[int] = ..., fast: _Optional[bool] = ..., memory_ms: _Optional[int] = ..., stack_ms: _Optional[int] = ..., operations_ms: _Optional[int] = ..., grow_units: _Optional[int] = ..., max_units: _Optional[int] = ..., max_records: _Optional[int] = ..., stop_when_full: _Optional[bool] = ...) -> None: ...

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

class Configure(_message.Message):
    __slots__ = ("config", "check_only")
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    CHECK_ONLY_FIELD_NUMBER: _ClassVar[int]
    config: RunConfig
    check_only: bool
    def __init__(self, config: _Optional[_Union[RunConfig, _Mapping]] = ..., check_only: _Optional[bool] = ...) -> None: ...

class MemoryRequest(_message.Message):
    __slots__ = ("first",)
    FIRST_FIELD_NUMBER: _ClassVar[int]
    first: int
    def __init__(self, first: _Optional[int] = ...) -> None: ...

class LogRequest(_message.Message):
    __slots__ = ("log", "before", "count", "type", "partition")
    LOG_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    COUNT_FIELD_NUMBER: _ClassVar[int]
    TYPE_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    log: int
    before: int
    count: int
    type: int
    partition: int
    def __init__(self, log: _Optional[int] = ..., before: _Optional[int] = ..., count: _Optional[int] = ..., type: _Optional[int] = ..., partition: _Optional[int] = ...) -> None: ...

class Bye(_message.Message):
    __slots__ = ()
    def __init__(self) -> None: ...

class Command(_message.Message):
    __slots__ = ("request", "hello", "info", "tables", "start", "stop", "trigger", "scenario", "filter", "bye", "configure", "memory", "log")
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
    CONFIGURE_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
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
    configure: Configure
    memory: MemoryRequest
    log: LogRequest
    def __init__(self, request: _Optional[int] = ..., hello: _Optional[_Union[Hello, _Mapping]] = ..., info: _Optional[_Union[InfoRequest, _Mapping]] = ..., tables: _Optional[_Union[TablesRequest, _Mapping]] = ..., start: _Optional[_Union[Start, _Mapping]] = ..., stop: _Optional[_Union[Stop, _Mapping]] = ..., trigger: _Optional[_Union[Trigger, _Mapping]] = ..., scenario: _Optional[_Union[Scenario, _Mapping]] = ..., filter: _Optional[_Union[Filter, _Mapping]] = ..., bye: _Optional[_Union[Bye, _Mapping]] = ..., configure: _Optional[_Union[Configure, _Mapping]] = ..., memory: _Optional[_Union[MemoryRequest, _Mapping]] = ..., log: _Optional[_Union[LogRequest, _Mapping]] = ...) -> None: ...

class Challenge(_message.Message):
    __slots__ = ("nonce", "session")
    NONCE_FIELD_NUMBER: _ClassVar[int]
    SESSION_FIELD_NUMBER: _ClassVar[int]
    nonce: int
    session: int
    def __init__(self, nonce: _Optional[int] = ..., session: _Optional[int] = ...) -> None: ...

class Reply(_message.Message):
    __slots__ = ("request", "result", "text", "cookie", "info", "started", "end", "config", "memory", "log", "challenge")
    REQUEST_FIELD_NUMBER: _ClassVar[int]
    RESULT_FIELD_NUMBER: _ClassVar[int]
    TEXT_FIELD_NUMBER: _ClassVar[int]
    COOKIE_FIELD_NUMBER: _ClassVar[int]
    INFO_FIELD_NUMBER: _ClassVar[int]
    STARTED_FIELD_NUMBER: _ClassVar[int]
    END_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    MEMORY_FIELD_NUMBER: _ClassVar[int]
    LOG_FIELD_NUMBER: _ClassVar[int]
    CHALLENGE_FIELD_NUMBER: _ClassVar[int]
    request: int
    result: Result
    text: str
    cookie: int
    info: TargetInfo
    started: Started
    end: End
    config: RunConfig
    memory: MemoryPage
    log: LogPage
    challenge: Challenge
    def __init__(self, request: _Optional[int] = ..., result: _Optional[_Union[Result, str]] = ..., text: _Optional[str] = ..., cookie: _Optional[int] = ..., info: _Optional[_Union[TargetInfo, _Mapping]] = ..., started: _Optional[_Union[Started, _Mapping]] = ..., end: _Optional[_Union[End, _Mapping]] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ..., memory: _Optional[_Union[MemoryPage, _Mapping]] = ..., log: _Optional[_Union[LogPage, _Mapping]] = ..., challenge: _Optional[_Union[Challenge, _Mapping]] = ...) -> None: ...

class MemoryEntry(_message.Message):
    __slots__ = ("partition", "free", "allocated", "blocks", "largest", "high_water")
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    FREE_FIELD_NUMBER: _ClassVar[int]
    ALLOCATED_FIELD_NUMBER: _ClassVar[int]
    BLOCKS_FIELD_NUMBER: _ClassVar[int]
    LARGEST_FIELD_NUMBER: _ClassVar[int]
    HIGH_WATER_FIELD_NUMBER: _ClassVar[int]
    partition: int
    free: int
    allocated: int
    blocks: int
    largest: int
    high_water: int
    def __init__(self, partition: _Optional[int] = ..., free: _Optional[int] = ..., allocated: _Optional[int] = ..., blocks: _Optional[int] = ..., largest: _Optional[int] = ..., high_water: _Optional[int] = ...) -> None: ...

class MemoryPage(_message.Message):
    __slots__ = ("time", "entries", "next")
    TIME_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    time: int
    entries: _containers.RepeatedCompositeFieldContainer[MemoryEntry]
    next: int
    def __init__(self, time: _Optional[int] = ..., entries: _Optional[_Iterable[_Union[MemoryEntry, _Mapping]]] = ..., next: _Optional[int] = ...) -> None: ...

class LogEntry(_message.Message):
    __slots__ = ("number", "time", "boot_cycle", "kind", "code", "level", "subcode", "address", "action", "partition", "task", "partition_name", "task_name", "message")
    NUMBER_FIELD_NUMBER: _ClassVar[int]
    TIME_FIELD_NUMBER: _ClassVar[int]
    BOOT_CYCLE_FIELD_NUMBER: _ClassVar[int]
    KIND_FIELD_NUMBER: _ClassVar[int]
    CODE_FIELD_NUMBER: _ClassVar[int]
    LEVEL_FIELD_NUMBER: _ClassVar[int]
    SUBCODE_FIELD_NUMBER: _ClassVar[int]
    ADDRESS_FIELD_NUMBER: _ClassVar[int]
    ACTION_FIELD_NUMBER: _ClassVar[int]
    PARTITION_FIELD_NUMBER: _ClassVar[int]
    TASK_FIELD_NUMBER: _ClassVar[int]
    PARTITION_NAME_FIELD_NUMBER: _ClassVar[int]
    TASK_NAME_FIELD_NUMBER: _ClassVar[int]
    MESSAGE_FIELD_NUMBER: _ClassVar[int]
    number: int
    time: int
    boot_cycle: int
    kind: int
    code: int
    level: int
    subcode: int
    address: int
    action: int
    partition: int
    task: int
    partition_name: str
    task_name: str
    message: str
    def __init__(self, number: _Optional[int] = ..., time: _Optional[int] = ..., boot_cycle: _Optional[int] = ..., kind: _Optional[int] = ..., code: _Optional[int] = ..., level: _Optional[int] = ..., subcode: _Optional[int] = ..., address: _Optional[int] = ..., action: _Optional[int] = ..., partition: _Optional[int] = ..., task: _Optional[int] = ..., partition_name: _Optional[str] = ..., task_name: _Optional[str] = ..., message: _Optional[str] = ...) -> None: ...

class LogPage(_message.Message):
    __slots__ = ("log", "oldest", "next", "missed", "generation", "boot_cycle", "before", "entries", "unreadable")
    LOG_FIELD_NUMBER: _ClassVar[int]
    OLDEST_FIELD_NUMBER: _ClassVar[int]
    NEXT_FIELD_NUMBER: _ClassVar[int]
    MISSED_FIELD_NUMBER: _ClassVar[int]
    GENERATION_FIELD_NUMBER: _ClassVar[int]
    BOOT_CYCLE_FIELD_NUMBER: _ClassVar[int]
    BEFORE_FIELD_NUMBER: _ClassVar[int]
    ENTRIES_FIELD_NUMBER: _ClassVar[int]
    UNREADABLE_FIELD_NUMBER: _ClassVar[int]
    log: int
    oldest: int
    next: int
    missed: int
    generation: int
    boot_cycle: int
    before: int
    entries: _containers.RepeatedCompositeFieldContainer[LogEntry]
    unreadable: int
    def __init__(self, log: _Optional[int] = ..., oldest: _Optional[int] = ..., next: _Optional[int] = ..., missed: _Optional[int] = ..., generation: _Optional[int] = ..., boot_cycle: _Optional[int] = ..., before: _Optional[int] = ..., entries: _Optional[_Iterable[_Union[LogEntry, _Mapping]]] = ..., unreadable: _Optional[int] = ...) -> None: ...

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
    __slots__ = ("os_name", "os_release", "board", "agent_version", "clock_hz", "big_endian", "streams", "table_fingerprint", "max_units", "arena_bytes", "offered", "boot", "time", "unnamed", "min_period_ms", "max_period_ms", "max_content_bytes", "hm_log", "edr_log", "running", "config", "partition_count", "object_count", "has_key")
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
    MIN_PERIOD_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_PERIOD_MS_FIELD_NUMBER: _ClassVar[int]
    MAX_CONTENT_BYTES_FIELD_NUMBER: _ClassVar[int]
    HM_LOG_FIELD_NUMBER: _ClassVar[int]
    EDR_LOG_FIELD_NUMBER: _ClassVar[int]
    RUNNING_FIELD_NUMBER: _ClassVar[int]
    CONFIG_FIELD_NUMBER: _ClassVar[int]
    PARTITION_COUNT_FIELD_NUMBER: _ClassVar[int]
    OBJECT_COUNT_FIELD_NUMBER: _ClassVar[int]
    HAS_KEY_FIELD_NUMBER: _ClassVar[int]
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
    min_period_ms: int
    max_period_ms: int
    max_content_bytes: int
    hm_log: bool
    edr_log: bool
    running: bool
    config: RunConfig
    partition_count: int
    object_count: int
    has_key: bool
    def __init__(self, os_name: _Optional[str] = ..., os_release: _Optional[str] = ..., board: _Optional[str] = ..., agent_version: _Optional[str] = ..., clock_hz: _Optional[int] = ..., big_endian: _Optional[bool] = ..., streams: _Optional[int] = ..., table_fingerprint: _Optional[int] = ..., max_units: _Optional[int] = ..., arena_bytes: _Optional[int] = ..., offered: _Optional[bytes] = ..., boot: _Optional[int] = ..., time: _Optional[int] = ..., unnamed: _Optional[int] = ..., min_period_ms: _Optional[int] = ..., max_period_ms: _Optional[int] = ..., max_content_bytes: _Optional[int] = ..., hm_log: _Optional[bool] = ..., edr_log: _Optional[bool] = ..., running: _Optional[bool] = ..., config: _Optional[_Union[RunConfig, _Mapping]] = ..., partition_count: _Optional[int] = ..., object_count: _Optional[int] = ..., has_key: _Optional[bool] = ...) -> None: ...

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
