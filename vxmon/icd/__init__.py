# SPDX-License-Identifier: Apache-2.0
"""What the bytes of messages mean: layouts from ICD files, DWARF types and CAN databases."""

from __future__ import annotations

__all__: list[str] = []
