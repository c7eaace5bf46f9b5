# SPDX-License-Identifier: Apache-2.0
"""A module with every kind of object that carries messages, for sessions that are calculated by hand.

One tick is one microsecond. Partitions A, B, C; the ports are those of the XML below.
"""

from __future__ import annotations

from pathlib import Path
from typing import Final

from tests.support.recording import EVENTS, Recording
from vxmon.analysis.comm.analyze import analyze_comm
from vxmon.analysis.comm.result import BootComm, ObjectComm
from vxmon.analysis.scene import Scope
from vxmon.config.model import ModuleConfig
from vxmon.config.module import load_module
from vxmon.trace import StoredTrace, open_trace
from vxmon.trace.span import EVERYTHING, Span
from vxmon.wire.events import CommResult, ObjectType
from vxmon.wire.types import ObjectEntry, PartitionEntry, TaskEntry

A, B, C = 1, 2, 3
BUFFER, QUEUE, BOARD, SRC_Q, DST_Q, SRC_S, DST_S, DST_S2 = range(10, 18)
TYPES: Final = {
    BUFFER: ObjectType.BUFFER, QUEUE: ObjectType.MESSAGE_QUEUE, BOARD: ObjectType.BLACKBOARD,
    SRC_Q: ObjectType.QUEUING_PORT, DST_Q: ObjectType.QUEUING_PORT, SRC_S: ObjectType.SAMPLING_PORT,
    DST_S: ObjectType.SAMPLING_PORT, DST_S2: ObjectType.SAMPLING_PORT,
}  # fmt: skip
OWNERS: Final = {BUFFER: A, QUEUE: A, BOARD: A, SRC_Q: A, DST_Q: B, SRC_S: A, DST_S: B, DST_S2: C}
NAMES: Final = {
    BUFFER: "commands", QUEUE: "lines", BOARD: "orders", SRC_Q: "a_out", DST_Q: "b_in", SRC_S: "a_state",
    DST_S: "b_state", DST_S2: "c_state",
}  # fmt: skip
CAPACITY: Final = {BUFFER: 4, QUEUE: 3, BOARD: 1, SRC_Q: 2, DST_Q: 2, SRC_S: 1, DST_S: 1, DST_S2: 1}
OBJECTS: Final = tuple(
    ObjectEntry(i, TYPES[i], OWNERS[i], NAMES[i], message_size=16, capacity=CAPACITY[i]) for i in TYPES
)
MODULE_XML: Final = """<?xml version="1.0"?>
<Module xmlns="http://www.windriver.com/vxWorks653/ConfigRecord" Name="m" Id="0">
  <Applications>
    <Application Name="A"><ApplicationDescription><Ports>
      <QueuingPort Name="a_out" Direction="SOURCE" MessageSize="16" QueueLength="2" Protocol="NOT_APPLICABLE"/>
      <SamplingPort Name="a_state" Direction="SOURCE" MessageSize="16"/>
    </Ports></ApplicationDescription></Application>
    <Application Name="B"><ApplicationDescription><Ports>
      <QueuingPort Name="b_in" Direction="DESTINATION" MessageSize="16" QueueLength="2" Protocol="RECEIVER_DISCARD"/>
      <SamplingPort Name="b_state" Direction="DESTINATION" MessageSize="16" RefreshRate="0.00005"/>
    </Ports></ApplicationDescription></Application>
    <Application Name="C"><ApplicationDescription><Ports>
      <SamplingPort Name="c_state" Direction="DESTINATION" MessageSize="16" RefreshRate="0.0001"/>
    </Ports></ApplicationDescription></Application>
  </Applications>
  <Partitions>
    <Partition Name="A" Id="1"><PartitionDescription><Application NameRef="A"/>
      <Settings RequiredMemorySize="0x1000"/></PartitionDescription></Partition>
    <Partition Name="B" Id="2"><PartitionDescription><Application NameRef="B"/>
      <Settings RequiredMemorySize="0x1000"/></PartitionDescription></Partition>
    <Partition Name="C" Id="3"><PartitionDescription><Application NameRef="C"/>
      <Settings RequiredMemorySize="0x1000"/></PartitionDescription></Partition>
  </Partitions>
  <Schedules><Schedule Id="0"><PartitionWindow PartitionNameRef="A" Duration="0.001" ReleasePoint="true"/></Schedule>
  </Schedules>
  <Connections>
    <Channel Id="1"><Source PartitionNameRef="A" PortNameRef="a_out"/>
      <Destination PartitionNameRef="B" PortNameRef="b_in"/></Channel>
    <Channel Id="2"><Source PartitionNameRef="A" PortNameRef="a_state"/>
      <Destination PartitionNameRef="B" PortNameRef="b_state"/>
      <Destination PartitionNameRef="C" PortNameRef="c_state"/></Channel>
  </Connections>
</Module>
"""


class Messages:
    """A recording of messages, of which the session says that all events were on."""

    def __init__(self, *, block_records: int = 4, events: frozenset[int] | None = None) -> None:
        self.recording = Recording(
            tasks=tuple(TaskEntry(i, 1 + i % 3, f"task{i}") for i in range(8)),
            partitions=(PartitionEntry(0, "MODULE"), PartitionEntry(A, "A"), PartitionEntry(B, "B"),
                        PartitionEntry(C, "C")),
            objects=OBJECTS, block_records=block_records,
            events=frozenset(e.id for e in EVENTS.values()) if events is None else events,
        )  # fmt: skip
        self.recording.add(0, "START", 0, window=0, task=0, run=1)

    def call(self, time: int, event: str, number: int, index: int, **more: int) -> None:
        """Add a call; ``more``: result, depth, size, task."""
        values = {"type": TYPES[index], "partition": OWNERS[index], "size": 8, "task": 1} | more
        self.recording.add(time, event, index, number=number, **values)

    def send(self, time: int, index: int, number: int, depth: int = 0, result: CommResult = CommResult.OK,
             **more: int) -> None:  # fmt: skip
        self.call(time, "MSG_SEND", number, index, depth=depth, result=result, **more)

    def receive(self, time: int, index: int, number: int, depth: int = 0, result: CommResult = CommResult.OK,
                **more: int) -> None:  # fmt: skip
        self.call(time, "MSG_RECEIVE", number, index, depth=depth, result=result, **more)

    def stop(self, time: int = 1000) -> None:
        self.recording.add(time, "STOP", 0)

    def analyzed(
        self, folder: Path, drop: tuple[int, ...] = (), *, module: bool = True, span: Span = EVERYTHING
    ) -> BootComm:
        """The figures of it, without the blocks of those numbers."""
        scope = Scope(span=span, module=configuration(folder) if module else None)
        with open_trace([self.recording.write(folder / "s.pcapng", drop)]) as trace:
            assert isinstance(trace, StoredTrace)
            return analyze_comm(trace, scope).boots[0]


def configuration(folder: Path) -> ModuleConfig:
    path = folder / "module.xml"
    path.write_text(MODULE_XML, encoding="utf-8")
    return load_module(path)


def found(boot: BootComm, index: int) -> ObjectComm:
    return next(one for one in boot.objects if one.index == index)
