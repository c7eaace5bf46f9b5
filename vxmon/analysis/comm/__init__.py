# SPDX-License-Identifier: Apache-2.0
"""Communication: what each object carries, from whom to whom, how late, and how full its queue is."""

from __future__ import annotations

__all__: list[str] = []
