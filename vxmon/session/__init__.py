# SPDX-License-Identifier: Apache-2.0
"""Raw sessions: write, read, recover. A session is a pcapng file of every datagram (proto/SPEC.md section 8).

reader             datagrams of a file, a batch at a time
source framing     what kind of file it is; where its packets lie
pcapng pcapfile    the two formats; formats has their numbers
packets datagrams  IP and UDP put around a datagram, and found in packets by the batch
writer sink        a session being written; the file beneath
ring rotate        the last minutes only; a new file every so often
tablekeeper        what a part of a session needs to stand alone

Import the modules, not this package: who reads need not load what writes.
"""

from __future__ import annotations

__all__: list[str] = []
