# SPDX-License-Identifier: Apache-2.0
"""Tables as a host gets them: complete, in parts that fit, repeated, and of the newest state."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.support.records import record_list
from tests.support.sim import SimHost, Simulation
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.events import TABLES
from vxmon.wire.reassembly import Reassembler
from vxmon.wire.status import decode_target_heartbeat
from vxmon.wire.tables import decode_table
from vxmon.wire.types import (
    Channel,
    EventTable,
    InfoRequest,
    ObjectTable,
    Result,
    RunConfig,
    Start,
    Table,
    TablesRequest,
    TargetInfo,
)

HZ = 1_000_000
SNAPSHOT = 6
MAX_TASKS = 512  # of the port to Linux
PART_BYTES = 4096 + 8


@pytest.fixture(name="sim")
def simulation() -> Iterator[Simulation]:
    with Simulation() as sim:
        assert sim.init(hz=HZ, cost=0) == 0
        yield sim


def collect(sim: Simulation, host: SimHost, steps: int = 200) -> list[Table]:
    """Lets the agent take some steps; every table that arrived whole."""
    host.raw.clear()
    for _ in range(steps):
        sim.step(100_000)
    host.collect()
    reassembler, found = Reassembler(), []
    for datagram in map(decode_datagram, host.raw):
        payload = reassembler.add(datagram, 0) if datagram.header.channel == Channel.TABLE else None
        if payload is not None:
            assert datagram.header.fragments == 1 or len(payload) > 0
            table = decode_table(payload)
            assert not isinstance(table, ObjectTable) or len(payload) <= PART_BYTES
            found.append(table)
    return found


def merged(tables: list[Table]) -> ObjectTable:
    """The parts of one pass together."""
    parts = [table for table in tables if isinstance(table, ObjectTable)]
    assert len({part.version for part in parts}) == 1
    return ObjectTable(
        parts[0].version,
        tuple(entry for part in parts for entry in part.schedules),
        tuple(entry for part in parts for entry in part.partitions),
        tuple(entry for part in parts for entry in part.tasks),
        tuple(entry for part in parts for entry in part.objects),
    )


def test_all_tables_come_on_request(sim: Simulation, host: SimHost) -> None:
    assert host.ask(TablesRequest()).result == Result.OK
    tables = collect(sim, host)
    info, events = tables[0], tables[1]
    assert isinstance(info, TargetInfo)
    assert isinstance(events, EventTable)
    assert events == TABLES["2.4"]
    assert info.offered == {event.id for event in events.events}
    assert info.table_fingerprint == events.fingerprint
    assert [entry.name for entry in merged(tables).partitions] == ["MODULE_OS"]


def test_a_full_object_table_comes_whole(sim: Simulation, host: SimHost) -> None:
    tasks = [sim.create("task", f"task_{at}", at % 7, 0x1000 + at) for at in range(MAX_TASKS)]
    assert tasks == list(range(MAX_TASKS))
    assert sim.create("task", "one_too_many", 1, 1) == 0xFFFF
    assert sim.create("object", "queue", 0, 3, 0x77) == 0
    sim.tell("schedule 100")
    host.ask(TablesRequest())
    tables = collect(sim, host)
    whole = merged(tables)
    assert [(task.index, task.name, task.partition, task.handle) for task in whole.tasks] == [
        (at, f"task_{at}", at % 7, 0x1000 + at) for at in range(MAX_TASKS)
    ]
    assert [entry.name for entry in whole.objects] == ["queue"]
    assert [len(schedule.windows) for schedule in whole.schedules] == [100]
    assert whole.schedules[0].windows[99].offset == 99_000
    info = tables[0]
    assert isinstance(info, TargetInfo)
    assert info.unnamed == 1


def test_names_are_cut_and_made_printable(sim: Simulation, host: SimHost) -> None:
    sim.create("partition", "x" * 40, 1)
    sim.create("partition", "a\x01b\x7fc\u00e9", 2)
    host.ask(TablesRequest())
    names = [entry.name for entry in merged(collect(sim, host)).partitions]
    assert names == ["MODULE_OS", "x" * 31, "a?b?c??"]


def test_a_schedule_that_fits_no_part_is_counted_and_the_rest_comes(sim: Simulation, host: SimHost) -> None:
    sim.tell("schedule 512")
    sim.create("task", "after", 1, 1)
    host.ask(TablesRequest())
    whole = merged(collect(sim, host))
    assert whole.schedules == ()
    assert [task.name for task in whole.tasks] == ["after"]
    info = host.ask(InfoRequest()).body
    assert isinstance(info, TargetInfo)
    assert info.unnamed == 1


def test_the_snapshot_is_framed_by_records(sim: Simulation, host: SimHost) -> None:
    for at in range(100):
        sim.create("task", f"task_{at}", 1, at)
    assert host.ask(Start(RunConfig())).result == Result.OK
    assert len(merged(collect(sim, host)).tasks) == 100
    sim.advance(HZ // 5)
    sim.step(100_000)
    host.collect()
    blocks = [decode_block(datagram) for datagram in host.of(Channel.BLOCK)]
    snapshots = [record for block in blocks for record in record_list(block) if record[0] == SNAPSHOT]
    assert [(phase, words[1]) for _, phase, words, _ in snapshots] == [(0, 101), (1, 101)]


def test_tables_are_repeated_and_follow_changes_while_a_run_lasts(sim: Simulation, host: SimHost) -> None:
    assert host.ask(Start(RunConfig(one_way=True))).result == Result.OK
    assert collect(sim, host)
    sim.advance(4 * HZ)
    assert collect(sim, host) == []
    sim.create("task", "late", 2, 9)
    assert [task.name for task in merged(collect(sim, host)).tasks] == ["late"]
    sim.advance(5 * HZ)
    again = collect(sim, host)
    assert merged(again).tasks[0].name == "late"
    beat = decode_target_heartbeat(host.of(Channel.HEARTBEAT)[-1].payload)
    assert beat.object_version == merged(again).version
    assert beat.table_fingerprint == TABLES["2.4"].fingerprint


def test_small_datagrams_carry_tables_in_more_fragments(sim: Simulation, host: SimHost) -> None:
    assert host.ask(Start(RunConfig(datagram_bytes=512))).result == Result.OK
    tables = collect(sim, host)
    assert TABLES["2.4"] in tables
    assert max(len(data) for data in host.raw) <= 512
