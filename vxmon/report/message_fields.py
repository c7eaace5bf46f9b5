# SPDX-License-Identifier: Apache-2.0
"""Fields of messages on the lines of ``print``: behind the last CONTENT record of each message."""

from __future__ import annotations

from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.analysis.fields import DecodedMessages, MessageDecoder
from vxmon.icd.icd import Icd
from vxmon.report.digits import Piece, assemble, safe_text
from vxmon.report.icd_values import field_pieces
from vxmon.trace import Chunk, Columns
from vxmon.trace.facts import Boot
from vxmon.trace.payloads import PayloadReader
from vxmon.wire.events import EventId

__all__ = ["MessageFields"]

_NOT_DESCRIBED: Final = b" message:not_described"
_NO_SIZE: Final = b" size_not_recorded"

Rows = NDArray[np.intp]
Block = NDArray[np.uint8]


class MessageFields:
    """Text by row: ``message:position counter:7 ...``, or that the ICD does not describe the object.

    Args:
        icd: what messages mean.
        apart: chunks are pieces that have nothing to do with each other, not a trace one after the other.

    ``shown`` are the messages so far that had content.

    Raises:
        InputError: from ``feed``, when a message of the ICD cannot be laid out.

    """

    def __init__(self, icd: Icd, *, apart: bool = False) -> None:
        self._icd = icd
        self._apart = apart
        self._boot: Boot | None = None
        self._reader: PayloadReader
        self._decoder: MessageDecoder
        self.shown = 0
        self._fed = False
        self._groups: list[tuple[Rows, Block]] = []

    def before(self, chunk: Chunk) -> None:
        """Make the text of the next chunk before records are selected from it."""
        self.feed(chunk)
        self._fed = True

    def enter(self, chunk: Chunk) -> None:
        """Make the text of a chunk that is to be shown, where that was not done before."""
        if not self._fed:
            self.feed(chunk)
        self._fed = False

    def feed(self, chunk: Chunk) -> None:
        """Make the text of the next chunk."""
        if self._boot is not chunk.boot:
            self._boot = chunk.boot
            self._reader, self._decoder = PayloadReader(chunk.boot), MessageDecoder(self._icd, chunk.boot)
        messages = self._reader.alone(chunk) if self._apart else self._reader.feed(chunk)
        # What ended in an earlier chunk has no line here.
        messages = messages.take(messages.row >= 0)
        # Where a record's data is tells it from all others, whichever of them are selected.
        at = chunk.columns.at
        self.shown += int((messages.length > 0).sum())
        self._groups = [(at[some.messages.row], _block(some)) for some in self._decoder.decode(messages)]

    def pieces(self, columns: Columns, rows: Rows) -> list[Piece]:
        """The text of records of one event."""
        if not self._groups or int(columns.id[rows[0]]) != EventId.CONTENT:
            return []
        at = columns.at[rows]
        order = np.argsort(at, kind="stable")
        found: list[Piece] = []
        for own, block in self._groups:
            place = np.minimum(np.searchsorted(at[order], own), len(at) - 1)
            row = order[place]
            here = at[row] == own
            if here.any():
                piece = np.zeros((len(rows), block.shape[1]), np.uint8)
                piece[row[here]] = block[here]
                found.append(piece)
        return found


def _block(some: DecodedMessages) -> Block:
    count = len(some.messages)
    if some.layout is None:
        return assemble(count, [_NOT_DESCRIBED])
    name = safe_text(some.layout.name).replace(b" ", b"_")
    fields = [_NO_SIZE] if some.decoded is None else field_pieces(some.decoded)
    return assemble(count, [b" message:", name, *fields])
