# SPDX-License-Identifier: Apache-2.0
"""What a session says about itself: targets, runs, streams, what was lost and what is wrong.

Times are target ticks unless a name says otherwise. Everything here is known after the first pass.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.cuts import Cut
from vxmon.trace.linkevents import LinkEvent, LinkRecord
from vxmon.trace.names import NO_TABLE, Names
from vxmon.trace.wallclock import ClockBounds, WallClock
from vxmon.wire.acquired import Log, LogEntry
from vxmon.wire.types import EventTable, LinkCounters, Losses, RunConfig, StreamState, TargetInfo

__all__ = ["CAUSES", "LOSS", "Boot", "Counters", "Facts", "FileFacts", "Run", "Stream"]

# The host's time is worked out again when this part of the heartbeats has come since.
_WORTH_A_FIT: Final = 32

# Causes of loss (SPEC section 4), in the order they are shown.
CAUSES: Final = ("overwritten", "full", "exhausted", "link", "corrupt", "truncated", "pending")


# Consecutive records of a stream that are not in the session. ``start`` is the time of the last delivered record
# before them, ``end`` that of the first one after; at the edges of a run the nearest instant known, else -1.
LOSS: Final = np.dtype(
    [
        ("boot", "<i4"), ("run", "<u4"), ("stream", "u1"), ("first_index", "<i8"), ("records", "<i8"),
        ("start", "<i8"), ("end", "<i8"), *((cause, "<i8") for cause in CAUSES),
    ]
)  # fmt: skip


@dataclass(slots=True)
class Stream:
    """One stream of a run. ``recorded`` = ``before_attach`` + ``cut_away`` + ``delivered`` + the sum of ``lost``.

    ``cut_away`` records are not in this file because it was cut from a larger one.
    """

    stream: int
    recorded: int = 0
    before_attach: int = 0
    cut_away: int = 0
    delivered: int = 0
    lost: dict[str, int] = field(default_factory=lambda: dict.fromkeys(CAUSES, 0))
    blocks: int = 0
    first_time: int | None = None
    last_time: int | None = None
    units: int = 0
    units_used: int = 0

    @property
    def lost_records(self) -> int:
        """All causes together."""
        return sum(self.lost.values())

    @property
    def expected(self) -> int:
        """Records that this file should have."""
        return self.recorded - self.before_attach - self.cut_away


@dataclass(slots=True)
class Run:
    """A run: from a start to a stop, within a boot.

    ``complete`` is true when the target told the final figures. ``states`` and ``first_states`` are what
    the target's messages said last, and first, of each stream; ``attach`` is 0 when the start was seen.
    """

    number: int
    started: int | None = None
    ended: int | None = None
    end_reason: int | None = None
    config: RunConfig | None = None
    seen_from_start: bool = False
    last_heard: int | None = None
    states: dict[int, StreamState] = field(default_factory=dict)
    first_states: dict[int, StreamState] = field(default_factory=dict)
    finals: dict[int, int] = field(default_factory=dict)
    streams: dict[int, Stream] = field(default_factory=dict)

    @property
    def complete(self) -> bool:
        """True when the run's end is in the session."""
        return self.ended is not None

    def hear(self, state: StreamState) -> None:
        """Take what the target says of a stream; counters only grow, so the largest is the latest."""
        self.first_states.setdefault(state.stream, state)
        known = self.states.get(state.stream, state)
        self.states[state.stream] = StreamState(
            stream=state.stream,
            recorded=max(known.recorded, state.recorded),
            cut_index=max(known.cut_index, state.cut_index),
            cut_time=max(known.cut_time, state.cut_time),
            blocks=max(known.blocks, state.blocks),
            held=max(known.held, state.held),
            losses=_most(known.losses, state.losses),
            units=state.units,
            units_used=state.units_used,
        )


def _most(a: Losses, b: Losses) -> Losses:
    return Losses(max(a.overwritten, b.overwritten), max(a.full, b.full), max(a.exhausted, b.exhausted))


@dataclass(slots=True)
class Boot:
    """A target from one start-up to the next: who it is, its tables, its runs.

    ``table_source`` says in words where the event table came from. ``byte_order`` is "big", "little" or "" when
    there was nothing to tell it by. ``link_events`` are what happened on the link as hosts noted it,
    ``link_records`` as the target recorded it (filled in when records are counted).
    ``log_texts`` are entries of the target's own logs of this boot, as a host read them while the session was recorded,
    in this boot or a later one.
    """

    id: int
    number: int = 0
    first_seen_ns: int = 0
    byte_order: str = ""
    clock_hz: int = 0
    os_release: str = ""
    table_fingerprint: int = 0
    info: TargetInfo | None = None
    link: LinkCounters | None = None
    table: EventTable = NO_TABLE
    table_source: str = ""
    names: Names = field(default_factory=Names)
    runs: dict[int, Run] = field(default_factory=dict)
    first_time: int | None = None
    last_time: int | None = None
    log_texts: dict[tuple[Log, int], LogEntry] = field(default_factory=dict)
    link_events: list[LinkEvent] = field(default_factory=list)
    link_records: list[LinkRecord] = field(default_factory=list)
    clock: ClockBounds = field(default_factory=ClockBounds)
    _wall: WallClock | None = None
    _wall_bounds: int = 0

    @property
    def wall(self) -> WallClock | None:
        """Host time of its ticks; None when nothing is known. Fitted anew when there is notably more to go by."""
        if len(self.clock) > self._wall_bounds + self._wall_bounds // _WORTH_A_FIT:
            self._wall, self._wall_bounds = WallClock.of(self.clock, self.clock_hz), len(self.clock)
        return self._wall

    def forget_wall(self) -> None:
        """Drop what was fitted; it is made again when it is asked for."""
        self._wall, self._wall_bounds = None, 0

    def run(self, number: int) -> Run:
        """The run of that number, made when it is new."""
        return self.runs.setdefault(number, Run(number))


@dataclass(slots=True)
class Counters:
    """What was in the files, in datagrams (and packets that are none)."""

    channels: Counter[str] = field(default_factory=Counter)
    refused: Counter[str] = field(default_factory=Counter)
    corrupt_blocks: int = 0
    truncated: int = 0
    duplicates: int = 0
    unknown_channels: int = 0
    foreign: int = 0
    newer: int = 0
    socket_drops: int = 0
    unplaced: int = 0


@dataclass(slots=True)
class FileFacts:
    """One input file. ``cut_bytes`` are left over at its end; sizes in bytes, None for a pipe."""

    name: str
    size: int | None = None
    format: str = ""
    metadata: dict[str, Any] = field(default_factory=dict)
    cut_bytes: int = 0
    damaged_bytes: int = 0
    packets: int = 0
    skipped: dict[str, int] = field(default_factory=dict)
    first_ns: int | None = None
    last_ns: int | None = None


@dataclass(slots=True)
class Facts:
    """Everything that is known of a trace beside its records.

    ``complete`` is false while a live trace is being read: figures are those so far. ``more_losses`` are intervals that
    are not in ``losses``, ``late`` records that were handed out behind later ones; only a live trace has those.
    ``cut`` says how the session was cut from a larger one, None when it was not.
    """

    files: list[FileFacts] = field(default_factory=list)
    boots: list[Boot] = field(default_factory=list)
    counters: Counters = field(default_factory=Counters)
    losses: NDArray[np.void] = field(default_factory=lambda: np.zeros(0, LOSS))
    complete: bool = True
    cut: Cut | None = None
    more_losses: int = 0
    late: int = 0
    problems: list[str] = field(default_factory=list)

    @property
    def streams(self) -> list[Stream]:
        """All streams of all runs of all boots."""
        return [s for boot in self.boots for run in boot.runs.values() for s in run.streams.values()]

    @property
    def delivered(self) -> int:
        """Records that can be read."""
        return sum(stream.delivered for stream in self.streams)

    @property
    def lost(self) -> int:
        """Records that are lost, by any cause."""
        return sum(stream.lost_records for stream in self.streams)

    @property
    def cut_away(self) -> int:
        """Records of a larger session that are not in this file."""
        return sum(stream.cut_away for stream in self.streams)

    @property
    def cut_bytes(self) -> int:
        """Bytes of the files that could not be used: a cut end, and damage in between."""
        return sum(file.cut_bytes + file.damaged_bytes for file in self.files)

    @property
    def open_runs(self) -> list[tuple[Boot, Run]]:
        """Runs whose end is not in the files: how many records followed is not known.

        Of the parts of a session that goes on in another file that is as it should be.
        """
        if self.cut is not None and self.cut.more:
            return []
        return [(boot, run) for boot in self.boots for run in boot.runs.values() if not run.complete]

    @property
    def absent(self) -> list[str]:
        """What a whole session has and this one lacks, in words; records that are known to be lost are not in it."""
        found = [] if any(stream.blocks for stream in self.streams) else ["there is no block of records"]
        runs = self.open_runs
        if runs:
            boot, run = runs[0]
            # Each boot counts its runs from 1.
            of_boot = f" of boot 0x{boot.id:08x}" if len(self.boots) > 1 else ""
            first = f"run {run.number}{of_boot}" if len(runs) == 1 else f"{len(runs)} runs"
            found.append(f"the end of {first} is not in the file")
        return found

    @property
    def incomplete(self) -> bool:
        """True when something was lost, cut, damaged or left open, so that figures may not be the whole truth."""
        counters = self.counters
        wrong = self.lost or self.cut_bytes or counters.corrupt_blocks or counters.truncated or counters.newer
        return bool(wrong or self.absent)
