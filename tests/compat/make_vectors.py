# SPDX-License-Identifier: Apache-2.0
"""``python -m tests.compat.make_vectors``: writes the golden vectors that are missing. Never changes one."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import replace

from tests.support.golden import VECTORS, Message, cut, encode, to_json
from vxmon.wire import types as t
from vxmon.wire.acquired import Log, LogEntry, LogPage, LogRequest, MemoryEntry, MemoryPage, MemoryRequest
from vxmon.wire.authentication import Challenge
from vxmon.wire.block import make_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.events import TABLES
from vxmon.wire.notes import Note, NoteKind
from vxmon.wire.resend import FragmentRequest
from vxmon.wire.slots import Value, encode_record

BOOT = 0x5EED0001
# Not at a 32-bit boundary and with all of its bytes different.
TIME = 0x0000_0123_4567_89AB


def sample_values(event: t.Event) -> dict[str, Value]:
    """A different value for each field, so that no two can be mixed up."""
    values: dict[str, Value] = {}
    for number, field in enumerate(event.fields, 1):
        match field.type:
            case t.FieldType.U16:
                values[field.name] = 0x0100 * number + 0xA0
            case t.FieldType.I32:
                values[field.name] = -0x01020300 - number
            case t.FieldType.U64 | t.FieldType.X64:
                values[field.name] = 0x0102030405060700 + number
            case t.FieldType.TEXT:
                values[field.name] = "golden text"
            case t.FieldType.BYTES:
                values[field.name], values[field.length] = bytes(range(0xF0, 0xFD)), 13
            case _:
                values[field.name] = 0x01020300 + number
    return values


def block_of(event: t.Event, *, big_endian: bool) -> t.Block:
    """A block with two records of an event."""
    records = [encode_record(event, arg, TIME + arg, sample_values(event), big_endian) for arg in (1, 0xFFFF)]
    return make_block(
        records,
        TIME + 1,
        TIME + 0xFFFF,
        boot=BOOT,
        run=2,
        stream=1,
        sequence=event.id,
        first_index=1 << 33 | event.id,
        context=t.Context(3, 2, 1, 0),
        losses=t.Losses(7, 0, 1 << 34),
        big_endian=big_endian,
    )


def mixed_block(*, big_endian: bool) -> t.Block:
    """A block with a record of every event that fits, so that starts of all distances occur."""
    records, size = [], 0
    for number, event in enumerate(TABLES["2.4"].events):
        record = encode_record(event, number, TIME + 10 * number, sample_values(event), big_endian)
        if size + len(record) <= 1200:
            records.append(record)
            size += len(record)
    block = make_block(records, TIME, TIME + 10 * (len(records) - 1), boot=BOOT, big_endian=big_endian)
    return replace(block, context=t.Context(t.NOT_KNOWN, t.NOT_KNOWN, t.NOT_KNOWN, 2))


CONFIG = t.RunConfig(
    events=frozenset({1, 2, 33, 64, 258}),
    datagram_bytes=1400,
    unit_slots=1024,
    units=512,
    policy=t.Policy.LINEAR,
    high_water=70,
    flush_ms=100,
    one_way=True,
    max_ticks=400_000_000,
)
PLAN = replace(
    CONFIG,
    hidden_partitions=frozenset({2, 11}),
    hidden_objects=frozenset({0, 130}),
    payload=t.Payload.CONTENT,
    content_bytes=96,
    fast=True,
    memory_ms=250,
    stack_ms=0,
    operations_ms=3_600_000,
    grow_units=8,
    max_units=640,
    max_records=1 << 33,
    stop_when_full=True,
)
STATES = (
    t.StreamState(0, 100_000, 90_000, TIME, 600, 580, t.Losses(1, 2, 3), 512, 37),
    t.StreamState(1),
)
END = t.End(2, TIME, 1, STATES)
INFO = t.TargetInfo(
    os_name="vxmon demo kernel",
    os_release="2.4",
    board="ppce500",
    agent_version="0.1.0",
    clock_hz=400_000_000,
    big_endian=True,
    streams=1,
    table_fingerprint=TABLES["2.4"].fingerprint,
    max_units=512,
    arena_bytes=4 << 20,
    offered=frozenset(event.id for event in TABLES["2.4"].events),
    boot=BOOT,
    time=TIME,
    unnamed=3,
)
OBJECTS = t.ObjectTable(
    version=9,
    schedules=(t.Schedule(0, 8_000_000, (t.Window(1, True, 0, 3_000_000), t.Window(0, False, 3_000_000, 5_000_000))),),
    partitions=(t.PartitionEntry(0, "module OS"), t.PartitionEntry(1, "NAV", 0x10000)),
    tasks=(
        t.TaskEntry(0, 1, "nav_filter", 0x150CAE0, 120, 8192, 8_000_000, 400_000),
        t.TaskEntry(1, 1, "idle", 0x150CB00, 255, 4096, idle=True, deleted=True),
    ),
    objects=(t.ObjectEntry(0, 3, 1, "NAV_OUT", 0x2000, 64, 1), t.ObjectEntry(1, 0, 1, "q", deleted=True)),
)
REQUESTS: dict[str, t.Request] = {
    "hello": t.Hello(),
    "hello-cookie": t.Hello(0x0123456789ABCDEF, 0),
    "info": t.InfoRequest(),
    "tables": t.TablesRequest(),
    "start": t.Start(CONFIG),
    "stop": t.Stop(),
    "trigger": t.Trigger(7, "before the landing"),
    "scenario": t.Scenario("overload"),
    "filter": t.Filter(64, on=True),
    "bye": t.Bye(),
    "start-configured": t.Start(None),
    "start-plan": t.Start(PLAN),
    "configure": t.Configure(PLAN),
    "configure-check": t.Configure(t.RunConfig(frozenset({256})), check_only=True),
    "memory": MemoryRequest(3),
    "log": LogRequest(Log.HM, 1 << 34, 3, 0, 1),
    "log-edr": LogRequest(Log.EDR, type=0x21),
}
LOG = LogPage(
    Log.HM, 7, 1 << 35, 5, 2, 3, (1 << 35) - 2,
    (
        LogEntry((1 << 35) - 1, TIME, 3, 0, 5, 1, 0x11, 0xDEADBEEF, 4, 2, 17, "DISPLAY", "dsp_draw", "an address"),
        LogEntry((1 << 35) - 2, TIME - 9, 3, 0x41),
    ),
    1,
)  # fmt: skip
REPLIES = {
    "cookie": t.Reply(1, t.Result.COOKIE, "", 0xFEDCBA9876543210),
    "info": t.Reply(2, t.Result.OK, "", INFO),
    "started": t.Reply(3, t.Result.OK, "", t.Started(2, TIME, CONFIG)),
    "end": t.Reply(4, t.Result.OK, "", END),
    "config": t.Reply(6, t.Result.OK, "", PLAN),
    "memory": t.Reply(7, t.Result.OK, "", MemoryPage(TIME, (MemoryEntry(1, 500, 400, 30, 20, 10),), 2)),
    "log": t.Reply(8, t.Result.OK, "", LOG),
    "info-plan": t.Reply(
        9,
        t.Result.OK,
        "",
        replace(
            INFO,
            min_period_ms=10,
            max_period_ms=3_600_000,
            max_content_bytes=4096,
            hm_log=True,
            edr_log=True,
            running=True,
            config=PLAN,
        ),
    ),
    "challenge": t.Reply(0x01020304, t.Result.COOKIE, "", 0xFEDCBA9876543210, Challenge(0xFFEEDDCCBBAA9988, 3)),
    "key": t.Reply(0x01020305, t.Result.KEY, "the key is not that of this target"),
    "refused": t.Reply(5, t.Result.UNSUPPORTED, "STACK_SAMPLE is not offered by release 2.2"),
}
BEAT = t.TargetHeartbeat(
    TIME, 400_000_000, "2.4", TABLES["2.4"].fingerprint, 9, 2, True, STATES, t.LinkCounters(5, 4, 3, 2, 1), 1 << 60
)


def messages() -> Iterator[tuple[str, t.Channel, Message]]:
    """Name, channel and content of every vector."""
    for name, request in REQUESTS.items():
        yield f"command-{name}", t.Channel.COMMAND, t.Command(0x01020304, request)
    for name, reply in REPLIES.items():
        yield f"reply-{name}", t.Channel.REPLY, reply
    yield "heartbeat-target", t.Channel.HEARTBEAT, BEAT
    yield "heartbeat-host", t.Channel.HEARTBEAT, t.HostHeartbeat(1_234_567_890_123)
    yield "heartbeat-target-echo-time", t.Channel.HEARTBEAT, replace(BEAT, echo_time=TIME - 1)
    missing = (t.Range(11, 2), t.Range(1 << 40, 1))
    yield "ack", t.Channel.ACK, t.Ack(2, (t.StreamAck(0, 10, 1 << 41, missing), t.StreamAck(1, 5, 5)))
    yield "end", t.Channel.END, END
    yield "end-grown", t.Channel.END, replace(END, streams=(replace(STATES[0], grow_failures=3),))
    yield "resend", t.Channel.RESEND, FragmentRequest(4, 0x0708, (0, 5, 63))
    note = Note(NoteKind.REBOOT, "the target was restarted", 2, 0x5EED0000, 250_000_000)
    yield "note-reboot", t.Channel.NOTE, note
    yield "note-lost", t.Channel.NOTE, Note(NoteKind.LINK_LOST, "not heard for 3 s", 2)
    yield "table-info", t.Channel.TABLE, INFO
    yield "table-objects", t.Channel.TABLE, OBJECTS
    for release, table in TABLES.items():
        yield f"table-events-{release}-{table.fingerprint:08x}", t.Channel.TABLE, table
    for order, big_endian in (("be", True), ("le", False)):
        yield f"block-mixed-{order}", t.Channel.BLOCK, mixed_block(big_endian=big_endian)
        for event in TABLES["2.4"].events:
            yield f"block-{event.id:04}-{event.name}-{order}", t.Channel.BLOCK, block_of(event, big_endian=big_endian)


def authenticated() -> Iterator[tuple[str, t.Channel, Message]]:
    """Of every channel that carries a trailer, one from each side."""
    yield "authenticated-hello", t.Channel.COMMAND, t.Command(0x01020305, t.Hello(0xFEDCBA9876543210))
    yield "authenticated-stop", t.Channel.COMMAND, t.Command(0x01020306, t.Stop())
    yield "authenticated-ack", t.Channel.ACK, t.Ack(2, (t.StreamAck(0, 10, 12, (t.Range(10, 1),)),))
    yield "authenticated-heartbeat-host", t.Channel.HEARTBEAT, t.HostHeartbeat(1_234_567_890_123)
    counters = t.LinkCounters(90, 80, 21, 1, 0, 1, 2, 3, 4, 5, 6)
    yield "authenticated-heartbeat-target", t.Channel.HEARTBEAT, replace(BEAT, link=counters)
    yield "authenticated-reply", t.Channel.REPLY, t.Reply(0x01020305, t.Result.OK)
    yield "authenticated-reply-info", t.Channel.REPLY, t.Reply(0x01020307, t.Result.OK, "", replace(INFO, has_key=True))
    yield "authenticated-end", t.Channel.END, END
    yield "authenticated-resend", t.Channel.RESEND, FragmentRequest(4, 0x0708, (1,))


def vectors() -> Iterator[tuple[str, t.Channel, Message, int]]:
    """The same with the header's flags."""
    yield from ((*vector, t.Flag.BIG_ENDIAN) for vector in messages())
    yield from ((*vector, t.Flag.BIG_ENDIAN | t.Flag.AUTHENTICATED) for vector in authenticated())


def main() -> None:
    VECTORS.mkdir(parents=True, exist_ok=True)
    for name, channel, message, flags in vectors():
        data_path, json_path = VECTORS / f"{name}.bin", VECTORS / f"{name}.json"
        if data_path.exists():
            continue
        data = encode(message, t.Header(channel, BOOT, 0x01020304, flags, message=0x0506))
        meaning = to_json(decode_datagram(cut(data)[0]).header, message)
        data_path.write_bytes(data)
        json_path.write_text(json.dumps(meaning, indent=1) + "\n", encoding="utf-8")
        print(f"made {name}")


if __name__ == "__main__":
    main()
