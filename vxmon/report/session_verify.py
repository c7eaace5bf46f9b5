# SPDX-License-Identifier: Apache-2.0
"""``session verify`` as text, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, Final

from vxmon.analysis.integrity import WRONG, Check
from vxmon.report.blocks import Block, Table, Text
from vxmon.report.figures import envelope
from vxmon.trace.facts import Facts
from vxmon.words import counted

__all__ = ["SCHEMA", "VERSION", "verify_blocks", "verify_json", "verify_rows"]

SCHEMA: Final = "vxmon.session.verify"
VERSION: Final = 1
"""Grows when something is renamed or removed; additions do not change it."""


def _verdict(checks: Sequence[Check]) -> str:
    wrong = sum(check.status == WRONG for check in checks)
    return f"wrong in {counted(wrong, 'respect')}" if wrong else "sound"


def verify_blocks(checks: Sequence[Check]) -> Iterator[Block]:
    """The report as text."""
    yield Text((_verdict(checks),), important=True)
    yield Table("", ("check", "status", "what"), tuple((c.name, c.status, c.text) for c in checks))


def verify_json(checks: Sequence[Check], facts: Facts) -> dict[str, Any]:
    """The report as a JSON object."""
    value = envelope(SCHEMA, VERSION, facts)
    value["sound"] = all(check.status != WRONG for check in checks)
    value["checks"] = [{"check": c.name, "status": c.status, "text": c.text} for c in checks]
    return value


def verify_rows(checks: Sequence[Check]) -> Iterator[tuple[str, ...]]:
    """The report as CSV, with its header."""
    yield ("check", "status", "text")
    yield from ((c.name, c.status, c.text) for c in checks)
