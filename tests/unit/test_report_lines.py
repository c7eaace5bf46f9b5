# SPDX-License-Identifier: Apache-2.0
"""Lines, against what is written by hand from traceprinter's formats (QNX 6.4 source, 7.1 and 8.0 pages)."""

from __future__ import annotations

from pathlib import Path
from typing import TypedDict

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.support.sessions import BOOT, EVENTS, HZ, NAMES, Target, record, write_session
from vxmon.errors import InputError
from vxmon.report.digits import Piece, assemble, decimal, hexadecimal
from vxmon.report.format import DEFAULT_FORMAT, FORMAT_6, parse_format
from vxmon.report.lines import LinePrinter
from vxmon.trace import open_trace
from vxmon.wire.types import ObjectTable, PartitionEntry, TaskEntry


class Order(TypedDict):
    big_endian: bool


def lines_of(path: str, head: str = DEFAULT_FORMAT, *, words: bool = False, classic: bool = False) -> list[str]:
    with open_trace([path]) as trace:
        printer = LinePrinter(head, words=words, classic=classic)
        text = b"".join(printer.lines(chunk) for chunk in trace.chunks())
    assert text.endswith(b"\n")
    return text.decode("ascii").split("\n")[:-1]


def session(tmp_path: Path, records: list[bytes], times: tuple[int, int], target: Target | None = None) -> str:
    target = target or Target()
    datagrams = [*target.tables(), *target.started(), target.block(records, *times), *target.end(times[1])]
    return write_session(tmp_path / "s.pcapng", datagrams)


@pytest.mark.parametrize("big_endian", [True, False])
def test_the_default_layout_is_that_of_7_and_8(tmp_path: Path, big_endian: bool) -> None:
    t = 0x1_FFFF_FFF0
    order: Order = {"big_endian": big_endian}
    records = [
        record("MAJOR_FRAME", 0, t, {"start": t - 4, "frame": 7}, **order),
        record("PARTITION_SWITCH", 1, t + 1, **order),
        record("TASK_SWITCH", 1, t + 2, {"reason": 1, "previous": 0}, **order),
        record("TASK_SWITCH", 65535, t + 0x20, {"reason": 0, "previous": 9}, **order),
        record("MSG_SEND", 0, t + 0x21, {
            "type": 4, "result": 0, "number": 4_000_000_000, "size": 64, "depth": 3, "partition": 2, "task": 65535,
        }, **order),
        record("KER_EXIT", 12, t + 0x22, {"partition": 3, "task": 1, "result": -2}, **order),
        record("HM_EVENT", 1, t + 0x23, {
            "code": 0, "level": 0, "subcode": 5, "address": 0xDEADBEEF, "task": 0, "action": 3, "entry": 12,
        }, **order),
        record("USER_TEXT", 3, t + 0x24, {"text": "a b"}, **order),
        record("CONTENT", 0, t + 0x25, {"number": 9, "offset": 0, "length": 3, "content": b"\x00\xab\x01"}, **order),
        record("FILTER", 34, t + 0x26, {"state": 1}, **order),
    ]  # fmt: skip
    path = session(tmp_path, records, (t, t + 0x26), Target(big_endian=big_endian))
    assert lines_of(path) == [
        "t:0x1fffffff0 CPU:00 SCHED           :MAJOR_FRAME       schedule:0 start:0x1ffffffec frame:7",
        "t:0x1fffffff1 CPU:00 SCHED           :PARTITION_SWITCH  partition:NAV",
        "t:0x1fffffff2 CPU:00 TASK            :TASK_SWITCH       task:fms_plan reason:preempted previous:nav_filter",
        "t:0x200000010 CPU:00 TASK            :TASK_SWITCH       task:none reason:blocked previous:9",
        (
            "t:0x200000011 CPU:00 COMM            :MSG_SEND          object:nav_out type:queuing_port result:ok "
            "number:4000000000 size:64 depth:3 partition:FMS task:none"
        ),
        (
            "t:0x200000012 CPU:00 KER             :KER_EXIT          call:GET_PARTITION_MODE partition:3 "
            "task:fms_plan result:-2"
        ),
        (
            "t:0x200000013 CPU:00 HM              :HM_EVENT          partition:NAV code:DEADLINE_MISSED level:process "
            "subcode:5 address:0xdeadbeef task:nav_filter action:stop_process entry:12"
        ),
        't:0x200000014 CPU:00 USER            :USER_TEXT         number:3 text:"a b"',
        (
            "t:0x200000015 CPU:00 COMM            :CONTENT           object:nav_out number:9 offset:0 length:3 "
            "content:00ab01"
        ),
        "t:0x200000016 CPU:00 CONTROL         :FILTER            event:PARTITION_SWITCH state:on",
    ]


def test_dialect_6_has_narrow_columns_32_bit_times_and_its_own_time_line(tmp_path: Path) -> None:
    t = 0x2_0000_0001
    records = [
        record("TIME", 0, t, {"time": t}),
        record("TASK_SWITCH", 0, t + 1, {"reason": 3, "previous": 1}),
        record("PARTITION_SWITCH", 2, t + 2),
    ]
    assert lines_of(session(tmp_path, records, (t, t + 2)), FORMAT_6, classic=True) == [
        "t:0x00000001 CPU:00 CONTROL :TIME msb:0x00000002 lsb(offset):0x00000001",
        "t:0x00000002 CPU:00 TASK    :TASK_SWITCH   task:nav_filter reason:window_end previous:fms_plan",
        "t:0x00000003 CPU:00 SCHED   :PARTITION_SWITCH partition:FMS",
    ]


def test_the_example_of_the_manual(tmp_path: Path) -> None:
    """``e:%06e t:%014t c:0x%010c`` of the 7.1 page; widths as printf has them."""
    start = 0x4BE9A514 - 16 * (HZ // 1_000_000)
    records = [record("WINDOW", 1, start), record("WINDOW", 2, 0x4BE9A514)]
    path = session(tmp_path, records, (start, 0x4BE9A514))
    head = "e:%06e t:%014t c:0x%010c CPU:%02C %-16Z:%-18z"
    assert lines_of(path, head)[1] == (
        "e:000033 t:0000.000.016us c:0x004be9a514 CPU:00 SCHED           :WINDOW            window:2"
    )


@pytest.mark.parametrize(
    ("head", "expected"),
    [
        ("%c", "1fffffff2 task:0"),
        ("%12c|", "   1fffffff2| task:0"),
        ("%-12c|", "1fffffff2   | task:0"),
        ("%012c ", "0001fffffff2 task:0"),
        ("%05c", "1fffffff2 task:0"),
        ("%.-4c", "fff2 task:0"),
        ("%08.-8c", "fffffff2 task:0"),
        ("%C", "0 task:0"),
        ("%3C.", "  0. task:0"),
        ("%e", "66 task:0"),
        ("%t", "0.000.000us task:0"),
        ("%16t", "     0.000.000us task:0"),
        ("%-14t|", "0.000.000us   | task:0"),
        ("%Z", "TASK task:0"),
        ("%6Z:%z", "  TASK:COMPLETE task:0"),
        ("%.3z", "COM task:0"),
        ("%.-4z", "LETE task:0"),
        ("%10.-4z", "      LETE task:0"),
        ("100%% %z", "100% COMPLETE task:0"),
        ("a\tb\t", "a\tb\ttask:0"),
    ],
)
def test_conversions_follow_printf(tmp_path: Path, head: str, expected: str) -> None:
    t = 0x1_FFFF_FFF2
    target = Target()
    datagrams = [*target.info(), target.block([record("COMPLETE", 0, t, {"activation": 1})], t, t), *target.end(t)]
    assert lines_of(write_session(tmp_path / "s", datagrams), head) == [f"{expected} activation:1"]


@pytest.mark.parametrize("head", ["%", "abc%", "%d", "%5", "%.z.%q", "a\nb", "%300c", "\x1b[1m%c"])
def test_a_wrong_format_is_refused_in_words(head: str) -> None:
    with pytest.raises(InputError, match="format"):
        parse_format(head)


def test_a_loss_is_told_where_it_is(tmp_path: Path) -> None:
    target = Target()
    a = target.points([0x10, 0x11])
    target.lose(overwritten=100)
    target.points(range(0x20, 0x20 + 23))
    datagrams = [*target.tables(), *target.started(), a, target.points([0x7000_0000]), *target.end(0x7000_0001)]
    target.lose(full=5)
    datagrams += target.end(0x8000_0000)
    assert lines_of(write_session(tmp_path / "s", datagrams))[1:] == [
        "t:0x00000011 CPU:00 USER            :USER_POINT        number:1",
        (
            "t:0x70000000 CPU:00 CONTROL         :LOSS              records:123 from:0x00000011 to:0x70000000 "
            "overwritten:100 link:23"
        ),
        "t:0x70000000 CPU:00 USER            :USER_POINT        number:125",
        "t:0x80000000 CPU:00 CONTROL         :LOSS              records:5 from:0x70000000 to:0x80000000 full:5",
    ]


def test_unknown_events_are_shown_by_number_and_skipped_by_length(tmp_path: Path) -> None:
    unknown = (600 << 22 | 2 << 16 | 9).to_bytes(4, "big") + (5).to_bytes(4, "big") + bytes(range(16))
    path = session(tmp_path, [unknown, record("WINDOW", 3, 6)], (5, 6))
    assert lines_of(path) == [
        (
            "t:0x00000005 CPU:00 UNKNOWN         :EVENT_600         arg:9 slots:2 "
            "words:0x00010203,0x04050607,0x08090a0b,0x0c0d0e0f"
        ),
        "t:0x00000006 CPU:00 SCHED           :WINDOW            window:3",
    ]


def test_short_and_long_records_say_what_is_there(tmp_path: Path) -> None:
    short = (EVENTS["MSG_SEND"].id << 22 | 1 << 16).to_bytes(4, "big") + bytes(4) + b"\0\4\0\0" + b"\0\0\0\1"
    long = (EVENTS["WINDOW"].id << 22 | 1 << 16 | 4).to_bytes(4, "big") + bytes(4) + bytes(8)
    assert lines_of(session(tmp_path, [short, long], (0, 0))) == [
        (
            "t:0x00000000 CPU:00 COMM            :MSG_SEND          object:nav_out type:queuing_port result:ok "
            "number:1 size:not_recorded depth:not_recorded partition:not_recorded task:not_recorded"
        ),
        "t:0x00000000 CPU:00 SCHED           :WINDOW            window:4",
    ]


def test_the_words_of_records_are_shown_on_demand(tmp_path: Path) -> None:
    path = session(tmp_path, [record("USER", 1, 0, {"d0": 0xA, "d1": 0xFFFFFFFF})], (0, 0))
    assert lines_of(path, "%z", words=True) == ["USER number:1 d0:0x0000000a d1:0xffffffff words:0x0000000a,0xffffffff"]


def test_heads_may_grow_within_a_chunk(tmp_path: Path) -> None:
    """A digit more, in cycles from one record to the next and in seconds after the tenth."""
    times = [(1 << 32) - 10 * HZ - 1, (1 << 32) - 2, (1 << 32) - 1, 1 << 32, (1 << 32) + 7]
    path = session(
        tmp_path, [record("WINDOW", number, time) for number, time in enumerate(times)], (times[0], times[-1])
    )
    assert [line.split()[0] for line in lines_of(path)] == [f"t:0x{time:08x}" for time in times]
    micro = [(time - times[0]) * 1_000_000 // HZ for time in times]
    assert lines_of(path, "%t %z") == [
        f"{us // 1_000_000}.{us // 1000 % 1000:03}.{us % 1000:03}us WINDOW window:{number}"
        for number, us in enumerate(micro)
    ]


def test_numbers_too_large_for_a_name_are_numbers(tmp_path: Path) -> None:
    states = [1, 0xFFFF, 0x10000, 0, 0xFFFFFFFF]
    path = session(tmp_path, [record("FILTER", 34, 0, {"state": state}) for state in states], (0, 0))
    assert [line.split("state:")[1] for line in lines_of(path)] == ["on", "65535", "65536", "off", "4294967295"]


def test_text_from_the_target_cannot_break_a_line(tmp_path: Path) -> None:
    evil = "a\nt:0x0 b\r\x1b[31mc\x7f\x85é"
    record_bytes = record("USER_TEXT", 1, 0, {"text": evil})
    assert lines_of(session(tmp_path, [record_bytes], (0, 0)), "%z") == [
        'USER_TEXT number:1 text:"a.t:0x0 b..[31mc....."'
    ]


def test_text_ends_at_its_first_nul_and_may_be_empty(tmp_path: Path) -> None:
    records = [record("USER_TEXT", 1, 0, {"text": ""}), record("USER_TEXT", 1, 0, {"text": "x" * 64})]
    full = "x" * 64
    assert lines_of(session(tmp_path, records, (0, 0)), "%z") == [
        'USER_TEXT number:1 text:""', f'USER_TEXT number:1 text:"{full}"',
    ]  # fmt: skip


def test_content_is_no_longer_than_its_length_says(tmp_path: Path) -> None:
    records = [
        record("CONTENT", 0, 0, {"number": 1, "offset": 0, "length": length, "content": b"\1\2\3\4\5"})
        for length in (0, 2, 8, 60000)
    ]
    assert [line.split("content:")[1] for line in lines_of(session(tmp_path, records, (0, 0)), "%z")] == [
        "", "0102", "0102030405000000", "0102030405000000",
    ]  # fmt: skip


def test_names_follow_the_boot(tmp_path: Path) -> None:
    one, two = Target(boot=5), Target(boot=6)
    other = ObjectTable(1, partitions=(PartitionEntry(1, "RADIO"),), tasks=(TaskEntry(0, 1, "tune"),))
    datagrams = [
        *one.tables(), one.block([record("PARTITION_SWITCH", 1, 9)], 9, 9), *one.end(9),
        *two.tables(other), two.block([record("PARTITION_SWITCH", 1, 3)], 3, 3), *two.end(3),
    ]  # fmt: skip
    assert lines_of(write_session(tmp_path / "s", datagrams), "%z") == [
        "PARTITION_SWITCH partition:NAV", "PARTITION_SWITCH partition:RADIO",
    ]  # fmt: skip


def test_later_tables_name_earlier_records_and_the_newest_version_wins(tmp_path: Path) -> None:
    target = Target()
    block = target.block([record("PARTITION_SWITCH", 1, 9)], 9, 9)
    newer = ObjectTable(2, partitions=(PartitionEntry(1, "NAV2"),))
    datagrams = [block, *target.tables(newer), *target.tables(NAMES), *target.end(9)]
    assert lines_of(write_session(tmp_path / "s", datagrams), "%z") == ["PARTITION_SWITCH partition:NAV2"]


def test_without_any_table_everything_is_by_number(tmp_path: Path) -> None:
    target = Target(table=None, release="9.9")
    datagrams = [target.block([record("PARTITION_SWITCH", 1, 9)], 9, 9), *target.end(9)]
    path = write_session(tmp_path / "s", datagrams)
    assert lines_of(path) == ["t:0x00000009 CPU:00 UNKNOWN         :EVENT_34          arg:1 slots:0"]
    with open_trace([path]) as trace:
        assert trace.facts.problems == [f"boot 0x{BOOT:08x}: no event table; events are shown by number"]


def test_a_shipped_table_stands_in_and_another_one_is_told(tmp_path: Path) -> None:
    target = Target()
    block = target.block([record("PARTITION_SWITCH", 1, 9)], 9, 9)
    same = write_session(tmp_path / "a", [*target.heartbeat(1), block, *target.end(9)])
    assert lines_of(same, "%z") == ["PARTITION_SWITCH partition:1"]
    stranger = Target(table=None)
    other = write_session(tmp_path / "b", [*stranger.heartbeat(1), block, *target.end(9)])
    assert lines_of(other, "%z") == ["PARTITION_SWITCH partition:1"]
    with open_trace([same]) as a, open_trace([other]) as b:
        assert a.facts.problems == []
        assert "may be wrong" in b.facts.problems[0]


@settings(max_examples=60, deadline=None)
@given(st.lists(st.integers(0, (1 << 64) - 1), min_size=1, max_size=40))
def test_numbers_are_those_of_python(values: list[int]) -> None:
    column = np.array(values, np.uint64)

    def text(pieces: list[Piece]) -> list[str]:
        block = assemble(len(values), pieces)
        return [bytes(row).replace(b"\0", b"").decode() for row in block]

    assert text(decimal(column)) == [str(v) for v in values]
    assert text(hexadecimal(column, 8)) == [f"{v:08x}" for v in values]
    assert text(hexadecimal(column, 16)) == [f"{v:016x}" for v in values]
