# SPDX-License-Identifier: Apache-2.0
"""``vxmon plan``: collection plans."""

from __future__ import annotations

from typing import TYPE_CHECKING

import click

from vxmon_cli.keys import key_option
from vxmon_cli.params import Address

if TYPE_CHECKING:
    from vxmon.config.plan import CollectionPlan
    from vxmon.link.selection import TargetView
    from vxmon.wire.types import RunConfig

__all__ = ["plan"]

_PORT = 6530
_RELEASES = ("2.2", "2.4")
_NEXT = "applied to the next run started without a plan (capture brings its own, --plan)"
_TARGET = click.option("--target", type=Address(_PORT), metavar="HOST[:PORT]", help="Ask this target.")
_RELEASE = click.option("--release", type=click.Choice(_RELEASES), default="2.4", help="Without a target.  [2.4]")


@click.group("plan")
def plan() -> None:
    """Make, check, show and apply collection plans: what a target records, and how."""


@plan.command("init")
@click.argument("file", default="-", metavar="[FILE]")
def _init(file: str) -> None:
    """Write a commented plan to begin with, to FILE or standard output. A FILE that exists is left alone."""
    from pathlib import Path

    from vxmon.config.plan_text import PLAN_TEMPLATE
    from vxmon.errors import OutputError
    from vxmon_cli.render import write_text

    if file == "-":
        write_text(PLAN_TEMPLATE)
        return
    try:
        with Path(file).open("x", encoding="utf-8") as out:
            out.write(PLAN_TEMPLATE)
    except FileExistsError as error:
        raise OutputError(f"{file}: it exists, and is not overwritten") from error
    except (OSError, ValueError) as error:
        raise OutputError(f"{file}: cannot be written: {getattr(error, 'strerror', error)}") from error


@plan.command("check")
@click.argument("file", metavar="FILE")
@_TARGET
@key_option
@_RELEASE
def _check(file: str, target: tuple[str, int] | None, release: str) -> None:
    """Check a plan, by itself or against what a target offers; the target changes nothing."""
    from vxmon.config.plan import read_plan
    from vxmon_cli.planning import ask_target, offline_config

    wanted = read_plan(file)
    if target is None:
        config, _ = offline_config(wanted, release)
        click.echo(f"{file}: fine for release {release}: {len(config.events)} events")
        return
    config, view = ask_target(target, wanted, check_only=True)
    click.echo(f"{file}: fine for {target[0]}:{target[1]} (release {view.info.os_release}): {_summary(config)}")


@plan.command("apply")
@click.argument("file", metavar="FILE")
@click.argument("target", type=Address(_PORT), metavar="HOST[:PORT]")
@key_option
def _apply(file: str, target: tuple[str, int]) -> None:
    """Make a plan the target's own: of the run that lasts, else of the next that is started without one.

    While a run lasts events, filters, payload and periods change, each switch with a FILTER record; buffers cannot.
    """
    from vxmon.config.plan import read_plan
    from vxmon_cli.planning import ask_target

    config, view = ask_target(target, read_plan(file), check_only=False)
    what = "applied to the run that lasts" if view.info.running else _NEXT
    click.echo(f"{file}: {what}: {_summary(config)}")


@plan.command("show")
@click.argument("file", metavar="FILE")
@_TARGET
@key_option
@_RELEASE
@click.option("--format", "form", type=click.Choice(["text", "json"]), default="text", show_default=True)
def _show(file: str, target: tuple[str, int] | None, release: str, form: str) -> None:
    """Show what a plan says, and the events it means for a target or a release."""
    from vxmon.config.plan import read_plan
    from vxmon_cli.planning import ask_target, offline_config

    wanted = read_plan(file)
    config, view = offline_config(wanted, release) if target is None else ask_target(target, wanted, check_only=True)
    _show_resolved(wanted, config, view, form)


def _summary(config: RunConfig) -> str:
    return f"{len(config.events)} events, {config.units} units of {config.unit_slots} slots"


def _show_resolved(wanted: CollectionPlan, config: RunConfig, view: TargetView, form: str) -> None:
    import json

    from vxmon.config.plan_text import plan_document
    from vxmon.report.plan import plan_blocks
    from vxmon_cli.render import show as show_blocks
    from vxmon_cli.render import write_text

    document = plan_document(wanted)
    events = [event for event in view.table.events if event.id in config.events]
    if form == "json":
        names = [event.name for event in events]
        text = json.dumps({"version": 1, "release": view.info.os_release, "plan": document, "events": names}, indent=2)
        write_text(text + "\n")
    else:
        show_blocks(plan_blocks(document, events, view.info.os_release))
