# SPDX-License-Identifier: Apache-2.0
"""The schedule to judge by: what the target told, else the module configuration; and where the two differ."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from itertools import zip_longest

from vxmon.config.model import ModuleConfig, ScheduleConfig
from vxmon.trace.facts import Boot
from vxmon.wire.types import Schedule, Window

__all__ = ["choose_schedules"]

_SPARE = "SPARE"


def choose_schedules(boot: Boot, module: ModuleConfig | None) -> tuple[Mapping[int, Schedule], str, list[str]]:
    """The schedules in ticks, where they came from, and notes on differences."""
    told = boot.names.schedules
    if module is None or not boot.clock_hz:
        return told, "session" if told else "none", []
    indices = _indices(boot, module)
    own = {s.id: _converted(s, indices, boot.clock_hz) for s in module.schedules}
    if not told:
        return own, "module configuration", []
    names = {index: name for name, index in indices.items()}
    return told, "session", list(_differences(told, own, names))


def _indices(boot: Boot, module: ModuleConfig) -> dict[str, int]:
    """The session's number of each partition by name; in order of the file where the session has no names."""
    told = {name: index for index, name in boot.names.named("partition").items() if index}
    return told or {partition.name: number for number, partition in enumerate(module.partitions, 1)}


def _converted(schedule: ScheduleConfig, indices: Mapping[str, int], hz: int) -> Schedule:
    """In ticks, offsets rounded down, as the kernel does; time without a window is SPARE."""
    windows = []
    at = 0
    for window in schedule.windows:
        begin, end = window.offset_ns * hz // 10**9, window.end_ns * hz // 10**9
        if begin > at:
            windows.append(Window(0, False, at, begin - at))
        partition = 0 if window.partition is None else indices.get(window.partition, 0)
        windows.append(Window(partition, window.release_point, begin, end - begin))
        at = end
    major = schedule.major_frame_ns * hz // 10**9
    if at < major:
        windows.append(Window(0, False, at, major - at))
    return Schedule(schedule.id, major, tuple(windows))


def _differences(told: Mapping[int, Schedule], own: Mapping[int, Schedule], names: Mapping[int, str]) -> Iterator[str]:
    for number in sorted({*told, *own}):
        target, file = told.get(number), own.get(number)
        if target is None or file is None:
            where = "the module configuration" if target is None else "the session"
            yield f"schedule {number} is only in {where}"
        else:
            yield from _schedule_differences(number, target, file, names)


def _schedule_differences(number: int, target: Schedule, file: Schedule, names: Mapping[int, str]) -> Iterator[str]:
    if target.major_frame != file.major_frame:
        yield (
            f"schedule {number}: the target's major frame is {target.major_frame} ticks, "
            f"that of the module configuration {file.major_frame}"
        )
    for index, (a, b) in enumerate(zip_longest(target.windows, file.windows)):
        if a is None or b is None:
            count = f"{len(target.windows)} windows on the target, {len(file.windows)} in the module configuration"
            yield f"schedule {number}: {count}"
            return
        if (a.partition, a.offset, a.duration) != (b.partition, b.offset, b.duration):
            yield (
                f"schedule {number} window {index}: {_shown(a, names)} on the target, "
                f"{_shown(b, names)} in the module configuration"
            )


def _shown(window: Window, names: Mapping[int, str]) -> str:
    who = names.get(window.partition, f"partition {window.partition}") if window.partition else _SPARE
    return f"{who} at {window.offset} for {window.duration} ticks"
