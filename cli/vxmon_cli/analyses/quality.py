# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze quality``: what weakens the evidence."""

from __future__ import annotations

import click

from vxmon_cli.analyses.common import end, open_stored, session_options, write

__all__ = ["quality"]


@click.command("quality")
@session_options
@click.pass_context
def quality(context: click.Context, files: tuple[str, ...], form: str, *, strict: bool) -> None:
    """What weakens the evidence: losses, damage, unknown events, edges of the recording.

    Loss is counted by CPU, cause and interval; its headline stands on top of every other report.
    """
    from vxmon.analysis.quality import analyze_quality
    from vxmon.report.analyze_quality import quality_blocks, quality_json, quality_rows

    with open_stored(files) as trace:
        result = analyze_quality(trace)
        facts = trace.facts
        write(form, lambda: quality_blocks(result), lambda: quality_json(result, facts), lambda: quality_rows(result))
    end(context, trace, strict=strict)
