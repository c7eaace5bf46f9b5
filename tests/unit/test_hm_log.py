# SPDX-License-Identifier: Apache-2.0
"""``hm-log`` of sessions written event by event: what is shown, chosen, and said when it was not recorded.

Codes and actions are numbered as in proto/EVENTS.md (ARINC 653 for the codes), ED&R kinds as in edrLibCommon.h.
"""

from __future__ import annotations

import csv
import io
import json
from pathlib import Path

import pytest

from tests.support.recording import BOOT, Recording
from tests.support.schemas import valid
from vxmon.analysis.hm_log import LogFilter, log_from_trace, type_number
from vxmon.errors import InputError
from vxmon.report.blocks import plain_lines
from vxmon.report.figures import loss_json
from vxmon.report.hm_log import hm_log_blocks, hm_log_csv, hm_log_document
from vxmon.trace import open_trace
from vxmon.wire.acquired import Log, LogEntry, LogPage
from vxmon.wire.events import TABLES
from vxmon.wire.types import PartitionEntry, Reply, Result, TaskEntry

NAV, IO = 1, 2
TABLE = TABLES["2.4"]


def recording() -> Recording:
    rec = Recording(
        partitions=(PartitionEntry(0, "MODULE_OS"), PartitionEntry(NAV, "NAV"), PartitionEntry(IO, "IO")),
        tasks=(TaskEntry(0, NAV, "nav_filter"), TaskEntry(1, IO, "io_send")),
        events=frozenset(event.id for event in TABLE.events),
    )
    rec.add(1_000_000, "START", NAV, run=1)
    rec.add(2_000_000, "HM_EVENT", NAV, code=0, level=0, subcode=7, address=0x1234, task=0, action=8, entry=40)
    rec.add(2_500_000, "EDR_EVENT", IO, kind=0x51, entry=3, address=0x99, task=1, boot_cycle=2)
    rec.add(3_000_000, "HM_EVENT", IO, code=5, level=1, address=0xDEADBEEF, task=1, action=4, entry=41)
    rec.add(3_500_000, "EDR_EVENT", 0, kind=0x24, entry=4, address=0, task=0xFFFF, boot_cycle=2)
    rec.add(4_000_000, "HM_EVENT", NAV, code=0, level=0, address=0x1238, task=0, action=8, entry=42)
    rec.add(5_000_000, "HM_EVENT", 0xFFFF, code=33, level=2, task=0xFFFF, action=7, entry=43)
    rec.add(6_000_000, "STOP", 0)
    return rec


@pytest.fixture(name="session")
def session_file(tmp_path: Path) -> str:
    return recording().write(tmp_path / "s.pcapng")


def numbers(session: str, wanted: LogFilter, log: Log = Log.HM) -> list[int]:
    with open_trace([session]) as trace:
        return [row.entry.number for row in log_from_trace(trace, log, wanted).rows]


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (LogFilter(), [43, 42, 41, 40]),
        (LogFilter(newest=2), [43, 42]),
        (LogFilter(type=0), [42, 40]),
        (LogFilter(type=0, newest=1), [42]),
        (LogFilter(partition="NAV"), [42, 40]),
        (LogFilter(partition="MODULE_OS"), []),
        (LogFilter(since=3.0), [43, 42, 41]),
        (LogFilter(since=3.000001), [43, 42]),
        (LogFilter(type=33), [43]),
    ],
)
def test_entries_are_chosen_and_newest_come_first(session: str, wanted: LogFilter, expected: list[int]) -> None:
    assert numbers(session, wanted) == expected


@pytest.mark.parametrize(("wanted", "expected"), [(None, [4, 3]), (0x1, [3]), (0x50, [3]), (0x24, [4]), (0x54, [])])
def test_the_edr_log_by_severity_and_facility(session: str, wanted: int | None, expected: list[int]) -> None:
    assert numbers(session, LogFilter(type=wanted), Log.EDR) == expected


def test_a_partition_that_does_not_exist(session: str) -> None:
    with pytest.raises(InputError, match="no partition 'X'; there are: IO, MODULE_OS, NAV"):
        numbers(session, LogFilter(partition="X"))


@pytest.mark.parametrize(
    ("log", "name", "number"),
    [
        (Log.HM, "deadline_missed", 0), (Log.HM, "POWER_FAIL", 7), (Log.HM, "19", 19), (Log.EDR, "FATAL", 1),
        (Log.EDR, "reboot", 0x50), (Log.EDR, "FATAL+REBOOT", 0x51), (Log.EDR, "82", 0x52),
    ],
)  # fmt: skip
def test_types_by_name_and_number(log: Log, name: str, number: int) -> None:
    assert type_number(log, name, TABLE) == number


@pytest.mark.parametrize(
    ("log", "name"), [(Log.HM, "FATAL"), (Log.EDR, "POWER_FAIL"), (Log.EDR, "FATAL+"), (Log.HM, "")]
)
def test_an_unknown_type_lists_those_there_are(log: Log, name: str) -> None:
    with pytest.raises(InputError, match="is no type of the log; there are: "):
        type_number(log, name, TABLE)


def test_numbers_stand_beside_names(session: str) -> None:
    with open_trace([session]) as trace:
        log = log_from_trace(trace, Log.HM, LogFilter())
        edr = log_from_trace(trace, Log.EDR, LogFilter(newest=2))
        facts = {"files": [session], "loss": loss_json(trace.facts)}
    document = valid("hm-log-1", json.dumps(hm_log_document(log, facts)))
    assert valid("hm-log-1", json.dumps(hm_log_document(edr, facts)))["log"] == "edr"
    assert document["loss"]["lost"] == 0
    second = document["entries"][2]
    assert {key: second[key] for key in (
        "entry", "time_ticks", "partition", "partition_name", "task", "task_name", "address", "code", "code_name",
        "level", "level_name", "action", "action_name", "message",
    )} == {
        "entry": 41, "time_ticks": 3_000_000, "partition": IO, "partition_name": "IO", "task": 1,
        "task_name": "io_send", "address": "0xdeadbeef", "code": 5, "code_name": "MEMORY_VIOLATION", "level": 1,
        "level_name": "partition", "action": 4, "action_name": "warm_restart", "message": None,
    }  # fmt: skip
    lines = list(plain_lines(hm_log_blocks(log)))
    assert "33" in lines[2]
    assert "reset_module (7)" in lines[2]
    assert lines[-1].split()[:4] == ["40", "2.000000000", "DEADLINE_MISSED", "(0)"]
    rows = list(csv.DictReader(io.StringIO(hm_log_csv(edr))))
    assert [(row["entry"], row["severity"], row["facility"], row["boot_cycle"]) for row in rows] == [
        ("4", "INFO", "INTERRUPT", "2"), ("3", "FATAL", "REBOOT", "2"),
    ]  # fmt: skip
    assert rows[0]["task"] == ""


def test_what_was_not_recorded_is_not_called_empty(tmp_path: Path) -> None:
    session = recording().without("HM_EVENT").write(tmp_path / "s.pcapng")
    with open_trace([session]) as trace:
        hm = log_from_trace(trace, Log.HM, LogFilter())
        edr = log_from_trace(trace, Log.EDR, LogFilter(type=0x42))
    assert list(plain_lines(hm_log_blocks(hm))) == ["not recorded: the runs left this event out"]
    assert not hm_log_document(hm, {})["recorded"]
    assert list(plain_lines(hm_log_blocks(edr))) == ["no entries"]


def test_texts_of_the_log_that_a_host_read_meanwhile(tmp_path: Path) -> None:
    """Entry 40 is in a page of the log; 41 has another code there, and 42 is of an earlier boot."""
    rec = recording()
    entries = (
        LogEntry(40, 1_999_990, 2, code=0, partition=NAV, message="late step"),
        LogEntry(41, 2_999_990, 2, code=4, partition=IO, message="another"),
        LogEntry(42, 3_999_990, 1, code=0, partition=NAV, message="earlier"),
    )
    page = LogPage(Log.HM, oldest=0, next=43, missed=0, generation=1, boot_cycle=2, before=0, entries=entries[::-1])
    rec.replies = [Reply(9, Result.OK, "", page)]
    with open_trace([rec.write(tmp_path / "s.pcapng")]) as trace:
        log = log_from_trace(trace, Log.HM, LogFilter())
    assert {row.entry.number: row.message for row in log.rows} == {40: "late step", 41: None, 42: None, 43: None}
    document = hm_log_document(log, {})
    assert [entry["boot_cycle"] for entry in document["entries"]] == [None, None, None, 2]


def test_texts_of_the_log_that_was_read_after_a_reset(tmp_path: Path) -> None:
    """The log survives a warm reset: what the second boot tells of the first one's entries is theirs.

    Entry 41 is another one of that number: it is older than its event by more than a second.
    """
    before, after = recording(), Recording(boot=BOOT + 1)
    after.add(7_000_000, "START", NAV)
    after.add(8_000_000, "STOP", 0)
    entries = (
        LogEntry(42, 3_999_990, 1, code=0, partition=NAV, message="late step"),
        LogEntry(41, 1_999_990, 1, code=5, partition=IO, message="another"),
    )
    page = LogPage(Log.HM, oldest=0, next=43, missed=0, generation=1, boot_cycle=2, before=0, entries=entries)
    after.replies = [Reply(9, Result.OK, "", page)]
    files = [before.write(tmp_path / "a.pcapng"), after.write(tmp_path / "b.pcapng")]
    with open_trace(files) as trace:
        log = log_from_trace(trace, Log.HM, LogFilter())
    assert {row.entry.number: row.message for row in log.rows} == {40: None, 41: None, 42: "late step", 43: None}
