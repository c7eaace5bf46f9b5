# SPDX-License-Identifier: Apache-2.0
"""What happened on the link: as its host noted it in the session, and as the target recorded it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from vxmon.wire.notes import NoteKind

__all__ = ["KINDS", "MOST_EVENTS", "LinkEvent", "LinkRecord", "endpoint_text"]

KINDS: Final = tuple(kind.name.lower() for kind in NoteKind)
# Kept of a boot, so that a hostile session cannot fill the memory.
MOST_EVENTS: Final = 10_000


@dataclass(frozen=True, slots=True)
class LinkEvent:
    """Something that happened on the link of a boot.

    ``kind`` is one of KINDS; ``host_ns`` since the epoch; ``run`` the one followed, 0: none; ``boot_before``, of a
    reboot, the boot that was there before, 0: not known; ``silence_ns`` since the target was heard last, 0: not known.
    """

    kind: str
    host_ns: int
    text: str = ""
    run: int = 0
    boot_before: int = 0
    silence_ns: int = 0


@dataclass(frozen=True, slots=True)
class LinkRecord:
    """A LINK record: ``state`` as in the event table, the host's IPv4 address and port; ``time`` in ticks."""

    time: int
    state: int
    address: int
    port: int


def endpoint_text(endpoint: int) -> str:
    """``address:port`` of an IPv4 address << 16 | port."""
    octets = ".".join(str(endpoint >> shift & 0xFF) for shift in (40, 32, 24, 16))
    return f"{octets}:{endpoint & 0xFFFF}"
