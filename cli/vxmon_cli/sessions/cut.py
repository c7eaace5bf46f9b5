# SPDX-License-Identifier: Apache-2.0
"""``vxmon session cut``: a smaller session."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vxmon_cli.output import default_sigpipe, keep_apart
from vxmon_cli.selecting import selection_options

if TYPE_CHECKING:
    from vxmon.trace.criteria import Selection

__all__ = ["cut"]


@click.command("cut")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("-o", "output", required=True, metavar="FILE", help="The session to write; - is standard output.")
@selection_options("span", "cpus")
@click.pass_context
def cut(context: click.Context, files: tuple[str, ...], output: str, selection: Selection) -> None:
    """Cut a time window or some CPUs out of a session, as a smaller session.

    Whole datagrams are kept, so the cut begins and ends up to a block outside of the window, and it has the tables
    of the whole session. What it does not have is told as not in this file, not as lost. Events picked by other
    criteria are exported by vxmon print --format csv.
    """
    if selection.everything:
        raise click.UsageError("cut what? Give a --window or a --cpu", context)
    from vxmon.errors import InputError
    from vxmon.trace import StoredTrace, open_trace
    from vxmon.trace.cutting import cut_session
    from vxmon.trace.selection import check_names
    from vxmon.words import counted

    default_sigpipe()
    keep_apart(files, output)
    with open_trace(files) as trace:
        if not isinstance(trace, StoredTrace):
            raise InputError("a session is read twice to be cut; save the pipe to a file first")
        check_names(selection, trace.facts)
        done = cut_session(trace, selection, output)
    click.echo(
        f"vxmon: {done.records} of {counted(done.of_records, 'record')} in {done.blocks} of "
        f"{counted(done.of_blocks, 'block')} kept, {done.size} bytes",
        err=True,
    )
