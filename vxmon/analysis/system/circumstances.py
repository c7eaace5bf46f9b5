# SPDX-License-Identifier: Apache-2.0
"""From the columns of faults to what is told of each: every fact, or why it is not there."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Final

from vxmon.analysis.figures import Figure
from vxmon.analysis.scene import AROUND_NS, Scene
from vxmon.analysis.system.faults import FaultRows
from vxmon.analysis.system.places import CUT, DOUBT, OFF, SURE, Places
from vxmon.analysis.system.result import ExceptionFact, Fault, Interrupt, Message, Sample
from vxmon.trace.state import NOBODY, UNKNOWN
from vxmon.wire.events import EventId
from vxmon.wire.types import NOT_KNOWN, EventTable

__all__ = ["exception_name", "faults", "hm_name"]

_LOST: Final = "unknown: records were lost before"
_NOT_RECORDED: Final = "not recorded"
_NEVER: Final = "none since the recording began"
_NOT_NEAR: Final = f"none since {AROUND_NS // 10**9} s before the window"
_NO_FRAME: Final = "unknown: no frame tells when the window began"
_NO_MARGIN: Final = {
    OFF: "none: the partition was not in NORMAL mode",
    DOUBT: "unknown: records were lost that may tell another mode",
    CUT: "unknown: the begin or end of what is observed cuts the window",
}

Row = Mapping[str, int]


def hm_name(table: EventTable, code: int) -> str:
    """The name of an HM code; a number where the session's table has none."""
    return _enum(table, "hm_code").get(code, "unknown" if code < 0 else f"code {code}")


def exception_name(vector: int) -> str:
    """An exception has a number only: what it means is the processor's."""
    return f"exception {vector}"


def faults(scene: Scene, parts: Iterator[FaultRows], places: Mapping[int, Places]) -> Iterator[Fault]:
    """All faults of a boot. ``parts`` must come in the order in which ``places`` were given them."""
    maker = _Maker(scene)
    for part in parts:
        columns = {name: column.tolist() for name, column in part.columns.items()}
        near = {name: column.tolist() for name, column in part.near.items()}
        for number in range(len(part)):
            row = {name: column[number] for name, column in columns.items()}
            yield maker.fault(row, {name: column[number] for name, column in near.items()}, places[row["stream"]])


class _Maker:
    """Makes the faults of one boot."""

    def __init__(self, scene: Scene) -> None:
        self._scene = scene
        table = scene.boot.table
        self._table = table
        self._levels, self._actions = _enum(table, "hm_level"), _enum(table, "hm_action")
        self._results = _enum(table, "comm_result")
        configs = [run.config for run in scene.boot.runs.values() if run.config is not None]
        self._hidden = frozenset().union(*(config.hidden_partitions for config in configs))

    def fault(self, row: Row, near: Mapping[str, list[int]], places: Places) -> Fault:
        """One fault."""
        absent: dict[str, str] = {}
        hm = row["hm"] == 1
        number = row["row"]
        margin = self._margin(row, places, number, absent)
        placed = places.start[number] >= 0
        if not placed:
            absent["window"] = self._why(row, EventId.WINDOW, EventId.MAJOR_FRAME, never=_NO_FRAME)
        place = places.windows.places[places.place[number]] if placed else None
        return Fault(
            time=row["time"],
            stream=row["stream"],
            name=hm_name(self._table, row["code"]) if hm else exception_name(row["vector"]),
            code=row["code"] if hm and row["code"] >= 0 else None,
            level=_word(self._levels, row["level"]) if hm else "",
            action=_word(self._actions, row["action"]) if hm else "",
            subcode=max(row["subcode"], 0) if hm else max(row["code"], 0),
            address=max(row["address"], 0),
            entry=_index(row["entry"]) if hm else None,
            of_partition=_owner(row["of_partition"]),
            of_task=_owner(row["of_task"]),
            partition=self._level(row, "partition", EventId.PARTITION_SWITCH, absent),
            task=self._level(row, "task", EventId.TASK_SWITCH, absent),
            depth=_index(row["depth"]),
            schedule=None if place is None else place.schedule,
            window=_index(row["window"]),
            offset=row["time"] - places.start[number] if placed else None,
            budget=None if place is None else place.duration,
            frame=places.frame[number] if placed else None,
            margin=margin,
            released=self._released(row, absent),
            activation=_index(row["release_activation"]) if row["release_time"] >= 0 else None,
            completed=_completed(row),
            memory=self._memory(row, absent),
            messages=self._messages(row, near, absent),
            interrupts=self._interrupts(row, near, absent),
            exception=_exception(row),
            lost_before=row["time"] - row["lost_at"] if row["losses"] else None,
            absent=absent,
        )

    def _why(self, row: Row, *events: EventId, never: str = "") -> str:
        """Why something of these events is not there."""
        if any(self._scene.recording(event) == "none" for event in events):
            return _NOT_RECORDED
        return _LOST if row["losses"] else never or (_NOT_NEAR if self._scene.cut else _NEVER)

    def _level(self, row: Row, name: str, event: EventId, absent: dict[str, str]) -> int | None:
        if row[name] != UNKNOWN:
            return row[name]
        absent[name] = self._why(row, event, never="unknown")
        return None

    def _margin(self, row: Row, places: Places, number: int, absent: dict[str, str]) -> Figure:
        status = places.status[number]
        place = places.place[number]
        low, high = places.margin[number]
        if place < 0:
            absent["margin"] = self._why(row, EventId.MAJOR_FRAME, EventId.WINDOW, never=_NO_FRAME)
        elif self._scene.recording(EventId.TASK_SWITCH) == "none":
            absent["margin"] = _NOT_RECORDED
        elif not self._scene.people.has_idle(places.windows.places[place].partition):
            absent["margin"] = "unknown: no idle process is known"
        elif status != SURE or low < 0:
            absent["margin"] = _NO_MARGIN.get(status, _NO_MARGIN[CUT])
            if status == DOUBT and self._scene.cut:
                absent["margin"] = "unknown: nothing near the window tells the partition's mode"
        else:
            return Figure.between(low, low, high)
        return Figure.none()

    def _released(self, row: Row, absent: dict[str, str]) -> int | None:
        released = row["release_release"]
        if row["release_time"] >= 0 and 0 <= released <= row["time"]:
            return released
        task = row["of_task"] if _owner(row["of_task"]) is not None else row["task"]
        absent["released"] = "no task" if task in (NOBODY, UNKNOWN) else self._why(row, EventId.RELEASE)
        return None

    def _partition_of(self, row: Row) -> int:
        return row["of_partition"] if _owner(row["of_partition"]) is not None else row["partition"]

    def _why_of_partition(self, row: Row, *events: EventId) -> str:
        partition = self._partition_of(row)
        if partition < 0:
            return "no partition"
        return _NOT_RECORDED if partition in self._hidden else self._why(row, *events)

    def _memory(self, row: Row, absent: dict[str, str]) -> Sample | None:
        if row["memory_time"] >= 0:
            free, allocated = row["memory_free"], row["memory_allocated"]
            return Sample(row["memory_time"], free, allocated, _index(row["memory_largest"]))
        sampled = self._scene.recording(EventId.MEM_SAMPLE)
        event = EventId.MEM_SWITCH if sampled == "none" else EventId.MEM_SAMPLE
        absent["memory"] = self._why_of_partition(row, event)
        return None

    def _messages(self, row: Row, near: Mapping[str, list[int]], absent: dict[str, str]) -> tuple[Message, ...]:
        names = ("time", "sent", "object", "number", "size", "result")
        rows = zip(*(near[f"message_{name}"] for name in names), strict=True)
        found = tuple(
            Message(time, bool(sent), what, number, size, _word(self._results, result))
            for time, sent, what, number, size, result in rows
            if time >= 0
        )
        if len(found) < len(near["message_time"]):
            sending = self._scene.recording(EventId.MSG_SEND)
            event = EventId.MSG_RECEIVE if sending == "none" else EventId.MSG_SEND
            absent["messages"] = self._why_of_partition(row, event)
        return found

    def _interrupts(self, row: Row, near: Mapping[str, list[int]], absent: dict[str, str]) -> tuple[Interrupt, ...]:
        rows = zip(*(near[f"interrupt_{name}"] for name in ("time", "number", "vector", "ip")), strict=True)
        found = tuple(Interrupt(*some) for some in rows if some[0] >= 0)
        if len(found) < len(near["interrupt_time"]):
            absent["interrupts"] = self._why(row, EventId.INT_ENTR)
        return found


def _exception(row: Row) -> ExceptionFact | None:
    if row["hm"] != 1:
        return ExceptionFact(row["time"], *(row[name] for name in ("vector", "code", "address", "ip")))
    if row["exception_time"] < 0:
        return None
    return ExceptionFact(*(row[f"exception_{name}"] for name in ("time", "vector", "code", "address", "ip")))


def _completed(row: Row) -> bool:
    """The activation that the release began was over."""
    return 0 <= row["release_time"] <= row["complete_time"] and row["complete_activation"] == row["release_activation"]


def _enum(table: EventTable, name: str) -> Mapping[int, str]:
    return next((enum.values for enum in table.enums if enum.name == name), {})


def _word(names: Mapping[int, str], number: int) -> str:
    return names.get(number, "?" if number < 0 else str(number))


def _index(number: int) -> int | None:
    return None if number < 0 else number


def _owner(number: int) -> int | None:
    return None if number in (UNKNOWN, NOT_KNOWN) else number
