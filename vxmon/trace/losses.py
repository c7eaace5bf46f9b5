# SPDX-License-Identifier: Apache-2.0
"""What is missing of a stream, exactly, and why (SPEC section 4).

Between two delivered blocks lie a known number of records. The target's counters in the two blocks say how many
of those it lost itself, by cause; the rest was in blocks that are not in the file, or are there and damaged.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.cuts import Kept
from vxmon.trace.facts import LOSS, Run, Stream
from vxmon.wire.types import Losses, StreamState
from vxmon.words import counted

__all__ = ["NO_DAMAGE", "SUSPECT", "Account", "Damage", "account", "loss_starts"]

# A block that is in the file and of no use, as far as it says which one it is.
SUSPECT: Final = np.dtype(
    [
        ("boot", "<u4"), ("run", "<u4"), ("stream", "u1"), ("sequence", "<i8"), ("first_index", "<i8"),
        ("count", "<i8"), ("truncated", "?"), ("exact", "?"),
    ]
)  # fmt: skip
# A place in a file is below 2 ** 47, and a file's number below 2 ** 16.
_FILE: Final = 47
_LEAST_RECORD: Final = 8
_TARGET_CAUSES: Final = ("overwritten", "full", "exhausted")

Ints = NDArray[np.int64]


@dataclass(slots=True)
class Account:
    """The figures of a stream, and its loss intervals in order.

    ``gap`` says before which block each interval lies; the number of blocks stands for behind the last.
    """

    stream: Stream
    losses: NDArray[np.void]
    gap: Ints
    unplaced: int
    problems: list[str]


@dataclass(slots=True)
class _Edges:
    """Where the stream begins and ends for this capture."""

    attach: int
    recorded: int
    base: Ints
    blocks_before: int
    final: Ints
    blocks: int
    cut_index: int


@dataclass(frozen=True, slots=True)
class Damage:
    """Bytes of the files that were skipped: places in the order of the files, and the sum of bytes up to each."""

    places: Ints
    sums: Ints

    @staticmethod
    def of(files: Iterable[list[tuple[int, int]]]) -> Damage:
        """Of each file, its (place, bytes)."""
        found = [((file << _FILE) + at, size) for file, some in enumerate(files) for at, size in some]
        places, sizes = np.array(sorted(found), np.int64).reshape(-1, 2).T
        return Damage(places, np.concatenate([[0], np.cumsum(sizes)]))

    def between(self, rows: NDArray[np.void], which: Ints) -> Ints:
        """Bytes skipped in gaps: 0 is before the first row, each other one behind the row before it."""
        begins, ends = self._sums(rows, which - 1), self._sums(rows, which)
        bytes_between: Ints = np.abs(ends - begins)
        return bytes_between

    def _sums(self, rows: NDArray[np.void], which: Ints) -> Ints:
        """Bytes skipped up to rows; -1 is before all, the number of rows behind all."""
        inside = (which >= 0) & (which < len(rows))
        at = np.where(which < 0, -1, np.iinfo(np.int64).max)
        some = rows[which[inside]]
        at[inside] = (some["file"].astype(np.int64) << _FILE) + some["slots_at"]
        sums: Ints = self.sums[np.searchsorted(self.places, at)]
        return sums


NO_DAMAGE: Final = Damage.of([])


def account(
    number: int,
    rows: NDArray[np.void],
    suspects: NDArray[np.void],
    run: Run,
    damage: Damage = NO_DAMAGE,
    kept: Kept | None = None,
) -> Account:
    """Account for one stream of a run.

    Args:
        number: of the stream.
        rows: its distinct valid blocks in order of sequence; their index ranges must not overlap.
        suspects: its damaged and cut blocks that have no valid copy, of dtype SUSPECT, one of a sequence number.
        run: what the target's messages said.
        damage: what was skipped of the files.
        kept: what the session kept of the stream when it was cut from a larger one; rows and suspects are of that.

    """
    edges, problems = _edges(number, rows, suspects, run)
    if kept is not None:
        edges, problems = _cut_edges(edges, rows, kept), []
    begins = np.concatenate([[edges.attach], rows["first_index"] + rows["count"]])
    ends = np.concatenate([rows["first_index"], [edges.recorded]])
    # Large sessions have a million blocks and few gaps: what follows has an element a gap.
    which = np.flatnonzero(ends > begins)
    placed = _place(rows, suspects, begins, ends, which)
    begins, gaps = begins[which], (ends - begins)[which]
    losses = np.zeros(len(which), LOSS)
    rest = _by_target(_steps(rows, edges, which, gaps, problems), gaps, losses)
    _by_link(_tail(rows, edges, which), rest, suspects, placed, losses)
    _by_damage(damage.between(rows, which), losses)
    stream = _figures(number, rows, edges, losses, run)
    if kept is not None:
        stream.before_attach, stream.recorded = kept.attach, kept.recorded
        stream.cut_away = kept.recorded - kept.attach - stream.delivered - stream.lost_records
    losses["run"], losses["stream"] = run.number, number
    losses["first_index"], losses["records"] = begins, gaps
    losses["start"], losses["end"] = _interval(rows, run, run.first_states.get(number), which)
    return Account(stream, losses, which, int((placed < 0).sum()), problems)


def _edges(number: int, rows: NDArray[np.void], suspects: NDArray[np.void], run: Run) -> tuple[_Edges, list[str]]:
    first, last = run.first_states.get(number), run.states.get(number, StreamState(number))
    exact = suspects[suspects["exact"]]
    reached = [int((a["first_index"] + a["count"]).max()) for a in (rows, exact) if len(a)]
    recorded = max([run.finals.get(number, last.recorded), *reached])
    attach = 0 if run.seen_from_start else _attach(rows, exact, first, recorded)
    problems = []
    if number in run.finals and recorded > run.finals[number]:
        problems.append(
            f"run {run.number} stream {number}: the end says {run.finals[number]} records, "
            f"there are blocks up to {recorded}"
        )
    base, before = _before(rows, first, attach)
    final = _vector(last.losses)
    if len(rows):
        final = np.maximum(final, _losses(rows[-1]))
    cut = recorded if not run.finals and last.recorded < recorded else last.cut_index
    return _Edges(attach, recorded, base, before, final, last.blocks, cut), problems


def _cut_edges(edges: _Edges, rows: NDArray[np.void], kept: Kept) -> _Edges:
    """Edges where the session was cut; where it was not they stay what they are."""
    edges.attach = kept.begin
    if kept.begin > kept.attach and len(rows):
        edges.base, edges.blocks_before = _losses(rows[0]), int(rows["sequence"][0])
    edges.recorded = kept.end
    if kept.end < kept.recorded and len(rows):
        edges.final, edges.blocks, edges.cut_index = _losses(rows[-1]), int(rows["sequence"][-1]) + 1, kept.end
    return edges


def _attach(rows: NDArray[np.void], exact: NDArray[np.void], first: StreamState | None, recorded: int) -> int:
    """The first index that this capture could have seen."""
    seen = [int(a["first_index"].min()) for a in (rows, exact) if len(a)]
    if first is not None:
        seen.append(first.cut_index)
    return min([*seen, recorded])


def _before(rows: NDArray[np.void], first: StreamState | None, attach: int) -> tuple[Ints, int]:
    """Losses and blocks of before the attach."""
    if attach == 0:
        return np.zeros(3, np.int64), 0
    if first is not None and first.cut_index == attach:
        base = _vector(first.losses)
        return (np.minimum(base, _losses(rows[0])) if len(rows) else base), first.blocks
    if len(rows):
        return _losses(rows[0]), int(rows["sequence"][0])
    return np.zeros(3, np.int64), 0


def _vector(losses: Losses) -> Ints:
    return np.array([losses.overwritten, losses.full, losses.exhausted], np.int64)


def _losses(row: np.void) -> Ints:
    return np.array([row[cause] for cause in _TARGET_CAUSES], np.int64)


def _steps(rows: NDArray[np.void], edges: _Edges, which: Ints, gaps: Ints, problems: list[str]) -> Ints:
    """How much the target's counters grew across each gap, a row a cause; they must not grow or fall elsewhere."""
    grown = np.zeros(len(rows) + 1, np.int64)
    wrong = np.zeros(len(rows) + 1, bool)
    steps = np.zeros((len(_TARGET_CAUSES), len(which)), np.int64)
    for number, cause in enumerate(_TARGET_CAUSES):
        step = np.diff(rows[cause], prepend=edges.base[number], append=edges.final[number])
        steps[number] = step[which]
        wrong |= step < 0
        grown += np.maximum(step, 0)
    room = np.zeros(len(rows) + 1, np.int64)
    room[which] = gaps
    count = int(wrong.sum()) + int((grown > room).sum())
    if count:
        problems.append(f"the target's loss counters contradict the indices of its blocks in {counted(count, 'place')}")
    return steps


def _by_target(steps: Ints, gaps: Ints, losses: NDArray[np.void]) -> Ints:
    """Fill in what the target lost; returns the records of each gap that remain."""
    rest = gaps.copy()
    for cause, step in zip(_TARGET_CAUSES, steps, strict=True):
        losses[cause] = np.clip(step, 0, rest)
        rest -= losses[cause]
    return rest


def _place(rows: NDArray[np.void], suspects: NDArray[np.void], begins: Ints, ends: Ints, which: Ints) -> Ints:
    """The gap of each suspect, by its place among ``which``; -1 where what it claims cannot be true."""
    gap = np.searchsorted(rows["sequence"], suspects["sequence"])
    claimed_end = suspects["first_index"] + suspects["count"]
    fits = (suspects["first_index"] >= begins[gap]) & (claimed_end <= ends[gap]) & (suspects["count"] > 0)
    placed: Ints = np.where(fits, np.searchsorted(which, gap), -1)
    return placed


def _by_link(tail: int, rest: Ints, suspects: NDArray[np.void], placed: Ints, losses: NDArray[np.void]) -> None:
    """Divide what remains among pending, damaged, cut and never arrived; ``tail`` of the last gap may be pending."""
    if tail:
        losses["pending"][-1] = min(tail, int(rest[-1]))
        rest[-1] -= losses["pending"][-1]
    known = placed >= 0
    for cause, truncated in (("corrupt", False), ("truncated", True)):
        some = known & (suspects["truncated"] == truncated)
        told = np.zeros(len(rest), np.int64)
        np.add.at(told, placed[some], suspects["count"][some])
        losses[cause] = np.minimum(told, rest)
        rest -= losses[cause]
    losses["link"] = rest


def _tail(rows: NDArray[np.void], edges: _Edges, which: Ints) -> int:
    """Records behind the last block that may not have been cut into blocks: all, where no block is missing there."""
    if not len(which) or which[-1] < len(rows):
        return 0
    seen = int(rows["sequence"][-1]) + 1 if len(rows) else edges.blocks_before
    if edges.blocks <= seen:
        return edges.recorded
    return max(edges.recorded - max(edges.cut_index, edges.attach), 0)


def _by_damage(skipped: Ints, losses: NDArray[np.void]) -> None:
    """What is missing where bytes of the file were skipped was in them, as far as it fits: a slot or more a record."""
    inside = np.minimum(losses["link"], skipped // _LEAST_RECORD)
    losses["corrupt"] += inside
    losses["link"] -= inside


def _figures(number: int, rows: NDArray[np.void], edges: _Edges, losses: NDArray[np.void], run: Run) -> Stream:
    state = run.states.get(number, StreamState(number))
    stream = Stream(number, recorded=edges.recorded, before_attach=edges.attach, blocks=len(rows))
    stream.delivered = int(rows["count"].sum(dtype=np.int64))
    stream.lost = {cause: int(losses[cause].sum()) for cause in stream.lost}
    stream.units, stream.units_used = state.units, state.units_used
    if len(rows):
        stream.first_time, stream.last_time = int(rows["first_time"].min()), int(rows["last_time"].max())
    return stream


def _interval(rows: NDArray[np.void], run: Run, first: StreamState | None, which: Ints) -> tuple[Ints, Ints]:
    """Times of the last record before and of the first after each gap."""
    heard = -1 if first is None else first.cut_time
    begin = run.started if run.started is not None else heard
    finish = next((t for t in (run.ended, run.last_heard) if t is not None), -1)
    before, behind = np.maximum(which - 1, 0), np.minimum(which, len(rows) - 1)
    if not len(rows):
        return np.full(len(which), begin), np.full(len(which), finish)
    start, end = rows["last_time"][before], rows["first_time"][behind]
    at_begin, at_end = which == 0, which == len(rows)
    start[at_begin] = min(begin, int(rows["first_time"][0]))
    end[at_end] = max(finish, int(rows["last_time"][-1]))
    return start, end


def loss_starts(losses: NDArray[np.void], rows: NDArray[np.void]) -> Ints:
    """Where the loss before each row's block begins; the block's own begin where there is none."""
    starts: Ints = rows["first_time"].copy()
    lost = np.flatnonzero(rows["room"])
    begin = losses["start"][rows["room"][lost].astype(np.int64) - 1]
    starts[lost] = np.where(begin >= 0, np.minimum(begin, starts[lost]), starts[lost])
    return starts
