# SPDX-License-Identifier: Apache-2.0
"""A short run of tests/fuzz/host.py; `make fuzz` tries a million datagrams and thousands of files."""

from __future__ import annotations

from collections import Counter

from tests.fuzz.host import datagrams, sessions


def test_hostile_datagrams_end_in_values_or_errors() -> None:
    assert list(datagrams(6400, 1)) == []


def test_hostile_files_end_in_facts_or_errors() -> None:
    kinds: Counter[str] = Counter()
    assert list(sessions(100, 1, kinds)) == []
    assert kinds["read"] + kinds["InputError"] == 100
