# SPDX-License-Identifier: Apache-2.0
"""One module per analysis: its options, and what it shows. ``vxmon analyze NAME`` loads the one of that name."""

from __future__ import annotations

__all__: list[str] = []
