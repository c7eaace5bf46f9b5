# SPDX-License-Identifier: Apache-2.0
"""The memory map: images (what is where), partitions (does it fit), growth (what has grown)."""

from __future__ import annotations

__all__: list[str] = []
