# SPDX-License-Identifier: Apache-2.0
"""Fields of messages on the lines of ``print``: behind the last CONTENT record of each message."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.fields import DecodedMessages, MessageDecoder
from vxmon.icd.icd import Icd
from vxmon.report.digits import Piece, assemble, safe_text
from vxmon.report.icd_values import field_pieces
from vxmon.trace import Chunk
from vxmon.trace.facts import Boot
from vxmon.trace.payloads import PayloadReader
from vxmon.wire.events import EventId

__all__ = ["MessageFields"]

_NOT_DESCRIBED = b" message:not_described"

Rows = NDArray[np.intp]
Block = NDArray[np.uint8]


class MessageFields:
    """Text by row: ``message:position counter:7 ...``, or that the ICD does not describe the object.

    Raises:
        InputError: from ``feed``, when a message of the ICD cannot be laid out.

    """

    def __init__(self, icd: Icd) -> None:
        self._icd = icd
        self._boot: Boot | None = None
        self._reader: PayloadReader
        self._decoder: MessageDecoder
        self._groups: list[tuple[Rows, Block]] = []

    def feed(self, chunk: Chunk) -> None:
        """Make the text of the next chunk."""
        if self._boot is not chunk.boot:
            self._boot = chunk.boot
            self._reader, self._decoder = PayloadReader(chunk.boot), MessageDecoder(self._icd, chunk.boot)
        messages = self._reader.feed(chunk)
        # What ended in an earlier chunk has no line here.
        messages = messages.take(messages.row >= 0)
        self._groups = [(some.messages.row, _block(some)) for some in self._decoder.decode(messages)]

    def pieces(self, event: int, rows: Rows, count: int) -> list[Piece]:
        """The text of records of an event in the chunk that has ``count`` records."""
        if event != EventId.CONTENT or not self._groups:
            return []
        place = np.full(count, -1)
        place[rows] = np.arange(len(rows))
        found: list[Piece] = []
        for own, block in self._groups:
            here = place[own] >= 0
            if here.any():
                piece = np.zeros((len(rows), block.shape[1]), np.uint8)
                piece[place[own[here]]] = block[here]
                found.append(piece)
        return found


def _block(some: DecodedMessages) -> Block:
    count = len(some.messages)
    if some.layout is None or some.decoded is None:
        return assemble(count, [_NOT_DESCRIBED])
    name = safe_text(some.layout.name).replace(b" ", b"_")
    return assemble(count, [b" message:", name, *field_pieces(some.decoded)])
