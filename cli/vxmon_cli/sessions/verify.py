# SPDX-License-Identifier: Apache-2.0
"""``vxmon session verify``: is the file sound."""

from __future__ import annotations

import click

from vxmon_cli.analyses.common import end, open_stored, session_options, write

__all__ = ["verify"]


@click.command("verify")
@session_options
@click.pass_context
def verify(context: click.Context, files: tuple[str, ...], form: str, *, strict: bool) -> None:
    """Check a session: every checksum, every record, their order, the tables, the end of the file.

    Exit status 1 when something is wrong; records that the target or the link lost are told, and are no fault of the
    file (--strict makes them one).
    """
    from vxmon.analysis.integrity import WRONG, verify_session
    from vxmon.report.session_verify import verify_blocks, verify_json, verify_rows

    with open_stored(files) as trace:
        checks = verify_session(trace)
        facts = trace.facts
        write(form, lambda: verify_blocks(checks), lambda: verify_json(checks, facts), lambda: verify_rows(checks))
    end(context, trace, strict=strict, failed=any(check.status == WRONG for check in checks))
