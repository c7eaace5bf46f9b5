# SPDX-License-Identifier: Apache-2.0
"""Analyses: one question per module, answered as a result object. Analyses of events do not import each other."""

from __future__ import annotations

__all__: list[str] = []
