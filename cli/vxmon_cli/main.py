# SPDX-License-Identifier: Apache-2.0
"""Entry point: picks the command, loads only that one, and turns errors into one line and an exit status."""

from __future__ import annotations

import importlib
import sys
from typing import Final, cast

import click

from vxmon import __version__
from vxmon.errors import VxmonError

__all__ = ["COMMANDS", "main", "vxmon"]

# Command -> the word on it in the list of commands. The module of that name has the command as its only public name.
COMMANDS: Final[dict[str, str]] = {
    "capture": "Record what a target sends, raw.",
    "memmap": "Show what ELF images take in memory.",
    "info": "Say what a session holds, and what it lacks.",
    "print": "Show the events of a session as lines.",
    "target": "Run the demo target.",
}
_INTERRUPTED: Final = 130


class _Commands(click.Group):
    """Loads a command when it is used, so that others cost nothing."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        del ctx
        return sorted(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        del ctx
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"vxmon_cli.commands.{cmd_name}")
        return cast("click.Command", getattr(module, module.__all__[0]))

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:
        del ctx
        with formatter.section("Commands"):
            formatter.write_dl(sorted(COMMANDS.items()))


@click.group(cls=_Commands, context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100})
@click.version_option(__version__, prog_name="vxmon")
def vxmon() -> None:
    """Record, print, analyze and check what the partitions of a module do."""


def main() -> None:
    """Run the command line and exit with its status."""
    try:
        status = vxmon.main(standalone_mode=False)
    except click.ClickException as error:
        error.show()
        status = error.exit_code
    except VxmonError as error:
        click.echo(f"vxmon: {error}", err=True)
        status = error.exit_status
    except (click.Abort, KeyboardInterrupt):
        status = _INTERRUPTED
    sys.exit(status if isinstance(status, int) else 0)
