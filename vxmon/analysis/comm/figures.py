# SPDX-License-Identifier: Apache-2.0
"""From the books of ``analyze comm`` to its figures."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from enum import IntEnum
from typing import TYPE_CHECKING, Final

from vxmon.analysis.comm.depth import DepthBook
from vxmon.analysis.comm.destination import DestinationBook
from vxmon.analysis.comm.result import BootComm, Depth, Flow, ObjectComm, Receiving, Sending, unique_labels
from vxmon.analysis.comm.source import SourceBook
from vxmon.analysis.figures import Figure
from vxmon.analysis.scene import AROUND_NS
from vxmon.analysis.spread import Spread, spread_of
from vxmon.trace.names import Names
from vxmon.wire.events import CommResult, EventId, ObjectType
from vxmon.words import counted

if TYPE_CHECKING:
    from vxmon.analysis.comm.analyze import BootBooks

__all__ = ["boot_figures"]

_MILLE: Final = 1000


def boot_figures(books: BootBooks) -> BootComm:
    """The figures of a boot whose books are closed."""
    boot = books.boot
    begin, end = books.observed
    result = BootComm(boot.id, boot.number, boot.clock_hz, begin, end, channel_source=books.routes.origin)
    result.partition_names = boot.names.named("partition")
    indices = sorted({*books.results, *books.sources, *books.destinations})
    # Of all that there are, so that a window gives an object no other label than the whole does.
    labels = _labels(boot.names, sorted({*boot.names.objects, *indices}))
    result.objects = [_object(books, index, labels) for index in indices]
    result.flows = _flows(books)
    result.left_out = books.left_out
    result.notes = [*books.routes.notes, *_notes(books, labels)]
    return result


def _labels(names: Names, indices: list[int]) -> dict[int, str]:
    """A name for each object that no other has: the index stands behind all but the first of equal ones."""
    given = {i: names.objects[i].name if i in names.objects else "" for i in indices}
    return unique_labels({i: name or f"object {i}" for i, name in given.items()})


def _object(books: BootBooks, index: int, labels: Mapping[int, str]) -> ObjectComm:
    entry, routes = books.entry(index), books.routes
    source, destination = books.sources.get(index), books.destinations.get(index)
    from_index, kind = routes.source_of.get(index), books.type_of(index)
    results = books.results.get(index, Counter())
    return ObjectComm(
        index=index,
        label=labels[index],
        name=entry.name if entry is not None else "",
        kind=_name(ObjectType, kind),
        partition=entry.partition if entry is not None else None,
        message_size=entry.message_size if entry is not None else 0,
        capacity=entry.capacity if entry is not None else 0,
        channel=routes.channel.get(index),
        source=None if from_index is None else labels.get(from_index),
        destinations=tuple(labels[d] for d in routes.destinations.get(index, []) if d in labels),
        results=_results(results),
        sending=None if source is None else _sending(books, source, index),
        receiving=None if destination is None else _receiving(books, destination, index),
        overflow=_called(books, index, EventId.MSG_SEND, CommResult.FULL, books.clock.lost),
        orphan_sends=_orphan_sends(books, index),
        orphan_receives={} if destination is None else {str(r): n for r, n in destination.unmatched.items() if n},
    )


def _name(enum: type[IntEnum], value: int) -> str:
    return enum(value).name.lower() if value in list(enum) else str(value)


def _results(counts: Counter[tuple[bool, int]]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {"send": {}, "receive": {}}
    for (sent, result), count in sorted(counts.items()):
        found["send" if sent else "receive"][_name(CommResult, result)] = count
    return found


def _called(books: BootBooks, index: int, event: EventId, result: CommResult, doubt: int) -> Figure:
    """How often calls on an object had a result, when ``doubt`` more may have had it."""
    if not books.recorded(event, index):
        return Figure.none()
    count = books.results.get(index, Counter())[event == EventId.MSG_SEND, result]
    return Figure(count, count, count + doubt, count)


def _orphan_sends(books: BootBooks, index: int) -> dict[str, int]:
    """Of a destination what did not arrive there; of a source what has no destination."""
    unrouted, destination = books.unrouted[index], books.destinations.get(index)
    if unrouted:
        return {"no_channel": unrouted}
    if destination is None or not books.recorded(EventId.MSG_RECEIVE, index):
        return {}
    return {str(reason): count for reason, count in destination.orphans.items() if count}


def _sending(books: BootBooks, source: SourceBook, index: int) -> Sending:
    if not books.recorded(EventId.MSG_SEND, index):
        none, nothing = Figure.none(), Spread.none()
        return Sending(none, none, none, None, nothing, nothing, nothing)
    begin, end = books.observed
    hz, ticks, sent = books.boot.clock_hz, end - begin, source.count()
    at = source.busiest.at
    return Sending(
        sent=sent,
        rate=sent.mapped(lambda count: count * _MILLE * hz // ticks) if hz and ticks else Figure.none(),
        busiest=source.most_in_a_second() if hz else Figure.none(),
        busiest_second=at if hz and at >= 0 else None,
        size=spread_of(source.sizes),
        period=spread_of(source.periods),
        jitter=spread_of(source.jitters),
    )


def _receiving(books: BootBooks, destination: DestinationBook, index: int) -> Receiving:
    if not books.recorded(EventId.MSG_RECEIVE, index):
        none, nothing = Figure.none(), Spread.none()
        return Receiving(none, nothing, nothing, None, none, destination.refresh, none, none)
    known = destination.source is not None
    stale = _called(books, index, EventId.MSG_RECEIVE, CommResult.STALE, destination.doubt)
    return Receiving(
        received=destination.count(),
        latency=spread_of(destination.latencies) if known else Spread.none(),
        age=spread_of(destination.ages) if known and not destination.queue else Spread.none(),
        depth=None if destination.depth is None else _depth(destination.depth),
        stale=Figure.none() if destination.queue else stale,
        refresh=destination.refresh,
        older=destination.read_too_late() if known else Figure.none(),
        overwritten=destination.replaced(books.clock.lost) if known else Figure.none(),
    )


def _depth(book: DepthBook) -> Depth:
    most = book.depths.most
    return Depth(
        least=book.least(), mean=book.mean(), most=book.most(), most_at=None if most is None else most.time,
        full=book.full(), times_full=book.times_full, full_first=book.full_first, full_last=book.full_last,
        longest_full=book.longest_full, unknown=book.unknown,
    )  # fmt: skip


def _flows(books: BootBooks) -> list[Flow]:
    """Messages between partitions, each counted once a destination."""
    counts: Counter[tuple[int, int]] = Counter()
    octets: Counter[tuple[int, int]] = Counter()
    doubts: Counter[tuple[int, int]] = Counter()
    bytes_doubts: Counter[tuple[int, int]] = Counter()
    for index, destination in books.destinations.items():
        entry = books.entry(index)
        receiver = -1 if entry is None else entry.partition
        for sender, (count, total) in destination.flows.items():
            counts[sender, receiver] += count
            octets[sender, receiver] += total
        if destination.doubt:
            doubts[destination.sender, receiver] += destination.doubt
            bytes_doubts[destination.sender, receiver] += destination.doubt * (entry.message_size if entry else 0)
    return [
        Flow(
            None if key[0] < 0 else key[0],
            None if key[1] < 0 else key[1],
            Figure(counts[key], counts[key], counts[key] + doubts[key], counts[key]),
            Figure(octets[key], octets[key], _most(octets[key], doubts[key], bytes_doubts[key]), counts[key]),
        )
        for key in sorted({*counts, *doubts})
    ]


def _most(octets: int, doubt: int, bytes_doubt: int) -> int | None:
    """Where messages may be missing and no object says how large they are, there is no bound."""
    return None if doubt and not bytes_doubt else octets + bytes_doubt


def _notes(books: BootBooks, labels: Mapping[int, str]) -> Iterator[str]:
    for index in sorted(books.sources):
        source = books.sources[index]
        if source.steps_back:
            places = counted(source.steps_back, "place")
            yield f"{labels[index]}: the kernel's numbers go back in {places}; periods there are left out"
        if source.seen and not source.numbering.numbered:
            yield f"{labels[index]}: the kernel gives no numbers; messages are matched by their position in the queue"
    for index in sorted(books.destinations):
        dropped = books.destinations[index].open.dropped
        if dropped:
            text = f"{labels[index]}: the table of open messages overflowed"
            yield f"{text}; {counted(dropped, 'message')} that nobody had received were dropped from it"
    if books.scene.partial:
        far = f"more than {AROUND_NS // 10**9} s away from the window"
        yield f"calls {far} are not looked at: objects without any nearer ones are left out"
    if books.left_out:
        yield f"more than {len(books.results)} objects; {counted(books.left_out, 'call')} on others were left out"
