# SPDX-License-Identifier: Apache-2.0
"""What every analysis shares: its options, opening sessions, writing the result, the exit status."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from itertools import chain
from typing import TYPE_CHECKING, Any, Final, NoReturn, TypeVar

import click

from vxmon.errors import InputError
from vxmon_cli.output import default_sigpipe

if TYPE_CHECKING:
    from vxmon.report.blocks import Block
    from vxmon.trace import StoredTrace

__all__ = ["end", "open_stored", "session_options", "write"]

_FORMATS: Final = ("text", "json", "csv")
F = TypeVar("F", bound=Callable[..., Any])


def session_options(function: F) -> F:
    """Options of every analysis."""
    function = click.option("--strict", is_flag=True, help="Exit with 1 when something was lost or damaged.")(function)
    function = click.option(
        "--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True, help="How to write it."
    )(function)
    return click.argument("files", nargs=-1, required=True, metavar="FILE...")(function)


@contextmanager
def open_stored(files: tuple[str, ...]) -> Iterator[StoredTrace]:
    """Sessions that an analysis can read more than once. Raises InputError for a pipe."""
    from vxmon.trace import StoredTrace, open_trace

    default_sigpipe()
    with open_trace(files) as trace:
        if not isinstance(trace, StoredTrace):
            raise InputError("an analysis reads a session twice; save the pipe to a file first")
        yield trace


def write(
    form: str,
    blocks: Callable[[], Iterable[Block]],
    values: Callable[[], dict[str, Any]],
    rows: Callable[[], Iterable[tuple[str, ...]]],
) -> None:
    """Write the result to standard output in the form that is asked for; only that one is made."""
    import json

    from vxmon_cli.render import show, write_texts

    if form == "json":
        write_texts(chain(json.JSONEncoder(indent=2, allow_nan=False).iterencode(values()), ["\n"]))
    elif form == "csv":
        write_texts(_csv_lines(rows()))
    else:
        show(blocks())


def _csv_lines(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    import csv
    import io

    line = io.StringIO()
    writer = csv.writer(line, lineterminator="\n")
    for row in rows:
        writer.writerow(row)
        yield line.getvalue()
        line.seek(0)
        line.truncate()


def end(context: click.Context, trace: StoredTrace, *, strict: bool, failed: bool = False) -> NoReturn:
    """Say on standard error what is missing, and exit; ``failed`` when the command found what it should find."""
    from vxmon.report.header import incomplete_text

    missing = incomplete_text(trace.facts)
    if missing:
        click.echo(f"vxmon: {missing}", err=True)
    context.exit(1 if failed or (missing and strict) else 0)
