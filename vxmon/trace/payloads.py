# SPDX-License-Identifier: Apache-2.0
"""Messages with their content, put together from the records of a trace.

A message is a MSG_SEND or MSG_RECEIVE; its content follows in CONTENT records of the same stream, object and number, in
order of offset. Of content that was recorded without its message, the message is taken to begin at offset 0.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, fields, replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.trace.batches import present
from vxmon.trace.columns import Chunk, Columns, byte_field
from vxmon.trace.facts import Boot
from vxmon.trace.fields import FieldReader
from vxmon.wire.events import CommResult, EventId
from vxmon.wire.slots import MAX_DATA_SLOTS
from vxmon.wire.types import Payload

__all__ = ["PayloadReader", "Payloads", "content_limit"]

# Bytes of content in one record: all data slots but the first.
_PART_BYTES: Final = 8 * (MAX_DATA_SLOTS - 1)
_MOST_AT_ONCE: Final = 1 << 23
_CALLS: Final = ("result", "number", "size", "partition")
_HEAD: Final = ("number", "offset", "length")
_NO_LIMIT: Final = 1 << 31
_EVENTS: Final = (EventId.MSG_SEND, EventId.MSG_RECEIVE)
# Results of calls that have a message.
_CARRY: Final = (CommResult.OK, CommResult.STALE, CommResult.FULL)

Ints = NDArray[np.int64]


def content_limit(boot: Boot) -> int:
    """The most bytes of a message that a boot's runs recorded; 0 where it is not known."""
    configs = [run.config for run in boot.runs.values() if run.config is not None]
    if boot.info is not None and boot.info.config is not None:
        configs.append(boot.info.config)
    limits = [
        min(config.content_bytes, _PART_BYTES) if config.fast else config.content_bytes
        for config in configs
        if config.payload == Payload.CONTENT
    ]
    return max(limits, default=0)


@dataclass(slots=True)
class Payloads:
    """Messages in the order of their ends; all arrays but ``data`` have one element a message.

    event: MSG_SEND, MSG_RECEIVE, or CONTENT where the message itself was not recorded; result, partition and time are
    then 0. size: bytes that it had, -1 where that is not known. row: of its last record in the chunk, -1 where
    that was in an earlier one. at, length: where the bytes that were recorded without a gap are in ``data``.
    """

    event: Ints
    object: Ints
    number: Ints
    result: Ints
    partition: Ints
    time: Ints
    size: Ints
    row: Ints
    at: Ints
    length: Ints
    data: NDArray[np.uint8]

    def __len__(self) -> int:
        return len(self.event)

    def take(self, which: NDArray[Any] | slice) -> Payloads:
        """Some of them; the data is shared."""
        return replace(self, **{f.name: getattr(self, f.name)[which] for f in fields(self) if f.name != "data"})

    def matrices(self) -> Iterator[tuple[slice, NDArray[np.uint8]]]:
        """The bytes, shape (messages, longest), for some messages at a time; what lies behind a length is 0."""
        width = max(int(self.length.max()) if len(self) else 0, 1)
        step = max(_MOST_AT_ONCE // width, 1)
        for begin in range(0, len(self), step):
            part = slice(begin, begin + step)
            inside = np.arange(width) < self.length[part][:, None]
            source = np.where(inside, self.at[part][:, None] + np.arange(width), 0)
            data = self.data if len(self.data) else np.zeros(1, np.uint8)
            yield part, np.where(inside, data[source], 0).astype(np.uint8)


@dataclass(slots=True)
class _Parts:
    """Records of messages, ordered by message and place.

    start: index of the record that the message of each begins with. valid: no gap lies before it in its message.
    """

    row: NDArray[np.intp]
    is_call: NDArray[np.bool_]
    length: Ints
    start: NDArray[np.intp]
    valid: NDArray[np.bool_]


class PayloadReader:
    """Puts the messages of one boot together, chunk by chunk; what is not whole at a chunk's end comes with the next.

    Args:
        boot: its table says where the fields are.
        objects: only the messages of these objects; None: all.

    """

    def __init__(self, boot: Boot, objects: frozenset[int] | None = None) -> None:
        self._reader = FieldReader(boot.table)
        self._limit = content_limit(boot) or _NO_LIMIT
        self._objects = None if objects is None else np.array(sorted(objects), np.uint16)
        self._content = self._reader.place(EventId.CONTENT, "content")
        self._held: Columns | None = None

    def feed(self, chunk: Chunk) -> Payloads:
        """The messages that end in a chunk."""
        held, columns = self._held, chunk.columns
        if held is None:
            return self._read(columns, 0, hold=True)
        return self._read(Columns.join([held, columns]), len(held), hold=True)

    def alone(self, chunk: Chunk) -> Payloads:
        """The messages of a chunk that has no part in what was or will be fed."""
        return self._read(chunk.columns, 0, hold=False)

    def finish(self) -> Payloads | None:
        """The messages whose end never came, if there are any."""
        return None if self._held is None else self._read(self._held, len(self._held), hold=False)

    def _read(self, columns: Columns, before: int, *, hold: bool) -> Payloads:
        parts = self._parts(columns)
        lengths = np.where(parts.valid, parts.length, 0)
        ends = np.cumsum(lengths)
        first = np.flatnonzero(parts.start == np.arange(len(parts.start)))
        last = np.append(first[1:], len(parts.start)) - 1 if len(first) else first
        found = self._payloads(columns, parts, first)
        found.at = ends[first] - lengths[first]
        found.length = ends[last] - found.at
        found.row = np.maximum.reduceat(parts.row, first) if len(first) else parts.row.astype(np.int64)
        found.data = self._bytes(columns, parts, ends - lengths)
        held = self._held_back(columns, parts, found, first) if hold else np.zeros(len(first), bool)
        if hold or before:
            self._held = None
        if held.any():
            rows = np.sort(parts.row[np.isin(parts.start, first[held])])
            self._held = columns.take(rows).packed()
        found.row = np.maximum(found.row - before, -1)
        found = found.take(~held)
        return found.take(np.argsort(found.row, kind="stable"))

    # ------------------------------------------------------------ which record belongs to which message

    def _rows(self, columns: Columns, event: int, names: tuple[str, ...]) -> NDArray[np.intp]:
        rows = self._reader.having(columns, event, names)
        return rows if self._objects is None else rows[np.isin(columns.arg[rows], self._objects)]

    def _parts(self, columns: Columns) -> _Parts:
        calls = [self._rows(columns, event, _CALLS) for event in _EVENTS]
        content = self._rows(columns, EventId.CONTENT, _HEAD)
        row = np.concatenate([*calls, content])
        is_call = np.arange(len(row)) < len(row) - len(content)
        number = np.concatenate([
            self._reader.values(columns, event, "number", some)
            for event, some in zip((*_EVENTS, EventId.CONTENT), (*calls, content), strict=True)
        ])  # fmt: skip
        nothing = np.zeros(len(row) - len(content), np.int64)
        offset, length = (
            np.concatenate([nothing, self._reader.values(columns, EventId.CONTENT, name, content)])
            for name in ("offset", "length")
        )
        room = 8 * columns.slots[row].astype(np.int64) - 4 * (self._content.word if self._content is not None else 0)
        length = np.where(is_call, 0, np.minimum(length, np.maximum(room, 0)))
        order = np.lexsort((row, number, columns.arg[row], columns.stream[row]))
        key = np.stack([columns.stream[row], columns.arg[row], number])[:, order]
        new = np.ones(len(row), bool)
        new[1:] = (key[:, 1:] != key[:, :-1]).any(axis=0)
        return _grouped(row[order], is_call[order], offset[order], length[order], new)

    def _payloads(self, columns: Columns, parts: _Parts, first: NDArray[np.intp]) -> Payloads:
        """What the records say that messages begin with; where their bytes are comes later."""
        row, is_call = parts.row[first], parts.is_call[first]
        values = {name: np.zeros(len(row), np.int64) for name in _CALLS}
        values["size"][~is_call] = -1
        for event in (*_EVENTS, EventId.CONTENT):
            which = np.flatnonzero(columns.id[row] == event)
            for name in _CALLS if event != EventId.CONTENT else ("number",):
                values[name][which] = self._reader.values(columns, event, name, row[which])
        nothing = np.zeros(0, np.int64)
        return Payloads(
            event=columns.id[row].astype(np.int64), object=columns.arg[row].astype(np.int64), row=nothing,
            time=columns.time[row], at=nothing, length=nothing, data=np.zeros(0, np.uint8), **values,
        )  # fmt: skip

    def _bytes(self, columns: Columns, parts: _Parts, at: Ints) -> NDArray[np.uint8]:
        """The content of all valid parts, one behind the other; ``at``: where each begins."""
        length = np.where(parts.valid, parts.length, 0)
        data = np.zeros(int(length.sum()), np.uint8)
        for slots in present(columns.slots[parts.row[length > 0]]) if self._content is not None else []:
            which = np.flatnonzero((columns.slots[parts.row] == slots) & (length > 0))
            content = byte_field(columns, self._content.word if self._content else 0, slots, parts.row[which])
            place = np.arange(content.shape[1])
            inside = place < length[which][:, None]
            data[(at[which][:, None] + place)[inside]] = content[inside]
        return data

    def _held_back(
        self, columns: Columns, parts: _Parts, found: Payloads, first: NDArray[np.intp]
    ) -> NDArray[np.bool_]:
        """The last message of each stream, where it should have more content than it has."""
        held = np.zeros(len(first), bool)
        row = parts.row[first]
        stream = columns.stream[row]
        for number in present(stream):
            own = np.flatnonzero(stream == number)
            held[own[row[own].argmax()]] = True
        carries = np.isin(found.result, _CARRY)
        return held & carries & (found.length < np.minimum(found.size, self._limit))


def _grouped(
    row: NDArray[np.intp], is_call: NDArray[np.bool_], offset: Ints, length: Ints, new: NDArray[np.bool_]
) -> _Parts:
    """Divide records, ordered by stream, object, number and place, into messages; ``new``: another number begins."""
    after_call = np.zeros(len(row), bool)
    after_call[1:] = is_call[:-1] & ~new[1:]
    begins = is_call | ((offset == 0) & ~after_call)
    start = np.maximum.accumulate(np.where(begins, np.arange(len(row)), -1)) if len(row) else row
    group = np.cumsum(new)
    ours = (start >= 0) & (group[np.maximum(start, 0)] == group)
    row, is_call, offset, length = row[ours], is_call[ours], offset[ours], length[ours]
    start = (np.cumsum(ours) - 1)[start[ours]]
    before = np.cumsum(length) - length
    gap = ~is_call & (offset != before - before[start])
    gaps = np.cumsum(gap)
    return _Parts(row, is_call, length, start, gaps == gaps[start])
