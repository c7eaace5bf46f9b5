# SPDX-License-Identifier: Apache-2.0
# Made by `make gen` from proto/events.toml; do not edit.
"""Event ids, enumerations and the event table of each OS release."""

from __future__ import annotations

from enum import IntEnum

from vxmon.wire.types import Enumeration, Event, EventTable, Field, FieldType


__all__ = [
    "CLASSES",
    "FORMAT",
    "TABLES",
    "CommResult",
    "DeadlineKind",
    "EventId",
    "HmAction",
    "HmCode",
    "HmLevel",
    "KernelCall",
    "LinkState",
    "ObjectType",
    "OnOff",
    "Operation",
    "PartitionMode",
    "Phase",
    "Reason",
    "StopReason",
    "TaskState",
]

FORMAT = 1

CLASSES: tuple[str, ...] = (
    "CONTROL",
    "SCHED",
    "TASK",
    "INT",
    "KER",
    "MEM",
    "COMM",
    "HM",
    "USER",
)


class EventId(IntEnum):
    """Ids of the events."""

    START = 1
    STOP = 2
    FILTER = 3
    TIME = 4
    MARK = 5
    SNAPSHOT = 6
    LINK = 7
    BUFFER_GROW = 8
    MAJOR_FRAME = 32
    WINDOW = 33
    PARTITION_SWITCH = 34
    SCHEDULE = 35
    PARTITION_MODE = 36
    TASK_SWITCH = 64
    RELEASE = 65
    COMPLETE = 66
    DEADLINE = 67
    TASK_CREATE = 68
    TASK_DELETE = 69
    TASK_PRIORITY = 70
    TASK_STATE = 71
    INT_ENTR = 96
    INT_EXIT = 97
    EXCEPTION = 98
    KER_CALL = 128
    KER_EXIT = 129
    MEM_SAMPLE = 160
    MEM_SWITCH = 161
    STACK_SWITCH = 162
    STACK_SAMPLE = 163
    OP_COUNT = 164
    MSG_SEND = 192
    MSG_RECEIVE = 193
    CONTENT = 194
    OBJECT_CREATE = 195
    OBJECT_DELETE = 196
    HM_EVENT = 224
    EDR_EVENT = 225
    USER_POINT = 256
    USER = 257
    USER_TEXT = 258



class Reason(IntEnum):
    """Values of the kind ``enum:reason``."""

    BLOCKED = 0
    PREEMPTED = 1
    ENDED = 2
    WINDOW_END = 3



class StopReason(IntEnum):
    """Values of the kind ``enum:stop_reason``."""

    HOST = 0
    AUTOSTOP = 1
    BUFFER_FULL = 2
    SHUTDOWN = 3



class OnOff(IntEnum):
    """Values of the kind ``enum:on_off``."""

    OFF = 0
    ON = 1



class Phase(IntEnum):
    """Values of the kind ``enum:phase``."""

    BEGIN = 0
    END = 1



class LinkState(IntEnum):
    """Values of the kind ``enum:link_state``."""

    LOST = 0
    UP = 1
    MOVED = 2



class PartitionMode(IntEnum):
    """Values of the kind ``enum:partition_mode``."""

    IDLE = 0
    COLD_START = 1
    WARM_START = 2
    NORMAL = 3



class TaskState(IntEnum):
    """Values of the kind ``enum:task_state``."""

    DORMANT = 0
    READY = 1
    RUNNING = 2
    WAITING = 3



class DeadlineKind(IntEnum):
    """Values of the kind ``enum:deadline_kind``."""

    SET = 0
    MISSED = 1



class Operation(IntEnum):
    """Values of the kind ``enum:operation``."""

    TASK_CREATE = 0
    TASK_DELETE = 1
    IO_OPEN = 2
    IO_CLOSE = 3
    ALLOCATE = 4
    FREE = 5
    OBJECT_CREATE = 6
    OBJECT_DELETE = 7



class ObjectType(IntEnum):
    """Values of the kind ``enum:object_type``."""

    MESSAGE_QUEUE = 0
    BLACKBOARD = 1
    BUFFER = 2
    SAMPLING_PORT = 3
    QUEUING_PORT = 4
    SEMAPHORE = 5
    EVENT = 6
    IO = 7



class CommResult(IntEnum):
    """Values of the kind ``enum:comm_result``."""

    OK = 0
    NO_ACTION = 1
    NOT_AVAILABLE = 2
    INVALID_PARAM = 3
    INVALID_CONFIG = 4
    INVALID_MODE = 5
    TIMED_OUT = 6
    FULL = 7
    EMPTY = 8
    STALE = 9



class HmCode(IntEnum):
    """Values of the kind ``enum:hm_code``."""

    DEADLINE_MISSED = 0
    APPLICATION_ERROR = 1
    NUMERIC_ERROR = 2
    ILLEGAL_REQUEST = 3
    STACK_OVERFLOW = 4
    MEMORY_VIOLATION = 5
    HARDWARE_FAULT = 6
    POWER_FAIL = 7



class HmLevel(IntEnum):
    """Values of the kind ``enum:hm_level``."""

    PROCESS = 0
    PARTITION = 1
    MODULE = 2



class HmAction(IntEnum):
    """Values of the kind ``enum:hm_action``."""

    IGNORE = 0
    LOG = 1
    RESTART_PROCESS = 2
    STOP_PROCESS = 3
    WARM_RESTART = 4
    COLD_RESTART = 5
    IDLE_PARTITION = 6
    RESET_MODULE = 7
    HANDLER = 8



class KernelCall(IntEnum):
    """Values of the kind ``enum:kernel_call``."""

    GET_TIME = 2
    CREATE_PROCESS = 3
    START = 4
    STOP = 5
    STOP_SELF = 6
    SET_PRIORITY = 7
    PERIODIC_WAIT = 8
    TIMED_WAIT = 9
    REPLENISH = 10
    SET_PARTITION_MODE = 11
    GET_PARTITION_MODE = 12
    CREATE_SEMAPHORE = 13
    WAIT_SEMAPHORE = 14
    SIGNAL_SEMAPHORE = 15
    CREATE_EVENT = 16
    SET_EVENT = 17
    RESET_EVENT = 18
    WAIT_EVENT = 19
    CREATE_BUFFER = 20
    SEND_BUFFER = 21
    RECEIVE_BUFFER = 22
    CREATE_BLACKBOARD = 23
    DISPLAY_BLACKBOARD = 24
    READ_BLACKBOARD = 25
    CLEAR_BLACKBOARD = 26
    CONSOLE_WRITE = 27
    ALLOCATE = 28
    FREE = 29
    OPEN = 30
    CLOSE = 31
    CREATE_QUEUE = 32
    SEND_QUEUE = 33
    RECEIVE_QUEUE = 34
    CREATE_SAMPLING = 35
    WRITE_SAMPLING = 36
    READ_SAMPLING = 37
    CREATE_QUEUING = 38
    SEND_QUEUING = 39
    RECEIVE_QUEUING = 40
    CREATE_ERROR_HANDLER = 41
    GET_ERROR_STATUS = 42
    RAISE_ERROR = 43
    GET_START_CONDITION = 44
    MONITOR_WAIT = 62
    MONITOR_WAKE = 63
    INVALID = 255


_EVENTS = {
    1: Event(
        id=1,
        name="START",
        klass="CONTROL",
        arg=Field("partition", FieldType.U16, kind="partition"),
        fields=(
            Field("window", FieldType.U16, kind="window"),
            Field("task", FieldType.U16, kind="task"),
            Field("run", FieldType.U32),
        ),
    ),
    2: Event(
        id=2,
        name="STOP",
        klass="CONTROL",
        arg=Field("reason", FieldType.U16, kind="enum:stop_reason"),
        fields=(),
    ),
    3: Event(
        id=3,
        name="FILTER",
        klass="CONTROL",
        arg=Field("event", FieldType.U16, kind="event"),
        fields=(
            Field("state", FieldType.U32, kind="enum:on_off"),
        ),
    ),
    4: Event(
        id=4,
        name="TIME",
        klass="CONTROL",
        arg=Field("cpu", FieldType.U16),
        fields=(
            Field("time", FieldType.U64, kind="ticks"),
        ),
    ),
    5: Event(
        id=5,
        name="MARK",
        klass="CONTROL",
        arg=Field("number", FieldType.U16),
        fields=(
            Field("text", FieldType.TEXT),
        ),
        combine=True,
    ),
    6: Event(
        id=6,
        name="SNAPSHOT",
        klass="CONTROL",
        arg=Field("phase", FieldType.U16, kind="enum:phase"),
        fields=(
            Field("version", FieldType.U32),
            Field("objects", FieldType.U32),
        ),
    ),
    7: Event(
        id=7,
        name="LINK",
        klass="CONTROL",
        arg=Field("state", FieldType.U16, kind="enum:link_state"),
        fields=(
            Field("address", FieldType.X32),
            Field("port", FieldType.U32),
        ),
    ),
    8: Event(
        id=8,
        name="BUFFER_GROW",
        klass="CONTROL",
        arg=Field("stream", FieldType.U16),
        fields=(
            Field("units", FieldType.U32),
            Field("failures", FieldType.U32),
        ),
    ),
    32: Event(
        id=32,
        name="MAJOR_FRAME",
        klass="SCHED",
        arg=Field("schedule", FieldType.U16, kind="schedule"),
        fields=(
            Field("start", FieldType.U64, kind="ticks"),
            Field("frame", FieldType.U32),
        ),
    ),
    33: Event(
        id=33,
        name="WINDOW",
        klass="SCHED",
        arg=Field("window", FieldType.U16, kind="window"),
        fields=(),
    ),
    34: Event(
        id=34,
        name="PARTITION_SWITCH",
        klass="SCHED",
        arg=Field("partition", FieldType.U16, kind="partition"),
        fields=(),
    ),
    35: Event(
        id=35,
        name="SCHEDULE",
        klass="SCHED",
        arg=Field("schedule", FieldType.U16, kind="schedule"),
        fields=(
            Field("previous", FieldType.U32, kind="schedule"),
        ),
    ),
    36: Event(
        id=36,
        name="PARTITION_MODE",
        klass="SCHED",
        arg=Field("partition", FieldType.U16, kind="partition"),
        fields=(
            Field("mode", FieldType.U16, kind="enum:partition_mode"),
            Field("previous", FieldType.U16, kind="enum:partition_mode"),
        ),
    ),
    64: Event(
        id=64,
        name="TASK_SWITCH",
        klass="TASK",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("reason", FieldType.U16, kind="enum:reason"),
            Field("previous", FieldType.U16, kind="task"),
        ),
        partition_origin=True,
    ),
    65: Event(
        id=65,
        name="RELEASE",
        klass="TASK",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("release", FieldType.U64, kind="ticks"),
            Field("deadline", FieldType.U64, kind="ticks"),
            Field("activation", FieldType.U32),
        ),
        partition_origin=True,
    ),
    66: Event(
        id=66,
        name="COMPLETE",
        klass="TASK",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("activation", FieldType.U32),
        ),
        partition_origin=True,
    ),
    67: Event(
        id=67,
        name="DEADLINE",
        klass="TASK",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("deadline", FieldType.U64, kind="ticks"),
            Field("kind", FieldType.U32, kind="enum:deadline_kind"),
            Field("activation", FieldType.U32),
        ),
        partition_origin=True,
    ),
    68: Event(
        id=68,
        name="TASK_CREATE",
        klass="TASK",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("partition", FieldType.U16, kind="partition"),
            Field("priority", FieldType.U16),
            Field("handle", FieldType.X32),
            Field("stack_size", FieldType.U32),
        ),
        partition_origin=True,
    ),
    69: Event(
        id=69,
        name="TASK_DELETE",
        klass="TASK",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("handle", FieldType.X32),
        ),
        partition_origin=True,
    ),
    70: Event(
        id=70,
        name="TASK_PRIORITY",
        klass="TASK",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("priority", FieldType.U16),
            Field("previous", FieldType.U16),
        ),
        partition_origin=True,
    ),
    71: Event(
        id=71,
        name="TASK_STATE",
        klass="TASK",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("state", FieldType.U16, kind="enum:task_state"),
            Field("previous", FieldType.U16, kind="enum:task_state"),
        ),
        partition_origin=True,
    ),
    96: Event(
        id=96,
        name="INT_ENTR",
        klass="INT",
        arg=Field("interrupt", FieldType.U16),
        fields=(
            Field("vector", FieldType.U32),
            Field("ip", FieldType.X32),
        ),
    ),
    97: Event(
        id=97,
        name="INT_EXIT",
        klass="INT",
        arg=Field("interrupt", FieldType.U16),
        fields=(),
    ),
    98: Event(
        id=98,
        name="EXCEPTION",
        klass="INT",
        arg=Field("exception", FieldType.U16),
        fields=(
            Field("vector", FieldType.U32),
            Field("code", FieldType.X32),
            Field("address", FieldType.X32),
            Field("ip", FieldType.X32),
            Field("partition", FieldType.U16, kind="partition"),
            Field("task", FieldType.U16, kind="task"),
        ),
    ),
    128: Event(
        id=128,
        name="KER_CALL",
        klass="KER",
        arg=Field("call", FieldType.U16, kind="enum:kernel_call"),
        fields=(
            Field("partition", FieldType.U16, kind="partition"),
            Field("task", FieldType.U16, kind="task"),
        ),
    ),
    129: Event(
        id=129,
        name="KER_EXIT",
        klass="KER",
        arg=Field("call", FieldType.U16, kind="enum:kernel_call"),
        fields=(
            Field("partition", FieldType.U16, kind="partition"),
            Field("task", FieldType.U16, kind="task"),
            Field("result", FieldType.I32),
        ),
    ),
    160: Event(
        id=160,
        name="MEM_SAMPLE",
        klass="MEM",
        arg=Field("partition", FieldType.U16, kind="partition"),
        fields=(
            Field("free", FieldType.U32, unit="B"),
            Field("allocated", FieldType.U32, unit="B"),
            Field("blocks", FieldType.U32),
            Field("largest", FieldType.U32, unit="B"),
            Field("high_water", FieldType.U32, unit="B"),
        ),
        combine=True,
    ),
    161: Event(
        id=161,
        name="MEM_SWITCH",
        klass="MEM",
        arg=Field("partition", FieldType.U16, kind="partition"),
        fields=(
            Field("free", FieldType.U32, unit="B"),
            Field("allocated", FieldType.U32, unit="B"),
        ),
    ),
    162: Event(
        id=162,
        name="STACK_SWITCH",
        klass="MEM",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("used", FieldType.U32, unit="B"),
        ),
        partition_origin=True,
    ),
    163: Event(
        id=163,
        name="STACK_SAMPLE",
        klass="MEM",
        arg=Field("task", FieldType.U16, kind="task"),
        fields=(
            Field("high_water", FieldType.U32, unit="B"),
            Field("size", FieldType.U32, unit="B"),
        ),
    ),
    164: Event(
        id=164,
        name="OP_COUNT",
        klass="MEM",
        arg=Field("partition", FieldType.U16, kind="partition"),
        fields=(
            Field("operation", FieldType.U16, kind="enum:operation"),
            Field("size_class", FieldType.U16),
            Field("count", FieldType.U32),
            Field("total", FieldType.U64, unit="B"),
        ),
    ),
    192: Event(
        id=192,
        name="MSG_SEND",
        klass="COMM",
        arg=Field("object", FieldType.U16, kind="object"),
        fields=(
            Field("type", FieldType.U16, kind="enum:object_type"),
            Field("result", FieldType.U16, kind="enum:comm_result"),
            Field("number", FieldType.U32),
            Field("size", FieldType.U32, unit="B"),
            Field("depth", FieldType.U32),
            Field("partition", FieldType.U16, kind="partition"),
            Field("task", FieldType.U16, kind="task"),
        ),
        partition_origin=True,
    ),
    193: Event(
        id=193,
        name="MSG_RECEIVE",
        klass="COMM",
        arg=Field("object", FieldType.U16, kind="object"),
        fields=(
            Field("type", FieldType.U16, kind="enum:object_type"),
            Field("result", FieldType.U16, kind="enum:comm_result"),
            Field("number", FieldType.U32),
            Field("size", FieldType.U32, unit="B"),
            Field("depth", FieldType.U32),
            Field("partition", FieldType.U16, kind="partition"),
            Field("task", FieldType.U16, kind="task"),
        ),
        partition_origin=True,
    ),
    194: Event(
        id=194,
        name="CONTENT",
        klass="COMM",
        arg=Field("object", FieldType.U16, kind="object"),
        fields=(
            Field("number", FieldType.U32),
            Field("offset", FieldType.U16, unit="B"),
            Field("length", FieldType.U16, unit="B"),
            Field("content", FieldType.BYTES, length="length"),
        ),
        combine=True,
        partition_origin=True,
    ),
    195: Event(
        id=195,
        name="OBJECT_CREATE",
        klass="COMM",
        arg=Field("object", FieldType.U16, kind="object"),
        fields=(
            Field("type", FieldType.U16, kind="enum:object_type"),
            Field("partition", FieldType.U16, kind="partition"),
            Field("handle", FieldType.X32),
            Field("message_size", FieldType.U32, unit="B"),
            Field("capacity", FieldType.U32),
        ),
        partition_origin=True,
    ),
    196: Event(
        id=196,
        name="OBJECT_DELETE",
        klass="COMM",
        arg=Field("object", FieldType.U16, kind="object"),
        fields=(
            Field("handle", FieldType.X32),
        ),
        partition_origin=True,
    ),
    224: Event(
        id=224,
        name="HM_EVENT",
        klass="HM",
        arg=Field("partition", FieldType.U16, kind="partition"),
        fields=(
            Field("code", FieldType.U16, kind="enum:hm_code"),
            Field("level", FieldType.U16, kind="enum:hm_level"),
            Field("subcode", FieldType.U32),
            Field("address", FieldType.X32),
            Field("task", FieldType.U16, kind="task"),
            Field("action", FieldType.U16, kind="enum:hm_action"),
            Field("entry", FieldType.U32),
        ),
    ),
    225: Event(
        id=225,
        name="EDR_EVENT",
        klass="HM",
        arg=Field("partition", FieldType.U16, kind="partition"),
        fields=(
            Field("kind", FieldType.X32),
            Field("entry", FieldType.U32),
            Field("address", FieldType.X32),
            Field("task", FieldType.U16, kind="task"),
            Field("boot_cycle", FieldType.U16),
        ),
    ),
    256: Event(
        id=256,
        name="USER_POINT",
        klass="USER",
        arg=Field("number", FieldType.U16),
        fields=(),
        partition_origin=True,
    ),
    257: Event(
        id=257,
        name="USER",
        klass="USER",
        arg=Field("number", FieldType.U16),
        fields=(
            Field("d0", FieldType.X32),
            Field("d1", FieldType.X32),
        ),
        partition_origin=True,
    ),
    258: Event(
        id=258,
        name="USER_TEXT",
        klass="USER",
        arg=Field("number", FieldType.U16),
        fields=(
            Field("text", FieldType.TEXT),
        ),
        combine=True,
        partition_origin=True,
    ),
}

_ENUMS = {
    "reason": Enumeration("reason", {0: "blocked", 1: "preempted", 2: "ended", 3: "window_end"}),
    "stop_reason": Enumeration("stop_reason", {0: "host", 1: "autostop", 2: "buffer_full", 3: "shutdown"}),
    "on_off": Enumeration("on_off", {0: "off", 1: "on"}),
    "phase": Enumeration("phase", {0: "begin", 1: "end"}),
    "link_state": Enumeration("link_state", {0: "lost", 1: "up", 2: "moved"}),
    "partition_mode": Enumeration("partition_mode", {0: "idle", 1: "cold_start", 2: "warm_start", 3: "normal"}),
    "task_state": Enumeration("task_state", {0: "dormant", 1: "ready", 2: "running", 3: "waiting"}),
    "deadline_kind": Enumeration("deadline_kind", {0: "set", 1: "missed"}),
    "operation": Enumeration("operation", {0: "task_create", 1: "task_delete", 2: "io_open", 3: "io_close", 4: "allocate", 5: "free", 6: "object_create", 7: "object_delete"}),
    "object_type": Enumeration("object_type", {0: "message_queue", 1: "blackboard", 2: "buffer", 3: "sampling_port", 4: "queuing_port", 5: "semaphore", 6: "event", 7: "io"}),
    "comm_result": Enumeration("comm_result", {0: "ok", 1: "no_action", 2: "not_available", 3: "invalid_param", 4: "invalid_config", 5: "invalid_mode", 6: "timed_out", 7: "full", 8: "empty", 9: "stale"}),
    "hm_code": Enumeration("hm_code", {0: "DEADLINE_MISSED", 1: "APPLICATION_ERROR", 2: "NUMERIC_ERROR", 3: "ILLEGAL_REQUEST", 4: "STACK_OVERFLOW", 5: "MEMORY_VIOLATION", 6: "HARDWARE_FAULT", 7: "POWER_FAIL"}),
    "hm_level": Enumeration("hm_level", {0: "process", 1: "partition", 2: "module"}),
    "hm_action": Enumeration("hm_action", {0: "ignore", 1: "log", 2: "restart_process", 3: "stop_process", 4: "warm_restart", 5: "cold_restart", 6: "idle_partition", 7: "reset_module", 8: "handler"}),
    "kernel_call": Enumeration("kernel_call", {2: "GET_TIME", 3: "CREATE_PROCESS", 4: "START", 5: "STOP", 6: "STOP_SELF", 7: "SET_PRIORITY", 8: "PERIODIC_WAIT", 9: "TIMED_WAIT", 10: "REPLENISH", 11: "SET_PARTITION_MODE", 12: "GET_PARTITION_MODE", 13: "CREATE_SEMAPHORE", 14: "WAIT_SEMAPHORE", 15: "SIGNAL_SEMAPHORE", 16: "CREATE_EVENT", 17: "SET_EVENT", 18: "RESET_EVENT", 19: "WAIT_EVENT", 20: "CREATE_BUFFER", 21: "SEND_BUFFER", 22: "RECEIVE_BUFFER", 23: "CREATE_BLACKBOARD", 24: "DISPLAY_BLACKBOARD", 25: "READ_BLACKBOARD", 26: "CLEAR_BLACKBOARD", 27: "CONSOLE_WRITE", 28: "ALLOCATE", 29: "FREE", 30: "OPEN", 31: "CLOSE", 32: "CREATE_QUEUE", 33: "SEND_QUEUE", 34: "RECEIVE_QUEUE", 35: "CREATE_SAMPLING", 36: "WRITE_SAMPLING", 37: "READ_SAMPLING", 38: "CREATE_QUEUING", 39: "SEND_QUEUING", 40: "RECEIVE_QUEUING", 41: "CREATE_ERROR_HANDLER", 42: "GET_ERROR_STATUS", 43: "RAISE_ERROR", 44: "GET_START_CONDITION", 62: "MONITOR_WAIT", 63: "MONITOR_WAKE", 255: "INVALID"}),
}

TABLES: dict[str, EventTable] = {
    "2.2": EventTable(
        os_release="2.2",
        format=1,
        events=tuple(_EVENTS[i] for i in (1, 2, 3, 4, 5, 6, 7, 8, 32, 33, 34, 35, 36, 64, 65, 66, 67, 68, 69, 70, 71, 96, 97, 98, 128, 129, 160, 161, 162, 164, 192, 193, 194, 195, 224, 256, 257, 258)),
        enums=tuple(_ENUMS[name] for name in ("reason", "stop_reason", "on_off", "phase", "link_state", "partition_mode", "task_state", "deadline_kind", "operation", "object_type", "comm_result", "hm_code", "hm_level", "hm_action", "kernel_call")),
        fingerprint=0xF4D718B9,
    ),
    "2.4": EventTable(
        os_release="2.4",
        format=1,
        events=tuple(_EVENTS[i] for i in (1, 2, 3, 4, 5, 6, 7, 8, 32, 33, 34, 35, 36, 64, 65, 66, 67, 68, 69, 70, 71, 96, 97, 98, 128, 129, 160, 161, 162, 163, 164, 192, 193, 194, 195, 196, 224, 225, 256, 257, 258)),
        enums=tuple(_ENUMS[name] for name in ("reason", "stop_reason", "on_off", "phase", "link_state", "partition_mode", "task_state", "deadline_kind", "operation", "object_type", "comm_result", "hm_code", "hm_level", "hm_action", "kernel_call")),
        fingerprint=0x3E2FB900,
    ),
}
