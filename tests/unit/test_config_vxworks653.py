# SPDX-License-Identifier: Apache-2.0
"""VxWorks 653 module files. Expected values: worked out by hand from the XML in this file."""

from __future__ import annotations

from itertools import pairwise
from pathlib import Path

import pytest

from vxmon.config.model import INFINITE_TIME, ModuleConfig
from vxmon.config.module import load_module
from vxmon.errors import InputError

HEAD = (
    '<?xml version="1.0" encoding="UTF-8"?>\n'
    '<Module xmlns="http://www.windriver.com/vxWorks653/ConfigRecord" xmlns:xi="http://www.w3.org/2001/XInclude"'
    ' xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance"'
    ' xsi:schemaLocation="http://www.windriver.com/vxWorks653/ConfigRecord ..\\cleanschemas\\Module.xsd"'
    ' Name="flight" Id="0x10" minimumWindowDurationInNs="100000">\n'
)
PARTITION = (
    '<Partition Name="{0}" Id="{1}"><PartitionDescription>'
    '<Application NameRef="{0}"/>{2}</PartitionDescription></Partition>\n'
)
WINDOW = '<PartitionWindow PartitionNameRef="{}" Duration="{}"/>\n'
LONG = "a_port_name_that_is_longer_than_thirty"

WHOLE = (
    HEAD
    + """<CoreOS/>
<Applications>
  <Application Name="NAV"><ApplicationDescription>
    <MemorySize MemorySizeText="0x4000" MemorySizeBss="4096"/>
    <Ports>
      <SamplingPort Name="NAV_OUT" Direction="SOURCE" MessageSize="64" RefreshRate="0.050" Attribute="LOCAL_PORT"/>
      <QueuingPort Name="CMD_IN" Direction="DESTINATION" MessageSize="32" QueueLength="8" Protocol="RECEIVER_DISCARD"/>
    </Ports>
  </ApplicationDescription></Application>
  <Application Name="FMS"><ApplicationDescription>
    <Ports>
      <SamplingPort Name="NAV_IN" Direction="DESTINATION" MessageSize="64" RefreshRate="INFINITE_TIME"/>
      <QueuingPort Name="CMD_OUT" Direction="SOURCE" MessageSize="32" QueueLength="8"/>
    </Ports>
  </ApplicationDescription></Application>
</Applications>
<SharedDataRegions/><SharedLibraryRegions/>
<Partitions>
  <Partition Name="NAV" Id="1"><PartitionDescription><Application NameRef="NAV"/>
    <Settings RequiredMemorySize="0x200000" PartitionHMTable="navHm" isrStackSize="0xffffffff"
              maxEventQStallDuration="INFINITE_TIME"/>
  </PartitionDescription></Partition>
  <Partition Name="FMS" Id="2"><PartitionDescription><Application NameRef="FMS"/>
    <Settings RequiredMemorySize="1048576"/>
  </PartitionDescription></Partition>
</Partitions>
<Schedules>
  <Schedule Id="0">
    <PartitionWindow PartitionNameRef="NAV" Duration="0.005" ReleasePoint="1"/>
    <PartitionWindow PartitionNameRef="SPARE" Duration="0.0011"/>
    <PartitionWindow PartitionNameRef="FMS" Duration="0.0023" ReleasePoint="true"/>
    <PartitionWindow PartitionNameRef="NAV" Duration="0.0001"/>
  </Schedule>
  <Schedule Id="7" Name="ground"><PartitionWindow PartitionNameRef="FMS" Duration="1"/></Schedule>
</Schedules>
<Connections>
  <Channel Id="1"><Source PartitionNameRef="NAV" PortNameRef="NAV_OUT"/>
                  <Destination PartitionNameRef="FMS" PortNameRef="NAV_IN"/></Channel>
</Connections>
<HealthMonitor>
  <SystemHMTable Name="sys"><SystemState SystemState="HM_PARTITION_MODE">
    <ErrorIDLevel ErrorIdentifier="HME_DEADLINE_MISSED" ErrorLevel="HM_PROCESS_LVL"/>
    <ErrorIDLevel ErrorIdentifier="HME_HARDWARE_FAULT" ErrorLevel="HM_MODULE_LVL"/>
  </SystemState></SystemHMTable>
  <ModuleHMTable Name="mod" ModuleCallback="">
    <ErrorIDAction ErrorIdentifier="HME_KERNEL" ErrorAction=""/></ModuleHMTable>
  <PartitionHMTable Name="navHm" PartitionCallback="navCb">
    <ErrorIDAction ErrorIdentifier="HME_DEFAULT" ErrorAction="hmDefaultHandler"/>
    <Settings maxQueueDepth="34" queueThreshold="32"/>
  </PartitionHMTable>
</HealthMonitor>
</Module>
"""
)


def load(folder: Path, text: str, name: str = "module.xml") -> ModuleConfig:
    path = folder / name
    path.write_text(text, encoding="utf-8")
    return load_module(path)


def small(windows: str = WINDOW.format("A", "0.01"), extra: str = "", partitions: str = "") -> str:
    parts = partitions or PARTITION.format("A", 1, "") + PARTITION.format("B", 2, "")
    return (
        HEAD
        + "<CoreOS/><Applications><Application Name='A'/><Application Name='B'/></Applications>\n"
        + "<SharedDataRegions/><SharedLibraryRegions/><HealthMonitor/>\n"
        + f"<Partitions>\n{parts}</Partitions>\n<Schedules><Schedule Id='0'>\n{windows}</Schedule></Schedules>\n"
        + (extra or "<Connections/>")
        + "</Module>\n"
    )


def test_a_whole_module(tmp_path: Path) -> None:
    module = load(tmp_path, WHOLE)
    assert (module.name, module.id, module.dialect, module.problems) == ("flight", 16, "VxWorks 653", ())
    nav, fms = module.partitions
    assert (nav.id, nav.name, nav.required_memory, nav.hm_table) == (1, "NAV", 0x200000, "navHm")
    assert nav.settings["maxEventQStallDuration"] == "INFINITE_TIME"
    assert (fms.required_memory, fms.hm_table, fms.applications) == (1 << 20, None, ("FMS",))
    assert module.applications[0].memory == {"text": 0x4000, "bss": 4096}


def test_windows_follow_each_other(tmp_path: Path) -> None:
    flight, ground = load(tmp_path, WHOLE).schedules
    assert [(w.partition, w.offset_ns, w.duration_ns, w.release_point) for w in flight.windows] == [
        ("NAV", 0, 5_000_000, True),
        (None, 5_000_000, 1_100_000, False),
        ("FMS", 6_100_000, 2_300_000, True),
        ("NAV", 8_400_000, 100_000, False),
    ]
    assert (flight.major_frame_ns, flight.spare_ns, flight.initial) == (8_500_000, 1_100_000, True)
    assert [w.index for w in flight.windows_of("NAV")] == [0, 3]
    assert (ground.id, ground.name, ground.initial, ground.major_frame_ns) == (7, "ground", False, 10**9)


def test_ports_channels_and_health_monitor(tmp_path: Path) -> None:
    module = load(tmp_path, WHOLE)
    out, command = module.partitions[0].ports
    assert (out.name, out.kind, out.direction, out.message_size, out.refresh_ns) == (
        "NAV_OUT",
        "sampling",
        "SOURCE",
        64,
        50_000_000,
    )
    assert (command.kind, command.queue_length, command.protocol) == ("queuing", 8, "RECEIVER_DISCARD")
    assert module.partitions[1].ports[0].refresh_ns == INFINITE_TIME
    (channel,) = module.channels
    assert channel.origin is not None
    assert (channel.origin.partition, channel.origin.port) == ("NAV", "NAV_OUT")
    assert [(d.partition, d.port) for d in channel.destinations] == [("FMS", "NAV_IN")]
    system, module_table, partition = module.hm_tables
    assert [(e.state, e.error, e.level) for e in system.entries] == [
        ("HM_PARTITION_MODE", "HME_DEADLINE_MISSED", "HM_PROCESS_LVL"),
        ("HM_PARTITION_MODE", "HME_HARDWARE_FAULT", "HM_MODULE_LVL"),
    ]
    assert (module_table.callback, module_table.entries[0].action) == (None, "")
    assert (partition.callback, partition.settings["maxQueueDepth"]) == ("navCb", "34")


def test_lines_are_those_of_the_file(tmp_path: Path) -> None:
    module = load(tmp_path, WHOLE)
    lines = WHOLE.splitlines()
    assert 'Duration="0.0011"' in lines[module.schedules[0].windows[1].source.line - 1]
    assert 'Partition Name="FMS"' in lines[module.partitions[1].source.line - 1]


@pytest.mark.parametrize(
    ("windows", "words"),
    [
        (WINDOW.format("C", "0.01"), r":10: .*unknown partition 'C'"),
        (WINDOW.format("A", "0"), r":10: .*without duration"),
        (WINDOW.format("A", "0.01") + WINDOW.format("A", "-0.01"), r":11: .*Duration='-0.01' is outside"),
        (WINDOW.format("A", "0.00000000015"), "finer than a nanosecond"),
        (WINDOW.format("A", "INFINITE_TIME"), "makes sense"),
        ('<PartitionWindow PartitionNameRef="A"/>', "needs the attribute Duration"),
        ('<PartitionWindow Duration="1"/>', "needs the attribute PartitionNameRef"),
        ('<PartitionWindow PartitionNameRef="A" Duration="1" ReleasePoint="yes"/>', "neither true"),
        ("", "has no PartitionWindow"),
    ],
)
def test_wrong_windows_name_file_and_line(tmp_path: Path, windows: str, words: str) -> None:
    with pytest.raises(InputError, match=words) as error:
        load(tmp_path, small(windows))
    assert str(error.value).startswith(str(tmp_path / "module.xml") + ":")
    assert "\n" not in str(error.value)


def test_schedule_rules(tmp_path: Path) -> None:
    text = small()
    with pytest.raises(InputError, match="no schedule 0"):
        load(tmp_path, text.replace("Schedule Id='0'", "Schedule Id='1'"))
    with pytest.raises(InputError, match="larger than 15"):
        load(tmp_path, text.replace("Schedule Id='0'", "Schedule Id='16'"))
    twice = text.replace("</Schedules>", "<Schedule Id='0'>" + WINDOW.format("A", "1") + "</Schedule></Schedules>")
    with pytest.raises(InputError, match="schedule 0 was defined before"):
        load(tmp_path, twice)


def test_two_partitions_of_one_name_or_number(tmp_path: Path) -> None:
    one = PARTITION.format("A", 1, "")
    with pytest.raises(InputError, match="'A' was defined before"):
        load(tmp_path, small(partitions=one + PARTITION.format("A", 2, "")))
    with pytest.raises(InputError, match="identifier 1 belongs to 'A'"):
        load(tmp_path, small(partitions=one + PARTITION.format("B", 1, "")))
    with pytest.raises(InputError, match="cannot be the name"):
        load(tmp_path, small(partitions=PARTITION.format("SPARE", 1, "")))


def test_names_that_become_equal_when_cut(tmp_path: Path) -> None:
    port = '<SamplingPort Name="{}" Direction="SOURCE" MessageSize="4"/>'
    ports = f"<Ports>{port.format(LONG + '_1')}{port.format(LONG + '_2')}</Ports>"
    text = small().replace(
        "<Application Name='A'/>",
        f"<Application Name='A'><ApplicationDescription>{ports}</ApplicationDescription></Application>",
    )
    module = load(tmp_path, text)
    messages = [p.message for p in module.problems]
    assert sum("40 characters, more than 30" in m for m in messages) == 2
    assert any("are one port when cut to 30" in m for m in messages)
    assert [p.name for p in module.partitions[0].ports] == [LONG + "_1", LONG + "_2"]


def test_channels_that_reach_nothing_are_noted(tmp_path: Path) -> None:
    channel = (
        "<Connections><Channel Id='1'><Source PartitionNameRef='A' PortNameRef='X'/></Channel>"
        "<Channel Id='1'/></Connections>"
    )
    messages = [p.message for p in load(tmp_path, small(extra=channel)).problems]
    assert "partition 'A' has no port 'X'" in messages
    assert "channel 1 lacks a source or a destination" in messages
    assert any("channel 1 was defined before" in m for m in messages)


def test_a_port_used_against_its_direction(tmp_path: Path) -> None:
    text = WHOLE.replace('PortNameRef="NAV_OUT"', 'PortNameRef="CMD_IN"')
    messages = [p.message for p in load(tmp_path, text).problems]
    assert messages == ["port 'CMD_IN' is a DESTINATION and is used as a SOURCE"]


def test_other_oddities_are_noted(tmp_path: Path) -> None:
    text = WHOLE.replace('Duration="0.0001"', 'Duration="0.00009"').replace("<SharedDataRegions/>", "")
    text = text.replace('PartitionHMTable="navHm"', 'PartitionHMTable="none"')
    messages = [p.message for p in load(tmp_path, text).problems]
    assert messages == [
        "Module should have exactly one SharedDataRegions element",
        "a window of 90,000 ns is shorter than the minimum 100,000 ns",
        "there is no PartitionHMTable 'none'",
    ]


def test_the_module_inside_a_config_record(tmp_path: Path) -> None:
    body = WHOLE.split("\n", 1)[1]
    assert load(tmp_path, f"<ConfigRecord>{body}</ConfigRecord>").partitions[0].name == "NAV"


def test_a_foreign_root(tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"module.xml:1: the root is 'html', not Module"):
        load(tmp_path, "<html/>")


def test_the_demo_module() -> None:
    """What the demo promises: a major frame of 20 ms, 10 % of it SPARE, two adjacent windows of one partition."""
    module = load_module(Path(__file__).parents[2] / "target_c" / "partitions" / "module.xml")
    assert module.problems == ()
    schedule = module.initial_schedule
    assert (schedule.major_frame_ns, schedule.spare_ns) == (20_000_000, 2_000_000)
    assert any(a.partition == b.partition for a, b in pairwise(schedule.windows))
    assert all(p.required_memory for p in module.partitions)
