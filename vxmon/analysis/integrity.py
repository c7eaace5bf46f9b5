# SPDX-License-Identifier: Apache-2.0
"""Is a session what it should be: every checksum, every record, their order, the tables, the file's end."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace import LOSS_ID, StoredTrace
from vxmon.trace.cuts import part_numbers, parts_between
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.rowtable import places_in_order
from vxmon.words import counted

__all__ = ["TOLD", "WELL", "WRONG", "Check", "verify_session"]

WELL: Final = "ok"
TOLD: Final = "told"
WRONG: Final = "wrong"

_ORDER: Final = ("boot", "run", "stream", "sequence")


@dataclass(frozen=True, slots=True)
class Check:
    """One question. ``status`` is WELL, WRONG, or TOLD for what a reader must know though the file is sound."""

    name: str
    status: str
    text: str


def verify_session(trace: StoredTrace) -> list[Check]:
    """Ask everything. The records are decoded once; memory is flat in their number."""
    facts = trace.facts
    seen, backwards = _walk(trace)
    checks = [_files(facts), _damage(facts), _altered(trace), _checksums(trace), _identity(facts)]
    checks += [_order(trace.index, backwards), _records(facts, seen), _tables(facts), _parts(facts), _ends(facts)]
    return checks


def _walk(trace: StoredTrace) -> tuple[Counter[int], int]:
    """Records by boot number, and how many are earlier than the one before them on their stream."""
    seen: Counter[int] = Counter()
    last: dict[tuple[int, int], int] = {}
    backwards = 0
    for chunk in trace.chunks():
        columns = chunk.columns
        real = columns.id != LOSS_ID
        seen[chunk.boot.number] += int(real.sum())
        for stream in np.unique(columns.stream[real]).tolist():
            times = columns.time[real & (columns.stream == stream)]
            place = (chunk.boot.number, stream)
            backwards += int((np.diff(times, prepend=last.get(place, times[0])) < 0).sum())
            last[place] = int(times[-1])
    return seen, backwards


def _check(name: str, wrong: str, well: str, *, status: str = WRONG) -> Check:
    return Check(name, status, wrong) if wrong else Check(name, WELL, well)


def _files(facts: Facts) -> Check:
    cut = [f"{file.name}: {counted(file.cut_bytes, 'byte')} left over" for file in facts.files if file.cut_bytes]
    wrong = "the end is cut, " + "; ".join(cut) if cut else ""
    return _check("end of file", wrong, f"{counted(len(facts.files), 'file')} with whole ends")


def _damage(facts: Facts) -> Check:
    bad = [f"{file.name}: {counted(file.damaged_bytes, 'byte')} skipped" for file in facts.files if file.damaged_bytes]
    packets = sum(file.packets for file in facts.files)
    return _check("framing", "; ".join(bad), f"{counted(packets, 'packet')}, no byte skipped")


def _altered(trace: StoredTrace) -> Check:
    """Whether what was stored is still what it was, by the UDP checksum that each datagram was given then."""
    altered = trace.count_altered()
    if altered is None:
        return Check("as stored", WELL, "not vxmon's own file: not known")
    wrong = f"{counted(altered, 'datagram was', 'datagrams were')} changed after being stored" if altered else ""
    return _check("as stored", wrong, "every datagram has the checksum it was stored with")


def _checksums(trace: StoredTrace) -> Check:
    counters = trace.facts.counters
    valid = int((trace.index["count"] > 0).sum())
    words = [
        counted(number, one, many)
        for number, one, many in (
            (counters.corrupt_blocks, "corrupt block", "corrupt blocks"),
            (counters.truncated, "datagram cut by a snapshot length", "datagrams cut by a snapshot length"),
        )
        if number
    ]
    refused = sum(counters.refused.values()) - counters.corrupt_blocks
    if refused > 0:
        words.append(f"{counted(refused, 'other datagram')} refused")
    text = f"{counted(valid, 'distinct block')} valid, {counted(counters.duplicates, 'duplicate')}"
    # A damaged datagram is what the link does; the file has what arrived.
    return _check("checksums", "; ".join([text, *words]) if words else "", text, status=TOLD)


def _identity(facts: Facts) -> Check:
    wrong, lost = [], []
    for boot in facts.boots:
        for run in boot.runs.values():
            for stream in run.streams.values():
                where = f"boot 0x{boot.id:08x} run {run.number} CPU {stream.stream}"
                known = stream.delivered + stream.lost_records + stream.before_attach + stream.cut_away
                if known != stream.recorded:
                    wrong.append(f"{where}: {stream.recorded} recorded, but {known} delivered, lost or elsewhere")
                if stream.lost_records:
                    causes = ", ".join(f"{cause} {count}" for cause, count in stream.lost.items() if count)
                    lost.append(f"{where}: {counted(stream.lost_records, 'record')} lost ({causes})")
    if wrong:
        return Check("identity", WRONG, "; ".join(wrong))
    text = f"recorded = delivered + lost on {counted(len(facts.streams), 'stream')}"
    return _check("identity", "; ".join([text, *lost]) if lost else "", text, status=TOLD)


def _order(index: NDArray[np.void], backwards: int) -> Check:
    """Sequences, indices and times of the blocks of each stream only grow; so do the times of its records."""
    places = places_in_order(index, _ORDER, index["count"] > 0)
    same = np.ones(max(len(places) - 1, 0), bool)
    for name in _ORDER[:3]:
        same &= np.diff(index[name][places].astype(np.int64)) == 0
    ends = index["first_index"][places] + index["count"][places]
    overlap = same & (index["first_index"][places[1:]] < ends[:-1])
    back = same & (index["first_time"][places[1:]] < index["last_time"][places[:-1]])
    wrong = [
        counted(number, one, many)
        for number, one, many in (
            (int(overlap.sum()), "block overlaps the one before", "blocks overlap those before"),
            (int(back.sum()), "block begins before the one before ends", "blocks begin before those before end"),
            (backwards, "record is earlier than the one before", "records are earlier than those before"),
        )
        if number
    ]
    return _check("order", "; ".join(wrong), "indices and times of each stream only grow")


def _records(facts: Facts, seen: Counter[int]) -> Check:
    wrong = []
    for boot in facts.boots:
        delivered = sum(stream.delivered for run in boot.runs.values() for stream in run.streams.values())
        if delivered != seen[boot.number]:
            wrong.append(f"boot 0x{boot.id:08x}: {delivered} delivered, {seen[boot.number]} decoded")
    return _check("records", "; ".join(wrong), f"{counted(sum(seen.values()), 'record')} decoded")


def _missing_tables(boot: Boot) -> Iterator[str]:
    if "session" not in boot.table_source:
        yield f"event table: {boot.table_source or 'none'}"
    if boot.info is None:
        yield "no target information"
    if not boot.names.partitions:
        yield "no names"
    if not boot.clock_hz:
        yield "no clock rate"


def _tables(facts: Facts) -> Check:
    wrong = [
        f"boot 0x{boot.id:08x}: {', '.join(missing)}"
        for boot in facts.boots
        if boot.runs and (missing := list(_missing_tables(boot)))
    ]
    return _check("tables", "; ".join(wrong), "event table, target information and names are in the session")


def _parts(facts: Facts) -> Check:
    """Whether the files of a session in several files are all here, from the first on."""
    numbers = part_numbers(file.metadata for file in facts.files)
    if not numbers:
        return Check("parts", WELL, "not a part of several")
    missing = sorted(set(range(1, numbers[-1] + 1)) - set(numbers))
    text = f"parts {', '.join(map(str, numbers[:20]))}"
    wrong = f"{text}; not given: {', '.join(map(str, missing[:20]))}" if missing else ""
    return _check("parts", wrong, text, status=WRONG if parts_between(numbers) else TOLD)


def _ends(facts: Facts) -> Check:
    if facts.cut is not None and facts.cut.more:
        return Check("ends of runs", TOLD, facts.cut.text)
    runs = [f"boot 0x{boot.id:08x} run {run.number}" for boot, run in facts.open_runs]
    wrong = f"the end is missing of {', '.join(runs[:10])}" if runs else ""
    count = sum(len(boot.runs) for boot in facts.boots)
    return _check("ends of runs", wrong, f"{counted(count, 'run')} with their ends")
