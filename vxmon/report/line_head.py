# SPDX-License-Identifier: Apache-2.0
"""What stands before the arguments of lines, for the events of one boot."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon.report.cells import (
    Cell,
    Part,
    aligned,
    decimal_cells,
    fixed_cells,
    hexadecimal_parts,
    listed,
    one_cell,
)
from vxmon.report.digits import safe_text
from vxmon.report.fields import TIME_NAME, class_names, event_names
from vxmon.report.format import Code, Parts
from vxmon.report.laying import Constants, Heads, Kinds
from vxmon.report.texts import Texts
from vxmon.report.walltime import wall_time
from vxmon.trace import LOSS_ID, LOSS_NAME, Boot, Columns
from vxmon.trace.linknotes import NOTE_IDS

__all__ = ["Head"]

_NOTE_NAMES: Final = {number: kind.upper() for kind, number in NOTE_IDS.items()}
_US_PER_S: Final = 1_000_000
# So many seconds in a chunk are listed one by one.
_LISTED: Final = 100
_SPACES: Final = (" ", "\t")

_Fixed = list[Code | str]


class Head:
    """Makes heads.

    Args:
        parts: the format.
        boot: whose names and clock count.
        classic: the TIME event is not padded.

    """

    def __init__(self, parts: Parts, boot: Boot, *, classic: bool) -> None:
        self._names = event_names(boot.table) | {LOSS_ID: LOSS_NAME} | _NOTE_NAMES
        self._classes = class_names(boot.table) | dict.fromkeys((LOSS_ID, *_NOTE_NAMES), "CONTROL")
        self._unpadded = TIME_NAME if classic else ""
        self._hz = boot.clock_hz
        self._boot = boot
        self._origin = boot.first_time or 0
        self._parts = _grouped(parts)
        self._cpus = {part: Texts(_cpu_text(part)) for part in parts if isinstance(part, Code) and part.code == "C"}
        self._constants: dict[tuple[int, int], bytes] = {}

    def of(self, columns: Columns, kinds: Kinds) -> Heads:
        """The heads of a chunk's lines; it has some."""
        events = [int(columns.id[rows[0]]) for rows in kinds.rows]
        parts: list[Part | Constants] = []
        for number, part in enumerate(self._parts):
            if isinstance(part, Code):
                parts += self._varying(part, columns)
            else:
                parts.append([self._constant(number, part, event) for event in events])
        return Heads.of(parts, kinds)

    def _constant(self, number: int, parts: _Fixed, event: int) -> bytes:
        """What depends on the event only; a space before the arguments."""
        key = number, event
        if key not in self._constants:
            texts = [part if isinstance(part, str) else self._name(part, event) for part in parts]
            last = number == len(self._parts) - 1
            if last and len(self._parts) + len(parts) > 1 and not "".join(texts[-1:]).endswith(_SPACES):
                texts.append(" ")
            self._constants[key] = "".join(texts).encode()
        return self._constants[key]

    def _name(self, code: Code, event: int) -> str:
        if code.code == "e":
            return code.apply(str(event))
        names, other = (self._classes, "UNKNOWN") if code.code == "Z" else (self._names, f"EVENT_{event}")
        if code.code == "z" and names.get(event) == self._unpadded:
            code = replace(code, width=0)
        return code.apply(safe_text(names.get(event, other)).decode())

    def _varying(self, code: Code, columns: Columns) -> list[Part]:
        """What differs from row to row."""
        if code.code == "C":
            first = columns.stream[:1]
            only = bool((columns.stream == first).all())
            return [_cpu_text(code)(int(first[0])) if only else self._cpus[code].cell(columns.stream)]
        if code.code == "c":
            return _cycles(code, columns.time)
        parts = wall_time(self._boot, columns.time) if code.code == "w" else self._microseconds(columns.time)
        return [_placed(parts, code, len(columns))] if code.width else parts

    def _microseconds(self, time: NDArray[np.int64]) -> list[Part]:
        """``s.mmm.uuuus`` since the boot's first event; without a clock rate that is not known."""
        if not self._hz:
            return [b"?.???.???us"]
        micro = _ticks_to_us(np.maximum(time - self._origin, 0), self._hz)
        first = int(micro.min()) // _US_PER_S
        # Small numbers are divided several times faster.
        rest = micro - first * _US_PER_S
        rest = rest.astype(np.uint32 if int(rest.max()) < 1 << 32 else np.uint64)
        seconds, milli = rest // _US_PER_S, rest // 1000
        return [
            *_seconds(first, seconds), b".", *fixed_cells(milli - seconds * 1000, 3), b".",
            *fixed_cells(rest - milli * 1000, 3), b"us",
        ]  # fmt: skip


def _ticks_to_us(ticks: NDArray[np.int64], hz: int) -> NDArray[np.int64]:
    """Whole microseconds, rounded down."""
    if hz % _US_PER_S == 0:
        return ticks // (hz // _US_PER_S)
    whole, rest = np.divmod(ticks, hz)
    micro: NDArray[np.int64] = whole * _US_PER_S + rest * _US_PER_S // hz
    return micro


def _seconds(first: int, more: NDArray[Any]) -> list[Cell]:
    """Seconds from ``first`` on; few of them are different."""
    last = int(more.max())
    if last < _LISTED:
        return [listed([b"%d" % (first + second) for second in range(last + 1)]).take(more)]
    return decimal_cells(first + more.astype(np.int64))


def _grouped(parts: Parts) -> list[Code | _Fixed]:
    """Parts with those that depend on the event only in lists: one at either end, and between others."""
    fixed: _Fixed = []
    grouped: list[Code | _Fixed] = [fixed]
    for part in parts:
        if isinstance(part, Code) and part.code in "cCtw":
            fixed = []
            grouped += [part, fixed]
        else:
            fixed.append(part)
    return grouped


def _cpu_text(code: Code) -> Callable[[int], bytes]:
    return lambda cpu: code.apply(str(cpu)).encode()


def _cycles(code: Code, time: NDArray[np.int64]) -> list[Part]:
    if code.precision is not None and -16 < code.precision < 0:
        time = time & ((1 << -4 * code.precision) - 1)
    digits = max(code.width if code.zero else 1, code.precision or 1)
    cells = hexadecimal_parts(time, digits)
    return [_placed(cells, code, len(time))] if code.width > digits else list(cells)


def _placed(parts: Sequence[Part], code: Code, rows: int) -> Cell:
    """Width of a number."""
    return aligned(one_cell(rows, parts), code.width, left=code.left, fill=b"0" if code.zero else b" ")
