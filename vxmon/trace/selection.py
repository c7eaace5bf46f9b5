# SPDX-License-Identifier: Apache-2.0
"""Which events the user wants to see: one set of criteria for printing, exports and analyses.

Several values of one criterion are alternatives, and so are classes and events; different criteria must all be met.

* An event is of a *partition* when that partition ran on the event's CPU, when the event names it, in its first
  argument or in a field, or when it names a task of it. So RELEASE of a task is of the task's partition, whoever ran.
* An event is of a *task* when that task ran or when the event names it; a switch away from the task names it too.
* An event is of an *object* when it names it.
* Where records are missing it is not known who ran; such events are selected only by what they name, and counted.
* LOSS records are of every partition, task, object, class and event: what is missing may have been of any.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.columns import Chunk, Columns
from vxmon.trace.criteria import Selection
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.fields import FieldReader
from vxmon.trace.losses import loss_starts
from vxmon.trace.names import LOSS_ID
from vxmon.trace.running import LiveStates, Running, running
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.state import UNKNOWN, States
from vxmon.trace.trace import StoredTrace, Trace
from vxmon.wire.bulk import BLOCK_ROW
from vxmon.wire.types import NOT_KNOWN
from vxmon.words import counted

__all__ = ["WHOLE", "Selected", "check_names", "rows_within", "selected"]

WHOLE: Final = np.iinfo(np.int64).max
"""So many ticks around a time window are all of a boot."""

_INDICES: Final = 1 << 16
_MOST_LISTED: Final = 40

Ints = NDArray[np.int64]
Bools = NDArray[np.bool_]
# Instants around which events are wanted, by boot number, and how far from them in ticks.
Instants = Mapping[int, tuple[Ints, int]]


@dataclass(slots=True)
class _Wanted:
    """A selection in the numbers of one boot; None: no such criterion. Masks have an element an index and one more."""

    boot: Boot
    events: Bools | None
    partitions: Bools | None
    tasks: Bools | None
    tasks_of_partitions: Bools
    objects: Bools | None
    reader: FieldReader
    naming: dict[str, list[tuple[int, str | None]]]
    revision: int

    @staticmethod
    def of(boot: Boot, selection: Selection) -> _Wanted:
        """Look up the names; those that the boot does not know select nothing."""
        partitions = _mask(selection.partitions, boot.names.named("partition"))
        tasks = _mask(selection.tasks, _task_names(boot))
        mine = np.zeros(_INDICES + 1, bool)
        for index, task in boot.names.tasks.items():
            mine[index] = partitions is not None and partitions[task.partition]
        events = None
        if selection.classes or selection.events:
            events = _event_mask(boot, selection)
        objects = _mask(selection.objects, boot.names.named("object"))
        naming = {kind: list(_fields_naming(boot, kind)) for kind in ("partition", "task", "object")}
        return _Wanted(
            boot, events, partitions, tasks, mine, objects, FieldReader(boot.table), naming, boot.names.revision
        )

    def named(self, columns: Columns, kind: str, wanted: Bools) -> Bools:
        """Records that name one of the wanted partitions, tasks or objects."""
        found = np.zeros(len(columns), bool)
        for event, name in self.naming[kind]:
            if name is None:
                which = self.reader.of(columns, event)
                values = columns.arg[which].astype(np.int64)
            else:
                which = self.reader.having(columns, event, (name,))
                values = np.minimum(self.reader.values(columns, event, name, which), NOT_KNOWN)
            found[which] |= wanted[values]
        return found


def _mask(wanted: Iterable[str], names: Mapping[int, str]) -> Bools | None:
    """Indices of names; a number that is no name is an index. None when nothing is wanted."""
    wanted = set(wanted)
    if not wanted:
        return None
    mask = np.zeros(_INDICES + 1, bool)
    mask[[index for index, name in names.items() if name in wanted]] = True
    numbers = [int(text) for text in wanted - set(names.values()) if _is_number(text)]
    mask[[number for number in numbers if number < NOT_KNOWN]] = True
    return mask


def _task_names(boot: Boot) -> dict[int, str]:
    return boot.names.named("task")


def _event_mask(boot: Boot, selection: Selection) -> Bools:
    events = {event.id: event.name for event in boot.table.events}
    mask = _mask((name.upper() for name in selection.events), events)
    mask = np.zeros(_INDICES + 1, bool) if mask is None else mask
    classes = {name.upper() for name in selection.classes}
    mask[[event.id for event in boot.table.events if event.klass in classes]] = True
    return mask


def _fields_naming(boot: Boot, kind: str) -> Iterator[tuple[int, str | None]]:
    """Where events name a partition, task or object: (event, field), None for the first argument."""
    for event in boot.table.events:
        if event.arg.kind == kind:
            yield event.id, None
        yield from ((event.id, field.name) for field in event.fields if field.kind == kind)


# ---------------------------------------------------------------- names that exist


def check_names(selection: Selection, facts: Facts) -> None:
    """Refuse what does not exist in the session; the message lists what does. Raises InputError.

    A time window without any of the session is refused too: a count of it would be 0, which nobody observed.
    """
    boots = facts.boots
    events = {event.name for boot in boots for event in boot.table.events}
    classes = {event.klass for boot in boots for event in boot.table.events}
    numbers = [name for name in selection.events if _is_number(name)]
    cpus = {str(stream.stream) for stream in facts.streams}
    _check("class", "classes", [name.upper() for name in selection.classes], classes)
    _check("event", "events", [name.upper() for name in selection.events], events, numbers)
    for one, given in (("partition", selection.partitions), ("task", selection.tasks), ("object", selection.objects)):
        names = [pair for boot in boots for pair in boot.names.named(one).items()]
        numbers = [str(index) for index, _ in names] or [name for name in given if _is_number(name)]
        _check(one, f"{one}s", given, {name for _, name in names}, numbers)
    _check("CPU", "CPUs", map(str, selection.cpus), cpus)
    _check_span(selection.span, boots)


def _check_span(span: Span, boots: Iterable[Boot]) -> None:
    """Where the clock's rate is not known, neither is what a time window has."""
    known = [
        (boot.first_time, boot.last_time, boot.clock_hz)
        for boot in boots
        if boot.first_time is not None and boot.last_time is not None and boot.clock_hz
    ]
    begins = [span.ticks(first, hz)[0] for first, _, hz in known]
    if known and not any(begin is None or begin <= last for begin, (_, last, _) in zip(begins, known, strict=True)):
        longest = max((last - first) / hz for first, last, hz in known)
        raise InputError(f"the session is {longest:.6f} s long; nothing of it is in {span}")


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit()


def _check(one: str, many: str, wanted: Iterable[str], names: Iterable[str], numbers: Iterable[str] = ()) -> None:
    known = sorted(names)
    missing = [name for name in wanted if name not in known and name not in numbers]
    if missing:
        more = f" and {len(known) - _MOST_LISTED} more" if len(known) > _MOST_LISTED else ""
        there = f"its {many} are {', '.join(known[:_MOST_LISTED])}{more}" if known else f"it knows no {many} by name"
        raise InputError(f"the session has no {one} {missing[0]}; {there}")


# ---------------------------------------------------------------- blocks that can hold what is wanted


def rows_within(
    trace: StoredTrace, span: Span, cpus: Iterable[int] = (), around: Mapping[int, int] | None = None
) -> NDArray[np.void]:
    """The rows of a trace's index that can have records, or losses, of a time window and CPUs.

    ``around`` are ticks before and behind the window, by boot number, of which rows are wanted too; each boot has a
    row then, whatever the window.
    """
    if span == EVERYTHING:
        parts = [trace.index]
    else:
        more = around or {}
        parts = [
            _within(trace, boot, _limits(boot, span, more.get(boot.number, 0)), one=around is not None)
            for boot in trace.facts.boots
        ]
    wanted = list(cpus)
    if wanted:
        parts = [part[np.isin(part["stream"], wanted)] for part in parts]
    return parts[0] if len(parts) == 1 else np.concatenate([np.zeros(0, BLOCK_ROW), *parts])


def _within(trace: StoredTrace, boot: Boot, limits: tuple[int, int], *, one: bool) -> NDArray[np.void]:
    """Rows of one boot that touch the limits; its first with ``one`` when there is none."""
    begin, end = limits
    rows = trace.rows_near(boot.number, begin, end)
    keep = (rows["last_time"] >= begin) & (loss_starts(trace.facts.losses, rows) < end)
    if one and not keep.any():
        keep[:1] = True
    chosen: NDArray[np.void] = rows if keep.all() else rows[keep]
    return chosen


def _limits(boot: Boot, span: Span, more: int) -> tuple[int, int]:
    """Begin and end of a span in a boot, in ticks, and so many more on either side."""
    begin, end = span.ticks(boot.first_time or 0, boot.clock_hz)
    return (
        -WHOLE if begin is None else max(min(begin - more, WHOLE), -WHOLE),
        WHOLE if end is None else min(end + more, WHOLE),
    )


def _rows_around(trace: StoredTrace, rows: NDArray[np.void], instants: Instants) -> NDArray[np.void]:
    keep = np.zeros(len(rows), bool)
    for number, (times, reach) in instants.items():
        which = np.flatnonzero(rows["boot"] == number)
        some = rows[which]
        begin = np.minimum(some["first_time"], loss_starts(trace.facts.losses, some)) - reach
        at = np.searchsorted(times, begin)
        keep[which] = (at < len(times)) & (np.append(times, np.iinfo(np.int64).max)[at] <= some["last_time"] + reach)
    return rows[keep]


# ---------------------------------------------------------------- selecting


@dataclass(slots=True)
class Selected:
    """Picks the selected records of chunks, and counts them.

    ``events`` were selected. ``unknown`` were not, because it is not known who ran when they were recorded.
    ``ran`` says who ran when the records of the last chunk were made; None when that is not asked for. ``watch`` is
    given every chunk before.
    """

    selection: Selection
    facts: Facts
    states: States | None
    instants: Instants | None = None
    events: int = 0
    unknown: int = 0
    ran: Running | None = None
    watch: Callable[[Chunk], None] | None = None
    _wanted: _Wanted | None = None
    _limits: tuple[int | None, int | None] = (None, None)

    def take(self, chunk: Chunk) -> Chunk:
        """The chunk with the selected records only; ``ran`` is of these then."""
        if self.watch is not None:
            self.watch(chunk)
        mask = self.mask(chunk)
        if mask.all():
            return chunk
        which = np.flatnonzero(mask)
        if self.ran is not None:
            self.ran = Running(self.ran.partition[which], self.ran.task[which])
        late = None if chunk.late is None else chunk.late[which]
        return replace(chunk, columns=chunk.columns.take(which), late=late)

    def mask(self, chunk: Chunk) -> Bools:
        """Which records of a chunk are selected, LOSS records of the selected time and CPUs included."""
        columns = chunk.columns
        wanted = self._enter(chunk.boot)
        self.ran = None if self.states is None else running(self.states, chunk)
        lost = columns.id == LOSS_ID
        mask = self._when(chunk)
        if self.selection.cpus:
            mask &= np.isin(columns.stream, self.selection.cpus)
        losses = mask & lost
        if wanted.events is not None:
            mask &= wanted.events[columns.id]
        if wanted.objects is not None:
            mask &= wanted.named(columns, "object", wanted.objects)
        mask = self._whose(columns, mask & ~lost, wanted, self.ran)
        self.events += int(mask.sum())
        chosen: Bools = mask | losses
        return chosen

    def _whose(self, columns: Columns, mask: Bools, wanted: _Wanted, ran: Running | None) -> Bools:
        """Of the records in ``mask``, those of the wanted partitions and tasks."""
        if ran is None:
            return mask
        unknown = np.zeros(len(columns), bool)
        kept = mask
        if wanted.partitions is not None:
            mine = wanted.partitions[ran.partition] | wanted.named(columns, "partition", wanted.partitions)
            mine |= wanted.named(columns, "task", wanted.tasks_of_partitions)
            unknown |= ~mine & (ran.partition == UNKNOWN)
            kept = kept & mine
        if wanted.tasks is not None:
            mine = wanted.tasks[ran.task] | wanted.named(columns, "task", wanted.tasks)
            unknown |= ~mine & (ran.task == UNKNOWN)
            kept = kept & mine
        self.unknown += int((unknown & mask).sum())
        return kept

    def _enter(self, boot: Boot) -> _Wanted:
        known = self._wanted
        if known is None or known.boot is not boot or known.revision != boot.names.revision:
            known = self._wanted = _Wanted.of(boot, self.selection)
        # A live trace learns the first time with its first chunk.
        self._limits = self.selection.span.ticks(boot.first_time or 0, boot.clock_hz)
        return known

    def _when(self, chunk: Chunk) -> Bools:
        """Records inside the window and near the instants; a loss where its interval touches them."""
        begin, end = self._limits
        first, last = _extents(chunk)
        mask = np.ones(len(last), bool)
        if begin is not None:
            mask &= last >= begin
        if end is not None:
            mask &= first < end
        if self.instants is not None:
            times, reach = self.instants.get(chunk.boot.number, (np.zeros(0, np.int64), 0))
            at = np.searchsorted(times, first - reach)
            mask &= np.append(times, np.iinfo(np.int64).max)[at] <= last + reach
        return mask

    def text(self) -> str:
        """How many of how many, in words."""
        total = self.facts.delivered
        words = f"{self.events} of {counted(total, 'event')} selected"
        if self.instants is not None and not any(len(times) for times, _ in self.instants.values()):
            kind = "" if self.selection.around == "any" else f" {self.selection.around}"
            words += f"; there is no fault{kind} in the selected time"
        if self.unknown:
            words += f"; {counted(self.unknown, 'more event')} may belong to it: who ran is not known there"
        return words


def _extents(chunk: Chunk) -> tuple[Ints, Ints]:
    """From when to when each record is: an instant, but for losses."""
    columns = chunk.columns
    first = columns.time
    lost = np.flatnonzero(columns.id == LOSS_ID)
    if len(lost):
        first = first.copy()
        start = chunk.losses["start"][columns.at[lost]]
        first[lost] = np.where(start >= 0, np.minimum(start, first[lost]), first[lost])
    return first, columns.time


def selected(
    trace: Trace,
    selection: Selection,
    find_faults: Callable[[StoredTrace, Selection], Instants] | None = None,
    *,
    who: bool = False,
) -> tuple[Iterator[Chunk], Selected]:
    """Chunks with what is selected, in order, and the books on it, which are whole at the end.

    Args:
        trace: of files or of a pipe.
        selection: the criteria.
        find_faults: how the instants of faults are found; needed for a selection around faults.
        who: say in ``ran`` who ran, whatever is selected.

    Raises:
        InputError: a name does not exist in the session; a selection around faults is asked of a pipe.

    """
    whose = who or bool(selection.partitions or selection.tasks)
    if selection.everything and not who:
        books = Selected(selection, trace.facts, None)
        return _watched(trace, books), books
    if not isinstance(trace, StoredTrace):
        if selection.around:
            raise InputError("events around faults can be picked from files only; save the pipe to a file first")
        books = Selected(selection, trace.facts, LiveStates(trace.facts) if whose else None)
        return _live(trace, books), books
    check_names(selection, trace.facts)
    # Who ran is told by the head of each block, but not where switches were switched off before it.
    whole = {boot.number: WHOLE for boot in trace.facts.boots if whose and trace.switches(boot.number)}
    rows = rows_within(trace, selection.span, selection.cpus, whole or None)
    instants = find_faults(trace, selection) if selection.around and find_faults is not None else None
    if instants is not None and not whole:
        rows = _rows_around(trace, rows, instants)
    books = Selected(selection, trace.facts, States(trace.facts, rows) if whose else None, instants)
    return map(books.take, trace.chunks(rows)), books


def _watched(trace: Trace, books: Selected) -> Iterator[Chunk]:
    """All chunks as they are."""
    for chunk in trace.chunks():
        if books.watch is not None:
            books.watch(chunk)
        yield chunk


def _live(trace: Trace, books: Selected) -> Iterator[Chunk]:
    """Names may come late, so whether they exist is known at the end only."""
    yield from map(books.take, trace.chunks())
    check_names(books.selection, trace.facts)
