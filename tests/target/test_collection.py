# SPDX-License-Identifier: Apache-2.0
"""Collection plans on the agent: filters, payload, samples, growth, stop conditions, refusals, acquisition.

Expected words of records are packed by hand from SPEC section 2 and the field lists of proto/EVENTS.md.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import replace

import pytest

from tests.support.records import record_list
from tests.support.sim import SimHost, Simulation
from vxmon.wire.acquired import Log, LogPage, LogRequest, MemoryEntry, MemoryPage, MemoryRequest
from vxmon.wire.block import decode_block
from vxmon.wire.status import encode_host_heartbeat
from vxmon.wire.types import (
    Channel,
    Configure,
    End,
    Filter,
    HostHeartbeat,
    InfoRequest,
    Payload,
    Policy,
    Reply,
    Request,
    Result,
    RunConfig,
    Start,
    Started,
    Stop,
    TargetInfo,
)

HZ = 1_000_000
MS = HZ // 1000
START, STOP, FILTER, SNAPSHOT, BUFFER_GROW = 1, 2, 3, 6, 8
TASK_SWITCH, KER_CALL = 64, 128
MEM_SAMPLE, MEM_SWITCH, STACK_SWITCH, STACK_SAMPLE, OP_COUNT = 160, 161, 162, 163, 164
MSG_SEND, MSG_RECEIVE, CONTENT = 192, 193, 194
USER_POINT = 256
BUFFER, OK = 2, 0
AUTOSTOP, BUFFER_FULL = 1, 2
# 56 bytes of content fit a record: 8 data slots less the one with number, offset and length.
PART = 56


@pytest.fixture(name="sim")
def simulation() -> Iterator[Simulation]:
    with Simulation() as sim:
        assert sim.init(hz=HZ, clock=5 * HZ, cost=0) == 0
        for name in ("NAV", "DISPLAY"):
            sim.create("partition", name, 0)
        yield sim


def config(*events: int, **settings: object) -> RunConfig:
    return replace(RunConfig(events=frozenset(events)), **settings)  # type: ignore[arg-type]


def start(host: SimHost, wanted: RunConfig) -> RunConfig:
    reply = host.ask(Start(wanted))
    assert reply.result == Result.OK, reply.text
    assert isinstance(reply.body, Started)
    return reply.body.config


def work(host: SimHost, ms: int) -> None:
    """Lets the agent work each millisecond, and keeps the link up."""
    for _ in range(ms):
        host.sim.advance(MS)
        host.sim.step(MS // 2)
    host.send(Channel.HEARTBEAT, encode_host_heartbeat(HostHeartbeat(1)))
    host.sim.step(MS)
    host.collect()


def finish(host: SimHost) -> End:
    reply = host.ask(Stop())
    assert isinstance(reply.body, End), reply.text
    work(host, 5)
    return reply.body


def records(host: SimHost, *events: int) -> list[tuple[int, int, tuple[int, ...]]]:
    """Records of these events, without their times."""
    blocks = sorted((decode_block(d) for d in host.of(Channel.BLOCK)), key=lambda block: block.sequence)
    return [r[:3] for block in blocks for r in record_list(block) if r[0] in events]


# -------------------------------------------------------------------- refusals


REFUSALS = [
    (config(300), Result.UNSUPPORTED, "event EVENT_300 is not offered by release 2.4"),
    (config(MEM_SAMPLE, memory_ms=0), Result.LIMIT, "memory_ms 0 is outside 10-3600000"),
    (config(MEM_SAMPLE, memory_ms=9), Result.LIMIT, "memory_ms 9 is outside 10-3600000"),
    (config(STACK_SAMPLE, stack_ms=3_600_001), Result.LIMIT, "stack_ms 3600001 is outside 10-3600000"),
    (config(OP_COUNT, operations_ms=0), Result.LIMIT, "operations_ms 0 is outside 10-3600000"),
    (config(units=60000), Result.MEMORY, "the buffer memory holds 31 units of 1024 slots a stream, not 60000"),
    (config(units=8, max_units=70000), Result.LIMIT, "max_units 65535"),
    (config(units=8, max_units=4), Result.LIMIT, "max_units 4 is outside 8-65535"),
    (config(units=8, max_units=9, grow_units=2000), Result.LIMIT, "grow_units 2000 is outside 1-1024"),
    (config(content_bytes=4097), Result.LIMIT, "content_bytes 4097 is outside 1-4096"),
    (config(hidden_partitions=frozenset({3})), Result.LIMIT, "partition 3 does not exist: there are 3"),
    (config(hidden_objects=frozenset({0})), Result.LIMIT, "object 0 does not exist: there are 0"),
    (config(stop_when_full=True), Result.LIMIT, "stop_when_full needs the policy linear"),
]


@pytest.mark.parametrize("as_start", [True, False])
@pytest.mark.parametrize(("wanted", "result", "words"), REFUSALS)
def test_a_refusal_is_worded_and_changes_nothing(
    host: SimHost, wanted: RunConfig, result: Result, words: str, as_start: bool
) -> None:
    request: Request = Start(wanted) if as_start else Configure(wanted)
    if words.startswith("max_units 65535"):
        result, words = Result.MEMORY, "the buffer memory holds"  # the accounts of so many units fill it
    reply = host.ask(request)
    assert (reply.result, reply.body) == (result, None)
    assert words in reply.text
    info = host.ask(InfoRequest()).body
    assert isinstance(info, TargetInfo)
    assert (info.running, info.config) == (False, None)
    start(host, config(USER_POINT))


def test_what_a_release_cannot_tell_is_not_offered() -> None:
    with Simulation() as sim:
        assert sim.init(hz=HZ, release=22, cost=0) == 0
        host = SimHost(sim)
        host.hello()
        info = host.ask(InfoRequest()).body
        assert isinstance(info, TargetInfo)
        assert {MEM_SAMPLE, OP_COUNT} <= info.offered
        assert STACK_SAMPLE not in info.offered
        assert (info.hm_log, info.edr_log) == (True, False)
        reply = host.ask(Start(config(STACK_SAMPLE)))
        assert reply.text == "event STACK_SAMPLE (163) is not offered by release 2.2"
        reply = host.ask(LogRequest(Log.EDR))
        assert (reply.result, reply.text) == (Result.UNSUPPORTED, "release 2.2 has no ED&R log")


# -------------------------------------------------------------------- configure


def test_a_check_changes_nothing(host: SimHost) -> None:
    reply = host.ask(Configure(config(USER_POINT, memory_ms=250), check_only=True))
    assert isinstance(reply.body, RunConfig)
    assert (reply.body.memory_ms, reply.body.stack_ms, reply.body.unit_slots) == (250, 1000, 1024)
    info = host.ask(InfoRequest()).body
    assert isinstance(info, TargetInfo)
    assert info.config is None


def test_a_start_without_configuration_takes_what_was_configured(host: SimHost) -> None:
    wanted = config(USER_POINT, KER_CALL, units=5, max_units=9, payload=Payload.CONTENT, content_bytes=77, fast=True)
    configured = host.ask(Configure(wanted)).body
    reply = host.ask(Start(None))
    assert isinstance(reply.body, Started)
    assert reply.body.config == configured
    assert {USER_POINT, KER_CALL} <= reply.body.config.events
    assert (reply.body.config.content_bytes, reply.body.config.max_units) == (77, 9)


def test_a_run_is_changed_while_it_lasts(sim: Simulation, host: SimHost) -> None:
    start(host, config(USER_POINT, units=4))
    sim.record(USER_POINT, 1)
    reply = host.ask(Configure(config(KER_CALL, hidden_partitions=frozenset({1}))))
    assert reply.result == Result.OK, reply.text
    sim.record(USER_POINT, 2)
    sim.tell("kernel_call 7 1 0")
    sim.tell("kernel_call 8 2 0")
    finish(host)
    assert records(host, USER_POINT, KER_CALL, FILTER) == [
        (USER_POINT, 1, ()),
        (FILTER, KER_CALL, (1, 0)),
        (FILTER, USER_POINT, (0, 0)),
        (KER_CALL, 8, (2 << 16, 0)),
    ]


def test_buffers_of_a_run_do_not_change(host: SimHost) -> None:
    start(host, config(USER_POINT, units=4))
    reply = host.ask(Configure(config(KER_CALL, units=5)))
    assert reply.result == Result.STATE
    assert reply.text == "buffers, datagrams, upload and fast mode cannot change while run 1 lasts"
    finish(host)
    assert records(host, FILTER) == []


# -------------------------------------------------------------------- filters and payload


def test_a_hidden_partition_has_no_calls_memory_and_messages_but_switches(sim: Simulation, host: SimHost) -> None:
    sim.create("object", "Q", BUFFER, 1, 0)
    events = (KER_CALL, MEM_SWITCH, STACK_SWITCH, MSG_SEND, TASK_SWITCH, MEM_SAMPLE)
    for partition in (1, 2):
        sim.tell(f"memory {partition} 1 2 3 4 5")
    start(host, config(*events, hidden_partitions=frozenset({1})))
    for partition in (1, 2):
        sim.tell(f"partition {partition}")
        sim.tell(f"task {partition} 0 65535")
        sim.tell(f"kernel_call 5 {partition} 0")
        sim.tell(f"send 0 {BUFFER} {OK} 1 1 {partition} 0 4")
        sim.tell(f"stack_used {partition} 100")
        sim.tell(f"switched {partition} 10 20")
    work(host, 5)
    finish(host)
    seen = [(event, arg) for event, arg, _ in records(host, *events)]
    assert sorted(seen) == sorted(
        [(TASK_SWITCH, 1), (TASK_SWITCH, 2), (KER_CALL, 5), (MSG_SEND, 0), (STACK_SWITCH, 2), (MEM_SWITCH, 2),
         (MEM_SAMPLE, 2)]
    )  # fmt: skip
    assert {words[0] >> 16 for event, _, words in records(host, KER_CALL)} == {2}


def test_a_hidden_object_has_no_messages(sim: Simulation, host: SimHost) -> None:
    for name in ("A", "B"):
        sim.create("object", name, BUFFER, 1, 0)
    start(host, config(MSG_SEND, MSG_RECEIVE, hidden_objects=frozenset({1})))
    for object_ in (0, 1):
        sim.tell(f"send {object_} {BUFFER} {OK} 1 1 1 0 4")
        sim.tell(f"receive {object_} {BUFFER} {OK} 1 0 1 0 4")
    finish(host)
    assert [(event, arg) for event, arg, _ in records(host, MSG_SEND, MSG_RECEIVE)] == [(MSG_SEND, 0), (MSG_RECEIVE, 0)]


def content_words(number: int, offset: int, content: bytes) -> tuple[int, ...]:
    """Little-endian target: number, then offset and length in one word, then bytes as they lie in memory."""
    padded = content + bytes(-len(content) % 8)
    return (number, offset << 16 | len(content), *struct.unpack(f"<{len(padded) // 4}I", padded))


@pytest.mark.parametrize(("size", "most"), [(0, 64), (1, 64), (56, 64), (57, 64), (100, 64), (100, 4096), (3000, 4096)])
def test_content_is_what_was_sent_up_to_the_bound(sim: Simulation, host: SimHost, size: int, most: int) -> None:
    sim.create("object", "Q", BUFFER, 1, 0)
    start(host, config(MSG_SEND, CONTENT, payload=Payload.CONTENT, content_bytes=most))
    sim.tell(f"send 0 {BUFFER} {OK} 9 2 1 4 {size}")
    finish(host)
    # vxm-sim writes the bytes number, number + 1, ...
    content = bytes((9 + i) % 256 for i in range(min(size, most)))
    parts = [(at, content[at : at + PART]) for at in range(0, len(content), PART)]
    assert records(host, MSG_SEND, CONTENT) == [
        (MSG_SEND, 0, (BUFFER << 16 | OK, 9, size, 2, 1 << 16 | 4, 0)),
        *((CONTENT, 0, content_words(9, at, part)) for at, part in parts),
    ]


@pytest.mark.parametrize(("payload", "expected"), [(Payload.OFF, []), (Payload.METADATA, [MSG_SEND])])
def test_payload_modes(sim: Simulation, host: SimHost, payload: Payload, expected: list[int]) -> None:
    sim.create("object", "Q", BUFFER, 1, 0)
    start(host, config(MSG_SEND, CONTENT, payload=payload))
    sim.tell(f"send 0 {BUFFER} {OK} 9 2 1 4 20")
    finish(host)
    assert [event for event, _, _ in records(host, MSG_SEND, CONTENT)] == expected


def test_fast_mode_keeps_the_header_of_combine_events(sim: Simulation, host: SimHost) -> None:
    sim.create("object", "Q", BUFFER, 1, 0)
    sim.tell("memory 1 1 2 3 4 5")
    taken = start(host, config(MSG_SEND, CONTENT, MEM_SAMPLE, payload=Payload.CONTENT, content_bytes=200, fast=True))
    assert taken.fast
    sim.tell(f"send 0 {BUFFER} {OK} 9 2 1 4 150")
    work(host, 5)
    finish(host)
    assert sorted(records(host, CONTENT, MEM_SAMPLE)) == [(MEM_SAMPLE, 1, ()), (CONTENT, 0, ())]
    assert len(records(host, MSG_SEND)[0][2]) == 6


# -------------------------------------------------------------------- samples


def test_samples_are_what_the_system_tells_each_period(sim: Simulation, host: SimHost) -> None:
    sim.create("task", "T0", 1, 0)
    sim.create("task", "T1", 2, 0)
    sim.tell("memory 0 1000 200 3 900 250")
    sim.tell("memory 2 11 12 13 14 15")
    sim.tell("stack 1 8192 700")
    sim.tell("operation 2 4 6 17 1234567890123")
    start(host, config(MEM_SAMPLE, STACK_SAMPLE, OP_COUNT, memory_ms=20, stack_ms=50, operations_ms=200))
    work(host, 95)
    sim.tell("memory 2 21 22 23 24 25")
    work(host, 10)
    finish(host)
    memory = records(host, MEM_SAMPLE)
    # At 0, 20, 40, 60, 80 and 100 ms; partition 1 has no heap.
    assert memory[:2] == [(MEM_SAMPLE, 0, (1000, 200, 3, 900, 250, 0)), (MEM_SAMPLE, 2, (11, 12, 13, 14, 15, 0))]
    assert len(memory) == 12
    assert memory[-1] == (MEM_SAMPLE, 2, (21, 22, 23, 24, 25, 0))
    assert records(host, STACK_SAMPLE) == [(STACK_SAMPLE, 1, (700, 8192))] * 3
    total = 1234567890123
    words = (4 << 16 | 6, 17, total & 0xFFFFFFFF, total >> 32)
    assert records(host, OP_COUNT) == [(OP_COUNT, 2, words)]


def test_a_sample_is_switched_off_and_on(sim: Simulation, host: SimHost) -> None:
    sim.tell("memory 1 1 2 3 4 5")
    start(host, config(MEM_SAMPLE, memory_ms=1000))
    work(host, 3)
    assert host.ask(Filter(MEM_SAMPLE, on=False)).result == Result.OK
    work(host, 2100)
    assert host.ask(Filter(MEM_SAMPLE, on=True)).result == Result.OK
    work(host, 3)
    finish(host)
    sequence = [(event, arg) for event, arg, _ in records(host, MEM_SAMPLE, FILTER)]
    assert sequence == [(MEM_SAMPLE, 1), (FILTER, MEM_SAMPLE), (FILTER, MEM_SAMPLE), (MEM_SAMPLE, 1)]


def test_missed_periods_are_not_made_up_for(sim: Simulation, host: SimHost) -> None:
    sim.tell("memory 1 1 2 3 4 5")
    start(host, config(MEM_SAMPLE, memory_ms=10))
    work(host, 2)
    sim.advance(1000 * MS)
    work(host, 2)
    finish(host)
    assert len(records(host, MEM_SAMPLE)) == 2


# -------------------------------------------------------------------- growth and stop conditions


def grown(host: SimHost) -> list[tuple[int, int]]:
    return [(words[0], words[1]) for _, _, words in records(host, BUFFER_GROW)]


def fill(sim: Simulation, count: int) -> None:
    for number in range(count):
        sim.record(USER_POINT, number & 0xFFFF)


def test_growth_in_steps_up_to_the_limit(sim: Simulation, host: SimHost) -> None:
    start(host, config(USER_POINT, BUFFER_GROW, unit_slots=128, units=4, max_units=11, grow_units=3, no_upload=True))
    for _ in range(30):
        fill(sim, 40)
        work(host, 1)
    end = finish(host)
    work(host, 30)
    assert grown(host) == [(3, 0), (3, 0), (1, 0)]
    assert end.streams[0].units == 11
    state = end.streams[0]
    assert state.recorded == state.losses.overwritten + sum(decode_block(d).count for d in host.of(Channel.BLOCK))


def test_growth_keeps_what_a_ring_would_overwrite(sim: Simulation, host: SimHost) -> None:
    start(host, config(USER_POINT, unit_slots=128, units=4, max_units=32, grow_units=4, no_upload=True))
    for _ in range(30):
        fill(sim, 60)
        work(host, 1)
    end = finish(host)
    work(host, 30)
    assert end.streams[0].losses.total == 0
    assert [arg for _, arg, _ in records(host, USER_POINT)] == [n for _ in range(30) for n in range(60)]


def test_a_growth_without_memory_is_recorded_and_counted() -> None:
    with Simulation() as sim:
        # Room for 8 units of 128 slots and their accounts, and not for 8 more.
        assert sim.init(hz=HZ, clock=HZ, cost=0, arena=14_000) == 0
        host = SimHost(sim)
        host.hello()
        start(
            host, config(USER_POINT, BUFFER_GROW, unit_slots=128, units=8, max_units=16, grow_units=8, no_upload=True)
        )
        fill(sim, 128 * 7)
        work(host, 5)
        fill(sim, 20)
        sim.advance(1100 * MS)
        sim.tell("more 20000")
        work(host, 5)
        end = finish(host)
        assert grown(host) == [(0, 1), (8, 1)]
        assert (end.streams[0].units, end.streams[0].grow_failures) == (16, 1)


def ended_by_itself(host: SimHost) -> int:
    """The reason of the STOP record, when the run ended without a command."""
    work(host, 20)
    assert host.ask(Stop()).result == Result.STATE
    return records(host, STOP)[0][1]


def test_stop_after_a_number_of_records(sim: Simulation, host: SimHost) -> None:
    start(host, config(USER_POINT, max_records=100))
    fill(sim, 50)
    work(host, 2)
    assert records(host, STOP) == []
    fill(sim, 60)
    assert ended_by_itself(host) == AUTOSTOP


def test_stop_when_a_linear_buffer_is_full(sim: Simulation, host: SimHost) -> None:
    wanted = config(USER_POINT, policy=Policy.LINEAR, stop_when_full=True, unit_slots=128, units=2, no_upload=True)
    start(host, wanted)
    fill(sim, 200)
    work(host, 2)
    assert host.of(Channel.END) == []
    fill(sim, 100)
    work(host, 20)
    reply = host.ask(Stop())
    assert reply.result == Result.STATE
    # START and SNAPSHOT records are among what fits.
    kept = [arg for _, arg, _ in records(host, USER_POINT)]
    assert kept == [n for part in (200, 100) for n in range(part)][: len(kept)]
    assert 200 < len(kept) < 256


# -------------------------------------------------------------------- acquisition


def page(reply: Reply) -> LogPage:
    assert isinstance(reply.body, LogPage), reply.text
    return reply.body


def read_all(host: SimHost, request: LogRequest) -> list[int]:
    numbers, before = [], 0
    for _ in range(100):
        part = page(host.ask(replace(request, before=before)))
        numbers += [entry.number for entry in part.entries]
        if not part.before:
            return numbers
        before = part.before
    raise AssertionError("the pages do not end")


def log(sim: Simulation, count: int, first: int = 0) -> None:
    """Entry n has code n % 8, ED&R kind of severity n % 4 + 1 and facility BOOT, and partition n % 3."""
    for n in range(first, first + count):
        for which in (0, 1):
            sim.tell(f"log {which} {n % 8} {0x40 | (n % 4 + 1)} {n % 3} 65535 {1000 + n}")


def test_a_log_is_read_newest_first_in_pages(sim: Simulation, host: SimHost) -> None:
    log(sim, 30)
    first = page(host.ask(LogRequest(Log.HM)))
    assert [entry.number for entry in first.entries] == [29, 28, 27, 26, 25, 24, 23, 22]
    assert (first.oldest, first.next, first.missed, first.before) == (0, 30, 0, 22)
    assert first.entries[0].time == 1029
    assert first.entries[0].message == "from the simulation"
    assert read_all(host, LogRequest(Log.HM)) == list(range(29, -1, -1))


def test_a_log_by_type_partition_and_count(sim: Simulation, host: SimHost) -> None:
    log(sim, 60)
    assert read_all(host, LogRequest(Log.HM, type=3)) == [n for n in range(59, -1, -1) if n % 8 == 3]
    assert read_all(host, LogRequest(Log.HM, partition=2)) == [n for n in range(59, -1, -1) if n % 3 == 2]
    part = page(host.ask(LogRequest(Log.HM, count=3, type=0, partition=1)))
    assert [entry.number for entry in part.entries] == [n for n in range(59, -1, -1) if n % 8 == 0 and n % 3 == 1][:3]
    assert read_all(host, LogRequest(Log.EDR, type=2)) == [n for n in range(59, -1, -1) if n % 4 == 1]
    assert read_all(host, LogRequest(Log.EDR, type=0x40)) == list(range(59, -1, -1))
    assert read_all(host, LogRequest(Log.EDR, type=0x50)) == []


def test_paging_is_consistent_while_entries_come(sim: Simulation, host: SimHost) -> None:
    log(sim, 40)
    first = page(host.ask(LogRequest(Log.HM)))
    log(sim, 5, first=40)
    second = page(host.ask(LogRequest(Log.HM, before=first.before)))
    assert [entry.number for entry in first.entries + second.entries] == list(range(39, 23, -1))
    assert second.next == 45


def test_what_is_overwritten_is_counted(sim: Simulation, host: SimHost) -> None:
    log(sim, 70)  # the simulation keeps 64
    first = page(host.ask(LogRequest(Log.HM)))
    assert (first.oldest, first.next, first.missed) == (6, 70, 6)
    assert read_all(host, LogRequest(Log.HM)) == list(range(69, 5, -1))


def test_memory_in_pages(sim: Simulation, host: SimHost) -> None:
    sim.tell("memory 0 1 2 3 4 5")
    sim.tell("memory 2 6 7 8 9 10")
    reply = host.ask(MemoryRequest())
    assert isinstance(reply.body, MemoryPage)
    assert reply.body.entries == (MemoryEntry(0, 1, 2, 3, 4, 5), MemoryEntry(2, 6, 7, 8, 9, 10))
    assert reply.body.next == 0
