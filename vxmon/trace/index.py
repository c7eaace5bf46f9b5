# SPDX-License-Identifier: Apache-2.0
"""From what the first pass found to the index: distinct blocks in time order, names, and what is lost."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.cuts import Kept
from vxmon.trace.facts import LOSS, Boot, Facts, Run, Stream
from vxmon.trace.losses import SUSPECT, Damage, account
from vxmon.trace.names import NO_TABLE
from vxmon.trace.rowtable import gather, in_order, pack, those
from vxmon.trace.scan import Scanner
from vxmon.wire.bulk import BLOCK_ROW
from vxmon.wire.datagram import VERSION
from vxmon.wire.events import TABLES, shipped_table
from vxmon.words import counted

__all__ = [
    "build_index",
    "choose_table",
    "choose_tables",
    "note_counters",
    "note_ends",
    "note_starts",
    "number_boots",
    "order_blocks",
]

_REPEATS: Final = ("block repeats", "blocks repeat")
_KEY: Final = ("boot", "run", "stream", "sequence")
# Rows that can be added to the index without copying it: one a stream that ends with a loss.
_SPARE: Final = 1024


def build_index(scanner: Scanner, damage: Damage) -> NDArray[np.void]:
    """Fill in the scanner's facts and return the index.

    The index has a row for each distinct valid block, in order of (boot, first time, stream, sequence), where
    ``boot`` is the number of the boot and ``room``, when not 0, is one more than the number of the loss interval
    that lies before the block. A loss behind the last block of a stream has a row of its own, without records.
    """
    scanner.finish()
    facts = scanner.facts
    number_boots(scanner)
    choose_tables(scanner)
    whole = gather(scanner.rows, BLOCK_ROW, _SPARE)
    rows = _distinct(whole[: len(whole) - _SPARE], facts)
    suspects = _distinct_suspects(gather(scanner.suspects, SUSPECT), scanner)
    note_starts(scanner)
    _note_configs(scanner)
    rows, tails, losses = _account_all(_renumber(rows, facts), suspects, facts, damage)
    index = _with_tails(whole, rows, tails)
    facts.losses = np.concatenate(losses) if losses else np.zeros(0, LOSS)
    _note_times(index, facts)
    note_counters(scanner)
    note_ends(facts)
    return order_blocks(index)


def order_blocks(rows: NDArray[np.void]) -> NDArray[np.void]:
    """Rows in order of (boot, first time, stream, sequence)."""
    return in_order(rows, ("boot", "first_time", "stream", "sequence"))


def number_boots(scanner: Scanner) -> None:
    """Put the boots in order of their first datagram."""
    boots = sorted(scanner.boots.values(), key=lambda boot: boot.first_seen_ns)
    for number, boot in enumerate(boots):
        boot.number = number
        boot.runs = dict(sorted(boot.runs.items()))
    scanner.facts.boots = boots


def _note_configs(scanner: Scanner) -> None:
    """Give runs whose start was not commanded here the configuration that the target told while they lasted."""
    for boot in scanner.facts.boots:
        for time, config in scanner.configs.get(boot.id, ()):
            lasting = [
                run
                for run in boot.runs.values()
                if (run.started is None or run.started <= time) and (run.ended is None or run.ended >= time)
            ]
            # Which of several runs lasted is not known when the end of the first is missing.
            if lasting and lasting[0].config is None and (lasting[0].ended is not None or len(lasting) == 1):
                lasting[0].config = config


def choose_tables(scanner: Scanner) -> None:
    """Give each boot the event table it recorded with, or the best stand-in, and say what may be wrong with it."""
    for boot in scanner.facts.boots:
        problem = choose_table(scanner, boot)
        if problem:
            scanner.facts.problems.append(problem)


def choose_table(scanner: Scanner, boot: Boot) -> str:
    """Give a boot its event table; returns what may be wrong with it, in words, or an empty text."""
    received = {f: table for tables in scanner.tables.values() for f, table in tables.items()}
    wanted = boot.table_fingerprint or next(reversed(scanner.tables.get(boot.id, {})), 0)
    boot.table_fingerprint = wanted
    same, release = shipped_table(wanted), TABLES.get(boot.os_release)
    if wanted in received:
        boot.table, boot.table_source = received[wanted], "session"
    elif same is not None:
        boot.table, boot.table_source = same, f"shipped, release {same.os_release}"
    elif release is not None:
        boot.table, boot.table_source = release, f"shipped, release {release.os_release}, another fingerprint"
        return (
            f"boot 0x{boot.id:08x}: its event table (0x{wanted:08x}) is not in the session; "
            f"names are those of the shipped table of release {release.os_release} and may be wrong"
        )
    else:
        boot.table, boot.table_source = NO_TABLE, "none"
        return f"boot 0x{boot.id:08x}: no event table; events are shown by number"
    return ""


def _distinct(rows: NDArray[np.void], facts: Facts) -> NDArray[np.void]:
    """One row a block, the one that came first, in order of (boot, run, stream, sequence).

    Raises:
        InputError: files of different recordings that have one boot id, as deterministic runs have.

    """
    rows = in_order(rows, _KEY)
    again = np.zeros(len(rows), bool)
    again[1:] = True
    for name in _KEY:
        again[1:] &= rows[name][1:] == rows[name][:-1]
    facts.counters.duplicates += int(again.sum())
    same = np.flatnonzero(again)
    differ = np.zeros(len(same), bool)
    for name in ("first_index", "count", "first_time", "last_time"):
        differ |= rows[name][same] != rows[name][same - 1]
    if differ.any():
        _refuse_strangers(rows, same[differ], facts)
        which = counted(int(differ.sum()), "block")
        facts.problems.append(f"{which} came twice with different content; the first counts")
    return those(rows, ~again)


def _refuse_strangers(rows: NDArray[np.void], again: NDArray[np.intp], facts: Facts) -> None:
    """Raise InputError when blocks contradict those of the same place in another file."""
    apart = again[rows["file"][again] != rows["file"][again - 1]]
    if len(apart):
        one, other = (facts.files[int(rows["file"][at])].name for at in (apart[0] - 1, apart[0]))
        raise InputError(
            f"{one} and {other} are different recordings with one boot id: {counted(len(apart), 'block')} "
            "differ; read one at a time"
        )


def _distinct_suspects(suspects: NDArray[np.void], scanner: Scanner) -> NDArray[np.void]:
    """One a block, exact ones before claims; those of boots that nothing else is known of are left out."""
    known = np.array([boot.id for boot in scanner.facts.boots], np.uint32)
    at_home = np.isin(suspects["boot"], known)
    scanner.facts.counters.unplaced += int((~at_home).sum())
    suspects = suspects[at_home]
    suspects = suspects[np.lexsort((~suspects["exact"], *(suspects[name] for name in reversed(_KEY))))]
    first = np.ones(len(suspects), bool)
    if len(suspects):
        first[1:] = suspects[list(_KEY)][1:] != suspects[list(_KEY)][:-1]
    return suspects[first]


def _renumber(rows: NDArray[np.void], facts: Facts) -> NDArray[np.void]:
    """Replace boot ids by boot numbers and drop blocks whose byte order contradicts their boot's."""
    ids = np.array(sorted(boot.id for boot in facts.boots), np.uint32)
    by_id = {boot.id: boot for boot in facts.boots}
    numbers = np.array([by_id[int(i)].number for i in ids], np.uint32)
    orders = np.array([by_id[int(i)].byte_order == "big" for i in ids], np.uint8)
    at = np.searchsorted(ids, rows["boot"])
    fits = (rows["flags"] & 1) == orders[at] if len(rows) else np.zeros(0, bool)
    if not fits.all():
        facts.problems.append(f"{counted(int((~fits).sum()), 'block')} not used: not in the byte order of their target")
        facts.counters.corrupt_blocks += int((~fits).sum())
    rows["boot"] = numbers[at] if len(rows) else 0
    return those(rows, fits)


def note_starts(scanner: Scanner) -> None:
    """A capture that heard an earlier run, or the target idle, saw the later run from its start."""
    earliest: dict[tuple[int, int], int] = {}
    for file, boot, run in scanner.sightings:
        earliest[file, boot] = min(run, earliest.get((file, boot), run))
    for file, number, run in scanner.sightings:
        if run > earliest[file, number]:
            scanner.boots[number].run(run).seen_from_start = True


def _groups(rows: NDArray[np.void]) -> Iterator[tuple[tuple[int, int, int], NDArray[np.void]]]:
    """Rows of each (boot, run, stream); they must be in that order."""
    if not len(rows):
        return
    change = np.zeros(len(rows) - 1, bool)
    for name in _KEY[:3]:
        change |= rows[name][1:] != rows[name][:-1]
    edges = [0, *(np.flatnonzero(change) + 1).tolist(), len(rows)]
    for begin, end in pairwise(edges):
        row = rows[begin]
        yield (int(row["boot"]), int(row["run"]), int(row["stream"])), rows[begin:end]


def _account_all(
    rows: NDArray[np.void], suspects: NDArray[np.void], facts: Facts, damage: Damage
) -> tuple[NDArray[np.void], list[NDArray[np.void]], list[NDArray[np.void]]]:
    """Account for every stream; returns the rows of blocks, those of losses behind them, and the losses by number."""
    tails: list[NDArray[np.void]] = []
    losses: list[NDArray[np.void]] = []
    groups = dict(_groups(rows))
    number_of = {boot.id: boot.number for boot in facts.boots}
    damaged = {(number_of[boot], run, s): some for (boot, run, s), some in _groups(suspects)}
    for boot, run, stream in _all_streams(facts, groups, damaged):
        some, problems = _without_overlaps(groups.get((boot.number, run.number, stream), rows[:0]), facts)
        bad = damaged.get((boot.number, run.number, stream), suspects[:0])
        bad = bad[~np.isin(bad["sequence"], some["sequence"])]
        kept = None
        if facts.cut is not None:
            kept = facts.cut.kept(boot.id, run.number, stream)
            some, bad = _of_cut(some, kept, facts), _of_cut(bad, kept)
        result = account(stream, some, bad, run, damage, kept)
        facts.counters.unplaced += result.unplaced
        facts.problems += [f"boot {boot.id:#010x}: {p}" for p in problems + result.problems]
        run.streams[stream] = result.stream
        result.losses["boot"] = boot.number
        tails += _mark_losses(some, result.losses, result.gap, sum(map(len, losses)))
        losses.append(result.losses)
        groups[boot.number, run.number, stream] = some
        _widen(boot, result.stream)
    return pack(rows, list(groups.values())), tails, losses


def _with_tails(whole: NDArray[np.void], rows: NDArray[np.void], tails: list[NDArray[np.void]]) -> NDArray[np.void]:
    """Rows and, behind them, tails; the rows lie at the begin of ``whole``."""
    end = len(rows) + len(tails)
    if end > len(whole):
        return np.concatenate([rows, *tails])
    whole[len(rows) : end] = np.concatenate([rows[:0], *tails])
    return whole[:end]


def _of_cut(rows: NDArray[np.void], kept: Kept, facts: Facts | None = None) -> NDArray[np.void]:
    """Blocks that lie in what the session says that it kept."""
    inside = (rows["first_index"] >= kept.begin) & (rows["first_index"] + rows["count"] <= kept.end)
    if facts is not None and not inside.all():
        facts.problems.append(
            f"{counted(int((~inside).sum()), 'block')} outside of what the session says that was kept of a larger one; "
            "not used"
        )
    return those(rows, inside)


Groups = dict[tuple[int, int, int], NDArray[np.void]]


def _all_streams(facts: Facts, groups: Groups, damaged: Groups) -> Iterator[tuple[Boot, Run, int]]:
    """Every stream of every run that there is any sign of, in order."""
    found = {(boot, run, stream) for boot, run, stream in groups}
    for boot in facts.boots:
        for run in boot.runs.values():
            found |= {(boot.number, run.number, stream) for stream in run.states}
    if facts.cut is not None:
        number_of = {boot.id: boot.number for boot in facts.boots}
        places = ((number_of.get(boot), run, stream) for boot, run, stream in facts.cut.streams)
        found |= {(b, r, s) for b, r, s in places if b is not None and r in facts.boots[b].runs}
    found |= {key for key, some in damaged.items() if key[1] in facts.boots[key[0]].runs and some["exact"].any()}
    for number, run_number, stream in sorted(found):
        boot = facts.boots[number]
        yield boot, boot.run(run_number), stream


def _without_overlaps(rows: NDArray[np.void], facts: Facts) -> tuple[NDArray[np.void], list[str]]:
    """Leave out blocks whose records another block has already, by their indices."""
    if not len(rows):
        return rows, []
    ends = np.maximum.accumulate(rows["first_index"] + rows["count"])
    fits = np.ones(len(rows), bool)
    fits[1:] = rows["first_index"][1:] >= ends[:-1]
    steps = int((rows["first_time"][1:] < rows["last_time"][:-1]).sum())
    where = f"run {int(rows['run'][0])} stream {int(rows['stream'][0])}"
    problems = []
    if not fits.all():
        problems.append(f"{where}: {counted(int((~fits).sum()), *_REPEATS)} indices of others; not used")
        facts.counters.corrupt_blocks += int((~fits).sum())
    if steps:
        problems.append(f"{where}: time steps back at {counted(steps, 'block')}")
    return those(rows, fits), problems


def _mark_losses(
    rows: NDArray[np.void], losses: NDArray[np.void], gap: NDArray[np.int64], before: int
) -> list[NDArray[np.void]]:
    """Tie each loss to the block behind it, the last one to a row of its own, which is returned."""
    inner = gap < len(rows)
    rows["room"][gap[inner]] = before + 1 + np.flatnonzero(inner)
    if inner.all():
        return []
    tail = np.zeros(1, BLOCK_ROW)
    loss = losses[-1]
    tail["boot"], tail["run"], tail["stream"] = loss["boot"], loss["run"], loss["stream"]
    tail["sequence"] = np.iinfo(np.int64).max
    tail["first_time"] = tail["last_time"] = max(int(loss["end"]), int(loss["start"]), 0)
    tail["room"] = before + len(losses)
    return [tail]


def _widen(boot: Boot, stream: Stream) -> None:
    first, last = stream.first_time, stream.last_time
    if first is not None and last is not None:
        boot.first_time = first if boot.first_time is None else min(first, boot.first_time)
        boot.last_time = last if boot.last_time is None else max(last, boot.last_time)


def _note_times(rows: NDArray[np.void], facts: Facts) -> None:
    spans = rows["last_time"] - rows["first_time"]
    wrong = int(((spans < 0) | (spans >= 1 << 31)).sum())
    if wrong:
        facts.problems.append(f"{counted(wrong, 'block')} longer in time than a block can be; times may be wrong")


def note_counters(scanner: Scanner) -> None:
    """Put the counters that a reader must know of into words."""
    facts, counters = scanner.facts, scanner.facts.counters
    notes = (
        (counters.corrupt_blocks, "corrupt block was", "corrupt blocks were", " not used"),
        (
            counters.unplaced, "of them says", "of them say",
            " nothing trustworthy of which they are; their records count as link loss",
        ),
        (
            counters.newer, "datagram is", "datagrams are",
            f" of wire format {scanner.newest}, this is vxmon for format {VERSION}",
        ),
        (counters.unknown_channels, "datagram is", "datagrams are", " on channels this vxmon does not know"),
    )  # fmt: skip
    facts.problems += [counted(number, one, many) + text for number, one, many, text in notes if number]


def note_ends(facts: Facts) -> None:
    """Say of which runs the end is missing."""
    facts.problems += [
        f"boot 0x{boot.id:08x}: run {run.number}: its end is not in the file; how many records followed is not known"
        for boot, run in facts.open_runs
    ]
    if not any(stream.blocks for stream in facts.streams):
        facts.problems.append("there is no block of records in the file")
