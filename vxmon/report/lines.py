# SPDX-License-Identifier: Apache-2.0
"""Events as lines of text, in traceprinter's style, a chunk at a time."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Final

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
    squeeze,
)
from vxmon.report.fields import ArgumentText, Render, class_names, event_names
from vxmon.report.format import DEFAULT_FORMAT, Code, parse_format
from vxmon.trace import CAUSES, LOSS_ID, LOSS_NAME, Boot, Chunk, Columns, ticks_to_ns

__all__ = ["LinePrinter"]

_LATE: Final = b" late:yes"
_LOW: Final = 0xFFFFFFFF


class LinePrinter:
    """Turns chunks into lines. Every line is one event and has no control characters but its end.

    Args:
        losses: the loss intervals that LOSS records number, of dtype LOSS.
        head: what stands before the arguments, see vxmon.report.format.
        words: show data words in hexadecimal too.

    Raises:
        InputError: the format is wrong.

    """

    def __init__(
        self, losses: NDArray[np.void], head: str = DEFAULT_FORMAT, *, words: bool = False
    ) -> None:  # fmt: skip
        self.losses = losses
        self._parts = parse_format(head)
        self._words = words
        self._boot = -1
        self._head: _Head | None = None
        self._templates: dict[int, list[bytes | Render]] = {}

    def lines(self, chunk: Chunk) -> bytes:
        """The lines of a chunk."""
        if chunk.boot.number != self._boot or self._head is None:
            self._head = self._enter(chunk.boot)
        columns, rows = chunk.columns, len(chunk.columns)
        head = self._head.pieces(columns)
        arguments = self._arguments(columns)
        late = [_late(chunk.late)] if chunk.late is not None and chunk.late.any() else []
        width = max(block.shape[1] for _, block in arguments)
        begin = sum(_width(piece) for piece in head)
        pieces = [*head, bytes(width), *late, b"\n"]
        block = assemble(rows, pieces)
        for some, text in arguments:
            _scatter(block, begin, some, text)
        return squeeze(block)

    def _enter(self, boot: Boot) -> _Head:
        self._boot = boot.number
        arguments = ArgumentText(boot.table, boot.names, words=self._words)
        self._arguments_of = arguments
        self._templates = {}
        return _Head(self._parts, boot)

    def _arguments(self, columns: Columns) -> list[tuple[NDArray[np.intp], NDArray[np.uint8]]]:
        """Rows and their arguments, for each kind of record."""
        key = columns.id << np.uint16(4) | columns.slots
        order = np.argsort(key, kind="stable")
        edges = np.flatnonzero(np.diff(key[order])) + 1
        groups = []
        for some in np.split(order, edges):
            first = int(some[0])
            pieces = self._pieces(columns, some, int(columns.id[first]), int(columns.slots[first]))
            groups.append((some, assemble(len(some), pieces)))
        return groups

    def _pieces(self, columns: Columns, rows: NDArray[np.intp], event: int, slots: int) -> list[Piece]:
        if event == LOSS_ID:
            return [lookup_table(_loss_text(self.losses[at]) for at in columns.at[rows])]
        key = event << 4 | slots
        if key not in self._templates:
            self._templates[key] = self._arguments_of.template(event, slots)
        pieces: list[Piece] = []
        for part in self._templates[key]:
            pieces += [part] if isinstance(part, bytes) else part(columns, rows)
        return pieces


def _late(late: NDArray[np.bool_]) -> NDArray[np.void]:
    return lookup_table([b"", _LATE]).take(late.astype(np.int64))


def _width(piece: Piece) -> int:
    if isinstance(piece, bytes):
        return len(piece)
    return int(piece.dtype.itemsize * (1 if piece.ndim == 1 else piece.shape[1]))


def _scatter(block: NDArray[np.uint8], at: int, rows: NDArray[np.intp], text: NDArray[np.uint8]) -> None:
    """Copy rows of text to their places."""
    width = text.shape[1]
    if not width:
        return
    kind = f"V{width}"
    spot = np.dtype({"names": ["x"], "formats": [kind], "offsets": [at], "itemsize": block.shape[1]})
    block.reshape(-1).view(spot)["x"][rows] = text.view(kind).reshape(-1)


def _loss_text(loss: np.void) -> bytes:
    """Arguments of a LOSS line. One a loss interval, not one a record."""
    start, end = (f"0x{int(loss[name]):08x}" if loss[name] >= 0 else "unknown" for name in ("start", "end"))
    causes = "".join(f" {cause}:{int(loss[cause])}" for cause in CAUSES if loss[cause])
    return f"records:{int(loss['records'])} from:{start} to:{end}{causes}".encode()


class _Head:
    """What stands before the arguments, for the events of one boot."""

    def __init__(self, parts: Sequence[Code | str], boot: Boot) -> None:
        names = event_names(boot.table)
        classes = class_names(boot.table)
        names[LOSS_ID], classes[LOSS_ID] = LOSS_NAME, "CONTROL"
        self._names = [safe_text(names.get(i, f"EVENT_{i}")).decode() for i in range(LOSS_ID + 1)]
        self._classes = [safe_text(classes.get(i, "UNKNOWN")).decode() for i in range(LOSS_ID + 1)]
        self._hz = boot.clock_hz
        self._origin = boot.first_time or 0
        self._parts: list[bytes | Code] = [p if isinstance(p, Code) else p.encode() for p in parts]
        self._tables = {code: self._table(code) for code in parts if isinstance(code, Code) and code.code not in "ct"}
        self._end_with_blank()

    def _end_with_blank(self) -> None:
        """Keep the arguments apart from what is before them."""
        last = self._parts[-1] if self._parts else b" "
        if isinstance(last, bytes):
            if not last.endswith((b" ", b"\t")):
                self._parts.append(b" ")
        elif last.code in "Zz":
            self._tables[last] = lookup_table(t if t.endswith(b" ") else t + b" " for t in self._texts(last))
        else:
            self._parts.append(b" ")

    def _table(self, code: Code) -> NDArray[np.void]:
        return lookup_table(self._texts(code))

    def _texts(self, code: Code) -> list[bytes]:
        texts = {"Z": self._classes, "z": self._names}.get(code.code) or [str(i) for i in range(LOSS_ID + 1)]
        return [code.apply(text).encode() for text in texts]

    def pieces(self, columns: Columns) -> list[Piece]:
        """For every record."""
        pieces: list[Piece] = []
        for part in self._parts:
            if isinstance(part, bytes):
                pieces.append(part)
            elif part.code in "ct":
                pieces += self._time(part, columns.time)
            else:
                which = columns.stream if part.code == "C" else columns.id
                pieces.append(self._tables[part].take(which))
        return pieces

    def _time(self, code: Code, time: NDArray[np.int64]) -> list[Piece]:
        if code.code == "t":
            return _placed(self._microseconds(time), code, len(time))
        if code.precision is not None and -16 < code.precision < 0:
            time = time & ((1 << -4 * code.precision) - 1)
        digits = max(code.width if code.zero else 1, code.precision or 1)
        if digits % 4 == 0:
            return _placed(hexadecimal(time, digits), code, len(time))
        shown = pad_left(hexadecimal(time, 0), len(time), digits, b"0")
        return _placed(shown, code, len(time))

    def _microseconds(self, time: NDArray[np.int64]) -> list[Piece]:
        """``s.mmm.uuuus`` since the boot's first event; without a clock rate that is not known."""
        if not self._hz:
            return [b"?.???.???us"]
        micro = ticks_to_ns(np.maximum(time - self._origin, 0), self._hz) // 1000
        return [
            *decimal(micro // 1_000_000), b".", *fixed_digits(micro // 1000 % 1000, 3), b".",
            *fixed_digits(micro % 1000, 3), b"us",
        ]  # fmt: skip


def _placed(pieces: list[Piece], code: Code, rows: int) -> list[Piece]:
    """Width of a number. Only leading bytes of the pieces may be nothing."""
    block = assemble(rows, pieces)
    lengths = np.count_nonzero(block, axis=1)
    if (lengths >= code.width).all():
        return [block]
    if code.left:
        missing = np.maximum(code.width - lengths, 0)[:, None]
        return [block, np.where(np.arange(code.width) < missing, 32, 0).astype(np.uint8)]
    return pad_left([block], rows, code.width, b"0" if code.zero else b" ")
