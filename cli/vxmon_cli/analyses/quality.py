# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze quality``: what weakens the evidence."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vxmon_cli.analyses.common import end, open_stored, session_options, write
from vxmon_cli.selecting import selection_options

if TYPE_CHECKING:
    from vxmon.trace.criteria import Selection

__all__ = ["quality"]


@click.command("quality")
@session_options
@selection_options("span", "cpus")
@click.pass_context
def quality(
    context: click.Context, files: tuple[str, ...], selection: Selection, form: str, *, strict: bool
) -> None:  # fmt: skip
    """What weakens the evidence: losses, damage, unknown events, edges of the recording.

    Loss is counted by CPU, cause and interval; its headline stands on top of every other report. A window or CPU
    selects the losses that are listed; headline and findings are always of the whole session.
    """
    from vxmon.analysis.quality import analyze_quality
    from vxmon.report.analyze_quality import narrowed, quality_blocks, quality_json, quality_rows
    from vxmon.trace.selection import check_names

    with open_stored(files) as trace:
        facts = trace.facts
        check_names(selection, facts)
        result = narrowed(analyze_quality(trace), facts, selection.span, selection.cpus)
        write(form, lambda: quality_blocks(result), lambda: quality_json(result, facts), lambda: quality_rows(result))
    end(context, trace, strict=strict)
