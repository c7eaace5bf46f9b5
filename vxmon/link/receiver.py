# SPDX-License-Identifier: Apache-2.0
"""Takes datagrams off the socket as fast as they come, apart from everything else (Linux).

A thread empties the socket by recvmmsg(2) into buffers of many datagrams and does nothing else, so that neither a
slow disk nor the protocol makes the kernel's buffer run full. Buffers travel to the consumer and back. Each datagram
arrives in a room with place for its packet block, so that it is stored without being copied.
"""

from __future__ import annotations

import collections
import contextlib
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
from dataclasses import dataclass
from typing import Final

import numpy as np
from numpy.typing import NDArray

from vxmon.errors import TargetError
from vxmon.session.rooms import AT, LARGEST, ROOM, Rooms

__all__ = ["BATCH", "Received", "Receiver", "next_pause", "open_socket"]

# Datagrams in a buffer, and the most that recvmmsg takes.
BATCH: Final = 4096
_BUFFERS: Final = 16
_MOST_AT_ONCE: Final = 1024
_CONTROL: Final = 64
# After datagrams came, more are waited for: a batch costs a millisecond, whatever its size. When they come steadily, so
# long that a batch has about so many, or that the kernel's buffer becomes full to this part.
_GATHER_S: Final = 0.001
_LONGEST_GATHER_S: Final = 0.008
_GATHER: Final = 2048
_GATHER_PART: Final = 1 / 8
# They do when there were so many batches in this time.
_STEADY: Final = 16
_STEADY_S: Final = 0.16
# What the kernel counts against its buffer for a datagram of ours, at most.
_KERNEL_BYTES: Final = 2304
_POLL_MS: Final = 100
_HELD_MS: Final = 1
_FREE_S: Final = 0.1
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
class Received(Rooms):
    """A batch of datagrams as they came in, and the buffer that its memory belongs to."""

    buffer: _Buffer


class _Buffer:
    """Memory for a batch, of shape (BATCH, ROOM), set up once; the first ``count`` rooms are taken."""

    def __init__(self, memory: NDArray[np.uint8]) -> None:
        self.memory = memory
        self.control = np.zeros((BATCH, _CONTROL), np.uint8)
        self.vectors = np.zeros(BATCH, _VECTOR)
        self.headers = np.zeros(BATCH, _HEADER)
        rows = np.arange(BATCH, dtype=np.uint64)
        self.vectors["base"] = memory.ctypes.data + AT + rows * ROOM
        self.vectors["size"] = LARGEST
        self.headers["iov"] = self.vectors.ctypes.data + rows * _VECTOR.itemsize
        self.headers["iov_count"] = 1
        self.headers["control_size"] = _CONTROL
        self.headers["control"] = self.control.ctypes.data + rows * _CONTROL
        self.count = 0

    @property
    def is_full(self) -> bool:
        """No room is left."""
        return self.count == BATCH

    def clear(self) -> None:
        """Make it ready to be filled again."""
        self.headers["control_size"][: self.count] = _CONTROL
        self.control[: self.count, : _CMSG.size] = 0
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


def _gather_at_most(sock: socket.socket) -> int:
    """Datagrams that may wait in the kernel's buffer while more are gathered."""
    fitting = sock.getsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF) // _KERNEL_BYTES
    return max(min(_GATHER, int(fitting * _GATHER_PART)), 1)


def next_pause(pause: float, count: int, wanted: int, *, steady: bool) -> float:
    """How long to gather when the last pause, in s, brought ``count`` datagrams: until ``wanted`` are there.

    While they do not come steadily, as answers do not, no longer than _GATHER_S.
    """
    if not steady:
        return _GATHER_S
    return min(max(pause * wanted / max(count, 1), _GATHER_S / 4), _LONGEST_GATHER_S)


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
        # In one piece, so that the kernel may take large pages for it.
        for memory in np.zeros((_BUFFERS, BATCH, ROOM), np.uint8):
            self._free.put(_Buffer(memory))
        self._gather = _gather_at_most(sock)
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
        pause, buffer = _GATHER_S, self._free.get()
        times = collections.deque[float](maxlen=_STEADY)
        while not self._stop.is_set() and not self.failure:
            if poll.poll(_HELD_MS if buffer.count else _POLL_MS):
                time.sleep(pause)
                now = time.monotonic()
                steady = len(times) == _STEADY and now - times[0] < _STEADY_S
                pause = next_pause(pause, self._fill(buffer), self._gather, steady=steady)
                times.append(now)
            # While the consumer has something to do a larger batch is made for it.
            if buffer.is_full or (buffer.count and self._full.empty()):
                self._full.put(buffer)
                buffer = self._next_buffer()
        self._full.put(buffer)

    def _next_buffer(self) -> _Buffer:
        """A free buffer, as soon as there is one; of no more use when the thread is to end."""
        while not self._stop.is_set():
            with contextlib.suppress(queue.Empty):
                return self._free.get(timeout=_FREE_S)
        return _Buffer(np.zeros((BATCH, ROOM), np.uint8))

    def _fill(self, buffer: _Buffer) -> int:
        """Take what has come, as far as there is room; returns how many datagrams."""
        before = buffer.count
        while not buffer.is_full and self._receive(buffer) == _MOST_AT_ONCE:
            pass
        return buffer.count - before

    def _receive(self, buffer: _Buffer) -> int:
        """One call of the system; returns how many datagrams came."""
        at = buffer.headers.ctypes.data + buffer.count * _HEADER.itemsize
        most = min(_MOST_AT_ONCE, BATCH - buffer.count)
        count = int(self._recvmmsg(self._socket.fileno(), ctypes.c_void_p(at), most, socket.MSG_DONTWAIT, None))
        if count > 0:
            buffer.count += count
            return count
        code = ctypes.get_errno()
        if code == errno.ECONNREFUSED:
            self.refused += 1
        elif code not in (errno.EAGAIN, errno.EINTR):
            self.failure = os.strerror(code)
        return 0

    # ------------------------------------------------------------ the consumer

    def take(self, timeout: float) -> Received | None:
        """The next batch; None when none comes within ``timeout`` seconds. Give it back by :meth:`give_back`."""
        try:
            buffer = self._full.get(timeout=timeout) if timeout > 0 else self._full.get_nowait()
        except queue.Empty:
            return None
        if not buffer.count:
            return None
        return self._read(buffer)

    def give_back(self, batch: Received) -> None:
        """Let the memory of a batch be used again."""
        batch.buffer.clear()
        self._free.put(batch.buffer)

    def _read(self, buffer: _Buffer) -> Received:
        count = buffer.count
        headers = buffer.headers[:count]
        lengths = headers["length"].astype(np.int64)
        times = self._read_control(buffer.control[:count])
        received = Received(buffer.memory[:count], lengths, times, buffer)
        whole = (headers["flags"] & _MSG_TRUNC) == 0
        self.received += count
        if whole.all():
            return received
        self.oversized += int((~whole).sum())
        some = received.only(whole)
        return Received(some.memory, some.lengths, some.times, buffer)

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
