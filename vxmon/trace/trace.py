# SPDX-License-Identifier: Apache-2.0
"""A trace: one or more sessions, read in two passes.

    with open_trace(["run.pcapng"]) as trace:
        for chunk in trace.chunks():
            ...  # chunk.boot, chunk.columns

Of files the first pass is made by open_trace, and ``trace.facts`` is complete from then on. A pipe is read as it comes:
see vxmon.trace.live.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Self

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import InputError
from vxmon.session.packets import wrong_checksums
from vxmon.session.reader import SessionReader
from vxmon.trace.blockbytes import BlockReader
from vxmon.trace.columns import Chunk
from vxmon.trace.cuts import read_cut
from vxmon.trace.decode import merge_blocks
from vxmon.trace.examine import examined
from vxmon.trace.facts import Boot, Facts, FileFacts
from vxmon.trace.index import build_index
from vxmon.trace.linknotes import note_link_records
from vxmon.trace.losses import Damage
from vxmon.trace.names import LOSS_ID
from vxmon.trace.parts import Plan
from vxmon.trace.scan import Scanner
from vxmon.wire.datagram import VERSION

if TYPE_CHECKING:
    from vxmon.trace.keptrows import KeptRows
    from vxmon.trace.store import IndexStore

__all__ = ["StoredTrace", "Trace", "check_format", "note_cut", "note_file"]


class Trace(ABC):
    """Records and facts of one observation. ``facts`` are complete when the trace says so, at the latest at its end."""

    facts: Facts

    def __init__(self, readers: Iterable[SessionReader]) -> None:
        self._readers = list(readers)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the files."""
        for reader in self._readers:
            reader.close()

    @property
    def readers(self) -> tuple[SessionReader, ...]:
        """The open files."""
        return tuple(self._readers)

    @abstractmethod
    def chunks(self) -> Iterator[Chunk]:
        """Records in order of (boot, time, stream, sequence), LOSS rows among them."""

    def count_events(self) -> dict[int, NDArray[np.int64]]:
        """Records of each event id, by boot number; an array of 1024 counts a boot."""
        counts: dict[int, NDArray[np.int64]] = {}
        for chunk in self.chunks():
            seen = np.bincount(chunk.columns.id, minlength=LOSS_ID + 1)[:LOSS_ID]
            number = chunk.boot.number
            note_link_records(chunk)
            counts[number] = counts.get(number, np.zeros(LOSS_ID, np.int64)) + seen
        return counts


class StoredTrace(Trace):
    """A trace of files, read in two passes.

    Args:
        readers: open sessions that can be read again; the trace closes them.
        store: where the outcome of the first pass is kept; None: nowhere.

    Raises:
        InputError: a session cannot be read, or is of a newer wire format.

    """

    def __init__(self, readers: Iterable[SessionReader], store: IndexStore | None = None) -> None:
        super().__init__(readers)
        self._store = store
        self._kept: KeptRows | None = None
        self._index: NDArray[np.void] | None = None
        kept = None if store is None else store.load(self._readers)
        if kept is None:
            self.facts, self._index = self._scan()
        else:
            self.facts, self._kept = kept
            self.facts.cut, _ = read_cut(file.metadata for file in self.facts.files)

    def close(self) -> None:
        """Close the files."""
        super().close()
        if self._kept is not None:
            self._kept.close()

    @property
    def index(self) -> NDArray[np.void]:
        """A row for each block, and each loss behind the last one of a stream: see vxmon.trace.index."""
        if self._index is None and self._kept is not None:
            self._index = self._kept.whole()
        if self._index is None:
            # What is kept turns out to be damaged; the facts were checked before.
            _, self._index = self._scan()
        return self._index

    def rows_near(self, boot: int, begin: int, end: int) -> NDArray[np.void]:
        """Rows of a boot: at least those that are, or whose losses are, between two instants; and its first."""
        near = self._kept.touching(boot, begin, end) if self._kept is not None and self._index is None else None
        return near if near is not None else _of_boot(self.index, boot)

    def switches(self, boot: int) -> bool:
        """False when no event of a boot was switched on or off while it was recorded."""
        if self._kept is not None and self._index is None:
            return self._kept.switches(boot)
        return bool(_of_boot(self.index, boot)["switches"].any())

    def _scan(self) -> tuple[Facts, NDArray[np.void]]:
        """The first pass."""
        scanner = Scanner()
        for number, batch in examined(self._readers):
            scanner.take(number, batch)
        for reader in self._readers:
            note_file(scanner.facts, reader)
        check_format(scanner)
        note_cut(scanner.facts)
        index = build_index(scanner, Damage.of(reader.damage for reader in self._readers))
        if self._store is not None:
            self._store.save(self._readers, scanner.facts, index)
        return scanner.facts, index

    def count_altered(self) -> int | None:
        """Datagrams of vxmon's own files that are not as they were written; None when no file is vxmon's own.

        A datagram that the link damaged was stored as it came, with the checksum of what came.
        """
        altered: int | None = None
        for reader in self._readers:
            for batch in reader.datagrams():
                if not reader.is_own:
                    break
                which = np.flatnonzero(batch.lengths == batch.sent)
                wrong = wrong_checksums(
                    batch.data, *(c[which] for c in (batch.offsets, batch.lengths, batch.sources, batch.destinations))
                )
                altered = (altered or 0) + int(wrong.sum())
        return altered

    def chunks(self, index: NDArray[np.void] | None = None) -> Iterator[Chunk]:
        """Records in order of (boot, time, stream, sequence), LOSS rows among them.

        Args:
            index: some rows of ``self.index``, in its order; all when not given.

        """
        index = self.index if index is None else index
        plan = self.plan(index) if self._is_worth_two(index) else None
        if plan is not None:
            from vxmon.trace.ahead import chunks_ahead

            yield from chunks_ahead(plan)
            return
        read = BlockReader(self._readers)
        for boot, rows in self._boots(index):
            for columns in merge_blocks(rows, read, boot.byte_order == "big"):
                yield Chunk(boot, columns, self.facts.losses)

    def plan(self, index: NDArray[np.void] | None = None) -> Plan | None:
        """The chunks, to be made each on its own; None when they are better made one after the other."""
        index = self.index if index is None else index
        return Plan.of(self._boots(index), BlockReader(self._readers), self.facts.losses)

    def _boots(self, index: NDArray[np.void]) -> Iterator[tuple[Boot, NDArray[np.void]]]:
        edges = np.searchsorted(index["boot"], np.arange(len(self.facts.boots) + 1))
        for boot, begin, end in zip(self.facts.boots, edges[:-1], edges[1:], strict=True):
            yield boot, index[begin:end]

    @staticmethod
    def _is_worth_two(index: NDArray[np.void]) -> bool:
        """True when a second process pays."""
        from vxmon.second import Second
        from vxmon.trace.ahead import ENOUGH_EVENTS

        return Second.is_free() and int(index["count"].sum(dtype=np.int64)) >= ENOUGH_EVENTS


def _of_boot(index: NDArray[np.void], number: int) -> NDArray[np.void]:
    """The rows of a boot; they are in order of boots."""
    begin, end = np.searchsorted(index["boot"], [number, number + 1]).tolist()
    rows: NDArray[np.void] = index[begin:end]
    return rows


def note_file(facts: Facts, reader: SessionReader) -> None:
    """Keep what is known of a file, after it was read."""
    facts.files.append(
        FileFacts(
            name=reader.name,
            size=reader.size,
            format=reader.format,
            metadata=reader.metadata,
            cut_bytes=reader.cut_bytes,
            damaged_bytes=reader.damaged_bytes,
            packets=reader.packets,
            skipped=dict(reader.skipped),
            first_ns=reader.first_ns,
            last_ns=reader.last_ns,
        )
    )
    facts.problems += [f"{reader.name}: {problem}" for problem in reader.problems]
    facts.counters.socket_drops += reader.statistics.dropped or 0


def note_cut(facts: Facts) -> None:
    """Keep what the files say of how they were cut from larger ones."""
    facts.cut, problems = read_cut(file.metadata for file in facts.files)
    facts.problems += problems


def check_format(scanner: Scanner) -> None:
    """Refuse a session that is all of a newer wire format; raises InputError."""
    counters = scanner.facts.counters
    if counters.newer and not scanner.boots:
        raise InputError(
            f"{'its one datagram is' if counters.newer == 1 else f'all {counters.newer} datagrams are'} "
            f"of wire format {scanner.newest}; "
            f"this is vxmon for format {VERSION}: use a newer vxmon"
        )
