# SPDX-License-Identifier: Apache-2.0
"""Events as CSV, a chunk at a time: one event a row, with who ran when it was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.report.digits import Piece, assemble, decimal, lookup_table, name_table, safe_text
from vxmon.report.fields import ArgumentText, Render, class_names, event_names
from vxmon.report.lines import alike, interleave, loss_text
from vxmon.trace import LOSS_ID, LOSS_NAME, Boot, Chunk, ticks_to_ns
from vxmon.trace.running import Running

__all__ = ["HEADER", "CsvPrinter"]

HEADER: Final = b"time_ns,cpu,class,event,partition,task,arguments,boot\n"
"""Columns. The time is since the boot's first record. Partition and task ran when the event was recorded: ``none``
for nobody, empty where it is not known. Missing records are rows of the event LOSS."""

_QUOTE: Final = ord('"')
_NOT_KNOWN_ROW: Final = 1 << 16

Rows = NDArray[np.intp]


class CsvPrinter:
    """Turns chunks into rows of CSV (RFC 4180, lines end with LF)."""

    def __init__(self) -> None:
        self._entered: tuple[object, ...] = ()
        self._boot: Boot
        self._arguments: ArgumentText
        self._templates: dict[tuple[int, int], list[bytes | Render]] = {}

    def lines(self, chunk: Chunk, ran: Running) -> bytearray:
        """The rows of a chunk; ``ran`` says who ran, an element a record."""
        self._enter(chunk.boot)
        columns = chunk.columns
        ns = ticks_to_ns(np.maximum(columns.time - self._origin, 0), self._boot.clock_hz or 10**9)
        groups = [(rows, self._block(chunk, rows, ns, ran)) for rows in alike(columns)]
        return interleave(groups, len(columns))

    def _enter(self, boot: Boot) -> None:
        entered = (boot.number, boot.names.revision, boot.table_fingerprint, boot.table_source)
        if entered == self._entered:
            return
        self._entered, self._boot, self._templates = entered, boot, {}
        self._origin = boot.first_time or 0
        self._arguments = ArgumentText(boot.table, boot.names)
        self._partitions = name_table(_cells(boot.names.named("partition")), b"none")
        self._tasks = name_table(_cells(boot.names.named("task")), b"none")
        self._events = event_names(boot.table) | {LOSS_ID: LOSS_NAME}
        self._classes = class_names(boot.table) | {LOSS_ID: "CONTROL"}
        self._cpus = lookup_table(b",%d," % cpu for cpu in range(256))

    def _block(self, chunk: Chunk, rows: Rows, ns: NDArray[np.int64], ran: Running) -> NDArray[np.uint8]:
        """Rows of records of one event and length, padded with NUL to one width."""
        columns = chunk.columns
        event = int(columns.id[rows[0]])
        arguments = self._argument_pieces(chunk, rows, event)
        names = (self._classes.get(event, "UNKNOWN"), self._events.get(event, f"EVENT_{event}"))
        kind, name = (safe_text(_cell(text)) for text in names)
        pieces: list[Piece] = [
            *decimal(ns[rows]), self._cpus.take(columns.stream[rows]), kind + b"," + name + b",",
            _named(self._partitions, ran.partition[rows]), b",", _named(self._tasks, ran.task[rows]), b',"',
            _doubled(assemble(len(rows), arguments)), b'",%d\n' % self._boot.number,
        ]  # fmt: skip
        return assemble(len(rows), pieces)

    def _argument_pieces(self, chunk: Chunk, rows: Rows, event: int) -> list[Piece]:
        columns = chunk.columns
        if event == LOSS_ID:
            return [lookup_table(loss_text(chunk.losses[at]) for at in columns.at[rows].tolist())]
        key = event, int(columns.slots[rows[0]])
        if key not in self._templates:
            self._templates[key] = self._arguments.template(*key)
        pieces: list[Piece] = []
        for part in self._templates[key]:
            pieces += [part] if isinstance(part, bytes) else part(columns, rows)
        return pieces


def _named(table: NDArray[np.void], values: NDArray[np.int64]) -> Piece:
    return table.take(np.where(values < 0, _NOT_KNOWN_ROW, values))


def _doubled(block: NDArray[np.uint8]) -> NDArray[np.uint8]:
    """Quotes in a quoted cell come twice."""
    quotes = block == _QUOTE
    if not quotes.any():
        return block
    wide = np.zeros((len(block), block.shape[1], 2), np.uint8)
    wide[:, :, 0] = block
    wide[:, :, 1][quotes] = _QUOTE
    return wide.reshape(len(block), -1)


def _cells(names: Mapping[int, str]) -> dict[int, str]:
    return {index: _cell(name) for index, name in names.items()}


def _cell(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if "," in text or '"' in text else text
