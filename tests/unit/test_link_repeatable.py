# SPDX-License-Identifier: Apache-2.0
"""What is counted of a bit-equal run, of which the datagrams come from a file."""

from __future__ import annotations

from pathlib import Path

from tests.support.recording import BOOT, Recording
from vxmon.link.repeatable import _store
from vxmon.session.packets import Endpoint
from vxmon.session.reader import open_session
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter

TARGET, HOST = Endpoint(0x0A00020F, 6530), Endpoint(0x0A000202, 6530)


def of_boot(folder: Path, boot: int, records: int, drop: tuple[int, ...] = ()) -> str:
    """A run in blocks of four records."""
    made = Recording(boot=boot)
    for number in range(records):
        made.add(10 + number, "USER_POINT", number)
    return made.write(folder / f"boot{boot}.pcapng", drop)


def joined(folder: Path, *sessions: str) -> Path:
    """One dump of them, so short that it is read in one batch."""
    dump = folder / "dump.pcapng"
    writer = SessionWriter(FileSink.open(str(dump)), {})
    for name in sessions:
        with open_session(name) as source:
            for batch in source.datagrams():
                for number in range(len(batch)):
                    writer.add(int(batch.times[number]), TARGET, HOST, batch.payload(number))
    writer.finish(0, 0)
    return dump


def test_each_boot_of_a_dump_is_counted_by_itself(tmp_path: Path) -> None:
    """10 records in 3 blocks, then 7 in 2, of which the first with 4 records is missing."""
    dump = joined(tmp_path, of_boot(tmp_path, BOOT, 10), of_boot(tmp_path, BOOT + 1, 7, drop=(0,)))
    summary = _store(dump, SessionWriter(FileSink.open(str(tmp_path / "s.pcapng")), {}), 9.0)
    assert (summary.recorded, summary.delivered, summary.blocks) == (17, 13, 4)
    assert (summary.lost, summary.incomplete) == ({"link": 4}, "")


def test_a_dump_without_a_run_is_incomplete(tmp_path: Path) -> None:
    summary = _store(joined(tmp_path), SessionWriter(FileSink.open(str(tmp_path / "s.pcapng")), {}), 9.0)
    assert (summary.recorded, summary.delivered) == (None, 0)
    assert summary.incomplete == "the target did not tell the end of the run"
