# SPDX-License-Identifier: Apache-2.0
"""What was received of an object: matched with what was sent, how late, how old, and what never arrived.

Messages are matched by the kernel's number. Where it gives none, the position in the queue tells: behind a message that
is received wait as many as the depth says; that holds while nothing is lost between the two.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection
from dataclasses import dataclass, field
from typing import Final, Literal

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.comm.depth import DepthBook, DepthRows
from vxmon.analysis.comm.messages import Ints, MessageRows
from vxmon.analysis.comm.opens import OpenTable, Sends
from vxmon.analysis.comm.source import SourceBook
from vxmon.analysis.figures import Figure, Range
from vxmon.trace.batches import present
from vxmon.wire.events import CommResult

__all__ = ["DestinationBook", "FlowKey", "Orphan", "Unmatched"]

Orphan = Literal["lost", "passed_over", "unread_at_end", "never_read", "deleted", "table_full", "no_channel"]
"""Why a message that was sent was not seen to be received."""
Unmatched = Literal["before", "earlier", "lost", "not_recorded", "table_full", "no_channel"]
"""Why a message that was received was not seen to be sent."""
FlowKey = int
"""The partition that sent; -1: not known."""

_MOST_READERS: Final = 1024
# These were sent while recording lasted, nobody knows when.
_UNKNOWN: Final[tuple[Unmatched, ...]] = ("earlier", "lost", "not_recorded", "table_full")


@dataclass(slots=True)
class DestinationBook:
    """One object as the place where messages arrive.

    Attributes:
        source: the book of the object that is sent to, None if it is not known.
        own: that object is this one.
        queue: messages wait in line; else the newest replaces the one before and may be read many times.
        refresh: a message that is older when it is read is stale, in ticks; None: not known.
        sender: the partition that the source belongs to, -1 if it is not known.
        cut: there are calls from before those that come; what was sent then is not known.
        new_tasks: tasks of which nothing is from before.

    """

    source: SourceBook | None
    own: bool
    queue: bool
    refresh: int | None
    sender: int
    depth: DepthBook | None
    cut: bool = False
    new_tasks: Collection[int] = ()
    latencies: Range = field(default_factory=Range)
    ages: Range = field(default_factory=Range)
    received: int = 0
    distinct: int = 0
    older: int = 0
    doubt: int = 0
    overwritten: int = 0
    maybe_overwritten: int = 0
    orphans: Counter[Orphan] = field(default_factory=Counter)
    unmatched: Counter[Unmatched] = field(default_factory=Counter)
    deleted: bool = False
    flows: dict[FlowKey, tuple[int, int]] = field(default_factory=dict)
    open: OpenTable = field(default_factory=OpenTable)
    _positions: int = 0
    _readers: dict[int, int] = field(default_factory=dict)
    _last_read: tuple[int, int] | None = None

    def feed(self, rows: MessageRows, sends: Sends) -> None:
        """Take the object's own calls and the messages that its source accepted, each in order."""
        reads = rows.take(~rows.sent & _succeeded(rows))
        # A queue at the other end of a channel tells what it had no room for.
        refused = rows.take(rows.sent & (rows.result == CommResult.FULL) & (not self.own))
        whole, dropped = self._numbers(reads, refused, sends)
        if self.depth is not None:
            self._feed_depth(rows, sends.take(~dropped))
        self.open.add(sends.take(~dropped))
        self._match(reads, whole)
        self._forget(reads, whole)

    # ------------------------------------------------------------ numbers

    def _numbers(self, reads: MessageRows, refused: MessageRows, sends: Sends) -> tuple[Ints, NDArray[np.bool_]]:
        """The numbers of what was received without wrap, and which messages found no room."""
        if self.source is None:
            return reads.number, np.zeros(len(sends), bool)
        numbering = self.source.numbering
        numbering.note(reads.number)
        if not numbering.numbered:
            return self._by_position(reads, refused, sends)
        refused_whole = numbering.place(refused.number)
        self.open.keep(~np.isin(self.open.sends.whole, refused_whole))
        return numbering.place(reads.number), np.isin(sends.whole, refused_whole)

    def _by_position(self, reads: MessageRows, refused: MessageRows, sends: Sends) -> tuple[Ints, NDArray[np.bool_]]:
        """The same without the kernel's numbers: messages are counted as they enter the queue."""
        place = np.concatenate([sends.place, refused.place])
        order = np.argsort(place, kind="stable")
        entered = self._positions + np.cumsum(np.where(order < len(sends), 1, -1))
        position = np.zeros(len(place), np.int64)
        position[order] = entered
        sends.whole = position[: len(sends)]
        before: Ints = np.concatenate([np.array([self._positions]), entered])
        entered_by = np.searchsorted(place[order], reads.place)
        whole: Ints = before[entered_by] - reads.depth * self.queue
        self._positions = int(before[-1])
        is_refused = np.append(order >= len(sends), False)
        dropped = np.zeros(len(place), bool)
        dropped[order] = is_refused[1:] & ~is_refused[:-1]
        return whole, dropped[: len(sends)]

    # ------------------------------------------------------------ matching

    def _match(self, reads: MessageRows, whole: Ints) -> None:
        if not len(reads):
            return
        at = self.open.find(whole, reads.time)
        sends, matched = self.open.sends, at >= 0
        if self.source is not None and not self.source.numbering.numbered and len(sends):
            matched &= sends.epoch[at] == reads.epoch
        first = self._first(reads, whole, matched)
        kept = reads.kept
        self.received += int(kept.sum())
        self.distinct += int((first & kept).sum())
        self._times(reads, matched & kept, first, at)
        sends.matched[at[matched]] = True
        self._explain(whole[first & kept & ~matched], reads.epoch[first & kept & ~matched])
        sender = np.full(len(reads), self.sender)
        sender[matched] = sends.partition[at[matched]]
        self._flow(sender[first & kept], reads.size[first & kept])
        self._count_doubt(reads, whole)

    def _times(self, reads: MessageRows, matched: NDArray[np.bool_], first: NDArray[np.bool_], at: Ints) -> None:
        lasting = reads.time - self.open.sends.time[at] if len(self.open.sends) else reads.time
        some = matched & first
        # What may be read many times may have been read before, where records are lost since it was sent.
        certain = self.queue | (self.open.sends.epoch[at[some]] == reads.epoch[some])
        self.latencies.add(lasting[some] * certain, lasting[some], reads.number[some], reads.time[some])
        if not self.queue:
            self.ages.add(lasting[matched], None, reads.number[matched], reads.time[matched])
            if self.refresh is not None:
                self.older += int((lasting[matched] > self.refresh).sum())

    def _first(self, reads: MessageRows, whole: Ints, matched: NDArray[np.bool_]) -> NDArray[np.bool_]:
        """Where a message is received for the first time by the task that receives it, as far as that is known."""
        first = np.ones(len(reads), bool)
        for task in [] if self.queue else present(reads.task):
            which = np.flatnonzero(reads.task == task)
            numbers = whole[which]
            first[which] = np.diff(numbers, prepend=self._readers.get(task, -1)) != 0
            if self.cut and task not in self._readers and task not in self.new_tasks and not matched[which[0]]:
                first[which[0]] = False
                self.doubt += int(reads.kept[which[0]])
            if len(self._readers) < _MOST_READERS or task in self._readers:
                self._readers[task] = int(numbers[-1])
        return first

    def _explain(self, whole: Ints, epoch: Ints) -> None:
        """Why the sends of these messages are not known."""
        if self.source is None:
            self.unmatched["no_channel"] += len(whole)
            return
        source, full = self.source, whole <= self.open.dropped_up_to
        begun = source.first_time is not None
        early = (whole < source.first_whole) & (source.first_epoch == 0) if begun else epoch == 0
        if begun and not source.numbering.numbered:
            early = (whole <= 0) & (epoch == 0)
        reasons: tuple[tuple[Unmatched, NDArray[np.bool_]], ...] = (
            ("table_full", full), ("earlier" if self.cut else "before", ~full & early),
            ("lost", ~full & ~early & (epoch > 0)), ("not_recorded", ~full & ~early & (epoch == 0)),
        )  # fmt: skip
        for reason, where in reasons:
            if where.any():
                self.unmatched[reason] += int(where.sum())

    def _flow(self, sender: Ints, size: Ints) -> None:
        counts, total = np.bincount(sender + 1), np.bincount(sender + 1, size)
        for place in np.flatnonzero(counts).tolist():
            count, octets = self.flows.get(place - 1, (0, 0))
            self.flows[place - 1] = (count + int(counts[place]), octets + int(total[place]))

    def _count_doubt(self, reads: MessageRows, whole: Ints) -> None:
        """Count what may have been received in between and is lost; a queue gives each number once."""
        before = self._last_read or (int(whole[0]), 0)
        lost = np.diff(reads.lost, prepend=before[1])
        if self.queue and self.source is not None and self.source.numbering.numbered:
            between = np.maximum(np.diff(whole, prepend=before[0]) - 1, 0)
            if self._last_read is None:
                between[0] = lost[0]
            lost = np.minimum(lost, between)
        self.doubt += int(lost.sum())
        self._last_read = (int(whole[-1]), int(reads.lost[-1]))

    # ------------------------------------------------------------ open messages

    def _forget(self, reads: MessageRows, whole: Ints) -> None:
        """Forget what nobody can receive any more."""
        sends = self.open.sends
        if not len(sends):
            return
        if self.queue and len(reads):
            gone = self.open.keep(sends.whole > whole.max())
            gone = gone.take(~gone.matched & gone.kept)
            lost = int((gone.epoch < reads.epoch[-1]).sum())
            self.orphans["lost"] += lost
            self.orphans["passed_over"] += len(gone) - lost
        elif not self.queue:
            alone = sends.kept[:-1] & ~sends.matched[:-1]
            steady = sends.epoch[1:] == sends.epoch[:-1]
            self.overwritten += int((alone & steady).sum())
            self.maybe_overwritten += int((alone & ~steady).sum())
            self.open.keep(np.arange(len(sends)) == len(sends) - 1)
        self.orphans["table_full"] += int(self.open.limit().kept.sum())

    def _feed_depth(self, rows: MessageRows, sends: Sends) -> None:
        added = sends.take(slice(0, 0)) if self.own else sends
        place = np.concatenate([rows.place, added.place])
        order = np.argsort(place, kind="stable")
        told = np.arange(len(place)) < len(rows)
        time, epoch = (np.concatenate([getattr(r, name) for r in (rows, added)]) for name in ("time", "epoch"))
        depth = np.concatenate([rows.depth, np.zeros(len(added), np.int64)])
        if self.depth is not None:
            self.depth.feed(DepthRows(time[order], told[order], depth[order], epoch[order]))

    # ------------------------------------------------------------ the end

    def delete(self, time: int, epoch: int) -> None:
        """The object ceased to exist, and what was in it with it; ``epoch``: losses until then."""
        if self.depth is not None:
            self.depth.finish(time, epoch)
        rest = self.open.keep(np.zeros(len(self.open.sends), bool))
        self.orphans["deleted"] += int((~rest.matched & rest.kept).sum())
        self.deleted = True

    def close(self, end: int, epoch: int, lost: int) -> None:
        """Account for the end of recording, ``epoch`` and ``lost`` as they are there."""
        if self.depth is not None and not self.deleted:
            self.depth.finish(end, epoch)
        self.doubt += lost - (self._last_read[1] if self._last_read is not None else 0)
        rest = self.open.sends.take(~self.open.sends.matched & self.open.sends.kept)
        gone = int((rest.epoch < epoch).sum())
        self.orphans["lost"] += gone
        self.orphans["unread_at_end" if self._last_read is not None else "never_read"] += len(rest) - gone
        self.orphans = +self.orphans
        unknown = self.doubt + sum(self.unmatched[reason] for reason in _UNKNOWN)
        self.latencies.add_extra(unknown, 0, None)
        if not self.queue:
            self.ages.add_extra(unknown, 0, None)

    def count(self) -> Figure:
        """Messages that were received, each as often as it was read."""
        return Figure(self.received, self.received, self.received + self.doubt, self.received)

    def read_too_late(self) -> Figure:
        """Reads of messages that were older than the refresh period."""
        if self.refresh is None:
            return Figure.none()
        most = self.older + self.ages.extra
        return Figure(self.older, self.older, most, self.ages.n)

    def replaced(self, lost: int) -> Figure:
        """Messages that were replaced by the next before anybody read them; ``lost`` records in all."""
        if self.queue:
            return Figure.none()
        return Figure(
            self.overwritten, self.overwritten, self.overwritten + self.maybe_overwritten + lost, self.distinct
        )


def _succeeded(rows: MessageRows) -> NDArray[np.bool_]:
    ok: NDArray[np.bool_] = (rows.result == CommResult.OK) | (rows.result == CommResult.STALE)
    return ok
