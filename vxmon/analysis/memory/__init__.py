# SPDX-License-Identifier: Apache-2.0
"""``analyze memory``: heaps and how they grow, stacks, operation counts, and what rules say they should take."""

from __future__ import annotations

__all__: list[str] = []
