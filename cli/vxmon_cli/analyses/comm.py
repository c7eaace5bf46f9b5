# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze comm``: messages, queues and flows."""

from __future__ import annotations

from pathlib import Path

import click

from vxmon.errors import InputError
from vxmon_cli.analyses.common import end, open_stored, session_options, write

__all__ = ["comm"]


@click.command("comm")
@session_options
@click.option("--window", "span", metavar="A..B", help="Only this time from the first record: 1.5s..2s, 200ms.., ..3")
@click.option("--object", "objects", multiple=True, metavar="NAME", help="Only this object.")
@click.option("--partition", "partitions", multiple=True, metavar="NAME", help="Only objects of this partition.")
@click.option("--module", metavar="XML", type=click.Path(path_type=Path), help="Channels and refresh periods.")
@click.pass_context
def comm(
    context: click.Context, files: tuple[str, ...], span: str | None, objects: tuple[str, ...],
    partitions: tuple[str, ...], module: Path | None, form: str, *, strict: bool,
) -> None:  # fmt: skip
    """What went from whom to whom: messages, latency, queues, flows.

    Count, rate, size, period and jitter of each object; latency from sending to receipt; depth and overflow of
    queues; age of what sampling ports and blackboards show; flows between partitions; messages without the other end.
    Ports are connected by the module's configuration. Under loss a figure is a range that holds the truth.
    """
    from vxmon.analysis.comm.analyze import analyze_comm
    from vxmon.analysis.scene import Scope
    from vxmon.config.module import load_module
    from vxmon.report.analyze_comm import comm_blocks, comm_json, comm_rows, select_objects, unknown_names
    from vxmon.trace.span import EVERYTHING, parse_span

    scope = Scope(
        span=EVERYTHING if span is None else parse_span(span),
        module=None if module is None else load_module(module),
    )
    with open_stored(files) as trace:
        result = analyze_comm(trace, scope)
        missing = unknown_names(result, objects, partitions)
        if missing:
            raise InputError(f"the session has no {' and no '.join(missing)}")
        result, facts = select_objects(result, objects, partitions), trace.facts
        write(form, lambda: comm_blocks(result, facts), lambda: comm_json(result, facts), lambda: comm_rows(result))
    end(context, trace, strict=strict)
