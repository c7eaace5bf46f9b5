# SPDX-License-Identifier: Apache-2.0
"""Time windows, under the name that analyses know them by; see :mod:`vxmon.trace.span`."""

from __future__ import annotations

from vxmon.trace.span import EVERYTHING, Span, parse_span

__all__ = ["EVERYTHING", "Span", "parse_span"]
