# SPDX-License-Identifier: Apache-2.0
"""The door to traces."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Final

from vxmon.errors import InputError
from vxmon.session.reader import SessionReader, open_session
from vxmon.trace.trace import StoredTrace, Trace

if TYPE_CHECKING:
    from vxmon.trace.store import IndexStore

__all__ = ["open_trace"]

_LEAST_KEPT_BYTES: Final = 16 << 20


def open_trace(paths: Iterable[str]) -> Trace:
    """Open sessions as one trace; of files the first pass is made at once. ``-`` is standard input.

    Of large files the outcome of the first pass is kept, see vxmon.trace.store.

    Raises:
        InputError: a file cannot be opened or is no session, or a pipe is not the only one.

    """
    readers: list[SessionReader] = []
    try:
        readers.extend(map(open_session, paths))
        return _trace(readers)
    except BaseException:
        for reader in readers:
            reader.close()
        raise


def _store(readers: Sequence[SessionReader]) -> IndexStore | None:
    """Where the first pass is kept; None for small sessions, which are read again as fast."""
    if sum(reader.size or 0 for reader in readers) < _LEAST_KEPT_BYTES:
        return None
    from vxmon.trace.store import IndexStore

    return IndexStore.of_user()


def _trace(readers: list[SessionReader]) -> Trace:
    pipes = [reader.name for reader in readers if not reader.seekable]
    if not pipes:
        return StoredTrace(readers, _store(readers))
    if len(readers) > 1:
        raise InputError(f"{pipes[0]}: a pipe is read as it comes and must be the only session")
    # Only for pipes: it takes as long to load as a small session to read.
    from vxmon.trace.live import LiveTrace

    return LiveTrace(readers[0])
