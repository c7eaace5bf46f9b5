# SPDX-License-Identifier: Apache-2.0
"""Results as text and JSON."""

from __future__ import annotations

__all__: list[str] = []
