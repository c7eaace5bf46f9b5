# SPDX-License-Identifier: Apache-2.0
"""From the books of a boot to its figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from vxmon.analysis.edr import SEVERITIES, kind_name
from vxmon.analysis.figures import Figure, Range
from vxmon.analysis.scene import Recording
from vxmon.analysis.spread import Spread, spread_of
from vxmon.analysis.system.circumstances import faults, hm_name
from vxmon.analysis.system.counts import ALL, BINS, KindBook, RateBook, most_lost
from vxmon.analysis.system.result import CATEGORIES, EVENTS, BootSystem, Category, CategoryName, InterruptTime, Kind
from vxmon.trace.state import UNKNOWN
from vxmon.wire.events import EventId

if TYPE_CHECKING:
    from vxmon.analysis.system.analyze import BootBooks

__all__ = ["boot_figures"]

# Rates are thousandths of events per second.
_PER_SECOND: Final = 1000


def boot_figures(books: BootBooks) -> BootSystem:
    """All figures of a boot."""
    boot = books.boot
    scene = books.scene
    return BootSystem(
        id=boot.id,
        number=boot.number,
        clock_hz=boot.clock_hz,
        begin=books.begin,
        end=books.end,
        observed=max(books.observed.values(), default=0),
        rate_span=books.rate_span,
        categories=[_Maker(books, name).category() for name in CATEGORIES],
        interrupts=list(_interrupts(books)),
        faults=sorted(faults(scene, books.faults.rows(), books.places), key=lambda f: (f.time, f.stream)),
        faults_left_out=books.faults.left_out,
        partition_names=boot.names.named("partition"),
        task_names=boot.names.named("task"),
        object_names=boot.names.named("object"),
        notes=[*scene.notes, *_notes(books)],
    )


class _Maker:
    """Makes the figures of one category."""

    def __init__(self, books: BootBooks, name: CategoryName) -> None:
        self._books = books
        self._name: CategoryName = name
        self._counts = books.counts[name]
        self._recording: Recording = books.scene.recording(EVENTS[name])
        self._lost = sum(int(rows.records.sum()) for rows in books.lost)
        self._lost_near = _lost_near(books)

    def category(self) -> Category:
        """The category: in all, by kind, and by kind and partition."""
        books = self._counts.books
        pairs = {key for key in books if ALL not in key}
        if self._name == "hm":
            partitions = self._books.boot.names.partitions
            pairs |= {(code, partition) for code in self._known() for partition in partitions}
        kinds = {number for number, partition in books if partition == ALL and number != ALL} | self._known()
        return Category(
            self._name,
            self._kind("", ALL, ALL),
            [*self._severities(), *(self._kind(self._label(number), number, ALL) for number in sorted(kinds))],
            [self._kind(self._label(number), number, partition) for number, partition in sorted(pairs)],
        )

    def _severities(self) -> Iterator[Kind]:
        """ED&R by severity, whatever the facility."""
        if self._name == "edr":
            for number, name in SEVERITIES.items():
                yield self._figures(name, number, ALL, self._books.severities.books.get((number, ALL)))

    def _known(self) -> set[int]:
        """Kinds that the session's table names: they are counted even when they never came."""
        if self._name != "hm":
            return set()
        enums = self._books.boot.table.enums
        return {code for enum in enums if enum.name == "hm_code" for code in enum.values}

    def _label(self, number: int) -> str:
        if self._name == "hm":
            return hm_name(self._books.boot.table, number)
        if self._name == "edr" and number >= 0:
            return kind_name(number)
        return str(number) if number >= 0 else "unknown"

    def _kind(self, name: str, number: int, partition: int) -> Kind:
        return self._figures(name, number, partition, self._counts.books.get((number, partition)))

    def _figures(self, name: str, number: int, partition: int, book: KindBook | None) -> Kind:
        book = book or KindBook(RateBook(self._counts.width))
        count = self._bounded(book.count, self._lost)
        most = self._bounded(book.rate.most, self._lost_near, unbounded=book.rate.capped)
        seen = book.count > 0
        return Kind(
            name=name,
            number=number,
            partition=None if partition == ALL else partition,
            count=count,
            mean_rate=self._rate(count, max(self._books.observed.values(), default=0)),
            most_rate=self._rate(most, self._counts.width),
            worst_at=book.rate.at if seen else None,
            first=book.first if seen else None,
            last=book.last if seen else None,
            over_time=tuple(book.over_time.tolist()) if self._recording != "none" else (0,) * BINS,
        )

    def _bounded(self, seen: int, lost: int, *, unbounded: bool = False) -> Figure:
        """A count of which each lost record may be one more."""
        if self._recording == "none":
            return Figure.none()
        open_end = unbounded or self._recording == "part"
        return Figure(seen, seen, None if open_end else seen + lost, seen)

    def _rate(self, count: Figure, ticks: int) -> Figure:
        hz = self._books.boot.clock_hz
        if not ticks or not hz:
            return Figure.none()
        return count.mapped(lambda number: number * _PER_SECOND * hz // ticks)


def _lost_near(books: BootBooks) -> int:
    """Records that may be missing in the span in which the most are."""
    own = books.scene.own_losses
    end = own["end"].astype(np.int64)
    start = np.where(own["start"] < 0, end, own["start"]).astype(np.int64)
    inside = (end >= books.begin) & (start <= books.end)
    return most_lost(start[inside], end[inside], own["records"][inside].astype(np.int64), books.rate_span)


def _interrupts(books: BootBooks) -> Iterator[InterruptTime]:
    lost = sum(int(rows.records.sum()) for rows in books.lost)
    open_ended = bool((books.scene.own_losses["start"] < 0).any())
    recorded = books.scene.recorded(EventId.INT_ENTR, EventId.INT_EXIT)
    seen = {number for number, partition in books.counts["interrupt"].books if partition == ALL} - {ALL, UNKNOWN}
    for number in sorted(seen | set(books.durations.by_number)):
        found = Range()
        found.merge(books.durations.by_number.get(number, Range()))
        found.add_extra(lost, 0, None if open_ended else books.durations.unseen)
        yield InterruptTime(number, books.vectors.get(number), spread_of(found) if recorded else Spread.none())


def _notes(books: BootBooks) -> Iterator[str]:
    scene = books.scene
    if not books.boot.clock_hz:
        yield "the session does not tell the clock's rate: no times and no rates"
    for name, event in EVENTS.items():
        if scene.recording(event) == "part":
            yield f"{event.name} was recorded for a part of the time only: the true {name} counts may be larger"
    missing = [event.name for event in EVENTS.values() if scene.recording(event) == "none"]
    if missing:
        yield f"not recorded: {', '.join(missing)}"
    if books.faults.left_out:
        yield f"circumstances of {books.faults.left_out} more faults are not kept; choose a time window"
    for name, counts in books.counts.items():
        if counts.left_out:
            yield f"{counts.left_out} {name} events are of more kinds than are told apart"
