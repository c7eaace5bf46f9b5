# SPDX-License-Identifier: Apache-2.0
"""Why a target refused datagrams (SPEC section 10), in words."""

from __future__ import annotations

from dataclasses import fields
from typing import Final

from vxmon.wire.types import LinkCounters

__all__ = ["REASONS", "reasons_between", "refused_text"]

# By field of LinkCounters.
REASONS: Final = {
    "malformed": "malformed",
    "no_key": "without the key",
    "wrong_key": "with a wrong key or damaged",
    "replayed": "replayed or late",
    "stranger": "from another host",
    "unchecked": "too many at once to be checked",
}


def reasons_between(before: LinkCounters, after: LinkCounters) -> LinkCounters:
    """What was counted between two heartbeats of a boot."""
    names = [field.name for field in fields(LinkCounters)]
    return LinkCounters(**{name: max(getattr(after, name) - getattr(before, name), 0) for name in names})


def refused_text(link: LinkCounters) -> str:
    """``12 datagrams refused: 10 with a wrong key or damaged, 2 replayed or late``; "" when none was."""
    if not link.refused:
        return ""
    told = [f"{getattr(link, name):,} {words}" for name, words in REASONS.items() if getattr(link, name)]
    noun = "datagram" if link.refused == 1 else "datagrams"
    return f"{link.refused:,} {noun} refused: {', '.join(told) or 'the target does not tell why'}"
