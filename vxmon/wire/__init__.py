# SPDX-License-Identifier: Apache-2.0
"""Bytes to typed messages and back (proto/SPEC.md). Pure: no I/O, every size and loop bounded."""

from __future__ import annotations

__all__: list[str] = []
