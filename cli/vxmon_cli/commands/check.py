# SPDX-License-Identifier: Apache-2.0
"""``vxmon check``: the gate for CI."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vxmon_cli.analyses.common import end, open_stored, write
from vxmon_cli.modules import module_given

if TYPE_CHECKING:
    from vxmon.analysis.gate.gather import GateRequest
    from vxmon.analysis.gate.judge import GateResult
    from vxmon.config.limits import Limits, Severity
    from vxmon.trace import StoredTrace

__all__ = ["check"]

_FORMATS = ("text", "json", "csv", "junit")


@dataclass(frozen=True, slots=True)
class _Options:
    files: tuple[str, ...]
    limits: str | None
    only: tuple[str, ...]
    module: Path | None
    form: str
    slack: int
    fail_on: Severity


@click.command("check")
@click.argument("files", nargs=-1, required=True, metavar="FILE...")
@click.option("--limits", metavar="TOML", help="The rules to judge by.")
@click.option("--list", "listing", is_flag=True, help="Show every figure that a rule can name, with its value.")
@click.option("--init", is_flag=True, help="Write a limits file for this good session to standard output.")
@click.option("--only", multiple=True, metavar="PATTERN", help="With --list or --init: only these figures; * is any.")
@click.option(
    "--slack",
    type=click.IntRange(0, 1000),
    default=20,
    show_default=True,
    metavar="PERCENT",
    help="With --init: how much worse a session may be.",
)
@click.option(
    "--fail-on",
    type=click.Choice(["warn", "error"]),
    default="error",
    show_default=True,
    help="The least severity that makes the check fail.",
)
@click.option("--module", metavar="XML", type=click.Path(path_type=Path), help="This configuration has the schedule.")
@click.option(
    "--format", "form", type=click.Choice(_FORMATS), default="text", show_default=True, help="How to write it."
)
@click.option("--strict", is_flag=True, help="Exit with 1 when something was lost or damaged, too.")
@click.pass_context
def check(
    context: click.Context, files: tuple[str, ...], limits: str | None, only: tuple[str, ...], slack: int,
    fail_on: Severity, module: Path | None, form: str, *, listing: bool, init: bool, strict: bool,
) -> None:  # fmt: skip
    """Judge sessions by limits: the gate for CI.

    A rule names figures, which --list shows, and bounds; it fails with what was not recorded, and of a range that loss
    left the bad end counts. --init makes a limits file to begin with.

    Exit status, in every format: 0 passed, 1 failed, 2 the session or the limits cannot be used.
    """
    _check_usage(context, limits, only, form, listing=listing, init=init)
    options = _Options(files, limits, only, module, form, slack, fail_on)
    if listing or init:
        trace = _show_figures(options, init=init)
        end(context, trace, strict=strict)
    trace, failed = _judge(options)
    end(context, trace, strict=strict, failed=failed)


def _check_usage(
    context: click.Context, limits: str | None, only: tuple[str, ...], form: str, *, listing: bool, init: bool
) -> None:
    if listing and init:
        raise click.UsageError("--list and --init exclude each other", context)
    if not (limits or listing or init):
        raise click.UsageError("give --limits TOML; --init makes such a file, --list shows what it can name", context)
    if only and not (listing or init):
        raise click.UsageError("--only goes with --list and --init", context)
    if (listing and form == "junit") or (init and form != "text"):
        raise click.UsageError(f"--format {form} does not go with {'--list' if listing else '--init'}", context)


def _request(options: _Options, limits: Limits | None) -> GateRequest:
    from vxmon.analysis.gate.gather import GateRequest

    module = module_given(options.module)
    return GateRequest(module=module) if limits is None else GateRequest(limits.span, module, limits.background)


def _show_figures(options: _Options, *, init: bool) -> StoredTrace:
    """Write the figures that rules can name, or limits made from them."""
    from vxmon.analysis.gate.gather import gather, is_selected
    from vxmon.analysis.gate.propose import PROPOSED, propose
    from vxmon.config.limits import Pattern, read_limits
    from vxmon.report.check_figures import figures_blocks, figures_json, figures_rows, limits_file
    from vxmon_cli.render import write_text

    request = _request(options, None if options.limits is None else read_limits(options.limits))
    patterns = tuple(map(Pattern, options.only)) or (PROPOSED if init else (Pattern("*"),))
    with open_stored(options.files) as trace:
        found = [f for f in gather(trace, patterns, request) if any(is_selected(p, f) for p in patterns)]
        if init:
            write_text(limits_file(propose(found, options.slack), trace.facts, request, options.slack))
            return trace
        write(
            options.form,
            lambda: figures_blocks(found, trace.facts, request),
            lambda: figures_json(found, trace.facts, request),
            lambda: figures_rows(found),
        )
    return trace


def _judge(options: _Options) -> tuple[StoredTrace, bool]:
    from vxmon.analysis.gate.gather import check_scope, gather
    from vxmon.analysis.gate.judge import judge
    from vxmon.config.limits import read_limits

    limits = read_limits(options.limits or "")
    request = _request(options, limits)
    with open_stored(options.files) as trace:
        check_scope(limits, trace.facts)
        result = judge(limits, gather(trace, [rule.pattern for rule in limits.rules], request))
        _write_result(result, trace, options)
    return trace, bool(result.failed(options.fail_on))


def _write_result(result: GateResult, trace: StoredTrace, options: _Options) -> None:
    if options.form == "junit":
        from vxmon.report.junit import check_junit
        from vxmon_cli.render import write_text

        write_text(check_junit(result, trace.facts, options.fail_on))
        return
    from vxmon.report.check import check_blocks, check_json, check_rows

    facts, fail_on = trace.facts, options.fail_on
    write(
        options.form,
        lambda: check_blocks(result, facts, fail_on),
        lambda: check_json(result, facts, fail_on),
        lambda: check_rows(result),
    )
