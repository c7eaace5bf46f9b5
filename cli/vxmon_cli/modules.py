# SPDX-License-Identifier: Apache-2.0
"""Module configurations that commands are given, as ``--module``."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path

    from vxmon.config.model import ModuleConfig

__all__ = ["module_given"]


def module_given(path: Path | None) -> ModuleConfig | None:
    """The configuration in a file; None without one, and then nothing that reads XML is loaded. Raises InputError."""
    if path is None:
        return None
    from vxmon.config.module import load_module

    return load_module(path)
