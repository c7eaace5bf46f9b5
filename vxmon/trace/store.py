# SPDX-License-Identifier: Apache-2.0
"""Keeps what the first pass found of large sessions, so that it is made once.

An index file lies beside the session, else in the user's cache directory. It is used only when it is of exactly these
files, as they are now, and made by this program for this user: sizes, times, inodes, heads and tails of the files
must be those that it tells, and a keyed checksum must fit, whose key is the user's own. So neither a stale or damaged
index nor one that came along with a session from elsewhere is ever believed; it is made anew. Each row is checked
against the files before it is used.

The file: magic, length of the head in bytes (8, big-endian), keyed BLAKE2b of the head (32), the head in JSON, the
losses, the rows. The head tells the checksums of the losses and of each part of the rows, and from when to when a part
is, so that a time window reads and checks only what it needs.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import json
import os
import stat
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, BinaryIO, Final

import numpy as np
from numpy.typing import NDArray

import vxmon
from vxmon.session.reader import SessionReader
from vxmon.trace.facts import LOSS, Boot, Counters, Facts, FileFacts
from vxmon.trace.keptrows import KeptRows, Part, UnusableError, digest, parts_of
from vxmon.trace.plain import PlainError, from_plain, to_plain
from vxmon.wire.bulk import BLOCK_ROW

__all__ = ["SUFFIX", "VARIABLE", "IndexStore", "index_name"]

VARIABLE: Final = "VXMON_INDEX"
"""Environment variable: ``off`` keeps and uses no index files."""

SUFFIX: Final = ".vxmindex"
_MAGIC: Final = b"VXMIDX02"
_PREFIX: Final = len(_MAGIC) + 8 + 32
_LONGEST_HEAD: Final = 64 << 20
_KEY_BYTES: Final = 32
# Of each end of a session, to tell a file that was written anew in its place.
_ENDS: Final = 64 << 10

Kept = tuple[Facts, KeptRows]
Data = bytes | memoryview


def index_name(session: Path) -> Path:
    """Where the index of a session lies if its folder takes it."""
    return session.with_name(f".{session.name}{SUFFIX}")


@dataclass(frozen=True, slots=True)
class IndexStore:
    """Loads and saves index files.

    Args:
        cache: the user's directory for what can be made anew; it holds the key too.

    """

    cache: Path

    @staticmethod
    def of_user(environment: Mapping[str, str] = os.environ) -> IndexStore | None:
        """The store of the user; None when it is switched off or there is no place for it."""
        if environment.get(VARIABLE, "").lower() in ("off", "0", "no"):
            return None
        given = [environment.get("XDG_CACHE_HOME", ""), environment.get("HOME", "") + "/.cache"]
        base = next((Path(path) for path in given if Path(path).is_absolute() and path != "/.cache"), None)
        return None if base is None else IndexStore(base / "vxmon")

    def load(self, readers: Sequence[SessionReader]) -> Kept | None:
        """What is kept of sessions; None when there is nothing that can be used. Who gets rows closes them."""
        key = self._key(make=False)
        if key is None:
            return None
        for path in self._places(readers):
            with contextlib.suppress(OSError, ValueError, UnusableError, RecursionError, OverflowError):
                return _read(path, key, readers)
        return None

    def save(self, readers: Sequence[SessionReader], facts: Facts, index: NDArray[np.void]) -> Path | None:
        """Keep what was found; where that is not possible nothing happens. Returns where it is kept."""
        with contextlib.suppress(OSError, PlainError):
            key = self._key(make=True)
            parts = _encode(readers, facts, index, key) if key is not None else []
            if not parts or [reader.identity for reader in readers] != [reader.opened_as for reader in readers]:
                return None  # a file has grown, or was changed, while it was read
            return next((path for path in self._places(readers) if _write(path, parts)), None)
        return None

    def _places(self, readers: Sequence[SessionReader]) -> Iterator[Path]:
        """Where the index may be, best first."""
        first = Path(readers[0].name).absolute()
        # Hidden, so that DIRECTORY/* still means the sessions.
        yield index_name(first)
        name = hashlib.blake2b(os.fsencode(first), digest_size=16).hexdigest()
        yield self.cache / "index" / (name + SUFFIX)

    def _key(self, *, make: bool) -> bytes | None:
        """The user's key; None when there is none."""
        path = self.cache / "index.key"
        with contextlib.suppress(OSError):
            if make and not path.exists():
                self.cache.mkdir(parents=True, exist_ok=True, mode=0o700)
                _write(path, [os.urandom(_KEY_BYTES)])
            with _open(path) as file:
                mode, key = os.fstat(file.fileno()), file.read(_KEY_BYTES + 1)
            own = mode.st_uid == os.geteuid() and not mode.st_mode & (stat.S_IRWXG | stat.S_IRWXO)
            return key if own and len(key) == _KEY_BYTES else None
        return None


# ---------------------------------------------------------------- what it is of


def _marks(readers: Sequence[SessionReader]) -> list[list[Any]]:
    """What tells each file, as it is now, from others and from itself at other times."""
    marks: list[list[Any]] = []
    for reader in readers:
        size = reader.size or 0
        ends = reader.read_at(0, _ENDS) + reader.read_at(max(size - _ENDS, 0), _ENDS)
        marks.append([*reader.identity, hashlib.blake2b(ends, digest_size=16).hexdigest()])
    return marks


@cache
def _program() -> str:
    """Tells this program from others: another version may find something else in the same session."""
    root = Path(vxmon.__file__).parent
    states = [
        (str(path.relative_to(root)), path.stat().st_size, path.stat().st_mtime_ns)
        for part in ("trace", "session", "wire")
        for path in sorted((root / part).rglob("*.py"))
    ]
    whole = repr((vxmon.__version__, states, BLOCK_ROW.descr, LOSS.descr))
    return hashlib.blake2b(whole.encode(), digest_size=16).hexdigest()


# ---------------------------------------------------------------- writing


def _encode(readers: Sequence[SessionReader], facts: Facts, index: NDArray[np.void], key: bytes) -> list[Data]:
    losses, index = facts.losses.tobytes(), np.ascontiguousarray(index)
    boots = [replace(boot) for boot in facts.boots]
    for boot in boots:
        boot.forget_wall()
    head = {
        "program": _program(),
        "files": _marks(readers),
        "names": [file.name for file in facts.files],
        "metadata": [file.metadata for file in facts.files],
        "facts": {
            "files": to_plain([replace(file, metadata={}) for file in facts.files]),
            "boots": to_plain(boots),
            "counters": to_plain(facts.counters),
            "problems": facts.problems,
        },
        "losses": [len(facts.losses), digest(losses, key)],
        "parts": parts_of(index, facts.losses, key),
    }
    text = json.dumps(head, separators=(",", ":")).encode()
    return [_MAGIC, len(text).to_bytes(8, "big"), _mac(text, key), text, losses, index.view(np.uint8).data]


def _mac(data: bytes, key: bytes) -> bytes:
    return hashlib.blake2b(data, key=key, digest_size=32).digest()


def _write(path: Path, parts: Sequence[Data]) -> bool:
    """Write a file as a whole; false when that is not possible, or another user's file is in the way."""
    try:
        if path.exists() and path.lstat().st_uid != os.geteuid():
            return False
        path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
        descriptor, name = tempfile.mkstemp(dir=path.parent, prefix=path.name, suffix=".tmp")
    except OSError:
        return False
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.writelines(parts)
        Path(name).replace(path)
    except OSError:
        with contextlib.suppress(OSError):
            Path(name).unlink()
        return False
    return True


# ---------------------------------------------------------------- reading


def _open(path: Path) -> BinaryIO:
    """Open a file to read it, without a buffer. Raises OSError, also for a FIFO: to open that may take for ever."""
    descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC)
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise OSError(errno.EINVAL, os.strerror(errno.EINVAL), str(path))
    return os.fdopen(descriptor, "rb", buffering=0)


def _read(path: Path, key: bytes, readers: Sequence[SessionReader]) -> Kept:
    # Open until the rows are closed: another index may take its place meanwhile.
    with contextlib.ExitStack() as opened:
        file = opened.enter_context(_open(path))
        facts, parts = _read_facts(file, key, readers)
        rows = KeptRows(file, file.tell(), parts, key, lambda some: _sound(some, facts, readers))
        if file.tell() + len(rows) * BLOCK_ROW.itemsize != os.fstat(file.fileno()).st_size:
            raise UnusableError
        opened.pop_all()
        return facts, rows


def _read_facts(file: BinaryIO, key: bytes, readers: Sequence[SessionReader]) -> tuple[Facts, list[Part]]:
    """What is before the rows: the facts, and the parts of the rows."""
    head = _read_head(file.read(_PREFIX), file, key)
    if head["program"] != _program() or head["files"] != _marks(readers):
        raise UnusableError
    count, told = head["losses"]
    losses = file.read(count * LOSS.itemsize)
    if digest(losses, key) != told:
        raise UnusableError
    facts = _facts(head, readers)
    facts.losses = np.frombuffer(losses, LOSS)
    return facts, [Part.of(part) for part in head["parts"]]


def _read_head(prefix: bytes, file: BinaryIO, key: bytes) -> dict[str, Any]:
    length = int.from_bytes(prefix[len(_MAGIC) : len(_MAGIC) + 8], "big")
    if len(prefix) < _PREFIX or prefix[: len(_MAGIC)] != _MAGIC or length > _LONGEST_HEAD:
        raise UnusableError
    text = file.read(length)
    if len(text) != length or _mac(text, key) != prefix[-32:]:
        raise UnusableError
    head = json.loads(text)
    if not isinstance(head, dict):
        raise UnusableError
    return head


def _facts(head: dict[str, Any], readers: Sequence[SessionReader]) -> Facts:
    """The facts, with the files named as they are now."""
    told = head["facts"]
    names = [reader.name for reader in readers]
    files = from_plain(list[FileFacts], told["files"])
    facts = Facts(
        files=[
            replace(file, name=name, metadata=metadata)
            for file, name, metadata in zip(files, names, head["metadata"], strict=True)
        ],
        boots=from_plain(list[Boot], told["boots"]),
        counters=from_plain(Counters, told["counters"]),
    )
    for problem in from_plain(list[str], told["problems"]):
        of = next((n for n, old in enumerate(head["names"]) if problem.startswith(f"{old}: ")), None)
        facts.problems.append(problem if of is None else names[of] + problem[len(head["names"][of]) :])
    return facts


def _sound(index: NDArray[np.void], facts: Facts, readers: Sequence[SessionReader]) -> bool:
    """True when every row can be used: places inside of the files, numbers of boots and losses that exist."""
    if not len(index):
        return True
    sizes = np.array([reader.size or 0 for reader in readers], np.int64)
    if int(index["file"].max()) >= len(sizes) or int(index["boot"].max()) >= len(facts.boots):
        return False
    slots = 8 * index["slots"].astype(np.int64)
    at, end = index["slots_at"], sizes[index["file"]]
    inside = (at >= index["starts_back"]) & (at <= end - slots) & (index["count"] <= index["slots"])
    return bool(inside.all()) and int(index["room"].max()) <= len(facts.losses)
