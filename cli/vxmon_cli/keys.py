# SPDX-License-Identifier: Apache-2.0
"""The key of a target: ``--key-file`` of the commands that talk to one, or the environment."""

from __future__ import annotations

import os

import click

__all__ = ["given_key", "key_option", "keyed_by_option"]

_META = "vxmon.key_file"


def _remember(context: click.Context, _parameter: click.Parameter, value: str | None) -> None:
    """Whoever connects asks for it; the commands need not hand it on."""
    if value is not None:
        context.meta[_META] = value


# A file only: words of a command line are shown to everybody on the machine.
key_option = click.option(
    "--key-file",
    metavar="FILE",
    expose_value=False,
    callback=_remember,
    help="The target's key; else VXMON_KEY_FILE names the file, or VXMON_KEY is the key.",
)


def keyed_by_option() -> bool:
    """True when this command was given --key-file."""
    return _META in click.get_current_context().meta


def given_key() -> bytes | None:
    """The key given by option or environment; a warning goes to stderr. Raises InputError."""
    from vxmon.link.keys import find_key

    key, warning = find_key(click.get_current_context().meta.get(_META), os.environ)
    if warning:
        click.echo(f"vxmon: {warning}", err=True)
    return key
