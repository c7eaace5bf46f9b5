# SPDX-License-Identifier: Apache-2.0
"""Reading the event table: what is right, and one worded error for each thing that is wrong."""

from __future__ import annotations

from pathlib import Path

import pytest

from proto.gen.layout import lay_out
from proto.gen.load import load, parse
from proto.gen.model import GenError

REAL = Path(__file__).parents[2] / "proto" / "events.toml"

HEAD = """
format = 2
[classes]
TASK = { id = 2, doc = "tasks" }
[enums]
reason = { 0 = "blocked", 1 = "preempted" }
"""


def event(changes: str = "", fields: str = "[]", **given: str) -> str:
    values = {
        "id": "64",
        "name": '"SWITCH"',
        "class": '"TASK"',
        "doc": '"It happens."',
        "arg": '{ name = "task", kind = "task" }',
        "fields": fields,
        "origin": '"both"',
        "since": "1",
        "releases": '["2.2"]',
        **{key.rstrip("_"): value for key, value in given.items()},
    }
    lines = [f"{key} = {value}" for key, value in values.items() if value]
    return "[[event]]\n" + "\n".join([*lines, changes]) + "\n"


def fails(text: str) -> str:
    with pytest.raises(GenError) as caught:
        parse(HEAD + text)
    message = str(caught.value)
    assert "\n" not in message
    return message


def test_a_right_event() -> None:
    table = parse(HEAD + event(fields='[{ name = "why", type = "u32", kind = "enum:reason" }]'))
    (only,) = table.events
    assert (only.id, only.name, only.klass, only.arg.kind) == (64, "SWITCH", "TASK", "task")
    assert only.fields[0].kind == "enum:reason"
    assert only.partition_origin
    assert table.releases == ("2.2",)


def test_the_real_table() -> None:
    table = load(REAL)
    by_name = {entry.name: entry for entry in table.events}
    # Read off events.toml: one slot, three slots with two u64, and a text.
    assert lay_out(by_name["TASK_SWITCH"]).slots == 1
    assert lay_out(by_name["RELEASE"]).slots == 3
    assert lay_out(by_name["MARK"]).variable_bytes == 64
    assert lay_out(by_name["CONTENT"]).variable_bytes == 56


@pytest.mark.parametrize(
    ("text", "words"),
    [
        (event() + event(name='"OTHER"'), "event OTHER: id 64 is that of SWITCH; ids are never reused"),
        (event() + event(id="65"), "event SWITCH: the name is used twice"),
        (event(id="0"), "event SWITCH: id 0 is reserved"),
        (event(id="1024"), "event SWITCH: id is 1024, not a number of 1 to 1023"),
        (event(id="true"), "event SWITCH: id is True, not a number"),
        (event(name='"switch"'), "event switch: the name 'switch' does not fit"),
        (event(name=f'"{"X" * 32}"'), "with at most 31 characters"),
        (event(class_='"NONE"'), "event SWITCH: unknown class NONE"),
        (event(origin='"host"'), "event SWITCH: origin is host"),
        (event(since="3"), "event SWITCH: since is 3, not a number of 1 to 2"),
        (event(releases="[]"), "event SWITCH: releases must name at least one"),
        (event(releases='["2.2", "2.2"]'), "releases must name at least one release, each once"),
        (event(releases='["a"]'), "event SWITCH: release 'a' is not a number like"),
        (event(doc=""), "event SWITCH: doc is missing"),
        (event(doc='"two\\nlines"'), "event SWITCH: doc is 'two\\nlines', not a line of text"),
        (event("colour = 1"), "event SWITCH: unknown key colour"),
        (event("removed = 1"), "event SWITCH: removed in format 1, but there only since 1"),
        (event(arg='{ name = "task", kind = "ticks" }'), "cannot hold ticks"),
        (event(arg='{ name = "task", kind = "thing" }'), "event SWITCH: arg: unknown kind thing"),
        (event(arg='{ name = "int" }'), "int is a word of C or Python"),
        (event(arg='{ name = "lambda" }'), "lambda is a word of C or Python"),
        (event(fields="[1]"), "event SWITCH: a field is not a table"),
        (event(fields='[{ name = "x", type = "u8" }]'), "event SWITCH: field x: unknown type u8"),
        (event(fields='[{ name = "x", type = "u32", kind = "enum:no" }]'), "field x: unknown enum no"),
        (event(fields='[{ name = "x", type = "u32", kind = "ticks" }]'), "field x: ticks need u64, it is u32"),
        (event(fields='[{ name = "x", type = "i32", kind = "task" }]'), "kind task needs an unsigned number"),
        (event(fields='[{ name = "task", type = "u32" }]'), "event SWITCH: two fields are called task"),
        (event(fields='[{ name = "x", type = "bytes" }]'), "length goes with bytes"),
        (event(fields='[{ name = "x", type = "u32", length = "x" }]'), "length goes with bytes"),
        (event(fields='[{ name = "x", type = "bytes", length = "n" }]'), "length names n, no u16 or u32 field"),
        ("[[event]]\nid = 1\n", "is missing"),
        ("[classes.A]\nid = 2\ndoc = ''\n" + event(), "class A: id 2 is used twice"),
        ("[enums.a]\nb = 'c'\n" + event(), "enum a: value 'b' is not a number of 0 to 65535"),
        ("[enums.a]\n0 = 'x'\n1 = 'X'\n" + event(), "enum a: two values have one name"),
        ("= 1", "not TOML"),
    ],
)
def test_each_mistake_is_told_in_words(text: str, words: str) -> None:
    assert words in fails(text)


def test_events_must_be_a_list() -> None:
    with pytest.raises(GenError, match="the table: event is not a list"):
        parse("event = 3\n" + HEAD)


def fields(*types: str) -> str:
    return "[" + ", ".join(f'{{ name = "f{i}", type = "{kind}" }}' for i, kind in enumerate(types)) + "]"


@pytest.mark.parametrize(
    ("types", "words"),
    [
        (["u16"], "field f0: u16 fields come in pairs, it is alone"),
        (["u16", "u32"], "field f0: u16 fields come in pairs, f1 is u32"),
        (["u32", "u64"], "field f1: a u64 must start on a slot boundary"),
        (["u16", "u16", "x64"], "field f2: a x64 must start on a slot boundary"),
        (["text", "u32"], "field f0: a text field must be the last"),
        (["u64"] * 9, "field f8: more than 8 data slots"),
        (["u32"] * 17, "field f16: more than 8 data slots"),
        ([*["u64"] * 8, "text"], "field f8: no room is left for it"),
    ],
)
def test_packing_rules(types: list[str], words: str) -> None:
    assert fails(event(fields=fields(*types))) == f"event SWITCH: {words}"


@pytest.mark.parametrize(
    ("types", "words", "slots"),
    [
        ([], [], 0),
        (["u32"], [0], 1),
        (["u16", "u16", "u32", "u64"], [0, 0, 1, 2], 2),
        (["u64"] * 8, [0, 2, 4, 6, 8, 10, 12, 14], 8),
        (["u32"] * 16, list(range(16)), 8),
        (["u32", "text"], [0, 1], 1),
    ],
)
def test_places(types: list[str], words: list[int], slots: int) -> None:
    layout = lay_out(parse(HEAD + event(fields=fields(*types))).events[0])
    assert [place.word for place in layout.placed] == words
    assert layout.slots == slots


def test_a_removed_event_keeps_its_id() -> None:
    table = parse(HEAD + event("removed = 2"))
    assert table.live == ()
    assert "id 64 is that of SWITCH" in fails(event("removed = 2") + event(name='"NEW"'))


def test_missing_file() -> None:
    with pytest.raises(GenError, match=r"/nowhere/events\.toml"):
        load(Path("/nowhere/events.toml"))
