# SPDX-License-Identifier: Apache-2.0
"""Where faults are in a trace: instants of health monitor events, exceptions and ED&R events."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.trace.columns import Chunk
from vxmon.trace.criteria import Selection
from vxmon.trace.facts import Boot, Facts
from vxmon.trace.fields import FieldReader
from vxmon.trace.selection import rows_within
from vxmon.trace.span import parse_time
from vxmon.trace.trace import StoredTrace
from vxmon.wire.events import EventId

__all__ = ["ANY_FAULT", "DEFAULT_REACH_NS", "fault_instants", "parse_fault"]

ANY_FAULT: Final = "any"
DEFAULT_REACH_NS: Final = 10_000_000
_EVENTS: Final = {"EXCEPTION": EventId.EXCEPTION, "EDR": EventId.EDR_EVENT, "HM": EventId.HM_EVENT}
_CODES: Final = "hm_code"

Ints = NDArray[np.int64]


def parse_fault(text: str) -> tuple[str, int]:
    """Read ``TYPE[:TIME]``: what fault, and how far around it in ns. Raises InputError."""
    kind, colon, reach = text.partition(":")
    if not kind or (colon and not reach):
        raise InputError(f"fault {text!r}: write TYPE or TYPE:TIME, for example any or DEADLINE_MISSED:5ms")
    return (
        ANY_FAULT if kind.lower() == ANY_FAULT else kind.upper(),
        parse_time(reach) if colon else DEFAULT_REACH_NS,
    )


def fault_instants(trace: StoredTrace, selection: Selection) -> dict[int, tuple[Ints, int]]:
    """Instants of the faults that a selection is around, by boot, in order; and the reach in ticks.

    Faults outside of the selected time do not count.

    Raises:
        InputError: there is no such type of fault.

    """
    _check(selection.around, trace.facts)
    found: dict[int, list[Ints]] = {boot.number: [] for boot in trace.facts.boots}
    reader: FieldReader | None = None
    for chunk in trace.chunks(rows_within(trace, selection.span)):
        if reader is None or reader.table is not chunk.boot.table:
            reader = FieldReader(chunk.boot.table)
        which = _faults(chunk, reader, selection.around)
        found[chunk.boot.number].append(_inside(chunk, which, selection))
    return {
        boot.number: (
            np.sort(np.concatenate([np.zeros(0, np.int64), *found[boot.number]])),
            selection.reach_ns * boot.clock_hz // 10**9,
        )
        for boot in trace.facts.boots
    }


def _inside(chunk: Chunk, which: NDArray[np.intp], selection: Selection) -> Ints:
    times = chunk.columns.time[which]
    begin, end = selection.span.ticks(chunk.boot.first_time or 0, chunk.boot.clock_hz)
    keep = np.ones(len(times), bool) if begin is None else times >= begin
    return times[keep if end is None else keep & (times < end)]


def _faults(chunk: Chunk, reader: FieldReader, kind: str) -> NDArray[np.intp]:
    columns = chunk.columns
    if kind == ANY_FAULT:
        return np.flatnonzero(np.isin(columns.id, list(_EVENTS.values())))
    if kind in _EVENTS:
        return reader.of(columns, _EVENTS[kind])
    which = reader.having(columns, EventId.HM_EVENT, ("code",))
    codes = [number for number, name in _codes(chunk.boot) if name == kind]
    return which[np.isin(reader.values(columns, EventId.HM_EVENT, "code", which), codes)]


def _codes(boot: Boot) -> Iterator[tuple[int, str]]:
    for enum in boot.table.enums:
        if enum.name == _CODES:
            yield from enum.values.items()


def _check(kind: str, facts: Facts) -> None:
    known = {name for boot in facts.boots for _, name in _codes(boot)} | set(_EVENTS) | {ANY_FAULT}
    if kind not in known:
        raise InputError(f"the session has no type of fault {kind}; types are {', '.join(sorted(known))}")
