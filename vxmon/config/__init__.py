# SPDX-License-Identifier: Apache-2.0
"""What engineers write down: module configuration files and collection tasks."""

from __future__ import annotations

__all__: list[str] = []
