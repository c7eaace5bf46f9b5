# SPDX-License-Identifier: Apache-2.0
"""Accounting rules: the file, what it refuses, and costs against sizes rounded up one by one."""

from __future__ import annotations

import random
from fractions import Fraction
from pathlib import Path

import pytest

from tests.support.memories import ALLOCATE, MemorySession, analyzed_memory, counted, heap_of, sampled, switched
from vxmon.analysis.memory.analyze import MemoryRequest
from vxmon.config.accounting import ACCOUNTING_TEMPLATE, AccountingRule, AccountingRules, read_accounting
from vxmon.errors import InputError


def written(tmp_path: Path, text: str) -> str:
    path = tmp_path / "rules.toml"
    path.write_text(text, encoding="utf-8")
    return str(path)


def rule(per_operation: int = 0, per_byte: Fraction = Fraction(1), granule: int = 32) -> AccountingRule:
    return AccountingRule("allocate", "*", "partition", per_operation, per_byte, granule)


def test_the_example_is_what_it_says(tmp_path: Path) -> None:
    rules = read_accounting(written(tmp_path, ACCOUNTING_TEMPLATE)).of_release("2.4")
    assert set(rules) == {"allocate", "free", "io_open", "io_close", "object_create"}
    assert (rules["allocate"].granule, rules["allocate"].heap) == (32, "partition")
    assert (rules["io_open"].heap, rules["io_close"].heap) == ("kernel", "kernel")


def test_a_rule_of_the_release_goes_before_one_of_all(tmp_path: Path) -> None:
    text = "format = 1\n" + "".join(
        f'[[rule]]\noperation = "allocate"\nrelease = "{release}"\nper_operation = {cost}\n'
        for release, cost in (("2.4", 8), ("*", 16))
    )
    rules = read_accounting(written(tmp_path, text))
    assert rules.of_release("2.4")["allocate"].per_operation == 8
    assert rules.of_release("2.2")["allocate"].per_operation == 16


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("", "needs the key format; write format = 1 above all else"),
        ("format = 2", "format is 2; it must be 1, the version of the format"),
        ("format = 1", "no [[rule]]; --rules-init writes an example"),
        ("format = 1\nrules = 3", "has no key 'rules'"),
        ("format = 1\n[[rule]]\nper_byte = 1", ":2: rule needs the key operation"),
        ("format = 1\n[[rule]]\noperation = 'x'\nper_byt = 1", ":4: rule has no key 'per_byt'"),
        ("format = 1\n[[rule]]\noperation = 'x'\nheap = 'both'", ":4: rule.heap is 'both'; it must be one of"),
        ("format = 1\n[[rule]]\noperation = 'x'\ngranule = 0", ":4: rule.granule is 0"),
        ("format = 1\n[[rule]]\noperation = 'x'\nper_byte = nan", ":4: rule.per_byte is nan"),
        ("format = 1\n[[rule]]\noperation = 'x'\nper_byte = 1e300", ":4: rule.per_byte is 1e+300"),
        ("format = 1\n[[rule]]\noperation = 'x'\n[[rule]]\noperation = 'x'", ":4: there is a rule for x of release *"),
        ("format = 1\n[[rule]\n", "no TOML"),
    ],
)
def test_what_is_no_rule_is_refused_with_its_line(text: str, words: str, tmp_path: Path) -> None:
    with pytest.raises(InputError) as error:
        read_accounting(written(tmp_path, text))
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_any_text_is_read_or_refused_in_one_line(tmp_path: Path) -> None:
    rng = random.Random(653)
    pieces = ["=", '"', "[", "]]", "-1", "1e999", "nan", "'", "\n", "\0", "operation", "[[rule]]", "9" * 40, "\ud7ff"]
    for _ in range(300):
        text = list(ACCOUNTING_TEMPLATE)
        for _ in range(rng.randrange(1, 6)):
            at = rng.randrange(len(text))
            text[at : at + rng.choice((0, 1, 8))] = rng.choice(pieces)
        try:
            rules = read_accounting(written(tmp_path, "".join(text)))
        except InputError as error:
            assert "\n" not in str(error)
        else:
            assert rules.rules


@pytest.mark.parametrize("seed", range(30))
def test_bounds_hold_whatever_the_sizes_were(seed: int) -> None:
    rng = random.Random(seed)
    sizes = [rng.randrange(1, 500) for _ in range(rng.randrange(1, 30))]
    own = rule(rng.randrange(-8, 9), Fraction(rng.choice((-1, 1, 3)), rng.choice((1, 2))), rng.choice((1, 8, 32)))
    value, lo, hi = own.cost(len(sizes), sum(sizes))
    rounded = sum(-(-size // own.granule) * own.granule for size in sizes)
    truth = own.per_operation * len(sizes) + own.per_byte * rounded
    assert lo - 1 <= truth <= hi + 1
    assert lo <= value <= hi


def test_equal_sizes_leave_no_doubt() -> None:
    assert rule().cost(10, 400, equal=True) == (640, 640, 640)
    assert rule(per_operation=8, granule=1).cost(10, 400) == (480, 480, 480)
    # Of ten sizes with the sum 400 some may be 32 and others up to 112: 416 to 704 in granules.
    assert rule().cost(10, 400) == (640, 416, 704)


def test_the_estimate_stands_beside_what_was_measured(tmp_path: Path) -> None:
    """10 allocations of 64 with a header of 8 are 720; the heap holds 800. 64 is the least of its class: all are 64."""
    session = MemorySession()
    session.frame(switched(800), sampled(800, 10, 9200, 800), counted(ALLOCATE, 10, 640, 6))
    # What comes after the last count is not compared with it.
    session.frame(switched(5000))
    rules = AccountingRules("rules.toml", (rule(per_operation=8),))
    boot = analyzed_memory(session.end(), tmp_path, request=MemoryRequest(rules=rules))
    estimate = heap_of(boot).estimate
    assert estimate is not None
    assert (estimate.estimated.value, estimate.estimated.lo, estimate.estimated.hi) == (720, 720, 720)
    assert (estimate.measured.value, estimate.difference.value) == (800, 80)
    assert estimate.estimated.status == "estimated"


def test_operations_without_a_rule_are_told(tmp_path: Path) -> None:
    session = MemorySession()
    session.frame(counted(0, 3, 300), counted(ALLOCATE, 1, 64, 6, 821))
    rules = AccountingRules("rules.toml", (rule(),))
    boot = analyzed_memory(session.end(), tmp_path, request=MemoryRequest(rules=rules))
    assert "no rule for task_create: taken to cost nothing" in boot.notes
    other = AccountingRules("r.toml", (AccountingRule("allocate", "2.2", "partition", 0, Fraction(1), 1),))
    boot = analyzed_memory(session.rec, tmp_path, request=MemoryRequest(rules=other))
    assert "r.toml has no rule for OS release 2.4" in boot.notes
