# SPDX-License-Identifier: Apache-2.0
"""The bit-equal run: the demo target records by itself, QEMU writes down what it sends, nothing disturbs its time."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable
from contextlib import suppress
from pathlib import Path
from typing import Final

import numpy as np

from vxmon.errors import InputError, WireError
from vxmon.link.machine import HostLink
from vxmon.link.qemu import REPEATABLE, Boot, DemoTarget, dump_options
from vxmon.link.selection import Resolver, TargetView, select_events
from vxmon.link.summary import Summary
from vxmon.session.packets import Endpoint
from vxmon.session.reader import Batch, open_session
from vxmon.session.writer import Recorder
from vxmon.wire.bulk import block_datagrams, scan_blocks
from vxmon.wire.datagram import DEFAULT_PORT, decode_datagram
from vxmon.wire.events import TABLES
from vxmon.wire.types import Policy, RunConfig, TargetInfo

__all__ = ["boot_config", "record_repeatable"]

# The peer's Ethernet address is given, so that nothing has to be asked or answered.
_PEER: Final = f"10.0.2.2:{DEFAULT_PORT}@52:55:0a:00:02:02"
# The target's time runs at most this much slower than ours, on a very busy host.
_SLOWEST: Final = 60
_START_S: Final = 60
_RELEASE: Final = "2.4"


def boot_config(config: RunConfig, events: frozenset[int], seconds: float) -> str:
    """The boot parameter ``config`` for a run configuration that stops by itself."""
    offered = {event.id for event in TABLES[_RELEASE].events}
    items = [f"ms:{round(seconds * 1000)}", "oneway:1"]
    numbers = (
        ("datagram", config.datagram_bytes), ("unit", config.unit_slots), ("units", config.units),
        ("highwater", config.high_water), ("flush", config.flush_ms), ("noupload", int(config.no_upload)),
    )  # fmt: skip
    items += [f"{key}:{number}" for key, number in numbers if number]
    items += [f"{key}:{number}" for key, number in _plan_items(config) if number]
    items += ["policy:linear"] if config.policy == Policy.LINEAR else []
    if events != offered:
        items.append("on:" + "+".join(map(str, sorted(events))))
    return ",".join(items)


def _plan_items(config: RunConfig) -> Iterable[tuple[str, int]]:
    """What only a plan can say."""
    if config.hidden_partitions or config.hidden_objects:
        raise InputError("filters need a target that runs: a repeatable run begins before there are partitions")
    return (
        ("payload", config.payload), ("content", config.content_bytes), ("fast", int(config.fast)),
        ("memory", config.memory_ms or 0), ("stack", config.stack_ms or 0), ("operations", config.operations_ms or 0),
        ("grow", config.grow_units), ("maxunits", config.max_units), ("records", config.max_records),
        ("whenfull", int(config.stop_when_full)),
    )  # fmt: skip


def record_repeatable(
    image: Path,
    boot: Boot,
    config: RunConfig,
    seconds: float,
    open_recorder: Callable[[], Recorder],
    *,
    only: Iterable[str] = (),
    without: Iterable[str] = (),
    resolve: Resolver | None = None,
    going_on: Iterable[object] = (),
) -> Summary:
    """Record ``seconds`` of target time, from boot on.

    ``going_on`` is asked again and again while the target runs; it may raise to end it.

    Raises:
        InputError: an event or class that the demo target does not have.
        TargetError: the target does not run, or panics.
        OutputError: the session cannot be written.

    """
    table = TABLES[_RELEASE]
    offered = frozenset(event.id for event in table.events)
    if resolve is not None:
        config = resolve(TargetView(TargetInfo(os_release=_RELEASE, offered=offered), table))
        events = config.events
    else:
        events = select_events(table, offered, tuple(only), tuple(without))
    with tempfile.TemporaryDirectory(prefix="vxmon-") as folder:
        dump = Path(folder) / "dump.pcap"
        whole = Boot(
            boot.entropy, boot.scenario, run=f"{int(seconds) + 2}s", release=_RELEASE, peer=_PEER,
            config=boot_config(config, events, seconds), extra=boot.extra,
        )  # fmt: skip
        with DemoTarget(image, whole, dump_options(dump), REPEATABLE) as target:
            if target.wait(_START_S + _SLOWEST * seconds, going_on):
                raise target.failure()
        return _store(dump, open_recorder(), seconds)


def _store(dump: Path, recorder: Recorder, seconds: float) -> Summary:
    """Copy the datagrams of QEMU's pcap file into a session and count them as a capture would."""
    summary, links = Summary(seconds=seconds), _Links()
    with open_session(str(dump)) as source:
        for batch in source.datagrams():
            summary.datagrams += len(batch)
            for number in range(len(batch)):
                ends = (_endpoint(int(batch.sources[number])), _endpoint(int(batch.destinations[number])))
                recorder.add(int(batch.times[number]), *ends, batch.payload(number))
            recorder.flush()
            summary.corrupt += links.count(batch)
    for link in links.of_boots():
        summary.add_run(link)
    recorder.finish(summary.datagrams, 0)
    return summary


class _Links:
    """A link for each boot: nothing is asked of the target, and a batch may hold datagrams of several boots."""

    def __init__(self) -> None:
        self._links: dict[int, HostLink] = {}

    def of_boots(self) -> Iterable[HostLink]:
        """Those that followed a run; without any, one that knows of none."""
        return [link for link in self._links.values() if link.run] or [HostLink(1, 0)]

    def count(self, batch: Batch) -> int:
        """Tell the links what arrived; returns how many blocks are corrupt."""
        blocks = block_datagrams(batch.data, batch.offsets, batch.lengths)
        which = np.flatnonzero(blocks)
        scan = scan_blocks(batch.data, batch.offsets[which], batch.lengths[which])
        rows = scan.rows[scan.kind == 0]
        for boot in np.unique(rows["boot"]).tolist():
            own, link = rows[rows["boot"] == boot], self._link(boot)
            if not link.run:
                link.follow(int(own["run"][0]), one_way=True)
            link.stored(own, 0)
        for number in np.flatnonzero(~blocks).tolist():
            self._receive(batch.payload(number))
        return int((scan.kind != 0).sum())

    def _receive(self, data: bytes) -> None:
        with suppress(WireError):
            self._link(decode_datagram(data).header.boot).receive(data, 0)

    def _link(self, boot: int) -> HostLink:
        return self._links.setdefault(boot, HostLink(1, 0))


def _endpoint(value: int) -> Endpoint:
    return Endpoint(value >> 16, value & 0xFFFF)
