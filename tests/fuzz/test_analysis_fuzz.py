# SPDX-License-Identifier: Apache-2.0
"""Valid blocks of senseless records: analyses answer, in bounds, whatever a target says of itself."""

from __future__ import annotations

import json
import random
from fractions import Fraction
from pathlib import Path

import jsonschema
import pytest

from tests.support.recording import EVENTS, Recording
from tests.support.tree import ROOT
from vxmon.analysis.memory.analyze import MOST_HEAPS, MemoryRequest, analyze_memory
from vxmon.analysis.memory.named import named_figures as memory_figures
from vxmon.analysis.quality import analyze_quality
from vxmon.analysis.system.analyze import analyze_system
from vxmon.analysis.system.named import named_figures
from vxmon.analysis.time.analyze import TimeRequest, analyze_time
from vxmon.config.accounting import AccountingRule, AccountingRules
from vxmon.report.analyze_memory import memory_json, memory_rows
from vxmon.report.analyze_memory_text import memory_blocks
from vxmon.report.analyze_quality import quality_blocks, quality_json, quality_rows
from vxmon.report.analyze_system import SystemFilter, system_json, system_rows
from vxmon.report.analyze_system_text import system_blocks
from vxmon.report.analyze_time import Filter, time_blocks, time_json, time_rows
from vxmon.report.blocks import plain_lines
from vxmon.trace import StoredTrace, open_trace
from vxmon.wire.types import FieldType, PartitionEntry, Schedule, TaskEntry, Window

SCHEMAS = ROOT / "vxmon/report/schemas"
NAMES = (
    "START", "STOP", "FILTER", "MAJOR_FRAME", "WINDOW", "PARTITION_SWITCH", "SCHEDULE", "PARTITION_MODE",
    "TASK_SWITCH", "RELEASE", "COMPLETE", "DEADLINE", "TASK_CREATE", "TASK_DELETE", "TASK_STATE", "INT_ENTR",
    "INT_EXIT", "MEM_SAMPLE", "HM_EVENT", "USER_POINT", "EDR_EVENT", "EXCEPTION", "MSG_SEND", "MEM_SWITCH",
    "STACK_SWITCH", "STACK_SAMPLE", "OP_COUNT",
)  # fmt: skip
RULES = AccountingRules("r", (AccountingRule("allocate", "*", "kernel", 3, Fraction(-7, 3), 48),))
BITS = {FieldType.U16: 16, FieldType.I32: 31, FieldType.U64: 64, FieldType.X64: 64}


def number(rng: random.Random, bits: int, now: int) -> int:
    """Mostly small, sometimes near the present, sometimes at the end of what fits."""
    choice = rng.random()
    if choice < 0.5:
        return rng.randrange(4)
    if choice < 0.7 and bits > 40:
        return max(now + rng.randrange(-1000, 1000), 0)
    return (1 << bits) - 1 if choice < 0.9 else rng.randrange(1 << bits)


def senseless(seed: int) -> Recording:
    rng = random.Random(seed)
    schedules = [
        Schedule(
            rng.randrange(3), rng.choice((0, 1, 7, 1000, (1 << 62) - 1)),
            tuple(
                Window(rng.randrange(4), rng.random() < 0.5, rng.randrange(900), rng.choice((0, 1, 300, 1 << 60)))
                for _ in range(rng.randrange(4))
            ),
        )
        for _ in range(rng.randrange(3))
    ]  # fmt: skip
    tasks = [
        TaskEntry(i, rng.choice((0, 1, 2, 65535)), f"t{i}", period=rng.choice((0, 1000, 1 << 61)), idle=i % 3 == 0)
        for i in range(rng.randrange(6))
    ]
    rec = Recording(
        tasks, schedules, [PartitionEntry(i, f"p{i}") for i in range(rng.randrange(4))],
        hz=rng.choice((1, 1_000_000, (1 << 32) - 1)), big_endian=rng.random() < 0.5, block_records=rng.randrange(1, 20),
        start_seen=rng.random() < 0.5, end_seen=rng.random() < 0.5,
    )  # fmt: skip
    now = rng.choice((0, 1 << 32, (1 << 61)))
    for _ in range(rng.randrange(300)):
        now += rng.choice((0, 0, 1, 10, 500))
        event = EVENTS[rng.choice(NAMES)]
        values = {f.name: number(rng, BITS.get(f.type, 32), now) for f in event.fields if f.name != "run"}
        arg = rng.choice((0, 1, 2, 3, 65535))
        rec.add(now, event.name, arg, stream=rng.choice((0, 0, 1)), **values)
    return rec


def validate(question: str, document: dict[str, object]) -> None:
    schema = json.loads((SCHEMAS / f"analyze-{question}-1.json").read_text(encoding="utf-8"))
    text = json.dumps(document, allow_nan=False)
    jsonschema.Draft202012Validator(schema).validate(json.loads(text))


@pytest.mark.parametrize("first", range(0, 100, 20))
def test_senseless_records_are_answered(first: int, tmp_path: Path) -> None:
    for seed in range(first, first + 20):
        rng = random.Random(seed)
        session = senseless(seed)
        blocks = len(session.blocks()) if session.records else 0
        drop = rng.sample(range(blocks), rng.randrange(blocks)) if blocks and seed % 2 else ()
        with open_trace([session.write(tmp_path / "s", drop)]) as trace:
            assert isinstance(trace, StoredTrace)
            time = analyze_time(trace, TimeRequest(per_frame=True, histogram=True))
            validate("time", time_json(time, trace.facts, Filter()))
            assert list(plain_lines(time_blocks(time, trace.facts, Filter())))
            assert list(time_rows(time, Filter()))
            quality = analyze_quality(trace)
            validate("quality", quality_json(quality, trace.facts))
            assert list(plain_lines(quality_blocks(quality)))
            assert list(quality_rows(quality))
            system = analyze_system(trace)
            validate("system", system_json(system, trace.facts, SystemFilter()))
            assert list(plain_lines(system_blocks(system, trace.facts, SystemFilter(), faults=False)))
            assert list(system_rows(system, trace.facts, SystemFilter(), faults=True))
            names = [(figure.boot, figure.name) for figure in named_figures(system, trace.facts)]
            assert len(names) == len(set(names))
            check_memory(trace, RULES)


def check_memory(trace: StoredTrace, rules: AccountingRules) -> None:
    memory = analyze_memory(trace, MemoryRequest(per_frame=True, rules=rules))
    validate("memory", memory_json(memory, trace.facts))
    assert list(plain_lines(memory_blocks(memory, trace.facts)))
    assert list(memory_rows(memory))
    names = [(figure.boot, figure.name) for figure in memory_figures(memory)]
    assert len(set(names)) == len(names)


def test_heaps_and_counts_that_no_target_has_are_bounded(tmp_path: Path) -> None:
    """Each record speaks of another partition: what is kept stays bounded, and what is not is told."""
    rec = Recording(block_records=40)
    for number in range(3000):
        rec.add(number, "MEM_SWITCH", number, free=1, allocated=number)
        rec.add(number, "OP_COUNT", number % 3, operation=number, size_class=number, count=1)
    with open_trace([rec.write(tmp_path / "s")]) as trace:
        assert isinstance(trace, StoredTrace)
        (boot,) = analyze_memory(trace).boots
    assert len(boot.heaps) == MOST_HEAPS
    assert f"more than {MOST_HEAPS} heaps: the others are left out" in boot.notes
