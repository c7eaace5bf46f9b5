# SPDX-License-Identifier: Apache-2.0
"""Synthetic load with known content: major frames of a partitioned target, as columns of any length.

The mix is that of the demo target: per 20 ms frame a MAJOR_FRAME, windows and partition switches, and in each window
task switches, releases and completions, a kernel call, a user point and now and then a message.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.wire.events import TABLES, EventId
from vxmon.wire.types import (
    EventTable,
    ObjectEntry,
    ObjectTable,
    PartitionEntry,
    Schedule,
    TargetInfo,
    TaskEntry,
    Window,
)

__all__ = [
    "CLOCK_HZ",
    "FRAME_TICKS",
    "RELEASE",
    "TABLE",
    "FrameLoad",
    "Records",
    "Template",
    "object_table",
    "pattern",
    "target_info",
]

CLOCK_HZ: Final = 400_000_000
FRAME_TICKS: Final = CLOCK_HZ // 50
RELEASE: Final = "2.4"
TABLE: Final[EventTable] = TABLES[RELEASE]

_PARTITIONS: Final = ("NAV", "FMS", "DISPLAY", "IO")
_TASKS: Final = ("nav_filter", "nav_io", "fms_plan", "fms_perf", "dsp_draw", "dsp_menu", "io_poll", "io_send")
_WINDOWS: Final = 8


@dataclass(frozen=True, slots=True)
class Records:
    """Records in order of time. ``words`` are two a slot, header slots included; ``at`` is the slot each begins at."""

    time: NDArray[np.int64]
    id: NDArray[np.int64]
    slots: NDArray[np.int64]
    at: NDArray[np.int64]
    words: NDArray[np.uint32]


# Event, argument, words of data; "f" is replaced by the frame number, "t" by the time of the frame (two words).
Template = tuple[EventId, int, tuple[int | str, ...]]


def _window(number: int) -> list[Template]:
    partition = number % len(_PARTITIONS) + 1
    first, second = 2 * (partition - 1), 2 * (partition - 1) + 1
    work: list[Template] = [
        (EventId.WINDOW, number, ()),
        (EventId.PARTITION_SWITCH, partition, ()),
        (EventId.RELEASE, first, ("t", "t", "f", 0)),
        (EventId.TASK_SWITCH, first, (3 << 16 | 0xFFFF, 0)),
        (EventId.KER_CALL, 17, (partition << 16 | first, 0)),
        (EventId.KER_EXIT, 17, (partition << 16 | first, 0)),
        (EventId.USER_POINT, number, ()),
        (EventId.COMPLETE, first, ("f", 0)),
        (EventId.TASK_SWITCH, second, (first, 0)),
        (EventId.USER_POINT, 100 + number, ()),
        (EventId.TASK_SWITCH, 0xFFFF, (second, 0)),
    ]
    if number % 4 == 1:
        work.insert(7, (EventId.MSG_SEND, number, (2 << 16, "f", 64, 1, partition << 16 | first, 0)))
    if number % 4 == 2:
        work.insert(7, (EventId.MSG_RECEIVE, number - 1, (2 << 16, "f", 64, 0, partition << 16 | first, 0)))
    return work


def _memory(number: int) -> list[Template]:
    """What is told of memory around a window; a byte more is in use each frame."""
    partition, task = number % len(_PARTITIONS) + 1, 2 * (number % len(_PARTITIONS))
    return [
        (EventId.STACK_SWITCH, task, (200, 0)),
        (EventId.STACK_SWITCH, task + 1, (96, 0)),
        (EventId.MEM_SWITCH, partition, (1 << 20, "f")),
        (EventId.MEM_SAMPLE, partition, (1 << 20, "f", 5, 1 << 19, "f", 0)),
        (EventId.STACK_SAMPLE, task, (256, 4096)),
        (EventId.OP_COUNT, partition, (4 << 16 | 6, "f", "t")),
    ]


def pattern(load: str) -> list[Template]:
    """Events of one frame.

    Load "mixed" has all lengths, "short" only records of one slot, "memory" heaps, stacks and counts besides.
    """
    frame: list[Template] = [(EventId.MAJOR_FRAME, 0, ("t", "f", 0))]
    for number in range(_WINDOWS):
        frame += _window(number) + (_memory(number) if load == "memory" else [])
    return [event for event in frame if not event[2]] * 3 if load == "short" else frame


class FrameLoad:
    """Makes any number of frames; big-endian time words. Frame i begins at ``start + i * FRAME_TICKS`` ticks."""

    def __init__(self, start: int = 12_345, seed: int = 1, load: str = "mixed") -> None:
        self.start = start
        self.events = pattern(load)
        widths = [sum(2 if w == "t" else 1 for w in words) for _, _, words in self.events]
        self.id = np.array([event for event, _, _ in self.events], np.int64)
        self.slots = np.array([(width + 1) // 2 for width in widths], np.int64)
        self.at = np.cumsum(self.slots + 1) - self.slots - 1
        rng = np.random.default_rng(seed)
        # Strictly inside the frame, so that frames do not overlap.
        self.offsets = np.sort(rng.integers(0, FRAME_TICKS - 1000, len(self.events)))
        self.offsets[0] = 0
        self._lay(self.events)

    def _lay(self, events: list[Template]) -> None:
        self._words = np.zeros(2 * int((self.slots + 1).sum()), np.uint32)
        frames, times = [], []
        for (event, arg, words), slots, at in zip(events, self.slots.tolist(), self.at.tolist(), strict=True):
            self._words[2 * at] = int(event) << 22 | slots << 16 | arg
            place = 2 * at + 2
            for word in words:
                if word == "t":
                    times.append(place)
                    place += 2
                    continue
                if word == "f":
                    frames.append(place)
                else:
                    self._words[place] = int(word)
                place += 1
        self._frame_words, self._time_words = np.array(frames, np.int64), np.array(times, np.int64)

    @property
    def events_a_frame(self) -> int:
        """Records of one frame."""
        return len(self.id)

    def counts(self, events: int) -> dict[str, int]:
        """How often each event occurs among the first ``events`` records."""
        whole, rest = divmod(events, self.events_a_frame)
        count = Counter(dict(Counter(EventId(int(i)).name for i in self.id)))
        total = Counter({name: number * whole for name, number in count.items()})
        total.update(EventId(int(i)).name for i in self.id[:rest])
        return {name: number for name, number in total.items() if number}

    def frames(self, first: int, count: int) -> Records:
        """Frames ``first`` ... ``first + count - 1``."""
        numbers = np.arange(first, first + count)
        bases = self.start + numbers * FRAME_TICKS
        times = (bases[:, None] + self.offsets).reshape(-1)
        words = np.tile(self._words, (count, 1))
        words[:, self._frame_words] = numbers[:, None].astype(np.uint32)
        words[:, self._time_words] = (bases >> 32)[:, None].astype(np.uint32)
        words[:, self._time_words + 1] = (bases & 0xFFFFFFFF)[:, None].astype(np.uint32)
        slots_a_frame = len(self._words) // 2
        at = (np.arange(count)[:, None] * slots_a_frame + self.at).reshape(-1)
        flat = words.reshape(-1)
        flat[2 * at + 1] = (times & 0xFFFFFFFF).astype(np.uint32)
        return Records(times, np.tile(self.id, count), np.tile(self.slots, count), at, flat)


def target_info(streams: int = 1, boot: int = 0xC0FFEE) -> TargetInfo:
    """A target that offers everything."""
    return TargetInfo(
        os_name="synthetic", os_release=RELEASE, board="none", agent_version="0", clock_hz=CLOCK_HZ, big_endian=True,
        streams=streams, table_fingerprint=TABLE.fingerprint, offered=frozenset(e.id for e in TABLE.events), boot=boot,
    )  # fmt: skip


def object_table() -> ObjectTable:
    """Names of what the frames refer to."""
    length = FRAME_TICKS // _WINDOWS
    windows = tuple(
        Window(i % len(_PARTITIONS) + 1, release_point=i < len(_PARTITIONS), offset=i * length, duration=length)
        for i in range(_WINDOWS)
    )
    return ObjectTable(
        version=1,
        schedules=(Schedule(0, FRAME_TICKS, windows),),
        partitions=tuple(PartitionEntry(i, name) for i, name in enumerate(("MODULE", *_PARTITIONS))),
        tasks=tuple(TaskEntry(i, i // 2 + 1, name, period=FRAME_TICKS) for i, name in enumerate(_TASKS)),
        objects=tuple(ObjectEntry(i, 2, 1, f"buffer_{i}", message_size=64, capacity=4) for i in range(_WINDOWS)),
    )
