# SPDX-License-Identifier: Apache-2.0
"""vxmon: records, prints and analyzes the behaviour of partitioned real-time systems."""

from __future__ import annotations

__all__ = ["__version__"]

__version__ = "0.1.0"
