# SPDX-License-Identifier: Apache-2.0
"""What is committed as generated is what the generator makes."""

from __future__ import annotations

import re

import pytest

from proto.gen.__main__ import generate, main
from tests.support.tree import ROOT, is_generated, project_files


@pytest.fixture(scope="module")
def made() -> dict[str, str]:
    return generate(ROOT / "proto")


def test_generated_files_are_up_to_date(made: dict[str, str]) -> None:
    old = [name for name, text in made.items() if (ROOT / name).read_text(encoding="utf-8") != text]
    assert old == [], "run: make gen"


def test_generator_makes_the_same_again(made: dict[str, str]) -> None:
    assert generate(ROOT / "proto") == made


def test_nothing_else_lies_among_the_generated_files(made: dict[str, str]) -> None:
    names = {str(path.relative_to(ROOT)) for path in project_files() if is_generated(path)}
    assert names - set(made) == {"vxmon/wire/generated/__init__.py"}


def test_every_event_has_its_parts(made: dict[str, str]) -> None:
    header, doc = made["target_c/include/vxm/generated/events.h"], made["proto/EVENTS.md"]
    events = (ROOT / "proto/events.toml").read_text(encoding="utf-8")
    names = re.findall(r'^\[\[event\]\]\nid = \d+\nname = "(\w+)"', events, re.MULTILINE)
    assert len(names) == events.count("[[event]]")
    for name in names:
        assert f"static inline void vxm_{name.lower()}(" in header
        assert re.search(rf"^### \d+ {name}$", doc, re.MULTILINE)


def test_no_trailing_blanks(made: dict[str, str]) -> None:
    ours = {name: text for name, text in made.items() if "vxmon.pb" not in name and "pb2" not in name}
    assert [name for name, text in ours.items() if re.search(r"[ \t]+$", text, re.MULTILINE)] == []


def test_writes_below_another_root(made: dict[str, str], tmp_path_factory: pytest.TempPathFactory) -> None:
    root = tmp_path_factory.mktemp("root")
    assert main(["--output", str(root)]) == 0
    assert {str(path.relative_to(root)) for path in root.rglob("*") if path.is_file()} == set(made)
