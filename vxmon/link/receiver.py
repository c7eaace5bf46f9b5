# SPDX-License-Identifier: Apache-2.0
"""Takes datagrams off the socket as fast as they come, apart from everything else (Linux).

A thread empties the socket by recvmmsg(2) into buffers of many datagrams and does nothing else, so that neither a
slow disk nor the protocol makes the kernel's buffer run full. Buffers travel to the consumer and back.
"""

from __future__ import annotations

import ctypes
import errno
import os
import queue
import select
import socket
import struct
import sys
import threading
import time
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import TargetError
from vxmon.valueclass import dataclass

__all__ = ["BATCH", "STRIDE", "Received", "Receiver", "open_socket"]

# Datagrams in a buffer (the most that recvmmsg takes), and room for each; ours are at most 1472 bytes.
BATCH: Final = 1024
STRIDE: Final = 2048
_BUFFERS: Final = 32
_CONTROL: Final = 64
# After datagrams came, more are waited for this long: fewer and larger batches.
_GATHER_S: Final = 0.001
_POLL_MS: Final = 100
_WANTED_BUFFER: Final = 64 << 20

_SO_RCVBUFFORCE: Final = 33
_SO_TIMESTAMPNS: Final = 35
_SO_MEMINFO: Final = 55
# Nine numbers; the last one counts dropped datagrams (SK_MEMINFO_DROPS).
_MEMINFO: Final = struct.Struct("=9I")
_MSG_TRUNC: Final = 0x20

# struct msghdr of 64-bit Linux in its struct mmsghdr, as in recvmmsg(2).
_HEADER: Final = np.dtype(
    {
        "names": ["iov", "iov_count", "control", "control_size", "flags", "length"],
        "formats": ["<u8", "<u8", "<u8", "<u8", "<i4", "<u4"],
        "offsets": [16, 24, 32, 40, 48, 56],
        "itemsize": 64,
    }
)  # fmt: skip
_VECTOR: Final = np.dtype([("base", "<u8"), ("size", "<u8")])
# Control message: length, level, type; then the value.
_CMSG: Final = struct.Struct("<Qii")


@dataclass(slots=True)
class Received:
    """A batch of datagrams: row i of ``slots`` holds ``lengths[i]`` bytes that arrived at ``times[i]`` (ns, epoch)."""

    slots: NDArray[np.uint8]
    lengths: NDArray[np.int64]
    times: NDArray[np.int64]
    buffer: _Buffer


class _Buffer:
    """Memory for one recvmmsg call, set up once."""

    def __init__(self) -> None:
        self.slots = np.zeros((BATCH, STRIDE), np.uint8)
        self.control = np.zeros((BATCH, _CONTROL), np.uint8)
        self.vectors = np.zeros(BATCH, _VECTOR)
        self.headers = np.zeros(BATCH, _HEADER)
        rows = np.arange(BATCH, dtype=np.uint64)
        self.vectors["base"] = self.slots.ctypes.data + rows * STRIDE
        self.vectors["size"] = STRIDE
        self.headers["iov"] = self.vectors.ctypes.data + rows * _VECTOR.itemsize
        self.headers["iov_count"] = 1
        self.headers["control"] = self.control.ctypes.data + rows * _CONTROL
        self.count = 0

    def prepare(self) -> None:
        """Make it ready for the next call."""
        self.headers["control_size"] = _CONTROL
        self.control[:, : _CMSG.size] = 0
        self.count = 0


def open_socket(host: str, port: int) -> tuple[socket.socket, int]:
    """A UDP socket connected to a target, with a large receive buffer; returns it and the buffer's bytes.

    Raises:
        TargetError: the name is not known, or there is no way to it.

    """
    if not sys.platform.startswith("linux") or sys.byteorder != "little" or ctypes.sizeof(ctypes.c_void_p) != 8:
        raise TargetError("capture needs 64-bit little-endian Linux")
    try:
        address = socket.getaddrinfo(host, port, socket.AF_INET, socket.SOCK_DGRAM)[0][4]
        sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
        sock.connect(address)
    except OSError as error:
        raise TargetError(f"{host}:{port}: {error.strerror or error}") from error
    try:
        sock.setsockopt(socket.SOL_SOCKET, _SO_RCVBUFFORCE, _WANTED_BUFFER)
    except PermissionError:
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, _WANTED_BUFFER)
    sock.setsockopt(socket.SOL_SOCKET, _SO_TIMESTAMPNS, 1)
    # The kernel doubles what is asked for, to have room for its own structures.
    return sock, sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // 2


class Receiver:
    """The receiving thread.

    ``oversized`` counts datagrams too long to be ours, ``refused`` ICMP answers that nothing listens on the target's
    port.
    """

    def __init__(self, sock: socket.socket) -> None:
        self.received = 0
        self.oversized = 0
        self.refused = 0
        self.failure = ""
        self._socket = sock
        self._full: queue.SimpleQueue[_Buffer] = queue.SimpleQueue()
        # The buffer used last is used next, so that only as much memory is touched as is needed at once.
        self._free: queue.LifoQueue[_Buffer] = queue.LifoQueue()
        for _ in range(_BUFFERS):
            self._free.put(_Buffer())
        self._stop = threading.Event()
        self._recvmmsg = ctypes.CDLL(None, use_errno=True).recvmmsg
        self._thread = threading.Thread(target=self._run, name="vxmon-receiver", daemon=True)

    def start(self) -> None:
        """Begin."""
        self._thread.start()

    def stop(self) -> None:
        """End the thread; what it has received can still be taken."""
        self._stop.set()
        if self._thread.is_alive():
            self._thread.join()

    # ------------------------------------------------------------ the thread

    def _run(self) -> None:
        poll = select.poll()
        poll.register(self._socket, select.POLLIN)
        full = False
        while not self._stop.is_set() and not self.failure:
            if not full and not poll.poll(_POLL_MS):
                continue
            if not full:
                # The further behind the consumer is, the fewer and larger batches it gets.
                time.sleep(_GATHER_S * (1 + self._full.qsize()))
            full = self._receive()

    def _receive(self) -> bool:
        """Fill a buffer; true when there may be more."""
        buffer = self._free.get()
        buffer.prepare()
        count = self._recvmmsg(
            self._socket.fileno(), ctypes.c_void_p(buffer.headers.ctypes.data), BATCH, socket.MSG_DONTWAIT, None
        )
        if count > 0:
            buffer.count = count
            self._full.put(buffer)
            return bool(count == BATCH)
        self._free.put(buffer)
        code = ctypes.get_errno()
        if code == errno.ECONNREFUSED:
            self.refused += 1
        elif code not in (errno.EAGAIN, errno.EINTR):
            self.failure = os.strerror(code)
        return False

    # ------------------------------------------------------------ the consumer

    def take(self, timeout: float) -> Received | None:
        """The next batch; None when none comes within ``timeout`` seconds. Give it back by :meth:`give_back`."""
        try:
            buffer = self._full.get(timeout=timeout) if timeout > 0 else self._full.get_nowait()
        except queue.Empty:
            return None
        return self._read(buffer)

    def give_back(self, batch: Received) -> None:
        """Let the memory of a batch be used again."""
        self._free.put(batch.buffer)

    def _read(self, buffer: _Buffer) -> Received:
        count = buffer.count
        headers = buffer.headers[:count]
        lengths = headers["length"].astype(np.int64)
        times = self._read_control(buffer.control[:count])
        slots = buffer.slots[:count]
        whole = (headers["flags"] & _MSG_TRUNC) == 0
        self.received += count
        if not whole.all():
            self.oversized += int((~whole).sum())
            slots, lengths, times = slots[whole], lengths[whole], times[whole]
        return Received(slots, lengths, times, buffer)

    @staticmethod
    def _read_control(control: NDArray[np.uint8]) -> NDArray[np.int64]:
        """Arrival times as the kernel stamped them."""
        words = control.view("<i8")
        stamped = control.view("<i4")[:, 3] == _SO_TIMESTAMPNS
        times: NDArray[np.int64] = np.where(stamped, words[:, 2] * 1_000_000_000 + words[:, 3], time.time_ns())
        return times

    @property
    def dropped(self) -> int:
        """Datagrams the kernel dropped because the socket's buffer was full. Exact (kernel 4.12 and later)."""
        info = self._socket.getsockopt(socket.SOL_SOCKET, _SO_MEMINFO, _MEMINFO.size)
        return int(_MEMINFO.unpack(info)[8]) if len(info) == _MEMINFO.size else 0
