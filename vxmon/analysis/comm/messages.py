# SPDX-License-Identifier: Apache-2.0
"""Sends and receives of a chunk as columns, and what was lost before each of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.columns import Chunk
from vxmon.trace.fields import FieldReader
from vxmon.trace.names import LOSS_ID
from vxmon.wire.events import EventId

__all__ = ["Ints", "LossClock", "MessageRows", "message_rows"]

Ints = NDArray[np.int64]
_FIELDS: Final = ("type", "result", "number", "size", "depth", "partition", "task")


@dataclass(slots=True)
class MessageRows:
    """Calls that send or receive, in order of time; all arrays have one element a call.

    place: position among the records of the chunk. sent: a send, else a receive. epoch: how many losses lie before it.
    lost: records lost before it, of losses inside the time that is asked for. kept: inside that time.
    """

    place: Ints
    time: Ints
    sent: NDArray[np.bool_]
    object: Ints
    type: Ints
    result: Ints
    number: Ints
    size: Ints
    depth: Ints
    partition: Ints
    task: Ints
    epoch: Ints
    lost: Ints
    kept: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.place)

    def take(self, which: NDArray[Any] | slice) -> MessageRows:
        """Some of the rows, in the order given."""
        return MessageRows(*(getattr(self, column.name)[which] for column in fields(self)))

    def by_object(self) -> Iterator[tuple[int, MessageRows]]:
        """The rows of each object."""
        if not len(self):
            return
        order = np.argsort(self.object.astype(np.uint16), kind="stable")
        rows = self.take(order)
        edges = np.flatnonzero(np.diff(rows.object)) + 1
        for begin, end in zip([0, *edges.tolist()], [*edges.tolist(), len(rows)], strict=True):
            yield int(rows.object[begin]), rows.take(slice(begin, end))


@dataclass(slots=True)
class LossClock:
    """Counts losses as they pass: ``epoch`` all of them, ``lost`` the records of those inside the time asked for."""

    epoch: int = 0
    lost: int = 0

    def feed(self, chunk: Chunk, kept: NDArray[np.bool_]) -> tuple[Ints, Ints]:
        """(epoch, lost) at each record of the next chunk."""
        columns = chunk.columns
        is_loss = columns.id == LOSS_ID
        records = np.zeros(len(columns), np.int64)
        which = np.flatnonzero(is_loss & kept)
        records[which] = chunk.losses["records"][columns.at[which]]
        epoch, lost = self.epoch + np.cumsum(is_loss), self.lost + np.cumsum(records)
        if len(columns):
            self.epoch, self.lost = int(epoch[-1]), int(lost[-1])
        return epoch, lost


def message_rows(chunk: Chunk, reader: FieldReader, kept: NDArray[np.bool_], clock: LossClock) -> MessageRows:
    """The sends and receives of a chunk; records too short for all their fields are left out."""
    columns = chunk.columns
    epoch, lost = clock.feed(chunk, kept)
    events = (EventId.MSG_SEND, EventId.MSG_RECEIVE)
    which = [reader.having(columns, event, _FIELDS) for event in events]
    place = np.concatenate(which)
    order = np.argsort(place, kind="stable")
    place = place[order]
    values = {
        name: np.concatenate([reader.values(columns, e, name, w) for e, w in zip(events, which, strict=True)])[order]
        for name in _FIELDS
    }
    return MessageRows(
        place=place.astype(np.int64), time=columns.time[place], sent=columns.id[place] == EventId.MSG_SEND,
        object=columns.arg[place].astype(np.int64), epoch=epoch[place], lost=lost[place], kept=kept[place], **values,
    )  # fmt: skip
