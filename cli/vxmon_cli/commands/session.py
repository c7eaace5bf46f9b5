# SPDX-License-Identifier: Apache-2.0
"""``vxmon session``: what is done to session files as files."""

from __future__ import annotations

from typing import Final

import click

from vxmon_cli.lazygroup import LazyGroup

__all__ = ["session"]

# Command -> the word on it in the list. vxmon_cli.sessions has a module of that name.
_COMMANDS: Final[dict[str, str]] = {
    "cut": "Cut a time window or some CPUs out of a session, as a smaller session.",
    "verify": "Check that a session is sound: checksums, records, order, tables, end.",
}


@click.group(cls=LazyGroup, package="vxmon_cli.sessions", words=_COMMANDS)
def session() -> None:
    """Work on session files themselves."""
