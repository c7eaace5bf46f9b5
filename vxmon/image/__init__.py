# SPDX-License-Identifier: Apache-2.0
"""What an ELF image says about memory: segments, sections, symbols, compile units, linker maps."""

from __future__ import annotations

__all__: list[str] = []
