# SPDX-License-Identifier: Apache-2.0
"""``vxmon memmap``: the memory map of ELF images, against a module configuration or an earlier build."""

from __future__ import annotations

import csv
import io
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

import click

from vxmon.errors import InputError
from vxmon_cli.modules import module_given
from vxmon_cli.output import default_sigpipe
from vxmon_cli.render import show, write_text

if TYPE_CHECKING:
    from vxmon.analysis.memmap.images import MapRequest, MemoryMap
    from vxmon.report.memmap_csv import CsvTable
    from vxmon.report.memmap_text import View
    from vxmon.trace.facts import Facts

__all__ = ["memmap"]

_ROM = re.compile(r"(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})\.\.(0[xX][0-9a-fA-F]{1,16}|[0-9]{1,20})")


@click.command()
@click.argument("images", metavar="IMAGE...", nargs=-1, required=True, type=click.Path(path_type=Path))
@click.option(
    "--symbols", metavar="N", type=click.IntRange(0, 1_000_000), default=0, help="Name the N largest symbols."
)
@click.option("--units", is_flag=True, help="Sizes by compile unit, from DWARF.")
@click.option("--map", "linkmap", metavar="FILE", type=click.Path(path_type=Path), help="GNU ld map: sizes by object.")
@click.option("--rom", metavar="FROM..TO", multiple=True, help="Read-only memory: what runs there takes no RAM.")
@click.option("--module", metavar="XML", type=click.Path(path_type=Path), help="Check partitions against module.xml.")
@click.option("--partition", metavar="NAME=IMAGE", multiple=True, help="Which image is a partition's (with --module).")
@click.option("--observed", metavar="SESSION", help="What partitions were seen to use, beside what they need and have.")
@click.option(
    "--baseline", metavar="OLD", multiple=True, type=click.Path(path_type=Path), help="Compare with this image."
)
@click.option("--max-growth", metavar="LIMIT", help="Fail when RAM or load memory grew by more: 4096, 4K, 2%.")
@click.option("--view", type=click.Choice(["table", "tree", "bars"]), default="table", show_default=True)
@click.option("--format", "form", type=click.Choice(["text", "json", "csv"]), default="text", show_default=True)
@click.option("--strict", is_flag=True, help="Exit 1 when anything casts doubt on a figure.")
@click.pass_context
def memmap(
    context: click.Context,
    images: tuple[Path, ...],
    *,
    symbols: int,
    units: bool,
    linkmap: Path | None,
    rom: tuple[str, ...],
    module: Path | None,
    partition: tuple[str, ...],
    observed: str | None,
    baseline: tuple[Path, ...],
    max_growth: str | None,
    view: View,
    form: str,
    strict: bool,
) -> None:
    """Show what ELF images take in memory: segments, sections, holes, overlaps, totals.

    Several images make one module map. With --module each partition is held against its RequiredMemorySize; with
    --baseline the growth since an earlier build is shown. With --observed what a session says of heaps and stacks
    stands beside the sizes, and a heap that is full or leaks is a finding.

    Exit status: 0 fine, 1 a partition does not fit or leaks, or growth passes --max-growth, 2 unusable input.
    """
    from vxmon.analysis.memmap.images import MapRequest, map_images
    from vxmon.report.header import incomplete_text
    from vxmon_cli.observing import observe

    default_sigpipe()
    if partition and module is None and observed is None:
        raise click.UsageError("--partition says which image a partition of --module has; give --module too")
    seen, facts = (None, None) if observed is None else observe(observed)
    request = MapRequest(
        symbols=symbols,
        units=units,
        linkmap=linkmap,
        rom=[_span(text) for text in rom],
        module=module_given(module),
        images_of=dict(_pair(text) for text in partition),
        baseline=baseline,
        max_growth=max_growth,
        observed=seen,
    )
    table = _csv_table(request) if form == "csv" else None
    result = map_images(images, request)
    _write(result, form, view, table, facts)
    missing = "" if facts is None else incomplete_text(facts)
    if missing:
        click.echo(f"vxmon: {observed}: {missing}", err=True)
    doubtful = strict and (missing or any(p.severity == "warning" for p in result.problems))
    context.exit(1 if result.failed or doubtful else 0)


def _write(result: MemoryMap, form: str, view: View, table: CsvTable | None, facts: Facts | None) -> None:
    if table is not None:
        from vxmon.report.memmap_csv import memmap_rows

        text = io.StringIO()
        csv.writer(text, lineterminator="\n").writerows(memmap_rows(result, table))
        write_text(text.getvalue())
        for problem in result.problems:
            click.echo(f"vxmon: {problem.severity}: {problem.image}: {problem.message}", err=True)
    elif form == "json":
        from vxmon.report.memmap_json import memmap_json

        write_text(json.dumps(memmap_json(result, facts), indent=2) + "\n")
    else:
        from vxmon.report.memmap_text import memmap_blocks

        show(memmap_blocks(result, view))


def _csv_table(request: MapRequest) -> CsvTable:
    """Return the one table that CSV output holds: that of the option given, else the sections."""
    asked: dict[CsvTable, bool] = {
        "symbols": request.symbols > 0,
        "units": request.units,
        "members": request.linkmap is not None,
        "partitions": request.module is not None or request.observed is not None,
        "growth": bool(request.baseline),
    }
    tables = [name for name, given in asked.items() if given]
    if len(tables) > 1:
        raise click.UsageError(f"CSV output holds one table; asked for are {' and '.join(tables)}")
    return tables[0] if tables else "sections"


def _span(text: str) -> tuple[int, int]:
    match = _ROM.fullmatch(text.strip())
    if match is None:
        raise InputError(f"--rom {text!r} is no address range; write for example 0x08000000..0x08100000")
    start, end = int(match[1], 0), int(match[2], 0)
    if end <= start:
        raise InputError(f"--rom {text!r} ends before it begins")
    return start, end


def _pair(text: str) -> tuple[str, str]:
    name, separator, path = text.partition("=")
    if not separator or not name or not path:
        raise InputError(f"--partition {text!r} is not NAME=IMAGE")
    return name, path
