# SPDX-License-Identifier: Apache-2.0
"""Valid blocks of senseless messages: communication and fields are answered, in bounds, whatever a target says."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from tests.support.messaging import MODULE_XML, TYPES, configuration
from tests.support.recording import EVENTS, Recording
from tests.support.tree import ROOT
from vxmon.analysis.comm.analyze import analyze_comm
from vxmon.analysis.comm.fields import analyze_fields
from vxmon.analysis.comm.named import named_figures
from vxmon.analysis.scene import Scope
from vxmon.icd.icd import Icd
from vxmon.icd.loading import load_icd
from vxmon.report.analyze_comm import comm_blocks, comm_json, comm_rows
from vxmon.report.blocks import plain_lines
from vxmon.report.comm_fields import field_rows
from vxmon.report.lines import LinePrinter
from vxmon.report.message_fields import MessageFields
from vxmon.trace import StoredTrace, open_trace
from vxmon.wire.types import ObjectEntry, PartitionEntry, Payload, RunConfig

SCHEMA = json.loads((ROOT / "vxmon/report/schemas/analyze-comm-1.json").read_text(encoding="utf-8"))
NAMES = (
    "MSG_SEND",
    "MSG_RECEIVE",
    "MSG_SEND",
    "MSG_RECEIVE",
    "CONTENT",
    "OBJECT_CREATE",
    "OBJECT_DELETE",
    "USER_POINT",
)
ICD = """icd = 1
[[message]]
name = "m"
size = 8
minimum_size = 2
field = [
  { name = "a", type = "float32", byte = 0 },
  { name = "b", type = "enum", byte = 4, length = 8, values = { 1 = "ON" }, valid = "c > 3" },
  { name = "c", type = "unsigned", byte = 5, length = 24, scale = 0.5, min = 1, max = 9 },
]
[[bind]]
object = "*"
message = "m"
"""


def number(rng: random.Random, bits: int, last: dict[str, int], name: str) -> int:
    """Mostly the next one, sometimes a small one, sometimes one at the end of what fits."""
    choice = rng.random()
    top = (1 << bits) - 1
    if name == "number" and choice < 0.6:
        last[name] = min(last.get(name, rng.choice((0, top - 5))) + rng.choice((0, 1, 1, 2)), top)
        return last[name]
    return rng.randrange(10) if choice < 0.8 else rng.choice((top, top >> 1, rng.randrange(top)))


def senseless(seed: int) -> Recording:
    rng = random.Random(seed)
    objects = [
        ObjectEntry(i, rng.choice((*TYPES.values(), 77)), rng.randrange(5), rng.choice(("a_out", "b_in", "x", "")),
                    message_size=rng.choice((0, 8, 1 << 31)), capacity=rng.choice((0, 1, 4, (1 << 32) - 1)))
        for i in range(rng.randrange(8))
    ]  # fmt: skip
    rec = Recording(
        partitions=[PartitionEntry(i, rng.choice("ABC")) for i in range(rng.randrange(5))], objects=objects,
        hz=rng.choice((1, 1_000_000, (1 << 32) - 1)), big_endian=rng.random() < 0.5, block_records=rng.randrange(1, 20),
        start_seen=rng.random() < 0.7, end_seen=rng.random() < 0.5,
        config=rng.choice((RunConfig(), RunConfig(payload=Payload.CONTENT, content_bytes=rng.choice((1, 64, 4096))))),
    )  # fmt: skip
    now, last = rng.choice((0, 1 << 32, 1 << 61)), dict[str, int]()
    for _ in range(rng.randrange(200)):
        now += rng.choice((0, 0, 1, 10, 500))
        event = EVENTS[rng.choice(NAMES)]
        bits = {"type": 16, "result": 16, "partition": 16, "task": 16, "offset": 16, "length": 16}
        values: dict[str, Any] = {
            f.name: number(rng, bits.get(f.name, 32), last, f.name) for f in event.fields if f.name != "content"
        }
        if event.name == "CONTENT":
            values["content"] = rng.randbytes(rng.randrange(57))
            values["offset"] = rng.choice((0, 0, 56, values["offset"]))
        if event.name.startswith("MSG") and rng.random() < 0.8:
            values["result"] = rng.choice((0, 0, 7, 9))
        rec.add(now, event.name, rng.choice((0, 1, 2, 3, 65535)), stream=rng.choice((0, 0, 1)), **values)
    return rec


def check(trace: StoredTrace, scope: Scope, icd: Icd) -> None:
    result = analyze_comm(trace, scope)
    fields = analyze_fields(trace, icd)
    document = comm_json(result, trace.facts, fields)
    jsonschema.Draft202012Validator(SCHEMA).validate(json.loads(json.dumps(document, allow_nan=False)))
    assert list(plain_lines(comm_blocks(result, trace.facts, fields)))
    assert list(comm_rows(result))
    names = [(figure.boot, figure.name) for figure in named_figures(result, trace.facts)]
    assert len(names) == len(set(names))
    for figure in (named.figure for named in named_figures(result, trace.facts)):
        assert figure.lo is None or figure.hi is None or figure.lo <= figure.hi
    everything = {boot.number: frozenset(range(4)) for boot in trace.facts.boots}
    assert len({len(row) for row in field_rows(trace, icd, everything)}) < 2
    printer = LinePrinter(fields=MessageFields(icd))
    for chunk in trace.chunks():
        assert printer.lines(chunk).count(b"\n") == len(chunk.columns)


@pytest.mark.parametrize("first", range(0, 60, 30))
def test_senseless_messages_are_answered(first: int, tmp_path: Path) -> None:
    (tmp_path / "icd.toml").write_text(ICD, encoding="utf-8")
    icd, scope = load_icd([str(tmp_path / "icd.toml")]), Scope(module=configuration(tmp_path))
    for seed in range(first, first + 30):
        rng = random.Random(seed)
        session = senseless(seed)
        blocks = len(session.blocks()) if session.records else 0
        drop = rng.sample(range(blocks), rng.randrange(blocks)) if blocks and seed % 2 else ()
        with open_trace([session.write(tmp_path / "s", drop)]) as trace:
            assert isinstance(trace, StoredTrace)
            check(trace, scope, icd)


def test_the_module_of_these_tests_has_ports_of_these_names() -> None:
    assert 'Name="a_out"' in MODULE_XML
    assert 'Name="b_in"' in MODULE_XML
