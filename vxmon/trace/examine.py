# SPDX-License-Identifier: Apache-2.0
"""What can be known of a batch of datagrams by itself, so that two processes can work on a session in turns.

:func:`examine` makes every check of the blocks of a batch; it depends on nothing before the batch. What does, the
scanner (vxmon.trace.scan) makes of the outcome, batch by batch in the order of the files.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Final

import numpy as np
from numpy.typing import NDArray

from vxmon import turns
from vxmon.session.reader import Batch, SessionReader
from vxmon.trace.memory import keep_freed
from vxmon.wire.bulk import BLOCK_ROW, KINDS, BlockScan, block_datagrams, scan_blocks
from vxmon.wire.events import EventId
from vxmon.wire.gather import gather, raw

__all__ = ["ENOUGH_BYTES", "TRUNCATED", "Examined", "examine", "examined", "unknown"]

ENOUGH_BYTES: Final = 24 << 20
"""With smaller sessions a second process does not pay."""

# More than a batch needs to be examined; new pages for each would cost a tenth of the time. Tables of rows are larger,
# see Scanner, and still go back.
_WORKING_BYTES: Final = 1 << 22
# Batches of which the second process examines one more than half: the first puts together what both find.
_EXTRA: Final = 12
TRUNCATED: Final = KINDS.index("truncated")

# The first block of a run in a batch: its arrival in ns, and the flags of its datagram.
_FIRST: Final = np.dtype([("time", "<i8"), ("boot", "<u4"), ("run", "<u4"), ("flags", "<u8")])
# Any other datagram: its arrival in ns, its endpoints, its size on the link and as captured, in bytes.
_OTHER: Final = np.dtype([("time", "<i8"), ("source", "<i8"), ("destination", "<i8"), ("sent", "<i8"), ("size", "<i8")])
_NUMBER: Final = np.dtype("<i8")
_BYTE: Final = np.dtype("u1")
_TRUTH: Final = np.dtype("?")
# At the beginning of an outcome that is sent: which batch, and how much there is of each kind.
_NUMBERS: Final = 10

Rows = NDArray[np.void]


@dataclass(slots=True)
class Examined:
    """The outcome for a batch.

    ``rows`` are its valid blocks, ``slots_at`` a place in the file; ``openings`` are the places of those whose first
    record is a run's START; ``firsts`` the first of each run. ``refused`` are blocks that are not valid, ``damaged``
    the datagrams of those that are :func:`unknown`. ``others`` are all other datagrams, whose bytes are ``payloads``.
    ``blocks`` counts datagrams of channel BLOCK.
    """

    blocks: int
    rows: Rows
    openings: NDArray[np.int64]
    firsts: Rows
    refused: BlockScan
    damaged: list[bytes]
    others: Rows
    payloads: list[bytes]


def unknown(refused: BlockScan) -> NDArray[np.bool_]:
    """Refused blocks that were not cut and of which no more is known than what they claim."""
    guess: NDArray[np.bool_] = ~refused.exact & (refused.kind != TRUNCATED)
    return guess


def examine(batch: Batch) -> Examined:
    """Check all blocks of a batch and tell them from its other datagrams."""
    is_block = block_datagrams(batch.data, batch.offsets, batch.lengths)
    which, others = np.flatnonzero(is_block), np.flatnonzero(~is_block)
    scan = scan_blocks(batch.data, batch.offsets[which], batch.lengths[which], batch.sent[which])
    wrong = np.flatnonzero(scan.kind)
    refused = BlockScan(scan.rows[wrong], scan.kind[wrong], scan.exact[wrong], scan.claims[wrong])
    rows, times = scan.rows, batch.times[which]
    if len(wrong):
        good = scan.kind == 0
        rows, times = raw(rows)[good].view(BLOCK_ROW), times[good]
    rows["slots_at"] += batch.base
    return Examined(
        blocks=len(which),
        rows=rows,
        openings=_openings(rows, batch),
        firsts=_firsts(rows, times),
        refused=refused,
        damaged=[batch.payload(number) for number in which[wrong[unknown(refused)]].tolist()],
        others=_others(batch, others),
        payloads=[batch.payload(number) for number in others.tolist()],
    )


def _openings(rows: Rows, batch: Batch) -> NDArray[np.int64]:
    """Places of rows whose first record, that of index 0, is START."""
    first = np.flatnonzero((rows["first_index"] == 0) & (rows["count"] > 0) & (rows["run"] > 0))
    heads = gather(batch.data, rows["slots_at"][first] - batch.base, 4)
    words = np.where(rows["flags"][first] & 1, heads.view(">u4")[:, 0], heads.view("<u4")[:, 0])
    openings: NDArray[np.int64] = first[words >> 22 == EventId.START]
    return openings


def _firsts(rows: Rows, times: NDArray[np.int64]) -> Rows:
    """The first row of each boot and run, in their order."""
    key = rows["boot"].astype(np.uint64) << np.uint64(32) | rows["run"]
    alone = len(key) and (key == key[0]).all()
    at = np.zeros(1, np.intp) if alone else np.sort(np.unique(key, return_index=True)[1])
    firsts = np.zeros(len(at), _FIRST)
    firsts["time"] = times[at]
    for name in ("boot", "run", "flags"):
        firsts[name] = rows[name][at]
    return firsts


def _others(batch: Batch, which: NDArray[np.intp]) -> Rows:
    others = np.zeros(len(which), _OTHER)
    columns = (batch.times, batch.sources, batch.destinations, batch.sent, batch.lengths)
    for name, column in zip(_OTHER.names or (), columns, strict=True):
        others[name] = column[which]
    return others


# ---------------------------------------------------------------- two processes


def examined(readers: Sequence[SessionReader]) -> Iterator[tuple[int, Examined]]:
    """Number of the file and outcome of each batch of files, in their order; of large ones by two processes in turns.

    An outcome's rows last until the next is asked for.

    Raises:
        InputError: see :meth:`SessionReader.datagrams`.

    """
    keep_freed(_WORKING_BYTES)
    batches = ((number, batch) for number, reader in enumerate(readers) for batch in reader.datagrams(reuse=True))
    if turns.worth_turns(sum(reader.size or 0 for reader in readers), ENOUGH_BYTES):
        yield from _in_turns(batches)
    else:
        for number, batch in batches:
            yield number, examine(batch)


def _in_turns(batches: Iterator[tuple[int, Batch]]) -> Iterator[tuple[int, Examined]]:
    now: list[tuple[int, Batch]] = []

    def remembered() -> Iterator[Batch]:
        for number, batch in batches:
            now[:] = [(number, batch)]
            yield batch

    outcomes = turns.in_turns(remembered(), lambda batch: _pack(batch, examine(batch)), lent=True, extra=_EXTRA)
    for data in outcomes:
        number, batch = now[0]
        # A file that grows, or is written anew, may be another one to the other process.
        outcome = _unpack(data, batch)
        yield number, examine(batch) if outcome is None else outcome


def _mark(batch: Batch) -> tuple[int, int, int]:
    """Tells a batch from others."""
    return batch.base, len(batch.data), len(batch)


def _pack(batch: Batch, outcome: Examined) -> bytearray:
    """An outcome as bytes for the other process."""
    refused = outcome.refused
    tables: list[NDArray[Any]] = [
        outcome.rows, outcome.openings, outcome.firsts, outcome.others, refused.rows, refused.kind, refused.exact,
        refused.claims, np.array([len(data) for data in outcome.damaged], np.int64),
    ]  # fmt: skip
    counts = [len(outcome.rows), len(outcome.openings), len(outcome.firsts), len(outcome.others), len(refused.rows)]
    head = np.array([*_mark(batch), outcome.blocks, *counts, len(outcome.damaged)], np.int64)
    parts = [*(table.tobytes() for table in (head, *tables)), *outcome.damaged, *outcome.payloads]
    return bytearray().join(parts)


def _unpack(data: turns.Data, batch: Batch) -> Examined | None:
    """The outcome again; None when it is of another batch."""
    take = _taker(data)
    *mark, blocks, rows, openings, firsts, others, refused, damaged = take(_NUMBER, _NUMBERS).tolist()
    if tuple(mark) != _mark(batch):
        return None
    outcome = Examined(
        blocks=blocks,
        rows=take(BLOCK_ROW, rows),
        openings=take(_NUMBER, openings),
        firsts=take(_FIRST, firsts),
        others=take(_OTHER, others),
        refused=BlockScan(*(take(kind, refused) for kind in (BLOCK_ROW, _BYTE, _TRUTH, _TRUTH))),
        damaged=[],
        payloads=[],
    )
    sizes = take(_NUMBER, damaged).tolist(), outcome.others["size"].tolist()
    outcome.damaged, outcome.payloads = ([take(_BYTE, size).tobytes() for size in some] for some in sizes)
    return outcome


def _taker(data: turns.Data) -> Callable[[np.dtype[Any], int], NDArray[Any]]:
    """Takes arrays from the front of data, one after the other."""
    at = 0

    def take(kind: np.dtype[Any], count: int) -> NDArray[Any]:
        nonlocal at
        table = np.frombuffer(data, kind, count, at)
        at += table.nbytes
        return table

    return take
