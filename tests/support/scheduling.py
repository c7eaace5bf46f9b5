# SPDX-License-Identifier: Apache-2.0
"""Random but consistent sessions: a small partitioned scheduler whose events obey the rules of a real one."""

from __future__ import annotations

import random
from dataclasses import dataclass, field

from tests.support.recording import EVENTS, Recording
from vxmon.wire.types import NOT_KNOWN, PartitionEntry, Schedule, TaskEntry, Window

__all__ = ["random_session"]

BLOCKED, PREEMPTED, ENDED, WINDOW_END = range(4)
COLD_START, NORMAL = 1, 3
INTERRUPT_RATE = 0.1
RESTART_RATE = 0.08
DEADLINE_MOVES = 0.1


@dataclass(slots=True)
class _Task:
    index: int
    partition: int
    periodic: bool
    activation: int = 0
    left: int = 0
    deadline: int = 0


@dataclass(slots=True)
class _Cpu:
    """One CPU with its own windows, partitions and tasks."""

    rec: Recording
    rng: random.Random
    stream: int
    schedule: Schedule
    tasks: list[_Task]
    idle: dict[int, int]
    restarts: bool = True
    modes: dict[int, int] = field(default_factory=dict)
    now: int = 0
    partition: int = 0
    running: int = 0

    def emit(self, name: str, arg: int, **values: int) -> None:
        """Record at the present instant; sometimes a tick passes."""
        self.rec.add(self.now, name, arg, stream=self.stream, **values)
        self.now += self.rng.choice((0, 0, 1, 2))

    def frame(self, start: int, number: int) -> None:
        self.now = max(self.now, start)
        if self.rng.random() < 0.5:
            self.now += self.rng.randrange(4)
        self.emit("MAJOR_FRAME", self.schedule.id, start=start, frame=number)
        for index, window in enumerate(self.schedule.windows):
            self.window(index, window, start + window.offset)

    def window(self, index: int, window: Window, start: int) -> None:
        end = start + window.duration
        self.now = max(self.now, start)
        self.emit("WINDOW", index)
        if window.partition != self.partition:
            self.now += self.rng.randrange(3)
            self.partition = window.partition
            self.emit("PARTITION_SWITCH", window.partition)
        self.change_mode(window.partition)
        if self.modes.get(window.partition, NORMAL) == NORMAL:
            self.release(window.partition, start, end)
        while self.now < end:
            self.dispatch(window.partition, end)

    def change_mode(self, partition: int) -> None:
        """A partition stays out of NORMAL mode for at least one whole window."""
        mode = self.modes.get(partition, NORMAL)
        if self.restarts and partition and self.rng.random() < (RESTART_RATE if mode == NORMAL else 0.5):
            other = COLD_START if mode == NORMAL else NORMAL
            self.modes[partition] = other
            if other == COLD_START:
                for task in self.tasks:
                    if task.partition == partition and task.left:
                        task.left = 0
                        self.emit("TASK_STATE", task.index, state=0, previous=1)
            self.emit("PARTITION_MODE", partition, mode=other, previous=mode)

    def release(self, partition: int, start: int, end: int) -> None:
        for task in self.tasks:
            if task.partition != partition or task.left or self.rng.random() < 0.2:
                continue
            task.activation += 1
            task.left = self.rng.randrange(1, max((end - start) // 2, 2))
            nominal = start if task.periodic else self.now
            task.deadline = nominal + self.rng.randrange(10, 2 * (end - start)) if self.rng.random() < 0.7 else 0
            self.emit("RELEASE", task.index, release=nominal, deadline=task.deadline, activation=task.activation)
            if task.deadline and self.rng.random() < DEADLINE_MOVES:
                task.deadline += self.rng.randrange(50)
                self.emit("DEADLINE", task.index, deadline=task.deadline, kind=0, activation=task.activation)

    def dispatch(self, partition: int, end: int) -> None:
        ready = [t for t in self.tasks if t.partition == partition and t.left]
        chosen = self.rng.choice(ready) if ready else None
        index = chosen.index if chosen is not None else self.idle[partition]
        if index != self.running:
            # The last one of this partition is left for another that is ready: preempted, or it was done.
            last = next((t for t in self.tasks if t.index == self.running), None)
            inside = last is not None and last.partition == partition
            reason = WINDOW_END if not inside else PREEMPTED if last is not None and last.left else BLOCKED
            self.emit("TASK_SWITCH", index, reason=reason, previous=self.running)
            self.running = index
        room = max(end - self.now, 1)
        slice_ = self.rng.randrange(1, room + 1) if chosen is not None else room
        slice_ = min(slice_, chosen.left) if chosen is not None else slice_
        self.run_for(slice_)
        if chosen is not None:
            chosen.left -= slice_
            if not chosen.left:
                self.emit("COMPLETE", chosen.index, activation=chosen.activation)

    def run_for(self, ticks: int) -> None:
        end = self.now + ticks
        if ticks > 8 and self.rng.random() < INTERRUPT_RATE:
            self.now += self.rng.randrange(ticks - 6)
            for name in ("INT_ENTR", "INT_EXIT"):
                self.emit(name, 1)
        if self.rng.random() < 0.3:
            self.emit("USER_POINT", 7)
        self.now = max(self.now, end)


def random_session(seed: int) -> Recording:
    """A complete session of a random module: 1 or 2 CPUs, 1-3 partitions, some frames. Ticks are microseconds."""
    rng = random.Random(seed)
    partitions = rng.randrange(1, 4)
    tasks: list[_Task] = []
    idle = {0: 0}
    entries = [TaskEntry(0, 0, "mos_idle", idle=True)]
    for partition in range(1, partitions + 1):
        for _ in range(rng.randrange(1, 4)):
            periodic = rng.random() < 0.7
            tasks.append(_Task(len(entries), partition, periodic))
            entries.append(TaskEntry(len(entries), partition, f"t{len(entries)}", period=1 if periodic else 0))
        idle[partition] = len(entries)
        entries.append(TaskEntry(len(entries), partition, f"idle{partition}", idle=True))
    rec = Recording(
        tasks=entries, schedules=[_schedule(rng, partitions)],
        partitions=[PartitionEntry(p, f"P{p}") for p in range(partitions + 1)],
        block_records=rng.randrange(1, 12), events=frozenset(event.id for event in EVENTS.values()),
        big_endian=rng.random() < 0.5,
    )  # fmt: skip
    began = rng.randrange(1 << rng.choice((10, 34)))
    cpus = 2 if rng.random() < 0.2 else 1
    for stream in range(cpus):
        own = [_Task(t.index, t.partition, t.periodic) for t in tasks if stream == 0]
        cpu = _Cpu(rec, rng, stream, rec.schedules[0], own, idle, restarts=cpus == 1, now=began)
        cpu.running = 0 if rng.random() < 0.5 else NOT_KNOWN
        cpu.emit("START", 0, window=0, task=cpu.running, run=1)
        cpu.now += rng.randrange(300)
        first = cpu.now + rng.randrange(200)
        for number in range(rng.randrange(1, 9)):
            cpu.frame(first + number * rec.schedules[0].major_frame, number)
        cpu.emit("STOP", 0)
    return rec


def _schedule(rng: random.Random, partitions: int) -> Schedule:
    windows, at = [], 0
    for _ in range(rng.randrange(2, 6)):
        length = rng.randrange(40, 300)
        windows.append(Window(rng.randrange(partitions + 1), release_point=True, offset=at, duration=length))
        at += length
    return Schedule(0, at, tuple(windows))
