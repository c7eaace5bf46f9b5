# SPDX-License-Identifier: Apache-2.0
"""Collection plans: what is read, what is refused and where, and what a plan means for a target.

Limits are those of SPEC section 9; ids are those of proto/EVENTS.md.
"""

from __future__ import annotations

import tomllib
from pathlib import Path

import pytest

from vxmon.config.plan import KEYS, read_plan
from vxmon.config.plan_resolve import PlanResolver, resolve_plan
from vxmon.config.plan_text import PLAN_TEMPLATE, plan_document
from vxmon.errors import InputError
from vxmon.link.repeatable import boot_config
from vxmon.link.selection import TargetView
from vxmon.wire.events import TABLES
from vxmon.wire.types import Payload, Policy, RunConfig, TargetInfo

CONTROL = set(range(1, 9))
CONTENT = 194


def view(release: str = "2.4") -> TargetView:
    table = TABLES[release]
    info = TargetInfo(os_release=release, clock_hz=1000, offered=frozenset(event.id for event in table.events))
    return TargetView(info, table, {0: "MODULE_OS", 1: "NAV", 2: "IO"}, {0: "Q", 1: "P", 2: "Q"})


def resolved(path: Path, text: str, release: str = "2.4") -> RunConfig:
    path.write_text("format = 1\n" + text)
    return resolve_plan(read_plan(str(path)), view(release))


@pytest.fixture(name="path")
def plan_path(tmp_path: Path) -> Path:
    return tmp_path / "plan.toml"


def test_the_template_is_a_plan_and_names_every_key(path: Path) -> None:
    path.write_text(PLAN_TEMPLATE)
    config = resolve_plan(read_plan(str(path)), view())
    assert config == RunConfig(events=view().info.offered - {CONTENT})
    for section, keys in KEYS.items():
        body = PLAN_TEMPLATE.split(f"[{section}]\n")[1].split("\n[")[0]
        assert [key for key in keys if f"{key} = " not in body] == []


def test_the_examples_in_the_template_are_allowed(path: Path) -> None:
    lines = [
        line.removeprefix("# ") if line.startswith("# ") and " = " in line else line
        for line in PLAN_TEMPLATE.splitlines()
    ]
    text = "\n".join(lines).replace('type = "ring"', 'type = "linear"').replace('"metadata"\n', '"content"\n')
    path.write_text(text.replace("or: without_", "without_"))
    document = plan_document(read_plan(str(path)))
    assert document["sampling"] == {"memory_ms": 1000, "stack_ms": 1000, "operations_ms": 1000}
    assert tomllib.loads(path.read_text())["stop"]["seconds"] == document["stop"]["seconds"] == 60.0


def test_a_whole_plan(path: Path) -> None:
    config = resolved(
        path,
        """
[events]
classes = ["sched", "MEM"]
events = ["KER_CALL"]
without = ["STACK_SAMPLE", "WINDOW"]
[filters]
partitions = ["NAV"]
without_objects = ["Q"]
[sampling]
memory_ms = 10
[messages]
payload = "content"
content_bytes = 4096
[buffers]
type = "linear"
unit_slots = 128
units = 2
grow_units = 3
max_units = 9
high_water_percent = 50
flush_ms = 7
[upload]
mode = "at_stop"
datagram_bytes = 512
[recording]
fast = true
[stop]
seconds = 1.5
records = 99
when_full = true
""",
    )
    assert config == RunConfig(
        events=frozenset(CONTROL | {32, 34, 35, 36, 128, 160, 161, 162, 164, CONTENT}),
        datagram_bytes=512, unit_slots=128, units=2, policy=Policy.LINEAR, high_water=50, flush_ms=7, no_upload=True,
        max_ticks=1500, hidden_partitions=frozenset({0, 2}), hidden_objects=frozenset({0, 2}),
        payload=Payload.CONTENT, content_bytes=4096, fast=True, memory_ms=10, grow_units=3, max_units=9,
        max_records=99, stop_when_full=True,
    )  # fmt: skip


WRONG = [
    ("[sampling]\nmemory_ms = 0\n", 3, "sampling.memory_ms is 0; allowed is an integer of 10 to 3600000"),
    ("[sampling]\n\nstack_ms = true\n", 4, "sampling.stack_ms is true; allowed is an integer of 10 to 3600000"),
    ("[buffers]\nunits = 70000\n", 3, "buffers.units is 70000; allowed is an integer of 2 to 65535"),
    ('[buffers]\ntype = "heap"\n', 3, "buffers.type is 'heap'; allowed is one of \"ring\", \"linear\""),
    ("[messages]\ncontent_bytes = 4097\n", 3, "messages.content_bytes is 4097; allowed is an integer of 1 to 4096"),
    ("[messages]\ncontent_bytes = 9\n", 3, 'messages.content_bytes: needs messages.payload = "content"'),
    ("[stop]\nseconds = inf\n", 3, "stop.seconds is inf; allowed is a number of 0.001 to 1000000000"),
    ("[stop]\nseconds = nan\n", 3, "stop.seconds is nan; allowed is"),
    ("[stop]\nwhen_full = true\n", 3, 'stop.when_full: needs buffers.type = "linear"'),
    ("[events]\nclass = []\n", 3, "events.class: unknown key; there are: classes, events, without"),
    ("[event]\n", 2, "unknown section event; there are: events, filters, sampling"),
    ("events = 1\n", 2, "unknown section events"),
    ('[events]\nclasses = "TASK"\n', 3, "events.classes is 'TASK'; allowed is a list of names"),
    ('[filters]\npartitions = ["A"]\nwithout_partitions = []\n', 4, "give partitions or without_partitions, not both"),
    ("[buffers]\nunits = 9\nmax_units = 8\n", 4, "buffers.max_units: is 8, below buffers.units 9"),
    ('[events]\nevents = ["TASK_SWICH"]\n', 3,
     "events.events: release 2.4 offers no event 'TASK_SWICH'; there are: BUFFER_GROW"),
    ('[events]\nwithout = ["FOO"]\n', 3, "events.without: release 2.4 offers no class or event 'FOO'"),
    ('[filters]\npartitions = ["NOPE"]\n', 3,
     "filters.partitions: this target has no partition 'NOPE'; there are: IO, MODULE_OS, NAV"),
    ('[filters]\nwithout_objects = ["R"]\n', 3,
     "filters.without_objects: this target has no object 'R'; there are: P, Q"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "line", "words"), WRONG)
def test_an_error_names_file_line_key_and_what_is_allowed(path: Path, text: str, line: int, words: str) -> None:
    with pytest.raises(InputError) as caught:
        resolved(path, text)
    message = str(caught.value)
    assert message.startswith(f"{path}:{line}: ")
    assert words in message
    assert "\n" not in message


@pytest.mark.parametrize("text", ["", "format = 2\n", 'format = "1"\n', "format = true\n"])
def test_another_format_is_refused(path: Path, text: str) -> None:
    path.write_text(text)
    with pytest.raises(InputError, match=r"format .*; allowed is 1"):
        read_plan(str(path))


def test_an_event_of_the_other_release_is_refused_by_name(path: Path) -> None:
    with pytest.raises(InputError, match=r":3: events\.events: release 2\.2 offers no event 'STACK_SAMPLE'"):
        resolved(path, '[events]\nevents = ["STACK_SAMPLE"]\n', "2.2")


def test_a_named_event_is_recorded_though_its_class_is_left_out(path: Path) -> None:
    config = resolved(path, '[events]\nclasses = ["TASK"]\nevents = ["KER_CALL"]\nwithout = ["KER", "TASK"]\n')
    assert config.events == CONTROL | {128}


def test_only_filters_need_the_names_of_a_target(path: Path) -> None:
    path.write_text("format = 1\n")
    assert not PlanResolver(read_plan(str(path))).needs_names
    path.write_text('format = 1\n[filters]\npartitions = ["NAV"]\n')
    assert PlanResolver(read_plan(str(path))).needs_names


def test_a_plan_as_boot_parameter() -> None:
    config = RunConfig(payload=Payload.CONTENT, content_bytes=9, memory_ms=20, fast=True, max_units=7, max_records=5)
    offered = frozenset(event.id for event in TABLES["2.4"].events)
    assert boot_config(config, offered, 2.0) == (
        "ms:2000,oneway:1,payload:2,content:9,fast:1,memory:20,maxunits:7,records:5"
    )
    with pytest.raises(InputError, match="filters need a target that runs"):
        boot_config(RunConfig(hidden_partitions=frozenset({1})), offered, 1.0)
