# SPDX-License-Identifier: Apache-2.0
"""A trace read from a pipe as it comes: one pass, bounded memory.

Blocks wait until no stream can still send an earlier record: until the blocks before them are there, and every other
stream is as far, by its own blocks or by what a heartbeat says of it. When more than a bounded number wait, the gaps
before the oldest are given up: a LOSS stands for them. A block that comes after it was given up is handed out
at once, marked late and counted, and is no longer lost.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.session.reader import Batch, SessionReader
from vxmon.trace.blockbytes import BlockBytes
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.cuts import Kept
from vxmon.trace.decode import decode_blocks, in_order
from vxmon.trace.facts import CAUSES, LOSS, Boot, Facts, FileFacts, Run, Stream
from vxmon.trace.index import choose_table, note_counters, note_ends, note_starts
from vxmon.trace.losses import SUSPECT, Damage, account
from vxmon.trace.names import LOSS_ID
from vxmon.trace.scan import Scanner
from vxmon.trace.trace import Trace, check_format, note_cut, note_file
from vxmon.wire.bulk import BLOCK_ROW
from vxmon.words import counted

__all__ = ["LiveTrace"]

# Blocks that wait at most; about 1.5 KB each.
WINDOW: Final = 4096
# Gaps of a stream that are remembered, to know a late block from a repeated one.
_MOST_GAPS: Final = 1024
# How long records wait for the tables that name them.
_PATIENCE_NS: Final = 6_000_000_000
# Loss intervals kept for the report; all are counted.
_MOST_LOSSES: Final = 100_000


@dataclass(slots=True)
class _Waiting:
    """A block that was received and not handed out. Records ``begin`` ... ``end - 1``; ``lost`` are all causes."""

    row: NDArray[np.void]
    starts: bytes
    slots: bytes
    sequence: int = 0
    begin: int = 0
    end: int = 0
    first_time: int = 0
    last_time: int = 0
    lost: int = 0


@dataclass(slots=True)
class _Gap:
    """Blocks that were given up, and the records that can be in them. ``before``: those before the attach."""

    first: int
    end: int
    first_index: int
    end_index: int
    before: bool = False

    def holds(self, block: _Waiting) -> bool:
        """True for a block of the gap, as far as its numbers can be true."""
        inside = self.first <= block.sequence < self.end
        return inside and self.first_index <= block.begin and block.end <= self.end_index

    def without(self, block: _Waiting) -> list[_Gap]:
        """What is left of the gap when a block of it came."""
        lower = _Gap(self.first, block.sequence, self.first_index, block.begin, self.before)
        upper = _Gap(block.sequence + 1, self.end, block.end, self.end_index)
        return [gap for gap in (lower, upper) if gap.first < gap.end]


@dataclass(slots=True)
class _Source:
    """One stream of a run: what waits, how far it is, and its figures so far."""

    run: Run
    figures: Stream
    next: int | None = None
    waiting: dict[int, _Waiting] = field(default_factory=dict)
    gaps: list[_Gap] = field(default_factory=list)
    last: _Waiting | None = None
    complete_to: int = -1

    def ready(self) -> list[_Waiting]:
        """Take the blocks that follow on what was handed out."""
        taken: list[_Waiting] = []
        while self.next is not None and self.next in self.waiting:
            block = self.waiting.pop(self.next)
            self.complete_to = block.last_time
            self.next += 1
            taken.append(block)
        return taken

    def skip(self) -> None:
        """Give up the blocks before the oldest that waits."""
        self.next = min(self.waiting)

    def note_gap(self, block: _Waiting) -> None:
        """Keep in mind what is missing between the last block and this one."""
        if self.last is not None:
            gap = _Gap(self.last.sequence + 1, block.sequence, self.last.end, block.begin)
        else:
            attach = self.figures.before_attach
            gap = _Gap(0, block.sequence, 0, block.begin, before=not self.run.seen_from_start)
            if gap.before and attach < block.begin:
                gap.before = False
        if gap.first < gap.end:
            self.gaps.append(gap)
            del self.gaps[:-_MOST_GAPS]

    def fill_gap(self, block: _Waiting) -> bool:
        """True when a block that was given up came after all; its records are lost no more."""
        figures, count = self.figures, block.end - block.begin
        for number, gap in enumerate(self.gaps):
            if not gap.holds(block):
                continue
            if gap.before:
                figures.lost["link"] += figures.before_attach - block.end
                figures.before_attach = block.begin
            elif not self._find_again(count):
                return False
            self.gaps[number : number + 1] = gap.without(block)
            figures.delivered += count
            figures.blocks += 1
            return True
        return False

    def _find_again(self, count: int) -> bool:
        for cause in ("link", "corrupt", "truncated"):
            if self.figures.lost[cause] >= count:
                self.figures.lost[cause] -= count
                return True
        return False

    def horizon(self) -> int:
        """No record before this time is still to come, as far as is known; -1: anything may."""
        state = self.run.states.get(self.figures.stream)
        if state is not None and not self.waiting and state.blocks <= (self.next or 0):
            return max(self.complete_to, state.cut_time)
        return self.complete_to


@dataclass(slots=True)
class _BootState:
    """What is between the blocks of a boot and its records handed out."""

    boot: Boot
    run: int = 0
    sources: dict[int, _Source] = field(default_factory=dict)
    staged: list[_Waiting] = field(default_factory=list)
    rest: list[Columns] = field(default_factory=list)
    losses: list[NDArray[np.void]] = field(default_factory=list)
    handed_out: int = -1


class LiveTrace(Trace):
    """Records of one session that can be read only once.

    ``facts`` grow while :meth:`chunks` runs and are complete at its end. Boots may alternate in what is handed out.

    Args:
        reader: an open session; the trace closes it.
        window: blocks that may wait.

    """

    def __init__(self, reader: SessionReader, window: int = WINDOW) -> None:
        super().__init__([reader])
        self._scanner = Scanner()
        self._window = window
        self._now = 0
        self._repeated = 0
        self._states: dict[int, _BootState] = {}
        self._suspects = np.zeros(0, SUSPECT)
        self.facts: Facts = self._scanner.facts
        self.facts.complete = False

    def chunks(self) -> Iterator[Chunk]:
        """Records in order of (time, stream, sequence) within each boot, as they come. Only once."""
        reader = self._readers[0]
        for batch in reader.datagrams():
            if not self.facts.files:
                self.facts.files.append(FileFacts(reader.name, None, reader.format, reader.metadata))
                note_cut(self.facts)
            yield from self._take(batch)
        for boot in self.facts.boots:
            state = self._states.setdefault(boot.id, _BootState(boot))
            yield from self._end_run(state)
            yield from self._end_silent_runs(state)
        self._finish(reader)

    # ------------------------------------------------------------ blocks in

    def _take(self, batch: Batch) -> Iterator[Chunk]:
        rows = self._scanner.scan(0, batch)
        self._now = int(batch.times[-1]) if len(batch) else self._now
        self._scanner.forget()
        self._keep_suspects()
        self._number_boots()
        for block in _copy_blocks(rows, batch):
            yield from self._take_block(block)
        for state in self._states.values():
            self._force(state)
            yield from self._hand_out(state)

    def _number_boots(self) -> None:
        for boot in list(self._scanner.boots.values())[len(self.facts.boots) :]:
            boot.number = len(self.facts.boots)
            self.facts.boots.append(boot)
        for boot in self.facts.boots:
            choose_table(self._scanner, boot)

    def _keep_suspects(self) -> None:
        """Damaged blocks, the newest: they explain gaps that are given up later."""
        if self._scanner.suspects:
            self._suspects = np.concatenate([self._suspects, *self._scanner.suspects])[-self._window :]
            self._scanner.suspects.clear()

    def _take_block(self, block: _Waiting) -> Iterator[Chunk]:
        row = block.row[0]
        boot = self._scanner.boots[int(row["boot"])]
        state = self._states.get(boot.id) or self._states.setdefault(boot.id, _BootState(boot))
        run, sequence = int(row["run"]), block.sequence
        if bool(row["flags"] & 1) != (boot.byte_order == "big") or run < state.run:
            self.facts.counters.corrupt_blocks += 1
            return
        if run > state.run:
            yield from self._end_run(state)
            state.run = run
        source = self._source(state, int(row["stream"]))
        if sequence in source.waiting:
            self.facts.counters.duplicates += 1
        elif source.next is not None and sequence < source.next:
            yield from self._late(state, source, block)
        else:
            source.waiting[sequence] = block

    def _source(self, state: _BootState, stream: int) -> _Source:
        if stream not in state.sources:
            run = state.boot.run(state.run)
            note_starts(self._scanner)
            source = state.sources[stream] = _Source(run, Stream(stream))
            run.streams[stream] = source.figures
            kept = self._kept(state, stream)
            whole = kept is None or kept.begin == 0
            source.next = 0 if run.seen_from_start and whole else None
        return state.sources[stream]

    def _late(self, state: _BootState, source: _Source, block: _Waiting) -> Iterator[Chunk]:
        """A block that was given up before it came, or one that came before."""
        if not source.fill_gap(block):
            self.facts.counters.duplicates += 1
            return
        columns = decode_blocks(block.row, BlockBytes.of([block.starts], [block.slots]), state.boot.byte_order == "big")
        yield self._chunk(state, columns)

    # ------------------------------------------------------------ records out

    def _force(self, state: _BootState, window: int | None = None) -> None:
        """Give up gaps until no more than the window waits."""
        window = self._window if window is None else window
        self._stage(state)
        while sum(len(source.waiting) for source in state.sources.values()) > window:
            held = [source for source in state.sources.values() if source.waiting]
            oldest = min(held, key=lambda s: s.waiting[min(s.waiting)].first_time)
            oldest.skip()
            self._stage(state)

    def _stage(self, state: _BootState) -> None:
        """Move what is in sequence from the streams to the boot, with the losses before it."""
        for source in state.sources.values():
            if source.next is None and source.waiting and len(source.waiting) >= min(self._window, 8):
                source.next = min(source.waiting)
            for block in source.ready():
                if source.last is not None and block.begin < source.last.end:
                    self.facts.counters.corrupt_blocks += 1
                    self._repeated += 1
                    continue
                self._account(state, source, block)
                state.staged.append(block)

    def _account(self, state: _BootState, source: _Source, block: _Waiting) -> None:
        """Figures of a block and of the gap before it."""
        figures, last = source.figures, source.last
        figures.delivered += block.end - block.begin
        figures.blocks += 1
        figures.first_time = block.first_time if figures.first_time is None else figures.first_time
        figures.last_time = block.last_time
        if last is None or last.end != block.begin or last.lost != block.lost:
            self._account_gap(state, source, block)
        if last is None or last.sequence + 1 != block.sequence:
            source.note_gap(block)
        source.last = block

    def _account_gap(self, state: _BootState, source: _Source, block: _Waiting) -> None:
        figures, last = source.figures, source.last
        if last is None:
            kept = self._kept(state, figures.stream)
            loss = account(figures.stream, block.row, self._suspects[:0], source.run, self._damage(), kept)
            figures.before_attach = loss.stream.before_attach
            losses = loss.losses[loss.gap == 0]
        else:
            both = np.concatenate([last.row, block.row])
            between = self._between(state.boot, both)
            loss = account(figures.stream, both, between, Run(state.run), self._damage())
            losses = loss.losses[loss.gap == 1]
        for name in CAUSES:
            figures.lost[name] += int(losses[name].sum())
        if len(losses):
            self._keep_losses(state, losses)
            block.row["room"] = len(state.losses)

    def _kept(self, state: _BootState, stream: int) -> Kept | None:
        """What the session kept of a stream of the run; None when it was not cut from a larger one."""
        cut = self.facts.cut
        return None if cut is None else cut.kept(state.boot.id, state.run, stream)

    def _damage(self) -> Damage:
        return Damage.of([self._readers[0].damage])

    def _between(self, boot: Boot, rows: NDArray[np.void]) -> NDArray[np.void]:
        """Damaged blocks that lie between two."""
        suspects = self._suspects
        here = (suspects["boot"] == boot.id) & (suspects["run"] == rows["run"][0])
        here &= (suspects["stream"] == rows["stream"][0]) & (suspects["sequence"] > rows["sequence"][0])
        here &= suspects["sequence"] < rows["sequence"][1]
        some = suspects[here]
        _, first = np.unique(some["sequence"], return_index=True)
        chosen: NDArray[np.void] = some[first]
        return chosen

    def _keep_losses(self, state: _BootState, losses: NDArray[np.void]) -> None:
        losses["boot"], losses["run"] = state.boot.number, state.run
        state.losses.append(losses[:1])
        if len(self.facts.losses) < _MOST_LOSSES:
            self.facts.losses = np.concatenate([self.facts.losses, losses])
        else:
            self.facts.more_losses += len(losses)

    def _hand_out(self, state: _BootState, *, everything: bool = False) -> Iterator[Chunk]:
        """Records that nothing earlier can follow any more."""
        if (not state.staged and not state.rest) or (not everything and self._names_may_come(state)):
            return
        horizon = None if everything else self._horizon(state)
        parts = state.rest
        if state.staged:
            # Not by numpy, which compares the fields of all arrays that it joins.
            rows = np.frombuffer(b"".join(block.row.data for block in state.staged), BLOCK_ROW)
            order = np.lexsort((rows["sequence"], rows["stream"], rows["first_time"])).tolist()
            data = BlockBytes.of([state.staged[i].starts for i in order], [state.staged[i].slots for i in order])
            parts = [*parts, decode_blocks(rows[order], data, state.boot.byte_order == "big")]
        columns = in_order(Columns.join(parts), several=len(state.sources) > 1)
        ready = len(columns) if horizon is None else int(np.searchsorted(columns.time, horizon, side="left"))
        state.staged, state.rest = [], [columns.take(slice(ready, None)).packed()] if ready < len(columns) else []
        if ready:
            yield self._chunk(state, columns.take(slice(0, ready)))
        if not state.rest:
            state.losses.clear()

    def _young(self, state: _BootState) -> bool:
        """True while tables and heartbeats may still tell what is not known yet; tables are repeated each 5 s."""
        return self._now - state.boot.first_seen_ns < _PATIENCE_NS

    def _names_may_come(self, state: _BootState) -> bool:
        known = state.boot.names.revision > 0 and state.boot.table_source == "session"
        return not known and self._young(state) and len(state.staged) < self._window // 4

    def _horizon(self, state: _BootState) -> int | None:
        """Time before which everything is there; None when there is but one stream."""
        streams = set(state.sources) | set(state.boot.run(state.run).states)
        streams -= {stream for stream in streams if (kept := self._kept(state, stream)) is not None and kept.empty}
        expected = state.boot.info.streams if state.boot.info is not None else 1
        if max(len(streams), expected) < 2:
            return None
        if len(state.staged) + sum(map(len, state.rest)) // 64 > self._window:
            return max(source.complete_to for source in state.sources.values())
        if len(streams) < expected and self._young(state):
            return -1
        return min(self._source(state, stream).horizon() for stream in streams)

    def _chunk(self, state: _BootState, columns: Columns) -> Chunk:
        boot = state.boot
        first, last = int(columns.time.min()), int(columns.time.max())
        boot.first_time = first if boot.first_time is None else boot.first_time
        boot.last_time = max(last, boot.last_time or 0)
        late = (columns.time < state.handed_out) & (columns.id != LOSS_ID)
        self.facts.late += int(late.sum())
        state.handed_out = max(state.handed_out, last)
        losses = np.concatenate(state.losses) if state.losses else np.zeros(0, LOSS)
        return Chunk(boot, columns, losses, late if late.any() else None)

    # ------------------------------------------------------------ ends

    def _end_run(self, state: _BootState) -> Iterator[Chunk]:
        """Hand out everything of the run, and account for its end."""
        self._force(state, 0)
        for source in state.sources.values():
            while source.waiting:
                source.skip()
                self._stage(state)
        for stream in sorted(set(state.sources) | set(state.boot.run(state.run).states if state.run else ())):
            self._end_stream(state, self._source(state, stream))
        yield from self._hand_out(state, everything=True)
        state.sources.clear()

    def _end_silent_runs(self, state: _BootState) -> Iterator[Chunk]:
        """Runs of which no block came."""
        for run in [run for run in state.boot.runs.values() if not run.streams]:
            state.run = run.number
            yield from self._end_run(state)

    def _end_stream(self, state: _BootState, source: _Source) -> None:
        """Account for what is missing behind the last block."""
        figures, run = source.figures, source.run
        rows = source.last.row if source.last is not None else np.zeros(0, BLOCK_ROW)
        tail = Run(run.number, run.started, run.ended, states=run.states, finals=run.finals, last_heard=run.last_heard)
        if source.last is None:
            tail.seen_from_start, tail.first_states = run.seen_from_start, run.first_states
        kept = self._kept(state, figures.stream)
        if kept is not None and source.last is not None:
            kept = replace(kept, begin=source.last.begin)
        result = account(figures.stream, rows, self._suspects[:0], tail, self._damage(), kept)
        figures.recorded = result.stream.recorded
        if source.last is None:
            figures.before_attach = result.stream.before_attach
        for name in CAUSES:
            figures.lost[name] += int(result.losses[name].sum())
        if kept is not None:
            figures.cut_away = figures.recorded - figures.before_attach - figures.delivered - figures.lost_records
        if len(result.losses):
            self._keep_losses(state, result.losses)
            state.staged.append(_loss_block(result.losses[0], len(state.losses)))

    def _finish(self, reader: SessionReader) -> None:
        self._scanner.finish()
        check_format(self._scanner)
        self.facts.files.clear()
        note_file(self.facts, reader)
        self.facts.problems += filter(None, (choose_table(self._scanner, boot) for boot in self.facts.boots))
        note_counters(self._scanner)
        note_ends(self.facts)
        self.facts.complete = True
        if self._repeated:
            self.facts.problems.append(
                f"{counted(self._repeated, 'block repeats', 'blocks repeat')} indices of others; not used"
            )
        if self.facts.late:
            self.facts.problems.append(f"{counted(self.facts.late, 'record')} came too late to be shown in order")


def _copy_blocks(rows: NDArray[np.void], batch: Batch) -> Iterator[_Waiting]:
    """Blocks apart from the batch they came in."""
    view = batch.data.data
    slots_at = rows["slots_at"] - batch.base
    sizes = rows["slots"].astype(np.int64)
    starts_at = slots_at - rows["starts_back"]
    lost = rows["overwritten"] + rows["full"] + rows["exhausted"]
    columns = (
        starts_at, starts_at + (sizes + 7 >> 3), slots_at, slots_at + 8 * sizes, rows["sequence"], rows["first_index"],
        rows["first_index"] + rows["count"], rows["first_time"], rows["last_time"], lost,
    )  # fmt: skip
    raw, size = rows.tobytes(), rows.itemsize
    for number, (a, b, c, d, *numbers) in enumerate(zip(*(column.tolist() for column in columns), strict=True)):
        row = np.frombuffer(bytearray(raw[number * size : (number + 1) * size]), BLOCK_ROW)
        yield _Waiting(row, bytes(view[a:b]), bytes(view[c:d]), *numbers)


def _loss_block(loss: np.void, number: int) -> _Waiting:
    """A LOSS that has no block behind it."""
    row = np.zeros(1, BLOCK_ROW)
    row["first_time"] = row["last_time"] = max(int(loss["end"]), int(loss["start"]), 0)
    row["stream"], row["sequence"], row["room"] = loss["stream"], np.iinfo(np.int64).max, number
    return _Waiting(row, b"", b"")
