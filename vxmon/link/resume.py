# SPDX-License-Identifier: Apache-2.0
"""Finds a run that a host left behind which was killed, or lost its way to the target."""

from __future__ import annotations

from typing import Final

from vxmon.link.client import Client
from vxmon.wire.types import Channel, TargetHeartbeat

__all__ = ["find_run"]

# The target sends a heartbeat at once when another host takes control.
_HEARTBEAT_S: Final = 1.5


def find_run(client: Client) -> TargetHeartbeat | None:
    """The heartbeat of a connected target that records, or that holds something of a run that is over; else None."""
    link = client.link
    # The end of a run that is over is told right after the change of control.
    client.early.add(Channel.END)
    client.wait(lambda: link.heartbeat is not None, _HEARTBEAT_S)
    beat = link.heartbeat
    if beat is None or not beat.run:
        return None
    held = any(stream.held < stream.blocks or stream.cut_index < stream.recorded for stream in beat.streams)
    return beat if beat.running or held else None
