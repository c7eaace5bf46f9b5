# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze system``: faults with their circumstances, exceptions, interrupts."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vxmon.errors import InputError
from vxmon_cli.analyses.common import end, open_stored, session_options, write
from vxmon_cli.modules import module_given
from vxmon_cli.selecting import selection_options

if TYPE_CHECKING:
    from vxmon.trace.criteria import Selection

__all__ = ["system"]


@click.command("system")
@session_options
@selection_options("span", "partitions", "tasks", "cpus")
@click.option("--type", "types", multiple=True, metavar="T", help="Only this: DEADLINE_MISSED, edr, exception.6 ...")
@click.option("--faults", is_flag=True, help="Only the faults, and all of them; as CSV one a row.")
@click.option(
    "--rate-span", metavar="TIME", default="1s", show_default=True, help="Largest rates are those within such a span."
)
@click.option("--background", multiple=True, metavar="TASK", help="A process whose time is margin, as idle time is.")
@click.option("--module", metavar="XML", type=click.Path(path_type=Path), help="The schedule, if the session has none.")
@click.pass_context
def system(
    context: click.Context, files: tuple[str, ...], selection: Selection, types: tuple[str, ...], rate_span: str,
    background: tuple[str, ...], module: Path | None, form: str, *, faults: bool, strict: bool,
) -> None:  # fmt: skip
    """What went wrong and what interrupted: HM errors, ED&R, exceptions, interrupts.

    Counts and rates by type, partition and time. Each fault with its circumstances: who ran, the window and its
    margin, the time since the release, memory, messages and interrupts before it. What a loss hides is unknown.
    """
    from vxmon.analysis.scene import Scope
    from vxmon.analysis.system.analyze import SystemRequest, analyze_system
    from vxmon.report.analyze_system import SystemFilter, system_json, system_rows
    from vxmon.report.analyze_system_text import system_blocks
    from vxmon.trace.selection import check_names

    scope = Scope(
        span=selection.span,
        module=module_given(module),
        background=background,
        cpus=selection.cpus,
    )
    request = SystemRequest(scope, _span(rate_span))
    chosen = SystemFilter(types, selection.partitions, selection.tasks)
    with open_stored(files) as trace:
        check_names(replace(selection, tasks=selection.tasks + background), trace.facts)
        result = analyze_system(trace, request)
        missing = chosen.unknown_types(result)
        if missing:
            raise InputError(f"the session has no type {' and no type '.join(missing)}")
        facts = trace.facts
        write(
            form,
            lambda: system_blocks(result, facts, chosen, faults=faults),
            lambda: system_json(result, facts, chosen),
            lambda: system_rows(result, facts, chosen, faults=faults),
        )
    end(context, trace, strict=strict)


def _span(text: str) -> int:
    """The width within which rates are looked for, in ns."""
    from vxmon.trace.span import parse_time

    ns = parse_time(text)
    if not 10**3 <= ns <= 60 * 10**9:
        raise InputError(f"--rate-span {text}: give 1us to 60s")
    return ns
