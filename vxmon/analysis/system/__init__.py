# SPDX-License-Identifier: Apache-2.0
"""What went wrong in a module, and what interrupted it: errors, exceptions, interrupts, and the circumstances."""

from __future__ import annotations

__all__: list[str] = []
