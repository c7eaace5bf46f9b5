# SPDX-License-Identifier: Apache-2.0
"""``vxmon print``: the events of sessions as lines."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

import click

from vxmon_cli.icds import icd_option, load_given
from vxmon_cli.output import Write, default_sigpipe, keep_apart, open_output
from vxmon_cli.selecting import EVERY_CRITERION, note_selection, selection_options

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from vxmon.report.lines import LinePrinter
    from vxmon.report.message_fields import MessageFields
    from vxmon.trace import Chunk, Trace
    from vxmon.trace.criteria import Selection
    from vxmon.trace.parts import Plan
    from vxmon.trace.selection import Selected
    from vxmon.turns import Data

__all__ = ["print_events"]

_DIALECTS: Final = ("6", "7", "8")


@click.command("print")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("-f", "more_files", multiple=True, metavar="FILE", help="A session; the same as FILE.")
@click.option("-o", "output", metavar="FILE", help="Write to this file instead of standard output.")
@click.option(
    "-p", "head", metavar="FMT", help="What stands before the arguments: %% %c %C %e %t %w %Z %z, with printf's widths."
)
@click.option("-n", "one_line", is_flag=True, help="Keep an event on one line; it always is.")
@click.option("-v", "verbose", is_flag=True, help="A longer header, and the data words of each event.")
@click.option(
    "--format",
    "form",
    type=click.Choice(("text", "csv")),
    default="text",
    show_default=True,
    help="Lines for people, or rows with time_ns, cpu, class, event, partition, task, arguments, boot.",
)
@click.option("--wall", is_flag=True, help="Begin lines with the host's time: ISO 8601, UTC, nanoseconds.")
@click.option("--dialect", type=click.Choice(_DIALECTS), default="8", help="Layout of traceprinter 6.x, 7.x or 8.x.")
@icd_option
@selection_options(*EVERY_CRITERION)
@click.option("--strict", is_flag=True, help="Exit with 1 when something was lost or damaged.")
@click.pass_context
def print_events(
    context: click.Context, files: tuple[str, ...], more_files: tuple[str, ...], output: str | None, head: str | None,
    form: str, dialect: str, sources: tuple[str, ...], selection: Selection, *, one_line: bool, verbose: bool,
    wall: bool, strict: bool,
) -> None:  # fmt: skip
    """Show the events of sessions as lines, in order of time.

    Several FILEs are read as one session; - is standard input, read as it comes. Each line is one event and begins
    with t:, the 64-bit time in clock cycles. Records that are missing are told by LOSS lines in their place, and so is
    what happened on the link: LINK_LOST, LINK_BACK, REBOOT, RESUMED, PORT_CHANGED, CANCELLED, UNANSWERED.

    --wall and %w give the host's time of each event, as heartbeats tie the clocks; vxmon info says how exact that is.

    Options that select: alternatives of one option, and --class and --event, add up; different options must all hold.
    An event is of the partition and task that ran when it was recorded, and of those that it names.
    """
    del one_line
    paths = [*files, *more_files]
    if not paths:
        raise click.UsageError("which session? Give a FILE, or - for standard input", context)
    if sources and form == "csv":
        raise click.UsageError("fields as CSV: vxmon analyze comm --fields --format csv --object NAME", context)
    from vxmon.report.header import incomplete_text
    from vxmon.trace import open_trace
    from vxmon.trace.linknotes import with_link_events
    from vxmon.trace.span import EVERYTHING

    default_sigpipe()
    keep_apart(paths, output)
    printer = None if form == "csv" else _line_printer(head, dialect, sources, words=verbose, wall=wall)
    with open_trace(paths) as trace, open_output(output) as write:
        chunks, books = _selected(trace, selection, printer)
        if printer is None:
            _export(chunks, books, _known(trace), write)
        else:
            plan = _plan(trace) if books is None else None
            if selection.span == EVERYTHING and not selection.around:
                chunks = with_link_events(chunks, trace.facts)
            _print(chunks, plan, trace, printer, write, verbose=verbose)
        if printer is not None and printer.fields is not None and not printer.fields.shown:
            from vxmon.report.comm_fields import NO_CONTENT

            click.echo(f"vxmon: {NO_CONTENT}", err=True)
        if books is not None and not selection.everything:
            note_selection(books.text())
        missing = incomplete_text(trace.facts)
    if missing:
        click.echo(f"vxmon: {missing}", err=True)
    context.exit(1 if missing and strict else 0)


def _selected(
    trace: Trace, selection: Selection, printer: LinePrinter | None
) -> tuple[Iterator[Chunk], Selected | None]:
    """What is to be printed; books on it unless everything is, as plain lines, which needs none."""
    fields = printer.fields if printer is not None else None
    if selection.everything and printer is not None and fields is None:
        return trace.chunks(), None
    from vxmon.trace.faults import fault_instants
    from vxmon.trace.selection import selected

    chunks, books = selected(trace, selection, fault_instants, who=printer is None)
    books.watch = None if fields is None else fields.before
    return chunks, books


def _line_printer(
    head: str | None, dialect: str, sources: tuple[str, ...], *, words: bool, wall: bool
) -> LinePrinter:  # fmt: skip
    """Raises InputError: the format is wrong, or an ICD cannot be used."""
    from vxmon.report.format import DEFAULT_FORMAT, FORMAT_6
    from vxmon.report.lines import LinePrinter

    layout = head or (FORMAT_6 if dialect == "6" else DEFAULT_FORMAT)
    layout = f"%w {layout}" if wall else layout
    return LinePrinter(layout, words=words, classic=dialect == "6", fields=_message_fields(sources))


def _message_fields(sources: tuple[str, ...]) -> MessageFields | None:
    """None without an ICD. Raises InputError."""
    icd = load_given(sources)
    if icd is None:
        return None
    from vxmon.report.message_fields import MessageFields

    return MessageFields(icd)


def _export(chunks: Iterator[Chunk], books: Selected | None, events: int, write: Write) -> None:
    from vxmon.report.event_csv import HEADER, CsvPrinter

    printer = CsvPrinter()
    write(HEADER)

    def rows(chunk: Chunk) -> Data:
        return b"" if books is None or books.ran is None else printer.lines(chunk, books.ran)

    for text in _made(chunks, rows, events):
        write(text)


def _print(
    chunks: Iterator[Chunk], plan: Plan | None, trace: Trace, printer: LinePrinter, write: Write, *, verbose: bool
) -> None:  # fmt: skip
    from vxmon.report.header import header_text
    from vxmon.trace.parts import in_turns

    events = _known(trace)
    # What is in a pipe is known when its first records come.
    first = None if events else next(chunks, None)
    write(header_text(trace.facts, verbose=verbose).encode())
    if first is not None:
        write(printer.lines(first))
    texts = _made(chunks, printer.lines, events) if plan is None else in_turns(plan, printer.lines)
    for text in texts:
        write(text)


def _plan(trace: Trace) -> Plan | None:
    """How two processes can print all events, each from the records of its own chunks; None: from all records."""
    from vxmon import turns
    from vxmon.trace import StoredTrace
    from vxmon.trace.linknotes import link_events

    if not isinstance(trace, StoredTrace) or not turns.worth_turns(_known(trace), turns.ENOUGH_EVENTS):
        return None
    # Where link events stand depends on the chunks before.
    return None if any(link_events(trace.facts, boot) for boot in trace.facts.boots) else trace.plan()


def _known(trace: Trace) -> int:
    """Events to come, as far as it is known before they are read."""
    from vxmon.trace import StoredTrace

    return trace.facts.delivered if isinstance(trace, StoredTrace) else 0


def _made(chunks: Iterator[Chunk], make: Callable[[Chunk], Data], events: int) -> Iterator[Data]:
    """The text of chunks, each to be written before the next; made by two processes where that is faster."""
    from vxmon import turns

    if turns.worth_turns(events, turns.ENOUGH_EVENTS):
        return turns.in_turns(chunks, make, lent=True)
    return map(make, chunks)
