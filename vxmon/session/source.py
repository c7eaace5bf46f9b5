# SPDX-License-Identifier: Apache-2.0
"""Where a session is read from: a file, a FIFO or standard input; and telling what it is."""

from __future__ import annotations

import os
import re
import stat
from pathlib import Path
from typing import Final

import numpy as np

from vxmon.errors import InputError
from vxmon.session.formats import BYTE_ORDER_MAGIC, PCAP_MAGICS, SECTION, name_content
from vxmon.session.framing import Bytes, Framing
from vxmon.session.pcapfile import HEADER, PcapFraming
from vxmon.session.pcapng import PcapngFraming

__all__ = ["Source", "open_source", "sniff"]

_STDIN: Final = 0
# Enough to tell any format.
_HEAD: Final = 28
_SECTION_MIN: Final = 28
# Read from a file at once, most often.
_BUFFER: Final = 1 << 22
_LARGE_PAGE: Final = 1 << 21
# What looks like HOST:PORT.
_ADDRESS: Final = re.compile(r"[\w.-]+:\d{1,5}")


class Source:
    """Bytes of a file or pipe. ``size`` is None for a pipe."""

    def __init__(self, descriptor: int, name: str) -> None:
        self.name = name
        self._descriptor = descriptor
        mode = os.fstat(descriptor)
        self.seekable = stat.S_ISREG(mode.st_mode)
        self.size = mode.st_size if self.seekable else None
        self.opened_as = _identity(mode)
        self._before = b""
        self._place = 0
        self.release()

    @property
    def identity(self) -> tuple[int, ...]:
        """Which file it is and in what state, now: device, inode, size, times of last changes in ns."""
        return _identity(os.fstat(self._descriptor))

    def read_head(self) -> bytes:
        """The first bytes, fewer when there are no more."""
        head = b""
        while len(head) < _HEAD:
            piece = self._read(_HEAD - len(head))
            if not piece:
                break
            head += piece
        return head

    def rewind(self, head: bytes) -> None:
        """Go to the beginning; a pipe must not have been read further than ``head``."""
        if self.seekable:
            self._place = 0
        else:
            self._before = head

    def _read(self, size: int) -> bytes:
        try:
            return os.read(self._descriptor, size)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror}") from error

    def fill(self, rest: Bytes, wanted: int, *, reuse: bool = False) -> tuple[Bytes, bool]:
        """``rest`` and what follows, up to ``wanted`` bytes in all; and whether the end is reached.

        Of a pipe it takes what is there, so that nothing waits for more than it needs. A file is read by place, as
        another process may read the same. With ``reuse`` what it returned the time before last is written over.
        """
        size = max(wanted, len(rest) + 1)
        buffer = self._reused(size) if reuse else np.empty(size, np.uint8)
        buffer[: len(rest)] = rest
        used = len(rest)
        if self._before:
            before, self._before = self._before, b""
            buffer[used : used + len(before)] = np.frombuffer(before, np.uint8)
            used += len(before)
        view = buffer.data
        while used < len(buffer):
            count = self._read_into(view[used:])
            used += count
            if not count:
                return buffer[:used], True
            if not self.seekable:
                break
        return buffer[:used], False

    def _reused(self, size: int) -> Bytes:
        """Memory that was used before last: new pages cost more than reading into them."""
        self._buffers.reverse()
        if len(self._buffers[0]) < size:
            self._buffers[0] = _memory(max(size, _BUFFER))
        return self._buffers[0][:size]

    def release(self) -> None:
        """Let go of the memory for reading: of many files only one is walked at a time."""
        self._buffers = [np.empty(0, np.uint8), np.empty(0, np.uint8)]

    def _read_into(self, view: memoryview) -> int:
        try:
            if self.seekable:
                count = os.preadv(self._descriptor, [view], self._place)
            else:
                count = os.readv(self._descriptor, [view])
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror}") from error
        self._place += count
        return count

    def read_at(self, offset: int, size: int) -> bytes:
        """Bytes at a place of a file; raises InputError for a pipe."""
        data = bytearray(size)
        return bytes(data[: self.read_into(offset, data)])

    def read_into(self, offset: int, buffer: bytearray | memoryview) -> int:
        """Fill a buffer from a place of a file; returns how many bytes there are. Raises InputError for a pipe."""
        if not self.seekable:
            raise InputError(f"{self.name}: a pipe cannot be read again")
        try:
            return os.preadv(self._descriptor, [buffer], offset)
        except OSError as error:
            raise InputError(f"{self.name}: cannot be read: {error.strerror}") from error

    def close(self) -> None:
        """Close; may be called again."""
        if self._descriptor >= 0:
            descriptor, self._descriptor = self._descriptor, -1
            os.close(descriptor)


def _memory(size: int) -> Bytes:
    """Memory that begins where a large page does: numpy asks for those, each of 512 small ones."""
    memory = np.empty(size + _LARGE_PAGE, np.uint8)
    at = -memory.__array_interface__["data"][0] % _LARGE_PAGE
    return memory[at : at + size]


def _identity(mode: os.stat_result) -> tuple[int, ...]:
    return mode.st_dev, mode.st_ino, mode.st_size, mode.st_mtime_ns, mode.st_ctime_ns


def open_source(path: str) -> Source:
    """Open a file or FIFO; ``-`` is standard input. Raises InputError."""
    if path == "-":
        return Source(os.dup(_STDIN), "standard input")
    if Path(path).is_dir():
        raise InputError(f"{path}: is a directory, not a session")
    try:
        return Source(os.open(path, os.O_RDONLY | os.O_CLOEXEC), path)
    except OSError as error:
        hint = f"; vxmon capture {path} records from a target" if _ADDRESS.fullmatch(path) else ""
        raise InputError(f"{path}: cannot be opened: {error.strerror}{hint}") from error
    except ValueError as error:
        raise InputError(f"{path!r}: is no file name") from error


def sniff(head: bytes, name: str) -> Framing:
    """The framing of a file that begins with ``head``.

    Raises:
        InputError: it is no capture; the message says what it looks like.

    """
    if not head:
        raise InputError(f"{name}: is empty, not a session")
    if head[:4] == SECTION.to_bytes(4, "little"):
        if len(head) < _SECTION_MIN:
            raise InputError(f"{name}: is cut within its first {len(head)} bytes")
        if int.from_bytes(head[8:12], "little") != BYTE_ORDER_MAGIC != int.from_bytes(head[8:12], "big"):
            raise InputError(f"{name}: begins like pcapng, but its byte-order magic is wrong")
        return PcapngFraming()
    if head[:4] in PCAP_MAGICS:
        if len(head) < HEADER:
            raise InputError(f"{name}: is cut within its first {len(head)} bytes")
        try:
            return PcapFraming(head[:HEADER])
        except InputError as error:
            raise InputError(f"{name}: {error}") from error
    raise InputError(f"{name}: is no session or capture (pcapng or pcap), but {name_content(head)}")
