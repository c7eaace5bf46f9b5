# SPDX-License-Identifier: Apache-2.0
"""Events as lines of text, in traceprinter's style, a chunk at a time."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.report.cells import Cell, Part, listed, packed_cells, squeezed
from vxmon.report.digits import assemble
from vxmon.report.fields import ArgumentText, Records, Template
from vxmon.report.format import DEFAULT_FORMAT, parse_format
from vxmon.report.laying import alike, lay
from vxmon.report.line_head import Head
from vxmon.report.walltime import note_text
from vxmon.trace import CAUSES, LOSS_ID, Boot, Chunk

if TYPE_CHECKING:
    from vxmon.report.message_fields import MessageFields

__all__ = ["LinePrinter", "loss_text"]

_LATE: Final = listed([b"", b" late:yes"])

Rows = NDArray[np.intp]


class LinePrinter:
    """Turns chunks into lines. Every line is one event and has no control characters but its end.

    Args:
        head: what stands before the arguments, see vxmon.report.format.
        words: show data words in hexadecimal too.
        classic: the TIME event in its 6.x form.
        fields: what messages mean, behind their content.

    Raises:
        InputError: the format is wrong.

    """

    def __init__(
        self, head: str = DEFAULT_FORMAT, *, words: bool = False, classic: bool = False,
        fields: MessageFields | None = None,
    ) -> None:  # fmt: skip
        self._parts = parse_format(head)
        self.fields = fields
        self._words = words
        self._classic = classic
        self._entered: tuple[object, ...] = ()
        self._head: Head
        self._arguments: ArgumentText
        self._templates: dict[tuple[int, int, bytes], Template] = {}

    def lines(self, chunk: Chunk) -> bytearray:
        """The lines of a chunk."""
        self._enter(chunk.boot)
        if not len(chunk.columns):
            return bytearray()
        if self.fields is not None:
            self.fields.enter(chunk)
        kinds = alike(chunk.columns)
        heads = self._head.of(chunk.columns, kinds)
        groups = [(rows, self._cells(chunk, rows, heads.behind(kind, rows))) for kind, rows in enumerate(kinds.rows)]
        return lay(heads.fronts, groups)

    def _enter(self, boot: Boot) -> None:
        """Make what depends on the boot and its names, when that is not what it was."""
        entered = (boot.number, boot.names.revision, boot.table_fingerprint, boot.table_source)
        if entered == self._entered:
            return
        self._entered = entered
        self._head = Head(self._parts, boot, classic=self._classic)
        self._arguments = ArgumentText(boot.table, boot.names, words=self._words, classic=self._classic)
        self._templates = {}

    def _cells(self, chunk: Chunk, rows: Rows, head: list[Part]) -> list[Cell]:
        """What stands behind the fronts of records of one event and length; ``head`` is the rest of their head."""
        columns = chunk.columns
        event = int(columns.id[rows[0]])
        parts = self._argument_parts(chunk, rows, event, head)
        if self.fields is not None and (pieces := self.fields.pieces(columns, rows)):
            parts.append(squeezed(assemble(len(rows), pieces)))
        if chunk.late is not None:
            parts.append(_LATE.take(chunk.late[rows].astype(np.intp)))
        return packed_cells(len(rows), parts)

    def _argument_parts(self, chunk: Chunk, rows: Rows, event: int, head: list[Part]) -> list[Part]:
        columns = chunk.columns
        if event > LOSS_ID:
            return [*head, listed([note_text(chunk.notes[at]) for at in columns.at[rows].tolist()])]
        if event == LOSS_ID:
            return [*head, listed([loss_text(chunk.losses[at]) for at in columns.at[rows].tolist()])]
        before = b""
        if head and isinstance(last := head[-1], bytes):
            before = last
            head = head[:-1]
        records = Records.of(columns, rows)
        parts = list(head)
        for part in self._template(event, int(columns.slots[rows[0]]), before):
            parts += [part] if isinstance(part, bytes) else part(records)
        return parts

    def _template(self, event: int, slots: int, before: bytes) -> Template:
        key = event, slots, before
        if key not in self._templates:
            self._templates[key] = self._arguments.template(event, slots, before)
        return self._templates[key]


def loss_text(loss: np.void) -> bytes:
    """Arguments of a LOSS line. One a loss interval, not one a record."""
    start, end = (f"0x{int(loss[name]):08x}" if loss[name] >= 0 else "unknown" for name in ("start", "end"))
    causes = "".join(f" {cause}:{int(loss[cause])}" for cause in CAUSES if loss[cause])
    return f"records:{int(loss['records'])} from:{start} to:{end}{causes}".encode()
