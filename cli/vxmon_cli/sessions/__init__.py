# SPDX-License-Identifier: Apache-2.0
"""One module per thing that is done to session files. ``vxmon session NAME`` loads the one of that name."""

from __future__ import annotations

__all__: list[str] = []
