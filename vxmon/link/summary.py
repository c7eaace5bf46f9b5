# SPDX-License-Identifier: Apache-2.0
"""The figures of a capture, as counted while it ran."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Final

from vxmon.link.machine import HostLink
from vxmon.wire.refusals import reasons_between, refused_text
from vxmon.wire.types import LinkCounters, Losses, StreamState

__all__ = ["Summary"]

_TARGET_CAUSES: Final = ("overwritten", "full", "exhausted")


@dataclass(slots=True)
class Summary:
    """What became of a capture, summed over its runs.

    ``recorded`` is None when the target did not tell. ``lost`` is by cause (SPEC section 4); ``incomplete`` says why
    something is not known, "" when all is; ``failure`` that the target was not there any more at the end. ``seconds``
    are the host's, from start to stop; ``refused`` tells what the target refused meanwhile, in words. ``resends`` are
    the target's, as far as it told them: at least the blocks that came after they had been asked for.
    """

    recorded: int | None = 0
    delivered: int = 0
    lost: dict[str, int] = field(default_factory=dict)
    blocks: int = 0
    datagrams: int = 0
    duplicates: int = 0
    resends: int = 0
    corrupt: int = 0
    socket_drops: int = 0
    seconds: float = 0.0
    incomplete: str = ""
    failure: str = ""
    refused: str = ""

    @property
    def lost_records(self) -> int:
        """All causes together."""
        return sum(self.lost.values())

    def add_run(self, link: HostLink, *, stored: bool = True) -> None:
        """Add the figures of the run that ``link`` followed; ``corrupt`` must be up to date.

        ``stored`` is False when the session took no more: what is missing then may well have arrived.
        """
        states = [_since_attach(link, state) for state in link.states.values()]
        recorded = sum(state.recorded for state in states)
        causes = {cause: sum(getattr(state.losses, cause) for state in states) for cause in _TARGET_CAUSES}
        known = link.end is not None
        # Which of the missing blocks are those that came damaged is found out when the session is read.
        on_the_way = "link or corrupt" if self.corrupt else "link"
        cause = "not stored" if not stored else on_the_way if known else "pending"
        causes[cause] = max(recorded - link.delivered - sum(causes.values()), 0)
        for cause, count in causes.items():
            if count:
                self.lost[cause] = self.lost.get(cause, 0) + count
        self.delivered += link.delivered
        self.blocks += link.blocks
        self.duplicates += link.duplicates
        self.resends += link.recovered
        if not known:
            self.recorded = None
            self.incomplete = self.incomplete or "the target did not tell the end of the run"
        elif self.recorded is not None:
            self.recorded += recorded

    def add_counters(self, before: LinkCounters, after: LinkCounters) -> None:
        """Tell what the target counted meanwhile: it counts since its boot, for earlier captures too."""
        counted = reasons_between(before, after)
        # The last heartbeats may be lost, or from before the rest was fetched.
        self.resends = max(self.resends, counted.resent)
        self.refused = refused_text(counted)


def _since_attach(link: HostLink, state: StreamState) -> StreamState:
    """Figures of a stream since this host has it: what a resumed run had before is no part of the session."""
    if not link.resumed:
        return state
    first, before = link.attach.get(state.stream, (state.recorded, state.losses))
    losses = Losses(**{cause: getattr(state.losses, cause) - getattr(before, cause) for cause in _TARGET_CAUSES})
    return replace(state, recorded=state.recorded - first, losses=losses)
