# SPDX-License-Identifier: Apache-2.0
"""``vxmon analyze memory``: heaps and their growth, stacks, operations."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vxmon_cli.analyses.common import end, open_stored, session_options, write
from vxmon_cli.modules import module_given
from vxmon_cli.selecting import selection_options

if TYPE_CHECKING:
    from vxmon.trace.criteria import Selection

__all__ = ["memory"]


def _rules_init(context: click.Context, _: click.Parameter, given: bool) -> None:
    """Write the example and end; no session is needed."""
    if given and not context.resilient_parsing:
        from vxmon.config.accounting import ACCOUNTING_TEMPLATE

        click.echo(ACCOUNTING_TEMPLATE, nl=False)
        context.exit()


@click.command("memory")
@session_options
@selection_options("span", "partitions", "tasks")
@click.option("--per-frame", is_flag=True, help="Use of each heap by frames (JSON and CSV), too.")
@click.option(
    "--module", metavar="XML", type=click.Path(path_type=Path), help="The schedule, where the session does not tell it."
)
@click.option("--rules", metavar="TOML", help="Accounting rules: memory estimated from operation counts.")
@click.option(
    "--rules-init", is_flag=True, expose_value=False, is_eager=True, callback=_rules_init,
    help="Write an example of accounting rules and exit.",
)  # fmt: skip
@click.pass_context
def memory(
    context: click.Context, files: tuple[str, ...], selection: Selection, module: Path | None, rules: str | None,
    form: str, *, per_frame: bool, strict: bool,
) -> None:  # fmt: skip
    """Heaps and how they grow, stacks, operation counts.

    Growth is that of the lowest use of each frame, with its 95 % interval; leak? is said only when all the evidence
    shown holds. With --rules what operations should cost stands beside what was measured. The heap of the module OS
    is that of the partition kernel.
    """
    from vxmon.analysis.memory.analyze import MemoryRequest, analyze_memory
    from vxmon.analysis.memory.result import KERNEL
    from vxmon.config.accounting import read_accounting
    from vxmon.report.analyze_memory import chosen_parts, memory_json, memory_rows
    from vxmon.report.analyze_memory_text import memory_blocks
    from vxmon.trace.selection import check_names

    request = MemoryRequest(
        span=selection.span,
        per_frame=per_frame,
        module=module_given(module),
        rules=None if rules is None else read_accounting(rules),
    )
    with open_stored(files) as trace:
        named = tuple(name for name in selection.partitions if name != KERNEL)
        check_names(replace(selection, partitions=named), trace.facts)
        result = chosen_parts(analyze_memory(trace, request), selection.partitions, selection.tasks)
        facts = trace.facts
        write(
            form, lambda: memory_blocks(result, facts), lambda: memory_json(result, facts), lambda: memory_rows(result)
        )
    end(context, trace, strict=strict)
