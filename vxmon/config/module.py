# SPDX-License-Identifier: Apache-2.0
"""Reading a module configuration file of any known dialect."""

from __future__ import annotations

from pathlib import Path

from vxmon.config.arinc653 import read_arinc653
from vxmon.config.model import ModuleConfig
from vxmon.config.values import shown
from vxmon.config.vxworks653 import read_vxworks653
from vxmon.config.xmltree import load_tree
from vxmon.errors import InputError

__all__ = ["load_module"]


def load_module(path: Path) -> ModuleConfig:
    """Read and check a VxWorks 653 or ARINC 653 P1 module configuration with the files it includes.

    Raises InputError, with file and line, for what cannot be used; oddities that can be lived with are in
    the result's ``problems``.
    """
    tree = load_tree(path)
    root = tree.root
    if root.tag == "ConfigRecord":
        root = root.first("Module") or root
    if root.tag == "Module":
        return read_vxworks653(tree, root)
    if root.tag == "ARINC_653_Module":
        return read_arinc653(tree, root)
    raise InputError(
        f"{root.source}: the root is {shown(root.tag)}, not Module (VxWorks 653) or ARINC_653_Module (ARINC 653 P1)"
    )
