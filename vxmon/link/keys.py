# SPDX-License-Identifier: Apache-2.0
"""Keys of targets: a file or the environment, never a command line, which everybody on the machine can read."""

from __future__ import annotations

import stat
from collections.abc import Mapping
from pathlib import Path
from typing import Final

from vxmon.errors import InputError
from vxmon.wire.authentication import MAX_KEY, MIN_KEY

__all__ = ["KEY_FILE_VARIABLE", "KEY_VARIABLE", "find_key", "parse_key", "read_key"]

KEY_FILE_VARIABLE: Final = "VXMON_KEY_FILE"
KEY_VARIABLE: Final = "VXMON_KEY"
_MAX_FILE: Final = 1024
_DIGITS: Final = frozenset(b"0123456789abcdefABCDEF")
_SPACE: Final = b" \t\r\n\v\f"


def parse_key(text: bytes, source: str) -> bytes:
    """The key that a text is (SPEC section 10): hexadecimal digits, white space before and after.

    Raises:
        InputError: it is none. The message does not repeat it.

    """
    digits = text.strip(_SPACE)
    if len(digits) % 2 or not 2 * MIN_KEY <= len(digits) <= 2 * MAX_KEY or not _DIGITS.issuperset(digits):
        raise InputError(
            f"{source}: no key; a key is {2 * MIN_KEY} to {2 * MAX_KEY} hexadecimal digits: openssl rand -hex 32"
        )
    return bytes.fromhex(digits.decode("ascii"))


def read_key(path: str) -> tuple[bytes, str]:
    """The key in a file, and a warning when others can read it ("" when they cannot).

    Raises:
        InputError: it cannot be read, or holds no key.

    """
    try:
        with Path(path).open("rb") as file:
            mode = Path(path).stat().st_mode
            text = file.read(_MAX_FILE + 1)
    except (OSError, ValueError) as error:
        why = (error.strerror if isinstance(error, OSError) else None) or str(error)
        raise InputError(f"{path}: the key file cannot be read: {why}") from error
    key = parse_key(text if len(text) <= _MAX_FILE else b"", path)
    open_to_others = stat.S_ISREG(mode) and mode & (stat.S_IRWXG | stat.S_IRWXO)
    return key, f"{path}: others can read this key; close it to them: chmod 600" if open_to_others else ""


def find_key(file: str | None, environment: Mapping[str, str]) -> tuple[bytes | None, str]:
    """The key of the file given, else of the one that $VXMON_KEY_FILE names, else $VXMON_KEY; None without any.

    Returns it with a warning, as :func:`read_key` does.

    Raises:
        InputError: what is given is no key.

    """
    named = file or environment.get(KEY_FILE_VARIABLE)
    if named:
        return read_key(named)
    text = environment.get(KEY_VARIABLE)
    if not text:
        return None, ""
    return parse_key(text.encode("utf-8", "surrogateescape"), KEY_VARIABLE), ""
