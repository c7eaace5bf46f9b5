# SPDX-License-Identifier: Apache-2.0
"""Raw sessions: write, read, recover. A session is a pcapng file of every datagram (proto/SPEC.md section 8)."""

from __future__ import annotations

from vxmon.session.framing import Statistics
from vxmon.session.packets import Endpoint
from vxmon.session.reader import Batch, SessionReader, open_session
from vxmon.session.ring import RingRecorder
from vxmon.session.rotate import RotatingRecorder
from vxmon.session.sink import FileSink, OutputClosedError
from vxmon.session.writer import Recorder, SessionWriter

__all__ = [
    "Batch",
    "Endpoint",
    "FileSink",
    "OutputClosedError",
    "Recorder",
    "RingRecorder",
    "RotatingRecorder",
    "SessionReader",
    "SessionWriter",
    "Statistics",
    "open_session",
]
