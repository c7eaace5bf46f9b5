# SPDX-License-Identifier: Apache-2.0
"""Picks the command, loads only that one, and turns errors into one line and an exit status."""

from __future__ import annotations

import errno
import gc
import os
import sys

import click

from vxmon import __version__
from vxmon.errors import OutputError, VxmonError
from vxmon_cli.lazygroup import LazyGroup
from vxmon_cli.main import COMMANDS
from vxmon_cli.stopping import STOP

__all__ = ["run", "vxmon"]


@click.group(
    cls=LazyGroup,
    package="vxmon_cli.commands",
    words=COMMANDS,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="vxmon")
def vxmon() -> None:
    """Record, print, analyze and check what the partitions of a module do."""
    # Not for help: it loads ctypes, as numpy does.
    from vxmon_cli.allocator import keep_memory

    keep_memory()


def _show(error: click.ClickException) -> None:
    """One line; for a bare ``vxmon`` the help."""
    context = getattr(error, "ctx", None)
    if context is None or isinstance(error, click.exceptions.NoArgsIsHelpError):
        error.show()
        return
    message = " ".join(error.format_message().split())
    click.echo(f"{context.command_path}: {message} (see '{context.command_path} --help')", err=True)


def _run() -> int:
    try:
        status = vxmon.main(prog_name="vxmon", standalone_mode=False)
        _flush()
    except click.ClickException as error:
        _show(error)
        return error.exit_code
    except VxmonError as error:
        click.echo(f"vxmon: {error}", err=True)
        return error.exit_status
    except OSError as error:
        # Click writes help itself; all else that writes has errors of its own.
        if error.errno != errno.ENOSPC:
            raise
        _forget()
        click.echo(f"vxmon: standard output: cannot be written: {error.strerror}", err=True)
        return OutputError.exit_status
    except MemoryError:
        click.echo("vxmon: not enough memory; a part of a session (--window A..B) needs less", err=True)
        return VxmonError.exit_status
    except (click.Abort, KeyboardInterrupt):
        if STOP.number:
            click.echo("vxmon: stopped; nothing is recorded", err=True)
        return STOP.status
    return status if isinstance(status, int) else 0


def _flush() -> None:
    """Write what waits. Raises OutputError, and BrokenPipeError when the reader has gone."""
    # There is no stream where the caller has closed it.
    if sys.stdout is None:
        return
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        raise
    except OSError as error:
        _forget()
        raise OutputError(f"standard output: cannot be written: {error.strerror}") from error


def _forget() -> None:
    """What is left in the buffer must not fail again when Python ends."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)


def run() -> None:
    """Run the command line and exit with its status."""
    try:
        status = _run()
    except BrokenPipeError:
        # Whoever read our output has gone.
        _forget()
        status = 0
    # What there is now stays to the end: Python need not look it over for garbage when it ends, a fifteenth of a start.
    gc.freeze()
    sys.exit(status)
