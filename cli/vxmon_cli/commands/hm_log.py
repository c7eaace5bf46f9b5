# SPDX-License-Identifier: Apache-2.0
"""``vxmon hm-log``: the log of the health monitor, and of error detection and reporting."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import click

from vxmon_cli.icds import icd_option, load_given
from vxmon_cli.keys import key_option
from vxmon_cli.output import default_sigpipe
from vxmon_cli.params import Address, Number

if TYPE_CHECKING:
    from vxmon.analysis.hm_log import HmLog
    from vxmon.icd.icd import Icd
    from vxmon.wire.acquired import Log

__all__ = ["hm_log"]

_PORT = 6530


@dataclass(frozen=True, slots=True)
class _Options:
    files: tuple[str, ...]
    target: tuple[str, int] | None
    log: Log
    type: str | None
    partition: str | None
    newest: int
    since: float | None
    around: int


@click.command("hm-log")
@click.argument("files", nargs=-1, metavar="FILE...")
@click.option("--target", type=Address(_PORT), metavar="HOST[:PORT]", help="Ask this target instead of a session.")
@key_option
@click.option("--log", "which", type=click.Choice(["hm", "edr"]), default="hm", show_default=True, help="Which log.")
@click.option("--type", "kind", metavar="T", help="HM: a code; ED&R: severity, facility, or both: FATAL+REBOOT.")
@click.option("--partition", metavar="P", help="Only of this partition.")
@click.option("-n", "newest", type=click.IntRange(1, 1_000_000), default=None, help="Only the newest so many.")
@click.option(
    "--since", type=Number(0, 1e9), metavar="SECONDS",
    help="From this time of the target's clock on; with --target only of its present boot.",
)  # fmt: skip
@click.option("--around", type=click.IntRange(1, 1000), metavar="N", help="With N events before and after each entry.")
@icd_option
@click.option("--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True)
@click.option("--strict", is_flag=True, help="Exit with 1 when something was lost or damaged.")
@click.pass_context
def hm_log(
    context: click.Context, files: tuple[str, ...], target: tuple[str, int] | None, which: str, kind: str | None,
    partition: str | None, newest: int | None, since: float | None, around: int | None, sources: tuple[str, ...],
    form: str, *, strict: bool,
) -> None:  # fmt: skip
    """Show the errors that the health monitor handled, newest first: from sessions, or live from a target.

    Entries of a session have their messages where the target's log was read while it was recorded, as capture does at
    its end. With --around the events before and after each entry are printed, in the lines of ``vxmon print``.
    """
    from vxmon.wire.acquired import Log

    if bool(files) == bool(target):
        raise click.UsageError("give a session or --target HOST, one of them", context)
    if around and (target or form == "csv"):
        raise click.UsageError("--around is for sessions, as text or JSON", context)
    if sources and form == "csv":
        raise click.UsageError("--icd is for text and JSON", context)
    default_sigpipe()
    options = _Options(files, target, Log[which.upper()], kind, partition, newest or 0, since, around or 0)
    icd = load_given(sources)
    log, facts, missing = _from_target(options) if target else _from_sessions(options)
    _show(log, facts, form, icd)
    if missing:
        click.echo(f"vxmon: {missing}", err=True)
    context.exit(1 if missing and strict else 0)


def _from_sessions(options: _Options) -> tuple[HmLog, dict[str, Any], str]:
    from vxmon.analysis.hm_log import LogFilter, log_from_trace, type_number
    from vxmon.report.figures import loss_json
    from vxmon.report.header import incomplete_text
    from vxmon.trace import open_trace
    from vxmon.wire.events import TABLES

    with open_trace(options.files) as trace:
        boots = trace.facts.boots
        table = boots[-1].table if boots else TABLES["2.4"]
        kind = None if options.type is None else type_number(options.log, options.type, table)
        wanted = LogFilter(kind, options.partition, options.newest, options.since, options.around)
        log = log_from_trace(trace, options.log, wanted)
        missing = incomplete_text(trace.facts) or ""
        facts = {"files": list(options.files), "loss": loss_json(trace.facts)}
    return log, facts, missing


def _from_target(options: _Options) -> tuple[HmLog, dict[str, Any], str]:
    from vxmon.analysis.hm_log import log_from_entries, type_number
    from vxmon.errors import InputError
    from vxmon.link.learning import learn_target
    from vxmon.link.logs import read_log
    from vxmon.wire.acquired import LogRequest
    from vxmon_cli.planning import connected

    with connected(options.target or ("", 0)) as client:
        view = learn_target(client, names=True)
        indices = {name: index for index, name in view.partitions.items()}
        if options.partition is not None and options.partition not in indices:
            there = ", ".join(sorted(indices))
            raise InputError(f"{client.name}: no partition '{options.partition}'; there are: {there}")
        kind = None if options.type is None else type_number(options.log, options.type, view.table)
        partition = None if options.partition is None else indices[options.partition]
        # A time cannot be asked for: entries of earlier boots count from their own.
        count = 0 if options.since is not None else options.newest
        reading = read_log(client, LogRequest(options.log, count=count, type=kind, partition=partition))
    entries = reading.entries
    if options.since is not None:
        first = round(options.since * view.info.clock_hz)
        entries = [e for e in entries if e.boot_cycle == reading.boot_cycle and e.time >= first]
        entries = entries[: options.newest or None]
    facts = {
        "target": client.name, "oldest": reading.oldest, "next": reading.next, "missed": reading.missed,
        "boot_cycle": reading.boot_cycle, "unreadable": reading.unreadable,
    }  # fmt: skip
    whole = not reading.missed or (options.newest and len(entries) >= options.newest)
    missing = "" if whole else f"INCOMPLETE: the log has missed or overwritten {reading.missed} entries"
    return log_from_entries(options.log, entries, view, reading.boot_cycle), facts, missing


def _show(log: HmLog, facts: dict[str, Any], form: str, icd: Icd | None) -> None:
    from vxmon.report.hm_log import hm_log_blocks, hm_log_csv, hm_log_document
    from vxmon_cli.render import show, write_text

    if form == "json":
        write_text(json.dumps(hm_log_document(log, facts, icd), indent=2) + "\n")
    elif form == "csv":
        write_text(hm_log_csv(log))
    else:
        show(hm_log_blocks(log, icd))
