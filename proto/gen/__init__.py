# SPDX-License-Identifier: Apache-2.0
"""Generator: makes from ``proto/`` what target and host share. Run as ``python -m proto.gen``."""

from __future__ import annotations

__all__: list[str] = []
