# SPDX-License-Identifier: Apache-2.0
"""Keeps the newest tables that went by, for files that begin in the middle of a session."""

from __future__ import annotations

import contextlib
from typing import Final

import numpy as np

from vxmon.errors import WireError
from vxmon.session.rooms import Rooms
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.reassembly import MAX_MESSAGES, Reassembler
from vxmon.wire.tables import decode_table
from vxmon.wire.types import Channel, EventTable, ObjectTable, TargetInfo

__all__ = ["TableKeeper"]

_CHANNEL_AT: Final = 6
# Messages of tables kept aside: newer ones take the place of older ones long before.
_MAX_TABLES: Final = 4096

# Arrival time and datagram.
Stamped = tuple[int, bytes]


class TableKeeper:
    """Keeps the datagrams of the newest tables, so that names outlive the segment they came in."""

    def __init__(self) -> None:
        self._kept: dict[tuple[int, str, int], list[Stamped]] = {}
        self._parts: dict[tuple[int, int], dict[int, Stamped]] = {}
        self._versions: dict[int, int] = {}
        self._reassembler = Reassembler()

    def take_batch(self, rooms: Rooms) -> None:
        """Take the tables among datagrams."""
        tables = (rooms.slots[:, _CHANNEL_AT] == Channel.TABLE) & (rooms.lengths > _CHANNEL_AT)
        for number in np.flatnonzero(tables).tolist():
            self.take(int(rooms.times[number]), rooms.payload(number))

    def take(self, stamp: int, data: bytes) -> None:
        """Take a datagram of channel TABLE; what breaks the format is left to the reader of the session."""
        with contextlib.suppress(WireError):
            datagram = decode_datagram(data)
            header = datagram.header
            key = (header.boot, header.message)
            self._parts.setdefault(key, {})[header.fragment] = (stamp, data)
            payload = self._reassembler.add(datagram, stamp)
            if payload is not None:
                self._keep(header.boot, payload, list(self._parts.pop(key).values()))
        while len(self._parts) > MAX_MESSAGES:
            self._parts.pop(next(iter(self._parts)))

    def _keep(self, boot: int, payload: bytes, datagrams: list[Stamped]) -> None:
        table = decode_table(payload)
        if isinstance(table, TargetInfo):
            self._kept[boot, "info", 0] = datagrams
        elif isinstance(table, EventTable):
            self._kept[boot, "events", table.fingerprint] = datagrams
        elif isinstance(table, ObjectTable):
            self._keep_objects(boot, table, datagrams)
        while len(self._kept) > _MAX_TABLES:
            self._kept.pop(next(iter(self._kept)))

    def _keep_objects(self, boot: int, table: ObjectTable, datagrams: list[Stamped]) -> None:
        """Parts of the newest version and of the one before it, which may be the last complete one."""
        newest = self._versions.get(boot, table.version)
        if table.version > newest:
            for key in [k for k in self._kept if k[0] == boot and k[1].startswith("objects") and k[2] < newest]:
                del self._kept[key]
        self._versions[boot] = max(newest, table.version)
        self._kept[boot, f"objects {_entries(table)}", table.version] = datagrams

    def datagrams(self) -> list[Stamped]:
        """What is kept, in order of arrival."""
        return sorted(datagram for datagrams in self._kept.values() for datagram in datagrams)


def _entries(table: ObjectTable) -> str:
    """Which part of the object table it is."""
    schedules = ",".join(str(entry.id) for entry in table.schedules)
    groups = (table.partitions, table.tasks, table.objects)
    return "/".join((schedules, *(",".join(str(entry.index) for entry in group[:1]) for group in groups)))
