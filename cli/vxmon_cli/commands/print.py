# SPDX-License-Identifier: Apache-2.0
"""``vxmon print``: the events of sessions as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from vxmon_cli.output import Write, default_sigpipe, keep_apart, open_output

if TYPE_CHECKING:
    from vxmon.report.lines import LinePrinter
    from vxmon.trace import Trace

__all__ = ["print_events"]

_DIALECTS: Final = ("6", "7", "8")


@click.command("print")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("-f", "more_files", multiple=True, metavar="FILE", help="A session; the same as FILE.")
@click.option("-o", "output", metavar="FILE", help="Write to this file instead of standard output.")
@click.option(
    "-p", "head", metavar="FMT", help="What stands before the arguments: %% %c %C %e %t %Z %z, with printf's widths."
)
@click.option("-n", "one_line", is_flag=True, help="Keep an event on one line; it always is.")
@click.option("-v", "verbose", is_flag=True, help="A longer header, and the data words of each event.")
@click.option("--dialect", type=click.Choice(_DIALECTS), default="8", help="Layout of traceprinter 6.x, 7.x or 8.x.")
@click.option("--strict", is_flag=True, help="Exit with 1 when something was lost or damaged.")
@click.pass_context
def print_events(
    context: click.Context, files: tuple[str, ...], more_files: tuple[str, ...], output: str | None, head: str | None,
    dialect: str, *, one_line: bool, verbose: bool, strict: bool,
) -> None:  # fmt: skip
    """Show the events of sessions as lines, in order of time.

    Several FILEs are read as one session; - is standard input, read as it comes. Each line is one event and begins
    with t:, the 64-bit time in clock cycles. Records that are missing are told by LOSS lines in their place.
    """
    del one_line
    paths = [*files, *more_files]
    if not paths:
        raise click.UsageError("which session? Give a FILE, or - for standard input", context)
    from vxmon.report.format import DEFAULT_FORMAT, FORMAT_6
    from vxmon.report.header import incomplete_text
    from vxmon.report.lines import LinePrinter
    from vxmon.trace import open_trace

    default_sigpipe()
    keep_apart(paths, output)
    layout = head or (FORMAT_6 if dialect == "6" else DEFAULT_FORMAT)
    with open_trace(paths) as trace, open_output(output) as write:
        printer = LinePrinter(layout, words=verbose, classic=dialect == "6")
        _print(trace, printer, write, verbose=verbose)
        missing = incomplete_text(trace.facts)
    if missing:
        click.echo(f"vxmon: {missing}", err=True)
    context.exit(1 if missing and strict else 0)


def _print(trace: Trace, printer: LinePrinter, write: Write, *, verbose: bool) -> None:
    from vxmon.report.header import header_text

    chunks = trace.chunks()
    first = next(chunks, None)
    write(header_text(trace.facts, verbose=verbose).encode())
    if first is not None:
        write(printer.lines(first))
    for chunk in chunks:
        write(printer.lines(chunk))
