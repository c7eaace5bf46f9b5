# SPDX-License-Identifier: Apache-2.0
"""What the wire carries, as typed values. The only form in which the rest of vxmon sees it.

Times are target ticks unless a name says otherwise. Indices of 65535 mean *none* or *not known*.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum, IntFlag

from vxmon.wire.acquired import LogPage, LogRequest, MemoryPage, MemoryRequest
from vxmon.wire.authentication import Challenge, Trailer

__all__ = [
    "NOT_KNOWN",
    "Ack",
    "Block",
    "Body",
    "Bye",
    "Channel",
    "Command",
    "Configure",
    "Context",
    "Datagram",
    "End",
    "Enumeration",
    "Event",
    "EventTable",
    "Field",
    "FieldType",
    "Filter",
    "Flag",
    "Header",
    "Hello",
    "HostHeartbeat",
    "InfoRequest",
    "LinkCounters",
    "Losses",
    "ObjectEntry",
    "ObjectTable",
    "PartitionEntry",
    "Payload",
    "Policy",
    "Range",
    "Reply",
    "Request",
    "Result",
    "RunConfig",
    "Scenario",
    "Schedule",
    "Start",
    "Started",
    "Stop",
    "StreamAck",
    "StreamState",
    "Table",
    "TablesRequest",
    "TargetHeartbeat",
    "TargetInfo",
    "TaskEntry",
    "Trigger",
    "Window",
]

NOT_KNOWN = 0xFFFF


class Channel(IntEnum):
    """What a datagram is about (SPEC section 1)."""

    COMMAND = 1
    REPLY = 2
    BLOCK = 3
    TABLE = 4
    HEARTBEAT = 5
    ACK = 6
    END = 7
    RESEND = 8
    NOTE = 9


class Flag(IntFlag):
    """Bits of the header's flags."""

    BIG_ENDIAN = 1
    AUTHENTICATED = 2


class Policy(IntEnum):
    """What happens when all units are in use."""

    RING = 0
    LINEAR = 1


class Payload(IntEnum):
    """What is recorded of messages: that they were, nothing, or their content too."""

    METADATA = 0
    OFF = 1
    CONTENT = 2


class Result(IntEnum):
    """Result code of a reply."""

    OK = 0
    COOKIE = 1
    BUSY = 2
    UNKNOWN = 3
    UNSUPPORTED = 4
    LIMIT = 5
    STATE = 6
    MEMORY = 7
    KEY = 8


class FieldType(IntEnum):
    """How a field is stored (SPEC section 2)."""

    U16 = 0
    U32 = 1
    I32 = 2
    X32 = 3
    U64 = 4
    X64 = 5
    TEXT = 6
    BYTES = 7


@dataclass(frozen=True, slots=True)
class Header:
    """The fixed header of a datagram."""

    channel: int
    boot: int
    sequence: int
    flags: int = 0
    fragment: int = 0
    fragments: int = 1
    length: int = 0
    covered: int = 0
    message: int = 0
    version: int = 1

    @property
    def big_endian(self) -> bool:
        """True when this target's slots are big-endian."""
        return bool(self.flags & Flag.BIG_ENDIAN)


@dataclass(frozen=True, slots=True)
class Datagram:
    """A datagram whose header and CRC were checked, its HMAC not."""

    header: Header
    payload: bytes
    trailer: Trailer | None = None


@dataclass(frozen=True, slots=True)
class Context:
    """Who ran at an instant."""

    partition: int = NOT_KNOWN
    window: int = NOT_KNOWN
    task: int = NOT_KNOWN
    depth: int = 0


@dataclass(frozen=True, slots=True)
class Losses:
    """Records lost on the target, by cause."""

    overwritten: int = 0
    full: int = 0
    exhausted: int = 0

    @property
    def total(self) -> int:
        """All causes together."""
        return self.overwritten + self.full + self.exhausted


@dataclass(frozen=True, slots=True)
class Block:
    """A valid block of records. ``slots`` are raw bytes in the target's byte order."""

    boot: int
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
    slots: bytes
    big_endian: bool


@dataclass(frozen=True, slots=True)
class Range:
    """Blocks first ... first + count - 1."""

    first: int
    count: int


@dataclass(frozen=True, slots=True)
class StreamAck:
    """What the host has stored of a stream."""

    stream: int
    next: int
    seen: int
    missing: tuple[Range, ...] = ()


@dataclass(frozen=True, slots=True)
class Ack:
    """Acknowledgement of the blocks of a run."""

    run: int
    streams: tuple[StreamAck, ...] = ()


@dataclass(frozen=True, slots=True)
class StreamState:
    """The target's figures of one stream in this run."""

    stream: int
    recorded: int = 0
    cut_index: int = 0
    cut_time: int = 0
    blocks: int = 0
    held: int = 0
    losses: Losses = field(default_factory=Losses)
    units: int = 0
    units_used: int = 0
    grow_failures: int = 0


@dataclass(frozen=True, slots=True)
class LinkCounters:
    """The target's datagram counters since boot. ``refused`` is made of those from ``malformed`` on."""

    sent: int = 0
    received: int = 0
    refused: int = 0
    resent: int = 0
    send_failed: int = 0
    malformed: int = 0
    no_key: int = 0
    wrong_key: int = 0
    replayed: int = 0
    stranger: int = 0
    unchecked: int = 0


@dataclass(frozen=True, slots=True)
class TargetHeartbeat:
    """The target's sign of life; ``echo`` is the time of the host's last one, ``echo_time`` when it was received."""

    time: int
    clock_hz: int
    os_release: str
    table_fingerprint: int
    object_version: int = 0
    run: int = 0
    running: bool = False
    streams: tuple[StreamState, ...] = ()
    link: LinkCounters = field(default_factory=LinkCounters)
    echo: int = 0
    echo_time: int = 0


@dataclass(frozen=True, slots=True)
class HostHeartbeat:
    """The host's sign of life; time in ns of its monotonic clock."""

    time: int


@dataclass(frozen=True, slots=True)
class RunConfig:
    """How a run records and sends; 0 takes the target's default. ``events`` are event ids.

    ``hidden_partitions`` and ``hidden_objects`` are indices. Sampling periods are in ms, None: the target's default.
    """

    events: frozenset[int] = frozenset()
    datagram_bytes: int = 0
    unit_slots: int = 0
    units: int = 0
    policy: Policy = Policy.RING
    high_water: int = 0
    flush_ms: int = 0
    one_way: bool = False
    no_upload: bool = False
    max_ticks: int = 0
    hidden_partitions: frozenset[int] = frozenset()
    hidden_objects: frozenset[int] = frozenset()
    payload: Payload = Payload.METADATA
    content_bytes: int = 0
    fast: bool = False
    memory_ms: int | None = None
    stack_ms: int | None = None
    operations_ms: int | None = None
    grow_units: int = 0
    max_units: int = 0
    max_records: int = 0
    stop_when_full: bool = False


@dataclass(frozen=True, slots=True)
class Hello:
    """First contact; cookie 0 asks for one."""

    cookie: int = 0
    pad: int = 48


@dataclass(frozen=True, slots=True)
class InfoRequest:
    """Asks for TargetInfo."""


@dataclass(frozen=True, slots=True)
class TablesRequest:
    """Asks the target to send its tables."""


@dataclass(frozen=True, slots=True)
class Start:
    """Starts a run; without a configuration with the one that was configured."""

    config: RunConfig | None


@dataclass(frozen=True, slots=True)
class Stop:
    """Stops the run."""


@dataclass(frozen=True, slots=True)
class Trigger:
    """Records a MARK."""

    number: int
    text: str = ""


@dataclass(frozen=True, slots=True)
class Scenario:
    """Starts a scenario of the target."""

    name: str


@dataclass(frozen=True, slots=True)
class Filter:
    """Switches an event on or off."""

    event: int
    on: bool


@dataclass(frozen=True, slots=True)
class Configure:
    """Checks a configuration and, unless ``check_only``, makes it that of the run or of the next one."""

    config: RunConfig
    check_only: bool = False


@dataclass(frozen=True, slots=True)
class Bye:
    """Ends control."""


Request = (
    Hello | InfoRequest | TablesRequest | Start | Stop | Trigger | Scenario | Filter | Bye | Configure | MemoryRequest
    | LogRequest
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Command:
    """A request with its id."""

    request: int
    body: Request


@dataclass(frozen=True, slots=True)
class Started:
    """A run began."""

    run: int
    time: int
    config: RunConfig


@dataclass(frozen=True, slots=True)
class End:
    """Final figures of a run."""

    run: int
    time: int
    reason: int
    streams: tuple[StreamState, ...] = ()


@dataclass(frozen=True, slots=True)
class TargetInfo:
    """What the target is; ``offered`` are the ids of the events it can record.

    ``config`` is that of the run that lasts, or what was configured for the next.
    """

    os_name: str = ""
    os_release: str = ""
    board: str = ""
    agent_version: str = ""
    clock_hz: int = 0
    big_endian: bool = False
    streams: int = 1
    table_fingerprint: int = 0
    max_units: int = 0
    arena_bytes: int = 0
    offered: frozenset[int] = frozenset()
    boot: int = 0
    time: int = 0
    unnamed: int = 0
    min_period_ms: int = 0
    max_period_ms: int = 0
    max_content_bytes: int = 0
    hm_log: bool = False
    edr_log: bool = False
    running: bool = False
    config: RunConfig | None = None
    partition_count: int = 0
    object_count: int = 0
    has_key: bool = False


Body = int | TargetInfo | Started | End | RunConfig | MemoryPage | LogPage


@dataclass(frozen=True, slots=True)
class Reply:
    """The answer to a command; ``body`` is what the command asked for, a cookie as int.

    ``challenge`` stands beside a cookie when the target has a key.
    """

    request: int
    result: Result
    text: str = ""
    body: Body | None = None
    challenge: Challenge | None = None


@dataclass(frozen=True, slots=True)
class Field:
    """A field of an event: its name, how it is stored and what it means."""

    name: str
    type: FieldType
    kind: str = ""
    unit: str = ""
    length: str = ""


@dataclass(frozen=True, slots=True)
class Event:
    """An event of the table. ``arg`` is the 16-bit argument in the header slot."""

    id: int
    name: str
    klass: str
    arg: Field
    fields: tuple[Field, ...] = ()
    combine: bool = False
    partition_origin: bool = False


@dataclass(frozen=True, slots=True)
class Enumeration:
    """Names of the values of a kind ``enum:NAME``."""

    name: str
    values: dict[int, str]


@dataclass(frozen=True, slots=True)
class EventTable:
    """The events of an OS release; ``fingerprint`` is the CRC-32 of its serialized form."""

    os_release: str
    format: int
    events: tuple[Event, ...]
    enums: tuple[Enumeration, ...]
    fingerprint: int = 0


@dataclass(frozen=True, slots=True)
class Window:
    """A partition window of a schedule."""

    partition: int
    release_point: bool
    offset: int
    duration: int


@dataclass(frozen=True, slots=True)
class Schedule:
    """A schedule: consecutive windows that fill the major frame."""

    id: int
    major_frame: int
    windows: tuple[Window, ...]


@dataclass(frozen=True, slots=True)
class PartitionEntry:
    """Name and OS handle of a partition."""

    index: int
    name: str
    handle: int = 0


@dataclass(frozen=True, slots=True)
class TaskEntry:
    """Static facts of a task."""

    index: int
    partition: int
    name: str
    handle: int = 0
    priority: int = 0
    stack_size: int = 0
    period: int = 0
    time_capacity: int = 0
    idle: bool = False
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class ObjectEntry:
    """Static facts of a communication object."""

    index: int
    type: int
    partition: int
    name: str
    handle: int = 0
    message_size: int = 0
    capacity: int = 0
    deleted: bool = False


@dataclass(frozen=True, slots=True)
class ObjectTable:
    """A part of the object table; a later entry of an index replaces an earlier one."""

    version: int
    schedules: tuple[Schedule, ...] = ()
    partitions: tuple[PartitionEntry, ...] = ()
    tasks: tuple[TaskEntry, ...] = ()
    objects: tuple[ObjectEntry, ...] = ()


Table = TargetInfo | EventTable | ObjectTable
