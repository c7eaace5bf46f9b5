# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze time``: windows and their margins, tasks."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vxmon_cli.analyses.common import end, open_stored, session_options, write
from vxmon_cli.modules import module_given
from vxmon_cli.params import Number
from vxmon_cli.selecting import selection_options

if TYPE_CHECKING:
    from vxmon.trace.criteria import Selection

__all__ = ["time"]


@click.command("time")
@session_options
@selection_options("span", "partitions", "tasks", "cpus")
@click.option("--per-frame", is_flag=True, help="Every window occurrence, too.")
@click.option("--background", multiple=True, metavar="TASK", help="A process whose time is margin, as idle time is.")
@click.option("--hist", is_flag=True, help="Distributions of margins and execution times.")
@click.option("--module", metavar="XML", type=click.Path(path_type=Path), help="Compare with this configuration.")
@click.option("--record-cost", type=Number(0, 1e9), metavar="NS", help="What recording one event takes, as calibrated.")
@click.pass_context
def time(
    context: click.Context, files: tuple[str, ...], selection: Selection, background: tuple[str, ...],
    module: Path | None, record_cost: float | None, form: str, *, per_frame: bool, hist: bool, strict: bool,
) -> None:  # fmt: skip
    """Where time went: windows and their margins, partitions, tasks.

    Budget, use and margin of each window and partition, start delays and overruns; execution and response of each
    task, deadline misses, preemptions. Under loss a figure is a range that holds the truth.
    """
    from vxmon.analysis.time.analyze import TimeRequest, analyze_time
    from vxmon.report.analyze_time import Filter, time_blocks, time_json, time_rows
    from vxmon.trace.selection import check_names

    request = TimeRequest(
        span=selection.span,
        module=module_given(module),
        background=background,
        cpus=selection.cpus,
        per_frame=per_frame,
        histogram=hist,
    )
    chosen = Filter(selection.partitions, selection.tasks)
    with open_stored(files) as trace:
        check_names(replace(selection, tasks=selection.tasks + background), trace.facts)
        result = analyze_time(trace, request)
        facts = trace.facts
        write(
            form,
            lambda: time_blocks(result, facts, chosen, record_cost),
            lambda: time_json(result, facts, chosen),
            lambda: time_rows(result, chosen),
        )
    end(context, trace, strict=strict)
