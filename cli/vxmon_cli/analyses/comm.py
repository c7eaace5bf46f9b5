# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze comm``: messages, queues and flows."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vxmon.errors import InputError
from vxmon_cli.analyses.common import end, open_stored, session_options, write
from vxmon_cli.icds import icd_option, load_given
from vxmon_cli.modules import module_given
from vxmon_cli.selecting import selection_options

if TYPE_CHECKING:
    from vxmon.analysis.comm.fields import ObjectFields
    from vxmon.analysis.comm.result import CommResultSet
    from vxmon.icd.icd import Icd
    from vxmon.trace import StoredTrace
    from vxmon.trace.criteria import Selection
    from vxmon.trace.span import Span

__all__ = ["comm"]


@click.command("comm")
@session_options
@selection_options("span", "partitions", "objects")
@click.option("--module", metavar="XML", type=click.Path(path_type=Path), help="Channels and refresh periods.")
@click.option("--fields", is_flag=True, help="What the messages' fields were; csv: those of one object over time.")
@icd_option
@click.pass_context
def comm(
    context: click.Context, files: tuple[str, ...], selection: Selection, module: Path | None,
    sources: tuple[str, ...], form: str, *, fields: bool, strict: bool,
) -> None:  # fmt: skip
    """What went from whom to whom: messages, latency, queues, flows.

    Count, rate, size, period and jitter of each object; latency from sending to receipt; depth and overflow of
    queues; age of what sampling ports and blackboards show; flows between partitions; messages without the other end.
    Ports are connected by the module's configuration. Under loss a figure is a range that holds the truth.
    """
    if fields != bool(sources):
        raise click.UsageError("--fields and --icd FILE go together", context)
    from vxmon.analysis.comm.analyze import analyze_comm
    from vxmon.analysis.scene import Scope
    from vxmon.report.analyze_comm import comm_blocks, comm_json, comm_rows, select_objects
    from vxmon.trace.selection import check_names

    scope = Scope(span=selection.span, module=module_given(module))
    icd = load_given(sources)
    with open_stored(files) as trace:
        check_names(selection, trace.facts)
        result = select_objects(analyze_comm(trace, scope), selection.objects, selection.partitions)
        facts = trace.facts
        books = None if icd is None or form == "csv" else _field_books(trace, icd, scope.span)
        write(
            form,
            lambda: comm_blocks(result, facts, books),
            lambda: comm_json(result, facts, books),
            lambda: comm_rows(result) if icd is None else _series(trace, icd, result),
        )
    end(context, trace, strict=strict)


def _field_books(trace: StoredTrace, icd: Icd, span: Span) -> list[ObjectFields]:
    from vxmon.analysis.comm.fields import analyze_fields

    return analyze_fields(trace, icd, span)


def _series(trace: StoredTrace, icd: Icd, result: CommResultSet) -> Iterator[tuple[str, ...]]:
    """The messages of the one object that is left. Raises InputError when it is not one, or is not described."""
    from vxmon.analysis.fields import MessageDecoder
    from vxmon.report.comm_fields import field_rows

    labels = {one.label for boot in result.boots for one in boot.objects}
    if len(labels) != 1:
        raise InputError("a table of fields is of one object: name it with --object")
    chosen = {boot.number: frozenset(one.index for one in boot.objects) for boot in result.boots}
    described = any(
        MessageDecoder(icd, boot).layout(index) is not None
        for boot in trace.facts.boots
        for index in chosen.get(boot.number, ())
    )
    if not described:
        raise InputError(f"the ICD does not describe the messages of {labels.pop()}")
    return field_rows(trace, icd, chosen, result.span)
