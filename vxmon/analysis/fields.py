# SPDX-License-Identifier: Apache-2.0
"""The fields of a session's messages, by the layouts that an ICD gives to its objects."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np

from vxmon.icd.decoded import DecodedFields
from vxmon.icd.icd import Icd
from vxmon.icd.layout import Layout
from vxmon.trace.batches import batched
from vxmon.trace.columns import within
from vxmon.trace.facts import Boot
from vxmon.trace.payloads import PayloadReader, Payloads, content_limit
from vxmon.trace.span import EVERYTHING, Span
from vxmon.trace.trace import StoredTrace

__all__ = ["DecodedMessages", "MessageDecoder", "decoded_messages"]


@dataclass(frozen=True, slots=True)
class DecodedMessages:
    """Some messages of one object, with their fields.

    ``layout`` is None where the ICD does not describe the object; ``decoded`` is also None for messages that were not
    recorded themselves and whose content is cut, so that their size is not known.
    """

    object: int
    messages: Payloads
    layout: Layout | None
    decoded: DecodedFields | None


class MessageDecoder:
    """Decodes the messages of one boot.

    Raises:
        InputError: from ``decode``, when a message of the ICD cannot be laid out.

    """

    def __init__(self, icd: Icd, boot: Boot) -> None:
        self._icd = icd
        self._boot = boot
        self._limit = content_limit(boot)
        self._layouts: dict[int, Layout | None] = {}
        self._revision = boot.names.revision

    def layout(self, index: int) -> Layout | None:
        """The layout of an object's messages; None if the ICD does not say."""
        names = self._boot.names
        if names.revision != self._revision:
            self._layouts, self._revision = {}, names.revision
        if index not in self._layouts:
            entry = names.objects.get(index)
            partition = None if entry is None else names.named("partition").get(entry.partition)
            self._layouts[index] = None if entry is None else self._icd.layout_for(entry.name, partition)
        return self._layouts[index]

    def decode(self, messages: Payloads) -> Iterator[DecodedMessages]:
        """The messages of which there is content, of one object after the other, in order within one."""
        messages = messages.take(messages.length > 0)
        order = np.argsort(messages.object, kind="stable")
        edges = np.flatnonzero(np.diff(messages.object[order])) + 1
        for which in np.split(order, edges) if len(order) else []:
            yield from self._decode_one(messages.take(which))

    def _decode_one(self, messages: Payloads) -> Iterator[DecodedMessages]:
        index = int(messages.object[0])
        layout = self.layout(index)
        if layout is None:
            yield DecodedMessages(index, messages, None, None)
            return
        # Where the message itself was not recorded, it is as long as its content, if that is not cut.
        cut = (messages.size < 0) & (self._limit > 0) & (messages.length >= self._limit)
        if cut.any():
            yield DecodedMessages(index, messages.take(cut), layout, None)
            messages = messages.take(~cut)
        sizes = np.maximum(messages.size, messages.length)
        for part, payloads in messages.matrices():
            some = messages.take(part)
            yield DecodedMessages(index, some, layout, layout.decode(payloads, some.length, sizes[part]))


def decoded_messages(
    trace: StoredTrace, icd: Icd, span: Span = EVERYTHING, objects: Mapping[int, frozenset[int]] | None = None
) -> Iterator[tuple[Boot, DecodedMessages]]:
    """The messages of every boot with their fields, in parts, each of one object.

    Args:
        trace: where they are.
        icd: what they mean.
        span: only messages of this time.
        objects: only those of these objects, by the number of their boot; None: all.

    """
    reader: PayloadReader | None = None
    boot: Boot | None = None
    for chunk in batched(trace.chunks()):
        if boot is not chunk.boot:
            yield from _rest(boot, reader, icd, span)
            boot = chunk.boot
            reader = PayloadReader(boot, None if objects is None else objects.get(boot.number, frozenset()))
        if reader is not None:
            yield from _decoded(boot, reader.feed(chunk), icd, span)
    yield from _rest(boot, reader, icd, span)


def _rest(
    boot: Boot | None, reader: PayloadReader | None, icd: Icd, span: Span
) -> Iterator[tuple[Boot, DecodedMessages]]:
    rest = None if reader is None else reader.finish()
    if boot is not None and rest is not None:
        yield from _decoded(boot, rest, icd, span)


def _decoded(boot: Boot, messages: Payloads, icd: Icd, span: Span) -> Iterator[tuple[Boot, DecodedMessages]]:
    inside = within(messages.time, span.ticks(boot.first_time or 0, boot.clock_hz))
    for some in MessageDecoder(icd, boot).decode(messages.take(inside)):
        yield boot, some
