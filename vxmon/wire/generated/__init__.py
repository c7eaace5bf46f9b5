# SPDX-License-Identifier: Apache-2.0
"""Made by `make gen` from proto/; do not edit what is in this folder."""

from __future__ import annotations

__all__: list[str] = []
