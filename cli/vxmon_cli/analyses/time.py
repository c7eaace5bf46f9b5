# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze time``: windows and their margins, tasks."""

from __future__ import annotations

from pathlib import Path

import click

from vxmon.errors import InputError
from vxmon_cli.analyses.common import end, open_stored, session_options, write

__all__ = ["time"]


@click.command("time")
@session_options
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
def time(
    context: click.Context, files: tuple[str, ...], span: str | None, partitions: tuple[str, ...],
    tasks: tuple[str, ...], cpus: tuple[int, ...], background: tuple[str, ...], module: Path | None,
    record_cost: float | None, form: str, *, per_frame: bool, hist: bool, strict: bool,
) -> None:  # fmt: skip
    """Where time went: windows and their margins, partitions, tasks.

    Budget, use and margin of each window and partition, start delays and overruns; execution and response of each
    task, deadline misses, preemptions. Under loss a figure is a range that holds the truth.
    """
    from vxmon.analysis.time.analyze import TimeRequest, analyze_time
    from vxmon.config.module import load_module
    from vxmon.report.analyze_time import Filter, time_blocks, time_json, time_rows
    from vxmon.trace.span import EVERYTHING, parse_span

    request = TimeRequest(
        span=EVERYTHING if span is None else parse_span(span),
        module=None if module is None else load_module(module),
        background=background,
        cpus=cpus,
        per_frame=per_frame,
        histogram=hist,
    )
    chosen = Filter(partitions, tasks, background)
    with open_stored(files) as trace:
        result = analyze_time(trace, request)
        seen = {cpu.stream for boot in result.boots for cpu in boot.cpus}
        missing = chosen.unknown(result) + [f"CPU {cpu}" for cpu in cpus if cpu not in seen]
        if missing:
            raise InputError(f"the session has no {' and no '.join(missing)}")
        facts = trace.facts
        write(
            form,
            lambda: time_blocks(result, facts, chosen, record_cost),
            lambda: time_json(result, facts, chosen),
            lambda: time_rows(result, chosen),
        )
    end(context, trace, strict=strict)
