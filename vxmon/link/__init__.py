# SPDX-License-Identifier: Apache-2.0
"""The link to a target: the protocol as a state machine without I/O, and the UDP client around it."""

from __future__ import annotations

__all__: list[str] = []
