# SPDX-License-Identifier: Apache-2.0
"""Events as lines of text, in traceprinter's style, a chunk at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.report.digits import (
    Piece,
    assemble,
    decimal,
    fixed_digits,
    hexadecimal,
    lookup_table,
    pad_left,
    safe_text,
)
from vxmon.report.fields import TIME_NAME, ArgumentText, Render, class_names, event_names
from vxmon.report.format import DEFAULT_FORMAT, Code, parse_format
from vxmon.report.walltime import note_text, wall_time
from vxmon.trace import CAUSES, LOSS_ID, LOSS_NAME, Boot, Chunk, Columns, ticks_to_ns
from vxmon.trace.linknotes import NOTE_IDS

if TYPE_CHECKING:
    from vxmon.report.message_fields import MessageFields

__all__ = ["LinePrinter", "alike", "interleave", "loss_text"]

_NOTE_NAMES: Final = {number: kind.upper() for kind, number in NOTE_IDS.items()}
_LATE: Final = b" late:yes"

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
        self._head: _Head
        self._arguments: ArgumentText
        self._templates: dict[int, list[bytes | Render]] = {}

    def lines(self, chunk: Chunk) -> bytearray:
        """The lines of a chunk."""
        self._enter(chunk.boot)
        columns = chunk.columns
        if self.fields is not None:
            self.fields.enter(chunk)
        groups = [(rows, self._block(chunk, rows)) for rows in alike(columns)]
        return interleave(groups, len(columns))

    def _enter(self, boot: Boot) -> None:
        """Make what depends on the boot and its names, when that is not what it was."""
        entered = (boot.number, boot.names.revision, boot.table_fingerprint, boot.table_source)
        if entered == self._entered:
            return
        self._entered = entered
        self._head = _Head(self._parts, boot, classic=self._classic)
        self._arguments = ArgumentText(boot.table, boot.names, words=self._words, classic=self._classic)
        self._templates = {}

    def _block(self, chunk: Chunk, rows: Rows) -> NDArray[np.uint8]:
        """Lines of records of one event and length, padded with NUL to one width."""
        columns = chunk.columns
        event, slots = int(columns.id[rows[0]]), int(columns.slots[rows[0]])
        pieces = self._head.pieces(columns, rows, event)
        if event > LOSS_ID:
            pieces.append(lookup_table(note_text(chunk.notes[at]) for at in columns.at[rows].tolist()))
        elif event == LOSS_ID:
            pieces.append(lookup_table(loss_text(chunk.losses[at]) for at in columns.at[rows].tolist()))
        else:
            for part in self._template(event, slots):
                pieces += [part] if isinstance(part, bytes) else part(columns, rows)
        if self.fields is not None:
            pieces += self.fields.pieces(columns, rows)
        if chunk.late is not None:
            pieces.append(lookup_table([b"", _LATE]).take(chunk.late[rows].astype(np.int64)))
        return assemble(len(rows), [*pieces, b"\n"])

    def _template(self, event: int, slots: int) -> list[bytes | Render]:
        key = event << 4 | slots
        if key not in self._templates:
            self._templates[key] = self._arguments.template(event, slots)
        return self._templates[key]


def alike(columns: Columns) -> list[Rows]:
    """Rows of each event and length; a boot's own order is kept within."""
    key = columns.id << np.uint16(4) | columns.slots
    order = np.argsort(key, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(key[order])) + 1) if len(order) else []


def interleave(groups: list[tuple[Rows, NDArray[np.uint8]]], count: int) -> bytearray:
    """Put the rows of all groups in their order, and take the padding out."""
    widths = np.zeros(count, np.int64)
    for rows, block in groups:
        widths[rows] = block.shape[1]
    ends = np.cumsum(widths)
    begins = ends - widths
    text = bytearray(int(ends[-1]) if count else 0)
    for rows, block in groups:
        width = block.shape[1]
        # A window of the row's width at every byte, so that a row is stored by one copy.
        spots: NDArray[np.void] = np.ndarray((len(text) - width + 1,), f"V{width}", text, strides=(1,))
        spots[begins[rows]] = block.view(f"V{width}").reshape(-1)
    return text.translate(None, b"\0")


def loss_text(loss: np.void) -> bytes:
    """Arguments of a LOSS line. One a loss interval, not one a record."""
    start, end = (f"0x{int(loss[name]):08x}" if loss[name] >= 0 else "unknown" for name in ("start", "end"))
    causes = "".join(f" {cause}:{int(loss[cause])}" for cause in CAUSES if loss[cause])
    return f"records:{int(loss['records'])} from:{start} to:{end}{causes}".encode()


class _Head:
    """What stands before the arguments, for the events of one boot."""

    def __init__(self, parts: Sequence[Code | str], boot: Boot, *, classic: bool) -> None:
        self._names = event_names(boot.table) | {LOSS_ID: LOSS_NAME} | _NOTE_NAMES
        self._classes = class_names(boot.table) | dict.fromkeys((LOSS_ID, *_NOTE_NAMES), "CONTROL")
        self._unpadded = TIME_NAME if classic else ""
        self._hz = boot.clock_hz
        self._boot = boot
        self._origin = boot.first_time or 0
        self._parts = parts
        self._cpus = {p: lookup_table(p.apply(str(cpu)).encode() for cpu in range(256)) for p in _codes(parts, "C")}

    def pieces(self, columns: Columns, rows: Rows, event: int) -> list[Piece]:
        """For records of one event."""
        pieces: list[Piece] = []
        for part in self._parts:
            if isinstance(part, str):
                pieces.append(part.encode())
            elif part.code == "c":
                pieces += _cycles(part, columns.time[rows])
            elif part.code == "t":
                pieces += _placed(self._microseconds(columns.time[rows]), part, len(rows))
            elif part.code == "w":
                pieces += _placed(wall_time(self._boot, columns.time[rows]), part, len(rows))
            elif part.code == "C":
                pieces.append(self._cpus[part].take(columns.stream[rows]))
            else:
                pieces.append(self._constant(part, event))
        last = pieces[-1] if pieces else b" "
        apart = isinstance(last, bytes) and last.endswith((b" ", b"\t"))
        return pieces if apart else [*pieces, b" "]

    def _constant(self, code: Code, event: int) -> bytes:
        """What depends on the event only."""
        if code.code == "e":
            return code.apply(str(event)).encode()
        names, other = (self._classes, "UNKNOWN") if code.code == "Z" else (self._names, f"EVENT_{event}")
        if code.code == "z" and names.get(event) == self._unpadded:
            code = replace(code, width=0)
        return code.apply(safe_text(names.get(event, other)).decode()).encode()

    def _microseconds(self, time: NDArray[np.int64]) -> list[Piece]:
        """``s.mmm.uuuus`` since the boot's first event; without a clock rate that is not known."""
        if not self._hz:
            return [b"?.???.???us"]
        micro = ticks_to_ns(np.maximum(time - self._origin, 0), self._hz) // 1000
        return [
            *decimal(micro // 1_000_000), b".", *fixed_digits(micro // 1000 % 1000, 3), b".",
            *fixed_digits(micro % 1000, 3), b"us",
        ]  # fmt: skip


def _codes(parts: Sequence[Code | str], kinds: str) -> list[Code]:
    return [part for part in parts if isinstance(part, Code) and part.code in kinds]


def _cycles(code: Code, time: NDArray[np.int64]) -> list[Piece]:
    if code.precision is not None and -16 < code.precision < 0:
        time = time & ((1 << -4 * code.precision) - 1)
    digits = max(code.width if code.zero else 1, code.precision or 1)
    whole = digits % 4 == 0
    shown = hexadecimal(time, digits) if whole else pad_left(hexadecimal(time, 0), len(time), digits, b"0")
    return shown if code.width <= digits else _placed(shown, code, len(time))


def _placed(pieces: list[Piece], code: Code, rows: int) -> list[Piece]:
    """Width of a number. Only leading bytes of the pieces may be nothing."""
    if not code.width:
        return pieces
    block = assemble(rows, pieces)
    if not code.left:
        return pad_left([block], rows, code.width, b"0" if code.zero else b" ")
    missing = np.maximum(code.width - np.count_nonzero(block, axis=1), 0)[:, None]
    return [block, np.where(np.arange(code.width) < missing, 32, 0).astype(np.uint8)]
