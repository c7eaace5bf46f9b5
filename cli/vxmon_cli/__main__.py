# SPDX-License-Identifier: Apache-2.0
"""``python -m vxmon_cli``: the same as ``vxmon``."""

from __future__ import annotations

from vxmon_cli.main import main

__all__: list[str] = []

if __name__ == "__main__":
    main()
