# SPDX-License-Identifier: Apache-2.0
"""The demo module's configuration as C. Expected numbers: worked out by hand from the XML given here."""

from __future__ import annotations

import re
import subprocess
from itertools import pairwise
from pathlib import Path

import pytest

from target_c.partitions.configure import config_source, images_source, main
from tests.support.tree import ROOT
from vxmon.config.module import load_module
from vxmon.errors import InputError

PARTITION = (
    '<Partition Name="{0}" Id="{1}"><PartitionDescription><Application NameRef="{0}"/>'
    '<Settings RequiredMemorySize="{2}"/></PartitionDescription></Partition>'
)
WINDOWS = (
    '<PartitionWindow PartitionNameRef="A" Duration="0.0012345" ReleasePoint="1"/>'
    '<PartitionWindow PartitionNameRef="SPARE" Duration="0.001"/>'
    '<PartitionWindow PartitionNameRef="B" Duration="0.000100001" ReleasePoint="true"/>'
    '<PartitionWindow PartitionNameRef="B" Duration="0.000100002"/>'
)


def write(folder: Path, windows: str = WINDOWS, partitions: str = "", name: str = "m") -> Path:
    partitions = partitions or PARTITION.format("A", 7, "0x100000") + PARTITION.format("B", 9, "0x200000")
    path = folder / "module.xml"
    path.write_text(
        f'<Module xmlns="http://www.windriver.com/vxWorks653/ConfigRecord" Name="{name}" Id="3"><CoreOS/>'
        '<Applications><Application Name="A"/><Application Name="B"/></Applications>'
        f"<SharedDataRegions/><SharedLibraryRegions/><Partitions>{partitions}</Partitions>"
        f'<Schedules><Schedule Id="0">{windows}</Schedule></Schedules><Connections/><HealthMonitor/></Module>',
        encoding="utf-8",
    )
    return path


def source(folder: Path, **changes: str) -> str:
    return config_source(load_module(write(folder, **changes)))


def refusal(folder: Path, **changes: str) -> str:
    with pytest.raises(InputError) as error:
        source(folder, **changes)
    return str(error.value)


def test_windows_have_exact_running_offsets(tmp_path: Path) -> None:
    windows = re.findall(
        r"^ {4}\{(\d+), (true|false), (\d+)u, (\d+)u\}, /\* (\w+) \*/$", source(tmp_path), re.MULTILINE
    )
    assert windows == [
        ("1", "true", "0", "1234500", "A"),
        ("0", "false", "1234500", "1000000", "SPARE"),
        ("2", "true", "2234500", "100001", "B"),
        ("2", "false", "2334501", "100002", "B"),
    ]
    assert "{0, 4, 2434503u, windows_0}" in source(tmp_path)


def test_partitions_keep_their_order_ids_and_memory(tmp_path: Path) -> None:
    text = source(tmp_path)
    assert re.findall(r'\{"(\w+)", (\d+), (\w+), (\w+), \w+, ', text) == [
        ("A", "7", "0x100000", "image_0"),
        ("B", "9", "0x200000", "image_1"),
    ]
    assert '"m", 3, 2, partitions, 1, schedules, 0, 0,' in text


def test_each_image_is_the_elf_file_of_the_application(tmp_path: Path) -> None:
    text = images_source(load_module(write(tmp_path)), Path("images"))
    assert re.findall(r'(image_\d):\n\s+\.incbin "([^"]+)"', text) == [
        ("image_0", "images/a.elf"),
        ("image_1", "images/b.elf"),
    ]


def test_the_source_is_c_of_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "config.c").write_text(source(tmp_path), encoding="utf-8")
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    include = f"-I{ROOT / 'target_c/kernel/include'}"
    done = subprocess.run(
        [*command, include, tmp_path / "config.c"], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"windows": WINDOWS.replace("0.000100002", "0.000099999")}, "shorter than 100,000 ns"),
        ({"windows": WINDOWS.replace("SPARE", "A")}, "less than 10 % of SPARE"),
        ({"windows": WINDOWS * 17}, "68 windows"),
        ({"partitions": PARTITION.format("A", 7, 4096) + PARTITION.format("B", 9, "0x100000")}, "RequiredMemorySize"),
        ({"partitions": PARTITION.format("A", 0, "0x100000") + PARTITION.format("B", 9, "0x100000")}, "Id 0"),
        ({"name": "a b"}, "module 'a b'"),
    ],
)
def test_what_the_kernel_cannot_do_is_refused_in_words(tmp_path: Path, changes: dict[str, str], words: str) -> None:
    assert words in refusal(tmp_path, **changes)


def test_main_writes_both_files(tmp_path: Path) -> None:
    assert main([str(write(tmp_path)), "-o", str(tmp_path / "out"), "--images", "i"]) == 0
    assert sorted(p.name for p in (tmp_path / "out").iterdir()) == ["config.c", "images.S"]


def test_main_says_what_is_wrong_and_exits_2(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = write(tmp_path, windows=WINDOWS.replace("0.001", "1e-3"))
    assert main([str(path), "-o", str(tmp_path / "out"), "--images", "i"]) == 2
    assert capsys.readouterr().err.startswith("configure: ")
    assert not (tmp_path / "out").exists()


def test_the_demo_module_is_what_its_users_rely_on() -> None:
    """20 ms frame, 10 % SPARE, two adjacent windows of one partition: asked for by the design of the demo."""
    module = load_module(ROOT / "target_c/partitions/module.xml")
    schedule = module.schedules[0]
    names = [window.partition for window in schedule.windows]
    assert schedule.major_frame_ns == 20_000_000
    assert schedule.spare_ns == 2_000_000
    assert any(a is not None and a == b for a, b in pairwise(names))
    assert len(module.partitions) >= 4
    assert all(names.count(partition.name) >= 2 for partition in module.partitions)


PORTED = (
    '<Module xmlns="http://www.windriver.com/vxWorks653/ConfigRecord" Name="m" Id="3"><CoreOS/><Applications>'
    '<Application Name="A"><ApplicationDescription><Ports>'
    '<QueuingPort Name="out" Direction="SOURCE" MessageSize="16" QueueLength="4" Protocol="RECEIVER_DISCARD"/>'
    '<SamplingPort Name="view" Direction="SOURCE" MessageSize="8"/></Ports></ApplicationDescription></Application>'
    '<Application Name="B"><ApplicationDescription><Ports>'
    '<QueuingPort Name="in" Direction="DESTINATION" MessageSize="16" QueueLength="4" Protocol="RECEIVER_DISCARD"/>'
    '<SamplingPort Name="seen" Direction="DESTINATION" MessageSize="8" RefreshRate="0.05"/>'
    '<SamplingPort Name="also" Direction="DESTINATION" MessageSize="8" RefreshRate="0.0125"/></Ports>'
    "</ApplicationDescription></Application></Applications><SharedDataRegions/><SharedLibraryRegions/><Partitions>"
    f"{PARTITION.format('A', 7, '0x100000')}{PARTITION.format('B', 9, '0x100000')}</Partitions>"
    f'<Schedules><Schedule Id="0">{WINDOWS}</Schedule></Schedules><Connections>'
    '<Channel Id="1"><Source PartitionNameRef="A" PortNameRef="out"/>'
    '<Destination PartitionNameRef="B" PortNameRef="in"/></Channel>'
    '<Channel Id="2"><Source PartitionNameRef="A" PortNameRef="view"/>'
    '<Destination PartitionNameRef="B" PortNameRef="seen"/>'
    '<Destination PartitionNameRef="B" PortNameRef="also"/></Channel></Connections>'
    '<HealthMonitor><SystemHMTable Name="s"><SystemState SystemState="HM_PROCESS_MODE">'
    '<ErrorIDLevel ErrorIdentifier="HME_NUMERIC_ERROR" ErrorLevel="HM_PROCESS_LVL"/></SystemState></SystemHMTable>'
    '<ModuleHMTable Name="m"><ErrorIDAction ErrorIdentifier="HME_POWER_FAIL" ErrorAction="hmDH_ModuleReset"/>'
    '<Settings maxLogEntries="70"/></ModuleHMTable><PartitionHMTable Name="p">'
    '<ErrorIDAction ErrorIdentifier="HME_STACK_OVERFLOW" ErrorAction="hmDH_PartitionIdle"/></PartitionHMTable>'
    "</HealthMonitor></Module>"
).replace('"0x100000"/>', '"0x100000" PartitionHMTable="p"/>')


def ported(folder: Path, old: str = "", new: str = "") -> str:
    assert old in PORTED
    path = folder / "ports.xml"
    path.write_text(PORTED.replace(old, new) if old else PORTED, encoding="utf-8")
    return config_source(load_module(path))


def test_ports_know_their_channels(tmp_path: Path) -> None:
    """Ports are numbered in the file's order: out 0, view 1, in 2, seen 3, also 4."""
    text = ported(tmp_path)
    assert re.findall(r"destinations_(\d)\[\] = \{([\d, ]+)\}", text) == [("0", "2"), ("1", "3, 4")]
    lines = re.findall(r'^ {4}\{"(out|view|in|seen|also)", (.*)\},$', text, re.MULTILINE)
    assert dict(lines) == {
        "out": "1, true, true, true, 16, 4, 0u, NO_PORT, 1, destinations_0",
        "view": "1, false, true, false, 8, 1, 0u, NO_PORT, 2, destinations_1",
        "in": "2, true, false, true, 16, 4, 0u, 0, 0, 0",
        "seen": "2, false, false, false, 8, 1, 50000000u, 1, 0, 0",
        "also": "2, false, false, false, 8, 1, 12500000u, 1, 0, 0",
    }


def test_health_tables_are_in_the_order_of_the_errors_numbers(tmp_path: Path) -> None:
    """ARINC 653 numbers NUMERIC_ERROR 2, STACK_OVERFLOW 4, POWER_FAIL 7; what no table names has the default."""
    rows = [row.split(", ") for row in re.findall(r"\{((?:(?:LEVEL|ACTION)_\w+, ){7}\w+)\}", ported(tmp_path))]
    a, b, module_mode, partition_mode, process_mode, module_actions = rows
    assert a == b == ["ACTION_DEFAULT"] * 4 + ["ACTION_IDLE_PARTITION"] + ["ACTION_DEFAULT"] * 3
    assert module_mode == ["LEVEL_MODULE"] * 8
    assert partition_mode == ["LEVEL_PARTITION"] * 8
    assert process_mode == ["LEVEL_PARTITION"] * 2 + ["LEVEL_PROCESS"] + ["LEVEL_PARTITION"] * 5
    assert module_actions == ["ACTION_DEFAULT"] * 7 + ["ACTION_RESET_MODULE"]
    assert re.search(r"^ {4}70,$", ported(tmp_path), re.MULTILINE)


def test_a_module_with_ports_is_c_of_the_kernel(tmp_path: Path) -> None:
    (tmp_path / "config.c").write_text(ported(tmp_path), encoding="utf-8")
    command = ["gcc", "-std=c11", "-Wall", "-Wextra", "-Werror", "-fsyntax-only"]
    include = f"-I{ROOT / 'target_c/kernel/include'}"
    done = subprocess.run(
        [*command, include, tmp_path / "config.c"], check=False, capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize(
    ("old", "new", "words"),
    [
        ('PortNameRef="in"', 'PortNameRef="gone"', "no DESTINATION port gone"),
        ('<Source PartitionNameRef="A" PortNameRef="out"/>', "", "lacks a source"),
        (
            'Name="out" Direction="SOURCE" MessageSize="16"',
            'Name="out" Direction="SOURCE" MessageSize="8"',
            "different",
        ),
        ('MessageSize="16" QueueLength="4"', 'MessageSize="257" QueueLength="4"', "MessageSize is not 1 to 256"),
        ('QueueLength="4"', 'QueueLength="65"', "QueueLength is not 1 to 64"),
        (' RefreshRate="0.0125"', "", "RefreshRate is missing"),
        ('PortNameRef="also"', 'PortNameRef="seen"', "in another channel already"),
        ('Name="also"', 'Name="al so"', "takes names of"),
        ("HME_NUMERIC_ERROR", "HME_LOST_TICKS", "no error HME_LOST_TICKS"),
        ("HM_PROCESS_LVL", "HM_MULTIPARTITION_LVL", "HM_MULTIPARTITION_LVL' is none of"),
        ("HM_PROCESS_MODE", "HM_OTHER_MODE", "HM_OTHER_MODE' is none of"),
        ('ErrorAction="hmDH_PartitionIdle"', 'ErrorAction="hmDH_Own"', "hmDH_Own' is none of"),
        ('ErrorAction="hmDH_ModuleReset"', 'ErrorAction="hmDH_PartitionIdle"', "hmDH_PartitionIdle' is none of"),
        ('maxLogEntries="70"', 'maxLogEntries="129"', "maxLogEntries=129 is not 1 to 128"),
        ('<PartitionHMTable Name="p">', '<PartitionHMTable Name="q">', "there is no PartitionHMTable p"),
    ],
)
def test_ports_and_tables_that_the_kernel_cannot_follow_are_refused(
    tmp_path: Path, old: str, new: str, words: str
) -> None:
    with pytest.raises(InputError) as error:
        ported(tmp_path, old, new)
    assert words in str(error.value)
