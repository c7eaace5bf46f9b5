# SPDX-License-Identifier: Apache-2.0
"""Every event that a release offers is seen in some scenario, and nothing else is; the document says where."""

from __future__ import annotations

import pytest

from tests.support.coverage import COMMANDS, DOCUMENT, SCENARIOS, Seen, seen_events
from vxmon.wire.events import TABLES


@pytest.fixture(name="release", scope="module", params=sorted(TABLES))
def os_release(request: pytest.FixtureRequest) -> str:
    return str(request.param)


@pytest.fixture(name="seen", scope="module")
def seen_in_a_release(release: str) -> Seen:
    return seen_events(release)


def documented(release: str) -> dict[str, tuple[str, str]]:
    """Event name -> offered, seen in; as the document of people has it."""
    section = DOCUMENT.read_text(encoding="utf-8").split(f"### Release {release}\n")[1].split("\n#")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in section.splitlines() if line.startswith("| ")]
    return {row[0]: (row[3], row[4]) for row in rows[1:]}


def test_what_is_offered_is_seen_and_what_is_seen_is_offered(release: str, seen: Seen) -> None:
    names = {event.id: event.name for event in TABLES[release].events}
    found = frozenset().union(*seen.values())
    assert [name for number, name in names.items() if number not in found] == []
    assert found <= set(names)


def test_the_document_says_where(release: str, seen: Seen) -> None:
    names = {event.id: event.name for event in TABLES[release].events}
    rows = documented(release)
    assert {name for name, (offered, _) in rows.items() if offered == "yes"} == set(names.values())
    for number, name in names.items():
        places = [scenario for scenario, ids in seen.items() if number in ids]
        expected = "all" if len(places) == len(seen) else ", ".join(places)
        assert (name, rows[name][1]) == (name, expected)
    assert list(seen) == [*SCENARIOS, COMMANDS]
