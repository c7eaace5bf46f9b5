# SPDX-License-Identifier: Apache-2.0
"""ARINC 653 P1 module files. Expected values: worked out by hand from the XML in this file."""

from __future__ import annotations

from pathlib import Path

import pytest

from vxmon.config.model import ModuleConfig
from vxmon.config.module import load_module
from vxmon.errors import InputError

WHOLE = """<?xml version="1.0"?>
<ARINC_653_Module ModuleName="flight" ModuleId="3">
 <System_HM_Table><System_State_Entry SystemState="1">
   <Error_ID_Level ErrorIdentifier="7" ErrorLevel="MODULE" ErrorCode="POWER_FAILURE"/>
 </System_State_Entry></System_HM_Table>
 <Module_HM_Table ModuleCallback="cb"><System_State_Entry SystemState="1">
   <Error_ID_Action ErrorIdentifier="1" Action="RESET"/></System_State_Entry></Module_HM_Table>
 <Partition PartitionIdentifier="1" PartitionName="NAV" EntryPoint="main" Criticality="LEVEL_A">
   <Sampling_Port Name="OUT" MaxMessageSize="0x20" Direction="SOURCE" RefreshRateSeconds=" 0.1"/>
 </Partition>
 <Partition PartitionIdentifier="2" EntryPoint="main">
   <Sampling_Port Name="IN" MaxMessageSize="32" Direction="DESTINATION" RefreshRateSeconds="0.1"/>
   <Queuing_Port Name="Q" MaxMessageSize="8" Direction="SOURCE" MaxNbMessages="30"/>
 </Partition>
 <Partition_Memory PartitionIdentifier="1">
   <Memory_Requirements Type="CODE" SizeBytes="20000" Access="READ_ONLY"/>
   <Memory_Requirements Type="DATA" SizeBytes="0x100" Access="READ_WRITE"/>
 </Partition_Memory>
 <Module_Schedule MajorFrameSeconds="0.200">
   <Partition_Schedule PartitionIdentifier="2" PeriodSeconds="0.200" PeriodDurationSeconds="0.020">
     <Window_Schedule WindowIdentifier="201" WindowStartSeconds=" 0.030" WindowDurationSeconds="0.020"/>
   </Partition_Schedule>
   <Partition_Schedule PartitionIdentifier="1" PeriodSeconds="0.100" PeriodDurationSeconds="0.020">
     <Window_Schedule WindowIdentifier="101" WindowStartSeconds="0.0" WindowDurationSeconds="0.020"
                      PartitionPeriodStart="true"/>
     <Window_Schedule WindowIdentifier="0x66" WindowStartSeconds="1E-1" WindowDurationSeconds="0.020"/>
   </Partition_Schedule>
 </Module_Schedule>
 <Partition_HM_Table PartitionIdentifier="1" PartitionCallback="pcb"><System_State_Entry SystemState="1">
   <Error_ID_Action ErrorIdentifier="3" Action="IDLE"/></System_State_Entry></Partition_HM_Table>
 <Connection_Table>
   <Channel ChannelIdentifier="1" ChannelName="nav">
     <Source><Standard_Partition PartitionIdentifier="1" PartitionName="NAV" PortName="OUT"/></Source>
     <Destination><Standard_Partition PartitionIdentifier="2" PortName="IN"/></Destination>
     <Destination><Pseudo_Partition Name="outside" PhysicalAddress="0x8000"/></Destination>
   </Channel>
 </Connection_Table>
</ARINC_653_Module>
"""


def load(folder: Path, text: str) -> ModuleConfig:
    path = folder / "module.xml"
    path.write_text(text, encoding="utf-8")
    return load_module(path)


def test_a_whole_module(tmp_path: Path) -> None:
    module = load(tmp_path, WHOLE)
    assert (module.name, module.id, module.dialect, module.problems) == ("flight", 3, "ARINC 653 P1", ())
    first, second = module.partitions
    assert (first.name, first.required_memory, first.period_ns, first.duration_ns) == ("NAV", 20256, 10**8, 20_000_000)
    assert (second.name, second.required_memory, second.period_ns) == ("2", None, 200_000_000)
    assert [(p.name, p.kind, p.message_size, p.refresh_ns, p.queue_length) for p in second.ports] == [
        ("IN", "sampling", 32, 100_000_000, None),
        ("Q", "queuing", 8, None, 30),
    ]


def test_windows_are_in_the_order_of_time(tmp_path: Path) -> None:
    (schedule,) = load(tmp_path, WHOLE).schedules
    assert [(w.index, w.partition, w.offset_ns, w.duration_ns, w.identifier) for w in schedule.windows] == [
        (0, "NAV", 0, 20_000_000, 101),
        (1, "2", 30_000_000, 20_000_000, 201),
        (2, "NAV", 100_000_000, 20_000_000, 0x66),
    ]
    assert (schedule.major_frame_ns, schedule.spare_ns, schedule.initial) == (200_000_000, 140_000_000, True)


def test_channels_and_health_monitor(tmp_path: Path) -> None:
    module = load(tmp_path, WHOLE)
    (channel,) = module.channels
    assert channel.origin is not None
    assert (channel.origin.partition, channel.origin.port) == ("NAV", "OUT")
    assert [(d.partition, d.port, d.pseudo) for d in channel.destinations] == [
        ("2", "IN", False),
        ("outside", "", True),
    ]
    assert [(t.scope, t.partition, t.callback) for t in module.hm_tables] == [
        ("system", None, None),
        ("module", None, "cb"),
        ("partition", "NAV", "pcb"),
    ]
    assert module.hm_tables[0].entries[0].error == "7 POWER_FAILURE"


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        (
            'WindowStartSeconds=" 0.030"',
            'WindowStartSeconds="0.0199"',
            r":21: .*'2' overlaps that of 'NAV' .*100,000 ns",
        ),
        (
            'WindowStartSeconds="1E-1"',
            'WindowStartSeconds="0.19"',
            r":26: .*10,000,000 ns past the end of the major frame",
        ),
        (
            '<Partition_Schedule PartitionIdentifier="2"',
            '<Partition_Schedule PartitionIdentifier="9"',
            "unknown partition 9",
        ),
        ('MajorFrameSeconds="0.200"', "", "needs the attribute MajorFrameSeconds"),
        ('Direction="SOURCE" RefreshRate', 'Direction="BOTH" RefreshRate', "neither SOURCE nor DESTINATION"),
        ('WindowDurationSeconds="0.020"/>', 'WindowDurationSeconds="x"/>', "'x' is not a time"),
    ],
)
def test_wrong_schedules(tmp_path: Path, old: str, new: str, words: str) -> None:
    assert old in WHOLE
    with pytest.raises(InputError, match=words):
        load(tmp_path, WHOLE.replace(old, new, 1))


def test_periods_that_cannot_be_met_are_noted(tmp_path: Path) -> None:
    text = WHOLE.replace(
        'PeriodSeconds="0.100" PeriodDurationSeconds="0.020"', 'PeriodSeconds="0.050" PeriodDurationSeconds="0.020"'
    )
    assert [p.message for p in load(tmp_path, text).problems] == [
        "the windows give 40,000,000 ns a major frame, the periods need 80,000,000 ns"
    ]
    text = WHOLE.replace('PeriodSeconds="0.100"', 'PeriodSeconds="0.030"')
    assert "does not divide the major frame" in load(tmp_path, text).problems[0].message


def test_several_schedules(tmp_path: Path) -> None:
    start = WHOLE.index(" <Module_Schedule")
    end = WHOLE.index(" <Partition_HM_Table")
    first = WHOLE[start:end].replace("<Module_Schedule", '<Module_Schedule ScheduleIdentifier="4"')
    second = WHOLE[start:end].replace(
        "<Module_Schedule", '<Module_Schedule InitialModuleSchedule="true" ScheduleName="b"'
    )
    module = load(tmp_path, WHOLE[:start] + first + second + WHOLE[end:])
    assert [(s.id, s.initial) for s in module.schedules] == [(4, False), (1, True)]
    assert module.initial_schedule.name == "b"


def test_no_schedule(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no Module_Schedule"):
        load(tmp_path, "<ARINC_653_Module/>")
