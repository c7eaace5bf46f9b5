# SPDX-License-Identifier: Apache-2.0
"""``vxmon info``: what sessions hold and what they lack."""

from __future__ import annotations

import json

import click

from vxmon_cli.output import default_sigpipe

__all__ = ["info"]


@click.command("info")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
@click.option("--strict", is_flag=True, help="Exit with 1 when something was lost or damaged.")
@click.pass_context
def info(context: click.Context, files: tuple[str, ...], form: str, *, strict: bool) -> None:
    """Say what sessions hold: target, runs, events, losses by cause, datagrams, problems.

    Several FILEs are read as one session.
    """
    from vxmon.report.header import incomplete_text
    from vxmon.report.info import info_blocks, info_document
    from vxmon.trace import open_trace
    from vxmon_cli.render import show, write_text

    default_sigpipe()
    with open_trace(files) as trace:
        document = info_document(trace.facts, trace.count_events())
        missing = incomplete_text(trace.facts)
    if form == "json":
        write_text(json.dumps(document, indent=2) + "\n")
    else:
        show(info_blocks(document))
    if missing:
        click.echo(f"vxmon: {missing}", err=True)
    context.exit(1 if missing and strict else 0)
