# SPDX-License-Identifier: Apache-2.0
"""From the books of a boot to its figures."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Final

import numpy as np

from vxmon.analysis.figures import Figure, Range
from vxmon.analysis.spread import Spread, spread_of
from vxmon.analysis.time.result import (
    BootTime,
    CpuTime,
    FrameRows,
    PartitionTime,
    TaskTime,
    WindowTime,
)
from vxmon.analysis.time.windows import PlaceBook
from vxmon.trace.state import NOBODY, UNKNOWN
from vxmon.trace.state_windows import PARTS, WindowPlace, unknown_part
from vxmon.wire.events import EventId

if TYPE_CHECKING:
    from vxmon.analysis.time.analyze import BootBooks

__all__ = ["boot_figures"]

_FRAME: Final = EventId.MAJOR_FRAME
_TASK: Final = EventId.TASK_SWITCH
_PARTITION: Final = EventId.PARTITION_SWITCH
# Nothing without an idle process that the session names.
_OF_IDLE: Final = ("margin", "margin_net", "used")
_INTERRUPTS: Final = (EventId.INT_ENTR, EventId.INT_EXIT)


def boot_figures(books: BootBooks) -> BootTime:
    """All figures of a boot."""
    boot = books.boot
    windows, partitions = _windows(books)
    return BootTime(
        id=boot.id,
        number=boot.number,
        clock_hz=boot.clock_hz,
        cpus=_cpus(books),
        partitions=list(_partitions(books, partitions)),
        windows=windows,
        tasks=list(_tasks(books)),
        partition_names=boot.names.named("partition"),
        task_names=boot.names.named("task"),
        schedule_source=books.scene.schedule_source,
        notes=[*books.scene.notes, *_notes(books)],
        frames=_frames(books) if books.request.per_frame else None,
    )


def _cpus(books: BootBooks) -> list[CpuTime]:
    found = []
    for stream, sums in sorted(books.streams.items()):
        edges = books.windows[stream].windows.edges if stream in books.windows else 0
        found.append(
            CpuTime(
                stream, sums.begin, sums.end, sums.observed, sums.tasks, sums.idle, sums.nobody, sums.unknown, edges
            )
        )
    return found


# ---------------------------------------------------------------- windows


def _windows(books: BootBooks) -> tuple[list[WindowTime], dict[int, WindowTime]]:
    """Figures by stream and window, and by partition."""
    windows: list[WindowTime] = []
    merged: dict[int, tuple[PlaceBook, Range]] = {}
    for stream, some in sorted(books.windows.items()):
        for at, place in enumerate(some.places):
            book, overrun = some.books.get(at, PlaceBook()), some.overruns.get(at, Range())
            windows.append(_window(books, book, overrun, place, stream, place.partition))
            total, overruns = merged.setdefault(place.partition, (PlaceBook(), Range()))
            total.merge(book)
            overruns.merge(overrun)
    partitions = {p: _window(books, book, overrun, None, None, p) for p, (book, overrun) in merged.items()}
    return windows, partitions


def _window(
    books: BootBooks, book: PlaceBook, overrun: Range, place: WindowPlace | None, stream: int | None, partition: int
) -> WindowTime:
    idle_known = books.people.has_idle(partition)

    def spread(name: str, *events: EventId) -> Spread:
        if not books.scene.recorded(_FRAME, *events) or (name in _OF_IDLE and not idle_known):
            return Spread.none()
        return spread_of(
            book.values[name], high_is_bad=not name.startswith("margin"), histogram=books.request.histogram
        )

    margin = book.values["margin"]
    framed = books.scene.recorded(_FRAME)
    never = Figure(book.never_started, book.never_started, book.never_started + book.maybe_never, margin.n)
    return WindowTime(
        partition=partition,
        place=place,
        stream=stream,
        occurrences=margin.count() if framed else Figure.none(),
        budget=Figure.exact(place.duration) if place is not None else Figure.none(),
        margin=spread("margin", _TASK),
        margin_net=spread("margin_net", _TASK, *_INTERRUPTS),
        used=spread("used", _TASK),
        late=spread("late", _PARTITION),
        tasks=spread("tasks", _TASK),
        kernel=spread("kernel", _TASK, _PARTITION),
        other=spread("other", _TASK, _PARTITION),
        interrupts=spread("interrupts", *_INTERRUPTS),
        records=spread("records"),
        start_delay=spread("delay", EventId.WINDOW),
        overrun=spread_of(overrun, histogram=books.request.histogram)
        if books.scene.recorded(_FRAME, _PARTITION)
        else Spread.none(),
        never_started=never if books.scene.recorded(_FRAME, _PARTITION) else Figure.none(),
        not_normal=book.not_normal,
        parts_total=book.parts_total,
        budget_total=book.budget_total,
        unmatched=book.unmatched,
    )


# ---------------------------------------------------------------- partitions and tasks


def _unknown_of(books: BootBooks, partition: int | None) -> int:
    """Unknown time in which tasks of a partition may have run."""
    if partition is None:
        return sum(sums.unknown for sums in books.streams.values())
    return sum(w.windows.unknown_tasks.of(partition) for w in books.windows.values())


def _partitions(books: BootBooks, windows: dict[int, WindowTime]) -> Iterator[PartitionTime]:
    switched = np.flatnonzero(books.partition_switches).tolist()
    numbers = {*books.boot.names.partitions, *books.partition_ticks, *windows, *switched} - {UNKNOWN, NOBODY}
    owner, idle = books.people.partition, books.people.idle
    ran = books.tasks.clock.by_task()[:NOBODY]
    for number in sorted(numbers):
        maybe = _unknown_of(books, number)
        may_have_had = sum(w.windows.unknown_partitions.of(number) for w in books.windows.values())
        mine = owner[:NOBODY] == number
        total = books.partition_ticks.get(number, 0)
        switches = int(books.partition_switches[number])
        yield PartitionTime(
            index=number,
            total=_sum(books, total, may_have_had, switches, _PARTITION),
            tasks=_sum(books, int(ran[mine & ~idle[:NOBODY]].sum()), maybe, switches, _TASK),
            idle=_sum(books, int(ran[mine & idle[:NOBODY]].sum()), maybe, switches, _TASK),
            switches=_count(books, switches, _PARTITION),
            windows=windows.get(number),
        )


def _sum(books: BootBooks, known: int, maybe: int, n: int, event: EventId) -> Figure:
    return Figure(known, known, known + maybe, n) if books.scene.recorded(event) else Figure.none()


def _count(books: BootBooks, seen: int, *events: EventId) -> Figure:
    """A count of events; each lost record may have been one."""
    return Figure(seen, seen, seen + books.tasks.clock.lost, seen) if books.scene.recorded(*events) else Figure.none()


def _tasks(books: BootBooks) -> Iterator[TaskTime]:
    clock = books.tasks.clock
    ran = np.flatnonzero(books.tasks.dispatches).tolist()
    for task in sorted({*books.boot.names.tasks, *books.tasks.books, *clock.seen(), *ran} - {NOBODY}):
        yield _task(books, task)


def _task(books: BootBooks, task: int) -> TaskTime:
    book = books.tasks.book(task)
    owner = int(books.people.partition[task])
    partition = None if owner == UNKNOWN else owner
    idle = bool(books.people.idle[task])
    known = books.tasks.clock.ran(task)
    switches = int(books.tasks.dispatches[task])
    activated = books.scene.recorded(EventId.RELEASE, EventId.COMPLETE)

    def spread(values: Range, *events: EventId) -> Spread:
        recorded = activated and books.scene.recorded(*events)
        return spread_of(values, histogram=books.request.histogram) if recorded else Spread.none()

    doubt = book.doubtful + book.response.extra
    return TaskTime(
        index=task,
        partition=partition,
        idle=idle,
        total=_sum(books, known, _unknown_of(books, partition), switches, _TASK),
        dispatches=_count(books, switches, _TASK),
        preemptions=_count(books, int(books.tasks.preemptions[task]), _TASK),
        activations=_count(books, book.releases, EventId.RELEASE),
        completed=book.response.count() if activated else Figure.none(),
        execution=spread(book.execution, _TASK),
        response=spread(book.response),
        deadline_misses=Figure(book.misses, book.misses, book.misses + doubt, book.response.n)
        if activated
        else Figure.none(),
        kernel_misses=_count(books, book.kernel_misses, EventId.DEADLINE),
        hm_misses=_count(books, books.tasks.hm_misses.get(task, 0), EventId.HM_EVENT),
        cut=book.cut,
    )


# ---------------------------------------------------------------- notes


def _notes(books: BootBooks) -> Iterator[str]:
    if not books.boot.clock_hz:
        yield "the session does not tell the clock's rate: no times"
    needed = (_FRAME, EventId.WINDOW, _PARTITION, _TASK, EventId.RELEASE, EventId.COMPLETE)
    missing = [event.name for event in needed if not books.scene.recorded(event)]
    if missing:
        yield f"not recorded: {', '.join(missing)}; figures that need them are empty"
    if not books.scene.schedules:
        yield "the session holds no schedule and no module configuration was given: no window figures"
    scheduled = {window.partition for schedule in books.scene.schedules.values() for window in schedule.windows}
    for partition in sorted(p for p in scheduled if not books.people.has_idle(p)):
        name = books.boot.names.named("partition").get(partition, f"partition {partition}")
        yield f"{name}: no idle process is known, so its margin is not; name its background processes"
    yield from _frame_notes(books)


def _frame_notes(books: BootBooks) -> Iterator[str]:
    for stream, some in sorted(books.windows.items()):
        track = some.windows.track
        if track.irregular:
            yield f"CPU {stream}: {track.irregular} major frames do not follow each other as the schedule says"
        if track.unknown_schedules:
            numbers = ", ".join(map(str, sorted(track.unknown_schedules)))
            yield f"CPU {stream}: frames of schedules that are not known: {numbers}"
        if some.frames_left_out:
            yield f"CPU {stream}: {some.frames_left_out} occurrences are not listed by frame; choose a time window"


def _frames(books: BootBooks) -> FrameRows:
    columns: dict[str, list[np.ndarray[tuple[int], np.dtype[np.int64]]]] = {}
    for stream, some in sorted(books.windows.items()):
        for rows in some.frames:
            count = len(rows.place)
            place = np.array([(p.schedule, p.window, p.partition) for p in some.places], np.int64)[rows.place]
            unknown = unknown_part(rows.parts)
            margin = rows.parts[PARTS.index("margin")]
            row = {
                "stream": np.full(count, stream, np.int64), "frame": rows.frame, "schedule": place[:, 0],
                "window": place[:, 1], "partition": place[:, 2], "start": rows.start, "budget": rows.end - rows.start,
                "used": rows.end - rows.start - margin - unknown, "margin": margin, "unknown": unknown,
                "late": rows.parts[PARTS.index("late")], "tasks": rows.parts[PARTS.index("tasks")],
                "kernel": rows.parts[PARTS.index("kernel")], "other": rows.parts[PARTS.index("other")],
                "interrupts": rows.interrupts, "records": rows.records, "delay": rows.delay,
            }  # fmt: skip
            for name, column in row.items():
                columns.setdefault(name, []).append(column)
    return FrameRows({name: np.concatenate(parts) for name, parts in columns.items()})
