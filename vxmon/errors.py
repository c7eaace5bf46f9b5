# SPDX-License-Identifier: Apache-2.0
"""The exception tree of the library.

VxmonError                      exit status 3 unless a subclass says otherwise
├── InputError                  2  a file or argument that cannot be used
│   └── WireError               2  bytes that break the wire format; has a kind
├── TargetError                 3  the target refused, or does not answer
└── OutputError                 3  the result could not be written

Every message is one line and names the cure where there is one.
"""

from __future__ import annotations

__all__ = ["InputError", "OutputError", "TargetError", "VxmonError", "WireError"]


class VxmonError(Exception):
    """Root of all errors the library raises on purpose."""

    exit_status = 3


class InputError(VxmonError):
    """A file, pipe or argument that cannot be read or makes no sense."""

    exit_status = 2


class WireError(InputError):
    """Bytes that break the wire format.

    ``kind`` is one of "short", "magic", "version", "header", "length", "fragment", "crc", "payload",
    "checksum", "starts"; it is what counters are kept by.
    """

    def __init__(self, kind: str, message: str) -> None:
        super().__init__(message)
        self.kind = kind


class TargetError(VxmonError):
    """The target refused a command, or does not answer."""


class OutputError(VxmonError):
    """A session or report could not be written."""
