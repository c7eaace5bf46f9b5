# SPDX-License-Identifier: Apache-2.0
"""Events as CSV, a chunk at a time: one event a row, with who ran when it was recorded."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.report.cells import Cell, Part, decimal_cells, item_bytes, listed, one_cell, packed_cells, padded, squeezed
from vxmon.report.digits import safe_text
from vxmon.report.fields import ArgumentText, Records, Template, class_names, event_names, names_by_index
from vxmon.report.laying import Heads, alike, lay
from vxmon.report.lines import loss_text
from vxmon.report.texts import Texts
from vxmon.trace import LOSS_ID, LOSS_NAME, Boot, Chunk, ticks_to_ns
from vxmon.trace.running import Running

__all__ = ["HEADER", "CsvPrinter"]

HEADER: Final = b"time_ns,cpu,class,event,partition,task,arguments,boot\n"
"""Columns. The time is since the boot's first record. Partition and task ran when the event was recorded: ``none``
for nobody, empty where it is not known. Missing records are rows of the event LOSS."""

_QUOTE: Final = ord('"')

Rows = NDArray[np.intp]


class CsvPrinter:
    """Turns chunks into rows of CSV (RFC 4180, lines end with LF)."""

    def __init__(self) -> None:
        self._entered: tuple[object, ...] = ()
        self._boot: Boot
        self._arguments: ArgumentText
        self._templates: dict[tuple[int, int], Template] = {}

    def lines(self, chunk: Chunk, ran: Running) -> bytearray:
        """The rows of a chunk; ``ran`` says who ran, an element a record."""
        self._enter(chunk.boot)
        columns = chunk.columns
        if not len(columns):
            return bytearray()
        ns = ticks_to_ns(np.maximum(columns.time - self._origin, 0), self._boot.clock_hz or 10**9)
        kinds = alike(columns)
        names = [self._event_cells(int(columns.id[rows[0]])) for rows in kinds.rows]
        heads = Heads.of([*decimal_cells(ns), self._cpus.cell(columns.stream), names], kinds)
        groups = [
            (rows, packed_cells(len(rows), [*heads.behind(kind, rows), *self._parts(chunk, rows, ran)]))
            for kind, rows in enumerate(kinds.rows)
        ]
        return lay(heads.fronts, groups)

    def _enter(self, boot: Boot) -> None:
        entered = (boot.number, boot.names.revision, boot.table_fingerprint, boot.table_source)
        if entered == self._entered:
            return
        self._entered, self._boot, self._templates = entered, boot, {}
        self._origin = boot.first_time or 0
        self._arguments = ArgumentText(boot.table, boot.names)
        self._partitions, self._tasks = _names(boot.names.named("partition")), _names(boot.names.named("task"))
        self._events = event_names(boot.table) | {LOSS_ID: LOSS_NAME}
        self._classes = class_names(boot.table) | {LOSS_ID: "CONTROL"}
        self._cpus = Texts(lambda cpu: b",%d," % cpu)

    def _event_cells(self, event: int) -> bytes:
        """Class and name."""
        names = (self._classes.get(event, "UNKNOWN"), self._events.get(event, f"EVENT_{event}"))
        return b"".join(safe_text(_cell(text)) + b"," for text in names)

    def _parts(self, chunk: Chunk, rows: Rows, ran: Running) -> list[Part]:
        """What is behind the names of records of one event and length."""
        arguments = packed_cells(len(rows), self._argument_parts(chunk, rows))
        return [
            _who(self._partitions, ran.partition[rows]), b",", _who(self._tasks, ran.task[rows]), b',"',
            *_doubled(len(rows), arguments), b'",%d' % self._boot.number,
        ]  # fmt: skip

    def _argument_parts(self, chunk: Chunk, rows: Rows) -> list[Part]:
        columns = chunk.columns
        event = int(columns.id[rows[0]])
        if event == LOSS_ID:
            return [listed([loss_text(chunk.losses[at]) for at in columns.at[rows].tolist()])]
        key = event, int(columns.slots[rows[0]])
        if key not in self._templates:
            self._templates[key] = self._arguments.template(*key)
        records = Records.of(columns, rows)
        parts: list[Part] = []
        for part in self._templates[key]:
            parts += [part] if isinstance(part, bytes) else part(records)
        return parts


def _names(names: Mapping[int, str]) -> Texts:
    known = names_by_index({index: _cell(name) for index, name in names.items()})
    return Texts(lambda index: known.get(index, b"%d" % index))


def _who(texts: Texts, values: NDArray[np.int64]) -> Cell:
    """Names; nothing where it is not known."""
    cell = texts.cell(np.maximum(values, 0))
    return Cell(cell.items, cell.lengths * (values >= 0))


def _doubled(rows: int, cells: list[Cell]) -> list[Cell]:
    """Quotes in a quoted cell come twice."""
    if not any((item_bytes(cell.items) == _QUOTE).any() for cell in cells):
        return cells
    block = padded(one_cell(rows, cells))
    wide = np.zeros((*block.shape, 2), np.uint8)
    wide[:, :, 0] = block
    wide[:, :, 1][block == _QUOTE] = _QUOTE
    return [squeezed(wide.reshape(rows, -1))]


def _cell(text: str) -> str:
    doubled = text.replace('"', '""')
    return f'"{doubled}"' if "," in text or '"' in text else text
