# SPDX-License-Identifier: Apache-2.0
"""One storm: a capture through the proxy, and what came of it beside the target's own list and books.

The posix target writes down every user event it records, with its index. On QEMU the kernel prints what was recorded
and what it lost itself, and how many windows, switches, calls and user events there were.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from tests.support import qemu
from tests.support.commands import posix_target
from tests.support.proxy import Faults, Proxy
from vxmon.link.capture import Capture, Limits, Plan
from vxmon.link.client import Client
from vxmon.link.qemu import forward_options, free_port
from vxmon.session.sink import FileSink
from vxmon.session.writer import SessionWriter
from vxmon.trace import LOSS_ID, StoredTrace, open_trace
from vxmon.trace.facts import Stream
from vxmon.wire.block import decode_block
from vxmon.wire.datagram import decode_datagram
from vxmon.wire.types import RunConfig

__all__ = ["CHATTER", "Outcome", "self_started", "storm_posix", "storm_qemu"]

CHATTER = 60_000
_FIRST_EVENT = 32
_TARGET_CAUSES = ("overwritten", "full", "exhausted")
_SMALL_ARENA = 1 << 16
_CONNECT_S = 20.0
_END_S = 60.0
# The target goes on for so many frames of 20 ms behind a run, and at its own end waits 2 s for what was not taken.
_MORE_FRAMES = 100


@dataclass(frozen=True)
class Outcome:
    """A run's figures, and what of them is not as it must be."""

    name: str
    recorded: int
    delivered: int
    lost: dict[str, int]
    wrong: list[str] = field(default_factory=list)

    @property
    def text(self) -> str:
        causes = ", ".join(f"{cause} {count}" for cause, count in self.lost.items() if count) or "nothing"
        verdict = "; ".join(self.wrong) or "as it must be"
        return f"{self.name}: recorded {self.recorded}, delivered {self.delivered}, lost {causes}: {verdict}"


@dataclass(frozen=True)
class _Seen:
    """What the session says: figures of the stream, and its records as columns."""

    stream: Stream
    index: NDArray[np.int64]
    ids: NDArray[np.int64]
    args: NDArray[np.int64]
    words: NDArray[np.int64]
    problems: list[str]


def _read(path: Path) -> _Seen:
    with open_trace([str(path)]) as trace:
        assert isinstance(trace, StoredTrace)
        rows = trace.index[trace.index["count"] > 0]
        index = np.concatenate(
            [np.arange(a, a + n) for a, n in zip(rows["first_index"].tolist(), rows["count"].tolist(), strict=True)]
        )
        parts: list[tuple[NDArray[np.int64], ...]] = []
        for chunk in trace.chunks():
            columns = chunk.columns.take(np.flatnonzero(chunk.columns.id != LOSS_ID))
            at = np.where(columns.slots > 0, columns.at, 0)
            first = columns.words[at] if len(columns.words) else np.zeros(len(columns), np.uint32)
            data = np.where(columns.slots > 0, first, 0)
            parts.append(tuple(column.astype(np.int64) for column in (columns.id, columns.arg, data)))
        ids, args, words = (np.concatenate(column) for column in zip(*parts, strict=True))
        (stream,) = [stream for stream in trace.facts.streams if stream.recorded]
        return _Seen(stream, index, ids, args, words, trace.facts.problems)


# ---------------------------------------------------------------- the capture


def _capture(proxy: Proxy, path: Path, seconds: float, config: RunConfig) -> list[str]:
    """Record through the proxy; returns what the capture complained of."""
    told: list[str] = []
    client = Client("127.0.0.1", proxy.port)
    plan = Plan(config, limits=Limits(seconds), connect_seconds=_CONNECT_S)
    try:
        capture = Capture(client, plan, lambda _: SessionWriter(FileSink.open(str(path)), {}), told.append)
        summary = capture.run()
    finally:
        client.close()
    return [text for text in (summary.failure, summary.incomplete) if text]


def _judge(seen: _Seen, recorded: int, own: list[int], proxy: Proxy, told: list[str], *, whole: bool) -> Iterator[str]:
    """What is not as it must be. A link that does not carry the run may leave its end open, when that is told.

    ``whole``: nothing may be lost on a link that carries it.
    """
    faults = proxy.faults
    if told and not faults.is_wide:
        if seen.stream.recorded > recorded:
            yield f"the session says {seen.stream.recorded} recorded, the target {recorded}"
        return
    yield from told if whole else ()
    yield from _identity(seen, recorded)
    yield from _causes(seen, dict(zip(_TARGET_CAUSES, own, strict=True)), proxy)
    if faults.is_wide and whole and seen.stream.lost_records:
        yield "lost records although the link carries them"


def _identity(seen: _Seen, recorded: int) -> Iterator[str]:
    stream = seen.stream
    if stream.recorded != recorded:
        yield f"the session says {stream.recorded} recorded, the target {recorded}"
    if stream.recorded != stream.delivered + stream.lost_records + stream.before_attach:
        yield "recorded is not delivered + lost"
    if stream.delivered != len(seen.ids) or len(np.unique(seen.index)) != len(seen.ids):
        yield f"{stream.delivered} delivered, but {len(seen.ids)} records are there"
    if any("contradict" in problem for problem in seen.problems):
        yield "counters contradict the indices"


def _causes(seen: _Seen, own: dict[str, int], proxy: Proxy) -> Iterator[str]:
    """Losses are the target's own as it counts them; the rest was in blocks that were sent and are not here."""
    lost = seen.stream.lost
    yield from (
        f"{cause}: the session says {lost[cause]}, the target {own[cause]}"
        for cause in _TARGET_CAUSES
        if lost[cause] != own[cause]
    )
    blocks = [decode_block(decode_datagram(data)) for data in proxy.sent.values()]
    missing = [block for block in blocks if not np.isin(block.first_index, seen.index)]
    in_missing = sum(block.count for block in missing)
    told, pending = lost["link"] + lost["corrupt"], lost["pending"]
    # What was cut after the target was last heard is pending for the host.
    if not told <= in_missing <= told + pending:
        yield f"{lost['link']} link and {lost['corrupt']} corrupt, but {in_missing} were in blocks that did not arrive"
    damaged = sum(block.count for block in missing if block.sequence in proxy.damaged)
    if lost["corrupt"] > damaged:
        yield f"{lost['corrupt']} corrupt, but only {damaged} arrived damaged"
    if lost["truncated"] or (pending and proxy.faults.is_wide):
        yield "truncated or pending"


# ---------------------------------------------------------------- the posix target


def storm_posix(faults: Faults, folder: Path, seconds: float, rate: int = CHATTER, *, small: bool = False) -> Outcome:
    """One run on the posix target; ``small``: with an arena that does not cover the round trips."""
    path, listed = folder / f"posix-{faults.seed}.pcapng", folder / f"posix-{faults.seed}.list"
    arena = _SMALL_ARENA if small else 4 << 20
    options = ("--no-module", "--rate", str(rate), "--list", str(listed), "--arena", str(arena))
    console: list[str] = []
    with posix_target(*options, console=console) as target, Proxy(target.port, faults, keep=True) as proxy:
        told = _capture(proxy, path, seconds, RunConfig())
    found = re.search(r"recorded (\d+), overwritten (\d+), full (\d+), exhausted (\d+)", "".join(console))
    assert found, console
    recorded, *own = map(int, found.groups())
    seen = _read(path)
    truth = np.fromfile(listed, np.uint32).reshape(-1, 4).astype(np.int64)
    wrong = [*_judge(seen, recorded, own, proxy, told, whole=not small), *_contents(seen, truth, recorded)]
    name = f"posix{' small arena' if small else ''} seed {faults.seed} loss {faults.loss} %"
    return Outcome(name, recorded, seen.stream.delivered, seen.stream.lost, wrong)


def _contents(seen: _Seen, truth: NDArray[np.int64], recorded: int) -> Iterator[str]:
    """Every record delivered is the one of that index in the target's list; those not listed are the agent's own."""
    table = np.zeros((recorded, 3), np.int64)
    table[truth[:, 0]] = truth[:, 1:]
    expected = table[seen.index]
    listed = expected[:, 0] > 0
    got = np.stack([seen.ids, seen.args, seen.words], axis=1)
    different = int((got[listed] != expected[listed]).any(axis=1).sum())
    if different:
        yield f"{different} records are not those of the target's list"
    if (seen.ids[~listed] >= _FIRST_EVENT).any():
        yield "records that are not in the target's list"


# ---------------------------------------------------------------- QEMU


def _qemu_outcome(name: str, path: Path, console: str, proxy: Proxy, told: list[str], *, whole: bool = True) -> Outcome:
    book = qemu.books(console, "monitor")[0]
    recorded, own = int(book["recorded"]), [int(book[cause]) for cause in _TARGET_CAUSES]
    seen = _read(path)
    wrong = list(_judge(seen, recorded, own, proxy, told, whole=whole))
    return Outcome(
        f"{name} seed {proxy.faults.seed} loss {proxy.faults.loss} %", recorded, seen.stream.delivered,
        seen.stream.lost, wrong,
    )  # fmt: skip


def storm_qemu(faults: Faults, folder: Path, seconds: float, rate: int = CHATTER) -> Outcome:
    """One run of scenario chatter on QEMU."""
    path, port = folder / f"qemu-{faults.seed}.pcapng", free_port()
    parameters = f"entropy={faults.seed + 1} scenario=chatter rate={rate} run={round(seconds + 6)}s"
    with (
        qemu.boot(f"storm-{faults.seed}", parameters, *forward_options(port)) as log,
        Proxy(port, faults, keep=True) as proxy,
    ):
        told = _capture(proxy, path, seconds, RunConfig())
        console = qemu.wait_for_books(log)
    return _qemu_outcome("QEMU", path, console, proxy, told)


def self_started(faults: Faults, path: Path, frames: int, scenario: str = "nominal", *, whole: bool = True) -> Outcome:
    """A run that QEMU's target starts by itself, at boot, and streams with acknowledgements until it ends.

    What has not arrived 4 s after its end stays on the target, so on a busy machine it may not be ``whole``.
    """
    with Proxy(0, faults, keep=True) as proxy:
        peer = f"peer=10.0.2.2:{proxy.target_side}@52:55:0a:00:02:02"
        config = f"config=ms:{20 * frames} run={frames + _MORE_FRAMES}f"
        parameters = f"autostart=1 {peer} entropy=7 scenario={scenario} rate={CHATTER} {config}"
        with qemu.boot(f"self-started-{faults.seed}", parameters, *forward_options(free_port())) as log:
            told = _follow(proxy, path, lambda: "end of run" in log.read_text(encoding="latin-1"))
            console = qemu.wait_for_books(log)
    return _qemu_outcome("QEMU, self-started,", path, console, proxy, told, whole=whole)


def _follow(proxy: Proxy, path: Path, over: Callable[[], bool]) -> list[str]:
    """Take a run that goes on already, from its first block to its end, or until the target is ``over``."""
    client = Client("127.0.0.1", proxy.port)
    recorder = SessionWriter(FileSink.open(str(path)), {})
    try:
        client.record(recorder)
        client.link.follow(1, one_way=False)
        client.connect(_CONNECT_S)
        client.wait(lambda: client.link.drained or over(), _END_S)
        client.wait(lambda: client.link.acknowledged, 1.0)
        recorder.finish(client.receiver.received, client.receiver.dropped)
    finally:
        client.close()
    return [] if client.link.drained else ["the end did not arrive"]
