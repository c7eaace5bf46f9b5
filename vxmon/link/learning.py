# SPDX-License-Identifier: Apache-2.0
"""What a host must know of a target before it can ask for anything by name."""

from __future__ import annotations

from typing import Final

from vxmon.errors import TargetError
from vxmon.link.client import Client
from vxmon.link.selection import TargetView
from vxmon.wire.events import TABLES, shipped_table
from vxmon.wire.types import EventTable, InfoRequest, TablesRequest, TargetInfo

__all__ = ["learn_target"]

_TABLE_WAIT_S: Final = 3.0
# Tables are sent without acknowledgement; they are asked for again when a part was lost.
_TRIES: Final = 4


def learn_target(client: Client, *, names: bool) -> TargetView:
    """Ask a connected target for its information and event table, and with ``names`` for its whole object table.

    Raises:
        TargetError: it does not answer.

    """
    info = client.demand(InfoRequest()).body
    if not isinstance(info, TargetInfo):
        raise TargetError(f"{client.name}: no target information in the reply")
    table = _table(client, info)
    if names:
        _names(client, info)
    link = client.link
    return TargetView(info, table, dict(link.partitions), dict(link.objects), dict(link.tasks))


def _table(client: Client, info: TargetInfo) -> EventTable:
    link = client.link
    link.table = None
    client.demand(TablesRequest())
    client.wait(lambda: link.table is not None, _TABLE_WAIT_S)
    table = link.table or shipped_table(info.table_fingerprint) or TABLES.get(info.os_release)
    if table is None:
        raise TargetError(f"{client.name}: the target does not send its event table")
    return table


def _names(client: Client, info: TargetInfo) -> None:
    link = client.link
    for attempt in range(_TRIES):
        if attempt:
            client.demand(TablesRequest())
        if client.wait(
            lambda: len(link.partitions) >= info.partition_count and len(link.objects) >= info.object_count,
            _TABLE_WAIT_S,
        ):
            return
    raise TargetError(f"{client.name}: the target does not send the names of its partitions and objects")
