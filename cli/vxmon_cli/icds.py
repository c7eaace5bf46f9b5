# SPDX-License-Identifier: Apache-2.0
"""What messages mean: ``--icd`` of the commands that show them."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

if TYPE_CHECKING:
    from vxmon.icd.icd import Icd

__all__ = ["icd_option", "load_given"]

icd_option = click.option(
    "--icd",
    "sources",
    multiple=True,
    metavar="FILE",
    help="What messages mean: an ICD, APP.elf:'struct NAME', a CAN database; see vxmon icd.",
)


def load_given(sources: tuple[str, ...]) -> Icd | None:
    """The ICD of all sources; None without any. Raises InputError."""
    if not sources:
        return None
    from vxmon.icd.loading import load_icd

    return load_icd(sources)
