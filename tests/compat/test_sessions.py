# SPDX-License-Identifier: Apache-2.0
"""Golden sessions and what is printed of them.

The expected files were made by this program once and then read against the formats (tests/unit/test_report_lines.py has
those by hand) and against the values that make_sessions.py puts in. They are changed by hand only, with the reason.
REBOOT lines came when what happens on the link was told.
"""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.compat.make_sessions import SESSIONS
from tests.support.sessions import TABLE
from tests.unit.test_cli_print import print_to, run
from vxmon.analysis.gate.gather import SOURCES, GateRequest
from vxmon.trace import StoredTrace, open_trace

LAYOUTS = {"8": (), "7": ("--dialect", "7"), "6": ("--dialect", "6"), "verbose": ("-v",)}


@pytest.mark.parametrize("session", sorted(SESSIONS.glob("*.pcapng")), ids=lambda path: path.stem)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_the_lines_of_a_golden_session_do_not_change(tmp_path: Path, session: Path, layout: str) -> None:
    status, text, err = print_to(tmp_path, str(session), *LAYOUTS[layout])
    expected = session.with_suffix(f".{'8' if layout == '7' else layout}.txt").read_text("ascii")
    assert status == 0
    assert text.replace(version_line(text), version_line(expected)) == expected
    assert err.startswith("vxmon: INCOMPLETE: ")


def version_line(text: str) -> str:
    return text.partition("\n")[0]


@pytest.mark.parametrize("session", sorted(SESSIONS.glob("*.pcapng")), ids=lambda path: path.stem)
def test_what_the_facts_of_a_golden_session_said_they_still_say(session: Path) -> None:
    status, out, _ = run("info", "--format", "json", str(session))
    document, expected = json.loads(out), json.loads(session.with_suffix(".info.json").read_text("ascii"))
    assert status == 0
    for one in (document, expected):
        del one["vxmon"]
        one["files"][0].pop("name")
        one["problems"] = [problem.replace(str(session), session.name) for problem in one["problems"]]
    assert lacking(expected, document) == []


@pytest.mark.parametrize("session", sorted(SESSIONS.glob("*.pcapng")), ids=lambda path: path.stem)
def test_a_golden_session_goes_through_every_analysis(session: Path) -> None:
    with open_trace([str(session)]) as trace:
        assert isinstance(trace, StoredTrace)
        for source in SOURCES:
            names = [(figure.boot, figure.name) for figure in source.compute(trace, GateRequest())]
            assert len(names) == len(set(names)) > 0, source.analysis


def lacking(expected: object, got: object, where: str = "") -> list[str]:
    """What a reader of the old document would miss in the new one; new keys do not matter to it."""
    if isinstance(expected, dict) and isinstance(got, dict):
        return [text for key in expected for text in lacking(expected[key], got.get(key), f"{where}.{key}")]
    if isinstance(expected, list) and isinstance(got, list) and len(expected) == len(got):
        return [
            text for i, pair in enumerate(zip(expected, got, strict=True)) for text in lacking(*pair, f"{where}[{i}]")
        ]
    return [] if expected == got else [f"{where}: {got!r}, not {expected!r}"]


def test_every_event_is_in_a_golden_session() -> None:
    text = "".join(path.read_text("ascii") for path in SESSIONS.glob("*.8.txt"))
    assert [event.name for event in TABLE.events if f":{event.name} " not in text] == []
