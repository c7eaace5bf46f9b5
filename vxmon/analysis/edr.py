# SPDX-License-Identifier: Apache-2.0
"""Kinds of the ED&R log: severity or'ed with facility, numbered as in Wind River's edrLibCommon.h."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Final

__all__ = ["FACILITIES", "FACILITY_MASK", "SEVERITIES", "SEVERITY_MASK", "kind_name"]

SEVERITIES: Final[Mapping[int, str]] = {1: "FATAL", 2: "NONFATAL", 3: "WARNING", 4: "INFO"}
FACILITIES: Final[Mapping[int, str]] = {
    0x10: "KERNEL", 0x20: "INTERRUPT", 0x30: "INIT", 0x40: "BOOT", 0x50: "REBOOT", 0x100: "RTP", 0x200: "USER",
}  # fmt: skip
SEVERITY_MASK: Final = 0x00F
FACILITY_MASK: Final = 0xFF0


def kind_name(kind: int) -> str:
    """``NONFATAL+USER``; a part without a name, and bits that belong to neither, are in hexadecimal."""
    severity, facility = kind & SEVERITY_MASK, kind & FACILITY_MASK
    other = kind & ~(SEVERITY_MASK | FACILITY_MASK)
    parts = [SEVERITIES.get(severity) or f"0x{severity:x}", FACILITIES.get(facility) or f"0x{facility:x}"]
    return "+".join(parts + ([f"0x{other:x}"] if other else []))
