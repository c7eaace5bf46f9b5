# SPDX-License-Identifier: Apache-2.0
"""Bytes to typed messages and back (proto/SPEC.md). Pure: no I/O, every size and loop bounded.

What bytes from outside can do is raise :class:`vxmon.errors.WireError`, nothing else.

types        the typed values, the only form in which the rest of vxmon sees the wire
datagram     header and CRC; cutting messages into fragments
reassembly   putting fragments together
block bulk   blocks of records, one by one and by the batch
contents     what the slots of many blocks must be
varints      fields of many messages in step
gather       rows of a table out of a buffer
slots        records: where fields lie in slots
control      commands and replies
status       heartbeats, acknowledgements, the end of a run
tables       target information, event table, object table
events       the event tables that vxmon ships

Import the modules, not this package: only those that need protobuf load it.
"""

from __future__ import annotations

__all__: list[str] = []
