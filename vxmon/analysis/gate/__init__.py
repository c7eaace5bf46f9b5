# SPDX-License-Identifier: Apache-2.0
"""The gate: judges the figures of all analyses by limits. It asks the analyses; none of them asks another."""

from __future__ import annotations

__all__: list[str] = []
