# SPDX-License-Identifier: Apache-2.0
"""The ``vxmon`` command: options, calls into the library, rendering."""

from __future__ import annotations

__all__: list[str] = []
