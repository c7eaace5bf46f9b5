# SPDX-License-Identifier: Apache-2.0
"""C++ and Rust names in readable form, by binutils' c++filt where it is installed.

Every cross toolchain brings one (``c++filt`` or ``powerpc-linux-gnu-c++filt``; they all do the same). Only the names
that a report shows are given to it.
"""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Mapping

__all__ = ["demangled", "demangler"]

_CANDIDATES = (
    "c++filt",
    "llvm-cxxfilt",
    "powerpc-linux-gnu-c++filt",
    "powerpc-eabi-c++filt",
    "arm-none-eabi-c++filt",
    "aarch64-linux-gnu-c++filt",
)
_SECONDS = 10


def demangler() -> str | None:
    """Return the path of the demangler, or None where none is installed."""
    return next((path for name in _CANDIDATES if (path := shutil.which(name))), None)


def demangled(names: Iterable[str]) -> Mapping[str, str]:
    """Return readable forms of those names that have one. Without a demangler there are none."""
    mangled = [n for n in dict.fromkeys(names) if n.startswith(("_Z", "_R", "__Z"))]
    tool = demangler()
    if not mangled or tool is None:
        return {}
    try:
        run = subprocess.run(
            [tool],
            input="\n".join(mangled) + "\n",
            capture_output=True,
            encoding="utf-8",
            errors="backslashreplace",
            timeout=_SECONDS,
            check=False,
        )
    except (OSError, subprocess.TimeoutExpired):
        return {}
    lines = run.stdout.splitlines()
    if run.returncode or len(lines) != len(mangled):
        return {}
    pairs = zip(mangled, lines, strict=True)
    return {name: line for name, line in pairs if line != name and line.isprintable() and len(line) <= 4096}
