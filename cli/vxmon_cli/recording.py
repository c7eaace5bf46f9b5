# SPDX-License-Identifier: Apache-2.0
"""Wires a capture together: signals, session, target, and what is said about it."""

from __future__ import annotations

import datetime as dt
import gc
import platform
import sys
from contextlib import ExitStack
from typing import TYPE_CHECKING, Any

from vxmon import __version__
from vxmon.errors import InputError, OutputError, TargetError
from vxmon.link.capture import Capture, Limits, Plan
from vxmon.link.client import REFUSED_S, Client
from vxmon.link.qemu import LIVE, Boot, DemoTarget, find_image, forward_options, free_port
from vxmon.link.repeatable import record_repeatable
from vxmon.link.timed import parse_timed
from vxmon.session.ring import RingRecorder
from vxmon.session.rotate import RotatingRecorder
from vxmon.session.sink import FileSink, OutputClosedError
from vxmon.session.writer import Recorder, SessionWriter
from vxmon_cli.keys import given_key
from vxmon_cli.progress import Progress, summary_lines
from vxmon_cli.stopping import STOP

if TYPE_CHECKING:
    from vxmon.link.summary import Summary
    from vxmon.wire.types import TargetInfo
    from vxmon_cli.options import CaptureOptions

__all__ = ["record"]

_RING_SIZE = 64 << 20
# A booting demo target takes longer to answer than one that runs, and much longer on a busy host.
_BOOT_SECONDS = 20.0
_CONNECT_SECONDS = 4.6
# The receiving thread must not wait long for its turn.
_SWITCH_S = 0.0005
_APPLICATION = f"vxmon {__version__}"


class _Session:
    """Opens the session when the capture asks for it."""

    def __init__(self, options: CaptureOptions, target: str) -> None:
        self.recorder: Recorder | None = None
        self.name = "standard output" if options.output == "-" else options.output
        self._options = options
        self._target = target
        # A pipe or FIFO is opened now: its reader may be waiting for us, or we for it.
        self._sink = FileSink.open(options.output) if _is_stream(options.output) else None
        several = options.rotate_size or options.rotate_time
        if self._sink is not None and (options.ring or several or self._sink.is_terminal):
            what = "a ring needs a file" if options.ring else "a session is binary; it does not go to a terminal"
            what = "several files need a name of a file" if several else what
            raise InputError(f"{self.name}: {what}")

    def open(self) -> Recorder:
        """Begin the session."""
        options = self._options
        if options.ring:
            size = options.size or _RING_SIZE
            self.recorder = RingRecorder(options.output, size, self._metadata(), _APPLICATION, sync=options.sync)
        elif options.rotate_size or options.rotate_time:
            self.recorder = RotatingRecorder(
                options.output, options.rotate_size, options.rotate_time, self._metadata(), _APPLICATION,
                sync=options.sync,
            )  # fmt: skip
        else:
            sink = self._sink or FileSink.open(options.output)
            self.recorder = SessionWriter(sink, self._metadata(), _APPLICATION, sync=options.sync)
        return self.recorder

    def _metadata(self) -> dict[str, Any]:
        return {
            "created": dt.datetime.now().astimezone().isoformat(timespec="seconds"),
            "command": ["vxmon", *sys.argv[1:]],
            "host": platform.node(),
            "target": self._target,
            "vxmon": __version__,
        }

    @property
    def size(self) -> int:
        """Bytes written."""
        return self.recorder.size if self.recorder is not None else 0


def _is_stream(path: str) -> bool:
    import stat
    from pathlib import Path

    if path == "-":
        return True
    try:
        return not stat.S_ISREG(Path(path).stat().st_mode) and not Path(path).is_dir()
    except (OSError, ValueError):
        return False


def record(options: CaptureOptions) -> int:
    """Do the capture; returns the exit status.

    Raises:
        VxmonError: as the library says.

    """
    progress = Progress()
    try:
        with STOP.ready():
            if options.deterministic:
                return _record_repeatable(options, progress)
            return _record_live(options, progress)
    finally:
        progress.clear()


def _record_repeatable(options: CaptureOptions, progress: Progress) -> int:
    session = _Session(options, "demo target, deterministic")
    boot = Boot(1, options.scenario, extra=options.parameters)
    try:
        summary = record_repeatable(
            find_image(options.image), boot, options.run_config(), options.seconds, session.open,
            only=options.only, without=options.exclude, resolve=options.resolver(),
        )  # fmt: skip
    except OutputClosedError:
        return 0
    _tell_summary(progress, summary, session)
    return 0


def _record_live(options: CaptureOptions, progress: Progress) -> int:
    with ExitStack() as stack:
        demo: DemoTarget | None = None
        key = given_key()
        address = options.address
        if options.qemu:
            image = find_image(options.image)
            port = free_port()
            address = ("127.0.0.1", port)
            boot = Boot.fresh(options.scenario, options.parameters)
            demo = stack.enter_context(DemoTarget(image, boot, forward_options(port), LIVE, key=key))
        if address is None:
            raise TargetError("there is no target")
        session = _Session(options, f"{address[0]}:{address[1]}")
        client = Client(*address, watch=demo.check if demo is not None else lambda: None, key=key)
        stack.callback(client.close)
        stack.callback(lambda: _tell_segments(progress, session))
        _tune()
        return _capture(options, client, session, progress)


def _capture(options: CaptureOptions, client: Client, session: _Session, progress: Progress) -> int:
    def open_session(info: TargetInfo) -> Recorder:
        if options.verbose:
            _tell_target(progress, info, client)
        STOP.capture = capture.stop
        return session.open()

    capture = Capture(client, _plan(options), open_session, progress.tell, progress.show if progress.live else None)
    try:
        summary = capture.run()
    except OutputClosedError:
        _tell_summary(progress, capture.summary, session)
        return 0
    except OutputError:
        if capture.begun:
            _tell_summary(progress, capture.summary, session)
        raise
    except KeyboardInterrupt:
        progress.tell("stopped at once; the session ends where it was" if capture.begun else "stopped")
        return STOP.status
    _tell_summary(progress, summary, session)
    return TargetError.exit_status if summary.failure else 0


def _tell_segments(progress: Progress, session: _Session) -> None:
    """A ring that could not be joined is not lost."""
    if isinstance(session.recorder, RingRecorder) and session.recorder.folder.exists():
        folder = session.recorder.folder
        progress.tell(f"the ring is kept in segments in {folder}: vxmon print {folder}/*")


def _plan(options: CaptureOptions) -> Plan:
    size = 0 if options.ring else options.size
    return Plan(
        options.run_config(), options.only, options.exclude, Limits(options.seconds, options.events, size),
        scenario="" if options.qemu else options.scenario,
        connect_seconds=_BOOT_SECONDS if options.qemu else _CONNECT_SECONDS,
        refused_seconds=_BOOT_SECONDS if options.qemu else REFUSED_S, resolve=options.resolver(), resume=options.resume,
        timed=tuple(map(parse_timed, options.timed)),
    )  # fmt: skip


def _tune() -> None:
    """Short turns between threads, and no pauses of the garbage collector for what lives all the time anyway."""
    sys.setswitchinterval(_SWITCH_S)
    gc.freeze()


def _tell_target(progress: Progress, info: TargetInfo, client: Client) -> None:
    progress.tell(
        f"target {client.name}: {info.os_name} {info.os_release} on {info.board}, clock {info.clock_hz} Hz, "
        f"{info.max_units} units in {info.arena_bytes} bytes; our receive buffer has {client.buffer_bytes} bytes"
    )


def _tell_summary(progress: Progress, summary: Summary, session: _Session) -> None:
    name = session.recorder.name if isinstance(session.recorder, RotatingRecorder) else session.name
    for line in summary_lines(summary, name, session.size):
        progress.tell(line)
    if summary.failure or summary.incomplete:
        progress.tell(f"INCOMPLETE: {summary.failure or summary.incomplete}")
    elif summary.lost_records:
        progress.tell(f"INCOMPLETE: {summary.lost_records:,} events are lost")
    if summary.socket_drops:
        progress.tell("the socket dropped datagrams: let this host have a larger buffer (sysctl net.core.rmem_max)")
