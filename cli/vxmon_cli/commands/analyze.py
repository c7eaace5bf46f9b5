# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze``: figures with evidence from sessions."""

from __future__ import annotations

from typing import Final

import click

from vxmon_cli.lazygroup import LazyGroup

__all__ = ["analyze"]

# Analysis -> the word on it in the list. vxmon_cli.analyses has a module of that name.
_ANALYSES: Final = {
    "comm": "What went from whom to whom: messages, latency, queues, flows.",
    "memory": "Heaps and how they grow, stacks, operation counts.",
    "quality": "What weakens the evidence: losses, damage, unknown events, edges of the recording.",
    "system": "What went wrong: HM errors, exceptions, interrupts, and the circumstances of each fault.",
    "time": "Where time went: windows and their margins, partitions, tasks.",
}


@click.group(cls=LazyGroup, package="vxmon_cli.analyses", words=_ANALYSES)
def analyze() -> None:
    """Compute figures from recorded sessions.

    Exit status: 0 fine, 1 incomplete data with --strict, 2 unusable input.
    """
