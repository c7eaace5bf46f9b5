# SPDX-License-Identifier: Apache-2.0
"""vxmon: records, prints and analyzes the behaviour of partitioned real-time systems.

For scripts there are :func:`open`, which gives events as arrays, and :class:`vxmon.trace.parser.Parser`, which calls
functions for events. See README.md in this folder.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import os

    from vxmon.trace.recording import Recording

__all__ = ["__version__", "open"]

__version__ = "0.1.0"


def open(*paths: str | os.PathLike[str]) -> Recording:
    """Open session files as one recording; see :class:`vxmon.trace.recording.Recording`.

    Raises:
        vxmon.errors.InputError: a file cannot be opened, or is no session.

    """
    # Not before it is asked for: a program that only asks for the version shall not load numpy.
    from vxmon.trace.recording import open_recording

    return open_recording(paths)
