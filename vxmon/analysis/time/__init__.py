# SPDX-License-Identifier: Apache-2.0
"""Where the time of a module went: partitions, windows and their margins, tasks."""

from __future__ import annotations

__all__: list[str] = []
