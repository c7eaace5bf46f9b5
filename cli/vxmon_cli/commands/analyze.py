# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze``: figures with evidence from sessions."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TypeVar

import click

from vxmon.errors import InputError
from vxmon_cli.output import default_sigpipe

if TYPE_CHECKING:
    from vxmon.report.blocks import Block
    from vxmon.trace import StoredTrace

__all__ = ["analyze"]

_FORMATS: Final = ("text", "json", "csv")
F = TypeVar("F", bound=Callable[..., Any])


@click.group()
def analyze() -> None:
    """Compute figures from recorded sessions: time, quality.

    Exit status: 0 fine, 1 incomplete data with --strict, 2 unusable input.
    """


def _session_options(function: F) -> F:
    """Options of every analysis."""
    function = click.option("--strict", is_flag=True, help="Exit with 1 when something was lost or damaged.")(function)
    function = click.option(
        "--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True, help="How to write it."
    )(function)
    return click.argument("files", nargs=-1, required=True, metavar="FILE...")(function)


@analyze.command("time")
@_session_options
@click.option("--window", "span", metavar="A..B", help="Only this time from the first record: 1.5s..2s, 200ms.., ..3")
@click.option("--per-frame", is_flag=True, help="Every window occurrence, too.")
@click.option("--partition", "partitions", multiple=True, metavar="NAME", help="Only this partition.")
@click.option("--task", "tasks", multiple=True, metavar="NAME", help="Only this task.")
@click.option("--cpu", "cpus", multiple=True, type=click.IntRange(0, 7), metavar="N", help="Only this CPU's stream.")
@click.option("--background", multiple=True, metavar="TASK", help="A process whose time is margin, as idle time is.")
@click.option("--hist", is_flag=True, help="Distributions of margins and execution times.")
@click.option("--module", metavar="XML", type=click.Path(path_type=Path), help="Compare with this configuration.")
@click.option("--record-cost", type=float, metavar="NS", help="What recording one event takes, as calibrated.")
@click.pass_context
def _time(
    context: click.Context, files: tuple[str, ...], span: str | None, partitions: tuple[str, ...],
    tasks: tuple[str, ...], cpus: tuple[int, ...], background: tuple[str, ...], module: Path | None,
    record_cost: float | None, form: str, *, per_frame: bool, hist: bool, strict: bool,
) -> None:  # fmt: skip
    """Where time went: windows and their margins, partitions, tasks.

    Budget, use and margin of each window and partition, start delays and overruns; execution and response of each
    task, deadline misses, preemptions. Under loss a figure is a range that holds the truth.
    """
    from vxmon.analysis.span import EVERYTHING, parse_span
    from vxmon.analysis.time.analyze import TimeRequest, analyze_time
    from vxmon.config.module import load_module
    from vxmon.report.analyze_time import Filter, time_blocks, time_json, time_rows

    request = TimeRequest(
        span=EVERYTHING if span is None else parse_span(span),
        module=None if module is None else load_module(module),
        background=background,
        cpus=cpus,
        per_frame=per_frame,
        histogram=hist,
    )
    chosen = Filter(partitions, tasks, background)
    with _open(files) as trace:
        result = analyze_time(trace, request)
        seen = {cpu.stream for boot in result.boots for cpu in boot.cpus}
        missing = chosen.unknown(result) + [f"CPU {cpu}" for cpu in cpus if cpu not in seen]
        if missing:
            raise InputError(f"the session has no {' and no '.join(missing)}")
        facts = trace.facts
        _write(
            form,
            lambda: time_blocks(result, facts, chosen, record_cost),
            lambda: time_json(result, facts, chosen),
            lambda: time_rows(result, chosen),
        )
    _end(context, trace, strict=strict)


@analyze.command("quality")
@_session_options
@click.pass_context
def _quality(context: click.Context, files: tuple[str, ...], form: str, *, strict: bool) -> None:
    """What weakens the evidence: losses, damage, unknown events, edges of the recording.

    Loss is counted by CPU, cause and interval; its headline stands on top of every other report.
    """
    from vxmon.analysis.quality import analyze_quality
    from vxmon.report.analyze_quality import quality_blocks, quality_json, quality_rows

    with _open(files) as trace:
        result = analyze_quality(trace)
        facts = trace.facts
        _write(form, lambda: quality_blocks(result), lambda: quality_json(result, facts), lambda: quality_rows(result))
    _end(context, trace, strict=strict)


@contextmanager
def _open(files: tuple[str, ...]) -> Iterator[StoredTrace]:
    from vxmon.trace import StoredTrace, open_trace

    default_sigpipe()
    with open_trace(files) as trace:
        if not isinstance(trace, StoredTrace):
            raise InputError("an analysis reads a session twice; save the pipe to a file first")
        yield trace


def _write(
    form: str,
    blocks: Callable[[], Iterable[Block]],
    values: Callable[[], dict[str, Any]],
    rows: Callable[[], Iterable[tuple[str, ...]]],
) -> None:
    import csv
    import json
    import sys

    if form == "json":
        json.dump(values(), sys.stdout, indent=2, allow_nan=False)
        sys.stdout.write("\n")
    elif form == "csv":
        csv.writer(sys.stdout, lineterminator="\n").writerows(rows())
    else:
        from vxmon_cli.render import show

        show(blocks())


def _end(context: click.Context, trace: StoredTrace, *, strict: bool) -> None:
    """Say on standard error what is missing, and exit."""
    from vxmon.report.header import incomplete_text

    missing = incomplete_text(trace.facts)
    if missing:
        click.echo(f"vxmon: {missing}", err=True)
    context.exit(1 if missing and strict else 0)
