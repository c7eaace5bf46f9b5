# SPDX-License-Identifier: Apache-2.0
"""Rules against figures: each verdict by hand, and which analyses a pattern makes run."""

from __future__ import annotations

from pathlib import Path

import pytest

from vxmon.analysis.figures import Figure
from vxmon.analysis.gate.gather import SOURCES, is_selected
from vxmon.analysis.gate.judge import GateResult, RuleResult, judge
from vxmon.analysis.gate.propose import propose
from vxmon.analysis.named import NamedFigure, Unit
from vxmon.config.limits import Pattern, read_limits
from vxmon.errors import InputError
from vxmon.report.check import sentences
from vxmon.report.units import amount

EXACT = Figure.exact(1000, 5)
NOTHING = Figure(None, None, None, 0)


def named(name: str, figure: Figure, unit: Unit = "ns", whole: int | None = None, **more: object) -> NamedFigure:
    return NamedFigure(name, figure, unit, whole, **more)  # type: ignore[arg-type]


def result(tmp_path: Path, rules: str, *figures: NamedFigure) -> GateResult:
    path = tmp_path / "limits.toml"
    path.write_text("format = 1\n" + rules, encoding="utf-8")
    return judge(read_limits(str(path)), figures)


def one(tmp_path: Path, rule: str, *figures: NamedFigure) -> RuleResult:
    (found,) = result(tmp_path, f'[[rule]]\nfigure = "a*"\n{rule}\n', *figures).rules
    return found


@pytest.mark.parametrize(
    ("rule", "figure", "verdict"),
    [
        ('max = "1 us"', EXACT, "passed"),
        ('max = "999 ns"', EXACT, "failed"),
        ('min = "1 us"', EXACT, "passed"),
        ('min = "1001 ns"', EXACT, "failed"),
        ('min = "1 us"\nmax = "1 us"', EXACT, "passed"),
        ('min = "2 us"\nmax = "3 us"', EXACT, "failed"),
        # Of a range the bad end counts.
        ('max = "1 us"', Figure.between(900, 900, 1001), "failed"),
        ('max = "1001 ns"', Figure.between(900, 900, 1001), "passed"),
        ('min = "1 us"', Figure.between(1000, 999, 1000), "failed"),
        ('min = "999 ns"', Figure.between(1000, 999, 1000), "passed"),
        # Without a bound at the bad end nothing can be said; the other end may still be judged.
        ('max = "1 s"', Figure.between(900, 900, None), "incomplete"),
        ('min = "1 ns"', Figure.between(900, 900, None), "passed"),
        ('min = "1 us"', Figure.between(900, 900, None), "failed"),
        ('min = "1 ns"', Figure.between(900, None, 900), "incomplete"),
        ('max = "1 s"', Figure.none(), "not recorded"),
        ('min = "0 s"', Figure.none(), "not recorded"),
        ('max = "1 s"', NOTHING, "nothing observed"),
        ("max = 0", EXACT, "failed"),
        ("max = 0", Figure.exact(0), "passed"),
        ("min = 0", Figure.exact(-1), "failed"),
    ],
)
def test_a_verdict(rule: str, figure: Figure, verdict: str, tmp_path: Path) -> None:
    found = one(tmp_path, rule, named("a", figure))
    assert found.verdict == verdict
    assert found.passed is (verdict == "passed")
    assert bool(sentences(found, boots=False)) is (verdict != "passed")


@pytest.mark.parametrize(
    ("unit", "limit", "bound"),
    [
        ("ns", '"1 ms"', 10**6), ("bytes", '"1 KiB"', 1024), ("count", "7", 7), ("millionths", '"12.5 %"', 125_000),
        ("bytes_per_s", '"1 KiB/s"', 1024), ("per_s_thousandths", '"0.5 /s"', 500), ("ns", '"10 %"', 200),
        ("count", '"10 %"', 200), ("bytes", '"10 %"', 200), ("ns", "0", 0),
    ],
)  # fmt: skip
def test_a_limit_is_in_the_unit_of_its_figure(unit: Unit, limit: str, bound: int, tmp_path: Path) -> None:
    (judged,) = one(tmp_path, f"max = {limit}", named("a", EXACT, unit, 2000)).judged
    assert judged.limit == bound
    assert judged.room == bound - 1000


@pytest.mark.parametrize(
    ("unit", "limit"),
    [("ns", "5"), ("ns", '"5 bytes"'), ("count", '"5 us"'), ("bytes", '"5 bytes/s"'), ("millionths", "5"),
     ("bytes_per_s", '"5 /s"'), ("bytes_per_s", '"5 %"'), ("per_s_thousandths", "5")],
)  # fmt: skip
def test_a_unit_that_does_not_fit_is_refused_with_its_place(unit: Unit, limit: str, tmp_path: Path) -> None:
    with pytest.raises(InputError, match=r"limits\.toml:4: rule\.max is .* does not fit a; write for example"):
        one(tmp_path, f"max = {limit}", named("a", EXACT, unit))


def test_a_pattern_that_matches_nothing_fails(tmp_path: Path) -> None:
    found = one(tmp_path, "max = 1", named("b", EXACT))
    assert found.verdict == "matches nothing"
    assert sentences(found, boots=False) == ["no figure has a name like a*; vxmon check --list shows them"]


def test_nothing_observed_counts_only_when_it_is_all_there_is(tmp_path: Path) -> None:
    idle, busy = named("a.idle", NOTHING), named("a.busy", EXACT)
    assert one(tmp_path, 'max = "1 us"', idle, busy).verdict == "passed"
    assert one(tmp_path, 'max = "1 us"', idle).verdict == "nothing observed"
    unrecorded = named("a.off", Figure.none())
    assert one(tmp_path, 'max = "1 us"', idle, busy, unrecorded).verdict == "not recorded"


def test_what_has_no_whole_is_no_share(tmp_path: Path) -> None:
    aperiodic, periodic = named("a.x", EXACT), named("a.y", EXACT, "ns", 1000)
    assert one(tmp_path, 'max = "100 %"', aperiodic, periodic).verdict == "passed"
    assert one(tmp_path, 'max = "100 %"', aperiodic).verdict == "no share"


def test_a_share_is_of_each_part(tmp_path: Path) -> None:
    """300 of 1000 and 350 of 1400 are 30 % and 25 %; the smaller number is the larger share."""
    parts = (named("w.0", Figure.exact(300), whole=1000), named("w.1", Figure.exact(350), whole=1400))
    whole = named("a", Figure.exact(300), parts=parts)
    assert one(tmp_path, 'min = "25 %"', whole).passed
    found = one(tmp_path, 'min = "26 %"', whole)
    assert [judged.figure.name for judged in found.failures] == ["w.1"]
    assert sentences(found, boots=False) == ["w.1 is 0.35 us, 0.014 us below min 26 % = 0.364 us"]
    # A limit with a unit is for the figure itself.
    assert [judged.figure.name for judged in one(tmp_path, 'min = "1 ns"', whole).judged] == ["a"]


def test_a_name_is_itself_before_it_is_a_pattern(tmp_path: Path) -> None:
    figures = (named("a*", EXACT), named("ab", Figure.exact(5000)))
    assert [judged.figure.name for judged in one(tmp_path, 'max = "1 us"', *figures).judged] == ["a*"]


def test_the_numbers_of_equal_names_may_be_left_out(tmp_path: Path) -> None:
    rules = '[[rule]]\nfigure = "task.N.w.max"\nmax = "1 us"\n[[rule]]\nfigure = "task.N.w#7.max"\nmax = "1 us"\n'
    figures = (named("task.N.w.max", EXACT), named("task.N.w#7.max", Figure.exact(2000)))
    first, second = result(tmp_path, rules, *figures).rules
    assert [j.figure.name for j in first.judged] == ["task.N.w.max", "task.N.w#7.max"]
    assert [j.figure.name for j in second.judged] == ["task.N.w#7.max"]
    assert not is_selected(Pattern("task.N.w.max"), named("task.N.w#x.max", EXACT))


def test_each_boot_is_judged(tmp_path: Path) -> None:
    figures = (named("a", EXACT, boot=0), named("a", Figure.exact(3000), boot=1, where="frame 2 at 1 s"))
    found = one(tmp_path, 'max = "1 us"', *figures)
    assert sentences(found, boots=True) == ["boot 1: a is 3 us, 2 us above max 1 us; worst: frame 2 at 1 s"]


def test_severities(tmp_path: Path) -> None:
    rules = '[[rule]]\nfigure = "a"\nmax = 0\nseverity = "warn"\n[[rule]]\nfigure = "a"\nmax = "1 s"\n'
    found = result(tmp_path, rules, named("a", EXACT))
    assert [len(found.failed(severity)) for severity in ("error", "warn")] == [0, 1]


def test_a_range_says_which_end_was_judged(tmp_path: Path) -> None:
    found = one(tmp_path, 'max = "1 us"\nnote = "SRS-1"', named("a", Figure.between(900, 900, 1500)))
    assert sentences(found, boots=False) == ["a is 0.9 us..1.5 us (judged by 1.5 us), 0.5 us above max 1 us (SRS-1)"]


def test_the_nearest_is_the_one_with_the_least_room_for_its_limit(tmp_path: Path) -> None:
    figures = (named("a.x", Figure.exact(400), whole=500), named("a.y", Figure.exact(1700), whole=2000))
    nearest = one(tmp_path, 'max = "100 %"', *figures).closest
    assert nearest is not None
    assert nearest.figure.name == "a.y"
    assert nearest.room == 300


@pytest.mark.parametrize(
    ("pattern", "analyses"),
    [
        ("partition.NAV.margin.min", {"time"}), ("task.*", {"time"}), ("quality.lost", {"quality"}),
        ("memory.*.growth", {"memory"}), ("stack.*", {"memory"}), ("comm.*", {"comm"}), ("qual*", {"quality"}),
        ("*", {s.analysis for s in SOURCES}), ("*.max", {s.analysis for s in SOURCES}), ("nonsense.*", set()),
        ("quality", set()), ("partitions.NAV.x", set()),
    ],
)  # fmt: skip
def test_only_the_analyses_run_that_a_pattern_can_mean(pattern: str, analyses: set[str]) -> None:
    assert {source.analysis for source in SOURCES if source.may_match(Pattern(pattern))} == analyses


@pytest.mark.parametrize(
    ("figure", "bound"),
    [
        # 20 % worse, rounded away to 100 ns.
        (named("a", Figure.exact(10_000)), 12_000), (named("a", Figure.exact(10_001)), 12_100),
        (named("a", Figure.exact(10_000), high_is_bad=False), 8000), (named("a", Figure.exact(0)), 0),
        (named("a", Figure.exact(10_001), high_is_bad=False), 8000),
        (named("a", Figure.exact(5), "count"), 6), (named("a", Figure.exact(1), "count"), 2),
        (named("a", Figure.exact(-100), "bytes_per_s"), -80),
        # The bad end of a range.
        (named("a", Figure.between(10, 10, 100), "count"), 120),
        (named("a", Figure.between(10, 10, None), "count"), None), (named("a", Figure.none()), None),
        (named("a", NOTHING), None), (named("a", Figure.exact(0), high_is_bad=False), None),
    ],
)  # fmt: skip
def test_slack(figure: NamedFigure, bound: int | None) -> None:
    (proposal,) = propose([figure], 20)
    assert proposal.bound == bound
    assert bool(proposal.why_not) is (bound is None)


def test_of_several_boots_the_worst_is_the_measure() -> None:
    (proposal,) = propose([named("a", Figure.exact(5), "count"), named("a", Figure.exact(10), "count")], 0)
    assert proposal.bound == 10


@pytest.mark.parametrize(
    ("value", "unit", "text"),
    [
        (0, "ns", "0 us"), (1, "ns", "0.001 us"), (-1500, "ns", "-1.5 us"), (999_999_999, "ns", "999999.999 us"),
        (10**9, "ns", "1 s"), (1_500_000_001, "ns", "1.500000001 s"), (4096, "bytes", "4096 bytes"),
        (125_000, "millionths", "12.5 %"), (1, "millionths", "0.0001 %"), (2500, "per_s_thousandths", "2.5 /s"),
        (-3, "count", "-3"), (16, "bytes_per_s", "16 bytes/s"),
    ],
)  # fmt: skip
def test_amounts(value: int, unit: Unit, text: str) -> None:
    assert amount(value, unit) == text
