# SPDX-License-Identifier: Apache-2.0
"""Records of a block one by one, straight from SPEC sections 2 and 3 and without the product's decoder."""

from __future__ import annotations

import struct

from vxmon.wire.types import Block

__all__ = ["Record", "record_list"]

# Event id, first argument, data words, 64-bit time.
Record = tuple[int, int, tuple[int, ...], int]


def record_list(block: Block) -> list[Record]:
    order = ">" if block.big_endian else "<"
    words = struct.unpack(f"{order}{len(block.slots) // 4}I", block.slots)
    records, at, time = [], 0, block.first_time
    while at < len(words):
        count = (words[at] >> 16 & 0x3F) * 2
        time += (words[at + 1] - time) % 2**32
        records.append((words[at] >> 22, words[at] & 0xFFFF, words[at + 2 : at + 2 + count], time))
        at += 2 + count
    return records
